//! Tables that are split into several files, such as `train-00000-of-00002.parquet` on the Hub.
//!
//! [`tables`] groups the files of a folder: each table is one file, or its parts in order. A folder or a pattern
//! (`train-*-of-00002.parquet`) is read whole or refused ([`Listed`]); a path to one part is read, with a note
//! ([`note`]). Nothing is read here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fmt, fs};

use regex::Regex;

use crate::error::{Error, Result};
use crate::text::quoted;

/// Extensions of files with rows.
const EXTENSIONS: [&str; 5] = ["jsonl", "json", "csv", "tsv", "parquet"];
/// Maximum number of missing parts and of tables in a message.
const LISTED: usize = 10;
const LISTED_TABLES: usize = 200;

/// `train-00000-of-00002.parquet`, also with a checksum before the extension.
static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?P<before>.*?)(?P<index>[0-9]{1,9})(?P<of>[-_]of[-_][0-9]{1,9})(?P<sum>[-.][0-9a-f]{8}[-0-9a-f]*)?(?P<end>\.[^/]+)$",
    )
    .expect("a constant pattern")
});

/// `0000.parquet`, as the Hub names converted files, and `part-00000-<checksum>-c000.snappy.parquet`, as Spark does.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?P<before>(?:.*part[-_])?)(?P<index>[0-9]{4,9})(?P<sum>[-.][0-9a-f]{8}[-0-9a-f]*(?:[-.]c[0-9]+)?)?(?P<end>\.[^/]+)$",
    )
    .expect("a constant pattern")
});

/// The name of a part, split.
#[derive(Clone, Copy, Debug)]
struct PartName<'a> {
    /// With the folder.
    before: (&'a str, &'a str),
    digits: &'a str,
    index: u64,
    /// `-of-00002`; empty if the name does not tell how many parts there are.
    of: &'a str,
    count: Option<u64>,
    has_checksum: bool,
    end: &'a str,
}

impl<'a> PartName<'a> {
    fn of(path: &'a str) -> Option<Self> {
        let (folder, name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
        // Most names have none, and compiling the patterns takes longer than the rest.
        if !name.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let found = COUNTED.captures(name).or_else(|| NUMBERED.captures(name))?;
        let part = |group: &str| found.name(group).map_or("", |part| part.as_str());
        let of = part("of");
        let count = of.rsplit(['-', '_']).next().unwrap_or_default();
        let digits = part("index");
        Some(Self {
            before: (folder, part("before")),
            digits,
            index: digits.parse().ok()?,
            of,
            count: count.parse().ok(),
            has_checksum: !part("sum").is_empty(),
            end: part("end"),
        })
    }

    /// What all parts of a table have in common.
    fn key(&self) -> (&'a str, &'a str, &'a str, &'a str, bool) {
        let (folder, before) = self.before;
        (folder, before, self.of, self.end, self.has_checksum)
    }

    /// The name with other digits.
    fn numbered(&self, digits: impl fmt::Display) -> String {
        let (folder, before) = self.before;
        let sum = if self.has_checksum { "-*" } else { "" };
        format!("{folder}{before}{digits}{}{sum}{}", self.of, self.end)
    }

    /// The name of another part.
    fn part(&self, index: u64) -> String {
        self.numbered(format_args!("{index:0width$}", width = self.digits.len()))
    }
}

/// A table: one file, or its parts in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SplitTable {
    /// The file, or a pattern that all parts match: `train-*-of-00002.parquet`.
    pub(crate) name: String,
    pub(crate) files: Vec<String>,
    /// Why it cannot be read whole.
    problem: Option<String>,
}

impl SplitTable {
    fn file(path: &str) -> Self {
        Self {
            name: path.to_owned(),
            files: vec![path.to_owned()],
            problem: None,
        }
    }

    fn parts(mut parts: Vec<(PartName<'_>, &str)>) -> Self {
        parts.sort_by_key(|(name, path)| (name.index, *path));
        let (first, _) = parts[0];
        let last = parts.last().map_or(0, |(name, _)| name.index);
        let base = u64::from(first.index > 0 && first.count.is_none_or(|count| last == count));
        let end = first.count.map_or(last + 1, |count| base + count);
        let is_there = |index: &u64| parts.iter().any(|(name, _)| name.index == *index);
        let missing = (base..end).filter(|index| !is_there(index));
        let missing: Vec<_> = missing
            .take(LISTED)
            .map(|index| first.part(index))
            .collect();
        let twice = parts
            .windows(2)
            .find(|two| two[0].0.index == two[1].0.index);
        let beyond = parts.iter().find(|(name, _)| name.index >= end);
        let problem = if let Some(two) = twice {
            Some(format!(
                "{} are the same part",
                quoted([two[0].1, two[1].1])
            ))
        } else if !missing.is_empty() {
            let names = missing.iter().map(String::as_str);
            Some(format!(
                "of its {} parts, {} is missing",
                end - base,
                quoted(names)
            ))
        } else {
            beyond.map(|(_, path)| format!("`{path}` is one part too many"))
        };
        Self {
            name: first.numbered('*'),
            files: parts.iter().map(|(_, path)| (*path).to_owned()).collect(),
            problem,
        }
    }

    fn check(&self, folder: &str) -> Result<()> {
        let Some(problem) = &self.problem else {
            return Ok(());
        };
        let name = join(folder, &self.name);
        Err(
            Error::usage(format!("`{name}` is not complete: {problem}")).hint(format!(
                "add missing parts and remove extra ones, or name one part: `path: {}`",
                join(folder, &self.files[0])
            )),
        )
    }
}

/// The tables that these files form, in the order of their first files.
pub(crate) fn tables<'a>(files: impl IntoIterator<Item = &'a str>) -> Vec<SplitTable> {
    let mut groups: BTreeMap<_, Vec<(PartName<'_>, &str)>> = BTreeMap::new();
    let mut tables = Vec::new();
    for path in files {
        match PartName::of(path).filter(|name| name.count != Some(1)) {
            Some(name) => groups.entry(name.key()).or_default().push((name, path)),
            None => tables.push(SplitTable::file(path)),
        }
    }
    for parts in groups.into_values() {
        let first = parts.iter().map(|(name, _)| name.index).min();
        let is_counted = parts[0].0.count.is_some();
        // Files named by years are no parts of one table.
        if is_counted || (parts.len() > 1 && first.is_some_and(|first| first <= 1)) {
            tables.push(SplitTable::parts(parts));
        } else {
            tables.extend(parts.iter().map(|(_, path)| SplitTable::file(path)));
        }
    }
    tables.sort_by(|a, b| a.files.cmp(&b.files));
    tables
}

/// The files that a path stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// The file, or a pattern for the files; for messages.
    pub(crate) name: String,
    /// In the order in which they are read; at least one.
    pub(crate) files: Vec<String>,
    /// What the user should know about the choice.
    pub(crate) note: Option<String>,
}

/// The files with rows below a folder.
pub(crate) struct Listed<'a> {
    /// The folder as the user names it.
    pub(crate) folder: &'a str,
    /// Paths relative to the folder, sorted.
    pub(crate) files: Vec<&'a str>,
    /// Whether it is a whole dataset of the Hub, where the only file need not be named.
    pub(crate) is_dataset: bool,
}

impl Listed<'_> {
    /// The only table in the folder, which is complete.
    pub(crate) fn only(&self) -> Result<Chosen> {
        let tables = tables(self.files.iter().copied());
        if let [table] = &*tables
            && (self.is_dataset || table.files.len() > 1 || table.problem.is_some())
        {
            table.check(self.folder)?;
            return Ok(Chosen {
                name: table.name.clone(),
                files: table.files.clone(),
                note: None,
            });
        }
        let folder = self.folder;
        let (files, count) = (self.files.len(), tables.len());
        let message = match (self.is_dataset, files) {
            (false, _) => format!("`{folder}` is a folder, but one file of rows is needed"),
            (true, 0) => format!("`{folder}` is a dataset without any file of rows"),
            (true, _) if files == count => {
                format!("`{folder}` is a dataset with {files} files of rows, but one is needed")
            }
            (true, _) => {
                format!(
                    "`{folder}` is a dataset with {count} tables in {files} files, but one is needed"
                )
            }
        };
        let path = |name: &str| format!("`path: {}`", join(folder, name));
        let mut paths: Vec<_> = tables
            .iter()
            .take(LISTED_TABLES)
            .map(|it| path(&it.name))
            .collect();
        let more = count - paths.len();
        if more > 0 {
            paths.push(format!("{more} more"));
        }
        let hint = match paths.pop() {
            None => path(if self.is_dataset {
                "FILE.jsonl"
            } else {
                "data.jsonl"
            }),
            Some(last) if paths.is_empty() => last,
            Some(last) => format!("{} or {last}", paths.join(", ")),
        };
        Err(Error::usage(message).hint(format!("name the file: {hint}")))
    }

    /// The files that match a pattern.
    pub(crate) fn matching(&self, pattern: &str) -> Result<Chosen> {
        let matches = |name: &&str| is_match(pattern.as_bytes(), name.as_bytes());
        let matching: Vec<&str> = self.files.iter().copied().filter(matches).collect();
        if matching.is_empty() {
            let name = join(self.folder, pattern);
            let error = Error::usage(format!("no file of rows matches `{name}`"));
            let there = self.files.iter().copied().take(LISTED);
            return Err(error.hint(match self.files.len() {
                0 => format!("`{}` has no file of rows; correct the path", self.folder),
                _ => format!("correct the path; found {}", quoted(there)),
            }));
        }
        let mut chosen = Chosen {
            name: pattern.to_owned(),
            files: Vec::new(),
            note: None,
        };
        for table in tables(self.files.iter().copied()) {
            let all = table.files.len();
            let files: Vec<_> = table
                .files
                .iter()
                .filter(|file| matching.contains(&file.as_str()))
                .cloned()
                .collect();
            if files.len() == all {
                table.check(self.folder)?;
            } else if !files.is_empty() {
                let name = join(self.folder, &table.name);
                chosen.note = Some(format!(
                    "`{}` is {} of {all} files of a table: only this part is evaluated; `path: {name}` reads all",
                    join(self.folder, pattern),
                    files.len(),
                ));
            }
            chosen.files.extend(files);
        }
        Ok(chosen)
    }
}

/// A note that a file is one of several parts. `files` are those of its folder, if its name does not tell their number.
pub(crate) fn note<'a>(path: &str, files: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let name = PartName::of(path)?;
    let (count, all) = if let Some(count) = name.count {
        (count, name.numbered('*'))
    } else {
        let mut tables = tables(files).into_iter();
        let last = path.rsplit('/').next()?;
        let table = tables.find(|table| table.files.iter().any(|file| file == last))?;
        (table.files.len() as u64, name.numbered('*'))
    };
    (count > 1).then(|| {
        format!("`{path}` is one of {count} files of a table: only this part is evaluated; `path: {all}` reads all")
    })
}

/// Whether a name has the extension of a file with rows.
pub(crate) fn has_rows(name: &str) -> bool {
    let end = Path::new(name).extension();
    end.is_some_and(|end| EXTENSIONS.iter().any(|name| end.eq_ignore_ascii_case(name)))
}

/// Whether a name is a pattern.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Splits off the last name of a path.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}

/// Whether a name matches a pattern with `*` and `?`.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|start| is_match(rest, &name[start..])),
        Some((b'?', rest)) => name
            .split_first()
            .is_some_and(|(_, name)| is_match(rest, name)),
        Some((byte, rest)) => name
            .split_first()
            .is_some_and(|(first, name)| first == byte && is_match(rest, name)),
    }
}

/// Files that were chosen, on this machine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LocalFiles {
    /// See [`Chosen::name`].
    pub(crate) name: PathBuf,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) note: Option<String>,
}

impl LocalFiles {
    /// The files chosen in a folder.
    pub(crate) fn of(chosen: Chosen, folder: &Path) -> Self {
        let files: Vec<_> = chosen.files.iter().map(|file| folder.join(file)).collect();
        let name = match &*files {
            [only] => only.clone(),
            _ => folder.join(chosen.name),
        };
        Self {
            name,
            files,
            note: chosen.note,
        }
    }
}

/// The local files that a path stands for: itself, the parts in a folder, or those that match a pattern. A path that
/// does not exist is returned as it is.
pub(crate) fn local(path: &Path) -> Result<LocalFiles> {
    let this = |note| LocalFiles {
        name: path.to_owned(),
        files: vec![path.to_owned()],
        note,
    };
    let Some(text) = path.to_str() else {
        return Ok(this(None));
    };
    let (folder, name) = split(text);
    let base = path.parent().unwrap_or(Path::new(""));
    let base = if base == Path::new("") {
        Path::new(".")
    } else {
        base
    };
    if path.is_dir() {
        let files = files_in(path);
        let files = files.iter().map(String::as_str).collect();
        let listed = Listed {
            folder: text,
            files,
            is_dataset: false,
        };
        return Ok(LocalFiles::of(listed.only()?, path));
    }
    if path.exists() {
        let is_part = PartName::of(text).is_some();
        let files = if is_part { files_in(base) } else { Vec::new() };
        return Ok(this(note(text, files.iter().map(String::as_str))));
    }
    if !is_pattern(name) {
        return Ok(this(None));
    }
    let files = files_in(base);
    let listed = Listed {
        folder,
        files: files.iter().map(String::as_str).collect(),
        is_dataset: false,
    };
    Ok(LocalFiles::of(listed.matching(name)?, base))
}

/// The files with rows directly in a folder, sorted.
fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter(|entry| !entry.path().is_dir());
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| has_rows(name)).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str]) -> Vec<String> {
        tables(files.iter().copied())
            .into_iter()
            .map(|table| table.name)
            .collect()
    }

    #[test]
    fn files_are_grouped_by_what_their_names_have_in_common() {
        let check = |files: &[&str], expect: &[&str]| assert_eq!(names(files), expect, "{files:?}");
        let two = [
            "data/train-00000-of-00002.parquet",
            "data/train-00001-of-00002.parquet",
        ];
        check(&two, &["data/train-*-of-00002.parquet"]);
        check(
            &[
                "a/t-00000-of-00002.csv",
                "a/t-00001-of-00002.csv",
                "a/t-00000-of-00001.csv",
                "b/t-00000-of-00002.csv",
            ],
            &[
                "a/t-00000-of-00001.csv",
                "a/t-*-of-00002.csv",
                "b/t-*-of-00002.csv",
            ],
        );
        check(
            &[
                "t-00000-of-00002-0123456789abcdef.parquet",
                "t-00001-of-00002-fedcba9876543210.parquet",
            ],
            &["t-*-of-00002-*.parquet"],
        );
        check(&["x_1_of_2.jsonl", "x_2_of_2.jsonl"], &["x_*_of_2.jsonl"]);
        check(&["d/0000.parquet", "d/0001.parquet"], &["d/*.parquet"]);
        check(&["part-00000.json", "part-00001.json"], &["part-*.json"]);
        check(&["2023.jsonl", "2024.jsonl"], &["2023.jsonl", "2024.jsonl"]);
        check(
            &["test.jsonl", "train.jsonl"],
            &["test.jsonl", "train.jsonl"],
        );
    }

    #[test]
    fn parts_are_in_order_and_complete() {
        let check = |files: &[&str], expect: Result<&[&str], &str>| {
            let listed = Listed {
                folder: "d",
                files: files.to_vec(),
                is_dataset: true,
            };
            match (listed.only(), expect) {
                (Ok(found), Ok(expect)) => assert_eq!(found.files, expect),
                (found, expect) => {
                    let error = found.unwrap_err();
                    assert_eq!(error.message(), expect.unwrap_err());
                }
            }
        };
        check(
            &["x-10-of-3.csv"],
            Err(
                "`d/x-*-of-3.csv` is not complete: of its 3 parts, `x-00-of-3.csv`, `x-01-of-3.csv`, `x-02-of-3.csv` is missing",
            ),
        );
        check(
            &["x-2-of-3.csv", "x-0-of-3.csv", "x-1-of-3.csv"],
            Ok(&["x-0-of-3.csv", "x-1-of-3.csv", "x-2-of-3.csv"]),
        );
        check(
            &["x-2-of-2.csv", "x-1-of-2.csv"],
            Ok(&["x-1-of-2.csv", "x-2-of-2.csv"]),
        );
        check(
            &["x-00000-of-00003.csv", "x-00002-of-00003.csv"],
            Err(
                "`d/x-*-of-00003.csv` is not complete: of its 3 parts, `x-00001-of-00003.csv` is missing",
            ),
        );
        check(
            &[
                "x-0-of-2-aaaaaaaa.csv",
                "x-0-of-2-bbbbbbbb.csv",
                "x-1-of-2-aaaaaaaa.csv",
            ],
            Err(
                "`d/x-*-of-2-*.csv` is not complete: `x-0-of-2-aaaaaaaa.csv`, `x-0-of-2-bbbbbbbb.csv` are the same part",
            ),
        );
        check(&["x-00000-of-00001.csv"], Ok(&["x-00000-of-00001.csv"]));
        check(&[], Err("`d` is a dataset without any file of rows"));
    }

    #[test]
    fn of_several_tables_each_has_a_path_to_type() {
        let files = vec!["test.csv", "train-0-of-2.csv", "train-1-of-2.csv"];
        let listed = Listed {
            folder: "hf://datasets/a/b",
            files,
            is_dataset: true,
        };
        let error = listed.only().unwrap_err();
        let expect = "`hf://datasets/a/b` is a dataset with 2 tables in 3 files, but one is needed";
        assert_eq!(error.message(), expect);
        let hint = "name the file: `path: hf://datasets/a/b/test.csv` or `path: hf://datasets/a/b/train-*-of-2.csv`";
        assert_eq!(error.hint_text(), Some(hint));
        let chosen = listed.matching("train-*-of-2.csv").unwrap();
        assert_eq!((chosen.files.len(), chosen.note), (2, None));
        let chosen = listed.matching("*-0-of*").unwrap();
        assert_eq!(chosen.files, ["train-0-of-2.csv"]);
        assert!(chosen.note.unwrap().contains("is 1 of 2 files"));
        assert!(
            listed
                .matching("*.parquet")
                .unwrap_err()
                .message()
                .starts_with("no file of rows matches")
        );
    }

    #[test]
    fn one_part_alone_has_a_note() {
        let note = |path: &str| note(path, ["0000.csv", "0001.csv"]);
        assert_eq!(
            note("d/x-00000-of-00002.csv").unwrap(),
            "`d/x-00000-of-00002.csv` is one of 2 files of a table: only this part is evaluated; \
             `path: d/x-*-of-00002.csv` reads all"
        );
        assert!(note("0000.csv").unwrap().contains("one of 2 files"));
        for whole in ["x-00000-of-00001.csv", "x.csv", "2023.csv"] {
            assert_eq!(note(whole), None, "{whole}");
        }
    }

    #[test]
    fn a_folder_of_parts_is_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["x-1-of-2.csv", "x-0-of-2.csv", "notes.txt"] {
            fs::write(at(name), "q\n1\n").unwrap();
        }
        let parts = vec![at("x-0-of-2.csv"), at("x-1-of-2.csv")];
        for path in [folder.path(), &at("x-*-of-2.csv")] {
            let found = local(path).unwrap();
            assert_eq!((found.files, found.note), (parts.clone(), None));
            assert_eq!(found.name, at("x-*-of-2.csv"));
        }
        let LocalFiles { files, note, .. } = local(&at("x-1-of-2.csv")).unwrap();
        assert_eq!(files, [at("x-1-of-2.csv")]);
        assert!(note.unwrap().contains("one of 2 files"));
        fs::remove_file(at("x-0-of-2.csv")).unwrap();
        let error = local(folder.path()).unwrap_err();
        assert!(
            error.message().contains("`x-0-of-2.csv` is missing"),
            "{error}"
        );
        fs::remove_file(at("x-1-of-2.csv")).unwrap();
        fs::write(at("y.csv"), "q\n1\n").unwrap();
        let error = local(folder.path()).unwrap_err();
        assert!(
            error
                .message()
                .ends_with("is a folder, but one file of rows is needed")
        );
        assert_eq!(local(&at("none.csv")).unwrap().files, [at("none.csv")]);
    }
}
