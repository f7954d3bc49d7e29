//! White space and word characters as JavaScript's string functions and regular expressions define them.
//!
//! Its `toLowerCase` is [`str::to_lowercase`]: the same mapping of the same version of Unicode.

/// Whether JavaScript's `\s` matches the character; `trim()` removes the same ones.
///
/// Unlike Python's white space it includes U+FEFF, and excludes U+001C to U+001F and U+0085.
pub(crate) fn is_js_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// The character of `[a-z0-9_]` in the result of `toLowerCase()` on `c`; `None` if JavaScript's `\w`, which is limited
/// to ASCII, matches nothing in it.
///
/// Two characters beyond ASCII yield a letter: the Kelvin sign `k`, and `İ` an `i` (and a combining dot, which does not
/// match).
pub(crate) fn js_lower_word(c: char) -> Option<char> {
    match c {
        'a'..='z' | '0'..='9' | '_' => Some(c),
        'A'..='Z' => Some(c.to_ascii_lowercase()),
        '\u{212a}' => Some('k'),
        'İ' => Some('i'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::tests::{needs, parity};

    #[test]
    fn space_and_words() {
        assert!(is_js_space('\u{feff}') && is_js_space('\x0b') && is_js_space('\u{2028}'));
        assert!(!is_js_space('\x1f') && !is_js_space('\u{85}') && !is_js_space('\u{200b}'));
        assert_eq!(js_lower_word('\u{212a}'), Some('k'));
        assert_eq!(js_lower_word('İ'), Some('i'));
        assert_eq!(js_lower_word('É'), None);
        assert_eq!(js_lower_word('１'), None);
    }

    #[needs(data = "unicode/js_tables.json")]
    #[test]
    fn every_code_point_is_classed_and_lowered_as_javascript_does() {
        let tables = parity::json("unicode/js_tables.json");
        let spaces: HashSet<u32> = parity::get(&tables, "js_space");
        let trimmed: HashSet<u32> = parity::get(&tables, "js_trim");
        // The keys are numbers: `serde_json` parses them from member names.
        let lower: HashMap<u32, Vec<u32>> = parity::get(&tables, "js_lower");
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            assert_eq!(is_js_space(c), spaces.contains(&code), "{c:?}");
            assert_eq!(is_js_space(c), trimmed.contains(&code), "{c:?}");
            let alone = [code];
            let expect = lower.get(&code).map_or(&alone[..], Vec::as_slice);
            let expect = expect.iter().filter_map(|&code| char::from_u32(code));
            // One character at a time, as a sigma at the end of a word becomes a different letter.
            assert!(c.to_lowercase().eq(expect.clone()), "{c:?}");
            let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
            assert!(expect.filter(is_word).eq(js_lower_word(c)), "{c:?}");
        }
    }
}
