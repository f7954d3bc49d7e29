//! Standardises texts for comparison like the official checker.

use std::borrow::Cow;

use crate::text::py_lower;

/// Removes spaces and `,./-_*^`, converts to lower case, and replaces single quotes by double quotes. Tabs, line
/// breaks and all other characters are retained.
pub(super) fn standardize(text: &str) -> String {
    let dropped = |c: &char| matches!(c, ' ' | ',' | '.' | '/' | '-' | '_' | '*' | '^');
    if text.is_ascii() {
        let quoted = |c: char| {
            if c == '\'' {
                '"'
            } else {
                c.to_ascii_lowercase()
            }
        };
        return text.chars().filter(|c| !dropped(c)).map(quoted).collect();
    }
    // Filter first: removed characters are no letters but would affect whether a sigma ends a word.
    let filtered: String = text.chars().filter(|c| !dropped(c)).collect();
    Cow::from(py_lower(&filtered)).replace('\'', "\"")
}

#[cfg(test)]
mod tests {
    use super::standardize;

    #[test]
    fn texts() {
        fn check(text: &str, expect: &str) {
            assert_eq!(standardize(text), expect, "{text:?}");
        }
        check("April 1, 2024", "april12024");
        check("a,b.c/d-e_f*g^h i", "abcdefghi");
        check("It's \"x\"", "it\"s\"x\"");
        check("a\tb\n(c):;", "a\tb\n(c):;");
        check("ÀÉ\u{a0}-x", "àé\u{a0}x");
        check("ΟΔΟΣ ΑΒ", "οδοσαβ");
        check("", "");
    }
}
