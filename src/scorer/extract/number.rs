//! `number`: the last number of a text.

use std::sync::LazyLock;

use regex::{Match, Regex};

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+")
        .expect("a constant pattern")
});

/// The last number: digits, with thousands separators, fraction and exponent, and with a sign that no letter or digit
/// precedes: the last number of `5-3` is 3, that of `x = -3` is -3.
pub(super) fn last(raw: &str) -> Option<&str> {
    NUMBER
        .find_iter(raw)
        .last()
        .map(|found| with_sign(raw, found))
}

/// The number of a text that contains exactly one.
pub(super) fn only(raw: &str) -> Option<&str> {
    let mut numbers = NUMBER.find_iter(raw);
    let found = numbers.next()?;
    numbers.next().is_none().then(|| with_sign(raw, found))
}

fn with_sign<'a>(raw: &'a str, found: Match<'_>) -> &'a str {
    let before = &raw[..found.start()];
    let is_minus = |c: char| c == '-' || c == '\u{2212}';
    let sign = before
        .chars()
        .next_back()
        .filter(|&c| is_minus(c) || c == '+');
    let start = match sign {
        Some(sign) => {
            let start = before.len() - sign.len_utf8();
            let previous = raw[..start].chars().next_back();
            let is_operator = previous.is_some_and(|c| c.is_alphanumeric() || c == ')' || c == ']');
            if is_operator { before.len() } else { start }
        }
        None => before.len(),
    };
    &raw[start..found.end()]
}
