//! `TrendMark`: what is different from the run before.

use serde::Serialize;

use crate::data::history::HistoryLine;

/// What is different from the run before of the same tier, or worth knowing of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "mark", rename_all = "snake_case")]
pub enum TrendMark {
    /// Other samples, or the same ones asked otherwise: another line.
    Dataset,
    /// Judged by other rules: another line.
    Scorer,
    /// Another agent, by what it says of itself.
    Agent,
    /// Another prompt around the questions.
    Prompt {
        /// The one before.
        before: Option<String>,
        /// The one from here on.
        after: Option<String>,
    },
    /// Endpoints served another model.
    Model {
        /// Those before.
        before: Vec<String>,
        /// Those from here on.
        after: Vec<String>,
    },
    /// Another model judged.
    Judge,
    /// From here on the accuracy has another level.
    Level {
        /// The mean accuracy before.
        before: f64,
        /// And from here on.
        after: f64,
        /// How likely a change as clean would be, had nothing changed.
        p: f64,
    },
    /// Gates that did not pass.
    Gates {
        /// So many failed.
        failed: usize,
        /// So many could not be decided.
        inconclusive: usize,
    },
    /// All answers were given before.
    Cached,
    /// The checked out files were not those of the commit.
    Dirty,
}

impl TrendMark {
    /// Whether figures before it cannot be compared with those behind it.
    pub fn begins_a_line(&self) -> bool {
        matches!(self, Self::Dataset | Self::Scorer)
    }

    /// Whether it is about what is watched: who answers.
    pub fn is_of_the_agent(&self) -> bool {
        matches!(self, Self::Agent | Self::Prompt { .. } | Self::Model { .. })
    }
}

/// What is different between two runs. What one of them does not know is no difference.
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

/// What is worth knowing of a run by itself.
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
