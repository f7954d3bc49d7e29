//! `NotedSamples`: what the page of a run shows of single samples without scripts, from one reading of its records.
//!
//! Of a run of any size a few hundred short texts are kept, and a number for each answer.

use std::collections::HashMap;

use serde_json::Value;

use crate::data::{Record, Status};
use crate::error::Result;
use crate::report::reported::ReportedRun;
use crate::verdict::groups::{FailureGroups, GroupedFailures};

/// So many failing samples stand in the page where no script runs.
pub(super) const MOST_FAILING: usize = 100;
/// So many flipped ones, of each side.
pub(super) const MOST_FLIPPED: usize = 50;
/// So many characters of a text.
const CHARS: usize = 300;

/// What became of a sample, as pages sort and filter it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleStanding {
    Correct,
    Wrong,
    Error,
    Unscored,
    Skipped,
}

impl SampleStanding {
    pub(super) fn of(record: &Record) -> Self {
        match record.result.status {
            Status::Scored if record.result.is_correct() => Self::Correct,
            Status::Scored => Self::Wrong,
            Status::Unscored => Self::Unscored,
            Status::Skipped => Self::Skipped,
            Status::AgentFailed | Status::TimedOut | Status::ScorerFailed => Self::Error,
        }
    }

    /// The place of the word in `WORDS` of the script.
    pub(super) fn number(self) -> u8 {
        self as u8
    }
}

/// A sample in a few words.
#[derive(Clone, Debug)]
pub(super) struct NotedSample {
    pub(super) id: String,
    pub(super) epoch: u32,
    pub(super) standing: SampleStanding,
    pub(super) question: String,
    pub(super) said: String,
    pub(super) truth: String,
    /// The reason of the scorer, or the kind of the error.
    pub(super) why: String,
}

impl NotedSample {
    fn of(record: &Record) -> Self {
        let outcome = &record.result;
        let text = outcome.output.as_ref().and_then(|it| it.text.as_deref());
        let error = outcome.error.as_ref();
        let said = outcome.prediction.as_deref().or(text);
        let said = match error {
            Some(error) if said.is_none() => Some(&*error.message),
            _ => said,
        };
        let question = record.question.as_deref().unwrap_or(&record.prompt);
        let score = outcome.score.as_ref();
        let why = match (error, score) {
            (Some(_), _) if outcome.status == Status::Scored => "no answer".to_owned(),
            (Some(error), _) => kind(error.kind),
            (None, Some(score)) => score.reason.replace('_', " "),
            (None, None) => outcome.status.as_str().replace('_', " "),
        };
        Self {
            id: record.sample_id.clone(),
            epoch: record.epoch,
            standing: SampleStanding::of(record),
            question: first_of(question),
            said: first_of(said.unwrap_or_default()),
            truth: first_of(&plain(&record.ground_truth)),
            why,
        }
    }
}

/// The word that files have for the kind of an error, with spaces.
pub(super) fn kind(kind: impl serde::Serialize) -> String {
    let word = serde_json::to_value(kind).ok();
    let word = word.and_then(|word| word.as_str().map(|word| word.replace('_', " ")));
    word.unwrap_or_default()
}

/// A value as people read it.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The beginning of a text, more of it than is shown.
fn first_of(text: &str) -> String {
    text.trim_start().chars().take(CHARS).collect()
}

/// What is noted of the samples of a run.
#[derive(Debug, Default)]
pub(super) struct NotedSamples {
    /// The first of those that are wrong or have an error.
    pub(super) failing: Vec<NotedSample>,
    /// How many there are.
    pub(super) all_failing: u64,
    /// Answers that flipped since the baseline, by id; of several epochs the first that stands on the new side.
    flipped: HashMap<String, NotedSample>,
    /// Seconds of each answer that was asked for.
    pub(super) latencies: Vec<f64>,
}

impl NotedSamples {
    /// With what went wrong, by what it has in common.
    pub(super) fn of(run: &ReportedRun) -> Result<(Self, GroupedFailures)> {
        let flips = shown_flips(run);
        let mut noted = Self::default();
        let mut groups = FailureGroups::new(run.summary.scorer.as_deref());
        for record in run.records()? {
            let record = record?;
            noted.add(&record, &flips);
            groups.add(&record);
        }
        Ok((noted, groups.finish()))
    }

    fn add(&mut self, record: &Record, flips: &HashMap<&str, bool>) {
        let standing = SampleStanding::of(record);
        let is_failing = matches!(standing, SampleStanding::Wrong | SampleStanding::Error);
        if is_failing {
            self.all_failing += 1;
            if self.failing.len() < MOST_FAILING {
                self.failing.push(NotedSample::of(record));
            }
        }
        if let Some(worse) = flips.get(&*record.sample_id) {
            let is_side = (standing == SampleStanding::Wrong) == *worse;
            let known = self.flipped.contains_key(&record.sample_id);
            if is_side && !known {
                let id = record.sample_id.clone();
                self.flipped.insert(id, NotedSample::of(record));
            }
        }
        let outcome = &record.result;
        let is_asked = outcome.attempts > 0 && !outcome.cached;
        if is_asked && outcome.error.is_none() {
            self.latencies.push(outcome.latency_s);
        }
    }

    /// What is known of a sample that flipped.
    pub(super) fn flip(&self, id: &str) -> Option<&NotedSample> {
        self.flipped.get(id)
    }
}

/// The flips that a page shows without scripts, and whether they became wrong.
fn shown_flips(run: &ReportedRun) -> HashMap<&str, bool> {
    let Some(change) = &run.summary.change else {
        return HashMap::new();
    };
    let worse = change.became_wrong.iter().take(MOST_FLIPPED);
    let better = change.became_correct.iter().take(MOST_FLIPPED);
    let worse = worse.map(|id| (&**id, true));
    worse.chain(better.map(|id| (&**id, false))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Score;

    #[test]
    fn failing_samples_are_counted_beyond_those_that_are_kept() {
        let mut noted = NotedSamples::default();
        for number in 0..150u32 {
            let mut record = Record::scored(format!("q{number}"), Score::binary(number % 2 == 0));
            record.ground_truth = 7.into();
            noted.add(&record, &HashMap::new());
        }
        assert_eq!((noted.failing.len(), noted.all_failing), (75, 75));
        assert_eq!(
            (&*noted.failing[0].truth, &*noted.failing[0].why),
            ("7", "mismatch")
        );
        assert_eq!(noted.latencies.len(), 150);
    }
}
