//! `PlanFile`: what a run found in a large dataset, for the runs of the same eval after it.
//!
//! Each of a hundred shards needs the ids, slices and hashes of all samples, and a row only of its own. Those of a
//! dataset that is one `.jsonl` file are written into a hidden file in the folder of runs when a run starts. The key of
//! the file is a hash of the dataset's checksum, of the eval and of this program; its last 4 bytes are the CRC-32 of all
//! before. A file that is missing, damaged or of something else is ignored, and the dataset is read. A row is compared
//! with its own hash again when it is asked.
//!
//! Nothing is written where answers are masked, for the file contains hashes of answers; nor where a sample is more than
//! its row: it has files, a conversation, or criteria of its scorers.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use memchr::memchr;
use serde::{Deserialize, Serialize};

use super::Plan;
use super::item::{Hashes, Packed, slices_in};
use super::load::AllItems;
use crate::data::conversation::Script;
use crate::data::dataset::{FileRow, KnownRows, PlacedFile, SamplePlace};
use crate::data::{Sample, shard_hash};
use crate::eval::Eval;
use crate::scorer::{Scorer, hash};
use crate::system::file;
use crate::text::hash::Hasher;

/// A smaller dataset is read in no time.
pub(super) const SMALL: u64 = 1 << 20;

/// The first part of each key; another one for each change of the format, or of a hash.
const FORMAT: &str = "evaltest plan 3";

/// Bytes of the checksum.
const SUM: usize = 4;

/// Numbers of a sample in the file, of 8 bytes each, before its id.
const NUMBERS: usize = 12;

/// Where the plan of an eval is, and what it must be of.
pub(super) struct PlanFile {
    path: PathBuf,
    key: [u8; 32],
    dataset: PathBuf,
    /// [`file::checksum`] of the dataset, against accidents: whoever can change the dataset needs no collision.
    checksum: (u64, u32),
    /// Notices on the ground truths of its samples.
    notices: Vec<String>,
}

/// What is known of all samples together.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Sums {
    /// See [`PlanFile::notices`].
    pub(super) notices: Vec<String>,
    /// [`Plan::dataset_hash`].
    pub(super) dataset_hash: String,
    /// [`Plan::slices_hash`].
    pub(super) slices_hash: String,
    /// [`shard_hash`] of each sample.
    #[serde(skip)]
    pub(super) shard_hashes: Vec<u64>,
}

/// The first line of the file after the key.
#[derive(Default, Serialize, Deserialize)]
struct Head {
    samples: usize,
    sums: Sums,
    columns: Vec<String>,
    notices: Vec<String>,
    /// Lists that samples share.
    slices: Vec<Arc<[(String, String)]>>,
    visible: Vec<Arc<[String]>>,
}

impl PlanFile {
    /// The file of an eval, if it may have one.
    pub(super) fn of(eval: &Eval, all: &[Arc<dyn Scorer>], asks_all: bool) -> Option<Self> {
        let dataset = eval.benchmark.row_file()?;
        let is_lines = dataset.extension().is_some_and(|end| end == "jsonl");
        let is_large = dataset.metadata().is_ok_and(|file| file.len() >= SMALL);
        let is_plain = eval.agent.conversation().is_none() && eval.agent.item_parts().is_none();
        // What is written in Rust has no name that changes with it.
        let is_spec = eval.spec.is_some() && !eval.config.is_null();
        if !(is_lines && is_large && is_plain && is_spec) || eval.masks_answers() {
            return None;
        }
        let place = Hasher::default()
            .part(&eval.name)
            .part(dataset.as_os_str().as_encoded_bytes());
        let name = format!(".{}.plan", place.clone().short());
        let path = eval.output_folder().join(name);
        // Only a plan of all samples is written.
        if !asks_all && !path.exists() {
            return None;
        }
        let checksum = file::checksum(&dataset).ok()?;
        let key = Hasher::default()
            .part(FORMAT)
            .part(program()?)
            .part(place.hex())
            .part(format!("{checksum:?}"))
            .part(described(eval))
            .part(hash::scorers_hash(&eval.extraction(), all))
            .part(format!("{:?} {:?}", eval.prompt, eval.cluster));
        Some(Self {
            path,
            key: key.digest(),
            dataset,
            checksum,
            notices: Vec::new(),
        })
    }

    /// The same with the notices on the ground truths of its samples.
    pub(super) fn with_notices(self, notices: &[String]) -> Self {
        Self {
            notices: notices.to_vec(),
            ..self
        }
    }

    /// Whether a sample is nothing but its row.
    pub(super) fn may_have(sample: &Sample, scorers: &[Arc<dyn Scorer>]) -> bool {
        let is_plain = |scorer: &Arc<dyn Scorer>| matches!(scorer.criterion(sample), Ok(None));
        sample.files.is_empty() && Script::of(sample).is_none() && scorers.iter().all(is_plain)
    }

    /// Reads the file; `None` if there is none of this eval and dataset.
    pub(super) fn read(&self, eval: &Eval) -> Option<AllItems> {
        let bytes = file::read_plain(&self.path).ok()?;
        let (rest, sum) = bytes.split_last_chunk::<SUM>()?;
        if crc32fast::hash(rest).to_le_bytes() != *sum {
            return None;
        }
        let rest = rest.strip_prefix(&self.key)?;
        let (head, rest) = rest.split_at_checked(memchr(b'\n', rest)? + 1)?;
        let head: Head = serde_json::from_slice(head).ok()?;
        // Growing these vectors would take a third of the time of a small shard.
        let samples = head.samples.min(rest.len() / (NUMBERS * 8));
        let mut rows = Vec::with_capacity(samples);
        rows.extend(known_items(rest).map(|(row, ..)| row));
        if rows.len() != head.samples {
            return None;
        }
        let placed = KnownRows {
            columns: head.columns,
            notices: head.notices,
            rows,
        };
        let PlacedFile(placed) = eval.benchmark.reopen(placed).ok()??;
        let mut items = Vec::with_capacity(samples);
        let mut shard_hashes = Vec::with_capacity(samples);
        for (place, (_, id, shard, hashes, [slices, visible])) in known_items(rest).enumerate() {
            shard_hashes.push(shard);
            let lists = (head.slices.get(slices)?, head.visible.get(visible)?);
            let place = SamplePlace::new(&placed, place);
            items.push(Packed::of_row(id.into(), lists.0, lists.1, place, hashes));
        }
        Some(AllItems {
            items,
            slices: slices_in(&head.slices),
            known: Some(Sums {
                shard_hashes,
                ..head.sums
            }),
        })
    }

    /// Writes the file of a plan of all samples, which was read from the dataset.
    ///
    /// # Errors
    /// When it cannot be written; nothing needs it.
    fn write(&self, plan: &Plan) -> io::Result<()> {
        let changed = || io::Error::other("the dataset has changed");
        let found = plan.eval.benchmark.found_rows().ok_or_else(changed)?;
        let mut head = Head {
            samples: plan.items.len(),
            sums: Sums {
                notices: self.notices.clone(),
                dataset_hash: plan.dataset_hash.clone(),
                slices_hash: plan.slices_hash().into_owned(),
                ..Sums::default()
            },
            columns: found.columns,
            notices: found.notices,
            ..Head::default()
        };
        let (mut slices, mut visible) = (Lists::default(), Lists::default());
        let mut size = SUM;
        for item in &plan.items {
            slices.position(&item.slices);
            visible.position(item.visible());
            size += NUMBERS * 8 + item.id.len();
        }
        (head.slices, head.visible) = (slices.lists.clone(), visible.lists.clone());
        // The samples were made of what had this checksum before.
        if file::checksum(&self.dataset)? != self.checksum {
            return Err(changed());
        }
        let mut bytes = self.key.to_vec();
        serde_json::to_writer(&mut bytes, &head)?;
        bytes.push(b'\n');
        // It may be 100 MB: growing would hold it twice.
        bytes.reserve_exact(size);
        for item in &plan.items {
            let row = item.row().ok_or_else(changed)?;
            let lists = [
                slices.position(&item.slices),
                visible.position(item.visible()),
            ];
            write_item(&mut bytes, row, item, lists);
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        file::write_atomically(&self.path, &bytes).map_err(io::Error::other)
    }
}

impl Plan {
    /// Writes what was read of the dataset for other runs of the eval. The folder of runs is there.
    pub(crate) fn store(&self) {
        if let Some(file) = &self.unstored {
            // Without it the next run reads the dataset as this one did.
            let _ = file.write(self);
        }
    }
}

/// What is known of a sample: its row, its id with [`shard_hash`], its hashes, and the positions of its slices and visible
/// columns.
type KnownItem<'a> = (FileRow, &'a str, u64, Hashes, [usize; 2]);

fn write_item(out: &mut Vec<u8>, row: FileRow, item: &Packed, lists: [usize; 2]) {
    let [slices, visible] = lists.map(|position| position as u64);
    let Hashes {
        input,
        target,
        older_target,
        question,
    } = item.hashes;
    let numbers: [[u8; 8]; NUMBERS] = [
        row.start.to_le_bytes(),
        (row.length as u64).to_le_bytes(),
        row.line.to_le_bytes(),
        u64::from(row.hash).to_le_bytes(),
        input,
        target,
        older_target,
        question,
        slices.to_le_bytes(),
        visible.to_le_bytes(),
        shard_hash(&item.id).to_le_bytes(),
        (item.id.len() as u64).to_le_bytes(),
    ];
    out.extend_from_slice(numbers.as_flattened());
    out.extend_from_slice(item.id.as_bytes());
}

/// The samples in these bytes, up to the first that cannot be read.
fn known_items(mut bytes: &[u8]) -> impl Iterator<Item = KnownItem<'_>> {
    std::iter::from_fn(move || {
        let (numbers, rest) = bytes.split_at_checked(NUMBERS * 8)?;
        let (numbers, _) = numbers.as_chunks::<8>();
        let number = |at: usize| u64::from_le_bytes(numbers[at]);
        let size = |at: usize| usize::try_from(number(at)).ok();
        let (id, rest) = rest.split_at_checked(size(11)?)?;
        let row = FileRow {
            start: number(0),
            length: size(1)?,
            line: number(2),
            hash: u32::try_from(number(3)).ok()?,
        };
        let hashes = Hashes {
            input: numbers[4],
            target: numbers[5],
            older_target: numbers[6],
            question: numbers[7],
        };
        bytes = rest;
        Some((
            row,
            std::str::from_utf8(id).ok()?,
            number(10),
            hashes,
            [size(8)?, size(9)?],
        ))
    })
}

/// Lists that samples share, each once.
struct Lists<T> {
    lists: Vec<Arc<[T]>>,
    /// By address.
    positions: HashMap<usize, usize>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            lists: Vec::new(),
            positions: HashMap::new(),
        }
    }
}

impl<T> Lists<T> {
    fn position(&mut self, list: &Arc<[T]>) -> usize {
        let next = self.lists.len();
        let position = *self
            .positions
            .entry(Arc::as_ptr(list).addr())
            .or_insert(next);
        if position == next {
            self.lists.push(Arc::clone(list));
        }
        position
    }
}

/// The eval without what decides nothing of its samples.
fn described(eval: &Eval) -> String {
    let mut config = eval.config.clone();
    if let Some(keys) = config.as_object_mut() {
        keys.retain(|key, _| !matches!(key.as_str(), "agent" | "gates" | "limits"));
    }
    config.to_string()
}

/// What tells this program from other versions of it.
fn program() -> Option<String> {
    let path = std::env::current_exe().ok()?;
    let about = path.metadata().ok()?;
    let time = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let version = env!("CARGO_PKG_VERSION");
    Some(format!("{version} {} {}", about.len(), time.as_nanos()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use tempfile::TempDir;

    use super::super::placed_tests::described;
    use super::super::{BaselineUse, Plan};
    use super::*;

    const SPEC: &str = "name: e\nbenchmark: { type: qa, path: data.jsonl, slices: [topic], visible: [topic] }\n\
                        agent: echo\noutput_root: runs\ngates: ['accuracy[topic=t1] >= 0']\n";

    /// A folder with an eval of a dataset of more than [`SMALL`] bytes.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let row = |number: u32| {
            let text = format!("\u{fc} {}", "and how many? ".repeat(300));
            let answer = match number % 4 {
                0 => "null".to_owned(),
                1 => format!("\"{number}.0\""),
                _ => number.to_string(),
            };
            let more = if number == 7 {
                ", \"review\": \"needed\""
            } else {
                ""
            };
            let topic = number % 3;
            format!(
                "{{\"id\": \"q{number}\", \"question\": \"{text}\", \"answer\": {answer}, \"topic\": \"t{topic}\"{more}}}\r\n\n"
            )
        };
        let rows: String = (0..300).map(row).collect();
        fs::write(folder.path().join("data.jsonl"), rows).unwrap();
        fs::write(folder.path().join("eval.yaml"), SPEC).unwrap();
        fs::create_dir(folder.path().join("runs")).unwrap();
        folder
    }

    fn eval(folder: &Path) -> Eval {
        Eval::from_yaml(folder.join("eval.yaml")).unwrap()
    }

    fn load(folder: &Path) -> Plan {
        Plan::load(&eval(folder), BaselineUse::Ignore).unwrap()
    }

    /// All that is known of a plan.
    fn everything(plan: &Plan) -> String {
        let (described, _) = described(plan);
        let names = plan.trial_names();
        let older = plan.items.iter().map(|item| item.hashes.older_target);
        let older: Vec<_> = older.collect();
        format!("{described} {} {older:?} {names:?}", plan.slices_hash())
    }

    #[test]
    fn what_was_written_is_what_was_read() {
        let folder = folder();
        let first = load(folder.path());
        let file = first.unstored.as_ref().expect("it can be written");
        let path = file.path.clone();
        assert!(!path.exists());
        first.store();
        let written = fs::read(&path).unwrap();
        let second = load(folder.path());
        assert!(second.unstored.is_none());
        assert_eq!(everything(&second), everything(&first));
        assert!(first.notices.len() > 2, "{:?}", first.notices);
        // Fewer samples are hashed anew.
        let few = |ignored: bool| {
            let mut eval = eval(folder.path());
            eval.limits.limit = Some(9);
            eval.shuffle = Some(7);
            let hidden = path.with_extension("away");
            if ignored {
                fs::rename(&path, &hidden).unwrap();
            }
            let mut plan = Plan::load(&eval, BaselineUse::Ignore).unwrap();
            if ignored {
                fs::rename(&hidden, &path).unwrap();
            }
            assert!(plan.unstored.is_none());
            // They are about columns that a limit does not read.
            plan.notices.clear();
            everything(&plan)
        };
        assert_eq!(few(false), few(true));
        // What is in it is believed if its sum is right.
        let forged = |from: &[u8], to: &[u8]| {
            let body = &written[..written.len() - 4];
            let mut places = body.windows(from.len());
            let place = places.position(|part| part == from).unwrap();
            let mut bytes = [&body[..place], to, &body[place + from.len()..]].concat();
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            fs::write(&path, bytes).unwrap();
            load(folder.path())
        };
        let other = "0".repeat(64);
        let plan = forged(first.dataset_hash.as_bytes(), other.as_bytes());
        assert_eq!(plan.dataset_hash, other);
        // Not if it cannot be.
        for (from, to) in [
            (&b"\"samples\":300"[..], &b"\"samples\":301"[..]),
            (b"\"samples\":300", b"\"samples\":299"),
            (b"q299", b"q2\xff9"),
        ] {
            let plan = forged(from, to);
            assert!(plan.unstored.is_some());
            assert_eq!(plan.dataset_hash, first.dataset_hash);
        }
    }

    #[test]
    fn what_is_more_than_its_rows_has_no_file() {
        let folder = folder();
        let check = |spec: &str, expect: bool| {
            fs::write(folder.path().join("eval.yaml"), spec).unwrap();
            assert_eq!(load(folder.path()).unstored.is_some(), expect, "{spec}");
        };
        check(SPEC, true);
        check(&format!("{SPEC}scorer: {{ type: exact }}\n"), true);
        check(&format!("{SPEC}snapshot: {{ answers: masked }}\n"), false);
        check(&SPEC.replace("slices", "ids: [q1, q3], slices"), false);
        // A sample that has a file.
        let data = folder.path().join("data.jsonl");
        let rows = fs::read_to_string(&data).unwrap();
        let with_file = rows.replacen("{\"id\"", "{\"file_name\": \"a.csv\", \"id\"", 1);
        fs::write(&data, with_file).unwrap();
        check(SPEC, false);
    }
}
