//! `GenerationStatistics`: summarises a run that generated data. A pure function of its manifest, its summary and its
//! records in the order of the prompts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::item::{GeneratedItem, text_of};
use super::{TopicFigures, TopicTally};
use crate::data::{Record, Status};
use crate::stats::{ratio, wilson95};
use crate::store::{Manifest, RunStatus};
use crate::text::excerpt;
use crate::verdict::summary::{Latency, Summary, UsageTotal};

/// The check by the solver. Other details with the prefix `solver_` only describe how it went.
const SOLVER: &str = "solver_agrees";
const OF_SOLVER: &str = "solver_";
/// The detail with the similarity to the nearest reference.
const NEAREST_SHARE: &str = "nearest_share";
/// The detail with the number of repairs to a reply.
const REPAIRED: &str = "repaired";
/// Details that are no checks. Their values may be 0 or 1, like those of a check.
const NO_CHECKS: [&str; 8] = [
    "nearest",
    NEAREST_SHARE,
    "nearest_item",
    "nearest_item_share",
    REPAIRED,
    "topic",
    "unread",
    "why",
];
/// Suffixes of field checks.
const FIELDS: [&str; 3] = ["_in_range", "_in_list", "_in_form"];
/// Stored examples per reason.
const EXAMPLES: usize = 3;
/// At most this many never-passed items are stored; all of them are counted.
const LISTED: usize = 1000;

/// Summary of a run that generated data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerationStatistics {
    /// Name of the eval.
    pub eval: String,
    /// Id of the run.
    pub run_id: String,
    /// Status of the run.
    pub status: RunStatus,
    /// Why the run stopped early, if it did.
    pub stop_reason: Option<String>,
    /// When the run started, RFC 3339.
    pub started_at: String,
    /// Duration in seconds; of a resumed run, that of its last part.
    pub duration_s: Option<f64>,
    /// The type of the agent that wrote the items.
    pub agent: Option<String>,
    /// The model that the spec asks for.
    pub model: Option<String>,
    /// The models that answered, as endpoints report them, with the number of items of each.
    pub models: BTreeMap<String, usize>,
    /// The seed used to draw topics and references.
    pub seed: Option<u64>,
    /// Where the references come from.
    pub reference: Option<String>,
    /// Number of distinct references shown.
    pub references_shown: u64,
    /// Counts of items by outcome.
    pub items: ItemFigures,
    /// Counts of replies by outcome.
    pub replies: ReplyFigures,
    /// The results of each check.
    pub checks: Vec<CheckFigures>,
    /// Requested and reached topics.
    pub topics: TopicFigures,
    /// The similarity of each accepted item to its nearest reference, most similar first.
    pub nearest: Vec<NearestReference>,
    /// Results of solving the accepted items again, if that was requested.
    pub solver: Option<SolverFigures>,
    /// Tokens and cost of the agent.
    pub usage: UsageTotal,
    /// Tokens and cost of solvers and judges.
    pub judge_usage: Option<UsageTotal>,
    /// Latency of the replies that counted.
    pub latency_s: Option<Latency>,
    /// Never-passed items, the first thousand.
    pub never_passed: Vec<NeverPassed>,
    /// Examples of refused replies, for each reason.
    pub examples: Vec<RefusedExample>,
}

/// Counts of items by outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemFigures {
    /// Requested items.
    #[serde(rename = "asked")]
    pub requested: u64,
    /// Items with an accepted reply.
    pub accepted: u64,
    /// Items whose replies were all refused.
    pub never_passed: u64,
    /// Items without a reply that could be checked: the agent or a solver failed.
    pub errors: u64,
    /// Items that were never requested because the run stopped before.
    #[serde(rename = "not_asked")]
    pub not_requested: u64,
    /// accepted / (accepted + never passed); `None` if both are 0.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// Counts of replies by outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyFigures {
    /// Replies that were checked.
    pub checked: u64,
    /// Refused replies, including the last one of an item that never passed.
    pub refused: u64,
    /// refused / checked.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
    /// Refused replies by the first check that they failed, most frequent first.
    pub reasons: Vec<(String, u64)>,
    /// Replies whose JSON was repaired, for example because backslashes of LaTeX were not escaped.
    pub repaired: u64,
}

/// The results of a check, over all replies that it applied to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckFigures {
    /// Its name.
    pub name: String,
    /// Replies that were checked.
    pub checked: u64,
    /// Replies that failed.
    pub failed: u64,
    /// Failed replies that were accepted anyway, as the check is advisory.
    pub accepted: u64,
    /// failed / checked.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// The similarity of an item to its nearest reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearestReference {
    /// The item.
    pub id: String,
    /// The reference.
    pub reference_id: Option<String>,
    /// The share of the item's grams that the reference contains.
    pub share: f64,
}

/// Whether a solver that saw only the problem reached the same answer. Accepted items only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverFigures {
    /// Items solved again.
    pub solved: u64,
    /// Items with the same answer.
    pub agrees: u64,
    /// agrees / solved.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// An item whose replies were all refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeverPassed {
    /// Its id.
    pub id: String,
    /// The requested topic.
    pub topic: Option<String>,
    /// How many replies were refused.
    pub replies: u64,
    /// Why the last reply was refused.
    pub reason: String,
}

/// A refused reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedExample {
    /// The id of the requested item.
    pub id: String,
    /// The first check that it failed.
    pub check: String,
    /// The message of that check.
    #[serde(rename = "told")]
    pub message: String,
}

/// A checked reply, as stored in a record.
struct CheckedReply<'a> {
    is_accepted: bool,
    reason: &'a str,
    details: Vec<(&'a str, &'a Value)>,
}

/// Accumulates the statistics over records.
#[derive(Default)]
pub(super) struct GenerationTally {
    items: ItemFigures,
    replies: ReplyFigures,
    reasons: Vec<(String, u64)>,
    checks: Vec<CheckFigures>,
    topics: TopicTally,
    references: BTreeSet<String>,
    nearest: Vec<NearestReference>,
    solver: SolverFigures,
    never_passed: Vec<NeverPassed>,
    examples: Vec<RefusedExample>,
}

impl GenerationTally {
    /// Adds a record, with its item if one was accepted.
    pub(super) fn add(&mut self, record: &Record, item: Option<&GeneratedItem>) {
        self.items.requested += 1;
        let requested_topic = text_of(&record.slices, "topic");
        if let Some(topic) = &requested_topic {
            self.topics.requested(topic);
        }
        self.references
            .extend(text_of(&record.metadata, "reference_id"));
        let mut refused = 0;
        for reply in refused_before(record) {
            refused += 1;
            self.reply(&record.sample_id, &reply);
        }
        match (record.result.status, &record.result.score) {
            (Status::Scored, Some(score)) => {
                let last = CheckedReply {
                    is_accepted: score.correct,
                    reason: &score.reason,
                    details: score.details.iter().collect(),
                };
                self.reply(&record.sample_id, &last);
                if score.correct {
                    self.accepted(record, item, requested_topic.as_deref());
                } else {
                    self.items.never_passed += 1;
                    if self.never_passed.len() < LISTED {
                        self.never_passed.push(NeverPassed {
                            id: record.sample_id.clone(),
                            topic: requested_topic,
                            replies: refused + 1,
                            reason: check_of(&score.reason).to_owned(),
                        });
                    }
                }
            }
            (Status::Skipped, _) => self.items.not_requested += 1,
            _ => self.items.errors += 1,
        }
    }

    fn accepted(&mut self, record: &Record, item: Option<&GeneratedItem>, requested: Option<&str>) {
        self.items.accepted += 1;
        let Some(score) = &record.result.score else {
            return;
        };
        let found = score.details.get("topic").and_then(Value::as_str);
        let written = item.and_then(|item| item.fields.get("topic")?.as_str());
        if let Some(topic) = found.or(written).or(requested) {
            self.topics.reached(topic);
        }
        if let Some(agrees) = score.details.get(SOLVER).and_then(is_true) {
            self.solver.solved += 1;
            self.solver.agrees += u64::from(agrees);
        }
        if let Some(share) = score.details.get(NEAREST_SHARE).and_then(Value::as_f64) {
            let nearest = score.details.get("nearest").and_then(Value::as_str);
            self.nearest.push(NearestReference {
                id: record.sample_id.clone(),
                reference_id: nearest.map(str::to_owned),
                share,
            });
        }
    }

    fn reply(&mut self, id: &str, reply: &CheckedReply<'_>) {
        self.replies.checked += 1;
        for (name, value) in &reply.details {
            match is_true(value).filter(|_| is_check(name)) {
                Some(passed) => self.check(name, passed, reply.is_accepted),
                None if *name == REPAIRED => self.replies.repaired += u64::from(counts(value)),
                None => {}
            }
        }
        if reply.is_accepted {
            return;
        }
        self.replies.refused += 1;
        let check = check_of(reply.reason);
        match self.reasons.iter_mut().find(|(known, _)| known == check) {
            Some((_, count)) => *count += 1,
            None => self.reasons.push((check.to_owned(), 1)),
        }
        let known = self.examples.iter().filter(|it| it.check == check);
        if known.count() < EXAMPLES {
            self.examples.push(RefusedExample {
                id: id.to_owned(),
                check: check.to_owned(),
                message: excerpt(message_of(reply)),
            });
        }
    }

    fn check(&mut self, name: &str, passed: bool, is_accepted: bool) {
        let place = self.checks.iter().position(|check| check.name == name);
        let place = place.unwrap_or_else(|| {
            self.checks.push(CheckFigures {
                name: name.to_owned(),
                ..CheckFigures::default()
            });
            self.checks.len() - 1
        });
        let check = &mut self.checks[place];
        check.checked += 1;
        check.failed += u64::from(!passed);
        check.accepted += u64::from(!passed && is_accepted);
    }

    /// The statistics, together with data of the run itself.
    pub(super) fn figures(
        mut self,
        manifest: &Manifest,
        summary: &Summary,
    ) -> GenerationStatistics {
        let items = &mut self.items;
        let tried = items.accepted + items.never_passed;
        items.share = ratio(items.accepted, tried);
        items.ci95 = wilson95(items.accepted, tried);
        let replies = &mut self.replies;
        replies.share = ratio(replies.refused, replies.checked);
        replies.ci95 = wilson95(replies.refused, replies.checked);
        self.reasons
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        replies.reasons = self.reasons;
        for check in &mut self.checks {
            check.share = ratio(check.failed, check.checked);
            check.ci95 = wilson95(check.failed, check.checked);
        }
        self.checks.sort_by_key(|check| place(&check.name));
        self.nearest.sort_by(|a, b| b.share.total_cmp(&a.share));
        let solver = &mut self.solver;
        solver.share = ratio(solver.agrees, solver.solved);
        solver.ci95 = wilson95(solver.agrees, solver.solved);
        let config = &manifest.config;
        let benchmark = config.get("benchmark");
        let agent = config.get("agent");
        let kind = agent.map(|agent| agent.get("type").unwrap_or(agent));
        GenerationStatistics {
            eval: manifest.eval.clone(),
            run_id: manifest.run_id.clone(),
            status: manifest.status,
            stop_reason: manifest.stop_reason.clone(),
            started_at: manifest.started_at.clone(),
            duration_s: manifest.duration_s,
            agent: kind.and_then(Value::as_str).map(str::to_owned),
            model: model_of(config).map(str::to_owned),
            models: manifest.models.clone(),
            seed: benchmark.and_then(|it| it.get("seed")?.as_u64()),
            reference: benchmark.and_then(|it| text_of(it.as_object()?, "reference")),
            references_shown: self.references.len() as u64,
            items: self.items,
            replies: self.replies,
            checks: self.checks,
            topics: self.topics.figures(),
            nearest: self.nearest,
            solver: (self.solver.solved > 0).then_some(self.solver),
            usage: summary.usage,
            judge_usage: summary.judge.as_ref().map(|judge| judge.usage),
            latency_s: summary.latency_s,
            never_passed: self.never_passed,
            examples: self.examples,
        }
    }
}

/// The model that a spec asks for.
pub(super) fn model_of(config: &Value) -> Option<&str> {
    config.get("agent")?.get("model")?.as_str()
}

/// The refused replies that preceded the record's final reply.
fn refused_before(record: &Record) -> impl Iterator<Item = CheckedReply<'_>> {
    record.result.refused.iter().map(|refused| CheckedReply {
        is_accepted: false,
        reason: &refused.reason,
        details: refused.details.iter().collect(),
    })
}

/// The name of the check at the start of a reason.
fn check_of(reason: &str) -> &str {
    let name = reason.split([':', ' ']).next().unwrap_or_default();
    if name.is_empty() { "refused" } else { name }
}

/// The message of the check that refused a reply.
fn message_of<'a>(reply: &CheckedReply<'a>) -> &'a str {
    let details = &reply.details;
    let why = details.iter().find(|(name, _)| *name == "why");
    let why = why.and_then(|(_, why)| why.as_str());
    why.unwrap_or(reply.reason)
}

/// Whether a detail is a check.
fn is_check(name: &str) -> bool {
    name == SOLVER || !(NO_CHECKS.contains(&name) || name.starts_with(OF_SOLVER))
}

/// The rank of a check: checks are made in this order.
fn place(check: &str) -> usize {
    match check {
        "readable" => 0,
        "complete" => 1,
        "no_copy_of_reference" => 3,
        "no_copy_of_item" => 4,
        SOLVER => 7,
        _ if FIELDS.iter().any(|end| check.ends_with(end)) => 2,
        _ if check.contains("_ends_in_") => 5,
        _ => 6,
    }
}

/// Whether a check passed: `true` or 1; `None` if the value is no verdict.
fn is_true(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(passed) => Some(*passed),
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        _ => None,
    }
}

/// Whether a count is positive, or a flag true.
fn counts(value: &Value) -> bool {
    value.as_bool() == Some(true) || value.as_f64().is_some_and(|count| count > 0.0)
}

#[cfg(test)]
mod tests;
