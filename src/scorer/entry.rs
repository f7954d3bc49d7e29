//! `Entry`: what is told of a built-in scorer, and how it is made.

use std::sync::Arc;

use crate::data::{Output, Score, Target};
use crate::error::Result;
use crate::scorer::{Answer, OptionReader, Scorer};

/// Which scorer to choose, and how each departs from the official GAIA rule, in Markdown.
pub const GUIDE: &str = include_str!("guide.md");

/// A built-in scorer, as `cargo evaltest scorers` tells of it.
#[derive(Debug)]
pub struct Entry {
    /// The name in specs.
    pub name: &'static str,
    /// The rule in a line.
    pub summary: &'static str,
    /// The whole rule, in Markdown: meaning, range, what `correct` and `reason` mean, details, limits.
    pub rule: &'static str,
    /// The options, each with its meaning and default.
    pub options: &'static [(&'static str, &'static str)],
    /// Pairs that show the rule.
    pub examples: &'static [Example],
    /// Makes the scorer.
    pub(crate) make: fn(&OptionReader<'_>) -> Result<Arc<dyn Scorer>>,
}

/// A whole spec that shows a scorer at work, as small as it can be. A test runs every one.
#[derive(Clone, Debug)]
pub struct SmallSpec {
    /// What it shows.
    pub name: &'static str,
    /// When to choose that.
    pub summary: &'static str,
    /// The spec, in YAML.
    pub text: String,
    /// A file that it names, by a path from its folder, and the text of that.
    pub file: Option<(&'static str, &'static str)>,
}

/// A pair that shows a rule. A test holds every one of them true.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The options, in YAML; empty for none.
    pub options: &'static str,
    /// What the agent said.
    pub prediction: &'static str,
    /// The ground truth, in JSON or as a bare text.
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

    /// The verdict of a scorer on this pair, its own extraction included, as `score` gives it.
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
