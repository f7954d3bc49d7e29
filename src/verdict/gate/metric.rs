//! `Metric`: what a gate or an alert is about, by its name in the table of metrics; `Op`: how it is compared.

use std::fmt;

use super::{Gate, LevelStep};
use crate::error::{Error, Result};

// The names that code looks for; the table, `verdict::metric::METRICS`, has all of them.
pub(crate) const ACCURACY: &str = "accuracy";
pub(crate) const ERROR_RATE: &str = "error_rate";
pub(crate) const FAILURE_RATE: &str = "failure_rate";
pub(crate) const MIN_SAMPLES: &str = "min_samples";
pub(crate) const MEAN: &str = "mean";
pub(crate) const CORRECTED: &str = "corrected";
/// An aggregate of the benchmark's own.
pub(crate) const RATE: &str = "rate";
pub(crate) const OWN: &str = "metric";
pub(crate) const MACRO_F1: &str = "macro_f1";
pub(crate) const PASS_AT: &str = "pass@";
pub(crate) const PASS_HAT: &str = "pass^";
pub(crate) const MAJORITY: &str = "majority";
pub(crate) const LATENCY_PERCENTILE: &str = "latency_p";
pub(crate) const LATENCY_MAX: &str = "latency_max";
pub(crate) const DIFFICULTY_DROP: &str = "difficulty_drop";
/// The drop of accuracy by a kind of perturbation.
pub(crate) const DROP: &str = "drop";
pub(crate) const REVIEWED: &str = "reviewed.";
pub(crate) const NO_REGRESSION: &str = "no_regression";
pub(crate) const NO_INCREASE: &str = "no_increase";
pub(crate) const NO_DECREASE: &str = "no_decrease";
pub(crate) const NO_CHANGE: &str = "no_change";

/// A metric of the table, with what a gate or an alert says of it: `latency_p95`, `accuracy(SCORER)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    /// The name in the table, or how it begins: `accuracy`, `latency_p`, `pass@`.
    pub(crate) name: &'static str,
    /// The rest of the name.
    pub(crate) suffix: Suffix,
    /// What stands in parentheses: a scorer, a detail, two levels.
    pub(crate) argument: Option<String>,
}

/// How a name ends that the table has only the beginning of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Suffix {
    /// The table has all of it.
    None,
    /// Of `latency_p95`, 0 to 100.
    Percent(f64),
    /// Of `pass@3`.
    Count(u32),
    /// Of `reviewed.approved`.
    Word(String),
}

impl Metric {
    /// One that is a name and nothing else.
    pub(crate) fn plain(name: &'static str) -> Self {
        Self::of(name, None)
    }

    /// One with something in parentheses.
    pub(crate) fn of(name: &'static str, argument: Option<String>) -> Self {
        Self {
            name,
            suffix: Suffix::None,
            argument,
        }
    }

    /// `pass@3` and `pass^3`.
    pub(crate) fn of_answers(name: &'static str, count: u32, scorer: Option<String>) -> Self {
        Self {
            suffix: Suffix::Count(count),
            ..Self::of(name, scorer)
        }
    }

    /// `latency_p95`; the 100th percentile has a name of its own.
    pub(crate) fn latency_percentile(percent: f64) -> Self {
        if percent.total_cmp(&100.0).is_eq() {
            return Self::plain(LATENCY_MAX);
        }
        Self {
            suffix: Suffix::Percent(percent),
            ..Self::plain(LATENCY_PERCENTILE)
        }
    }

    /// `reviewed.approved`.
    pub(crate) fn reviewed(figure: String) -> Self {
        Self {
            suffix: Suffix::Word(figure),
            ..Self::plain(REVIEWED)
        }
    }

    /// Whether it is the one of this name in the table.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// What stands in parentheses, or nothing.
    pub(crate) fn argument(&self) -> &str {
        self.argument.as_deref().unwrap_or_default()
    }

    /// How many epochs it needs.
    pub(crate) fn epochs(&self) -> u32 {
        match self.suffix {
            Suffix::Count(count) => count,
            _ => 1,
        }
    }

    /// The levels that it names.
    pub(crate) fn levels(&self) -> Option<LevelStep> {
        LevelStep::parse(self.argument.as_deref()?).ok()
    }
}

impl Gate {
    /// What the gate measures, in words: `accuracy[level=1]`, `error rate`, `cost`.
    pub(crate) fn label(&self) -> String {
        let metric = self.metric.to_string();
        let metric = match (self.metric.name, &self.metric.suffix) {
            _ if self.metric.argument.is_some() => metric,
            (_, Suffix::Word(_)) => metric,
            ("cost_usd", _) => "cost".to_owned(),
            (MIN_SAMPLES, _) => "scored samples".to_owned(),
            (MACRO_F1, _) => "macro-F1".to_owned(),
            _ => metric.replace('_', " "),
        };
        format!("{metric}{}", self.brackets())
    }
}

/// As it is written.
impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match &self.suffix {
            Suffix::None => Ok(()),
            Suffix::Percent(percent) => write!(f, "{percent}"),
            Suffix::Count(count) => write!(f, "{count}"),
            Suffix::Word(word) => f.write_str(word),
        }?;
        match &self.argument {
            Some(argument) => write!(f, "({argument})"),
            None => Ok(()),
        }
    }
}

/// How a metric is compared with the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

impl Op {
    /// Whether `value` meets the threshold.
    pub(crate) fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::AtLeast => value >= threshold,
            Self::Above => value > threshold,
            Self::AtMost => value <= threshold,
            Self::Below => value < threshold,
        }
    }

    /// The operator with which a text begins, and what stands behind it; `None` of an empty text.
    pub(crate) fn first(text: &str) -> Result<Option<(Self, &str)>> {
        if text.is_empty() {
            return Ok(None);
        }
        // The longer ones first.
        let ops = [Self::AtLeast, Self::AtMost, Self::Above, Self::Below];
        let found = ops
            .iter()
            .find_map(|op| Some((*op, text.strip_prefix(op.as_str())?.trim())));
        match found {
            Some((_, "")) => Err(Error::usage("no number after the operator")),
            Some(found) => Ok(Some(found)),
            None => Err(
                Error::usage(format!("`{text}` does not start with an operator"))
                    .hint("the operators are `>=`, `>`, `<=` and `<`"),
            ),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
