//! `Figures`: the values of gates from the summary, and their bounds if every sample had a verdict.

mod corrected;
mod of_run;
mod open;
mod reviewed;
mod steps;

use std::collections::BTreeMap;

use super::mean::{Found, KnownMeans};
use super::measured::Measured;
use super::own;
use crate::figure::{Interval, Value};
use crate::stats;
use crate::verdict::baseline::CurrentSample;
use crate::verdict::facts::Facts;
use crate::verdict::gate::{Gate, LatencyStatistic, Metric, Slice};
use crate::verdict::summary::{Estimate, Group, MAX_LABELS, VALUE, mirrored};

/// The figures of a run or of one of its slices, and what they are beside.
pub(super) struct Figures<'a> {
    facts: &'a Facts<'a>,
    group: &'a Group,
}

impl<'a> Figures<'a> {
    /// Those of a slice, or of all samples; `None` where no sample is of the slice.
    pub(super) fn of(facts: &'a Facts<'a>, slice: Option<&Slice>) -> Option<Self> {
        let group = match slice {
            None => &facts.summary.whole,
            Some(slice) => {
                let values = facts.summary.slices.get(&slice.dimension)?;
                values.get(&slice.value)?
            }
        };
        Some(Self { facts, group })
    }

    /// The name of the deciding scorer, so that `accuracy(NAME)` works even if it is the only one.
    pub(super) fn decides(&self) -> Option<&'a str> {
        self.facts.summary.scorer.as_deref()
    }

    /// Right, wrong and missing verdicts of the deciding scorer.
    pub(super) fn counts(&self) -> [u64; 3] {
        let wrong = self.group.scored.saturating_sub(self.group.correct);
        [self.group.correct, wrong, self.unknown()]
    }

    /// Samples whose expected verdict is missing.
    pub(super) fn unknown(&self) -> u64 {
        self.group.errors + self.group.skipped
    }

    pub(super) fn nothing_scored(&self) -> Option<String> {
        (self.group.scored == 0).then(|| {
            let waiting = self.waiting().map(|waiting| format!(" ({waiting})"));
            format!(
                "no sample was scored: {} errored, {} unscored, {} skipped{}",
                self.group.errors,
                self.group.unscored,
                self.group.skipped,
                waiting.unwrap_or_default()
            )
        })
    }

    /// The value of a gate's metric, or why there is none.
    pub(super) fn measure(&self, gate: &Gate) -> Result<Measured, String> {
        let total = |number: Option<f64>, what: &str| self.total(number, what);
        let count = |number: Option<u64>| number.map(stats::as_f64);
        match &gate.metric {
            Metric::Accuracy(None) => self.accuracy(),
            Metric::Accuracy(Some(scorer)) => self.share_by(scorer),
            Metric::FailureRate => {
                // Counted, not 1 - accuracy, which would be off in the last digit.
                let wrong = self.group.scored.saturating_sub(self.group.correct);
                let interval = self.group.accuracy_ci95.map(mirrored);
                self.share(
                    self.group.scored,
                    [wrong, self.unknown()],
                    interval,
                    "wrong",
                )
            }
            Metric::ErrorRate => {
                let asked = self.group.scored + self.group.errors + self.group.unscored;
                let value = stats::ratio(self.group.errors, asked).ok_or_else(|| {
                    self.nothing("no sample was asked", "no sample came to its end")
                })?;
                let what = match self.facts.summary.epochs {
                    None => "asked samples",
                    Some(_) => "answers asked for",
                };
                let from = format!("{} of {asked} {what}", self.group.errors);
                Ok(Measured::certain(value, from))
            }
            Metric::MinSamples => self.samples(),
            Metric::PassAt(..) | Metric::PassHat(..) | Metric::Majority(_) => {
                self.over_epochs(&gate.metric)
            }
            Metric::Mean(name) => self.mean(name),
            Metric::Corrected(name) => self.corrected(name, gate.slice.as_ref()),
            Metric::Own(name) => own::measure(name, &self.facts.summary.metrics, self.unknown())
                .map_err(|why| self.nothing_scored().unwrap_or(why)),
            Metric::MacroF1(scorer) => self.macro_f1(scorer.as_deref()),
            Metric::Latency(statistic) => self.latency(*statistic, gate),
            Metric::Steps | Metric::StepsRatio => self.steps(&gate.metric),
            Metric::DifficultyDrop(step) => self.difficulty_drop(step.as_ref()),
            Metric::RecoveredByRetry => self.recovered(),
            Metric::Reviewed(name) => self.reviewed(name),
            Metric::CostUsd => total(self.group.usage.cost_usd, "cost"),
            Metric::Tokens => total(count(self.group.usage.tokens()), "tokens"),
            Metric::InputTokens => total(count(self.group.usage.input_tokens), "input tokens"),
            Metric::OutputTokens => total(count(self.group.usage.output_tokens), "output tokens"),
            // Has no threshold and so never comes here.
            Metric::NoRegression => Err("`no_regression` takes no threshold".to_owned()),
        }
    }

    /// The number of scored samples. Ten epochs of one sample are not ten samples.
    fn samples(&self) -> Result<Measured, String> {
        if let Some(why) = self.nothing_scored() {
            return Err(why);
        }
        let once = (self.group.scored, self.group.scored + self.unknown());
        let epochs = self.group.epochs.as_ref();
        let (scored, all) = epochs.map_or(once, |epochs| (epochs.scored, epochs.samples));
        Ok(Measured {
            value: stats::as_f64(scored),
            low: stats::as_f64(scored),
            high: stats::as_f64(all),
            from: "scored samples".to_owned(),
        })
    }

    fn accuracy(&self) -> Result<Measured, String> {
        let counts = [self.group.correct, self.unknown()];
        self.share(
            self.group.scored,
            counts,
            self.group.accuracy_ci95,
            "correct",
        )
    }

    /// A share of the scored samples, with unknown ones counted as all outside and all inside. The default interval is
    /// Wilson's.
    fn share(
        &self,
        scored: u64,
        [part, unknown]: [u64; 2],
        interval: Option<[f64; 2]>,
        so: &str,
    ) -> Result<Measured, String> {
        let interval = interval.or_else(|| stats::wilson95(part, scored));
        let (Some(value), Some(ci95)) = (stats::ratio(part, scored), interval) else {
            return Err(self
                .nothing_scored()
                .unwrap_or_else(|| "the scorer judged no sample".to_owned()));
        };
        let all = scored + unknown;
        Ok(Measured {
            value,
            low: stats::ratio(part, all).unwrap_or(value),
            high: stats::ratio(part + unknown, all).unwrap_or(value),
            from: format!(
                "{part} of {scored} {so}, {}",
                Interval(ci95.map(Value)).ci95()
            ),
        })
    }

    fn share_by(&self, scorer: &str) -> Result<Measured, String> {
        if let Some(of) = self.group.scorers.get(scorer) {
            let interval = of.accuracy_ci95;
            let unknown = of.errors + self.group.skipped;
            let share = self.share(of.scored, [of.correct, unknown], interval, "correct");
            let told = |why| self.told_unjudged(Some(scorer)).unwrap_or(why);
            return share.map_err(|why| self.nothing_scored().unwrap_or_else(|| told(why)));
        }
        if self.decides() == Some(scorer) {
            return self.accuracy();
        }
        Err(self.not_judged_by(scorer))
    }

    /// Figures over the epochs of each sample.
    fn over_epochs(&self, metric: &Metric) -> Result<Measured, String> {
        let scorer = metric.scorer();
        let epochs = match scorer.and_then(|scorer| self.group.scorers.get(scorer)) {
            Some(of) => of.epochs.as_ref(),
            None if scorer.is_none() || self.decides() == scorer => self.group.epochs.as_ref(),
            None => return Err(self.not_judged_by(scorer.unwrap_or_default())),
        };
        let Some(epochs) = epochs else {
            // With one answer, the majority, pass@1 and pass^1 equal the accuracy.
            return match (scorer, metric.epochs()) {
                (_, 2..) => Err("each sample was asked once".to_owned()),
                (Some(scorer), _) => self.share_by(scorer),
                (None, _) => self.accuracy(),
            };
        };
        let none = || {
            let nothing = self.nothing_scored();
            nothing.unwrap_or_else(|| "too few epochs of each sample have a verdict".to_owned())
        };
        let of = |estimates: &BTreeMap<u32, Estimate>, k: u32| {
            let estimate = estimates.get(&k)?;
            let value = estimate.value?;
            let error = estimate.standard_error;
            let error = error.map(|error| format!(", standard error {error:.4}"));
            Some(Measured {
                value,
                low: estimate.low.unwrap_or(value),
                high: estimate.high.unwrap_or(value),
                from: format!(
                    "over {} samples of {} epochs{}",
                    estimate.samples,
                    epochs.epochs,
                    error.unwrap_or_default()
                ),
            })
        };
        let majority = &epochs.majority;
        let measured = match metric {
            Metric::PassAt(k, _) => of(&epochs.pass_at, *k),
            Metric::PassHat(k, _) => of(&epochs.pass_hat, *k),
            _ => majority
                .accuracy
                .zip(majority.accuracy_ci95)
                .map(|(value, ci95)| Measured {
                    value,
                    low: majority.low.unwrap_or(value),
                    high: majority.high.unwrap_or(value),
                    from: format!(
                        "{} of {} samples by most of {} epochs, {}",
                        majority.correct,
                        epochs.scored,
                        epochs.epochs,
                        Interval(ci95.map(Value)).ci95()
                    ),
                }),
        };
        measured.ok_or_else(none)
    }

    /// A mean, with unknown samples at the lowest and highest value of their scorer. If that is unknown, at 0 and 1, or
    /// at the observed extremes if these are further out.
    fn mean(&self, name: &str) -> Result<Measured, String> {
        let found = self.find(name);
        let found = found.map_err(|why| self.nothing_scored().unwrap_or(why))?;
        let own = (&self.group.means, &self.group.mean_ranges, self.unknown());
        let (means, ranges, unknown) = match &found.scorer {
            None => own,
            Some(scorer) => match self.group.scorers.get(scorer) {
                Some(of) => (&of.means, &of.mean_ranges, of.errors + self.group.skipped),
                None if self.decides() == Some(scorer) => own,
                None => return Err(self.not_judged_by(scorer)),
            },
        };
        let (Some(mean), Some(range)) = (means.get(&found.detail), ranges.get(&found.detail))
        else {
            let none = || {
                let told = self.told_unjudged(found.scorer.as_deref());
                told.unwrap_or_else(|| format!("no score here has `{}`", found.detail))
            };
            return Err(self.nothing_scored().unwrap_or_else(none));
        };
        // A failure that counts as wrong has a score, but no other details.
        let unknown = match found.detail.as_str() {
            VALUE => unknown,
            _ => unknown + self.group.failed_as_wrong,
        };
        let (seen, more) = (stats::as_f64(range.count), stats::as_f64(unknown));
        let with = |each: f64| match unknown {
            0 => *mean,
            _ => (mean * seen + more * each) / (seen + more),
        };
        let bounds = self.bounds(&found);
        let of = found.scorer.map(|scorer| format!(" of `{scorer}`"));
        Ok(Measured {
            value: *mean,
            low: with(bounds.map_or(range.min.min(0.0), |[low, _]| low)),
            high: with(bounds.map_or(range.max.max(1.0), |[_, high]| high)),
            from: format!("over {} samples{}", range.count, of.unwrap_or_default()),
        })
    }

    /// The scorer and detail of a mean. Searched in the whole run, so that a gate on a slice means the same detail.
    fn find(&self, name: &str) -> Result<Found, String> {
        KnownMeans::of(&self.facts.summary, &self.facts.detail_bounds).find(name)
    }

    /// The lowest and highest possible value of a detail.
    fn bounds(&self, found: &Found) -> Option<[f64; 2]> {
        let scorer = found.scorer.as_deref().or(self.decides())?;
        let bounds = self.facts.detail_bounds.get(scorer)?;
        bounds.get(&found.detail).copied()
    }

    fn macro_f1(&self, scorer: Option<&str>) -> Result<Measured, String> {
        let (labels, unknown) = match scorer {
            Some(scorer) if self.decides() != Some(scorer) => {
                let of = self.group.scorers.get(scorer);
                let of = of.ok_or_else(|| self.not_judged_by(scorer))?;
                (of.labels.as_ref(), of.errors + self.group.skipped)
            }
            _ => (self.group.labels.as_ref(), self.unknown()),
        };
        // A failure that counts as wrong has no label.
        let unknown = unknown + self.group.failed_as_wrong;
        let none = "no score tells a label and that of the ground truth; scorers that do are `choice`, and \
                    `exact` with `labels`";
        let labels = labels.ok_or_else(|| self.nothing_scored().unwrap_or(none.to_owned()))?;
        let (Some(value), Some([low, high])) = (labels.macro_f1, labels.macro_f1_within(unknown))
        else {
            return Err(format!("there are more than {MAX_LABELS} labels"));
        };
        let from = format!(
            "{} labels in {} samples",
            labels.by_label.len(),
            labels.samples
        );
        Ok(Measured {
            value,
            low,
            high,
            from,
        })
    }

    fn not_judged_by(&self, scorer: &str) -> String {
        self.nothing_scored()
            .unwrap_or_else(|| format!("no sample was judged by `{scorer}`"))
    }

    fn latency(&self, statistic: LatencyStatistic, gate: &Gate) -> Result<Measured, String> {
        let latency = self.group.latency_s.ok_or_else(|| {
            if self.facts.summary.cached > 0 {
                "no answer was timed: all were given before; measure with `--refresh`".to_owned()
            } else {
                self.nothing("no sample was answered", "no latency is known")
            }
        })?;
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
            None => percentile_of(gate, &self.facts.current, percent)
                .ok_or("this percentile needs the samples of the run")?,
        };
        Ok(Measured::certain(value, "seconds".to_owned()))
    }

    /// A sum over the run. Samples that were never asked would have increased it.
    fn total(&self, number: Option<f64>, what: &str) -> Result<Measured, String> {
        let value = number.ok_or_else(|| format!("no sample tells its {what}"))?;
        let high = if self.group.skipped > 0 {
            f64::INFINITY
        } else {
            value
        };
        Ok(Measured {
            value,
            low: value,
            high,
            from: format!("of {} samples that tell", self.group.usage.samples),
        })
    }
}

fn percentile_of(gate: &Gate, current: &[CurrentSample], percent: f64) -> Option<f64> {
    let mut latencies: Vec<f64> = current
        .iter()
        .filter(|sample| sample.is_in(gate.slice.as_ref()))
        .flat_map(|sample| sample.latencies_s.iter().copied())
        .collect();
    latencies.sort_unstable_by(f64::total_cmp);
    stats::percentile(&latencies, percent)
}

#[cfg(test)]
mod tests;
