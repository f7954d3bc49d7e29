//! `NewBaseline`: a baseline under construction, to which runs are added.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::Accepted;
use super::{Draft, Drafts};
use crate::data::Record;
use crate::error::{Error, Result};
use crate::snapshot;
use crate::snapshot::Digests;
use crate::snapshot::baseline::{
    BaselineFile, FILE, INDEX_FILE, Judges, NewIndex, begin, forget_index, read_to_add,
    scorer_hash_of, write,
};
use crate::snapshot::history::AcceptedAnswers;
use crate::snapshot::pool::{PooledRun, Roll};
use crate::snapshot::{
    ATTRIBUTES_FILE, Content, EpochContent, SampleContent, SnapshotHeader, StoredParts, epoch,
    path, portable_path, write_attributes,
};
use crate::store::files::RECORDS;
use crate::store::{Manifest, RunDir, read_records};
use crate::system::file::abandoned;
use crate::text::hash::mark;
use crate::verdict::baseline::majority_verdict;
use crate::verdict::baseline::readers::Readers;
use crate::verdict::gate::Gate;
use crate::verdict::gate::figure::LATENCY;
use crate::verdict::poll;

/// A baseline under construction. Only the ids of its samples are in memory.
pub(super) struct NewBaseline {
    scorer_hash: String,
    /// Identifies the dataset that keys the snapshots, if they are masked.
    mask_id: Option<String>,
    runs: Vec<PooledRun>,
    /// The oldest versions by which the answers of the runs were read.
    readers: Option<Readers>,
    /// The models that served judges in any of the runs.
    judges: Judges,
    drafts: Drafts,
    /// The final number of answers per sample, once more than one run was added.
    answers: Option<usize>,
    errors: Vec<String>,
    missing: Vec<String>,
    incomplete: Vec<String>,
}

/// A sample of a run.
struct NewSample {
    id: String,
    draft: Draft,
    /// Whether any epoch ended in an error.
    is_error: bool,
}

/// Whether a gate of a run compares latencies with the baseline.
fn compares_latency(manifest: &Manifest) -> bool {
    let gates = manifest.config.get("gates");
    let gates = gates
        .and_then(serde_json::Value::as_array)
        .into_iter()
        .flatten();
    let mut gates = gates.filter_map(|gate| gate.as_str()?.parse::<Gate>().ok());
    gates.any(|gate| gate.figure() == Some(LATENCY))
}

/// Identifies the dataset that keys the snapshots of a run, if they are masked.
pub(super) fn key_of(manifest: &Manifest) -> Option<String> {
    manifest.mask_id.clone().filter(|_| manifest.masked)
}

impl NewBaseline {
    pub(super) fn new(scorer_hash: String, mask_id: Option<String>, drafts: Drafts) -> Self {
        Self {
            scorer_hash,
            mask_id,
            runs: Vec::new(),
            readers: None,
            judges: Judges::new(),
            drafts,
            answers: None,
            errors: Vec::new(),
            missing: Vec::new(),
            incomplete: Vec::new(),
        }
    }

    /// The existing baseline of a folder.
    pub(super) fn of_accepted(folder: &Path, mut drafts: Drafts) -> Result<Self> {
        let file = read_to_add(folder, |id, content| {
            let header = None;
            drafts.put(&id, &Draft { content, header })
        })?;
        Ok(Self {
            readers: Some(file.readers()),
            runs: file.runs,
            judges: file.judges,
            ..Self::new(file.scorer_hash, file.mask_id, drafts)
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Adds a run.
    ///
    /// # Errors
    /// If it cannot be combined with those already added; the baseline is then unusable.
    pub(super) fn add(
        &mut self,
        dir: &RunDir,
        manifest: &Manifest,
        folder: &Path,
        partial: bool,
    ) -> Result<()> {
        let mut roll = Roll::of(manifest);
        let is_first = self.runs.is_empty();
        let known = scorer_hash_of(folder);
        let is_same = known.as_ref().is_none_or(|(it, _)| *it == self.scorer_hash);
        let reader = known
            .map(|(_, readers)| readers.answers)
            .unwrap_or_default();
        let older = (is_first && is_same).then_some((folder, reader));
        let before: usize = self.runs.iter().map(|run| run.epochs as usize).sum();
        let all = before + manifest.epochs as usize;
        let lists = [&self.errors, &self.missing, &self.incomplete].map(Vec::len);
        let mut is_of_another = false;
        let stored = StoredParts {
            masked: manifest.masked,
            scorer: manifest.scorers.first().map(String::as_str),
            latency: compares_latency(manifest) && !manifest.replays(),
            details: Some(&manifest.detail_bounds),
        };
        for records in poll::samples(read_records(&dir.file(RECORDS))?) {
            let records = records?;
            let content = |record: &Record| EpochContent::of(record, stored);
            let contents = records.iter().map(content).collect();
            let Some((record, SampleContent { content, .. })) =
                records.first().zip(SampleContent::majority(contents))
            else {
                continue;
            };
            roll.add(&record.sample_id, &content, &records);
            let sample = NewSample {
                id: record.sample_id.clone(),
                draft: Draft {
                    content,
                    header: Some(SnapshotHeader::of(record, manifest.masked)),
                },
                is_error: records.iter().any(|record| record.result.status.is_error()),
            };
            if is_first {
                self.begin(sample, record, older, manifest)?;
            } else {
                is_of_another |= self.join(sample, record, all)?;
            }
        }
        let [errors, missing, incomplete] = lists;
        self.errors[errors..].sort();
        self.missing[missing..].sort();
        self.incomplete[incomplete..].sort();
        for (scorer, models) in &manifest.judge_models {
            let known = self.judges.entry(scorer.clone()).or_default();
            known.extend(models.keys().cloned());
        }
        let run = roll.finish();
        if let Some(last) = self.runs.last() {
            if self.scorer_hash != manifest.scorer_hash {
                return Err(run.another(last, "scorer, extraction or `errors`"));
            }
            let key = key_of(manifest);
            if key.is_some() != self.mask_id.is_some() {
                return Err(run.another(last, "`snapshot.answers`"));
            }
            for other in &self.runs {
                run.check_joins(other, partial)?;
            }
            if key != self.mask_id || is_of_another {
                return Err(run.another(last, "dataset"));
            }
            self.answers = Some(all);
        }
        self.runs.push(run);
        let readers = Readers::of_run(manifest);
        self.readers = Some(self.readers.map_or(readers, |known| known.min(readers)));
        Ok(())
    }

    /// Takes a sample of the first run. An outage must not overwrite an earlier snapshot that is still comparable: one
    /// in `older`, whose answers were read by that version.
    fn begin(
        &mut self,
        sample: NewSample,
        record: &Record,
        older: Option<(&Path, u32)>,
        manifest: &Manifest,
    ) -> Result<()> {
        let NewSample {
            id,
            mut draft,
            is_error,
        } = sample;
        if !is_error {
            return self.drafts.put(&id, &draft);
        }
        let before = older.and_then(|(folder, reader)| {
            let before = Content::read(&path(folder, &id)).ok().flatten()?;
            Some(before.read_by(reader))
        });
        let before = before.filter(|before| before.is_of(record));
        match before {
            Some(before) => {
                let before = if manifest.masked {
                    epoch::hidden(before, record)
                } else {
                    before
                };
                draft.content = before.trimmed(manifest.epochs as usize);
                self.drafts.put(&id, &draft)?;
                self.errors.push(id);
            }
            None if draft.content.is_answered() => {
                self.drafts.put(&id, &draft)?;
                self.incomplete.push(id);
            }
            None => self.missing.push(id),
        }
        Ok(())
    }

    /// Appends the answers of a further run. Returns whether the existing ones are to another question, or were scored
    /// against another ground truth.
    fn join(&mut self, sample: NewSample, record: &Record, all: usize) -> Result<bool> {
        let NewSample {
            id,
            draft,
            is_error,
        } = sample;
        let old = self.drafts.get(&id)?;
        let is_of_another = old.as_ref().is_some_and(|old| !old.content.is_of(record));
        match old {
            Some(mut old) => {
                if let Some(answers) = self.answers {
                    // The sample was not in an earlier run.
                    old.content.resize(answers);
                }
                old.content.append(draft.content);
                old.header = old.header.or(draft.header);
                self.drafts.put(&id, &old)?;
            }
            None if draft.content.is_answered() || !is_error => {
                let content = draft.content.with_answers(all);
                self.drafts.put(&id, &Draft { content, ..draft })?;
            }
            None => {}
        }
        if is_error {
            self.incomplete.push(id);
        }
        Ok(is_of_another)
    }

    /// Writes the snapshots, their index and `_baseline.json`. Also returns the verdict on each answer.
    pub(super) fn write(
        mut self,
        eval: String,
        folder: PathBuf,
    ) -> Result<(Accepted, AcceptedAnswers)> {
        // A later run may have answered them.
        let mut missing = self.missing;
        missing.retain(|id| !self.drafts.has(id));
        let masked = self.mask_id.is_some();
        let (mut changed, mut correct, mut unscored) = (0, 0, 0);
        let mut known = CurrentFiles::default();
        let mut digests = Digests::default();
        let mut index = NewIndex::new();
        let mut answers = AcceptedAnswers::default();
        begin(&folder)?;
        for (id, place) in self.drafts.take_places() {
            let Draft {
                mut content,
                header,
            } = self.drafts.read(place)?;
            if let Some(answers) = self.answers {
                // The sample was not in the last run.
                content.resize(answers);
            }
            let (old, path) = (path(&folder, &id), portable_path(&folder, &id));
            let before = Content::read(&old).ok().flatten();
            if old != path || before.is_none_or(|before| before.text() != content.text()) {
                // For a sample that was not asked this time, the existing snapshot has the header.
                let header = header.or_else(|| SnapshotHeader::read(&old).filter(|_| !masked));
                content.write(&path, &header.unwrap_or_else(|| SnapshotHeader::bare(&id)))?;
                changed += 1;
            }
            let pending = snapshot::pending(&old);
            if old != path && SnapshotHeader::is_own(&old) {
                // An older version gave it a name that Windows reserves.
                let _ = std::fs::remove_file(&old);
            }
            // It is of the version that is accepted now, or of an older one.
            if SnapshotHeader::is_own(&pending) {
                let _ = std::fs::remove_file(pending);
            }
            known.add(&path);
            let sample = content.clone().into_sample();
            answers.add(&id, &sample.answers);
            match majority_verdict(&sample.answers) {
                Some(is_correct) => correct += usize::from(is_correct),
                None => unscored += 1,
            }
            digests.add(&id, &content);
            index.add(&id, &content);
        }
        write_attributes(&folder)?;
        let removed = known.remove_others(&folder)?;
        let file = BaselineFile::new(
            self.runs,
            self.scorer_hash,
            self.mask_id,
            self.judges,
            digests,
            correct,
        )
        .read_by(self.readers.unwrap_or_default());
        let notices = index.write(&folder, &file).err().map(|error| {
            forget_index(&folder);
            format!(
                "runs read each snapshot, for their index was not written: {}",
                error.message()
            )
        });
        write(&folder.join(FILE), &file)?;
        let accepted = Accepted {
            eval,
            runs: file.runs.iter().map(PooledRun::known).collect(),
            samples: file.samples,
            correct: file.correct,
            unscored,
            changed,
            removed,
            errors: self.errors,
            missing,
            incomplete: self.incomplete,
            folder,
            notices: notices.into_iter().collect(),
        };
        Ok((accepted, answers))
    }
}

/// The files to keep, each by a 64-bit hash: 8 MiB for a million instead of about 100 MiB for their paths. Collisions
/// are negligible.
#[derive(Default)]
pub(super) struct CurrentFiles(Vec<u64>);

impl CurrentFiles {
    pub(super) fn add(&mut self, path: &Path) {
        self.0.push(mark(path));
    }

    /// Removes snapshots of samples that no longer exist, and pending snapshots. Both are recognised by their header;
    /// files of other programs stay. Removes what killed commands had not finished writing, too.
    pub(super) fn remove_others(mut self, folder: &Path) -> Result<usize> {
        self.0.sort_unstable();
        let mut removed = 0;
        let files = WalkDir::new(folder).min_depth(1).max_depth(2).into_iter();
        for entry in files {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(folder).to_owned();
                Error::io("read", &path, &error.into())
            })?;
            let path = entry.path();
            let name = entry.file_name().to_string_lossy();
            let written = abandoned(&name).filter(|_| entry.file_type().is_file());
            if written.is_some_and(|name| {
                Path::new(name).extension().is_some_and(|end| end == "snap")
                    || [FILE, INDEX_FILE, ATTRIBUTES_FILE].contains(&name)
            }) {
                // Leftover files do no harm.
                let _ = std::fs::remove_file(path);
            }
            let is_snapshot = entry.depth() == 2 && name.ends_with(".snap");
            let is_unknown = || self.0.binary_search(&mark(path)).is_err();
            let is_over =
                is_snapshot && is_unknown() || entry.depth() == 2 && name.ends_with(".snap.new");
            if is_over && SnapshotHeader::is_own(path) {
                std::fs::remove_file(path).map_err(|error| Error::io("remove", path, &error))?;
                removed += usize::from(is_snapshot);
                let _ = path.parent().map(std::fs::remove_dir);
            }
        }
        Ok(removed)
    }
}
