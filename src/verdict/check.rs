//! `Gate::check`: a finished run against a gate. Pure.

mod evidence;
mod figures;
mod mean;
mod measured;
mod no_regression;
mod own;
mod validate;

use crate::verdict::gate::{Gate, GateResult, Verdict};
use crate::verdict::summary::Summary;

use figures::Figures;
use measured::show;

pub use evidence::Evidence;
pub use mean::KnownMeans;
pub use no_regression::Counts;
pub(crate) use own::BOUNDS;
pub use validate::Known;

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
                None => Some(self.alpha.unwrap_or(crate::verdict::gate::DEFAULT_ALPHA)),
            },
            message,
            regression: None,
        }
    }
}

#[cfg(test)]
mod tests;
