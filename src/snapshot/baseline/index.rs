//! The index of a baseline: what its snapshots say of all samples, without the answers, in one file.
//!
//! Reading the snapshots takes four times as long. Where no gate compares a run with its baseline, the index is enough
//! to tell what flipped. A gate reads the snapshots, so that it notices edited ones.
//!
//! There are three forms of lines. An object with `shared` and `own` is a [`Template`]. An array is a sample, with the
//! number of its template; samples are in the order of the ids in `_baseline.json`. The last line is the [`IndexEnd`]. A
//! sample has about 50 bytes, and 6 more for each figure.
//!
//! An index that is missing, damaged or of another baseline is ignored: nothing depends on it. There is none of more
//! than [`LARGEST`] bytes, for it is committed. A snapshot that is written alone removes it.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::BaselineFile;
use super::committed::room_for;
use crate::error::{Error, Result};
use crate::snapshot::{Content, read};
use crate::system::file::spill::SortedRows;
use crate::system::file::{NewFile, open_plain};
use crate::text::EscapedLineEnds;
use crate::verdict::baseline::BaselineSamples;

pub(crate) const FILE: &str = "_index.jsonl";

/// Hosts of repositories refuse files above 100 MiB.
const LARGEST: usize = 95 << 20;

/// The lines that a snapshot often has in common with others.
const SHARED: [&str; 4] = ["verdict", "answers", "found_by", "slices"];

/// After so many templates, the numbers start again at 0.
const TEMPLATES: usize = 4096;

/// What samples have in common. Templates are numbered in the order of their lines.
#[derive(Serialize, Deserialize)]
struct Template<T: Ord> {
    /// Lines of the snapshot by their names.
    shared: BTreeMap<T, T>,
    /// The names of the other lines.
    own: Vec<T>,
}

/// The number of the template, and the texts of its `own` lines.
type SampleLine = (usize, Vec<String>);

/// The last line.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct IndexEnd {
    /// That of `_baseline.json`.
    verdict_digest: String,
    /// The CRC-32 in hex of all lines before without their ends, and of each sample's id before its line.
    sum: String,
}

impl IndexEnd {
    fn of(file: &BaselineFile, sum: crc32fast::Hasher) -> Self {
        Self {
            verdict_digest: file.verdict_digest.clone(),
            sum: format!("{:08x}", sum.finalize()),
        }
    }
}

/// Collects the samples of a new index.
pub(in crate::snapshot) struct NewIndex {
    /// By id, the template and the texts, a line each; or why there is no index.
    samples: Result<SortedRows>,
}

impl NewIndex {
    pub(in crate::snapshot) fn new() -> Self {
        Self {
            samples: Ok(SortedRows::default()),
        }
    }

    pub(in crate::snapshot) fn add(&mut self, id: &str, content: &Content) {
        let Ok(rows) = &mut self.samples else { return };
        let text = content.text();
        let lines = text.lines().filter_map(|line| line.split_once(": "));
        let lines = lines.filter(|(name, _)| !read::ANSWER.contains(name));
        let (shared, own): (Vec<_>, Vec<_>) = lines.partition(|(name, _)| SHARED.contains(name));
        let shared = shared.into_iter().collect();
        let (own, texts): (_, Vec<_>) = own.into_iter().unzip();
        let mut row = Vec::new();
        let mut lines = EscapedLineEnds(&mut row);
        // Texts can be written as JSON.
        let _ = serde_json::to_writer(&mut lines, &Template { shared, own });
        let _ = lines.write_all(b"\n");
        let _ = serde_json::to_writer(&mut lines, &texts);
        if let Err(error) = rows.push(id.as_bytes(), &[&row]) {
            self.samples = Err(error);
        }
    }

    /// Writes the index of a baseline into its folder. On an error, an earlier index may remain.
    pub(in crate::snapshot) fn write(self, folder: &Path, baseline: &BaselineFile) -> Result<()> {
        self.write_up_to(LARGEST, folder, baseline)
    }

    fn write_up_to(self, largest: usize, folder: &Path, baseline: &BaselineFile) -> Result<()> {
        let path = folder.join(FILE);
        let failed = |error| Error::io("write", &path, &error);
        let mut lines = IndexLines {
            file: NewFile::for_path(&path)?,
            sum: crc32fast::Hasher::new(),
            left: largest,
        };
        let mut templates = HashMap::new();
        self.samples?.each(|id, row| {
            let end_of_template = row.iter().position(|byte| *byte == b'\n');
            let (template, texts) = row.split_at(end_of_template.unwrap_or_default());
            let number = if let Some(number) = templates.get(template) {
                *number
            } else {
                if templates.len() == TEMPLATES {
                    templates.clear();
                }
                let number = templates.len();
                templates.insert(template.to_vec(), number);
                lines.write(template, failed)?;
                number
            };
            let number = number.to_string();
            let line = [b"[", number.as_bytes(), b",", texts.trim_ascii(), b"]"].concat();
            lines.sum.update(id);
            lines.write(&line, failed)
        })?;
        let IndexLines { mut file, sum, .. } = lines;
        let end = IndexEnd::of(baseline, sum);
        serde_json::to_writer(&mut file, &end).map_err(|error| failed(error.into()))?;
        file.write_all(b"\n").map_err(failed)?;
        file.put(&path)
    }
}

/// The lines of a new index.
struct IndexLines {
    file: NewFile,
    sum: crc32fast::Hasher,
    /// So many bytes may follow.
    left: usize,
}

impl IndexLines {
    fn write(&mut self, line: &[u8], failed: impl Fn(io::Error) -> Error) -> Result<()> {
        let Some(left) = self.left.checked_sub(line.len() + 1) else {
            let message = format!("it would have more than {} MiB", LARGEST >> 20);
            return Err(Error::infrastructure(message));
        };
        self.left = left;
        self.sum.update(line);
        let written = self.file.write_all(line);
        written
            .and_then(|()| self.file.write_all(b"\n"))
            .map_err(failed)
    }
}

/// Removes the index of a folder that is no longer right.
pub(in crate::snapshot) fn forget(folder: &Path) {
    // Mostly there is none.
    let _ = std::fs::remove_file(folder.join(FILE));
}

/// The samples of a baseline by its index; `None` without one of this baseline.
pub(super) fn samples(folder: &Path, baseline: &BaselineFile) -> Option<BaselineSamples> {
    let reader = baseline.readers().answers;
    let mut file = BufReader::with_capacity(1 << 16, open_plain(&folder.join(FILE)).ok()?);
    let mut samples = room_for(baseline);
    let mut ids = baseline.digests.ids();
    let mut templates: Vec<Template<String>> = Vec::new();
    let mut sum = crc32fast::Hasher::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        file.read_until(b'\n', &mut line).ok()?;
        // A checkout may have converted line ends.
        let text = line.trim_ascii_end();
        if text.starts_with(b"[") {
            let id = ids.next()?;
            let (template, texts): SampleLine = serde_json::from_slice(text).ok()?;
            let Template { shared, own } = templates.get(template)?;
            if own.len() != texts.len() {
                return None;
            }
            let own = own
                .iter()
                .zip(&texts)
                .map(|(name, text)| (&**name, &**text));
            let shared = shared.iter().map(|(name, text)| (&**name, &**text));
            let lines = shared.chain(own).chain([(read::ANSWER[0], "")]);
            let content = read::content(&lines.collect::<Vec<_>>()).ok()?;
            samples.push(id, content.read_by(reader).into_sample());
            sum.update(id.as_bytes());
        } else if let Ok(template) = serde_json::from_slice(text) {
            if templates.len() == TEMPLATES {
                templates.clear();
            }
            templates.push(template);
        } else {
            break;
        }
        sum.update(text);
    }
    let end: IndexEnd = serde_json::from_slice(&line).ok()?;
    let is_whole = end == IndexEnd::of(baseline, sum) && ids.next().is_none();
    is_whole.then(|| samples.by_id())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::{accepted, content};
    use super::super::{read, write};
    use super::*;
    use crate::snapshot::content::InputHash;
    use crate::snapshot::{CommittedBaseline, Digests, SnapshotHeader, pending};
    use crate::verdict::baseline::Baseline;
    use crate::verdict::baseline::samples::BaselineRow;
    use crate::verdict::gate::Slice;

    #[test]
    fn an_index_says_what_the_snapshots_say_but_the_answer() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let baseline = accepted(folder);
        let samples_of = |baseline: &Baseline| {
            let samples = baseline.samples.iter();
            let samples = samples.map(|row| (row.id().to_owned(), row.to_sample()));
            samples.collect::<Vec<_>>()
        };
        let by_snapshots = samples_of(&read(folder).unwrap().unwrap());
        let by_index = || {
            let committed = CommittedBaseline::open(folder).unwrap().unwrap();
            let baseline = committed.read(false).unwrap();
            assert!(baseline.digest_matches && baseline.run_ids() == "r1, r2");
            samples_of(&baseline)
        };
        assert_eq!(by_index(), by_snapshots, "without an index");
        let mut index = NewIndex::new();
        for (id, correct) in [("b", false), ("a", true), ("c", true)] {
            index.add(id, &content(correct));
        }
        index.write(folder, &baseline).unwrap();
        let text = fs::read_to_string(folder.join(FILE)).unwrap();
        let template =
            r#"{"shared":{"answers":"\"11\"","verdict":"correct"},"own":["question","target"]}"#;
        assert!(text.starts_with(template), "{text}");
        assert!(!text.contains("17"), "{text}");
        // Whatever happens to the snapshots, it is what was accepted.
        let path = crate::snapshot::path(folder, "a");
        fs::write(&path, "").unwrap();
        assert_eq!(by_index(), by_snapshots);
        fs::write(folder.join(FILE), text.replace('\n', "\r\n")).unwrap();
        assert_eq!(by_index(), by_snapshots, "after another checkout");
        let lines: Vec<_> = text.lines().collect();
        let ignored = [
            text.replace("correct", "incorrect"),
            text.replace("\"00\"", "\"000\""),
            text.replace("[0,", "[7,"),
            text.replace(",\"11\"]", "]"),
            lines[..lines.len() - 1].join("\n"),
            [&lines[..2], &lines[3..]].concat().join("\n"),
            [&lines[..2], &lines[1..]].concat().join("\n"),
            text.replace("verdict_digest\":\"", "verdict_digest\":\"0"),
            format!("<<<<<<<\n{text}"),
            String::new(),
        ];
        for broken in ignored {
            fs::write(folder.join(FILE), &broken).unwrap();
            assert_eq!(samples(folder, &baseline), None, "{broken}");
        }
        fs::write(folder.join(FILE), &text).unwrap();
        let mut renamed = baseline.clone();
        renamed.digests = Digests::default();
        for id in ["a", "b", "d"] {
            renamed.digests.add(id, &content(true));
        }
        assert_eq!(samples(folder, &renamed), None, "of other ids");
        let header = SnapshotHeader::bare("a");
        let write_alone = |path: &Path| content(false).write_alone(path, &header).unwrap();
        write_alone(&pending(&path));
        assert_eq!(by_index(), by_snapshots);
        write_alone(&path);
        assert!(!folder.join(FILE).exists());
        fs::write(folder.join(FILE), text).unwrap();
        let others = BaselineFile {
            scorer_hash: "s2".to_owned(),
            verdict_digest: "another".to_owned(),
            ..baseline
        };
        write(&folder.join(super::super::FILE), &others).unwrap();
        assert_eq!(samples(folder, &others), None);
    }

    #[test]
    fn an_index_has_any_number_of_templates_and_few_bytes_a_sample() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let indexed = |slices: usize, largest: usize| {
            let mut baseline = accepted(folder);
            baseline.digests = Digests::default();
            let mut index = NewIndex::new();
            let mut expect = Vec::new();
            for number in 0..2 * TEMPLATES {
                let id = format!("{number:05}");
                let slice = Slice::new("topic", (number % slices).to_string());
                let content = Content {
                    ways: vec![None; 2],
                    slices: vec![slice],
                    input: InputHash::Question(format!("{number:016x}")),
                    target_hash: format!("{number:016x}"),
                    ..content(true)
                };
                baseline.digests.add(&id, &content);
                index.add(&id, &content);
                expect.push(content.into_sample());
            }
            index.write_up_to(largest, folder, &baseline)?;
            let samples = samples(folder, &baseline).unwrap();
            assert!(samples.iter().map(BaselineRow::to_sample).eq(expect));
            Ok::<_, Error>(fs::metadata(folder.join(FILE)).unwrap().len())
        };
        let of_few = indexed(3, LARGEST).unwrap();
        assert!(of_few < 46 * 2 * TEMPLATES as u64, "{of_few}");
        let of_many = indexed(TEMPLATES + 10, LARGEST).unwrap();
        assert!(of_many > of_few);
        let error = indexed(3, 100 << 10).unwrap_err();
        assert_eq!(error.message(), "it would have more than 95 MiB");
    }
}
