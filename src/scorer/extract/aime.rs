//! `aime`: the integer at the end of a solution.

use std::sync::LazyLock;

use regex::Regex;

use super::{boxed, number};

/// `the answer is 25`, `Answer: **025**`, `answer = $25$`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\banswer(?:\s+is)?\s*[:=]?[\s*_`$(\\]*([+\-−]?[0-9][0-9,]*(?:\.[0-9]+)?)")
        .expect("a constant pattern")
});

/// The content of the last `\boxed{…}`; otherwise the number last called the answer; otherwise the last number.
pub(super) fn answer(raw: &str) -> Option<&str> {
    let named = || {
        let found = NAMED.captures_iter(raw).last()?;
        found
            .get(1)
            .map(|number| number.as_str().trim_end_matches(','))
    };
    boxed::last(raw)
        .or_else(named)
        .or_else(|| number::last(raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_then_the_word_then_the_last_number() {
        let check = |raw: &str, expect: Option<&str>| assert_eq!(answer(raw), expect, "{raw:?}");
        check("so $\\boxed{025}$, not 7", Some("025"));
        check(
            "\\boxed{1} or rather \\boxed{m+n = 25}. The answer is 3",
            Some("m+n = 25"),
        );
        check("The answer is 25, as 7 < 8", Some("25"));
        check("Answer 1: no. **Answer:** $033$ (3 ways)", Some("033"));
        check("FINAL ANSWER: 12\n(4 lines)", Some("12"));
        check("answer = 3.5 of 4", Some("3.5"));
        check("25 + 8 = 33", Some("33"));
        check("answering 5 of 6", Some("6"));
        check("no number", None);
        check("", None);
    }
}
