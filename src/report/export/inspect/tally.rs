//! Statistics for a log's header, from a stream of records.

use std::collections::BTreeMap;

use crate::data::{Record, Usage};
use crate::report::export::scores::{number_of, verdicts};
use crate::store::Manifest;

/// The counts of a log.
pub(super) struct LogTally {
    /// The ids of the samples, in order.
    pub(super) ids: Vec<String>,
    /// Answers and errors.
    pub(super) total: u64,
    /// Answers without an error.
    pub(super) completed: u64,
    /// By scorer.
    pub(super) scorers: Vec<ScorerTally>,
    /// Tokens and cost.
    pub(super) usage: LogUsage,
    names: Vec<String>,
}

/// The counts of a scorer.
#[derive(Default)]
pub(super) struct ScorerTally {
    pub(super) name: String,
    pub(super) scored: u64,
    pub(super) correct: u64,
    sum: f64,
    /// Samples with a verdict of it in any epoch.
    pub(super) scored_samples: u64,
    /// Answered samples without a verdict of it.
    pub(super) unscored_samples: u64,
    /// State of the current sample, whose epochs follow each other.
    open: OpenSample,
}

#[derive(Default)]
struct OpenSample {
    is_scored: bool,
    is_answered: bool,
}

/// Tokens and cost of one answer or of all.
#[derive(Clone, Copy, Default)]
pub(super) struct LogUsage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost_usd: Option<f64>,
    pub(super) is_known: bool,
}

impl LogUsage {
    pub(super) fn add(&mut self, usage: &Usage) {
        self.is_known = true;
        self.input_tokens += usage.input_tokens.unwrap_or_default();
        self.output_tokens += usage.output_tokens.unwrap_or_default();
        if let Some(cost) = usage.cost_usd {
            *self.cost_usd.get_or_insert_default() += cost;
        }
    }
}

impl ScorerTally {
    /// The mean of the values.
    pub(super) fn mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a number of answers")]
        let scored = self.scored as f64;
        (self.scored > 0).then(|| self.sum / scored)
    }

    /// The share of correct answers.
    pub(super) fn accuracy(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "numbers of answers")]
        let (correct, scored) = (self.correct as f64, self.scored as f64);
        (self.scored > 0).then(|| correct / scored)
    }

    fn close(&mut self) {
        let OpenSample {
            is_scored,
            is_answered,
        } = std::mem::take(&mut self.open);
        self.scored_samples += u64::from(is_scored);
        self.unscored_samples += u64::from(is_answered && !is_scored);
    }
}

impl LogTally {
    pub(super) fn of(manifest: &Manifest) -> Self {
        let scorer = |name: &String| ScorerTally {
            name: name.clone(),
            ..ScorerTally::default()
        };
        Self {
            ids: Vec::new(),
            total: 0,
            completed: 0,
            scorers: manifest.scorers.iter().map(scorer).collect(),
            usage: LogUsage::default(),
            names: manifest.scorers.clone(),
        }
    }

    /// Adds a record; the epochs of a sample must follow each other.
    pub(super) fn add(&mut self, record: &Record) {
        if self.ids.last() != Some(&record.sample_id) {
            self.scorers.iter_mut().for_each(ScorerTally::close);
            self.ids.push(record.sample_id.clone());
        }
        let result = &record.result;
        let is_answered = !result.status.is_error();
        self.total += 1;
        self.completed += u64::from(is_answered);
        if let Some(usage) = &result.usage {
            self.usage.add(usage);
        }
        let found: BTreeMap<_, _> = verdicts(record, &self.names)
            .into_iter()
            .filter_map(|verdict| Some((verdict.name, verdict.score?)))
            .collect();
        for scorer in &mut self.scorers {
            scorer.open.is_answered |= is_answered;
            // An errored sample has no score in a log, even if a secondary scorer gave one.
            let score = found.get(scorer.name.as_str()).filter(|_| is_answered);
            if let Some(score) = score {
                scorer.open.is_scored = true;
                scorer.scored += 1;
                scorer.correct += u64::from(score.correct);
                scorer.sum += number_of(score);
            }
        }
    }

    /// Finishes after the last record.
    pub(super) fn close(&mut self) {
        self.scorers.iter_mut().for_each(ScorerTally::close);
    }
}
