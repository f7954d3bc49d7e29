//! `RunFigures`: what a report says of single samples, read off a run in one pass.
//!
//! Beside the summary, which counts; of a run of any size the same few are kept.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::reported::ReportedRun;
use crate::data::record::slices_of;
use crate::data::{Record, Score, Status};
use crate::error::Result;
use crate::verdict::groups::{FailureGroups, GroupedFailures};

/// So many samples are shown from the beginning of the run.
const FIRST: usize = 10;

/// So many characters of a text are shown in a row.
const SHOWN: usize = 200;

/// So many wrong answers are told apart.
const MOST_ANSWERS: usize = 1000;

/// So many wrong parameters are told apart.
const MOST_PARAMETERS: usize = 1000;

/// What a report says of single samples.
#[derive(Clone, Debug)]
pub struct RunFigures {
    /// What went wrong, by what it has in common.
    pub failures: GroupedFailures,
    /// The first samples of the run.
    pub first: Vec<ReportedSample>,
    /// Wrong answers, those to which the agent gave none included.
    pub wrong: u64,
    /// Of those, the ones that were given and of which nothing was extracted.
    pub without_prediction: u64,
    /// The wrong answer that was given most often, and how often, where texts may be shown.
    pub same_answer: Option<SameAnswer>,
    /// What was wrong in calls of functions, the most frequent first.
    pub wrong_parameters: Vec<ParameterProblem>,
    /// Samples that became wrong, and correct, since the baseline: by dimension and value.
    pub flips: BTreeMap<(String, String), [u64; 2]>,
}

/// A sample in a row of a table. Its texts are cut; of a run whose texts are not to be shown there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedSample {
    /// Its id.
    pub id: String,
    /// Which repetition, from 0.
    pub epoch: u32,
    /// What was asked: the question where the prompt is more than that.
    pub question: String,
    /// What was extracted from the answer.
    pub prediction: Option<String>,
    /// What would have been right.
    pub ground_truth: Option<String>,
    /// Whether it is right; `None` without a verdict.
    pub correct: Option<bool>,
    /// Why not, in a word of the scorer, the kind of the error, or how it ended.
    pub why: String,
}

/// A wrong answer that was given to several questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameAnswer {
    /// Its beginning.
    pub answer: String,
    /// How often.
    pub count: u64,
    /// The first sample with it.
    pub id: String,
}

/// What was wrong in a call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProblem {
    /// Such as `find_flight`: `date`.
    pub place: String,
    /// Such as `wrong_value`.
    pub problem: String,
    /// In how many wrong answers.
    pub samples: u64,
}

impl RunFigures {
    /// Reads a run.
    ///
    /// # Errors
    /// When its records cannot be read.
    pub fn of(run: &ReportedRun) -> Result<Self> {
        let flips = run.flips();
        let mut failures = FailureGroups::new(run.summary.scorer.as_deref());
        let mut figures = Self {
            failures: FailureGroups::new(None).finish(),
            first: Vec::new(),
            wrong: 0,
            without_prediction: 0,
            same_answer: None,
            wrong_parameters: Vec::new(),
            flips: BTreeMap::new(),
        };
        let mut parameters = BTreeMap::new();
        let mut answers: BTreeMap<String, SameAnswer> = BTreeMap::new();
        for record in run.records()? {
            let record = record?;
            failures.add(&record);
            if figures.first.len() < FIRST {
                figures.first.push(ReportedSample::of(&record));
            }
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
                && (answers.len() < MOST_ANSWERS || answers.contains_key(&cut(answer)))
            {
                let same = answers
                    .entry(cut(answer))
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
}

/// What a scorer of calls says was wrong: place and problem, each once for a sample.
fn wrong_parameters(score: &Score) -> Vec<(String, String)> {
    let told = score.details.get("wrong_parameters");
    let mut found: Vec<(String, String)> = Vec::new();
    for parameter in told.and_then(Value::as_array).into_iter().flatten() {
        let text = |key| parameter.get(key).and_then(Value::as_str).unwrap_or("-");
        let place = format!("{}: {}", cut(text("function")), cut(text("parameter")));
        let key = (place, cut(text("problem")));
        if !found.contains(&key) {
            found.push(key);
        }
    }
    if !found.is_empty() {
        return found;
    }
    // The first difference of a pair of calls, in words: what comes after its place is another text in each sample.
    let difference = score.details.get("difference").and_then(Value::as_str);
    if let Some((place, _)) = difference.and_then(|told| told.split_once(": got ")) {
        found.push((cut(&place.replace('`', "")), "another value".to_owned()));
    }
    found
}

impl ReportedSample {
    /// The row of a record.
    pub fn of(record: &Record) -> Self {
        let outcome = &record.result;
        let asked = record.question.as_deref().unwrap_or(&record.prompt);
        let ground_truth = match &record.ground_truth {
            Value::Null => None,
            Value::String(text) => Some(cut(text)),
            other => Some(cut(&other.to_string())),
        };
        let is_scored = outcome.status == Status::Scored;
        let why = match (&outcome.score, outcome.failure_kind()) {
            (_, Some(kind)) => kind,
            (Some(score), None) if is_scored && !score.correct => cut(&score.reason),
            _ if is_scored => String::new(),
            _ => outcome.status.as_str().to_owned(),
        };
        Self {
            id: cut(&record.sample_id),
            epoch: record.epoch,
            question: cut(asked),
            prediction: outcome.prediction.as_deref().map(cut),
            ground_truth,
            correct: is_scored.then(|| outcome.is_correct()),
            why,
        }
    }

    /// Whether it has not the right answer that it should have.
    pub fn is_failing(record: &Record) -> bool {
        let outcome = &record.result;
        outcome.status.is_error() || outcome.status == Status::Scored && !outcome.is_correct()
    }
}

/// What is shown of a text: however long it is, its beginning alone is looked at.
fn cut(text: &str) -> String {
    let mut chars = text.trim_start().chars();
    let mut shown: String = chars.by_ref().take(SHOWN).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
