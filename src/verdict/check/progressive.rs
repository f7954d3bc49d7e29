//! The checkpoint after each tier of a progressive run: whether the run ends there.
//!
//! It ends if a gate of this tier fails, if the promotion fails, or if a gate of all samples can no longer pass: an
//! accuracy by the exact bound for the finite set of samples of which a part was drawn, a sum because it only grows,
//! and `no_regression` by this checkpoint's part of its alpha. Errors count as right there, so that an outage ends no
//! run. For the promotion they count as both, so an outage promotes none either.

use std::borrow::Cow;

use crate::figure::{Percent, Value};
use crate::stats;
use crate::verdict::facts::Facts;
use crate::verdict::gate::{ACCURACY, FAILURE_RATE, Gate, Metric, Op, Slice};
use crate::verdict::metric::{Figures, show};
use crate::verdict::result::Progressive;
use crate::verdict::result::{GateResult, Verdict};

/// How often chance may end a run at any of its tiers whose accuracy would have held.
const ALPHA: f64 = 0.05;

/// What a tier checkpoint needs in addition to the facts of the tier.
pub(crate) struct CheckpointInput<'a> {
    pub(crate) gates: &'a [Gate],
    pub(crate) promote: Option<&'a Gate>,
    /// The number of samples in all, or of a slice.
    pub(crate) size: &'a dyn Fn(Option<&Slice>) -> u64,
    /// Whether answers are independent: one per sample, and no groups.
    pub(crate) is_plain: bool,
}

impl Facts<'_> {
    /// What ends the run after this tier; empty if it continues.
    pub(crate) fn at_checkpoint(&self, input: &CheckpointInput<'_>) -> Vec<GateResult> {
        let Some(progressive) = &self.progressive else {
            return Vec::new();
        };
        let own = self.check(input.gates).into_iter().filter(|result| {
            let is_open = result.verdict == Verdict::Inconclusive && !result.gate.needs_baseline();
            !result.other_tier && (is_open || result.verdict == Verdict::Failed)
        });
        let mut ends: Vec<GateResult> = own.collect();
        // As in the largest tier.
        let all = Facts {
            below_tier: None,
            ..self.clone()
        };
        let shares = input.gates.iter().filter(|gate| is_share(gate)).count();
        let checkpoints = (progressive.tiers.len() - 1).max(1);
        let alpha = ALPHA / stats::as_f64((shares.max(1) * checkpoints) as u64);
        for result in all.check(input.gates) {
            let gate = &result.gate;
            let is_known = ends.iter().any(|end| end.gate == *gate);
            if gate.tier.is_some() || gate.is_default() || is_known {
                continue;
            }
            let saved = progressive.saved();
            if is_share(gate) {
                ends.extend(all.cannot_hold(gate, input, alpha));
            } else if result.verdict == Verdict::Failed
                && (gate.needs_baseline() || gate.only_grows())
            {
                let message = format!("{}; {saved} samples were not asked", result.message);
                ends.push(GateResult { message, ..result });
            }
        }
        ends.extend(input.promote.and_then(|gate| self.promotion(gate)));
        ends
    }

    /// The result of the promotion, unless it passes.
    fn promotion(&self, gate: &Gate) -> Option<GateResult> {
        let tier = self.tier.as_deref()?;
        let result = gate.clone().tier(tier).check(self);
        let what = match result.verdict {
            Verdict::Passed => return None,
            Verdict::Failed => "not promoted",
            Verdict::Inconclusive | Verdict::Ignored => "not promoted yet",
        };
        let saved = self.progressive.as_ref().map_or(0, Progressive::saved);
        let message = format!(
            "{what} beyond tier `{tier}`: {}; {saved} samples were not asked",
            result.message
        );
        let verdict = match result.verdict {
            // The tier has no sample of the slice.
            Verdict::Ignored => Verdict::Inconclusive,
            verdict => verdict,
        };
        Some(GateResult {
            message,
            verdict,
            other_tier: false,
            recorded: false,
            ..result
        })
    }

    /// The result for a share that can no longer reach its threshold.
    fn cannot_hold(
        &self,
        gate: &Gate,
        input: &CheckpointInput<'_>,
        alpha: f64,
    ) -> Option<GateResult> {
        let (op, threshold) = gate.bound?;
        if self.summary.unscored > 0 {
            // It is unknown how many of the others can be judged.
            return None;
        }
        let figures = Figures::of(self, gate.slice.as_ref())?;
        let [right, wrong, unknown] = figures.counts();
        let drawn = right + wrong + unknown;
        let all = (input.size)(gate.slice.as_ref()).max(drawn);
        let alpha = if input.is_plain { alpha } else { 0.0 };
        let most = |seen: u64| {
            let [all, drawn, seen] = [all, drawn, seen].map(|n| u32::try_from(n).ok());
            let most = stats::most_of(all?, drawn?, seen?, alpha);
            stats::ratio(u64::from(most), u64::from(all?)).map(|share| (most, share))
        };
        let is_failure = gate.metric.is(FAILURE_RATE);
        let ((most, best), what) = if is_failure {
            let (right, share) = most(right + unknown)?;
            ((u32::try_from(all).ok()? - right, 1.0 - share), "at least")
        } else {
            (most(right + unknown)?, "at most")
        };
        if op.holds(best, threshold) {
            return None;
        }
        let name = gate.label();
        let tier = self.tier.as_deref().unwrap_or_default();
        let saved = self.progressive.as_ref().map_or(0, Progressive::saved);
        let (so, seen) = if is_failure {
            ("wrong", wrong)
        } else {
            ("correct", right)
        };
        let sure = if input.is_plain {
            format!(", exact bound of {} %", show(100.0 * (1.0 - alpha), 0.0))
        } else {
            String::new()
        };
        let message = format!(
            "after tier `{tier}`, {name} can no longer meet the limit {}: {seen} of {} {so}, so {what} {most} of all \
             {all} ({}{sure}); {saved} samples were not asked",
            Percent(threshold),
            right + wrong,
            gate.metric.entry().unit.alongside(best, threshold)
        );
        let value = figures.measure(gate).ok().map(|measured| measured.value);
        Some(GateResult::of(gate, Verdict::Failed, value, message))
    }

    /// The gates as evaluated at this checkpoint: comparisons split their alpha over the tiers.
    pub(super) fn with_parts<'a>(&self, gates: &'a [Gate]) -> Cow<'a, [Gate]> {
        let Some(progressive) = &self.progressive else {
            return Cow::Borrowed(gates);
        };
        let gates = gates.iter().cloned().map(|gate| {
            if !shares_alpha(&gate) {
                return gate;
            }
            Gate {
                alpha: Some(progressive.part_of(gate.level())),
                early_stop: false,
                ..gate
            }
        });
        gates.collect()
    }

    /// The result under the original gate, with the part of alpha it used.
    pub(super) fn with_alpha_part(&self, mut result: GateResult, gate: &Gate) -> GateResult {
        let requested = std::mem::replace(&mut result.gate, gate.clone());
        let is_requested = shares_alpha(gate) && result.verdict != Verdict::Ignored;
        if let Some(progressive) = self.progressive.as_ref().filter(|_| is_requested) {
            let (part, alpha) = (requested.level(), gate.level());
            let (first, rest) = match result.message.split_once('\n') {
                Some((first, rest)) => (first, format!("\n{rest}")),
                None => (&*result.message, String::new()),
            };
            let checkpoints = progressive.tiers.len();
            let part = Value(part);
            result.message = format!(
                "{first}; alpha {alpha} is split over {checkpoints} analyses, {part} for this one{rest}"
            );
        }
        result
    }
}

/// Whether looks at it share its alpha.
fn shares_alpha(gate: &Gate) -> bool {
    gate.needs_baseline() && gate.tier.is_none()
}

/// Whether it is a bound on a share of right or wrong answers.
fn is_share(gate: &Gate) -> bool {
    let is_match = match gate.bound {
        Some((Op::AtLeast | Op::Above, _)) => gate.metric == Metric::plain(ACCURACY),
        Some((Op::AtMost | Op::Below, _)) => gate.metric.is(FAILURE_RATE),
        None => false,
    };
    is_match && gate.tier.is_none() && gate.confidence.is_none()
}
