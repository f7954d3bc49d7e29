//! Tiers of gates: `error_rate[tier=quick] <= 0.02`, `accuracy[level=1, tier=quick] >= 0.6`.
//!
//! A dataset may have a column of that name, too: in an eval without tiers the brackets are an ordinary slice.

use super::tokens::pair;
use super::{ERROR_RATE, Gate, Slice};

/// The key in the brackets.
const TIER: &str = "tier";

/// The separators of slice and tier.
const BETWEEN: [&str; 2] = ["][", ","];

impl Gate {
    /// Evaluates the gate only in runs of this tier, one of [`Eval::tier`](crate::Eval::tier). A gate without a tier is
    /// evaluated in the largest tier and in runs without a tier.
    ///
    /// ```
    /// use evaltest::Gate;
    ///
    /// let gate = Gate::error_rate(0.02).tier("quick");
    /// assert_eq!(gate.to_string(), "error_rate[tier=quick] <= 0.02");
    /// ```
    #[must_use]
    pub fn tier(mut self, name: impl Into<String>) -> Self {
        self.tier = Some(name.into());
        self
    }

    /// The only tier in which it is evaluated.
    pub(crate) fn of_tier(&self) -> Option<&str> {
        self.tier.as_deref()
    }

    /// Its brackets with their content.
    pub(super) fn brackets(&self) -> String {
        match (&self.slice, &self.tier) {
            (None, None) => String::new(),
            (Some(slice), None) => format!("[{slice}]"),
            (None, Some(tier)) => format!("[{TIER}={tier}]"),
            (Some(slice), Some(tier)) => format!("[{slice}, {TIER}={tier}]"),
        }
    }

    /// Converts a tier to a slice, as in an eval without tiers.
    pub(in crate::verdict) fn without_tiers(mut self) -> Self {
        if self.slice.is_none() {
            self.slice = self.tier.take().map(|name| Slice::new(TIER, name));
        }
        self
    }

    /// Whether it is on the error rate of a whole run, and thus replaces the default gate.
    pub(crate) fn is_error_rate(&self) -> bool {
        self.metric.is(ERROR_RATE) && self.slice.is_none()
    }
}

/// Resolves tiers and slices for an eval with or without tiers.
pub(crate) fn of_tiers(gates: Vec<Gate>, has_tiers: bool) -> Vec<Gate> {
    if has_tiers {
        return gates;
    }
    gates.into_iter().map(Gate::without_tiers).collect()
}

/// What stands in brackets, without the tier, and that.
pub(in crate::verdict) fn split_tier(inside: &str) -> (Option<&str>, Option<&str>) {
    let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let tier = |text| {
        let (of, name) = pair(text)?;
        (of == TIER && name.chars().all(is_name)).then_some(name)
    };
    if let Some(name) = tier(inside) {
        return (None, Some(name));
    }
    for between in BETWEEN {
        if let Some((rest, last)) = inside.rsplit_once(between)
            && let Some(name) = tier(last)
        {
            return (Some(rest.trim()), Some(name));
        }
        if let Some((first, rest)) = inside.split_once(between)
            && let Some(name) = tier(first)
        {
            return (Some(rest.trim()), Some(name));
        }
    }
    (Some(inside), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_stands_in_the_brackets_with_the_slice_or_alone() {
        fn check(text: &str, slice: Option<(&str, &str)>, tier: Option<&str>, written: &str) {
            let gate: Gate = text.parse().unwrap();
            let slice = slice.map(|(dimension, value)| Slice::new(dimension, value));
            assert_eq!(gate.slice, slice, "{text}");
            assert_eq!(gate.tier.as_deref(), tier, "{text}");
            assert_eq!(gate.to_string(), written);
            assert_eq!(written.parse::<Gate>().unwrap(), gate);
        }
        let level = Some(("level", "1"));
        let quick = Some("quick");
        let both = "accuracy[level=1, tier=quick] >= 0.6";
        check(both, level, quick, both);
        check("accuracy[ tier = quick,level=1 ]>=60%", level, quick, both);
        check("accuracy[level=1][tier=quick] >= 0.6", level, quick, both);
        check("accuracy[tier=quick][level=1] >= 0.6", level, quick, both);
        let alone = "error_rate[tier=quick] <= 0.02";
        check(alone, None, quick, alone);
        let compared = "no_regression(alpha=0.1)[tier=v1.5_b]";
        check(compared, None, Some("v1.5_b"), compared);
        let topic = "accuracy[topic=a, b[1]] > 0";
        check(topic, Some(("topic", "a, b[1]")), None, topic);
        let odd = "accuracy[tier=a b] > 0";
        check(odd, Some(("tier", "a b")), None, odd);
    }

    #[test]
    fn without_tiers_it_is_a_slice() {
        let gates = ["accuracy[tier=gold] > 0", "accuracy[level=1] > 0"];
        let gates = gates.map(|text| text.parse().unwrap());
        assert_eq!(of_tiers(gates.to_vec(), true), gates);
        let [gold, level] = &*of_tiers(gates.to_vec(), false) else {
            panic!("two gates");
        };
        assert_eq!(gold, &Gate::accuracy(0.0).slice("tier", "gold").above());
        assert_eq!(level, &gates[1]);
    }

    impl Gate {
        fn above(mut self) -> Self {
            self.bound = self
                .bound
                .map(|(_, number)| (super::super::Op::Above, number));
            self
        }
    }
}
