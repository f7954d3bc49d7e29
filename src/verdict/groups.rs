//! `FailureGroups`: the failures of a run in groups, for a listing or a report.
//!
//! Pure, and of bounded memory: records are added one by one in dataset order (abridged ones suffice), and each group
//! has a count and the ids of its first samples. A sample with several epochs is counted for each and named once.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::data::record::slices_of;
use crate::data::{Record, Status};
use crate::stats;

/// Default number of samples named per group.
const NAMED: usize = 10;

/// The most distinct reasons of wrong answers; a judge may invent a new one for each.
const MOST_REASONS: usize = 100;

/// Groups the failures of a run. Add its records in dataset order, then [`finish`](Self::finish).
#[derive(Clone, Debug)]
pub struct FailureGroups {
    named: usize,
    scorer: Option<String>,
    errors: BTreeMap<String, ErrorGroup>,
    wrong: BTreeMap<String, WrongGroup>,
    other_wrong: WrongGroup,
    /// By the contradicting scorer, and whether the deciding one accepts.
    disagreements: BTreeMap<(String, bool), DisagreementGroup>,
    slices: BTreeMap<(String, String), SliceFailures>,
    /// The epochs of the current sample.
    sample: Option<FlakyEpochs>,
    flaky: FlakySamples,
    slowest: Largest,
    dearest: Largest,
}

/// The failures of a run in groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupedFailures {
    /// Answers that errored or could not be judged, by kind of error; the most frequent first.
    pub errors: Vec<ErrorGroup>,
    /// Wrong answers by the deciding scorer's reason; the most frequent first.
    pub wrong: Vec<WrongGroup>,
    /// Answers on which another scorer contradicts the deciding one, by scorer and direction; the most frequent first.
    pub disagreements: Vec<DisagreementGroup>,
    /// The slices with failures, the largest share first.
    pub slices: Vec<SliceFailures>,
    /// Samples that are correct in some epochs and wrong in others.
    pub flaky: FlakySamples,
    /// The slowest answers, slowest first, in seconds, without cached ones.
    pub slowest: Vec<SampleFigure>,
    /// The most expensive answers, most expensive first, in US dollars, without cached ones.
    pub dearest: Vec<SampleFigure>,
}

/// Answers that ended in the same kind of error.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ErrorGroup {
    /// The kind, as in `failures` of the summary: `exited`, `timed_out`, `scorer_failed`, …
    pub kind: String,
    /// How many.
    pub count: u64,
    /// Those that `errors: wrong` counts as wrong answers.
    pub as_wrong: u64,
    /// The ids of the first samples.
    pub ids: Vec<String>,
    /// The message of the first. It is text of an agent: escape it for a terminal.
    pub example: String,
}

/// Wrong answers with the same reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrongGroup {
    /// The deciding scorer's reason, such as `mismatch`; `null` for any further ones after the first hundred.
    pub reason: Option<String>,
    /// How many.
    pub count: u64,
    /// The ids of the first samples.
    pub ids: Vec<String>,
}

/// Answers on which another scorer contradicts the deciding one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DisagreementGroup {
    /// The deciding scorer; `null` if its name is unknown.
    pub scorer: Option<String>,
    /// The contradicting scorer.
    pub other: String,
    /// Whether the deciding scorer accepts what the other rejects, rather than the reverse.
    pub accepted: bool,
    /// How many answers.
    pub count: u64,
    /// The ids of the first samples.
    pub ids: Vec<String>,
}

/// Failures in a slice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SliceFailures {
    /// The dimension, such as `level`.
    pub dimension: String,
    /// The value, such as `2`.
    pub value: String,
    /// `wrong` + `errors`.
    pub failed: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Answers that errored or could not be judged.
    pub errors: u64,
    /// All that should have a verdict: scored + errors.
    pub of: u64,
    /// The ids of the first samples that failed.
    pub ids: Vec<String>,
}

/// Samples that are correct in some epochs and wrong in others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlakySamples {
    /// How many.
    pub count: u64,
    /// The first of them, each with its epochs.
    pub samples: Vec<FlakyEpochs>,
}

/// The epochs of a flaky sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FlakyEpochs {
    /// The sample's id.
    pub id: String,
    /// Epochs with a verdict.
    pub scored: u64,
    /// Those that are correct.
    pub correct: u64,
}

impl FailureGroups {
    /// No records yet. `scorer` is the name of the deciding one, as `scorer` of the summary.
    pub fn new(scorer: Option<&str>) -> Self {
        Self {
            named: NAMED,
            scorer: scorer.map(str::to_owned),
            errors: BTreeMap::new(),
            wrong: BTreeMap::new(),
            other_wrong: WrongGroup {
                reason: None,
                count: 0,
                ids: Vec::new(),
            },
            disagreements: BTreeMap::new(),
            slices: BTreeMap::new(),
            sample: None,
            flaky: FlakySamples::default(),
            slowest: Largest::new(NAMED),
            dearest: Largest::new(NAMED),
        }
    }

    /// Names this many samples of each group instead of 10; the same for slowest, most expensive and flaky ones.
    #[must_use]
    pub fn naming(mut self, samples: usize) -> Self {
        self.named = samples;
        self.slowest = Largest::new(samples);
        self.dearest = Largest::new(samples);
        self
    }

    /// Adds a record.
    pub fn add(&mut self, record: &Record) {
        let outcome = &record.result;
        let id = &record.sample_id;
        let is_wrong = outcome.status == Status::Scored && !outcome.is_correct();
        if let Some(kind) = outcome.failure_kind() {
            let example = || {
                let error = outcome.error.as_ref();
                error.map(|error| error.message.clone()).unwrap_or_default()
            };
            let group = self
                .errors
                .entry(kind)
                .or_insert_with_key(|kind| ErrorGroup {
                    kind: kind.clone(),
                    count: 0,
                    as_wrong: 0,
                    ids: Vec::new(),
                    example: example(),
                });
            group.count += 1;
            group.as_wrong += u64::from(is_wrong);
            name(&mut group.ids, id, self.named);
        } else if is_wrong {
            let reason = outcome.score.as_ref().map_or("", |score| &*score.reason);
            let is_known = self.wrong.contains_key(reason);
            let group = if !is_known && self.wrong.len() >= MOST_REASONS {
                &mut self.other_wrong
            } else {
                let new = |reason: &String| WrongGroup {
                    reason: Some(reason.clone()),
                    count: 0,
                    ids: Vec::new(),
                };
                self.wrong.entry(reason.to_owned()).or_insert_with_key(new)
            };
            group.count += 1;
            name(&mut group.ids, id, self.named);
        }
        self.contradict(record);
        self.slice(record, is_wrong);
        self.gather(record);
        if outcome.is_timed() && outcome.status != Status::Skipped {
            // As in the latency of the summary: a timeout is no answer.
            if outcome.is_answered() {
                self.slowest.add(record, outcome.latency_s);
            }
            let cost = outcome.usage.and_then(|usage| usage.cost_usd);
            self.dearest.add(record, cost.unwrap_or_default());
        }
    }

    /// Adds the record to the scorers that contradict the deciding one.
    fn contradict(&mut self, record: &Record) {
        let outcome = &record.result;
        let (Status::Scored, Some(score)) = (outcome.status, &outcome.score) else {
            return;
        };
        for (other, verdict) in &outcome.scores {
            let verdict = verdict.get("correct").and_then(Value::as_bool);
            if verdict.is_none_or(|verdict| verdict == score.correct) {
                continue;
            }
            let group = self.disagreements.entry((other.clone(), score.correct));
            let group = group.or_insert_with(|| DisagreementGroup {
                scorer: self.scorer.clone(),
                other: other.clone(),
                accepted: score.correct,
                count: 0,
                ids: Vec::new(),
            });
            group.count += 1;
            name(&mut group.ids, &record.sample_id, self.named);
        }
    }

    /// Counts the record in its slices.
    fn slice(&mut self, record: &Record, is_wrong: bool) {
        let status = record.result.status;
        if status != Status::Scored && !status.is_error() {
            return;
        }
        for (dimension, value) in slices_of(record) {
            let key = (dimension.to_owned(), value);
            let new = |(dimension, value): &(String, String)| SliceFailures {
                dimension: dimension.clone(),
                value: value.clone(),
                failed: 0,
                wrong: 0,
                errors: 0,
                of: 0,
                ids: Vec::new(),
            };
            let slice = self.slices.entry(key).or_insert_with_key(new);
            slice.of += 1;
            slice.wrong += u64::from(is_wrong);
            slice.errors += u64::from(status.is_error());
            if is_wrong || status.is_error() {
                slice.failed += 1;
                name(&mut slice.ids, &record.sample_id, self.named);
            }
        }
    }

    /// Adds the record to the epochs of its sample.
    fn gather(&mut self, record: &Record) {
        if self
            .sample
            .as_ref()
            .is_none_or(|it| it.id != record.sample_id)
        {
            self.end_sample();
            self.sample = Some(FlakyEpochs {
                id: record.sample_id.clone(),
                scored: 0,
                correct: 0,
            });
        }
        if let Some(sample) = &mut self.sample
            && record.result.status == Status::Scored
        {
            sample.scored += 1;
            sample.correct += u64::from(record.result.is_correct());
        }
    }

    fn end_sample(&mut self) {
        let Some(sample) = self.sample.take() else {
            return;
        };
        if sample.correct == 0 || sample.correct == sample.scored {
            return;
        }
        self.flaky.count += 1;
        if self.flaky.samples.len() < self.named {
            self.flaky.samples.push(sample);
        }
    }

    /// The groups; empty ones are omitted.
    pub fn finish(mut self) -> GroupedFailures {
        self.end_sample();
        let mut errors: Vec<_> = self.errors.into_values().collect();
        errors.sort_by_key(|group| Reverse(group.count));
        let mut wrong: Vec<_> = self.wrong.into_values().collect();
        wrong.sort_by_key(|group| Reverse(group.count));
        wrong.extend(Some(self.other_wrong).filter(|group| group.count > 0));
        let mut disagreements: Vec<_> = self.disagreements.into_values().collect();
        disagreements.sort_by_key(|group| Reverse(group.count));
        let slices = self.slices.into_values();
        let mut slices: Vec<_> = slices.filter(|slice| slice.failed > 0).collect();
        slices.sort_by(|a, b| {
            let share = |slice: &SliceFailures| stats::ratio(slice.failed, slice.of).unwrap_or(0.0);
            let by_share = share(b).total_cmp(&share(a));
            by_share.then_with(|| b.failed.cmp(&a.failed))
        });
        GroupedFailures {
            errors,
            wrong,
            disagreements,
            slices,
            flaky: self.flaky,
            slowest: self.slowest.finish(),
            dearest: self.dearest.finish(),
        }
    }
}

/// Adds a sample's id, if there is room; epochs of a sample are consecutive.
fn name(ids: &mut Vec<String>, id: &str, most: usize) {
    if ids.len() < most && ids.last().is_none_or(|last| last != id) {
        ids.push(id.to_owned());
    }
}

/// A sample with a figure of one of its answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SampleFigure {
    /// The sample's id.
    pub id: String,
    /// The epoch, from 0.
    pub epoch: u32,
    /// Seconds, or US dollars.
    pub value: f64,
}

/// The answers with the largest figures.
#[derive(Clone, Debug)]
struct Largest {
    most: usize,
    /// The largest first; equal ones in order of addition.
    figures: Vec<SampleFigure>,
}

impl Largest {
    fn new(most: usize) -> Self {
        Self {
            most,
            figures: Vec::new(),
        }
    }

    /// Adds an answer. Zero and non-numbers are ignored.
    fn add(&mut self, record: &Record, value: f64) {
        if !value.is_finite() || value <= 0.0 {
            return;
        }
        let place = self.figures.partition_point(|known| known.value >= value);
        if place >= self.most {
            return;
        }
        let figure = SampleFigure {
            id: record.sample_id.clone(),
            epoch: record.epoch,
            value,
        };
        self.figures.insert(place, figure);
        self.figures.truncate(self.most);
    }

    fn finish(self) -> Vec<SampleFigure> {
        self.figures
    }
}

#[cfg(test)]
mod tests;
