//! Which gates are evaluated in a run of a tier.
//!
//! A gate that names a tier is evaluated only there. One that names none is evaluated in the largest tier and in runs
//! without a tier: a threshold for all samples is chance for five of them. The error rate of a whole run is checked in
//! every tier, as it shows whether the other gates can be trusted.

use crate::error::{Error, Result, nearest};
use crate::text::clean;
use crate::verdict::facts::Facts;
use crate::verdict::gate::{ERROR_RATE, Gate};
use crate::verdict::result::{GateResult, Verdict};

impl Facts<'_> {
    /// The result of a gate that is not evaluated in the tier of this run; `None` if it is.
    pub(super) fn of_other_tier(&self, gate: &Gate, gates: &[Gate]) -> Option<GateResult> {
        let ran = self.tier.as_deref();
        let why = match (gate.tier.as_deref(), ran) {
            (Some(of), Some(ran)) if of == ran => return None,
            (Some(of), Some(ran)) => format!("it is for tier `{of}`, and this is `{ran}`"),
            (Some(of), None) => {
                format!("it is for tier `{of}`, and all samples were asked: `--tier {of}` asks it")
            }
            (None, Some(ran)) => {
                let largest = self.below_tier.as_deref()?;
                let is_errors = gate.metric.is(ERROR_RATE) && gate.slice.is_none();
                let has_own = |other: &Gate| {
                    other.metric.is(ERROR_RATE)
                        && other.slice.is_none()
                        && other.tier.as_deref() == Some(ran)
                };
                if is_errors && !gates.iter().any(has_own) {
                    return None;
                }
                let meant = gate.clone().tier(ran).name();
                format!(
                    "tier `{ran}` is smaller than `{largest}`, where gates without a tier are asked; one for this tier is \
                     `{meant}`"
                )
            }
            (None, None) => return None,
        };
        Some(GateResult {
            other_tier: true,
            ..GateResult::of(gate, Verdict::Ignored, None, why)
        })
    }
}

impl Gate {
    /// Refuses a tier that the eval does not have.
    pub(super) fn validate_tier(&self, tiers: &[String]) -> Result<()> {
        let Some(tier) = self.tier.as_deref() else {
            return Ok(());
        };
        if tiers.iter().any(|known| known == tier) {
            return Ok(());
        }
        let error = Error::usage(format!(
            "gate `{self}`: the eval has no tier `{}`",
            clean(tier)
        ));
        if let Some(hint) = missing("tier", tier).filter(|_| tiers.is_empty()) {
            return Err(error.hint(hint));
        }
        let all = tiers.join("`, `");
        Err(
            error.hint(match nearest(tier, tiers.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `[tier={near}]`? its tiers: `{all}`"),
                None => format!("its tiers: `{all}`"),
            }),
        )
    }
}

/// The hint if a slice is meant as a tier.
pub(super) fn missing(dimension: &str, value: &str) -> Option<String> {
    (dimension == "tier").then(|| {
        let tier = clean(value);
        format!("if it is a tier, say how large: `tiers: {{ {tier}: {{ limit: 5 }}, full: {{}} }}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Record, Score};
    use crate::verdict::gate::with_default;
    use crate::verdict::summary::Summary;

    #[test]
    fn each_tier_asks_its_own_gates() {
        fn check(own: &[&str], tier: Option<(&str, bool)>, expect: &[&str]) {
            let records = [Record::scored("a", Score::binary(true))];
            let own: Vec<Gate> = own.iter().map(|text| text.parse().unwrap()).collect();
            let name = tier.map(|(name, _)| name.to_owned());
            let facts = Facts {
                selected: 1,
                total: 1,
                below_tier: tier
                    .filter(|(_, is_largest)| !is_largest)
                    .map(|_| "full".to_owned()),
                tier: name.clone(),
                ci: true,
                ..Facts::of(Summary::of("e", &records))
            };
            let gates = with_default(&own, name.as_deref());
            let results = facts.check(&gates);
            let requested = results.iter().filter(|result| !result.other_tier);
            let requested: Vec<_> = requested.map(|result| result.gate.name()).collect();
            assert_eq!(requested, expect, "{tier:?}");
            let summary = facts.conclude(&gates);
            assert_eq!(summary.exit_code.code(), 0);
        }
        let gates = ["accuracy > 0", "accuracy[tier=quick] > 0"];
        check(&gates, None, &["accuracy", "error_rate"]);
        check(&gates, Some(("full", true)), &["accuracy", "error_rate"]);
        let quick = Some(("quick", false));
        check(&gates, quick, &["accuracy[tier=quick]", "error_rate"]);
        check(&gates, Some(("some", false)), &["error_rate"]);
        check(&["error_rate <= 0.1"], quick, &["error_rate"]);
        let both = ["error_rate <= 0.1", "error_rate[tier=quick] <= 0.5"];
        check(&both, quick, &["error_rate[tier=quick]"]);
        check(&both, None, &["error_rate"]);
    }
}
