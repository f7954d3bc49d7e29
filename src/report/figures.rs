//! `RunFigures`: report data about single samples, collected in one pass over a run.
//!
//! Complements the summary, which only has counts. Its size does not depend on the run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::reported::ReportedRun;
use super::section::samples::worded;
use crate::data::record::slices_of;
use crate::data::{Record, Score, Status};
use crate::error::Result;
use crate::verdict::groups::{FailureGroups, GroupedFailures};

/// Maximum number of samples shown from the start of the run.
const FIRST: usize = 10;

/// Maximum number of failing samples, and of flipped ones in each direction.
pub(crate) const MOST_FAILING: usize = 100;
const MOST_FLIPPED: usize = 50;

/// Maximum characters of a text in a row.
const MAX_CHARS: usize = 200;

/// Maximum number of distinct wrong answers counted.
const MOST_ANSWERS: usize = 1000;

/// Maximum number of distinct wrong parameters counted.
const MOST_PARAMETERS: usize = 1000;

/// Report data about single samples.
#[derive(Clone, Debug)]
pub struct RunFigures {
    /// Failures grouped by common causes.
    pub failures: GroupedFailures,
    /// The first samples of the run.
    pub first: Vec<ReportedSample>,
    /// The first wrong or errored samples.
    pub failing: Vec<ReportedSample>,
    /// The number of wrong or errored samples.
    pub all_failing: u64,
    /// The first samples that flipped since the baseline, by id; of several epochs the first with the new verdict.
    pub flipped: HashMap<String, ReportedSample>,
    /// Latency of each new answer in seconds.
    pub latencies: Vec<f64>,
    /// Number of wrong answers, including missing ones that count as wrong.
    pub wrong: u64,
    /// Number of given answers from which nothing was extracted.
    pub without_prediction: u64,
    /// The most frequent wrong answer, if texts may be shown.
    pub same_answer: Option<SameAnswer>,
    /// Errors in function calls, the most frequent first.
    pub wrong_parameters: Vec<ParameterProblem>,
    /// Numbers of samples that became wrong and correct since the baseline, by dimension and value.
    pub flips: BTreeMap<(String, String), [u64; 2]>,
}

/// A sample as a table row. Texts are truncated, and empty for masked runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedSample {
    /// Its id.
    pub id: String,
    /// The epoch, from 0.
    pub epoch: u32,
    /// The question, or the prompt if there is no separate question.
    pub question: String,
    /// The extracted prediction, or else the answer or the error.
    pub answer: Option<String>,
    /// The ground truth.
    pub ground_truth: Option<String>,
    /// Its outcome.
    pub outcome: SampleOutcome,
    /// Why it is not correct: the scorer's reason or the kind of error.
    pub why: String,
}

/// The outcome of a sample, in the order of `WORDS` in the pages' script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleOutcome {
    /// Correct.
    Correct,
    /// Wrong.
    Wrong,
    /// An error: no verdict.
    Error,
    /// No ground truth to compare with.
    #[default]
    Unscored,
    /// Not requested.
    Skipped,
}

impl SampleOutcome {
    /// The outcome of a record.
    pub fn of(record: &Record) -> Self {
        match record.result.status {
            Status::Scored if record.result.is_correct() => Self::Correct,
            Status::Scored => Self::Wrong,
            Status::Unscored => Self::Unscored,
            Status::Skipped => Self::Skipped,
            Status::AgentFailed
            | Status::TimedOut
            | Status::ScorerFailed
            | Status::UserFailed
            | Status::EnvironmentFailed => Self::Error,
        }
    }

    /// Whether it is wrong or an error.
    pub fn is_failing(self) -> bool {
        matches!(self, Self::Wrong | Self::Error)
    }
}

/// A wrong answer given to several questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameAnswer {
    /// Its beginning.
    pub answer: String,
    /// How often.
    pub count: u64,
    /// The first sample with it.
    pub id: String,
}

/// An error in a function call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProblem {
    /// Such as `find_flight`: `date`.
    pub place: String,
    /// Such as `wrong_value`.
    pub problem: String,
    /// Number of wrong answers with it.
    pub samples: u64,
}

impl RunFigures {
    fn new() -> Self {
        Self {
            failures: FailureGroups::new(None).finish(),
            first: Vec::new(),
            failing: Vec::new(),
            all_failing: 0,
            flipped: HashMap::new(),
            latencies: Vec::new(),
            wrong: 0,
            without_prediction: 0,
            same_answer: None,
            wrong_parameters: Vec::new(),
            flips: BTreeMap::new(),
        }
    }

    /// Reads a run.
    ///
    /// # Errors
    /// If its records cannot be read.
    pub fn of(run: &ReportedRun) -> Result<Self> {
        let flips = run.flips();
        let mut failures = FailureGroups::new(run.summary.scorer.as_deref());
        let mut figures = Self::new();
        let listed_flips = listed_flips(run);
        let mut parameters = BTreeMap::new();
        let mut answers: BTreeMap<String, SameAnswer> = BTreeMap::new();
        for record in run.records()? {
            let record = record?;
            failures.add(&record);
            if figures.first.len() < FIRST {
                figures.first.push(ReportedSample::of(&record));
            }
            figures.add_sample(&record, &listed_flips);
            if let Some(worse) = flips.get(&*record.sample_id)
                && record.epoch == 0
            {
                for slice in slices_of(&record) {
                    let key = (slice.0.to_owned(), slice.1);
                    figures.flips.entry(key).or_default()[usize::from(!worse)] += 1;
                }
            }
            let outcome = &record.result;
            if outcome.status != Status::Scored || outcome.is_correct() {
                continue;
            }
            figures.wrong += 1;
            figures.without_prediction += u64::from(
                !run.hides_texts && outcome.prediction.is_none() && outcome.error.is_none(),
            );
            if let Some(answer) = &outcome.prediction
                && (answers.len() < MOST_ANSWERS || answers.contains_key(&truncate(answer)))
            {
                let same = answers
                    .entry(truncate(answer))
                    .or_insert_with_key(|answer| SameAnswer {
                        answer: answer.clone(),
                        count: 0,
                        id: record.sample_id.clone(),
                    });
                same.count += 1;
            }
            for key in outcome.score.iter().flat_map(wrong_parameters) {
                if parameters.len() < MOST_PARAMETERS || parameters.contains_key(&key) {
                    *parameters.entry(key).or_insert(0) += 1;
                }
            }
        }
        figures.failures = failures.finish();
        figures.same_answer = answers.into_values().max_by_key(|same| same.count);
        let parameters = parameters.into_iter();
        figures.wrong_parameters = parameters
            .map(|((place, problem), samples)| ParameterProblem {
                place,
                problem,
                samples,
            })
            .collect();
        figures
            .wrong_parameters
            .sort_by_key(|it| Reverse(it.samples));
        Ok(figures)
    }

    /// Stores the parts shown of a single sample.
    fn add_sample(&mut self, record: &Record, listed_flips: &HashMap<&str, bool>) {
        let outcome = SampleOutcome::of(record);
        if outcome.is_failing() {
            self.all_failing += 1;
            if self.failing.len() < MOST_FAILING {
                self.failing.push(ReportedSample::of(record));
            }
        }
        if let Some(worse) = listed_flips.get(&*record.sample_id) {
            let is_side = (outcome == SampleOutcome::Wrong) == *worse;
            if is_side && !self.flipped.contains_key(&record.sample_id) {
                let id = record.sample_id.clone();
                self.flipped.insert(id, ReportedSample::of(record));
            }
        }
        let result = &record.result;
        if result.attempts > 0 && result.is_timed() && result.error.is_none() {
            self.latencies.push(result.latency_s);
        }
    }
}

/// The first samples that flipped, and whether they became wrong.
fn listed_flips(run: &ReportedRun) -> HashMap<&str, bool> {
    let change = run.summary.change.iter();
    let sides = change.flat_map(|it| [(&it.became_wrong, true), (&it.became_correct, false)]);
    let flips = sides.flat_map(|(ids, worse)| {
        let ids = ids.iter().take(MOST_FLIPPED);
        ids.map(move |id| (&**id, worse))
    });
    flips.collect()
}

/// The kind of an error as in files, with spaces.
pub(crate) fn error_kind(kind: impl serde::Serialize) -> String {
    let word = serde_json::to_value(kind).ok();
    let word = word.and_then(|word| word.as_str().map(|word| word.replace('_', " ")));
    word.unwrap_or_default()
}

/// Errors that a scorer of calls reports: place and problem, without duplicates.
fn wrong_parameters(score: &Score) -> Vec<(String, String)> {
    let detail = score.details.get("wrong_parameters");
    let mut found: Vec<(String, String)> = Vec::new();
    for parameter in detail.and_then(Value::as_array).into_iter().flatten() {
        let text = |key| parameter.get(key).and_then(Value::as_str).unwrap_or("-");
        let place = format!(
            "{}: {}",
            truncate(text("function")),
            truncate(text("parameter"))
        );
        let key = (place, truncate(text("problem")));
        if !found.contains(&key) {
            found.push(key);
        }
    }
    if !found.is_empty() {
        return found;
    }
    // The place of the first difference; the text after it differs between samples.
    let difference = score.details.get("difference").and_then(Value::as_str);
    if let Some((place, _)) = difference.and_then(|detail| detail.split_once(": got ")) {
        found.push((
            truncate(&place.replace('`', "")),
            "another value".to_owned(),
        ));
    }
    found
}

impl ReportedSample {
    /// The row of a record.
    pub fn of(record: &Record) -> Self {
        let outcome = &record.result;
        let question = record.question.as_deref().unwrap_or(&record.prompt);
        let ground_truth = match &record.ground_truth {
            Value::Null => None,
            Value::String(text) => Some(truncate(text)),
            other => Some(truncate(&other.to_string())),
        };
        let text = outcome.output.as_ref().and_then(|it| it.text.as_deref());
        let error = outcome.error.as_ref().map(|error| &*error.message);
        let answer = outcome.prediction.as_deref().or(text).or(error);
        let why = match (&outcome.score, outcome.failure_kind()) {
            (_, Some(kind)) => kind.replace('_', " "),
            (Some(score), None) if !score.correct => worded(&truncate(&score.reason)),
            _ => String::new(),
        };
        Self {
            id: truncate(&record.sample_id),
            epoch: record.epoch,
            question: truncate(question),
            answer: answer.filter(|answer| !answer.is_empty()).map(truncate),
            ground_truth,
            outcome: SampleOutcome::of(record),
            why,
        }
    }
}

/// The beginning of a text on one line. Only that part is read, however long the text is.
fn truncate(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // At most four bytes per character.
        if line.len() > 4 * MAX_CHARS {
            break;
        }
    }
    if let Some((end, _)) = line.char_indices().nth(MAX_CHARS) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_samples_are_counted_beyond_the_stored_ones() {
        let mut figures = RunFigures::new();
        for number in 0..250u32 {
            let mut record = Record::scored(format!("q{number}"), Score::binary(number % 2 == 0));
            record.ground_truth = 7.into();
            figures.add_sample(&record, &HashMap::new());
        }
        assert_eq!((figures.failing.len(), figures.all_failing), (100, 125));
        let first = &figures.failing[0];
        assert_eq!(first.ground_truth.as_deref(), Some("7"));
        assert_eq!(first.why, "mismatch");
        assert_eq!(figures.latencies.len(), 250);
    }
}
