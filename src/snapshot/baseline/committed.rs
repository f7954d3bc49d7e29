//! [`CommittedBaseline`]: the baseline of a snapshot folder, whose snapshots are read when it is known which are needed.

use std::path::{Path, PathBuf};

use super::contents::{FoundSnapshots, contents, each};
use super::{BaselineFile, FILE, PooledRun, file, index};
use crate::error::Result;
use crate::snapshot::{Content, path, read as snapshots};
use crate::store::Manifest;
use crate::system::in_shares;
use crate::verdict::baseline::samples::SampleColumns;
use crate::verdict::baseline::{Baseline, BaselineSample, BaselineSamples, older_ids};
use crate::verdict::gate::Gate;

/// The baseline of a snapshot folder.
pub(crate) struct CommittedBaseline {
    folder: PathBuf,
    /// `_baseline.json`; `None` if only snapshots are there.
    file: Option<BaselineFile>,
    /// The snapshots, if they were read to find out whether there are any.
    found: Option<FoundSnapshots>,
}

/// A sample by its id, and whether its snapshot has the accepted digest.
type ReadSample = (String, BaselineSample, bool);

impl CommittedBaseline {
    /// The baseline of a folder, if there is one. Opens no snapshot if `_baseline.json` is there.
    pub(crate) fn open(folder: &Path) -> Result<Option<Self>> {
        if !folder.is_dir() {
            return Ok(None);
        }
        let file = file(&folder.join(FILE))?;
        let found = match file {
            Some(_) => None,
            None => Some(contents(folder)?),
        };
        let is_there = found
            .as_ref()
            .is_none_or(|found| !found.contents.is_empty());
        Ok(is_there.then(|| Self {
            folder: folder.to_owned(),
            file,
            found,
        }))
    }

    /// Identifies the dataset that keys its hashes, if they are masked.
    pub(crate) fn mask_id(&self) -> Option<&str> {
        self.file.as_ref()?.mask_id.as_deref()
    }

    /// Hash of its scorer; empty without `_baseline.json`.
    pub(crate) fn scorer_hash(&self) -> &str {
        self.file.as_ref().map_or("", |file| &file.scorer_hash)
    }

    /// With all of its samples. If it decides nothing, the index is read instead of the snapshots, and edited ones are
    /// not noticed.
    pub(crate) fn read(self, decides: bool) -> Result<Baseline> {
        let file = self.file.as_ref().filter(|_| !decides);
        match file.and_then(|file| index::samples(&self.folder, file)) {
            None => self.whole(),
            Some(samples) => Ok(Baseline {
                samples,
                digest_matches: true,
                ..self.file.map(head).unwrap_or_default()
            }),
        }
    }

    /// The same for a run with these gates.
    pub(crate) fn read_for(self, manifest: &Manifest, gates: &[Gate]) -> Result<Baseline> {
        self.read(manifest.asserts() || gates.iter().any(Gate::needs_baseline))
    }

    /// With all of its samples, by their snapshots.
    fn whole(self) -> Result<Baseline> {
        if let Some(file) = self.file.as_ref().filter(|file| !file.digests.is_empty())
            && let Some(read) = in_place(&self.folder, file)?
        {
            return Ok(self.with_read(read));
        }
        let found = match self.found {
            Some(found) => found,
            None => contents(&self.folder)?,
        };
        let (digest_matches, changed_files) = match &self.file {
            Some(file) => file.compare(&found, &self.folder),
            None => (false, vec![FILE.to_owned()]),
        };
        let reader = self.file.as_ref().map(BaselineFile::readers);
        let reader = reader.unwrap_or_default().answers;
        let samples = found.contents.into_iter();
        let samples = samples.map(|(id, content)| (id, content.read_by(reader).into_sample()));
        Ok(Baseline {
            samples: samples.collect(),
            digest_matches,
            changed_files,
            ..self.file.map(head).unwrap_or_default()
        })
    }

    /// With samples that are all in their places.
    fn with_read(self, read: ReadSamples) -> Baseline {
        let ReadSamples { samples, changed } = read;
        let is_read = |id: &str| samples.get(id).is_some();
        let (mut files, is_as_written) = match &self.file {
            Some(file) => {
                let gone = file.digests.ids().filter(|id| !is_read(id));
                let files = changed.iter().map(String::as_str).chain(gone);
                let files = files.map(|id| super::name(&self.folder, &path(&self.folder, id)));
                (files.collect(), file.verdict_digest == file.digest())
            }
            None => (Vec::new(), true),
        };
        files.sort();
        if !is_as_written {
            files.insert(0, FILE.to_owned());
        }
        Baseline {
            samples,
            digest_matches: files.is_empty(),
            changed_files: files,
            ..self.file.map(head).unwrap_or_default()
        }
    }

    /// With these samples alone, of which the snapshots are opened by their paths; the ids of the others are known. Other
    /// snapshots may have changed. Everything is read if `_baseline.json` does not list the snapshots, or if one of these
    /// is not in its place.
    pub(crate) fn of(self, ids: &[&str]) -> Result<Baseline> {
        let Some(file) = self.file.as_ref().filter(|file| !file.digests.is_empty()) else {
            return self.whole();
        };
        let Some(read) = read_each(ids, &|ids| samples(&self.folder, file, ids))? else {
            return self.whole();
        };
        let changed = read.iter().filter(|(.., is_accepted)| !is_accepted);
        let changed_files: Vec<_> = changed
            .map(|(id, ..)| super::name(&self.folder, &path(&self.folder, id)))
            .collect();
        let samples = read.into_iter().map(|(id, sample, _)| (id, sample));
        let samples: BaselineSamples = samples.collect();
        let unread = file.digests.ids();
        let unread = unread.filter(|id| samples.get(id).is_none());
        let unread = unread.map(Into::into).collect();
        Ok(Baseline {
            samples,
            unread,
            digest_matches: changed_files.is_empty(),
            changed_files,
            ..self.file.map(head).unwrap_or_default()
        })
    }
}

/// Samples by their ids, and the ids of those whose snapshots have not the accepted digests.
struct ReadSamples {
    samples: BaselineSamples,
    changed: Vec<String>,
}

/// All snapshots of a folder. Nothing but what a comparison needs stays of each. `None` if one is not in its place.
fn in_place(folder: &Path, file: &BaselineFile) -> Result<Option<ReadSamples>> {
    let reader = file.readers().answers;
    let see = |at: &Path, id: String, content: Content| {
        let is_accepted = file.digests.has(&id, &content);
        let sample = content.read_by(reader).into_sample();
        (at == path(folder, &id)).then_some((id, sample, is_accepted))
    };
    let (mut samples, mut changed) = (room_for(file), Vec::new());
    let mut are_in_place = true;
    each(folder, &see, &mut |sample| {
        let Some((id, sample, is_accepted)) = sample else {
            are_in_place = false;
            return;
        };
        samples.push(&id, sample);
        if !is_accepted {
            changed.push(id);
        }
    })?;
    Ok(are_in_place.then(|| ReadSamples {
        samples: samples.by_id(),
        changed,
    }))
}

/// Room for the samples of a baseline, whose file may name any number of epochs.
pub(super) fn room_for(file: &BaselineFile) -> SampleColumns {
    let samples = file.digests.len();
    let answers: usize = file.runs.iter().map(|run| run.epochs as usize).sum();
    let answers = samples.saturating_mul(answers.min(10));
    SampleColumns::with_capacity(samples, file.digests.ids.bytes(), answers)
}

/// What `_baseline.json` says of the runs.
fn head(file: BaselineFile) -> Baseline {
    Baseline {
        readers: file.readers(),
        runs: file.runs.iter().map(PooledRun::known).collect(),
        // All runs of a baseline have the same prompt.
        prompt: file.runs.first().and_then(|run| run.prompt.clone()),
        of_prompts: file.format_version == 1,
        majorities: file.format_version == 1 && file.runs.iter().any(|run| run.epochs > 1),
        scorer_hash: file.scorer_hash,
        judges: file.judges,
        mask_id: file.mask_id,
        ..Baseline::default()
    }
}

/// Applies `read` to shares of the ids in parallel, since nearly all the time goes into opening files. `None` if it
/// returns `None` for any.
fn read_each(
    ids: &[&str],
    read: &(impl Fn(&[&str]) -> Result<Option<Vec<ReadSample>>> + Sync),
) -> Result<Option<Vec<ReadSample>>> {
    /// The fewest files per thread.
    const SHARE: usize = 256;
    let read: Result<Option<Vec<_>>> = in_shares(ids, SHARE, &|share| read(share))
        .into_iter()
        .collect::<Result<_>>();
    Ok(read?.map(|samples| samples.into_iter().flatten().collect()))
}

/// The samples with these ids, or with other forms of them that the baseline lists; `None` if a snapshot is not where it
/// belongs.
fn samples(folder: &Path, file: &BaselineFile, ids: &[&str]) -> Result<Option<Vec<ReadSample>>> {
    let reader = file.readers().answers;
    let mut samples = Vec::new();
    for &id in ids {
        let others = older_ids::other_forms(id).filter(|form| file.digests.lists(form));
        for form in std::iter::once(id.to_owned()).chain(others) {
            match snapshots::snapshot(&path(folder, &form))? {
                Some((own, content)) if own == form => {
                    let is_accepted = file.digests.has(&own, &content);
                    let sample = content.read_by(reader).into_sample();
                    samples.push((own, sample, is_accepted));
                }
                None if !file.digests.lists(&form) => {}
                // Moved, removed, or another sample's.
                _ => return Ok(None),
            }
        }
    }
    Ok(Some(samples))
}
