//! What the header of a log counts, of records one after the other.

use std::collections::BTreeMap;

use crate::data::{Record, Usage};
use crate::report::export::scores::{number_of, verdicts};
use crate::store::Manifest;

/// The counts of a log.
pub(super) struct LogTally {
    /// The ids of the samples, in order.
    pub(super) ids: Vec<String>,
    /// Answers and failures.
    pub(super) total: u64,
    /// Those without an error.
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
    /// Samples that it has a verdict of, in any epoch.
    pub(super) scored_samples: u64,
    /// Samples that were answered, and of which it has none.
    pub(super) unscored_samples: u64,
    /// What is known of the sample whose epochs are coming.
    open: OpenSample,
}

#[derive(Default)]
struct OpenSample {
    is_scored: bool,
    is_answered: bool,
}

/// Tokens and cost, of all answers together or of one.
#[derive(Clone, Copy, Default)]
pub(super) struct LogUsage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost_usd: Option<f64>,
    pub(super) is_told: bool,
}

impl LogUsage {
    pub(super) fn add(&mut self, usage: &Usage) {
        self.is_told = true;
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

    /// Adds a record; those of a sample come one after the other.
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
        let told: BTreeMap<_, _> = verdicts(record, &self.names)
            .into_iter()
            .filter_map(|verdict| Some((verdict.name, verdict.score?)))
            .collect();
        for scorer in &mut self.scorers {
            scorer.open.is_answered |= is_answered;
            // An error has no score here, also where a scorer other than the first gave one.
            let score = told.get(scorer.name.as_str()).filter(|_| is_answered);
            if let Some(score) = score {
                scorer.open.is_scored = true;
                scorer.scored += 1;
                scorer.correct += u64::from(score.correct);
                scorer.sum += number_of(score);
            }
        }
    }

    /// All records were added.
    pub(super) fn close(&mut self) {
        self.scorers.iter_mut().for_each(ScorerTally::close);
    }
}
