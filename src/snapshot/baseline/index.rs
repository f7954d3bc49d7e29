//! The index of a baseline: what its snapshots say of all samples, without the answers, in one file.
//!
//! Opening a file for each sample takes ten times as long as reading this one. Where no gate compares a run with its
//! baseline, the index is enough to tell what flipped. A gate reads the snapshots, so that it notices edited ones.
//!
//! A line per sample, in the order of ids, has the lines of its snapshot as members, except those with the answer. The
//! last line names the `_baseline.json` that it belongs to, and has a CRC-32 of the lines before. An index that is
//! missing, damaged or of another baseline is ignored: nothing depends on it. There is none of more than [`LARGEST`]
//! bytes, for it is committed. A snapshot that is written alone removes it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
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

/// Hosts of repositories refuse files of twice this size.
const LARGEST: usize = 50 << 20;

/// The member with the id of a sample; a snapshot has no line of this name.
const ID: &str = "id";

/// The last line.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct IndexEnd {
    /// That of `_baseline.json`.
    verdict_digest: String,
    /// The CRC-32 of the lines before, without their ends, in hex.
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

/// Collects the lines of a new index.
pub(in crate::snapshot) struct NewIndex {
    /// By id; or why there is none.
    lines: Result<SortedRows>,
    size: usize,
}

impl NewIndex {
    pub(in crate::snapshot) fn new() -> Self {
        Self {
            lines: Ok(SortedRows::default()),
            size: 0,
        }
    }

    pub(in crate::snapshot) fn add(&mut self, id: &str, content: &Content) {
        let Ok(rows) = &mut self.lines else { return };
        let text = content.text();
        let lines = text.lines().filter_map(|line| line.split_once(": "));
        let lines = lines.filter(|(name, _)| !read::ANSWER.contains(name));
        let members: BTreeMap<_, _> = lines.chain([(ID, id)]).collect();
        let mut line = Vec::new();
        // Texts can be written as JSON.
        let _ = serde_json::to_writer(EscapedLineEnds(&mut line), &members);
        self.size += line.len();
        if self.size <= LARGEST
            && let Err(error) = rows.push(id.as_bytes(), &[&line])
        {
            self.lines = Err(error);
        }
    }

    /// Writes the index of a baseline into its folder, or removes that of an earlier one if it is too large.
    pub(in crate::snapshot) fn write(self, folder: &Path, baseline: &BaselineFile) -> Result<()> {
        let rows = self.lines?;
        if self.size > LARGEST {
            forget(folder);
            return Ok(());
        }
        let path = folder.join(FILE);
        let failed = |error| Error::io("write", &path, &error);
        let mut file = NewFile::for_path(&path)?;
        let mut sum = crc32fast::Hasher::new();
        rows.each(|_, line| {
            sum.update(line);
            file.write_all(line)
                .and_then(|()| file.write_all(b"\n"))
                .map_err(failed)
        })?;
        let end = IndexEnd::of(baseline, sum);
        serde_json::to_writer(&mut file, &end).map_err(|error| failed(error.into()))?;
        file.write_all(b"\n").map_err(failed)?;
        file.put(&path)
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
    let mut sum = crc32fast::Hasher::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        file.read_until(b'\n', &mut line).ok()?;
        // A checkout may have converted line ends.
        let text = line.trim_ascii_end();
        let mut members: BTreeMap<String, String> = serde_json::from_slice(text).ok()?;
        let Some(id) = members.remove(ID) else {
            break;
        };
        sum.update(text);
        let answer = (read::ANSWER[0], "");
        let members = members.iter().map(|(name, text)| (&**name, &**text));
        let content = read::content(&members.chain([answer]).collect::<Vec<_>>()).ok()?;
        samples.push(&id, content.read_by(reader).into_sample());
    }
    let end: IndexEnd = serde_json::from_slice(&line).ok()?;
    let samples = samples.by_id();
    let is_of_baseline = end == IndexEnd::of(baseline, sum);
    (is_of_baseline && samples.len() == baseline.samples).then_some(samples)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::{accepted, content};
    use super::super::{read, write};
    use super::*;
    use crate::snapshot::{CommittedBaseline, SnapshotHeader, pending};
    use crate::verdict::baseline::Baseline;

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
        assert!(text.starts_with("{\"answers\":\"\\\"11\\\"\",\"id\":\"a\","));
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
            text.replace("\"a\"", "\"d\""),
            lines[..3].join("\n"),
            [lines[0], lines[1], lines[3]].join("\n"),
            text.replace("verdict_digest\":\"", "verdict_digest\":\"0"),
            format!("<<<<<<<\n{text}"),
            String::new(),
        ];
        for broken in ignored {
            fs::write(folder.join(FILE), &broken).unwrap();
            assert_eq!(samples(folder, &baseline), None, "{broken}");
        }
        fs::write(folder.join(FILE), &text).unwrap();
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
}
