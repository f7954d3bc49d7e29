//! The metrics of gates, alerts, flows and tiers: one [entry](MetricEntry) each in the [table](METRICS).
//!
//! The text of a gate or an alert names a [`Metric`]. Its entry has its unit, its direction, and how it is read from
//! the figures of a run and from a line of a history. A new metric is a new entry in `metric/table.rs`.

mod conversations;
mod figures;
mod legal;
mod levels;
mod mean;
mod open;
mod options;
mod own;
mod parse;
mod reviewed;
mod table;
mod unit;

use std::fmt;

use crate::data::history::{HistoryLine, HistorySlice};
use crate::error::{Error, Result};
use crate::figure::{Interval, Percent, Value};
use crate::stats;
use crate::verdict::gate::{ACCURACY, Gate, Metric, Op, Slice, Suffix};
use crate::verdict::judged::calibrated::{RunCorrection, no_labels};
use crate::verdict::judged::calibration::CorrectedFigure;
use crate::verdict::judged::items::{CORRECT, VALUE};
use crate::verdict::summary::StepFigures;
use mean::Found;

pub(super) use figures::Figures;
pub(crate) use mean::KnownMeans;
pub(super) use mean::LISTED;
pub use options::GATE_OPTIONS;
pub(crate) use own::BOUNDS;
pub(super) use own::names as own_names;
pub use table::METRICS;
pub(super) use unit::show;

/// A metric that gates and alerts can name.
#[derive(Debug)]
#[non_exhaustive]
pub struct MetricEntry {
    /// The name, or its prefix: `latency_p`.
    pub(crate) name: &'static str,
    /// Another accepted name.
    pub(crate) alias: Option<&'static str>,
    /// The argument of the name.
    pub(crate) takes: Takes,
    /// Its forms, for help and error messages.
    pub forms: &'static [MetricForm],
    /// The unit of its value and of thresholds.
    pub unit: Unit,
    /// Whether lower values are better.
    pub(crate) less_is_better: bool,
    /// What it is computed from.
    pub(crate) basis: Basis,
    /// The hint for a gate with a slice, if only the whole run has the metric.
    pub(crate) whole_run: Option<&'static str>,
    /// Whether evaluating it needs the single samples, not only the summary.
    pub(crate) needs_samples: bool,
    /// Whether gates, alerts or both may use it.
    pub(crate) used_by: UsedBy,
    /// Reads it from the figures of a run or a slice.
    measure: Measure,
    /// Reads it from a line of a history; if absent, the value of a gate on the same metric in that line is used.
    line: Option<fn(&HistoryLine, &Metric) -> Option<f64>>,
    /// The same from a slice of a line.
    slice: Option<fn(&HistorySlice) -> Option<f64>>,
}

/// Reads a metric; the error is the reason that there is none.
type Measure = fn(&Figures<'_>, &Gate) -> Result<Measured, String>;

/// A form of a metric in a gate.
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

/// The argument of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Takes {
    Nothing,
    /// A scorer in parentheses, if any.
    Scorer,
    /// A name in parentheses; the text is the hint if it is missing.
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

/// The unit of a metric.
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
    /// A number from 0, described by these words.
    Amount(&'static str),
    /// Any number, described by these words.
    Any(&'static str),
    /// The share by which a figure dropped; may be negative.
    Drop,
}

/// What a metric is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A scorer's verdicts: an answer without a verdict leaves it undecided.
    Verdicts,
    /// All answers, including those still to come.
    Answers,
    /// A sum that only grows.
    Sum,
    /// The answers so far: further samples may change it in either direction.
    SoFar,
}

/// Whether gates, alerts or both may use a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsedBy {
    Both,
    Gates,
    Alerts,
}

impl MetricEntry {
    /// Whether gates may use it.
    pub fn is_of_gates(&self) -> bool {
        self.is_for(UsedBy::Gates)
    }

    pub(crate) fn is_for(&self, user: UsedBy) -> bool {
        self.used_by == UsedBy::Both || self.used_by == user
    }

    /// Whether an alert may use it with a slice: a history has accuracies by slice and the values of gates.
    pub(crate) fn has_slices_in_history(&self) -> bool {
        self.whole_run.is_none() && (self.slice.is_some() || self.line.is_none())
    }
}

impl Unit {
    /// The smallest and the largest possible value.
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

/// The unit in words.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Share => "share",
            Self::Count => "count",
            Self::Seconds => "seconds",
            Self::Usd => "US dollars",
            Self::Amount(words) | Self::Any(words) => words,
            Self::Drop => "share that is lost",
        })
    }
}

impl Metric {
    /// The entry in the table.
    pub(crate) fn entry(&self) -> &'static MetricEntry {
        let is_match = |entry: &&MetricEntry| {
            entry.name == self.name
                && match (entry.takes, &self.suffix) {
                    (Takes::Word(words), Suffix::Word(word)) => {
                        words.is_empty() || words.contains(&&**word)
                    }
                    _ => true,
                }
        };
        METRICS.iter().find(is_match).unwrap_or(table::UNKNOWN)
    }

    /// The scorer in its argument.
    pub(crate) fn scorer(&self) -> Option<&str> {
        let names_one = matches!(self.entry().takes, Takes::Scorer | Takes::Answers);
        self.argument.as_deref().filter(|_| names_one)
    }

    /// Whether it is computed from a scorer's verdicts, so that an answer without one leaves it undecided.
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
                Some("a percentile must be between 0 and 100")
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

    /// Whether it looks at the latency of each answer.
    pub(crate) fn needs_latencies(&self) -> bool {
        matches!(self.metric.suffix, Suffix::Percent(_))
    }

    /// Whether what it is about only grows while the run goes on, and is too much if it is now.
    pub(crate) fn only_grows(&self) -> bool {
        let is_sum = self.metric.entry().basis == Basis::Sum;
        is_sum && matches!(self.bound, Some((Op::AtMost | Op::Below, _)))
    }
}

/// A value, and what it could be at the extremes had every sample a verdict.
pub(super) struct Measured {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// What it was taken from, for people.
    pub(super) from: String,
}

impl Measured {
    pub(super) fn certain(value: f64, from: String) -> Self {
        Self {
            value,
            low: value,
            high: value,
            from,
        }
    }
}

/// What is known of the upper end of the interval.
pub(super) struct UpperEnds {
    /// With what errored as wrong, and as right.
    pub(super) ends: [f64; 2],
    /// Without what errored.
    pub(super) upper: f64,
    pub(super) confidence: f64,
}

impl UpperEnds {
    /// The upper end of the interval, in words.
    pub(super) fn text(&self, unit: Unit, threshold: f64) -> String {
        format!(
            "upper end of the {} interval {}",
            Percent(self.confidence),
            unit.alongside(self.upper, threshold)
        )
    }
}

impl Figures<'_> {
    /// The mean of steps, or of their ratio to annotated ones: that mean, of how many answers, and the most. A sample without
    /// a verdict may be right, in no step at all or in as many as the longest of the scored answers took: an outage does not
    /// make an agent take more.
    fn steps(
        &self,
        of: fn(StepFigures) -> (Option<f64>, u64, f64),
        what: &str,
    ) -> Result<Measured, String> {
        let none = |why: &str| self.nothing_scored().unwrap_or_else(|| why.to_owned());
        if self.group.correct == 0 {
            return Err(none("no answer is correct"));
        }
        let figures = self.group.steps.ok_or_else(|| {
            none("no answer reports its steps: have the agent reply with `steps` or `messages`")
        })?;
        let (mean, count, most) = of(figures);
        let Some(mean) = mean else {
            return Err(format!("no correct answer reports its {what}"));
        };
        let (seen, more) = (stats::as_f64(count), stats::as_f64(self.unknown()));
        let with = |each: f64| (mean * seen + more * each) / (seen + more);
        let [low, high] = if more > 0.0 {
            [with(0.0), with(most)]
        } else {
            [mean, mean]
        };
        Ok(Measured {
            value: mean,
            low,
            high,
            from: format!(
                "over the {count} of {} correct answers that report it",
                self.group.correct
            ),
        })
    }
}

impl Figures<'_> {
    /// The corrected mean, with items that lack a verdict at the lowest and highest end of the scale.
    fn corrected(&self, name: &str, slice: Option<&Slice>) -> Result<Measured, String> {
        let nothing = |why| self.nothing_scored().unwrap_or(why);
        let found = self.find_corrected(name).map_err(nothing)?;
        let RunCorrection {
            found: corrected,
            missing,
            ..
        } = self.found_corrected(&found, slice)?;
        let by_judge = corrected
            .judge
            .map(|mean| format!(", uncorrected {}", show(mean, corrected.value)));
        let from = format!(
            "by {} labels of {} answers, {}{}",
            corrected.labels,
            corrected.items,
            Interval(corrected.ci95.map(Value)).ci95(),
            by_judge.unwrap_or_default()
        );
        let ends = self.corrected_bounds(&found, &corrected, corrected.value, missing);
        Ok(Measured {
            value: corrected.value,
            low: ends[0],
            high: ends[1],
            from,
        })
    }

    /// The upper ends of its interval, of this confidence.
    pub(super) fn corrected_ends(
        &self,
        name: &str,
        slice: Option<&Slice>,
        confidence: f64,
    ) -> Option<UpperEnds> {
        let found = self.find_corrected(name).ok()?;
        let RunCorrection {
            found: corrected,
            mean,
            missing,
        } = self.found_corrected(&found, slice).ok()?;
        let [_, upper] = mean.bounds(stats::half_width(confidence))?;
        Some(UpperEnds {
            ends: self.corrected_bounds(&found, &corrected, upper, missing),
            upper,
            confidence,
        })
    }

    fn find_corrected(&self, name: &str) -> Result<Found, String> {
        KnownMeans::of(&self.facts.summary, &self.facts.detail_bounds).find_corrected(name)
    }

    fn found_corrected(
        &self,
        found: &Found,
        slice: Option<&Slice>,
    ) -> Result<RunCorrection, String> {
        let scorer = found.scorer.as_deref().or(self.decides());
        let scorer = scorer.unwrap_or_default();
        let judge = self.facts.calibrated.get(scorer);
        let judge = judge.ok_or_else(|| {
            let judges = self.facts.summary.judge.as_ref();
            if judges.is_some_and(|judges| judges.scorers.contains_key(scorer)) {
                no_labels()
            } else {
                format!("scorer `{scorer}` asks no judge")
            }
        })?;
        judge.corrected(&found.detail, slice)
    }

    /// A mean with additional items at the lowest and at the highest value.
    fn corrected_bounds(
        &self,
        found: &Found,
        corrected: &CorrectedFigure,
        mean: f64,
        missing: f64,
    ) -> [f64; 2] {
        if missing <= 0.0 {
            return [mean; 2];
        }
        let is_share = [CORRECT, VALUE].contains(&found.detail.as_str());
        let bounds = match self.bounds(found) {
            None if is_share => [0.0, 1.0],
            // The scale is unknown.
            None => return [f64::NEG_INFINITY, f64::INFINITY],
            Some(bounds) => bounds,
        };
        let seen = stats::as_f64(corrected.items);
        bounds.map(|each| (mean * seen + missing * each) / (seen + missing))
    }
}

/// A metric of a run, or of a slice of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlicedMetric {
    pub(crate) metric: Metric,
    /// `None` is the whole run.
    pub(crate) slice: Option<Slice>,
}

impl SlicedMetric {
    /// # Errors
    /// When there is no such percentile, or the lines of a history do not have it by slice.
    pub(crate) fn new(metric: Metric, slice: Option<Slice>) -> Result<Self> {
        if let Some(fault) = metric.fault() {
            return Err(Error::usage(fault));
        }
        let entry = metric.entry();
        if slice.is_some() {
            if let Some(hint) = entry.whole_run {
                let message = format!("`{metric}` exists only for the whole run");
                return Err(Error::usage(message).hint(hint));
            }
            if !entry.has_slices_in_history() {
                return Err(
                    Error::usage(format!("the history has no `{metric}` by slice"))
                        .hint("it has `accuracy` and `failure_rate`: `accuracy[level=1]`"),
                );
            }
        }
        Ok(Self { metric, slice })
    }

    pub(crate) fn entry(&self) -> &'static MetricEntry {
        self.metric.entry()
    }

    /// What it is in a line, if the line has it: by itself, or as the value of a gate of that run.
    pub(crate) fn in_line(&self, line: &HistoryLine) -> Option<f64> {
        let entry = self.entry();
        let own = match &self.slice {
            // What another scorer says is no member of a line.
            _ if self.metric.scorer().is_some() => None,
            None => entry.line.and_then(|read| read(line, &self.metric)),
            Some(Slice { dimension, value }) => {
                let slice = line.slices.get(dimension).and_then(|of| of.get(value));
                slice.zip(entry.slice).and_then(|(slice, read)| read(slice))
            }
        };
        let value = own.or_else(|| self.measured_by_gate(line));
        value.filter(|value| value.is_finite())
    }

    fn measured_by_gate(&self, line: &HistoryLine) -> Option<f64> {
        let gates = line.gates.iter();
        let mut gates = gates.filter(|gate| gate.gate.starts_with(self.metric.name));
        gates.find_map(|gate| {
            let parsed: Gate = gate.gate.parse().ok()?;
            let parsed = match line.tier {
                Some(_) => parsed,
                None => parsed.without_tiers(),
            };
            let is_same = parsed.metric == self.metric && parsed.slice == self.slice;
            gate.value.filter(|_| is_same)
        })
    }

    /// Why a line has none.
    pub(crate) fn why_missing(&self) -> String {
        let is_of_gates = self.entry().line.is_none() || self.metric.scorer().is_some();
        let why = if is_of_gates {
            ": add a gate on it to the eval, so that the history records it"
        } else {
            ""
        };
        format!("the run has no {self}{why}")
    }

    /// A value of it for people.
    pub(crate) fn show(&self, value: f64) -> String {
        self.entry().unit.written(value)
    }
}

/// As it is written.
impl fmt::Display for SlicedMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.metric)?;
        match &self.slice {
            Some(slice) => write!(f, "[{slice}]"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Record, Status};
    use crate::verdict::facts::Facts;
    use crate::verdict::gate::Gate;
    use crate::verdict::result::Verdict::{Failed, Inconclusive, Passed};
    use crate::verdict::result::{GateResult, Verdict};
    use crate::verdict::summary::Summary;
    use crate::verdict::summary::tests::record;

    fn answer(correct: bool, level: &str, steps: Option<u64>, annotated: Option<u64>) -> Record {
        let mut record = record("a", Status::Scored, correct, level);
        record.result.steps = steps;
        record.annotated_steps = annotated;
        record
    }

    fn checked(gate: &str, records: &[Record]) -> GateResult {
        let gate: Gate = gate.parse().unwrap();
        gate.check(&Facts::of(Summary::of("test", records)))
    }

    #[test]
    fn steps_are_of_right_answers_and_errors_may_take_none_or_the_most() {
        let mut records = vec![
            answer(true, "1", Some(4), Some(2)),
            answer(true, "1", Some(6), Some(6)),
            answer(true, "2", Some(8), None),
            answer(true, "2", None, Some(3)),
            answer(false, "2", Some(30), Some(3)),
        ];
        let check = |records: &[Record], gate: &str, verdict: Verdict, value: Option<f64>| {
            let result = checked(gate, records);
            assert_eq!(
                (result.verdict, result.value),
                (verdict, value),
                "{gate}: {}",
                result.message
            );
            result.message
        };
        let message = check(&records, "steps <= 6", Passed, Some(6.0));
        assert!(
            message.contains("over the 3 of 4 correct answers"),
            "{message}"
        );
        check(&records, "steps < 6", Failed, Some(6.0));
        check(&records, "steps[level=1] <= 5", Passed, Some(5.0));
        check(&records, "steps_ratio <= 1.5", Passed, Some(1.5));
        check(&records, "steps_ratio[level=1] < 1.5", Failed, Some(1.5));
        check(&records, "steps_ratio[level=2] <= 2", Inconclusive, None);
        records.push(record("e", Status::TimedOut, false, "1"));
        // At most (4 + 6 + 8 + 30) / 4, at least (4 + 6 + 8) / 4.
        let message = check(&records, "steps <= 6", Inconclusive, Some(6.0));
        assert!(message.contains("between 4.5 and 12"), "{message}");
        check(&records, "steps <= 12", Passed, Some(6.0));
        check(&records, "steps < 4.5", Failed, Some(6.0));
        check(&records, "steps_ratio <= 5", Passed, Some(1.5));
        check(&records, "steps_ratio <= 4", Inconclusive, Some(1.5));
        check(&records, "steps[level=2] <= 8", Passed, Some(8.0));
    }

    #[test]
    fn no_steps_no_figure() {
        let check = |records: &[Record], expect: &str| {
            let result = checked("steps <= 8", records);
            assert_eq!(result.verdict, Inconclusive);
            assert!(result.message.contains(expect), "{}", result.message);
        };
        check(
            &[answer(true, "1", None, None)],
            "no answer reports its steps",
        );
        check(&[answer(false, "1", Some(3), None)], "no answer is correct");
        let wrong_tells = [
            answer(true, "1", None, None),
            answer(false, "1", Some(3), None),
        ];
        check(&wrong_tells, "no correct answer reports its steps");
        check(
            &[record("e", Status::TimedOut, false, "1")],
            "no sample was scored",
        );
    }
}
