//! `Baseline`: the accepted runs that a new run is compared with, and the pairing of both.
//!
//! A baseline is one or several whole runs. Snapshots accepted one by one (`digest_matches: false`) are not a random
//! sample: keeping only good answers makes an unchanged agent look worse from then on.

pub(crate) mod columns;
pub(crate) mod current;
pub(crate) mod figures;
pub(crate) mod marks;
pub(crate) mod older_ids;
pub(crate) mod readers;
pub(crate) mod samples;
pub(crate) mod ways;

use std::collections::{BTreeMap, BTreeSet};

use crate::data::{FoundBy, Record};
use crate::error::{Error, Result};
use crate::stats::AnswerCounts;
use crate::verdict::baseline::marks::Marks;
use crate::verdict::baseline::readers::Readers;
use crate::verdict::gate::Slice;
pub use current::{CurrentRow, CurrentSample, CurrentSamples};
pub use samples::{BaselineRow, BaselineSample, BaselineSamples};

/// The accepted runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The runs, in the order in which they were accepted; empty if unknown.
    pub runs: Vec<BaselineRun>,
    /// Hash of scorer, options and extraction.
    pub scorer_hash: String,
    /// The versions by which its answers were read; the oldest, if its runs differ.
    pub readers: Readers,
    /// The samples by id.
    pub samples: BaselineSamples,
    /// The ids of samples whose snapshots were not read, since a run does not ask them; in order.
    pub unread: Vec<Box<str>>,
    /// Whether the snapshots are still those of these runs.
    pub digest_matches: bool,
    /// If they are not: the files that were changed, added or removed since, as far as known. Empty for a baseline of
    /// the first version.
    pub changed_files: Vec<String>,
    /// The prompt around the questions of these runs, as in [`Facts::prompt`](crate::engine::verdict::Facts::prompt);
    /// `None` if unknown.
    pub prompt: Option<String>,
    /// The models that served judges in these runs, by the name of the scorer, with their fingerprints.
    pub judges: BTreeMap<String, BTreeSet<String>>,
    /// Identifies the dataset that keys its hashes, if they are masked.
    pub mask_id: Option<String>,
    /// Whether it has one verdict for several epochs, that of the majority, as snapshots of the first version.
    /// Majorities are then compared.
    pub majorities: bool,
    /// Whether its hashes cover question and prompt together, as in the first version.
    pub of_prompts: bool,
}

/// One of the accepted runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaselineRun {
    /// Its id.
    pub run_id: String,
    /// Epochs per sample.
    pub epochs: u32,
}

/// The samples of two sets of runs, paired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairing<'a> {
    /// Samples with a verdict in the baseline for which one is expected now.
    pub(crate) pairs: Pairs<'a>,
    /// Ids that the baseline does not have.
    pub(crate) added: Vec<&'a str>,
    /// Ids that only the baseline has.
    pub(crate) removed: Vec<&'a str>,
    /// Ids whose input or ground truth has changed.
    pub(crate) changed: Vec<&'a str>,
    /// Ids that were in the slice and are in another one now.
    pub(crate) moved: Vec<&'a str>,
    /// Ids without a verdict in the baseline, or for which none is expected now.
    pub(crate) unscored: Vec<&'a str>,
    /// Samples with a verdict in the baseline, whatever happened to them since.
    pub(crate) expected: usize,
    /// Whether an answer of now did not come from the cache.
    pub(crate) has_fresh: bool,
}

/// The samples with a verdict in the baseline for which one is expected now, each found in the columns of both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs<'a> {
    /// Nothing without pairs.
    of: Option<(&'a Baseline, &'a CurrentSamples)>,
    /// The rank of each in the baseline, in the order of its place now.
    ranks: Vec<u32>,
    /// Those places, as bits.
    places: Vec<u64>,
}

/// One sample in both, with at least one verdict in the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair<'a> {
    /// The sample's id.
    pub(crate) id: &'a str,
    /// The verdict on each answer in the baseline, in the order of runs and epochs.
    pub(crate) before: &'a [Option<bool>],
    /// The verdict on each answer now, in the order of epochs; `None` if it errored or was never requested.
    pub(crate) now: &'a [Option<bool>],
    /// How each answer in the baseline was found; `None` if unknown. Empty if unknown for all.
    pub(crate) before_ways: &'a [Option<FoundBy>],
    /// How each answer now was found.
    pub(crate) now_ways: &'a [Option<FoundBy>],
    /// The group of dependent samples it belongs to.
    pub(crate) cluster: Option<&'a str>,
}

/// A sample that was correct in the baseline and is not now, or vice versa.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flip {
    /// The sample's id.
    pub id: String,
    /// Whether it became wrong.
    pub worse: bool,
}

impl<'a> Pairing<'a> {
    fn add(&mut self, sample: CurrentRow<'a>, before: Option<BaselineRow<'a>>) {
        let id = sample.id();
        let Some(before) = before else {
            return self.added.push(id);
        };
        self.expected += usize::from(before.has_verdict());
        if !sample.is_same_as(before) {
            return self.changed.push(id);
        }
        if sample.answers().is_empty() || !before.has_verdict() {
            return self.unscored.push(id);
        }
        self.has_fresh |= sample.has_fresh();
        self.pairs.push(before.rank, sample.place);
    }
}

impl PartialEq for Pairs<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Pairs<'_> {}

impl<'a> Pairs<'a> {
    /// Adds the sample at a place behind those of all others.
    fn push(&mut self, rank: usize, place: usize) {
        self.ranks.push(columns::number(rank));
        self.places.resize(place / 64 + 1, 0);
        self.places[place / 64] |= 1 << (place % 64);
    }

    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Pair<'a>> + Clone {
        let of = self.of.iter().copied();
        of.flat_map(move |(baseline, current)| {
            let words = self.places.iter().enumerate();
            let places = words.flat_map(|(word, bits)| {
                let bits = (0..64).filter(move |bit| bits >> bit & 1 == 1);
                bits.map(move |bit| word * 64 + bit)
            });
            places.zip(&self.ranks).map(move |(place, rank)| {
                let before = baseline.samples.row(*rank as usize);
                Pair::of(before, current.row(place), baseline.majorities)
            })
        })
    }
}

impl<'a> Pair<'a> {
    /// Of a sample as it was and is; its answers of now are their majority if the baseline has `majorities`.
    fn of(before: BaselineRow<'a>, now: CurrentRow<'a>, majorities: bool) -> Self {
        Self {
            id: now.id(),
            before: before.answers(),
            now: if majorities {
                majority(now.answers())
            } else {
                now.answers()
            },
            before_ways: before.ways(),
            now_ways: if majorities { &[] } else { now.ways() },
            cluster: now.cluster(),
        }
    }
}

/// Whether more than half of the answers are correct; `None` if no answer has a verdict.
pub(crate) fn majority_verdict(answers: &[Option<bool>]) -> Option<bool> {
    let AnswerCounts { right, of } = right_of(answers);
    (of > 0).then_some(u64::from(right) * 2 > u64::from(of))
}

/// Right answers, and answers with a verdict.
pub(crate) fn right_of(answers: &[Option<bool>]) -> AnswerCounts {
    let count = |wanted: fn(&&bool) -> bool| {
        let counted = answers.iter().flatten().filter(wanted).count();
        u32::try_from(counted).unwrap_or(u32::MAX)
    };
    AnswerCounts::new(count(|right| **right), count(|_| true))
}

/// Whether the majority verdict of a sample flipped: more than half of the answers with a verdict were right before,
/// and at most half are now (`Some(true)`, it became wrong), or vice versa (`Some(false)`).
pub(crate) fn flipped(before: &[Option<bool>], now: &[Option<bool>]) -> Option<bool> {
    let [before, now] = [before, now].map(right_of);
    flipped_counts(before, now)
}

/// [`flipped`] for counted answers.
pub(crate) fn flipped_counts(before: AnswerCounts, now: AnswerCounts) -> Option<bool> {
    let is_right = |AnswerCounts { right, of }: AnswerCounts| u64::from(right) * 2 > u64::from(of);
    let was = is_right(before);
    (before.of > 0 && now.of > 0 && was != is_right(now)).then_some(was)
}

/// The majority verdict, if answers without a verdict cannot change it.
fn majority(answers: &[Option<bool>]) -> &'static [Option<bool>] {
    let AnswerCounts { right, of } = right_of(answers);
    let (right, open) = (right as usize, answers.len() - of as usize);
    if right * 2 > answers.len() {
        &[Some(true)]
    } else if (right + open) * 2 <= answers.len() {
        &[Some(false)]
    } else {
        &[None]
    }
}

impl Baseline {
    /// The ids of its runs, for messages.
    pub fn run_ids(&self) -> String {
        let ids: Vec<_> = self.runs.iter().map(|run| run.run_id.as_str()).collect();
        ids.join(", ")
    }

    /// The same with the samples of these ids alone.
    pub(crate) fn with_samples(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let mut samples = self.samples.clone();
        samples.retain(is_wanted);
        Self {
            samples,
            runs: self.runs.clone(),
            scorer_hash: self.scorer_hash.clone(),
            readers: self.readers,
            unread: Vec::new(),
            digest_matches: self.digest_matches,
            changed_files: self.changed_files.clone(),
            prompt: self.prompt.clone(),
            judges: self.judges.clone(),
            mask_id: self.mask_id.clone(),
            majorities: self.majorities,
            of_prompts: self.of_prompts,
        }
    }

    /// The id of a sample in it: this one, or another form of the same number.
    pub(crate) fn id_of(&self, id: &str) -> Option<&str> {
        let unread = |id: &str| {
            let place = self.unread.binary_search_by(|known| (**known).cmp(id));
            place.ok().map(|place| &*self.unread[place])
        };
        let known = |id: &str| {
            let read = self.samples.get(id);
            read.map(BaselineRow::id).or_else(|| unread(id))
        };
        known(id).or_else(|| older_ids::other_forms(id).find_map(|form| known(&form)))
    }

    /// A current sample as it was.
    pub(crate) fn sample(&self, now: &CurrentSample) -> Option<BaselineRow<'_>> {
        let older = || self.samples.get(now.older_id.as_ref()?);
        self.samples.get(&now.id).or_else(older)
    }

    /// The sample of a record, if question, files and ground truth are the same.
    pub(crate) fn sample_of(&self, record: &Record) -> Option<BaselineRow<'_>> {
        let row = self.samples.get(&record.sample_id)?;
        let marks = Marks::of(record);
        row.is_of(&record.input_hash, &record.target_hash, &marks)
            .then_some(row)
    }

    /// Pairs each current sample with what it was, if the baseline has it; and the samples that only the baseline has.
    pub(crate) fn join<'a>(
        &'a self,
        current: &'a CurrentSamples,
        see: &mut dyn FnMut(CurrentRow<'a>, Option<BaselineRow<'a>>),
    ) -> impl Iterator<Item = BaselineRow<'a>> + use<'a> {
        let mut is_there = vec![false; self.samples.len()];
        for sample in current.iter() {
            let own = self.samples.get(sample.id());
            let older = sample.older_id().and_then(|id| self.samples.get(id));
            for row in [own, older].into_iter().flatten() {
                is_there[row.rank] = true;
            }
            see(sample, own.or(older));
        }
        let all = self.samples.iter();
        all.filter(move |row| !is_there[row.rank])
    }

    /// Why nothing can be compared with a run whose dataset has these [`mask_id`](Self::mask_id)s, that of now first:
    /// ground truths are masked by different keys.
    pub(crate) fn hidden_from(&self, [mask_id, older]: &[Option<String>; 2]) -> Option<String> {
        let (then, now) = (self.mask_id.as_ref()?, mask_id.as_ref()?);
        (then != now && older.as_ref() != Some(then)).then(|| {
            format!(
                "the dataset changed since the baseline (run `{}`), whose snapshots are masked, so its samples cannot be \
                 matched; accept a run on this dataset with `cargo evaltest accept`",
                self.run_ids()
            )
        })
    }

    /// Pairs the current samples with those of the baseline. Only samples with equal hashes are comparable. A sample is
    /// one pair, however many answers it has.
    ///
    /// With a `slice`, only its samples, of now or of the baseline. `early` skips samples that were not asked: an interim
    /// analysis does not wait for them.
    pub(crate) fn pair<'a>(
        &'a self,
        current: &'a CurrentSamples,
        slice: Option<&Slice>,
        early: bool,
    ) -> Pairing<'a> {
        let mut pairing = Pairing::default();
        pairing.pairs.of = Some((self, current));
        if slice.is_none() {
            // Growing would hold them twice.
            pairing.pairs.ranks.reserve_exact(current.len());
        }
        let gone = self.join(current, &mut |sample, before| {
            if early && sample.is_skipped() {
                return;
            }
            if sample.is_in(slice) {
                pairing.add(sample, before);
            } else if let Some(before) = before.filter(|before| before.is_in(slice)) {
                pairing.expected += usize::from(before.has_verdict());
                pairing.moved.push(sample.id());
            }
        });
        for before in gone.filter(|before| before.is_in(slice)) {
            pairing.expected += usize::from(before.has_verdict());
            pairing.removed.push(before.id());
        }
        pairing
    }

    /// Whether it was judged by this scorer. Snapshots accepted one by one, without a run, do not name theirs.
    pub(crate) fn is_judged_by(&self, scorer_hash: &str) -> bool {
        self.scorer_hash.is_empty() || self.scorer_hash == scorer_hash
    }

    /// Refuses, before any agent starts, a comparison that would be meaningless: another scorer, scorer option,
    /// extraction or `errors`, or no common sample.
    pub(crate) fn check_comparable<'a>(
        &self,
        scorer_hash: &str,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<()> {
        const HINT: &str =
            "make a new baseline: cargo evaltest run --ignore-baseline, then cargo evaltest accept";
        if !self.is_judged_by(scorer_hash) {
            return Err(Error::usage(format!(
                "the baseline (run `{}`) was judged by another scorer, scorer option or extraction, or with another \
                 `errors` or `user`",
                self.run_ids()
            ))
            .hint(HINT));
        }
        let mut ids = ids.into_iter();
        let is_empty = self.samples.is_empty() && self.unread.is_empty();
        if !is_empty && !ids.any(|id| self.id_of(id).is_some()) {
            return Err(Error::usage(format!(
                "the baseline (run `{}`) has none of these samples",
                self.run_ids()
            ))
            .hint(HINT));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
