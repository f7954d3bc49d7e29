//! `Gate::check`: a finished run against a gate. Pure.

mod figures;
mod mean;
mod measured;
mod no_regression;
mod own;
mod validate;

use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::result::{GateResult, Verdict};

use figures::Figures;
use measured::show;

pub use no_regression::Counts;
pub(crate) use own::BOUNDS;
pub(crate) use validate::Known;

impl Gate {
    /// What becomes of the gate in a finished run.
    pub fn check(&self, facts: &Facts<'_>) -> GateResult {
        let result = |verdict, value, message| GateResult::of(self, verdict, value, message);
        // Some samples tell little about the agent, and enough about an outage.
        if facts.selected < facts.total && !self.is_default() {
            let message = format!("{} of {} samples selected", facts.selected, facts.total);
            return result(Verdict::Ignored, None, message);
        }
        let Some(figures) = Figures::of(facts, self.slice.as_ref()) else {
            // Every slice was checked against the whole dataset, so it is the limit that left it out.
            let message = format!("no sample of this run belongs to `{}`", self.name());
            return result(Verdict::Ignored, None, message);
        };
        let Some((op, threshold)) = self.bound else {
            return match figures.nothing_scored() {
                Some(why) => result(Verdict::Inconclusive, None, why),
                None => no_regression::check(self, facts),
            };
        };
        let measured = match figures.measure(self) {
            Ok(measured) => measured,
            Err(why) => return result(Verdict::Inconclusive, None, why),
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
        let told = match verdict {
            Verdict::Failed if self.is_default() => {
                "\nevery eval has this gate unless `gates` has an `error_rate` of its own"
            }
            _ => "",
        };
        result(verdict, Some(measured.value), message + told)
    }
}

#[cfg(test)]
mod tests;
