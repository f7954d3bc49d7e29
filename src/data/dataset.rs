//! Datasets: reads rows of `.jsonl`, `.csv` or `.parquet` files, with the steps shared by all benchmarks.
//!
//! [`Rows::read`] returns the rows with their positions. A benchmark finds its columns ([`Rows::require_column`],
//! [`Rows::find_column`]), builds samples, checks their ids ([`unique_ids`]) and applies a [`Filter`]. Every error
//! names the file and the line; the whole dataset is read before any agent starts.

mod columns;
mod csv;
mod field;
mod filter;
mod json;
pub(crate) mod jsonl;
mod lines;
mod literal;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod parts;
mod row;
mod row_file;
pub(crate) mod scan;
#[cfg(feature = "parquet")]
mod spill;
mod table;

use std::collections::HashMap;
use std::path::Path;
use std::{fmt, fs};

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::data::Sample;
use crate::error::{Error, Result};
use crate::text::hash::Hasher;

pub use columns::Columns;
pub(crate) use columns::{Header, kind, text};
pub(crate) use field::Field;
pub use filter::Filter;
pub(crate) use filter::shuffle;
pub use jsonl::python_json;
pub(crate) use lines::read_text;
pub(crate) use literal::Written;
pub use literal::exact_integers;
pub use row::Place;
pub use row::{Row, Rows};
pub(crate) use row::{required, scalar, slice_value};

#[cfg(feature = "bfcl")]
pub(crate) use row_file::PlacedRows;
#[cfg(feature = "bfcl")]
pub(crate) use row_file::RowFile;
pub(crate) use row_file::{FileRow, KnownRows, PlacedFile, RowKey, SamplePlace, TakePlaced};
#[cfg(test)]
pub(crate) use table::LARGE_HERE;
pub(crate) use table::Table;
#[cfg(feature = "bfcl")]
pub(crate) use table::is_large;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `.jsonl`: one object per line.
    Jsonl,
    /// `.csv` and `.tsv`: a header, then rows of the same length.
    Csv,
    /// `.json`: an array of objects, or one object per line.
    Json,
    /// `.parquet`, behind the cargo feature `parquet`.
    Parquet,
}

impl Format {
    /// The format for a file's extension.
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("jsonl") => Ok(Self::Jsonl),
            Some("json") => Ok(Self::Json),
            Some("csv" | "tsv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Error::usage(format!(
                "`{}`: a dataset is a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file",
                path.display()
            ))
            .hint("give the file the extension of its format: `.jsonl` has one object per line, `.json` an array of \
                   them")),
        }
    }
}

impl Rows {
    /// Reads a file; the format follows from its extension.
    ///
    /// - `.jsonl`: one object per line; blank lines are skipped, a BOM and CRLF are accepted, Python's bare `NaN` and
    ///   `Infinity` become null.
    /// - `.json`: an array of objects; or an object per line.
    /// - `.csv`: a header, then rows of the same length; cells are texts, an empty cell is null (but `""` in the
    ///   columns `file_name` and `file_path`, as in the other formats). The separator is `,`, or `;` or a tab if the
    ///   header contains that and no `,`; in `.tsv` it is a tab; a first line `sep=;` names it. Blank rows and columns
    ///   without a name are skipped.
    /// - `.parquet`: needs the cargo feature `parquet`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::read_as(path, Format::of(path)?)
    }

    /// Reads a file as this format, regardless of its extension.
    pub fn read_as(path: impl AsRef<Path>, format: Format) -> Result<Self> {
        let path = path.as_ref();
        let rows = match format {
            Format::Jsonl => jsonl::rows(path, &read_text(path)?)?,
            Format::Json => json::rows(path, read_text(path)?)?,
            Format::Csv => csv::rows(path, &read_text(path)?)?,
            Format::Parquet => read_parquet(path)?,
        };
        if rows.is_empty() {
            return Err(empty(path));
        }
        Ok(Self {
            path: path.to_owned(),
            rows,
        })
    }

    /// Converts each row and its index to a sample, with unique ids. Errors name the position of the row.
    pub(crate) fn into_samples(
        self,
        mut make: impl FnMut(Map<String, Value>, usize) -> Result<Sample>,
    ) -> Result<Vec<Sample>> {
        let Self { path, rows } = self;
        let mut samples = Vec::with_capacity(rows.len());
        let mut places = Vec::with_capacity(rows.len());
        for (index, Row { line, fields }) in rows.into_iter().enumerate() {
            let place = Place {
                path: &path,
                line,
                index,
            };
            samples.push(make(fields, index).map_err(|error| error.at(place))?);
            places.push(place);
        }
        let ids = samples.iter().map(|sample| sample.id.as_str());
        unique_ids(ids.zip(places))?;
        Ok(samples)
    }
}

fn empty(path: &Path) -> Error {
    Error::usage(format!("`{}`: the dataset is empty", path.display()))
        .hint("a dataset needs at least one row")
}

/// Hint for a path that does not exist.
pub(crate) const WRONG_PATH: &str =
    "correct the path; paths are relative to the folder where the program runs";

/// Returns an error for pipes and devices: a dataset is read more than once, and must end.
pub(crate) fn refuse_endless(path: &Path) -> Result<()> {
    let is_other = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if !is_other {
        return Ok(());
    }
    Err(Error::usage(format!("`{}` is not a file", path.display()))
        .hint("write the rows into a file, and name that"))
}

/// Returns an error if the path does not exist, or is no file.
pub(crate) fn check_file(path: &Path) -> Result<()> {
    fs::metadata(path).map_err(|error| Error::io("open", path, &error).hint(WRONG_PATH))?;
    refuse_endless(path)
}

/// Checks that ids are unique; the error names both positions.
pub(crate) fn unique_ids<'a>(ids: impl IntoIterator<Item = (&'a str, Place<'a>)>) -> Result<()> {
    let mut seen = HashMap::new();
    for (id, place) in ids {
        if let Some(first) = seen.insert(id, place) {
            return Err(taken(id, first).at(place));
        }
    }
    Ok(())
}

fn taken(id: &str, first: impl fmt::Display) -> Error {
    Error::usage(format!(
        "the id `{}` is taken by the row at {first}",
        id.escape_debug()
    ))
    .hint("give every row a unique id, or name another column: `columns: { id: NAME }`")
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path) -> Result<Vec<Row>> {
    parquet::rows(path)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path) -> Result<Vec<Row>> {
    // Report a missing file first.
    fs::metadata(path).map_err(|error| Error::io("read", path, &error))?;
    Err(Error::usage(format!(
        "`{}`: reading parquet needs the cargo feature `parquet` of evaltest",
        path.display()
    ))
    .hint("`cargo add --dev evaltest --features parquet`, or give the dataset as `.jsonl`"))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// A temporary folder with one file in it.
    pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        (folder, path)
    }

    /// Reads a file of this content.
    pub(crate) fn read(name: &str, content: impl AsRef<[u8]>) -> Result<Rows> {
        let (_folder, path) = file(name, content);
        Rows::read(path)
    }

    /// Checks a file's error message; `{path}` stands for the path.
    #[track_caller]
    pub(crate) fn check_error(name: &str, content: impl AsRef<[u8]>, expect: &str) {
        let (_folder, path) = file(name, content);
        let error = Rows::read(&path).unwrap_err();
        let message = error
            .message()
            .replace(&path.display().to_string(), "{path}");
        assert_eq!(message, expect);
        assert_eq!(error.exit(), crate::Exit::Usage);
    }

    #[test]
    fn lists_the_legal_extensions() {
        let expect =
            "`{path}`: a dataset is a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file";
        check_error("rows.txt", "{}", expect);
        check_error("rows", "{}", expect);
        assert!(read("rows.JSONL", "{}").is_ok());
    }

    #[test]
    fn names_a_missing_file() {
        for name in ["none.jsonl", "none.csv", "none.parquet"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            let error = Rows::read(&path).unwrap_err();
            let expect = format!("cannot read `{}`: No such file", path.display());
            assert!(error.message().starts_with(&expect), "{error}");
            assert_eq!(error.exit(), crate::Exit::Usage);
        }
    }

    #[test]
    fn an_empty_dataset_is_an_error() {
        let expect = "`{path}`: the dataset is empty";
        check_error("rows.jsonl", "", expect);
        check_error("rows.jsonl", "\u{feff}\n \r\n\n", expect);
        check_error("rows.csv", "id,question\n\n", expect);
    }

    #[test]
    fn invalid_utf8_is_found_by_line_and_column() {
        let content = b"{\"a\":1}\n{\"a\":\"\xe9\"}\n";
        check_error("rows.jsonl", content, "{path}:2:7: invalid UTF-8");
        check_error("rows.csv", b"a\nb\n\xff", "{path}:3:1: invalid UTF-8");
    }

    #[test]
    fn two_rows_of_one_id_are_both_named() {
        let path = Path::new("d.jsonl");
        let place = |index, line| Place { path, line, index };
        let lines = [
            ("a", place(0, Some(1))),
            ("b", place(1, Some(3))),
            ("a", place(2, Some(4))),
        ];
        let error = unique_ids(lines).unwrap_err();
        let expect = "d.jsonl:4: the id `a` is taken by the row at d.jsonl:1";
        assert_eq!(error.message(), expect);
        let rows = [("a", place(0, None)), ("a", place(1, None))];
        let error = unique_ids(rows).unwrap_err();
        let expect = "d.jsonl: row 2: the id `a` is taken by the row at d.jsonl: row 1";
        assert_eq!(error.message(), expect);
        assert!(unique_ids([("a", place(0, None)), ("A", place(1, None))]).is_ok());
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn parquet_without_the_feature_names_it() {
        let (_folder, path) = file("rows.parquet", "PAR1");
        let error = Rows::read(path).unwrap_err().to_string();
        assert!(
            error.contains("cargo feature `parquet` of evaltest"),
            "{error}"
        );
        assert!(error.contains("--features parquet"), "{error}");
    }
}

/// The names of columns.
#[derive(Default)]
struct ColumnNames {
    /// In order of appearance.
    names: Vec<String>,
    positions: HashMap<String, usize>,
    /// The position after the name that was seen last: most rows have the same names in the same order.
    next: usize,
}

impl ColumnNames {
    fn name(&mut self, name: &str) {
        let is_at = |place: &usize| self.names.get(*place).is_some_and(|known| known == name);
        let place = [self.next, 0].into_iter().find(is_at);
        let place = place.or_else(|| self.positions.get(name).copied());
        let place = place.unwrap_or_else(|| {
            self.positions.insert(name.to_owned(), self.names.len());
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.next = place + 1;
    }

    /// Adds the names of a row; false if it is not an object.
    fn add(&mut self, line: &str) -> bool {
        let mut json = serde_json::Deserializer::from_str(line);
        let read = json.deserialize_map(Names(self));
        read.is_ok() && json.end().is_ok()
    }
}

/// Deserializes only the keys of an object.
struct Names<'a>(&'a mut ColumnNames);

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(Name(self.0))?.is_some() {
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Reads one key.
struct Name<'a>(&'a mut ColumnNames);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<(), D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        self.0.name(name);
        Ok(())
    }
}

// The sample order that tiers are prefixes of, so that each tier contains the smaller ones.
//
// Every prefix of the order contains each stratum in proportion. Within a stratum samples are ordered by a hash of
// their id, which is independent of other samples; sample `r` of the `n` of a stratum has the position
// `(r - 1 + start) / n`. With a start of one half this is the Webster/Sainte-Laguë method. A small stratum has a
// start derived from the hash of its name: otherwise a hundred strata of one sample each would all be in the middle,
// and none at the beginning.

/// Strata smaller than this fraction (1/16) of all samples have a start derived from their hash.
const SMALL: u64 = 16;

/// The denominator of starts.
const WHOLE: u64 = 1 << 16;

/// The indices of samples, given by id and stratum, in the order for tiers. The result does not depend on the input
/// order.
pub(crate) fn tier_order<'a>(samples: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<usize> {
    let mut strata = HashMap::<&str, Vec<TierSample<'_>>>::new();
    let mut all: usize = 0;
    for (place, (id, stratum)) in samples.into_iter().enumerate() {
        let hash = hash("sample", id);
        let sample = TierSample { hash, id, place };
        strata.entry(stratum).or_default().push(sample);
        all += 1;
    }
    let mut positions = Vec::with_capacity(all);
    for (stratum, mut samples) in strata {
        samples.sort_unstable();
        let size = samples.len() as u64;
        let start = if size * SMALL >= all as u64 {
            WHOLE / 2
        } else {
            hash("stratum", stratum) % WHOLE
        };
        for (rank, sample) in (0..).zip(samples) {
            let way = rank * WHOLE + start;
            positions.push((TierPosition { way, size }, sample));
        }
    }
    positions.sort_unstable_by(|(a, sample), (b, other)| a.cmp(b).then_with(|| sample.cmp(other)));
    positions
        .into_iter()
        .map(|(_, sample)| sample.place)
        .collect()
}

fn hash(of: &str, text: &str) -> u64 {
    let bytes = Hasher::default().part("tier").part(of).part(text);
    u64::from_be_bytes(bytes.first_bytes())
}

/// The sort key of a sample within its stratum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TierSample<'a> {
    hash: u64,
    id: &'a str,
    place: usize,
}

/// Position of a sample, as the exact fraction `way / size`.
#[derive(Clone, Copy)]
struct TierPosition {
    way: u64,
    size: u64,
}

impl TierPosition {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let left = u128::from(self.way) * u128::from(other.size);
        left.cmp(&(u128::from(other.way) * u128::from(self.size)))
    }
}

#[cfg(test)]
mod tiers_tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::stats::SplitMix64;

    /// Ids and strata of these sizes.
    fn samples(sizes: &[usize]) -> Vec<(String, String)> {
        let strata = sizes.iter().enumerate();
        let of = |(stratum, &size): (usize, &usize)| {
            (0..size).map(move |n| (format!("{stratum}-{n}"), stratum.to_string()))
        };
        strata.flat_map(of).collect()
    }

    fn ordered(samples: &[(String, String)]) -> Vec<&(String, String)> {
        let order = tier_order(samples.iter().map(|(id, stratum)| (&**id, &**stratum)));
        let mut places = order.clone();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..samples.len()));
        order.into_iter().map(|place| &samples[place]).collect()
    }

    fn random_sizes(random: &mut SplitMix64, strata: usize, most: usize) -> Vec<usize> {
        (0..strata).map(|_| 1 + random.below(most)).collect()
    }

    #[test]
    fn every_beginning_has_of_each_stratum_its_share_within_one() {
        let mut random = SplitMix64(1);
        for case in 0..300 {
            let strata = 1 + case % 3;
            // With so few strata none is small: the smallest has at least one in sixteen samples.
            let mut sizes = random_sizes(&mut random, strata, 60);
            let least = sizes.iter().sum::<usize>().div_ceil(8);
            for size in &mut sizes {
                *size = least.max(*size);
            }
            let samples = samples(&sizes);
            let mut seen = BTreeMap::<&str, usize>::new();
            for (number, (_, stratum)) in (1..).zip(ordered(&samples)) {
                *seen.entry(stratum).or_default() += 1;
                for (stratum, size) in sizes.iter().enumerate() {
                    let is = seen.get(&*stratum.to_string()).copied().unwrap_or(0);
                    // Exactly, as a fraction of one sample.
                    let off = (is * samples.len()).abs_diff(number * size);
                    assert!(off < samples.len(), "{sizes:?}: {is} of {number}");
                }
            }
        }
    }

    #[test]
    fn many_small_strata_are_spread_evenly() {
        let sizes: Vec<usize> = [100].into_iter().chain([1; 100]).collect();
        let samples = samples(&sizes);
        let order = ordered(&samples);
        for number in [20, 50, 100, 150] {
            let beginning = order[..number].iter();
            let large = beginning.filter(|(_, stratum)| stratum == "0").count();
            assert!(large.abs_diff(number / 2) <= 12, "{large} of {number}");
        }
    }

    #[test]
    fn a_sample_that_comes_in_moves_at_most_one_out_of_a_tier() {
        let mut random = SplitMix64(2);
        let (mut crossed, mut moved) = (0, 0);
        for case in 0..400 {
            let sizes = random_sizes(&mut random, 1 + case % 7, 30);
            let before = samples(&sizes);
            let stratum = random.below(sizes.len() + 1);
            let mut after = before.clone();
            let at = random.below(before.len() + 1);
            after.insert(at, (format!("new {case}"), stratum.to_string()));
            let is_small = |samples: &[(String, String)]| {
                let all = samples.len();
                let small = |of: usize| {
                    let size = samples.iter().filter(|it| it.1 == of.to_string()).count();
                    size > 0 && size * 16 < all
                };
                (0..=sizes.len()).map(small).collect::<Vec<_>>()
            };
            // A stratum that becomes small, or stops being small, gets a different start.
            let [is, was] = [&after, &before].map(|samples| is_small(samples));
            let is_another = (0..sizes.len()).any(|of| is[of] != was[of]);
            crossed += usize::from(is_another);
            let [old, new] = [&before, &after].map(|samples| ordered(samples));
            for size in 1..=before.len() {
                let old: BTreeSet<_> = old[..size].iter().collect();
                let new: BTreeSet<_> = new[..size].iter().collect();
                let out = old.difference(&new).count();
                assert!(
                    out <= 1 + usize::from(is_another),
                    "{sizes:?} {size}: {out}"
                );
                moved += out;
            }
        }
        assert!(crossed < 40 && moved > 1000, "{crossed} {moved}");
    }

    #[test]
    fn the_order_never_changes_and_is_that_of_no_dataset() {
        let samples = samples(&[4, 2]);
        let ids = |samples: &[(String, String)]| {
            let ids = ordered(samples).into_iter().map(|(id, _)| id.clone());
            ids.collect::<Vec<_>>()
        };
        assert_eq!(ids(&samples), ["0-3", "1-1", "0-0", "0-1", "1-0", "0-2"]);
        let turned: Vec<_> = samples.iter().rev().cloned().collect();
        assert_eq!(ids(&samples), ids(&turned));
        assert_eq!(tier_order([]), Vec::<usize>::new());
    }
}
