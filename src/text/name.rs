//! Turns any text into a file name or a test name.

use crate::printable::on_one_line;
use crate::text::hash::Hasher;

/// A file name for any text: `[a-z0-9._-]`, at most 100 characters, with a hash if information was lost.
pub(crate) fn file_name(text: &str) -> String {
    let fits =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let mut name: String = text
        .chars()
        .take(80)
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if fits(c) { c } else { '_' })
        .collect();
    if name != text || name.is_empty() || name.starts_with('.') {
        name = format!(
            "{}-{}",
            name.trim_start_matches('.'),
            &Hasher::default().part(text).short()[..8]
        );
    }
    name
}

/// Part of a test name for any text: control characters and white space become `_`, other invisible characters escapes.
pub(crate) fn readable(text: &str) -> String {
    let clean = |c: char| {
        if c.is_control() || c.is_whitespace() {
            '_'
        } else {
            c
        }
    };
    if text.is_empty() {
        "_".to_owned()
    } else {
        on_one_line(&text.chars().map(clean).collect::<String>())
    }
}

/// The group of a sample's test: `gaia::level1`, or the eval if there are no slices. Categories need no word before
/// their name: `bfcl::simple_python`.
pub(crate) fn trial_group(eval: &str, slice: Option<(&str, &str)>) -> String {
    match slice {
        Some(("category", value)) => format!("{eval}::{}", readable(value)),
        Some((dimension, value)) => format!("{eval}::{}{}", readable(dimension), readable(value)),
        None => eval.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_becomes_a_part_of_a_test_name_that_is_seen() {
        fn check(id: &str, expect: &str) {
            assert_eq!(readable(id), expect);
        }
        check("", "_");
        check("a b\n\u{85}\u{2028}c", "a_b___c");
        check("a\u{200b}\u{202e}b", "a\\u{200b}\\u{202e}b");
        check("##[error]::x", "\\u{23}#[error]::x");
    }

    #[test]
    fn any_id_becomes_a_file_name_of_its_own() {
        assert_eq!(file_name("e1fc63a2-da7a"), "e1fc63a2-da7a");
        for id in [
            "",
            ".",
            "..",
            "a/b",
            "A",
            "a b",
            "日本",
            "con\n",
            &"x".repeat(300),
        ] {
            let name = file_name(id);
            assert!(
                name.len() <= 100 && !name.starts_with('.') && !name.contains('/'),
                "{name}"
            );
            assert_ne!(name, id);
        }
        assert_ne!(file_name("a/b"), file_name("a_b"));
        assert_ne!(file_name("A"), file_name("a"));
    }
}
