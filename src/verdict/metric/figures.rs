//! `Figures`: the values of gates from the summary, and their bounds if every sample had a verdict.

use std::collections::BTreeMap;

use super::Measured;
use super::mean::{Found, KnownMeans};
use super::own;
use crate::figure::{Interval, Percent, Points, Share, counted};
use crate::stats;
use crate::verdict::baseline::CurrentSamples;
use crate::verdict::facts::Facts;
use crate::verdict::gate::{Gate, Metric, PASS_AT, PASS_HAT, Slice, Suffix};
use crate::verdict::summary::{Estimate, Group, Latency, MAX_LABELS, UsageTotal, VALUE, mirrored};

/// The figures of a run or of one of its slices, and what they are beside.
pub(in crate::verdict) struct Figures<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) group: &'a Group,
}

impl<'a> Figures<'a> {
    /// Those of a slice, or of all samples; `None` where no sample is of the slice.
    pub(in crate::verdict) fn of(facts: &'a Facts<'a>, slice: Option<&Slice>) -> Option<Self> {
        let group = match slice {
            None => &facts.summary.whole,
            Some(slice) => {
                let values = facts.summary.slices.get(&slice.dimension)?;
                values.get(&slice.value)?
            }
        };
        Some(Self { facts, group })
    }

    /// The name of the deciding scorer, so that `accuracy(NAME)` also works when it is the only one.
    pub(in crate::verdict) fn decides(&self) -> Option<&'a str> {
        self.facts.summary.scorer.as_deref()
    }

    /// Right, wrong and lacking verdicts of the deciding scorer.
    pub(in crate::verdict) fn counts(&self) -> [u64; 3] {
        let wrong = self.group.scored.saturating_sub(self.group.correct);
        [self.group.correct, wrong, self.unknown()]
    }

    /// Samples that should have a verdict and have none.
    pub(in crate::verdict) fn unknown(&self) -> u64 {
        self.group.errors + self.group.skipped
    }

    pub(in crate::verdict) fn nothing_scored(&self) -> Option<String> {
        (self.group.scored == 0).then(|| {
            let group = &self.group;
            let not_asked = || (group.skipped > 0).then(|| format!("{} not asked", group.skipped));
            let counts = [
                (group.errors > 0).then(|| counted(group.errors, "error")),
                (group.unscored > 0).then(|| format!("{} unscored", group.unscored)),
                self.waiting().or_else(not_asked),
            ];
            let counts: Vec<_> = counts.into_iter().flatten().collect();
            let why = if counts.is_empty() { "" } else { ": " };
            format!("no sample was scored{why}{}", counts.join(", "))
        })
    }

    /// Why too few of the answered samples have a ground truth for a gate on verdicts, if so.
    pub(in crate::verdict) fn lacks_truths(&self, gate: &Gate) -> Option<String> {
        if self.group.unscored == 0 || !gate.metric.is_of_verdicts() {
            return None;
        }
        let scorer = self.facts.decided_by(gate);
        if scorer
            .as_ref()
            .is_some_and(|scorer| self.facts.summary.judges_pairs(scorer))
        {
            return None;
        }
        let other = scorer.filter(|scorer| self.decides() != Some(scorer));
        let other = other.and_then(|scorer| self.group.scorers.get(&scorer));
        let group = self.group;
        let scored = group.scored.saturating_sub(group.failed_as_wrong);
        let answered = scored + group.unscored;
        // Another scorer may need no ground truth.
        let scored = other.map_or(scored, |other| (other.scored + other.errors).min(answered));
        let share = stats::ratio(scored, answered)?;
        (share < gate.least_scored()).then(|| {
            format!(
                "only {scored} of {answered} answers have a ground truth, fewer than {}: add the ground truths, or \
                 write `(min_scored=SHARE)` after the threshold",
                Percent(gate.least_scored())
            )
        })
    }

    /// The value of a gate's metric, or why there is none.
    pub(in crate::verdict) fn measure(&self, gate: &Gate) -> Result<Measured, String> {
        (gate.metric.entry().measure)(self, gate)
    }

    pub(super) fn usage(&self) -> &UsageTotal {
        &self.group.usage
    }

    pub(super) fn failure_rate(&self) -> Result<Measured, String> {
        // Counted, not 1 - accuracy, which would be off in the last digit.
        let group = self.group;
        let wrong = group.scored.saturating_sub(group.correct);
        let interval = group.accuracy_ci95.map(mirrored);
        let bad = self.facts.summary.subject().bad();
        self.share(group.scored, [wrong, self.unknown()], interval, bad)
    }

    pub(super) fn error_rate(&self) -> Result<Measured, String> {
        let group = self.group;
        let requested = group.scored + group.errors + group.unscored;
        let value = stats::ratio(group.errors, requested)
            .ok_or_else(|| self.nothing("no sample was asked", "no sample is finished"))?;
        let what = match self.facts.summary.epochs {
            _ if self.facts.summary.judges_items => "items",
            None => "samples",
            Some(_) => "answers",
        };
        let from = format!("{} of {requested} {what}", group.errors);
        Ok(Measured::certain(value, from))
    }

    /// An aggregate of the benchmark's own.
    pub(super) fn own(&self, name: &str) -> Result<Measured, String> {
        own::measure(name, &self.facts.summary.metrics, self.unknown())
            .map_err(|why| self.nothing_scored().unwrap_or(why))
    }

    /// The number of scored samples. Asking one sample ten times makes no ten samples.
    pub(super) fn samples(&self) -> Result<Measured, String> {
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
            from: String::new(),
        })
    }

    pub(super) fn accuracy(&self) -> Result<Measured, String> {
        let counts = [self.group.correct, self.unknown()];
        self.share(
            self.group.scored,
            counts,
            self.group.accuracy_ci95,
            self.facts.summary.subject().good(),
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
                Interval(ci95.map(Share)).ci95()
            ),
        })
    }

    pub(super) fn share_by(&self, scorer: &str) -> Result<Measured, String> {
        if let Some(of) = self.group.scorers.get(scorer) {
            let interval = of.accuracy_ci95;
            let unknown = of.errors + self.group.skipped;
            let good = self.facts.summary.subject_of(scorer).good();
            let share = self.share(of.scored, [of.correct, unknown], interval, good);
            let message = |why| self.unjudged_text(Some(scorer)).unwrap_or(why);
            return share.map_err(|why| self.nothing_scored().unwrap_or_else(|| message(why)));
        }
        if self.decides() == Some(scorer) {
            return self.accuracy();
        }
        Err(self.not_judged_by(scorer))
    }

    /// What the epochs of each sample say together.
    pub(super) fn over_epochs(&self, metric: &Metric) -> Result<Measured, String> {
        let scorer = metric.scorer();
        let epochs = match scorer.and_then(|scorer| self.group.scorers.get(scorer)) {
            Some(of) => of.epochs.as_ref(),
            None if scorer.is_none() || self.decides() == scorer => self.group.epochs.as_ref(),
            None => return Err(self.not_judged_by(scorer.unwrap_or_default())),
        };
        let Some(epochs) = epochs else {
            // With one answer, the majority, pass@1 and pass^1 equal the accuracy.
            return match (scorer, metric.epochs()) {
                (_, 2..) => Err("each sample was asked only once".to_owned()),
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
            let error =
                error.map(|error| format!(", standard error {} points", Points(error).unsigned()));
            Some(Measured {
                value,
                low: estimate.low.unwrap_or(value),
                high: estimate.high.unwrap_or(value),
                from: format!(
                    "{} in {}{}",
                    counted(estimate.samples, "sample"),
                    counted(u64::from(epochs.epochs), "epoch"),
                    error.unwrap_or_default()
                ),
            })
        };
        let majority = &epochs.majority;
        let measured = match metric.name {
            PASS_AT => of(&epochs.pass_at, metric.epochs()),
            PASS_HAT => of(&epochs.pass_hat, metric.epochs()),
            _ => majority
                .accuracy
                .zip(majority.accuracy_ci95)
                .map(|(value, ci95)| Measured {
                    value,
                    low: majority.low.unwrap_or(value),
                    high: majority.high.unwrap_or(value),
                    from: format!(
                        "{} of {} samples correct in most of {} epochs, {}",
                        majority.correct,
                        epochs.scored,
                        epochs.epochs,
                        Interval(ci95.map(Share)).ci95()
                    ),
                }),
        };
        measured.ok_or_else(none)
    }

    /// A mean, with the unknown samples at the lowest and at the highest that their scorer can give; where it does not
    /// tell at 0 and at 1, or further out where the values that were seen are.
    pub(super) fn mean(&self, name: &str) -> Result<Measured, String> {
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
                let message = self.unjudged_text(found.scorer.as_deref());
                message
                    .unwrap_or_else(|| format!("no score of these samples has `{}`", found.detail))
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
            from: format!(
                "over {}{}",
                counted(range.count, "sample"),
                of.unwrap_or_default()
            ),
        })
    }

    /// Whose mean it is. Looked up in the whole run, so that the gate of a slice means the same detail.
    pub(super) fn find(&self, name: &str) -> Result<Found, String> {
        KnownMeans::of(&self.facts.summary, &self.facts.detail_bounds).find(name)
    }

    /// The lowest and the highest that a detail can be.
    pub(super) fn bounds(&self, found: &Found) -> Option<[f64; 2]> {
        let scorer = found.scorer.as_deref().or(self.decides())?;
        let bounds = self.facts.detail_bounds.get(scorer)?;
        bounds.get(&found.detail).copied()
    }

    pub(super) fn macro_f1(&self, scorer: Option<&str>) -> Result<Measured, String> {
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
        let none = "no score has the label of the answer and of the ground truth; use scorer `choice`, or `exact` \
                    with `labels: true`";
        let labels = labels.ok_or_else(|| self.nothing_scored().unwrap_or(none.to_owned()))?;
        let (Some(value), Some([low, high])) = (labels.macro_f1, labels.macro_f1_within(unknown))
        else {
            return Err(format!(
                "macro-F1 is limited to {MAX_LABELS} labels, and the answers have more"
            ));
        };
        let from = format!(
            "{} in {}",
            counted(labels.by_label.len() as u64, "label"),
            counted(labels.samples, "sample")
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

    /// One of the latencies of the summary.
    pub(super) fn latency(&self, of: fn(&Latency) -> f64) -> Result<Measured, String> {
        let latency = self.latencies()?;
        Ok(Measured::certain(of(&latency), String::new()))
    }

    fn latencies(&self) -> Result<Latency, String> {
        self.group.latency_s.ok_or_else(|| {
            if self.facts.summary.recorded > 0 {
                "no answer was timed: model calls were replayed; measure with `--record`".to_owned()
            } else if self.facts.summary.cached > 0 {
                "no answer was timed: all came from the cache; measure with `--refresh`".to_owned()
            } else {
                self.nothing("no sample was answered", "no latency is known")
            }
        })
    }

    /// A percentile, of the samples one by one where the summary does not have it.
    pub(super) fn latency_percentile(&self, gate: &Gate) -> Result<Measured, String> {
        let latency = self.latencies()?;
        let value = match gate.metric.suffix {
            Suffix::Percent(50.0) => Some(latency.p50),
            Suffix::Percent(90.0) => Some(latency.p90),
            Suffix::Percent(95.0) => Some(latency.p95),
            Suffix::Percent(99.0) => Some(latency.p99),
            Suffix::Percent(percent) => percentile_of(gate, &self.facts.current, percent),
            _ => None,
        };
        let value = value.ok_or("this percentile needs the samples of the run")?;
        Ok(Measured::certain(value, String::new()))
    }

    /// A sum over the run: a lower bound where answers do not report it, and where samples were never asked.
    pub(super) fn sum(&self, number: Option<f64>, metric: &str) -> Result<Measured, String> {
        let what = match metric {
            "cost_usd" => "cost".to_owned(),
            metric => metric.replace('_', " "),
        };
        let value = number.ok_or_else(|| format!("no answer reports its {what}"))?;
        let is_open = self.group.skipped > 0 || self.unreported(metric) > 0;
        let unit = match self.facts.summary.epochs {
            Some(_) => "answer",
            None => "sample",
        };
        Ok(Measured {
            value,
            low: value,
            high: if is_open { f64::INFINITY } else { value },
            from: format!("reported by {}", counted(self.group.usage.samples, unit)),
        })
    }

    /// How many answers do not report the number that a metric sums up.
    pub(super) fn unreported(&self, metric: &str) -> u64 {
        let unknown = &self.group.usage.unknown;
        match metric {
            "cost_usd" => unknown.cost_usd,
            "tokens" => unknown.tokens,
            "input_tokens" => unknown.input_tokens,
            "output_tokens" => unknown.output_tokens,
            _ => 0,
        }
    }
}

fn percentile_of(gate: &Gate, current: &CurrentSamples, percent: f64) -> Option<f64> {
    let mut latencies: Vec<f64> = current
        .iter()
        .filter(|sample| sample.is_in(gate.slice.as_ref()))
        .flat_map(|sample| sample.latencies_s().iter().copied())
        .collect();
    latencies.sort_unstable_by(f64::total_cmp);
    stats::percentile(&latencies, percent)
}

#[cfg(test)]
mod tests;
