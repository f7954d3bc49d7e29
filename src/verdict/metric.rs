//! The metrics of gates, alerts, flows and tiers: one [entry](MetricEntry) each in the [table](METRICS).
//!
//! A text names a [`Metric`]; its entry says what its numbers are, which way is better, and how it is read from the figures of
//! a run and from a line of a history. A new metric is a new entry in `metric/table.rs`.

mod corrected;
mod figures;
mod legal;
mod levels;
mod line;
mod mean;
mod measured;
mod open;
mod own;
mod parse;
mod reviewed;
mod steps;
mod table;

use std::fmt;

pub(super) use figures::Figures;
pub(crate) use line::SlicedMetric;
pub(crate) use mean::KnownMeans;
pub(super) use mean::LISTED;
pub(super) use measured::{Measured, UpperEnds, show};
pub(crate) use own::BOUNDS;
pub(super) use own::names as own_names;
pub use table::{GATE_OPTIONS, METRICS};

use crate::data::history::{HistoryLine, HistorySlice};
use crate::verdict::gate::{ACCURACY, Gate, Metric, Op, Suffix};

/// A metric that gates and alerts can name.
#[derive(Debug)]
#[non_exhaustive]
pub struct MetricEntry {
    /// Its name, or how that begins: `latency_p`.
    pub(crate) name: &'static str,
    /// Another name that is read.
    pub(crate) alias: Option<&'static str>,
    /// What else a text says of it.
    pub(crate) takes: Takes,
    /// How it is written, for people.
    pub forms: &'static [MetricForm],
    /// What its numbers are.
    pub unit: Unit,
    /// Whether less of it is better.
    pub(crate) less_is_better: bool,
    /// What it is made of.
    pub(crate) basis: Basis,
    /// What to write instead of a slice, where it is of the whole run alone.
    pub(crate) whole_run: Option<&'static str>,
    /// Whether a gate on it looks at single samples, not only at the summary.
    pub(crate) needs_samples: bool,
    /// Who may name it.
    pub(crate) used_by: UsedBy,
    /// How a gate reads it from the figures of a run or of a slice.
    measure: Measure,
    /// How it is read from a line of a history. Where a line has it only as the value of a gate, that is read.
    line: Option<fn(&HistoryLine, &Metric) -> Option<f64>>,
    /// The same from a slice of a line.
    slice: Option<fn(&HistorySlice) -> Option<f64>>,
}

/// How a gate reads a metric, or why there is none.
type Measure = fn(&Figures<'_>, &Gate) -> Result<Measured, String>;

/// A way to write a metric.
#[derive(Debug)]
#[non_exhaustive]
pub struct MetricForm {
    /// Such as `accuracy(SCORER)`.
    pub form: &'static str,
    /// What it measures.
    pub meaning: &'static str,
    /// A gate on it.
    pub example: &'static str,
}

/// What a text says of a metric besides its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Takes {
    Nothing,
    /// A scorer in parentheses, if any.
    Scorer,
    /// A name in parentheses, with what to write where there is none.
    Name(&'static str),
    /// Two levels in parentheses, if any: `1->2`.
    Levels,
    /// A number at the end of the name, 0 to 100.
    Percent,
    /// A number of answers at the end of the name, and a scorer in parentheses, if any.
    Answers,
    /// One of these words at the end of the name, or any.
    Word(&'static [&'static str]),
    /// The threshold itself, as `min_samples(30)`.
    Threshold,
    /// Options in parentheses, and no threshold.
    Options,
}

/// What the numbers of a metric are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Between 0 and 1, also written as percent.
    Share,
    /// A whole number.
    Count,
    /// Seconds.
    Seconds,
    /// US dollars.
    Usd,
    /// No number below 0, in these words.
    Amount(&'static str),
    /// Any number, in these words.
    Any(&'static str),
    /// A share that is lost, which may be below 0.
    Drop,
}

/// What a metric is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Of a scorer's verdicts: an answer without one leaves it open.
    Verdicts,
    /// Of all answers, also of those to come.
    Answers,
    /// A sum, which only grows.
    Sum,
    /// Of what there is so far: samples to come may change it at will.
    SoFar,
}

/// Who may name a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsedBy {
    Both,
    Gates,
    Alerts,
}

impl MetricEntry {
    /// Whether gates may name it.
    pub fn is_of_gates(&self) -> bool {
        self.is_for(UsedBy::Gates)
    }

    pub(crate) fn is_for(&self, user: UsedBy) -> bool {
        self.used_by == UsedBy::Both || self.used_by == user
    }

    /// Whether an alert may name it with a slice: a history has accuracies by slice, and what gates measure.
    pub(crate) fn has_slices_in_history(&self) -> bool {
        self.whole_run.is_none() && (self.slice.is_some() || self.line.is_none())
    }
}

impl Unit {
    /// The least and the most that there is.
    pub(crate) fn range(self) -> [f64; 2] {
        let least = match self {
            Self::Any(_) | Self::Drop => f64::NEG_INFINITY,
            _ => 0.0,
        };
        let most = match self {
            Self::Share | Self::Drop => 1.0,
            _ => f64::INFINITY,
        };
        [least, most]
    }

    /// Whether a threshold may be written in percent.
    pub(crate) fn takes_percent(self) -> bool {
        matches!(self, Self::Share | Self::Any(_) | Self::Drop)
    }
}

/// In words.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Share => "share",
            Self::Count => "count",
            Self::Seconds => "seconds",
            Self::Usd => "US dollars",
            Self::Amount(words) | Self::Any(words) => words,
            Self::Drop => "share of the easier level's accuracy",
        })
    }
}

impl Metric {
    /// Its entry in the table.
    pub(crate) fn entry(&self) -> &'static MetricEntry {
        let is_meant = |entry: &&MetricEntry| {
            entry.name == self.name
                && match (entry.takes, &self.suffix) {
                    (Takes::Word(words), Suffix::Word(word)) => {
                        words.is_empty() || words.contains(&&**word)
                    }
                    _ => true,
                }
        };
        METRICS.iter().find(is_meant).unwrap_or(table::UNKNOWN)
    }

    /// The scorer that it names.
    pub(crate) fn scorer(&self) -> Option<&str> {
        let names_one = matches!(self.entry().takes, Takes::Scorer | Takes::Answers);
        self.argument.as_deref().filter(|_| names_one)
    }

    /// Whether it is made of a scorer's verdicts, so that an answer without one leaves it open.
    pub(crate) fn is_of_verdicts(&self) -> bool {
        self.entry().basis == Basis::Verdicts
    }

    /// Whether a gate on it that failed stays so, whatever comes of samples that were not asked yet.
    pub(crate) fn counts_unasked(&self) -> bool {
        self.entry().basis != Basis::SoFar
    }

    /// What is wrong with it, whatever it is compared with.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self.suffix {
            Suffix::Percent(percent) if !(0.0..=100.0).contains(&percent) => {
                Some("a percentile lies between 0 and 100")
            }
            _ => None,
        }
    }
}

impl Gate {
    /// Whether the gate looks at single samples, not only at the summary.
    pub(crate) fn needs_samples(&self) -> bool {
        self.metric.entry().needs_samples
    }

    /// Whether it looks at more than the verdicts on them.
    pub(crate) fn needs_each_sample(&self) -> bool {
        self.needs_samples() && self.metric != Metric::plain(ACCURACY)
    }

    /// Whether what it is about only grows while the run goes on, and is too much if it is now.
    pub(crate) fn only_grows(&self) -> bool {
        let is_sum = self.metric.entry().basis == Basis::Sum;
        is_sum && matches!(self.bound, Some((Op::AtMost | Op::Below, _)))
    }
}
