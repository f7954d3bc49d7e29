//! `Pieces`: run directories that are parts of one run, and their combination.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use crate::data::{JudgeRule, Shard};
use crate::error::{Error, Result};
use crate::store::files::{JOURNAL, PLACES, RECORDS, SUMMARY};
use crate::store::places::PartPlaces;
use crate::store::{Manifest, MergedPart, RunDir, RunStatus, read_lean_records};
use crate::system::project::display;
use crate::text::clean;
use crate::verdict::summary::Summary;

/// Run directories that are parts of one run. They are checked when added, except records and journals, which are
/// checked when copied. Little of each stays in memory: there may be one per sample.
pub(crate) struct Pieces {
    /// Their common manifest, with totals.
    pub(super) manifest: Manifest,
    pub(super) all: Vec<Piece>,
    /// The piece of each sample, by dataset place; unordered until sorted.
    pub(super) owners: Vec<(u32, u32)>,
    /// Ids of samples whose assertion failed.
    pub(super) failed: HashSet<String>,
    /// Answers without a verdict because the run was stopped.
    pub(super) not_judged: u64,
    /// Whether one was stopped before all of its samples were asked.
    is_open: bool,
    /// The commits that were checked out.
    commits: BTreeSet<Option<String>>,
    pub(super) notices: Vec<String>,
}

/// One piece.
pub(super) struct Piece {
    pub(super) dir: RunDir,
    pub(super) run_id: String,
    shard: Option<Shard>,
    /// The SHA-256 of its records.
    pub(super) records: Option<String>,
    /// The SHA-256 of its journal.
    pub(super) journal: Option<String>,
}

impl Piece {
    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        match self.shard {
            Some(shard) => format!("shard {shard}"),
            None => format!("`{}`", display(self.dir.path())),
        }
    }

    /// The id of the sample at a place of the dataset.
    fn sample_at(&self, place: u32, epochs: u32) -> Option<String> {
        let places = PartPlaces::read(&self.dir).ok()?.places;
        let rank = places.binary_search(&(place as usize)).ok()?;
        let mut records = read_lean_records(&self.dir.file(RECORDS)).ok()?;
        let record = records.nth(rank * epochs as usize)?.ok()?;
        Some(record.sample_id)
    }
}

impl Pieces {
    /// Starts with the first piece. Add the others in an order that does not depend on how they were named.
    ///
    /// # Errors
    /// When it is no part of a run, was changed, is in progress or was killed.
    pub(crate) fn of(dir: RunDir) -> Result<Self> {
        let manifest = dir.manifest()?;
        let mut pieces = Self {
            manifest: Manifest {
                ended_at: None,
                duration_s: None,
                status: RunStatus::Finished,
                only: None,
                merged: Vec::new(),
                models: BTreeMap::new(),
                answers_of: Vec::new(),
                journal_lines_skipped: Vec::new(),
                ..manifest.clone()
            },
            all: Vec::new(),
            owners: Vec::new(),
            failed: HashSet::new(),
            not_judged: 0,
            is_open: false,
            commits: BTreeSet::new(),
            notices: Vec::new(),
        };
        pieces.take(dir, manifest)?;
        Ok(pieces)
    }

    /// Adds another.
    ///
    /// # Errors
    /// See [`Pieces::of`]; also when it is of another run.
    pub(crate) fn add(&mut self, dir: RunDir) -> Result<()> {
        let manifest = dir.manifest()?;
        if let Some(what) = difference(&self.manifest, &manifest) {
            let first = &self.all[0];
            let message = format!(
                "{} has another {what} than {}: {}, {}",
                name_of(&dir, &manifest),
                first.name(),
                clean(&manifest.run_id),
                clean(&first.run_id)
            );
            return Err(Error::usage(message).hint(
                "parts of one run are asked by the same spec, dataset, agent, scorers and version; run that part again, or merge \
                 others",
            ));
        }
        self.take(dir, manifest)
    }

    fn take(&mut self, dir: RunDir, manifest: Manifest) -> Result<()> {
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.notices
            .extend(dir.check_but(&manifest, &[RECORDS, JOURNAL])?);
        if manifest.part.is_none() || !manifest.artifacts.contains_key(PLACES) {
            return Err(no_part(&dir));
        }
        let places = PartPlaces::read(&dir)?;
        let of_run = |place: &usize| u32::try_from(*place).ok();
        let count = places.places.len();
        if places.samples != manifest.samples || count != manifest.selected {
            let message = format!("{}: {PLACES} is not of this run", display(dir.path()));
            return Err(Error::usage(message)
                .hint("copy it again from the original directory, or run the shard again"));
        }
        self.owners.reserve(count);
        for place in &places.places {
            let place = of_run(place).ok_or_else(|| Error::usage("there are too many samples"))?;
            self.owners.push((place, number));
        }
        self.add_up(&dir, &manifest)?;
        let artifact = |name: &str| manifest.artifacts.get(name).cloned();
        self.all.push(Piece {
            records: artifact(RECORDS),
            journal: artifact(JOURNAL),
            run_id: manifest.run_id,
            shard: manifest.part.and_then(|part| part.shard),
            dir,
        });
        Ok(())
    }

    /// Adds a part's figures to the totals.
    fn add_up(&mut self, dir: &RunDir, part: &Manifest) -> Result<()> {
        let all = &mut self.manifest;
        all.started_at = all.started_at.clone().min(part.started_at.clone());
        all.ended_at = all.ended_at.take().max(part.ended_at.clone());
        // They ran in parallel.
        let longest = [all.duration_s, part.duration_s].into_iter().flatten();
        all.duration_s = longest.reduce(f64::max);
        for (model, answers) in &part.models {
            *all.models.entry(model.clone()).or_default() += answers;
        }
        all.environment
            .retain(|name, value| part.environment.get(name) == Some(value));
        all.mixed |= part.mixed;
        all.reader = all.reader.min(part.reader);
        all.judge_reader = all.judge_reader.min(part.judge_reader);
        all.git_dirty = all.git_dirty.max(part.git_dirty);
        if all.sandbox != part.sandbox {
            self.notices.push(format!(
                "{} had another sandbox than the others",
                name_of(dir, part)
            ));
            all.sandbox = None;
        }
        let whole = |manifest: &Manifest| manifest.part.as_ref().is_some_and(|part| part.whole);
        let is_whole = whole(all) && whole(part);
        if let Some(of) = &mut all.part {
            of.whole = is_whole;
        }
        all.status = match (all.status, part.status) {
            (RunStatus::Interrupted, _) | (_, RunStatus::Interrupted) => RunStatus::Interrupted,
            (RunStatus::Finished, RunStatus::Finished) => RunStatus::Finished,
            _ => RunStatus::Stopped,
        };
        if all.stop_reason.is_none() {
            all.stop_reason.clone_from(&part.stop_reason);
        }
        self.commits.insert(part.git_sha.clone());
        self.failed.extend(part.failed_assertions.iter().cloned());
        // The cache knows all parts of a nextest run by their common name.
        let of_nextest = part.part.as_ref().is_some_and(|of| of.nextest.is_some());
        let own = if of_nextest {
            &part.invocation
        } else {
            &part.run_id
        };
        for run in part.answers_of.iter().chain([own]) {
            if all.answers_of.last() != Some(run) {
                all.answers_of.push(run.clone());
            }
        }
        if part.status != RunStatus::Finished {
            let known = Summary::read(&dir.file(SUMMARY))?;
            self.not_judged += known.not_judged;
            self.is_open |= known.skipped > 0;
        }
        Ok(())
    }

    /// Combines their manifests; `merged` lists them.
    ///
    /// # Errors
    /// When two of them have the same sample.
    pub(super) fn together(&mut self, names_parts: bool) -> Result<()> {
        self.sort()?;
        let commits = self.commits.len();
        let all = &mut self.manifest;
        all.answers_of.sort();
        all.answers_of.dedup();
        if commits > 1 {
            all.mixed = true;
            all.git_sha = None;
            let names = self.commits.iter().map(|commit| match commit {
                Some(commit) => commit.get(..12).unwrap_or(commit),
                None => "none",
            });
            let names: Vec<_> = names.collect();
            self.notices.push(format!(
                "the parts were run at {commits} commits ({}): they cannot become one baseline",
                names.join(", ")
            ));
        }
        all.selected = self.owners.len();
        if names_parts {
            let named = self.all.iter().map(|piece| MergedPart {
                run_id: piece.run_id.clone(),
                shard: piece.shard,
            });
            all.merged = named.collect();
        }
        if self.is_complete() {
            let part = self.manifest.part.take();
            self.manifest.whole = part.is_some_and(|part| part.whole);
            if !self.is_open {
                // A part that stopped early does not matter if the others asked the rest.
                self.manifest.status = RunStatus::Finished;
                self.manifest.stop_reason = None;
            }
        } else {
            self.manifest.whole = false;
            if self.manifest.status == RunStatus::Finished {
                self.manifest.status = RunStatus::Stopped;
                let lacks = self.manifest.samples - self.owners.len();
                self.manifest.stop_reason = Some(format!(
                    "{lacks} of {} samples are in other parts",
                    self.manifest.samples
                ));
            }
        }
        Ok(())
    }

    /// Whether they have every sample of their eval.
    pub(crate) fn is_complete(&self) -> bool {
        self.owners.len() == self.manifest.samples
    }

    /// Refuses missing or duplicate samples.
    pub(super) fn refuse_incomplete(&mut self) -> Result<()> {
        self.sort()?;
        if self.is_complete() {
            return Ok(());
        }
        let samples = self.manifest.samples;
        let lacks = samples - self.owners.len();
        let message = format!(
            "eval `{}` is incomplete: {lacks} of its {samples} samples are in none of these shards",
            clean(&self.manifest.eval)
        );
        Err(Error::usage(message).hint("pass the other shards too, or run the missing ones"))
    }

    /// Whether one was stopped before all of its samples were asked.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// The notices about them.
    pub(super) fn into_notices(self) -> Vec<String> {
        self.notices
    }

    /// Sorts the samples into dataset order.
    fn sort(&mut self) -> Result<()> {
        self.owners.sort_unstable();
        let twice = |pair: &&[(u32, u32)]| pair[0].0 == pair[1].0;
        match self.owners.windows(2).find(twice) {
            Some(pair) => Err(self.overlap(pair[0], pair[1])),
            None => Ok(()),
        }
    }

    /// The error for a sample in two pieces.
    fn overlap(&self, one: (u32, u32), other: (u32, u32)) -> Error {
        let [one, other] = [one, other].map(|(place, piece)| (place, &self.all[piece as usize]));
        let id = one.1.sample_at(one.0, self.manifest.epochs);
        let sample = id.map_or_else(
            || format!("sample {} of the dataset", one.0 + 1),
            |id| format!("sample `{}`", clean(&id)),
        );
        Error::usage(format!(
            "{} and {} both have {sample}",
            one.1.name(),
            other.1.name()
        ))
        .hint("each sample belongs to one shard: remove one of the two, or run one again")
    }
}

/// The name of a part in messages.
pub(super) fn name_of(dir: &RunDir, manifest: &Manifest) -> String {
    let shard = manifest.part.as_ref().and_then(|part| part.shard);
    match shard {
        Some(shard) => format!("shard {shard}"),
        None => format!("`{}`", display(dir.path())),
    }
}

fn no_part(dir: &RunDir) -> Error {
    let message = format!("run `{}` is not a shard", display(dir.path()));
    Error::usage(message).hint("merge the run directories of `cargo evaltest run --shard m/n`")
}

/// The first difference between two parts, in a word.
pub(super) fn difference(one: &Manifest, other: &Manifest) -> Option<&'static str> {
    let same = [
        (one.eval == other.eval, "eval"),
        (
            one.format_version == other.format_version
                && one.evaltest_version == other.evaltest_version,
            "version of evaltest",
        ),
        (
            one.tier == other.tier && one.below_tier == other.below_tier,
            "tier",
        ),
        (
            one.is_limited() == other.is_limited()
                && of_spec(one, "/limits/limit") == of_spec(other, "/limits/limit"),
            "limit",
        ),
        (one.prompt == other.prompt, "prompt"),
        (one.perturb == other.perturb, "`perturb`"),
        (one.masked == other.masked, "`snapshot.answers`"),
        (
            one.dataset_hash == other.dataset_hash
                && one.samples == other.samples
                && one.mask_id == other.mask_id
                && slices(one) == slices(other),
            "dataset",
        ),
        (
            of_spec(one, "/errors") == of_spec(other, "/errors"),
            "`errors`",
        ),
        (
            one.redact == other.redact && of_spec(one, "/redact") == of_spec(other, "/redact"),
            "`redact`",
        ),
        (
            one.scorers == other.scorers
                && one.scorer_hash == other.scorer_hash
                && one.scorers_hash == other.scorers_hash,
            "scorer",
        ),
        (judges(one).eq(judges(other)), "judge"),
        (one.agent_hash == other.agent_hash, "agent"),
        (one.epochs == other.epochs, "number of epochs"),
        (of_spec(one, "/gates") == of_spec(other, "/gates"), "gates"),
        (
            one.request_hash == other.request_hash
                && one.benchmark == other.benchmark
                && one.variant == other.variant
                && of_spec(one, "/snapshot/assert") == of_spec(other, "/snapshot/assert"),
            "spec",
        ),
    ];
    let other = same.into_iter().find(|(is_same, _)| !is_same);
    other.map(|(_, what)| what)
}

/// What defines a judge; the path of its calibration differs between machines.
fn judges(manifest: &Manifest) -> impl Iterator<Item = (&String, &String, &JudgeRule, bool)> {
    let judges = manifest.judges.iter();
    judges.map(|(name, judge)| (name, &judge.fingerprint, &judge.rule, judge.solves))
}

fn slices(manifest: &Manifest) -> Option<&String> {
    manifest.part.as_ref()?.slices.as_ref()
}

fn of_spec<'a>(manifest: &'a Manifest, pointer: &str) -> Option<&'a Value> {
    manifest.config.pointer(pointer)
}
