//! `RunFigures`: what a report says of single samples, read off a run in one pass.
//!
//! Beside the summary, which counts; of a run of any size the same few are kept.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::reported::ReportedRun;
use crate::data::record::slices_of;
use crate::data::{Record, Score, Status};
use crate::error::Result;
use crate::verdict::groups::{FailureGroups, GroupedFailures};

/// So many samples are shown from the beginning of the run.
const FIRST: usize = 10;

/// So many failing samples are kept, and so many of the flipped ones of each side.
pub(crate) const MOST_FAILING: usize = 100;
const MOST_FLIPPED: usize = 50;

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
    /// The first of those that are wrong or have an error.
    pub failing: Vec<ReportedSample>,
    /// How many of those there are.
    pub all_failing: u64,
    /// The first samples that changed sides since the baseline, by id; of several epochs the first on the new side.
    pub flipped: HashMap<String, ReportedSample>,
    /// Seconds of each answer that was asked for.
    pub latencies: Vec<f64>,
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
    /// What was extracted from the answer; else the answer, or what went wrong.
    pub answer: Option<String>,
    /// What would have been right.
    pub ground_truth: Option<String>,
    /// What became of it.
    pub outcome: SampleOutcome,
    /// Why it is not right, in a word of the scorer, or the kind of the error.
    pub why: String,
}

/// What became of a sample, in the order of `WORDS` of the script of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleOutcome {
    /// It is right.
    Correct,
    /// It is wrong.
    Wrong,
    /// It has no verdict, for somebody failed.
    Error,
    /// There is nothing to compare it with.
    #[default]
    Unscored,
    /// It was not asked.
    Skipped,
}

impl SampleOutcome {
    /// That of a record.
    pub fn of(record: &Record) -> Self {
        match record.result.status {
            Status::Scored if record.result.is_correct() => Self::Correct,
            Status::Scored => Self::Wrong,
            Status::Unscored => Self::Unscored,
            Status::Skipped => Self::Skipped,
            Status::AgentFailed | Status::TimedOut | Status::ScorerFailed => Self::Error,
        }
    }

    /// Whether it is not the right answer that it should be.
    pub fn is_failing(self) -> bool {
        matches!(self, Self::Wrong | Self::Error)
    }
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
    /// When its records cannot be read.
    pub fn of(run: &ReportedRun) -> Result<Self> {
        let flips = run.flips();
        let mut failures = FailureGroups::new(run.summary.scorer.as_deref());
        let mut figures = Self::new();
        let shown_flips = shown_flips(run);
        let mut parameters = BTreeMap::new();
        let mut answers: BTreeMap<String, SameAnswer> = BTreeMap::new();
        for record in run.records()? {
            let record = record?;
            failures.add(&record);
            if figures.first.len() < FIRST {
                figures.first.push(ReportedSample::of(&record));
            }
            figures.add_sample(&record, &shown_flips);
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

    /// Keeps what is shown of a single sample.
    fn add_sample(&mut self, record: &Record, shown_flips: &HashMap<&str, bool>) {
        let outcome = SampleOutcome::of(record);
        if outcome.is_failing() {
            self.all_failing += 1;
            if self.failing.len() < MOST_FAILING {
                self.failing.push(ReportedSample::of(record));
            }
        }
        if let Some(worse) = shown_flips.get(&*record.sample_id) {
            let is_side = (outcome == SampleOutcome::Wrong) == *worse;
            if is_side && !self.flipped.contains_key(&record.sample_id) {
                let id = record.sample_id.clone();
                self.flipped.insert(id, ReportedSample::of(record));
            }
        }
        let result = &record.result;
        if result.attempts > 0 && !result.cached && result.error.is_none() {
            self.latencies.push(result.latency_s);
        }
    }
}

/// The first samples that changed sides, and whether they became wrong.
fn shown_flips(run: &ReportedRun) -> HashMap<&str, bool> {
    let change = run.summary.change.iter();
    let sides = change.flat_map(|it| [(&it.became_wrong, true), (&it.became_correct, false)]);
    let flips = sides.flat_map(|(ids, worse)| {
        let ids = ids.iter().take(MOST_FLIPPED);
        ids.map(move |id| (&**id, worse))
    });
    flips.collect()
}

/// The word that files have for the kind of an error, with spaces.
pub(crate) fn error_kind(kind: impl serde::Serialize) -> String {
    let word = serde_json::to_value(kind).ok();
    let word = word.and_then(|word| word.as_str().map(|word| word.replace('_', " ")));
    word.unwrap_or_default()
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
        let text = outcome.output.as_ref().and_then(|it| it.text.as_deref());
        let error = outcome.error.as_ref().map(|error| &*error.message);
        let answer = outcome.prediction.as_deref().or(text).or(error);
        let why = match (&outcome.score, outcome.failure_kind()) {
            (_, Some(kind)) => kind.replace('_', " "),
            (Some(score), None) if !score.correct => cut(&score.reason).replace('_', " "),
            _ => String::new(),
        };
        Self {
            id: cut(&record.sample_id),
            epoch: record.epoch,
            question: cut(asked),
            answer: answer.filter(|answer| !answer.is_empty()).map(cut),
            ground_truth,
            outcome: SampleOutcome::of(record),
            why,
        }
    }
}

/// What is shown of a text, on one line: however long it is, its beginning alone is looked at.
fn cut(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // Four bytes a character at most.
        if line.len() > 4 * SHOWN {
            break;
        }
    }
    if let Some((end, _)) = line.char_indices().nth(SHOWN) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_samples_are_counted_beyond_those_that_are_kept() {
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
