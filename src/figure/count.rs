//! `Count`: a large count; also counts with nouns.

use std::fmt::{self, Display, Formatter};

use crate::stats::as_f64;

/// A count that may be in the millions: `950`, `12.3k`, `4.5M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let amount = as_f64(self.0);
        f.pad(&match self.0 {
            0..10_000 => self.0.to_string(),
            10_000..999_950 => format!("{:.1}k", amount / 1e3),
            _ => format!("{:.1}M", amount / 1e6),
        })
    }
}

/// A count with its noun: `1 item`, `3 items`, `2 replies`, `2 losses`.
pub fn counted(number: u64, noun: &str) -> String {
    let stem = noun
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o']));
    match (number, stem) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ if noun.ends_with('s') => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        let check = |count: u64, expect: &str| assert_eq!(Count(count).to_string(), expect);
        check(9_999, "9999");
        check(12_345, "12.3k");
        check(4_510_000, "4.5M");
    }

    #[test]
    fn things_are_counted() {
        let check =
            |number: u64, noun: &str, expect: &str| assert_eq!(counted(number, noun), expect);
        check(1, "item", "1 item");
        check(0, "item", "0 items");
        check(2, "reply", "2 replies");
        check(3, "essay", "3 essays");
        check(2, "loss", "2 losses");
    }
}
