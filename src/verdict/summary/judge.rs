//! `JudgeSummary`: requests, verdicts and cost of the judges of a run, separate from the agent's figures.

mod jury;
mod notices;
mod panel;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::group::{Latency, UsageTotal};
use super::points::{JudgedPoints, PointsTally};
use super::tally::{Latencies, VALUE, add_usage, round_cost};
use crate::data::{DetailBounds, JudgeCall, Output, Record, Status};
use crate::stats;
use crate::stats::Sum;
use crate::verdict::judged::calibration::JudgeCalibration;
use crate::verdict::judged::pairs::{JudgedPair, PairsSummary};
use panel::PanelTally;

pub use jury::{JurorSummary, JurySummary, LabelAgreement, WorsePanel};
pub(crate) use notices::judge_notices;

/// The fewest answers for figures about how a judge scores.
const ENOUGH: usize = 10;

/// The detail with the judge's score on the scale of its rubric.
pub(super) const TOTAL: &str = "total";

/// The detail with the agreement of repeated verdicts.
const SELF_AGREEMENT: &str = "self_agreement";

/// The detail with these repeats.
const REPEATS: &str = "repeats";

/// Requests, verdicts and cost of the judges of a run, or of a single scorer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JudgeSummary {
    /// Answers without a verdict because the judge failed: its last reply could not be read, or there was none.
    pub unread: u64,
    /// The reasons, as words in files, with their counts: `conflicting`, `refusal`, …, or the kind of the failed
    /// request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// Answers that judges were asked about.
    pub samples: u64,
    /// Calls, counting each repeat and each second attempt.
    pub calls: u64,
    /// Requests made in this run, without cached or stored replies.
    pub requests: u64,
    /// Calls that repeat a question because the previous reply could not be read.
    pub asked_again: u64,
    /// Calls with replies from the cache.
    pub cached: u64,
    /// Calls with replies from the run that is rescored.
    pub stored: u64,
    /// Tokens and cost of the requests of this run; `samples` is the number of calls that report any.
    pub usage: UsageTotal,
    /// Latencies of the requests of this run; `null` if there are none.
    pub latency_s: Option<Latency>,
    /// The models that replied, as endpoints report them, with fingerprints, and the number of calls of each.
    pub models: BTreeMap<String, u64>,
    /// The method for structured replies, with the number of calls: `schema`, `tool`, `text`.
    pub forms: BTreeMap<String, u64>,
    /// Spearman's correlation of a scorer's `total`, or else of its `value`, with the length of the answer, -1 to 1.
    /// Absent if either does not vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_correlation: Option<f64>,
    /// The share of a scorer's readable repeated verdicts that equal the first one, in the points of every dimension or
    /// in the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_agreement: Option<f64>,
    /// The number of these repeated verdicts.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeats: u64,
    /// Whether ten or more answers all got the same `total`, or else `value`: such a scorer does not distinguish
    /// answers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
    /// The calibration of a scorer by labels of people; absent in older files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<JudgeCalibration>,
    /// The win rate of the answers, if the scorer compares each with another text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsSummary>,
    /// The points of items, if a scorer rates them by dimensions and no agent was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<JudgedPoints>,
    /// The same figures of each scorer that uses a judge, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scorers: BTreeMap<String, JudgeSummary>,
    /// The agreement of the judges of each jury, by its name. `scorers` has the judges as `<jury>/<judge>`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub juries: BTreeMap<String, JurySummary>,
}

impl JudgeSummary {
    /// The calibration of the scorer of this name; for a jury, that of the whole.
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
    summary: JudgeSummary,
    costs: Sum,
    /// All of them, for percentiles.
    latencies: Latencies,
    /// Score and length of each judged answer, for ranks.
    scores: Vec<(f64, f64)>,
    /// Over repeats, not over answers, as some repeats cannot be read.
    agreement: Sum,
    /// Pairs compared in both orders.
    pairs: Vec<JudgedPair>,
    points: PointsTally,
}

impl JudgeTally {
    /// Adds the judge calls of a record. `first` is the name of its first scorer, if known.
    pub(super) fn add(&mut self, record: &Record, first: Option<&str>) {
        // These cost money, but belong to no verdict.
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
            sums.summary.samples += 1;
            let own: Vec<&JudgeCall> = own.collect();
            // Only the first verdict counts, and of it the last call.
            let Some(last) = last_of(&own, 0) else {
                continue;
            };
            let given = GivenScore::of_call(last).or_else(|| GivenScore::of(record, name, first));
            // A pair also has no verdict if the other order failed.
            let other =
                last_of(&own, 1).filter(|_| given.is_none() && has_no_verdict(record, name));
            let mut failed = [Some(last), other].into_iter().flatten();
            let failed = failed.find(|call| call.has_failed());
            if let Some(failed) = failed {
                sums.summary.unread += 1;
                *sums.summary.reasons.entry(reason(failed)).or_default() += 1;
                // A juror that fails does not affect the others.
                if last.vote.is_none() {
                    is_unread = true;
                    *self.all.summary.reasons.entry(reason(failed)).or_default() += 1;
                }
            } else if let Some(given) = given {
                sums.scores.push((given.value, stats::as_f64(last.length)));
                if given.pair.is_none() {
                    sums.add_points(record, name, first, given.value);
                }
                sums.pairs.extend(given.pair);
                if let Some((share, repeats)) = given.agreement {
                    sums.summary.repeats += repeats;
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
                *self.all.summary.reasons.entry(reason).or_default() += 1;
            }
        }
        self.all.summary.samples += 1;
        self.all.summary.unread += u64::from(is_unread);
    }

    /// `None` if no judge was asked. With the bounds of score details, the points of items are in it.
    pub(super) fn finish(self, items: Option<&DetailBounds>) -> Option<JudgeSummary> {
        let scorers = self.scorers.into_iter();
        let scorers = scorers.map(|(name, mut sums)| {
            let points = std::mem::take(&mut sums.points);
            let points = items.and_then(|bounds| points.finish(&name, bounds));
            let judge = JudgeSummary {
                points,
                ..sums.finish()
            };
            (name, judge)
        });
        let scorers = scorers.collect();
        let juries = self.juries.into_iter();
        let juries = juries.map(|(name, panel)| (name, panel.finish())).collect();
        (self.all.summary.calls > 0).then(|| JudgeSummary {
            scorers,
            juries,
            ..self.all.finish()
        })
    }
}

impl Sums {
    fn ask(&mut self, call: &JudgeCall) {
        let summary = &mut self.summary;
        summary.calls += 1;
        summary.asked_again += u64::from(call.again > 0);
        summary.cached += u64::from(call.cached);
        summary.stored += u64::from(call.stored);
        if let Some(model) = call.output.as_ref().and_then(Output::answered_by) {
            *summary.models.entry(model).or_default() += 1;
        }
        let form = call.form.as_str().to_owned();
        *summary.forms.entry(form).or_default() += 1;
        if call.cached || call.stored {
            return;
        }
        summary.requests += u64::from(call.attempts);
        if let Some(usage) = call.usage() {
            add_usage(&mut summary.usage, &mut self.costs, usage);
        }
        let is_timed = call.output.is_some() && call.latency_s.is_finite() && call.latency_s >= 0.0;
        if is_timed {
            self.latencies.add(call.latency_s);
        }
    }

    /// Adds the points of a score: one of several, or the only one.
    fn add_points(&mut self, record: &Record, scorer: &str, first: Option<&str>, total: f64) {
        if let Some(score) = score_of(record, scorer) {
            let details = score.get("details").and_then(Value::as_object);
            let details = details.into_iter().flatten();
            let is_correct = score.get("correct").and_then(Value::as_bool);
            let details = details.map(|(name, value)| (name.as_str(), value));
            self.points.add(total, is_correct == Some(true), details);
        } else if let Some(score) = &record.result.score
            && first.is_none_or(|first| first == scorer)
        {
            self.points.add(total, score.correct, score.details.iter());
        }
    }

    fn finish(mut self) -> JudgeSummary {
        let mut same = self.scores.windows(2);
        let is_constant = same.all(|two| two[0].0.total_cmp(&two[1].0).is_eq());
        let pairs =
            (!self.pairs.is_empty()).then(|| PairsSummary::of(&self.pairs, self.summary.unread));
        JudgeSummary {
            usage: UsageTotal {
                cost_usd: self.costs.total().map(round_cost),
                ..self.summary.usage
            },
            latency_s: self.latencies.finish(),
            // For pairs the difference in length matters instead.
            length_correlation: match pairs {
                None => stats::spearman(&self.scores),
                Some(_) => None,
            },
            pairs,
            self_agreement: (self.summary.repeats > 0)
                .then(|| self.agreement.total())
                .flatten()
                .map(|agreeing| agreeing / stats::as_f64(self.summary.repeats)),
            // For pairs this means that one side always wins, or that the order decides; their own figures show which.
            constant: is_constant && self.scores.len() >= ENOUGH && self.pairs.is_empty(),
            ..self.summary
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

/// The last call of a repeat.
fn last_of<'a>(calls: &[&'a JudgeCall], repeat: u32) -> Option<&'a JudgeCall> {
    let mut calls = calls.iter().rev().copied();
    calls.find(|call| call.repeat == repeat)
}

/// Why a call ended without a verdict, as a word in files.
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

/// A judge's score of one answer.
struct GivenScore {
    value: f64,
    /// The share of its repeats that agree, and their number.
    agreement: Option<(f64, u64)>,
    /// The compared pair, if it is a comparison.
    pair: Option<JudgedPair>,
}

impl GivenScore {
    /// The score of one juror.
    fn of_call(call: &JudgeCall) -> Option<Self> {
        let vote = call.vote.as_deref()?;
        Some(Self {
            value: vote.total?,
            agreement: vote.self_agreement,
            pair: None,
        })
    }

    /// The score of the scorer of this name: one of several, the only one, or a part of it.
    fn of(record: &Record, scorer: &str, first: Option<&str>) -> Option<Self> {
        let outcome = &record.result;
        let item = record.cluster.as_deref().unwrap_or(&record.sample_id);
        if let Some(score) = score_of(record, scorer) {
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

    /// Parses a score in its JSON form.
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

/// The agreement of the repeats in the details, and the number of readable ones.
fn agreement<'a>(detail: &dyn Fn(&str) -> Option<&'a Value>) -> Option<(f64, u64)> {
    let share = detail(SELF_AGREEMENT)?.as_f64()?;
    let all = detail(REPEATS).and_then(Value::as_array);
    let readable = |all: &Vec<Value>| {
        let readable = all.iter().filter(|one| one.get("unread").is_none());
        readable.count() as u64
    };
    Some((share, all.map_or(1, readable)))
}

/// The score of this name in its JSON form: one of several, or a part of a composition; not that of the only scorer.
fn score_of<'a>(record: &'a Record, scorer: &str) -> Option<&'a Value> {
    let outcome = &record.result;
    let part = |details: &'a Value| details.get("parts")?.get(scorer);
    let own = || outcome.scores.get(scorer);
    let of_others = || {
        let mut others = outcome.scores.values();
        others.find_map(|it| part(it.get("details")?))
    };
    let of_first = || {
        let score = outcome.score.as_ref()?;
        score.details.get("parts")?.get(scorer)
    };
    own().or_else(of_others).or_else(of_first)
}

#[cfg(test)]
mod tests;
