//! The default gate of every eval.

use super::Gate;

/// Default maximum of the error rate; with more errors, nothing is known about the agent.
pub(crate) const DEFAULT_ERROR_RATE: f64 = 0.05;

/// Appends the default gate `error_rate <= 0.05`, unless an own gate has that name, or is the one for the tier that
/// runs. The error rate of a slice says nothing about the other samples and does not replace it.
pub(crate) fn with_default(own: &[Gate], tier: Option<&str>) -> Vec<Gate> {
    let default = Gate {
        is_default: true,
        ..Gate::error_rate(DEFAULT_ERROR_RATE)
    };
    let is_of_tier = |gate: &Gate| gate.tier.is_none() || gate.tier.as_deref() == tier;
    let is_needed = !own.iter().any(|it| it.is_error_rate() && is_of_tier(it));
    let own = own.iter().cloned();
    own.chain(is_needed.then_some(default)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_eval_has_an_error_rate() {
        fn check(own: &[&str], expect: &[(&str, bool)]) {
            let own: Vec<Gate> = own.iter().map(|text| text.parse().unwrap()).collect();
            let all = with_default(&own, Some("quick"));
            let all = all.iter().map(|gate| (gate.to_string(), gate.is_default));
            let all: Vec<_> = all.collect();
            let expect: Vec<_> = expect
                .iter()
                .map(|&(text, is)| (text.to_owned(), is))
                .collect();
            assert_eq!(all, expect);
        }
        let default = ("error_rate <= 0.05", true);
        check(&[], &[default]);
        check(&["accuracy >= 0.5"], &[("accuracy >= 0.5", false), default]);
        check(&["error_rate < 1"], &[("error_rate < 1", false)]);
        let of_slice = "error_rate[level=1] <= 0.2";
        check(&[of_slice], &[(of_slice, false), default]);
        let of_tier = "error_rate[tier=quick] <= 0.2";
        check(&[of_tier], &[(of_tier, false)]);
        let of_other = "error_rate[tier=full] <= 0.2";
        check(&[of_other], &[(of_other, false), default]);
    }
}
