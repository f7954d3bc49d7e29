//! `PublicWords`: the words that a report on a masked run may show, because they are part of the program or the spec.
//!
//! Any other text of a scorer or an agent may reveal a question, an answer or a ground truth, including numbers and
//! names of numbers.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::data::record::NO_PROMPT;
use crate::data::{Normalized, Record};
use crate::store::Manifest;
use crate::verdict::summary::{Summary, VALUE};

/// Replaces a masked text where one is required.
pub(in crate::report) const HIDDEN: &str = "(not shown: `snapshot.answers` is `masked`)";

/// Replaces the reason for an early end, which may contain the agent's output.
const STOPPED: &str = "see the output of the command";

/// Reasons of built-in scorers.
const REASONS: &[&str] = &[
    "accepted",
    "all_correct",
    "all_found",
    "all_matched",
    "as_expected",
    "below_pass",
    "below_threshold",
    "correct",
    "empty_ground_truth",
    "empty_prediction",
    "exact_match",
    "forbidden_call",
    "included",
    "incorrect",
    "inconsistent",
    "inefficient",
    "invalid_json",
    "loss",
    "matched",
    "mismatch",
    "missing_call",
    "no_answer",
    "no_call",
    "no_prediction",
    "none_correct",
    "none_matched",
    "not_a_choice",
    "not_a_number",
    "not_an_integer",
    "out_of_range",
    "overlap",
    "part_correct",
    "part_wrong",
    "partial",
    "partial_match",
    "partly_matched",
    "passed",
    "refused",
    "rejected",
    "similar",
    "substring_match",
    "threshold_reached",
    "tie",
    "too_complex",
    "too_few_tool_calls",
    "too_long",
    "too_many_elements",
    "unexpected_call",
    "win",
    "within_tolerance",
    "wrong_arguments",
    "wrong_count",
    "wrong_function",
    "wrong_order",
];

/// Names of numbers of built-in scorers and rubrics.
const FIGURES: &[&str] = &[
    "abs_error",
    "accuracy",
    "ast_match_rate",
    "brief",
    "calls",
    "clarity",
    "coherence",
    "completeness",
    "correctness",
    "craft",
    "difficulty_match",
    "disagreement",
    "distance",
    "efficiency",
    "em",
    "exact_match",
    "excellent",
    "f1",
    "forbidden_calls",
    "found",
    "length",
    "length_against",
    "name_f1",
    "name_precision",
    "name_recall",
    "of",
    "order_rate",
    "originality",
    "parameter_accuracy",
    "parameters",
    "partial_match",
    "precision",
    "recall",
    "readability",
    "rel_error",
    "repaired",
    "required_rate",
    "requirements",
    "reward",
    "robustness",
    "similarity",
    "spread",
    "structure",
    "tool_calls",
    "total",
    VALUE,
    "verbose",
];

/// Kinds of scorers whose verdicts come from other programs.
const FOREIGN: [&str; 2] = ["command", "recorded"];

/// The words that a masked run may show of its scorers.
#[derive(Clone, Debug)]
pub struct PublicWords {
    /// Words in the spec's scorers and gates: names of parts and dimensions.
    named: HashSet<String>,
    /// Whether a scorer is another program, whose numbers may be ground truths.
    is_foreign: bool,
}

impl PublicWords {
    /// The public words of a run.
    pub fn of(manifest: &Manifest) -> Self {
        let mut named: HashSet<String> = manifest.scorers.iter().cloned().collect();
        let mut is_foreign = false;
        for key in ["scorer", "scorers"] {
            let scorers = manifest.config.get(key).unwrap_or(&Value::Null);
            gather(scorers, &mut named);
            is_foreign |= has_foreign(scorers);
        }
        // Such as `mean(judge.tone) >= 3`.
        let gates = manifest.config.get("gates").and_then(Value::as_array);
        for gate in gates.into_iter().flatten().filter_map(Value::as_str) {
            let words = gate.split(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
            named.extend(words.map(str::to_owned));
        }
        Self { named, is_foreign }
    }

    /// Removes question, answer and ground truth from a record. Id, slices, verdict and figures stay.
    pub fn hide(&self, record: &mut Record) {
        record.prompt = Arc::clone(&NO_PROMPT);
        record.question = None;
        record.ground_truth = Value::Null;
        record.metadata = Map::new();
        record.mask = String::new();
        record.older_mask = String::new();
        let result = &mut record.result;
        result.output = None;
        result.prediction = None;
        result.judged = Vec::new();
        for refused in &mut result.refused {
            refused.judged = Vec::new();
            refused
                .details
                .retain(|name, value| self.shows_detail(name, value));
            if !is_reason(&refused.reason) {
                refused.reason = HIDDEN.into();
            }
        }
        if let Some(score) = &mut result.score {
            score.normalized_prediction = Normalized::None;
            score.normalized_ground_truth = Normalized::None;
            score
                .details
                .retain(|name, value| self.shows_detail(name, value));
            if !is_reason(&score.reason) {
                score.reason = HIDDEN.into();
            }
        }
        // In JSON form: the same members, and those of scorers with more details.
        for score in result.scores.values_mut() {
            let Value::Object(members) = score else {
                continue;
            };
            members.retain(|name, value| match (name.as_str(), value) {
                ("error", value) => {
                    *value = HIDDEN.into();
                    true
                }
                ("reason", value) => {
                    if !value.as_str().is_some_and(is_reason) {
                        *value = HIDDEN.into();
                    }
                    true
                }
                ("details", Value::Object(details)) => {
                    details.retain(|name, value| self.shows_detail(name, value));
                    true
                }
                (VALUE | "correct", value) => is_figure(value),
                (name, value) => self.shows_detail(name, value),
            });
        }
        if let Some(error) = &mut result.error {
            // An error message of a program may contain the question.
            HIDDEN.clone_into(&mut error.message);
            error.stderr_tail = None;
        }
    }

    /// Removes ground truths and answers from a summary: labels contain both, and scorers may use texts as names of
    /// numbers.
    pub(crate) fn hide_summary(&self, summary: &mut Summary) {
        summary.labels = None;
        self.hide_names(&mut summary.means);
        self.hide_names(&mut summary.mean_ranges);
        if let Some(reviewed) = &mut summary.reviewed {
            self.hide_names(&mut reviewed.means);
        }
        for group in summary.slices.values_mut().flat_map(BTreeMap::values_mut) {
            self.hide_names(&mut group.means);
            self.hide_names(&mut group.mean_ranges);
        }
        for scorer in summary.scorers.values_mut() {
            scorer.labels = None;
            self.hide_names(&mut scorer.means);
            self.hide_names(&mut scorer.mean_ranges);
        }
    }

    /// Removes possible output of an agent from a manifest.
    pub(crate) fn hide_reason(manifest: &mut Manifest) {
        if let Some(reason) = &mut manifest.stop_reason {
            STOPPED.clone_into(reason);
        }
    }

    /// Retains the means with public names.
    pub(crate) fn hide_names<T>(&self, means: &mut BTreeMap<String, T>) {
        means.retain(|name, _| self.has_name(name));
    }

    fn has_name(&self, name: &str) -> bool {
        // A second part with the same name has a number: `numeric#2`.
        let name = match name.split_once('#') {
            Some((name, number)) if number.parse::<u8>().is_ok() => name,
            _ => name,
        };
        FIGURES.contains(&name) || self.named.contains(name)
    }

    fn shows_detail(&self, name: &str, value: &Value) -> bool {
        !self.is_foreign && is_figure(value) && self.has_name(name)
    }
}

fn is_figure(value: &Value) -> bool {
    value.is_number() || value.is_boolean()
}

fn is_reason(reason: &str) -> bool {
    REASONS.contains(&reason)
}

/// Collects all keys and strings in a value.
fn gather(value: &Value, named: &mut HashSet<String>) {
    match value {
        Value::String(text) => {
            named.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, named)),
        Value::Object(members) => {
            for (name, member) in members {
                named.insert(name.clone());
                gather(member, named);
            }
        }
        _ => {}
    }
}

/// Whether another program scores, alone or as a part.
fn has_foreign(value: &Value) -> bool {
    match value {
        Value::String(text) => FOREIGN.contains(&text.as_str()),
        Value::Array(items) => items.iter().any(has_foreign),
        Value::Object(members) => members.values().any(has_foreign),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{AgentError, Output, Score};

    fn public(scorers: &Value) -> PublicWords {
        let mut named = HashSet::new();
        gather(scorers, &mut named);
        PublicWords {
            named,
            is_foreign: has_foreign(scorers),
        }
    }

    #[test]
    fn no_text_of_a_masked_benchmark_remains() {
        let secret = "whale oil";
        let score = Score::new(0.5, false, format!("not {secret}"))
            .normalized(secret, secret)
            .detail("f1", 0.5)
            .detail("span", secret);
        let mut record = Record::scored("q1", score);
        record.prompt = secret.into();
        record.question = Some(secret.to_owned());
        record.ground_truth = secret.into();
        record.metadata.insert("Steps".to_owned(), secret.into());
        record.result.prediction = Some(secret.to_owned());
        record.result.output = Some(Output::text(secret));
        let mut error = AgentError::new(secret);
        error.stderr_tail = Some(secret.to_owned());
        record.result.error = Some(error);
        let scores = json!({
            "qa": {"value": 0.5, "correct": false, "reason": "partial", "normalized_prediction": secret,
                   "details": {"f1": 0.5, "span": secret}},
            "judge": {"error": secret},
        });
        record.result.scores = scores.as_object().unwrap().clone();
        public(&json!(["qa"])).hide(&mut record);
        let text = serde_json::to_string(&record).unwrap();
        assert!(!text.contains("whale"), "{text}");
        assert_eq!(record.sample_id, "q1");
        let score = record.result.score.as_ref().unwrap();
        assert_eq!(score.details.get("f1"), Some(&0.5.into()));
        assert_eq!(record.result.scores["qa"]["reason"], "partial");
        assert_eq!(record.result.unjudged_by().collect::<Vec<_>>(), ["judge"]);
    }

    #[test]
    fn a_word_and_a_number_of_a_scorer_may_be_the_truth() {
        let check = |scorers: &Value, name: &'static str, reason: &'static str| {
            let mut record =
                Record::scored("q1", Score::new(0.0, false, reason).detail(name, 4242));
            let other = json!({"value": 0.5, "correct": false, "reason": reason, "details": {name: 4242}, name: 4242});
            record.result.scores.insert("other".to_owned(), other);
            public(scorers).hide(&mut record);
            serde_json::to_string(&record).unwrap()
        };
        let text = check(&json!(["exact"]), "paris", "paris");
        assert!(!text.contains("paris") && !text.contains("4242"), "{text}");
        let text = check(&json!(["exact"]), "f1", "42");
        assert!(!text.contains("\"42\"") && text.contains("4242"), "{text}");
        // Names of another program stay private even if built-in scorers use the same.
        let foreign = json!([{"all": [{"type": "command", "command": ["./judge"]}]}]);
        let text = check(&foreign, "f1", "mismatch");
        assert!(
            text.contains("mismatch") && !text.contains("4242"),
            "{text}"
        );
        let judge = json!([{"type": "judge", "rubric": {"dimensions": [{"name": "tone"}]}}]);
        assert!(check(&judge, "tone", "passed").contains("\"tone\":4242"));
    }
}
