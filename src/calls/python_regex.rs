//! Python's regular expressions, where they differ from the `regex` crate.

use regex::Regex;

use crate::text::{py_digit, py_word_class};

/// Compiles a pattern with Python's `\s`, which includes the four ASCII separators, and Python's `\w`, which includes
/// all kinds of numbers but no marks. Neither may be in brackets.
pub(super) fn pattern(pattern: &str) -> Regex {
    let mut pattern = pattern.replace(r"\s", r"[\s\x1c-\x1f]");
    if pattern.contains(r"\w") {
        pattern = pattern.replace(r"\w", &format!("[a-zA-Z0-9_{}]", py_word_class()));
    }
    Regex::new(&pattern).expect("a constant pattern is correct")
}

/// `-?\d+`, with the decimal digits of all scripts.
pub(super) fn integer(text: &str) -> bool {
    after_digits(text.strip_prefix('-').unwrap_or(text)) == Some("")
}

/// `-?\d+(\.\d+)?`.
pub(super) fn fraction(text: &str) -> bool {
    after_fraction(text) == Some("")
}

/// `-?\d+(\.\d+)?([eE][+-]?\d+)?`.
pub(super) fn decimal(text: &str) -> bool {
    let Some(rest) = after_fraction(text) else {
        return false;
    };
    let exponent = rest.strip_prefix(['e', 'E']);
    let digits = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    rest.is_empty() || digits.and_then(after_digits) == Some("")
}

fn after_fraction(text: &str) -> Option<&str> {
    let rest = after_digits(text.strip_prefix('-').unwrap_or(text))?;
    match rest.strip_prefix('.') {
        Some(fraction) => after_digits(fraction),
        None => Some(rest),
    }
}

/// The text after the leading digits, if there are any.
fn after_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c| py_digit(c).is_some());
    (rest.len() < text.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let word = pattern(r"^\w$");
        for text in [
            "a",
            "Z",
            "0",
            "_",
            "é",
            "²",
            "½",
            "Ⅷ",
            "٣",
            "中",
            "ª",
            "\u{10400}",
            "\u{3134a}",
        ] {
            assert!(word.is_match(text), "{text:?}");
        }
        // A mark, a circled letter, a connector, a joiner, a letter of Unicode 15 and an unassigned character.
        for text in [
            "-",
            "$",
            "\u{300}",
            "Ⓐ",
            "‿",
            "\u{200d}",
            "\u{31350}",
            "\u{378}",
        ] {
            assert!(!word.is_match(text), "{text:?}");
        }
    }

    #[test]
    fn numbers() {
        fn check(text: &str, expect: (bool, bool, bool)) {
            assert_eq!(
                (integer(text), fraction(text), decimal(text)),
                expect,
                "{text:?}"
            );
        }
        check("5", (true, true, true));
        check("-٣", (true, true, true));
        check("1.5", (false, true, true));
        check("1e-5", (false, false, true));
        check("1.5E+05", (false, false, true));
        for text in [
            "", "-", "+5", ".5", "1.", "1.e5", "1e", "1e+", "1_0", " 1", "1.5.5",
        ] {
            check(text, (false, false, false));
        }
    }
}
