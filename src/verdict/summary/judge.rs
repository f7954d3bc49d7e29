//! `JudgeSummary`: what judges were asked in a run, what they said and what that cost, apart from the agent's figures.

mod held;
mod jury;
mod notices;
mod panel;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::group::{Latency, UsageTotal};
use super::tally::{VALUE, add_usage, latency, round_cost};
use crate::data::{JudgeCall, Output, Record, Status};
use crate::stats::{self, Sum};
use crate::verdict::judged::calibration::JudgeCalibration;
use crate::verdict::judged::pairs::{JudgedPair, PairsSummary};

pub use jury::{JurorSummary, JurySummary, LabelAgreement, WorsePanel};
pub(crate) use notices::judge_notices;
use panel::PanelTally;

/// Of fewer answers nothing is said of how a judge judges.
const ENOUGH: usize = 10;

/// The detail that is the score of a judge on the scale of its rubric.
const TOTAL: &str = "total";

/// The detail that tells how far the repeats of a verdict agree.
const SELF_AGREEMENT: &str = "self_agreement";

/// The detail that holds those repeats.
const REPEATS: &str = "repeats";

/// What judges were asked in a run, what they said and what that cost; also of a single scorer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JudgeSummary {
    /// Answers without a verdict because the judge failed: its last reply could not be read, or there was none.
    pub unread: u64,
    /// Why, in words of files with their numbers: `conflicting`, `refusal`, …, or the kind of the failed request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// Answers that judges were asked about.
    pub samples: u64,
    /// What they were asked, each repeat and each second ask by itself.
    pub calls: u64,
    /// Requests that this took in this run; what was cached or stored took none.
    pub requests: u64,
    /// Calls that ask once more because the reply before could not be read.
    pub asked_again: u64,
    /// Calls whose replies came from the cache.
    pub cached: u64,
    /// Calls whose replies were given to the run whose answers are scored again here.
    pub stored: u64,
    /// Tokens and cost of what was asked in this run; `samples` is the number of calls that tell any.
    pub usage: UsageTotal,
    /// How long the replies took that were asked for in this run; `null` when there are none.
    pub latency_s: Option<Latency>,
    /// What replied, as endpoints report it: models with their fingerprints, and how many calls each.
    pub models: BTreeMap<String, u64>,
    /// How the judge was made to reply, with the number of calls: `schema`, `tool`, `text`.
    pub forms: BTreeMap<String, u64>,
    /// Spearman's correlation of a scorer's `total`, or else of its `value`, with the length of the answer, -1 to 1.
    /// Absent where one of the two does not vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_correlation: Option<f64>,
    /// The share of a scorer's further verdicts, of those that could be read, that give the points of the first one in
    /// every dimension, or its choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_agreement: Option<f64>,
    /// How many further verdicts that is a share of.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeats: u64,
    /// Whether ten or more answers all got the same `total`, or else `value`: such a scorer tells nothing apart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
    /// What labels of people say of a scorer; absent in older files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<JudgeCalibration>,
    /// How often the answers win, where the scorer compares each with another text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsSummary>,
    /// The same figures of each scorer that asks a judge, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scorers: BTreeMap<String, JudgeSummary>,
    /// How far the judges of each jury agree, by its name. `scorers` has the judges as `<jury>/<judge>`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub juries: BTreeMap<String, JurySummary>,
}

impl JudgeSummary {
    /// What labels of people say of the scorer of this name; of a jury, of the whole.
    pub(crate) fn calibration_of(&self, scorer: &str) -> Option<&JudgeCalibration> {
        let jury = self.juries.get(scorer);
        let of_jury = jury.and_then(|jury| jury.calibration.as_ref());
        of_jury.or_else(|| self.scorers.get(scorer)?.calibration.as_ref())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The running sums behind a [`JudgeSummary`].
#[derive(Clone, Debug, Default)]
pub(super) struct JudgeTally {
    all: Sums,
    scorers: BTreeMap<String, Sums>,
    juries: BTreeMap<String, PanelTally>,
}

#[derive(Clone, Debug, Default)]
struct Sums {
    told: JudgeSummary,
    costs: Sum,
    /// Percentiles need them all.
    latencies: Vec<f64>,
    /// Score and length of each answer that was judged: ranks need them all.
    scores: Vec<(f64, f64)>,
    /// Over repeats, not over answers: some repeats cannot be read.
    agreement: Sum,
    /// Those that were compared in both orders.
    pairs: Vec<JudgedPair>,
}

impl JudgeTally {
    /// Adds what was asked for the verdicts of a record, the first of whose scorers is called `first`, if that is known.
    pub(super) fn add(&mut self, record: &Record, first: Option<&str>) {
        // They were paid, and have no part in a verdict.
        let refused = record.result.refused.iter();
        for call in refused.flat_map(|refused| &refused.judged) {
            self.all.ask(call);
            self.scorers
                .entry(call.scorer.clone())
                .or_default()
                .ask(call);
        }
        let calls = &record.result.judged;
        if calls.is_empty() {
            return;
        }
        let mut is_unread = false;
        for call in calls {
            self.all.ask(call);
            if !self.scorers.contains_key(&call.scorer) {
                self.scorers.insert(call.scorer.clone(), Sums::default());
            }
        }
        for (name, sums) in &mut self.scorers {
            let mut own = calls.iter().filter(|call| call.scorer == *name).peekable();
            if own.peek().is_none() {
                continue;
            }
            own.clone().for_each(|call| sums.ask(call));
            sums.told.samples += 1;
            let own: Vec<&JudgeCall> = own.collect();
            // The first verdict alone counts, and of it what was asked last.
            let Some(last) = last_of(&own, 0) else {
                continue;
            };
            let given = GivenScore::of_call(last).or_else(|| GivenScore::of(record, name, first));
            // A pair has none either where the other order failed.
            let other =
                last_of(&own, 1).filter(|_| given.is_none() && has_no_verdict(record, name));
            let mut failed = [Some(last), other].into_iter().flatten();
            let failed = failed.find(|call| call.has_failed());
            if let Some(failed) = failed {
                sums.told.unread += 1;
                *sums.told.reasons.entry(reason(failed)).or_default() += 1;
                // One of a jury leaves the others.
                if last.vote.is_none() {
                    is_unread = true;
                    *self.all.told.reasons.entry(reason(failed)).or_default() += 1;
                }
            } else if let Some(given) = given {
                sums.scores.push((given.value, stats::as_f64(last.length)));
                sums.pairs.extend(given.pair);
                if let Some((share, repeats)) = given.agreement {
                    sums.told.repeats += repeats;
                    sums.agreement.add(share * stats::as_f64(repeats));
                }
            }
        }
        for (name, votes) in panel::votes(calls) {
            if !self.juries.contains_key(name) {
                self.juries.insert(name.to_owned(), PanelTally::default());
            }
            let Some(panel) = self.juries.get_mut(name) else {
                continue;
            };
            if let Some(reason) = panel.add(record, name, first, &votes) {
                is_unread = true;
                *self.all.told.reasons.entry(reason).or_default() += 1;
            }
        }
        self.all.told.samples += 1;
        self.all.told.unread += u64::from(is_unread);
    }

    /// `None` where no judge was asked.
    pub(super) fn finish(self) -> Option<JudgeSummary> {
        let scorers = self.scorers.into_iter();
        let scorers = scorers.map(|(name, sums)| (name, sums.finish())).collect();
        let juries = self.juries.into_iter();
        let juries = juries.map(|(name, panel)| (name, panel.finish())).collect();
        (self.all.told.calls > 0).then(|| JudgeSummary {
            scorers,
            juries,
            ..self.all.finish()
        })
    }
}

impl Sums {
    fn ask(&mut self, call: &JudgeCall) {
        let told = &mut self.told;
        told.calls += 1;
        told.asked_again += u64::from(call.again > 0);
        told.cached += u64::from(call.cached);
        told.stored += u64::from(call.stored);
        if let Some(model) = call.output.as_ref().and_then(Output::answered_by) {
            *told.models.entry(model).or_default() += 1;
        }
        let form = call.form.as_str().to_owned();
        *told.forms.entry(form).or_default() += 1;
        if call.cached || call.stored {
            return;
        }
        told.requests += u64::from(call.attempts);
        if let Some(usage) = call.usage() {
            add_usage(&mut told.usage, &mut self.costs, usage);
        }
        let is_timed = call.output.is_some() && call.latency_s.is_finite() && call.latency_s >= 0.0;
        if is_timed {
            self.latencies.push(call.latency_s);
        }
    }

    fn finish(mut self) -> JudgeSummary {
        let mut same = self.scores.windows(2);
        let is_constant = same.all(|two| two[0].0.total_cmp(&two[1].0).is_eq());
        let pairs =
            (!self.pairs.is_empty()).then(|| PairsSummary::of(&self.pairs, self.told.unread));
        JudgeSummary {
            usage: UsageTotal {
                cost_usd: self.costs.total().map(round_cost),
                ..self.told.usage
            },
            latency_s: latency(&mut self.latencies),
            // Of a pair it is the difference that may matter.
            length_correlation: match pairs {
                None => stats::spearman(&self.scores),
                Some(_) => None,
            },
            pairs,
            self_agreement: (self.told.repeats > 0)
                .then(|| self.agreement.total())
                .flatten()
                .map(|agreeing| agreeing / stats::as_f64(self.told.repeats)),
            // Of pairs that says that one side always wins, or that the order decides: the lines of the pairs tell which.
            constant: is_constant && self.scores.len() >= ENOUGH && self.pairs.is_empty(),
            ..self.told
        }
    }
}

/// Whether the scorer of this name, or the only one, could not judge.
fn has_no_verdict(record: &Record, scorer: &str) -> bool {
    match record.result.scores.get(scorer) {
        Some(score) => score.get("error").is_some(),
        None => record.result.status == Status::ScorerFailed,
    }
}

/// What was asked last of a repeat.
fn last_of<'a>(calls: &[&'a JudgeCall], repeat: u32) -> Option<&'a JudgeCall> {
    let mut calls = calls.iter().rev().copied();
    calls.find(|call| call.repeat == repeat)
}

/// Why a call ended without a verdict, in a word of files.
fn reason(call: &JudgeCall) -> String {
    let unread = call
        .unread
        .or(call.error.as_ref().and_then(|error| error.reason));
    let kind = || serde_json::to_value(call.error.as_ref()?.kind).ok();
    match (unread, kind()) {
        (Some(unread), _) => unread.as_str().to_owned(),
        (None, Some(Value::String(kind))) => kind,
        (None, _) => "failed".to_owned(),
    }
}

/// What a judge says of one answer.
struct GivenScore {
    value: f64,
    /// The share of its repeats that say the same, and of how many.
    agreement: Option<(f64, u64)>,
    /// The pair that it is the verdict on.
    pair: Option<JudgedPair>,
}

impl GivenScore {
    /// That of one of a jury.
    fn of_call(call: &JudgeCall) -> Option<Self> {
        let vote = call.vote.as_deref()?;
        Some(Self {
            value: vote.total?,
            agreement: vote.self_agreement,
            pair: None,
        })
    }

    /// That of the scorer of this name: one of several, the only one, or a part of it.
    fn of(record: &Record, scorer: &str, first: Option<&str>) -> Option<Self> {
        let outcome = &record.result;
        let item = record.cluster.as_deref().unwrap_or(&record.sample_id);
        if let Some(score) = held::of_name(record, scorer) {
            return Self::of_json(score, item);
        }
        let score = outcome.score.as_ref()?;
        if first.is_some_and(|first| first != scorer) {
            return None;
        }
        let number = |name: &str| score.details.get(name).and_then(Value::as_f64);
        Some(Self {
            value: number(TOTAL).unwrap_or(score.value),
            agreement: agreement(&|name| score.details.get(name)),
            pair: JudgedPair::of_details(item, |name| score.details.get(name)),
        })
    }

    /// That of a score in its JSON form.
    fn of_json(score: &Value, item: &str) -> Option<Self> {
        let number = |name: &str| score.get("details")?.get(name)?.as_f64();
        let value = || score.get(VALUE)?.as_f64();
        Some(Self {
            value: number(TOTAL).or_else(value)?,
            agreement: agreement(&|name| score.get("details")?.get(name)),
            pair: JudgedPair::of_details(item, |name| score.get("details")?.get(name)),
        })
    }
}

/// How far the repeats agree that details tell of, and how many of them could be read.
fn agreement<'a>(detail: &dyn Fn(&str) -> Option<&'a Value>) -> Option<(f64, u64)> {
    let share = detail(SELF_AGREEMENT)?.as_f64()?;
    let all = detail(REPEATS).and_then(Value::as_array);
    let readable = |all: &Vec<Value>| {
        let readable = all.iter().filter(|one| one.get("unread").is_none());
        readable.count() as u64
    };
    Some((share, all.map_or(1, readable)))
}

#[cfg(test)]
mod tests;
