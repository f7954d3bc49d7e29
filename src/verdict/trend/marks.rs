//! `TrendMark`: what differs from the previous run.

use serde::Serialize;

use crate::data::history::HistoryLine;

/// What differs from the previous run of the same tier, or is notable about the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "mark", rename_all = "snake_case")]
pub enum TrendMark {
    /// Other samples or questions: another line.
    Dataset,
    /// Another scorer: another line.
    Scorer,
    /// Another agent, by its own description.
    Agent,
    /// Another prompt around the questions.
    Prompt {
        /// The previous prompt.
        before: Option<String>,
        /// The new prompt.
        after: Option<String>,
    },
    /// Endpoints served other models.
    Model {
        /// The previous models.
        before: Vec<String>,
        /// The new models.
        after: Vec<String>,
    },
    /// Another model judged.
    Judge,
    /// A change point of the accuracy.
    Level {
        /// The mean accuracy before.
        before: f64,
        /// The mean accuracy from here on.
        after: f64,
        /// The probability of a change as clean as this one if nothing changed.
        p: f64,
    },
    /// Gates that did not pass.
    Gates {
        /// The number of failed gates.
        failed: usize,
        /// The number of undecided gates.
        inconclusive: usize,
    },
    /// All answers came from the cache.
    Cached,
    /// The working tree had uncommitted changes.
    Dirty,
}

impl TrendMark {
    /// Whether figures before and after it are not comparable.
    pub fn begins_a_line(&self) -> bool {
        matches!(self, Self::Dataset | Self::Scorer)
    }

    /// Whether it is about the agent, which is what is monitored.
    pub fn is_of_the_agent(&self) -> bool {
        matches!(self, Self::Agent | Self::Prompt { .. } | Self::Model { .. })
    }
}

/// The differences between two runs. Unknown values are not differences.
pub(super) fn between(before: &HistoryLine, after: &HistoryLine) -> Vec<TrendMark> {
    let mut marks = Vec::new();
    if before.dataset_hash != after.dataset_hash {
        marks.push(TrendMark::Dataset);
    }
    if before.scorer_hash != after.scorer_hash {
        marks.push(TrendMark::Scorer);
    }
    if let (Some(one), Some(other)) = (&before.agent_hash, &after.agent_hash)
        && one != other
    {
        marks.push(TrendMark::Agent);
    }
    if before.prompt != after.prompt {
        marks.push(TrendMark::Prompt {
            before: before.prompt.clone(),
            after: after.prompt.clone(),
        });
    }
    let sorted = |models: &[String]| {
        let mut models = models.to_vec();
        models.sort();
        models
    };
    let (one, other) = (sorted(&before.served_models), sorted(&after.served_models));
    if !one.is_empty() && !other.is_empty() && one != other {
        marks.push(TrendMark::Model {
            before: one,
            after: other,
        });
    }
    let judged = [before, after].map(|line| &line.judge_models);
    if judged.iter().all(|models| !models.is_empty()) && judged[0] != judged[1] {
        marks.push(TrendMark::Judge);
    }
    marks
}

/// What is notable about a run by itself.
pub(super) fn by_itself(run: &HistoryLine) -> Vec<TrendMark> {
    let mut marks = Vec::new();
    let count = |verdict: &str| {
        let gates = run.gates.iter();
        gates.filter(|gate| gate.verdict == verdict).count()
    };
    let (failed, inconclusive) = (count("failed"), count("inconclusive"));
    if failed + inconclusive > 0 {
        marks.push(TrendMark::Gates {
            failed,
            inconclusive,
        });
    }
    if run.samples > 0 && run.cached >= run.samples {
        marks.push(TrendMark::Cached);
    }
    if run.dirty == Some(true) {
        marks.push(TrendMark::Dirty);
    }
    marks
}
