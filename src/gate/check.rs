//! `Gate::check`: a finished run against a gate. Pure.

use std::collections::BTreeMap;

use super::metric::{LatencyStatistic, Metric};
use super::{Gate, GateResult, Verdict, no_regression};
use crate::baseline::{Baseline, CurrentSample};
use crate::error::nearest;
use crate::stats;
use crate::summary::{Group, Latency, Range, ScorerSummary, Summary, UsageTotal};

/// What a gate may look at besides the summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The accepted run, for `no_regression`.
    pub baseline: Option<&'a Baseline>,
    /// The samples of this run, for `no_regression` and for latency percentiles that the summary does not
    /// have.
    pub current: &'a [CurrentSample],
    /// Whether this runs in continuous integration, where a missing baseline is a failure.
    pub ci: bool,
    /// The name of the deciding scorer, so that `accuracy(NAME)` also works when it is the only one.
    pub scorer: Option<&'a str>,
    /// (selected, all) samples, when a filter was given: with some left out, gates are ignored.
    pub selected: Option<(u64, u64)>,
}

impl Gate {
    /// What becomes of the gate in a finished run.
    pub fn check(&self, summary: &Summary, evidence: &Evidence<'_>) -> GateResult {
        if let Some((selected, all)) = evidence.selected
            && selected < all
        {
            let message = format!("{selected} of {all} samples selected");
            return self.result(Verdict::Ignored, None, message);
        }
        let Some(figures) = Figures::of(summary, self.slice.as_ref()) else {
            // Every slice was checked against the whole dataset, so it is the limit that left it out.
            let message = format!("no sample of this run belongs to `{}`", self.name());
            return self.result(Verdict::Ignored, None, message);
        };
        let Some((op, threshold)) = self.bound else {
            return match figures.nothing_scored() {
                Some(why) => self.result(Verdict::Inconclusive, None, why),
                None => no_regression::check(self, evidence),
            };
        };
        let measured = match figures.measure(self, evidence) {
            Ok(measured) => measured,
            Err(why) => return self.result(Verdict::Inconclusive, None, why),
        };
        let holds = |value| op.holds(value, threshold);
        let wanted = format!("{op} {threshold}");
        let value = show(measured.value, threshold);
        let is = format!("{} is {value} ({})", self.name(), measured.from);
        let (verdict, message) = match (holds(measured.low), holds(measured.high)) {
            (true, true) => (Verdict::Passed, format!("{is}, {wanted} holds")),
            (false, false) => (Verdict::Failed, format!("{is}, {wanted} does not hold")),
            _ => (
                Verdict::Inconclusive,
                format!(
                    "{is}, {wanted} is open: {}",
                    figures.open(&measured, threshold)
                ),
            ),
        };
        self.result(verdict, Some(measured.value), message)
    }

    pub(super) fn result(
        &self,
        verdict: Verdict,
        value: Option<f64>,
        message: String,
    ) -> GateResult {
        GateResult {
            gate: self.clone(),
            verdict,
            value,
            threshold: match self.bound {
                Some((_, threshold)) => Some(threshold),
                None => Some(self.alpha.unwrap_or(super::DEFAULT_ALPHA)),
            },
            message,
            regression: None,
        }
    }
}

/// A value, and what it could be at the extremes had every sample a verdict.
struct Measured {
    value: f64,
    low: f64,
    high: f64,
    /// What it was taken from, for people.
    from: String,
}

impl Measured {
    fn certain(value: f64, from: String) -> Self {
        Self {
            value,
            low: value,
            high: value,
            from,
        }
    }
}

/// The figures of a run or of one of its slices.
struct Figures<'a> {
    scored: u64,
    correct: u64,
    errors: u64,
    unscored: u64,
    skipped: u64,
    ranges: &'a BTreeMap<String, Range>,
    means: &'a BTreeMap<String, f64>,
    scorers: &'a BTreeMap<String, ScorerSummary>,
    usage: &'a UsageTotal,
    latency: Option<Latency>,
}

impl<'a> Figures<'a> {
    fn of(summary: &'a Summary, slice: Option<&(String, String)>) -> Option<Self> {
        let Some((dimension, value)) = slice else {
            return Some(Self {
                scored: summary.scored,
                correct: summary.correct,
                errors: summary.errors,
                unscored: summary.unscored,
                skipped: summary.skipped,
                ranges: &summary.mean_ranges,
                means: &summary.means,
                scorers: &summary.scorers,
                usage: &summary.usage,
                latency: summary.latency_s,
            });
        };
        let group: &Group = summary.slices.get(dimension)?.get(value)?;
        Some(Self {
            scored: group.scored,
            correct: group.correct,
            errors: group.errors,
            unscored: group.unscored,
            skipped: group.skipped,
            ranges: &group.mean_ranges,
            means: &group.means,
            scorers: &group.scorers,
            usage: &group.usage,
            latency: group.latency_s,
        })
    }

    /// Samples that should have a verdict and have none.
    fn unknown(&self) -> u64 {
        self.errors + self.skipped
    }

    fn nothing_scored(&self) -> Option<String> {
        (self.scored == 0).then(|| {
            format!(
                "no sample was scored: {} errored, {} unscored, {} skipped",
                self.errors, self.unscored, self.skipped
            )
        })
    }

    /// The value of a gate's metric, or why there is none.
    fn measure(&self, gate: &Gate, evidence: &Evidence<'_>) -> Result<Measured, String> {
        let total = |number: Option<f64>, what: &str| self.total(number, what);
        let count = |number: Option<u64>| number.map(stats::as_f64);
        match &gate.metric {
            Metric::Accuracy(None) => self.share(self.scored, self.correct, self.unknown()),
            Metric::Accuracy(Some(scorer)) => self.share_by(scorer, evidence),
            Metric::FailureRate => {
                let right = self.share(self.scored, self.correct, self.unknown())?;
                // Counted, not 1 - accuracy, which would be off in the last digit.
                let wrong = self.scored.saturating_sub(self.correct);
                let share = self.share(self.scored, wrong, self.unknown())?;
                Ok(Measured {
                    from: right.from,
                    ..share
                })
            }
            Metric::ErrorRate => {
                let asked = self.scored + self.errors + self.unscored;
                let value = stats::ratio(self.errors, asked).ok_or("no sample was asked")?;
                let from = format!("{} of {asked} asked samples", self.errors);
                Ok(Measured::certain(value, from))
            }
            Metric::MinSamples => match self.nothing_scored() {
                Some(why) => Err(why),
                None => Ok(Measured {
                    value: stats::as_f64(self.scored),
                    low: stats::as_f64(self.scored),
                    high: stats::as_f64(self.scored + self.unknown()),
                    from: "scored samples".to_owned(),
                }),
            },
            Metric::Mean(name) => self.mean(name),
            Metric::Latency(statistic) => self.latency(*statistic, gate, evidence),
            Metric::CostUsd => total(self.usage.cost_usd, "cost"),
            Metric::Tokens => total(count(self.usage.tokens()), "tokens"),
            Metric::InputTokens => total(count(self.usage.input_tokens), "input tokens"),
            Metric::OutputTokens => total(count(self.usage.output_tokens), "output tokens"),
            // Has no threshold and so never comes here.
            Metric::NoRegression => Err("`no_regression` takes no threshold".to_owned()),
        }
    }

    /// A share of the scored samples, with those unknown all out of it and all in it.
    fn share(&self, scored: u64, part: u64, unknown: u64) -> Result<Measured, String> {
        let (Some(value), Some([low, high])) =
            (stats::ratio(part, scored), stats::wilson95(part, scored))
        else {
            return Err(self
                .nothing_scored()
                .unwrap_or_else(|| "the scorer judged no sample".to_owned()));
        };
        let all = scored + unknown;
        Ok(Measured {
            value,
            low: stats::ratio(part, all).unwrap_or(value),
            high: stats::ratio(part + unknown, all).unwrap_or(value),
            from: format!("{part} of {scored} correct, 95 % interval {low:.4} to {high:.4}"),
        })
    }

    fn share_by(&self, scorer: &str, evidence: &Evidence<'_>) -> Result<Measured, String> {
        if let Some(of) = self.scorers.get(scorer) {
            return self.share(of.scored, of.correct, of.errors + self.skipped);
        }
        if evidence.scorer == Some(scorer) {
            return self.share(self.scored, self.correct, self.unknown());
        }
        Err(self
            .nothing_scored()
            .unwrap_or_else(|| format!("no sample was judged by `{scorer}`")))
    }

    /// A mean, with the unknown samples at 0 and at 1; further out where the values that were seen are.
    fn mean(&self, name: &str) -> Result<Measured, String> {
        let (Some(mean), Some(range)) = (self.means.get(name), self.ranges.get(name)) else {
            if let Some(why) = self.nothing_scored() {
                return Err(why);
            }
            let names = self.means.keys().map(String::as_str);
            let near = nearest(name, names.clone())
                .map(|near| format!(", did you mean `{near}`?"))
                .unwrap_or_default();
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            return Err(format!("no score has `{name}`{near} (there is {names})"));
        };
        let (seen, unknown) = (stats::as_f64(range.count), stats::as_f64(self.unknown()));
        let with = |each: f64| (mean * seen + unknown * each) / (seen + unknown);
        let certain = self.unknown() == 0;
        Ok(Measured {
            value: *mean,
            low: if certain {
                *mean
            } else {
                with(range.min.min(0.0))
            },
            high: if certain {
                *mean
            } else {
                with(range.max.max(1.0))
            },
            from: format!("over {} samples", range.count),
        })
    }

    fn latency(
        &self,
        statistic: LatencyStatistic,
        gate: &Gate,
        evidence: &Evidence<'_>,
    ) -> Result<Measured, String> {
        let latency = self.latency.ok_or("no sample was answered")?;
        let percent = match statistic {
            LatencyStatistic::Mean => {
                return Ok(Measured::certain(latency.mean, "seconds".to_owned()));
            }
            LatencyStatistic::Percentile(percent) => percent,
        };
        let summarised = [
            (50.0, latency.p50),
            (90.0, latency.p90),
            (95.0, latency.p95),
            (99.0, latency.p99),
            (100.0, latency.max),
        ];
        let exactly = |(at, _): &&(f64, f64)| at.total_cmp(&percent).is_eq();
        let value = match summarised.iter().find(exactly) {
            Some((_, value)) => *value,
            None => percentile_of(gate, evidence.current, percent)
                .ok_or("this percentile needs the samples of the run")?,
        };
        Ok(Measured::certain(value, "seconds".to_owned()))
    }

    /// A sum over the run. Samples that were never asked would have added to it.
    fn total(&self, number: Option<f64>, what: &str) -> Result<Measured, String> {
        let value = number.ok_or_else(|| format!("no sample tells its {what}"))?;
        let high = if self.skipped > 0 {
            f64::INFINITY
        } else {
            value
        };
        Ok(Measured {
            value,
            low: value,
            high,
            from: format!("of {} samples that tell", self.usage.samples),
        })
    }

    fn open(&self, measured: &Measured, threshold: f64) -> String {
        let low = show(measured.low, threshold);
        let high = if measured.high.is_finite() {
            show(measured.high, threshold)
        } else {
            "more".to_owned()
        };
        format!(
            "with the {} errored and {} skipped samples it would be between {low} and {high}; ask them \
             again with `cargo evaltest run --resume RUN_DIR`",
            self.errors, self.skipped
        )
    }
}

fn percentile_of(gate: &Gate, current: &[CurrentSample], percent: f64) -> Option<f64> {
    let mut latencies: Vec<f64> = current
        .iter()
        .filter(|sample| sample.is_in(gate.slice.as_ref()))
        .filter_map(|sample| sample.latency_s)
        .collect();
    latencies.sort_unstable_by(f64::total_cmp);
    stats::percentile(&latencies, percent)
}

/// A value in four decimals at most, or in full where rounding would make it look like the threshold.
fn show(value: f64, threshold: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    let hides = rounded.total_cmp(&threshold).is_eq() && value.total_cmp(&threshold).is_ne();
    if hides || !rounded.is_finite() {
        value.to_string()
    } else {
        rounded.to_string()
    }
}

#[cfg(test)]
mod tests;
