//! `BfclTally`: computes the figures of a run from a stream of records.
//!
//! Denominators: samples with a verdict. Errored, skipped and unscored samples are excluded, and not wrong; `bounds`
//! has the range of the figures if the errored and skipped ones were wrong or right.
//!
//! | entry | what |
//! |---|---|
//! | `overall`, `non_live`, … | the official figures, see [`benchmark`](super::super::benchmark); `null` for N/A |
//! | `counted_as_zero` | the official categories without a verdict, which count as 0 in them |
//! | `unweighted` | the mean of the accuracies of all categories here |
//! | `weighted` | Σ weight · accuracy / Σ weight over the `weights` of the benchmark; `null` unless all have verdicts |
//! | `call_precision`, `call_recall` | right calls / given calls, / expected calls, over all samples together |
//! | `call_f1` | 2 · right / (given + expected) |
//! | `parameter_accuracy` | right parameters / expected parameters, over all samples together |
//! | `parameter_precision`, `parameter_f1` | right / given, 2 · right / (given + expected) |
//! | `format_sensitivity_max_delta` | from the worst of the forms to the best; the official table has percents |
//! | `format_sensitivity_std` | the standard deviation of their accuracies |
//! | `prompt_forms` | what each of the forms scored |
//! | `error_types` | wrong samples of a category by error type; `share` of the category's wrong samples |
//! | `wrong_parameters` | the parameters that were wrong in most samples |
//!
//! [`Partial`](crate::bfcl::checker::Partial) defines partial credit of wrong answers. Samples without particular
//! expected calls (irrelevance, relevance) are not part of the figures of calls and parameters.
//!
//! A figure that the official tables write with zeros for missing categories is N/A here if none of its categories was
//! run. A category with requested samples but without a verdict is not missing: figures with it are N/A.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::benchmark;
use super::sensitivity::FormCounts;
use super::{Aggregates, CategoryCounts};
use crate::bfcl::data::{Category, CategoryGroup};
use crate::bfcl::form::{FORMAT_SENSITIVITY, PromptForm};
use crate::data::{Record, Score, Status};
use crate::stats::{as_f64, ratio};
use crate::verdict::check::BOUNDS;

/// Weights of categories.
pub(crate) type Weights = BTreeMap<String, f64>;

/// Maximum number of wrong parameters and of error types listed.
const LISTED: usize = 20;
const LISTED_TYPES: usize = 200;

/// The official figures of `format_sensitivity`, as shares.
const MAX_DELTA: &str = "format_sensitivity_max_delta";
const DEVIATION: &str = "format_sensitivity_std";

/// The figures of a run in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct BfclTally {
    categories: BTreeMap<String, Counted>,
    calls: CallCounts,
    parameters: CallCounts,
    /// (function, parameter, problem)
    wrong: BTreeMap<[String; 3], u64>,
    forms: FormCounts,
}

/// Verdict counts of a category.
#[derive(Clone, Debug, Default)]
struct Counted {
    correct: u64,
    scored: u64,
    /// Samples that errored or were skipped.
    unknown: u64,
    /// Wrong samples by error type.
    reasons: BTreeMap<String, u64>,
}

/// Numbers of right, expected and given calls or parameters.
#[derive(Clone, Copy, Debug, Default)]
struct CallCounts {
    right: u64,
    expected: u64,
    given: u64,
}

impl BfclTally {
    /// Adds a record.
    pub(crate) fn add(&mut self, record: &Record) {
        let Some(category) = record.slices.get("category").and_then(Value::as_str) else {
            return;
        };
        if !self.categories.contains_key(category) {
            self.categories
                .insert(category.to_owned(), Counted::default());
        }
        let Some(counted) = self.categories.get_mut(category) else {
            return;
        };
        let status = record.result.status;
        counted.unknown += u64::from(status.is_error() || status == Status::Skipped);
        let Some(score) = record
            .result
            .score
            .as_ref()
            .filter(|_| status == Status::Scored)
        else {
            return;
        };
        counted.scored += 1;
        if category == FORMAT_SENSITIVITY
            && let Some((form, _)) = PromptForm::of_id(&record.sample_id)
        {
            self.forms.add(form, score.correct);
        }
        if score.correct {
            counted.correct += 1;
        } else {
            *counted.reasons.entry(score.reason.to_string()).or_default() += 1;
        }
        // Irrelevance and relevance expect no particular calls.
        if !category.contains("relevance") {
            self.add_parts(score);
        }
    }

    fn add_parts(&mut self, score: &Score) {
        let details = |name| score.details.get(name);
        if score.correct {
            // All given values are right; omitted ones were not expected.
            let calls = details("error")
                .and(details("decoded"))
                .and_then(Value::as_array);
            for call in calls.into_iter().flatten().filter_map(Value::as_object) {
                let arguments = call.values().filter_map(Value::as_object).map(Map::len);
                self.calls.add([1; 3]);
                self.parameters.add([arguments.sum::<usize>() as u64; 3]);
            }
            return;
        }
        self.calls.add_counts(details("calls"));
        self.parameters.add_counts(details("parameters"));
        let wrong = details("wrong_parameters").and_then(Value::as_array);
        let mut seen: Vec<[&str; 3]> = Vec::new();
        for parameter in wrong.into_iter().flatten() {
            let text = |key| {
                parameter
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let key = ["function", "parameter", "problem"].map(text);
            // Count a parameter once per sample.
            if !seen.contains(&key) {
                seen.push(key);
                *self.wrong.entry(key.map(str::to_owned)).or_default() += 1;
            }
        }
    }

    /// Computes the figures.
    pub(crate) fn finish(&self, weights: &Weights) -> Map<String, Value> {
        let figures = |counts: &CategoryCounts| figures(counts, weights);
        let with = |count: fn(&Counted) -> (u64, u64)| -> CategoryCounts {
            let counts = self.categories.iter();
            counts
                .map(|(name, counted)| (name.clone(), count(counted)))
                .collect()
        };
        // No sample of the category was scored, so figures that depend on it are unknown.
        let [worst, best] = [0, 1].map(|right| {
            let mut counts = with(|counted| (counted.correct, counted.scored));
            for (name, counted) in &self.categories {
                if counted.scored == 0 && counted.unknown > 0 {
                    counts.insert(name.clone(), (right, 1));
                }
            }
            figures(&counts)
        });
        let is_known = |name: &str| of(&worst, name) == of(&best, name);
        let mut metrics = Map::new();
        for (name, value) in figures(&with(|counted| (counted.correct, counted.scored))) {
            let value = value.filter(|_| is_known(name));
            metrics.insert(name.to_owned(), json!(value));
        }
        metrics.extend(self.parts());
        metrics.extend(self.of_forms());
        let missing = self.missing();
        if !missing.is_empty() {
            metrics.insert("counted_as_zero".to_owned(), missing.into());
        }
        if !weights.is_empty() {
            metrics.insert("weights".to_owned(), json!(weights));
        }
        metrics.insert("error_types".to_owned(), self.error_types());
        metrics.insert("wrong_parameters".to_owned(), self.wrong_parameters());
        if self.categories.values().any(|counted| counted.unknown > 0) {
            let low = figures(&with(|c| (c.correct, c.scored + c.unknown)));
            let high = figures(&with(|c| (c.correct + c.unknown, c.scored + c.unknown)));
            // The number of calls of a sample without a verdict is unknown.
            let mut with_calls = self
                .categories
                .iter()
                .filter(|(name, _)| !name.contains("relevance"));
            let open = with_calls.any(|(_, counted)| counted.unknown > 0);
            let mut bounds = Map::new();
            for (name, value) in metrics.iter().filter(|(_, value)| value.is_number()) {
                let of_calls = || open.then_some([0.0, 1.0]);
                let sides = of(&low, name).zip(of(&high, name));
                let sides = sides.map(|(low, high)| [low, high]).or_else(of_calls);
                bounds.insert(
                    name.clone(),
                    sides.map_or_else(|| json!([value, value]), |s| json!(s)),
                );
            }
            metrics.insert(BOUNDS.to_owned(), bounds.into());
        }
        metrics
    }

    fn parts(&self) -> Map<String, Value> {
        let CallCounts {
            right,
            expected,
            given,
        } = self.calls;
        let parameters = self.parameters;
        let parts = [
            ("call_precision", ratio(right, given)),
            ("call_recall", ratio(right, expected)),
            ("call_f1", self.calls.f1()),
            (
                "parameter_accuracy",
                ratio(parameters.right, parameters.expected),
            ),
            (
                "parameter_precision",
                ratio(parameters.right, parameters.given),
            ),
            ("parameter_f1", parameters.f1()),
        ];
        let parts = parts.into_iter();
        parts
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect()
    }

    /// The spread of the `format_sensitivity` formats, if any, and the accuracy of each.
    fn of_forms(&self) -> Map<String, Value> {
        let mut metrics = Map::new();
        if self.forms.is_empty() {
            return metrics;
        }
        metrics.insert(MAX_DELTA.to_owned(), json!(self.forms.max_delta()));
        metrics.insert(DEVIATION.to_owned(), json!(self.forms.std()));
        let forms = self.forms.iter().map(|count| {
            let mut row = Map::new();
            for (part, value) in count.form.slices() {
                row.insert(part.to_owned(), value.into());
            }
            row.insert("correct".to_owned(), count.correct.into());
            row.insert("samples".to_owned(), count.total.into());
            row.insert("accuracy".to_owned(), json!(count.accuracy()));
            Value::Object(row)
        });
        metrics.insert("prompt_forms".to_owned(), forms.collect());
        metrics
    }

    /// The official categories that count as 0, if any official category has figures.
    fn missing(&self) -> Vec<String> {
        let scored = |name: &str| self.categories.get(name).is_some_and(|c| c.scored > 0);
        let mut official = Category::official().filter(|one| one.name != FORMAT_SENSITIVITY);
        if !official.any(|category| scored(&category.name)) {
            return Vec::new();
        }
        let names = Category::official()
            .filter(is_in_overall)
            .map(|category| category.name);
        names
            .filter(|name| {
                self.categories
                    .get(name)
                    .is_none_or(|c| c.scored + c.unknown == 0)
            })
            .collect()
    }

    fn error_types(&self) -> Value {
        let mut rows: Vec<(&str, &str, u64, u64)> = Vec::new();
        for (category, counted) in &self.categories {
            let wrong = counted.scored - counted.correct;
            let reasons = counted.reasons.iter();
            rows.extend(reasons.map(|(reason, &count)| (&**category, &**reason, count, wrong)));
        }
        rows.sort_by_key(|&(.., count, _)| std::cmp::Reverse(count));
        let rows = rows.into_iter().take(LISTED_TYPES);
        rows.map(|(category, error_type, count, wrong)| {
            json!({"category": category, "error_type": error_type, "samples": count, "share": ratio(count, wrong)})
        })
        .collect()
    }

    fn wrong_parameters(&self) -> Value {
        let mut rows: Vec<_> = self.wrong.iter().collect();
        rows.sort_by_key(|&(_, &count)| std::cmp::Reverse(count));
        let rows = rows.into_iter().take(LISTED);
        rows.map(|([function, parameter, problem], count)| {
            json!({"function": function, "parameter": parameter, "problem": problem, "samples": count})
        })
        .collect()
    }
}

impl CallCounts {
    fn add(&mut self, [right, expected, given]: [u64; 3]) {
        self.right += right;
        self.expected += expected;
        self.given += given;
    }

    fn add_counts(&mut self, counts: Option<&Value>) {
        let number = |key| {
            counts
                .and_then(|counts| counts.get(key)?.as_u64())
                .unwrap_or_default()
        };
        self.add(["right", "expected", "given"].map(number));
    }

    fn f1(self) -> Option<f64> {
        ratio(2 * self.right, self.expected + self.given)
    }
}

/// Figures by name, in display order; `None` is N/A.
type NamedFigures = Vec<(&'static str, Option<f64>)>;

fn of(figures: &[(&str, Option<f64>)], name: &str) -> Option<f64> {
    figures.iter().find(|(known, _)| *known == name)?.1
}

/// The names of the figures available for these categories.
pub(super) fn names(categories: &[Category], weights: &Weights) -> Vec<String> {
    let names = categories
        .iter()
        .map(|category| (category.name.clone(), (1, 1)));
    let figures = figures(&names.collect(), weights);
    let figures = figures.iter().filter(|(_, value)| value.is_some());
    let mut names: Vec<String> = figures.map(|(name, _)| (*name).to_owned()).collect();
    if categories.iter().any(Category::has_ground_truth) {
        names.extend(
            BfclTally::default()
                .parts()
                .into_iter()
                .map(|(name, _)| name),
        );
    }
    if categories.iter().any(|one| one.name == FORMAT_SENSITIVITY) {
        names.extend([MAX_DELTA, DEVIATION].map(str::to_owned));
    }
    names
}

/// The official figures and those over all categories.
fn figures(counts: &CategoryCounts, weights: &Weights) -> NamedFigures {
    let run: CategoryCounts = counts
        .iter()
        .filter(|(_, (_, total))| *total > 0)
        .map(|(name, _)| (name.clone(), (1, 1)))
        .collect();
    let official = official(&Aggregates::of(counts));
    // With every sample correct, a figure is above 0 if any of its categories was run.
    let present = self::official(&Aggregates::of(&run));
    let mut figures: NamedFigures = official
        .into_iter()
        .zip(present)
        .map(|((name, figure, counts_missing), (_, present, _))| {
            let is_reported = figure.is_complete || counts_missing && present.accuracy > 0.0;
            (name, is_reported.then_some(figure.accuracy))
        })
        .collect();
    let accuracy = |name: &str| benchmark::category(counts, name).complete();
    let all: Vec<f64> = run.keys().filter_map(|name| accuracy(name)).collect();
    let sum: f64 = all.iter().sum();
    let unweighted = (!all.is_empty()).then(|| sum / as_f64(all.len() as u64));
    figures.push(("unweighted", unweighted));
    if !weights.is_empty() {
        let whole: f64 = weights.values().sum();
        let used = weights.iter().filter(|(_, weight)| **weight > 0.0);
        let parts: Option<Vec<f64>> = used
            .map(|(name, weight)| Some(accuracy(name)? * (weight / whole)))
            .collect();
        figures.push(("weighted", parts.map(|parts| parts.iter().sum())));
    }
    figures
}

/// The official figures, and whether the official tables show zeros for missing categories.
fn official(of: &Aggregates) -> [(&'static str, benchmark::Figure, bool); 9] {
    [
        ("overall", of.overall, true),
        ("non_live", of.non_live, true),
        ("live", of.live, true),
        ("irrelevance", of.irrelevance, false),
        ("multi_turn", of.multi_turn, true),
        ("agentic", of.agentic, true),
        ("simple", of.simple, false),
        ("web_search", of.web_search, false),
        ("memory", of.memory, false),
    ]
}

/// Whether the overall figure includes the category.
fn is_in_overall(category: &Category) -> bool {
    category.name != "live_relevance"
        && !matches!(
            category.group,
            CategoryGroup::FormatSensitivity | CategoryGroup::Own
        )
}

#[cfg(test)]
mod tests;
