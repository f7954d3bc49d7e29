//! `GenerationStatistics`: what a run that generated data amounts to. Pure: a function of its manifest, its summary and its
//! records in the order of the prompts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::item::{GeneratedItem, text_of};
use super::topics::{TopicFigures, TopicTally};
use crate::data::{Record, Status};
use crate::stats::{ratio, wilson95};
use crate::store::{Manifest, RunStatus};
use crate::text::excerpt;
use crate::verdict::summary::{Latency, Summary, UsageTotal};

/// The check of whoever solves the problem once more; what else is called so is how it went.
const SOLVER: &str = "solver_agrees";
const OF_SOLVER: &str = "solver_";
/// How near the nearest reference is.
const NEAREST_SHARE: &str = "nearest_share";
/// How much of a reply was mended.
const REPAIRED: &str = "repaired";
/// What is said of a reply besides the checks: a share may be 0 or 1 as a verdict is.
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
/// What the checks of a field end in.
const FIELDS: [&str; 3] = ["_in_range", "_in_list", "_in_form"];
/// So many examples are kept of each reason.
const EXAMPLES: usize = 3;
/// So many items that never passed are kept; they are all counted.
const LISTED: usize = 1000;

/// What a run that generated data amounts to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerationStatistics {
    /// The eval.
    pub eval: String,
    /// The run.
    pub run_id: String,
    /// How the run stands.
    pub status: RunStatus,
    /// Why it stopped early, if it did.
    pub stop_reason: Option<String>,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// How long it took, in seconds; its last part, where it was resumed.
    pub duration_s: Option<f64>,
    /// The kind of agent that wrote the items.
    pub agent: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// What answered, as endpoints report it, and how many items each wrote.
    pub models: BTreeMap<String, usize>,
    /// The seed by which topics and references were drawn.
    pub seed: Option<u64>,
    /// Where the references are from.
    pub reference: Option<String>,
    /// How many different references were shown.
    pub references_shown: u64,
    /// What became of the items.
    pub items: ItemFigures,
    /// What became of the replies.
    pub replies: ReplyFigures,
    /// What each check found.
    pub checks: Vec<CheckFigures>,
    /// Asked and reached topics.
    pub topics: TopicFigures,
    /// How near each accepted item is to the nearest reference, the nearest first.
    pub nearest: Vec<NearestReference>,
    /// What came of solving the accepted items again, if that was asked for.
    pub solver: Option<SolverFigures>,
    /// Tokens and cost of whoever wrote.
    pub usage: UsageTotal,
    /// Tokens and cost of whoever solved, or judged.
    pub judge_usage: Option<UsageTotal>,
    /// How long the replies took that counted.
    pub latency_s: Option<Latency>,
    /// Items that never passed, the first thousand.
    pub never_passed: Vec<NeverPassed>,
    /// Some of the refused replies, for each reason.
    pub examples: Vec<RefusedExample>,
}

/// What became of the items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemFigures {
    /// Items that were asked for.
    pub asked: u64,
    /// Those of which a reply was accepted.
    pub accepted: u64,
    /// Those of which every reply was refused.
    pub never_passed: u64,
    /// Those without a reply that could be checked: the agent or a solver failed.
    pub errors: u64,
    /// Those that were never asked for, as the run stopped before.
    pub not_asked: u64,
    /// accepted / (accepted + never passed); `None` where there is neither.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// What became of the replies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyFigures {
    /// All that were checked.
    pub checked: u64,
    /// Those among them that were refused, the last of an item that never passed included.
    pub refused: u64,
    /// refused / checked.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
    /// The refused by the first check that they failed, the most frequent first.
    pub reasons: Vec<(String, u64)>,
    /// Replies whose JSON was mended, such as one with backslashes of LaTeX that were not escaped.
    pub repaired: u64,
}

/// What a check found, in all replies in which there was something to check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckFigures {
    /// Its name.
    pub name: String,
    /// Replies that it looked at.
    pub checked: u64,
    /// Those that failed it.
    pub failed: u64,
    /// Those of the failed that are items all the same: the check only takes note.
    pub accepted: u64,
    /// failed / checked.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// How near an item is to the reference that it is nearest to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearestReference {
    /// The item.
    pub id: String,
    /// The reference.
    pub reference_id: Option<String>,
    /// The share of the item's pieces that the reference has, too.
    pub share: f64,
}

/// Whether somebody who saw the problem alone came to the same answer, of the accepted items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverFigures {
    /// Items that were solved again.
    pub solved: u64,
    /// Those with the same answer.
    pub agrees: u64,
    /// agrees / solved.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// An item of which every reply was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeverPassed {
    /// Its id.
    pub id: String,
    /// The topic that was asked for.
    pub topic: Option<String>,
    /// How many replies were refused.
    pub replies: u64,
    /// Why the last of them was.
    pub reason: String,
}

/// A reply that was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedExample {
    /// The item that it was to be.
    pub id: String,
    /// The first check that it failed.
    pub check: String,
    /// What the check says of it.
    #[serde(rename = "told")]
    pub message: String,
}

/// A reply that was checked, as a record has it.
struct CheckedReply<'a> {
    is_accepted: bool,
    reason: &'a str,
    details: Vec<(&'a str, &'a Value)>,
}

/// Counts what records say.
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
    /// Takes a record, and the item that it is, if it is one.
    pub(super) fn add(&mut self, record: &Record, item: Option<&GeneratedItem>) {
        self.items.asked += 1;
        let asked_topic = text_of(&record.slices, "topic");
        if let Some(topic) = &asked_topic {
            self.topics.asked(topic);
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
                    self.accepted(record, item, asked_topic.as_deref());
                } else {
                    self.items.never_passed += 1;
                    if self.never_passed.len() < LISTED {
                        self.never_passed.push(NeverPassed {
                            id: record.sample_id.clone(),
                            topic: asked_topic,
                            replies: refused + 1,
                            reason: check_of(&score.reason).to_owned(),
                        });
                    }
                }
            }
            (Status::Skipped, _) => self.items.not_asked += 1,
            _ => self.items.errors += 1,
        }
    }

    fn accepted(&mut self, record: &Record, item: Option<&GeneratedItem>, asked: Option<&str>) {
        self.items.accepted += 1;
        let Some(score) = &record.result.score else {
            return;
        };
        let found = score.details.get("topic").and_then(Value::as_str);
        let written = item.and_then(|item| item.fields.get("topic")?.as_str());
        if let Some(topic) = found.or(written).or(asked) {
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

    /// All figures, with what the run says of itself.
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

/// The replies that were refused before the one that the record is about.
fn refused_before(record: &Record) -> impl Iterator<Item = CheckedReply<'_>> {
    record.result.refused.iter().map(|refused| CheckedReply {
        is_accepted: false,
        reason: &refused.reason,
        details: refused.details.iter().collect(),
    })
}

/// The name of the check that a reason begins with.
fn check_of(reason: &str) -> &str {
    let name = reason.split([':', ' ']).next().unwrap_or_default();
    if name.is_empty() { "refused" } else { name }
}

/// What a check says of a reply that it refuses.
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

/// Where a check stands among the others: they are made in this order.
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

/// Whether a check was passed: `true`, or 1; `None` for what is no verdict.
fn is_true(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(passed) => Some(*passed),
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        _ => None,
    }
}

/// Whether anything was counted.
fn counts(value: &Value) -> bool {
    value.as_bool() == Some(true) || value.as_f64().is_some_and(|count| count > 0.0)
}

#[cfg(test)]
mod tests;
