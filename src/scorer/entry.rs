//! `Entry`: describes a built-in scorer and how to make it.

use std::sync::Arc;

use crate::data::{Output, Score, Target};
use crate::error::Result;
use crate::scorer::{Answer, OptionReader, Scorer};

/// How to choose a scorer, and how each differs from the official GAIA rule, in Markdown.
pub const GUIDE: &str = include_str!("guide.md");

/// A built-in scorer, as listed by `cargo evaltest scorers`.
#[derive(Debug)]
pub struct Entry {
    /// The name in specs.
    pub name: &'static str,
    /// The rule in one line.
    pub summary: &'static str,
    /// The whole rule, in Markdown: meaning, range, what `correct` and `reason` mean, details, limits.
    pub rule: &'static str,
    /// The options, each with its meaning and default.
    pub options: &'static [(&'static str, &'static str)],
    /// Examples of the rule.
    pub examples: &'static [Example],
    /// Makes the scorer.
    pub(crate) make: fn(&OptionReader<'_>) -> Result<Arc<dyn Scorer>>,
}

/// A complete, minimal spec that demonstrates a scorer. A test runs every one.
#[derive(Clone, Debug)]
pub struct SmallSpec {
    /// What it demonstrates.
    pub name: &'static str,
    /// When to choose it.
    pub summary: &'static str,
    /// The spec, in YAML.
    pub text: String,
    /// A file used by the spec: its path relative to the spec's folder, and its content.
    pub file: Option<(&'static str, &'static str)>,
}

/// A pair of prediction and ground truth with its verdict. A test checks every one.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The options as YAML; empty for none.
    pub options: &'static str,
    /// The agent's answer.
    pub prediction: &'static str,
    /// The ground truth, as JSON or as plain text.
    pub ground_truth: &'static str,
    /// The verdict.
    pub correct: bool,
    /// What the example shows.
    pub note: &'static str,
}

impl Example {
    /// The ground truth.
    pub fn target(&self) -> Target {
        let text = self.ground_truth;
        let value = text
            .starts_with(['[', '{'])
            .then(|| serde_json::from_str(text).ok());
        Target(value.flatten().unwrap_or_else(|| text.into()))
    }

    /// Scores this pair, including the scorer's own extraction, like `score` does.
    pub fn judge(&self, scorer: &dyn Scorer) -> Result<Score> {
        let extract = scorer.extract().unwrap_or_default();
        let prediction = extract.apply(self.prediction);
        let target = self.target();
        let output = Output::text(self.prediction);
        scorer.score(&Answer {
            prediction: prediction.as_deref(),
            ..Answer::new(self.prediction, &target).output(&output)
        })
    }
}
