//! `no_regression`: is the agent worse than the accepted baseline, or is that chance?
//!
//! Of the samples scored on both sides only those that changed say something. Were the agent the same, each
//! would be as likely to turn wrong as to turn correct; p is the probability of so many wrong ones or more
//! ([`sign_test_p`](crate::stats::sign_test_p)). The gate fails if p < alpha, or if `max_drop` is given and
//! the drop of accuracy over the pairs exceeds it. With several epochs the verdict on a sample is that of their
//! majority ([`epochs`](crate::verdict::poll)), in both runs of equally many.

use crate::stats;
use crate::verdict::baseline::{Baseline, Pair, Pairing};
use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::regression::Regression;
use crate::verdict::result::{GateResult, Verdict};

/// How often the smallest detectable drop is detected.
const POWER: f64 = 0.8;

/// How many ids a message names at most; the result carries all.
const NAMED: usize = 10;

/// How two runs differ, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Samples scored on both sides.
    pub pairs: u64,
    /// Those that went from correct to wrong.
    pub worse: u64,
    /// Those that went from wrong to correct.
    pub better: u64,
}

impl Counts {
    /// How likely so many, or more, of the changed samples turned wrong by chance.
    pub fn p(self) -> f64 {
        stats::sign_test_p(self.worse, self.better)
    }

    /// The loss of accuracy over the pairs; negative for a gain, `None` without pairs.
    pub fn drop(self) -> Option<f64> {
        let share = |more: u64, less: u64| stats::ratio(more - less, self.pairs);
        if self.worse >= self.better {
            share(self.worse, self.better)
        } else {
            share(self.better, self.worse).map(|gain| -gain)
        }
    }

    /// Whether `no_regression` fails.
    pub fn fails(self, alpha: f64, max_drop: Option<f64>) -> bool {
        let dropped = max_drop
            .zip(self.drop())
            .is_some_and(|(max, drop)| drop > max);
        self.p() < alpha || dropped
    }

    /// Counts the pairs with a verdict, and the others as if all were `unknown`.
    fn of(pairs: &[Pair<'_>], unknown: Option<bool>) -> Self {
        let mut counts = Self::default();
        for pair in pairs {
            let Some(after) = pair.after.or(unknown) else {
                continue;
            };
            counts.pairs += 1;
            counts.worse += u64::from(pair.before && !after);
            counts.better += u64::from(!pair.before && after);
        }
        counts
    }
}

pub(super) fn check(gate: &Gate, facts: &Facts<'_>) -> GateResult {
    let Some(baseline) = facts.baseline else {
        return without_baseline(gate, facts.ci);
    };
    if let Some(reason) = baseline.hidden_from(facts.mask_id.as_deref()) {
        return GateResult::of(gate, Verdict::Inconclusive, None, reason);
    }
    let alpha = gate.level();
    let pairing = baseline.pair(&facts.current, gate.slice.as_ref());
    let counts = Counts::of(&pairing.pairs, None);
    let fails = |unknown| Counts::of(&pairing.pairs, Some(unknown)).fails(alpha, gate.max_drop);
    let regression = Regression::of(baseline, &pairing, counts, alpha);
    let verdict = match (counts.pairs, fails(false), fails(true)) {
        (0, ..) => Verdict::Inconclusive,
        (_, true, true) => Verdict::Failed,
        (_, false, false) => Verdict::Passed,
        _ => Verdict::Inconclusive,
    };
    let message = regression.message(gate, verdict, &pairing, baseline.epochs());
    let value = (counts.pairs > 0).then(|| counts.p());
    GateResult {
        regression: Some(regression),
        ..GateResult::of(gate, verdict, value, message)
    }
}

fn without_baseline(gate: &Gate, ci: bool) -> GateResult {
    let (verdict, message) = if ci {
        (
            Verdict::Failed,
            "there is no baseline, and `CI` is set: accept a run with `cargo evaltest accept` and commit \
             the snapshots",
        )
    } else {
        (
            Verdict::Passed,
            "there is no baseline yet: accept this run as the baseline with `cargo evaltest accept`",
        )
    };
    GateResult::of(gate, verdict, None, message.to_owned())
}

impl Regression {
    fn of(baseline: &Baseline, pairing: &Pairing<'_>, counts: Counts, alpha: f64) -> Self {
        let ids = |wanted: fn(&Pair<'_>) -> bool| {
            let wanted = pairing.pairs.iter().filter(|pair| wanted(pair));
            wanted.map(|pair| pair.id.to_owned()).collect::<Vec<_>>()
        };
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let scored = pairing.pairs.iter().filter(|pair| pair.after.is_some());
        let before = scored.filter(|pair| pair.before).fold(0, |n, _| n + 1);
        let after = before + counts.better - counts.worse;
        let noise = stats::ratio(counts.better, counts.pairs).unwrap_or(0.0);
        Self {
            baseline_run: baseline.run_ids(),
            pairs: counts.pairs,
            baseline_accuracy: stats::ratio(before, counts.pairs),
            baseline_ci95: stats::wilson95(before, counts.pairs),
            accuracy: stats::ratio(after, counts.pairs),
            accuracy_ci95: stats::wilson95(after, counts.pairs),
            worse: counts.worse,
            better: counts.better,
            p: counts.p(),
            drop: counts.drop(),
            smallest_drop: stats::smallest_detectable_drop(counts.pairs, noise, alpha, POWER),
            assumption: format!(
                "assuming that samples flip independently and that {} % of them flip each way by chance \
                 (as many as became correct here)",
                (noise * 1e3).round() / 10.0
            ),
            became_wrong: ids(|pair| pair.before && pair.after == Some(false)),
            became_correct: ids(|pair| !pair.before && pair.after == Some(true)),
            unknown: ids(|pair| pair.after.is_none()),
            added: owned(&pairing.added),
            removed: owned(&pairing.removed),
            changed: owned(&pairing.changed),
            warning: (!baseline.digest_matches).then(|| {
                format!(
                    "the snapshots are no longer those of run `{}`, so chance is no longer even-handed: \
                     accept one whole run with `cargo evaltest accept`",
                    printable(&baseline.run_ids())
                )
            }),
        }
    }

    fn message(
        &self,
        gate: &Gate,
        verdict: Verdict,
        pairing: &Pairing<'_>,
        epochs: Option<u32>,
    ) -> String {
        let mut lines = vec![self.headline(gate, verdict)];
        if let Some(epochs) = epochs.filter(|epochs| *epochs > 1) {
            lines.push(format!(
                "the verdict on a sample is that on the answer which most of its {epochs} epochs gave"
            ));
        }
        if let (Some(before), Some([b0, b1]), Some(after), Some([a0, a1])) = (
            self.baseline_accuracy,
            self.baseline_ci95,
            self.accuracy,
            self.accuracy_ci95,
        ) {
            lines.push(format!(
                "accuracy over the pairs: {before:.4} in the baseline (95 % interval {b0:.4} to {b1:.4}), \
                 {after:.4} now ({a0:.4} to {a1:.4})"
            ));
        }
        let listed = [
            ("became wrong", &self.became_wrong),
            ("became correct", &self.became_correct),
            ("errored or skipped", &self.unknown),
            ("not compared, new", &self.added),
            ("not compared, gone", &self.removed),
            ("not compared, input or ground truth changed", &self.changed),
        ];
        for (title, ids) in listed {
            if !ids.is_empty() {
                lines.push(format!("{title}: {}", name_some(ids)));
            }
        }
        if !self.unknown.is_empty() {
            let p = |unknown| show_p(Counts::of(&pairing.pairs, Some(unknown)).p());
            lines.push(format!(
                "with the errored and skipped samples p would be {} if they were wrong, {} if correct",
                p(false),
                p(true)
            ));
        }
        lines.push(match self.smallest_drop {
            Some(drop) => format!(
                "with {} pairs a drop of {:.1} points or more is seen with 80 % power, {}",
                self.pairs,
                drop * 100.0,
                self.assumption
            ),
            None => format!(
                "with {} pairs no drop is seen with 80 % power, {}",
                self.pairs, self.assumption
            ),
        });
        lines.extend(
            self.warning
                .iter()
                .map(|warning| format!("warning: {warning}")),
        );
        lines.join("\n")
    }

    fn headline(&self, gate: &Gate, verdict: Verdict) -> String {
        if self.pairs == 0 {
            return "no sample was scored both in the baseline and now".to_owned();
        }
        let counts = format!(
            "of {} pairs {} became wrong and {} became correct, p = {}",
            self.pairs,
            self.worse,
            self.better,
            show_p(self.p)
        );
        let alpha = gate.level();
        let sign = if self.p < alpha { "<" } else { ">=" };
        let mut text = format!("{counts} {sign} alpha {alpha}");
        if let Some((max, drop)) = gate.max_drop.zip(self.drop) {
            let sign = if drop > max { ">" } else { "<=" };
            text = format!("{text}, drop {drop:.4} {sign} max_drop {max}");
        }
        match verdict {
            Verdict::Inconclusive => format!(
                "{text}; {} errored or skipped samples leave it open, ask them again with `cargo evaltest \
                 run --resume RUN_DIR`",
                self.unknown.len()
            ),
            _ => text,
        }
    }
}

fn name_some(ids: &[String]) -> String {
    let named: Vec<String> = ids.iter().take(NAMED).map(|id| printable(id)).collect();
    match ids.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Ids come from datasets: no control character of theirs may reach a terminal.
fn printable(id: &str) -> String {
    id.replace(char::is_control, "\u{fffd}")
}

fn show_p(p: f64) -> String {
    if p < 1e-4 {
        format!("{p:.1e}")
    } else {
        format!("{p:.4}")
    }
}

#[cfg(test)]
mod tests;
