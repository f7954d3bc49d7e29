//! Texts without their punctuation.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Unicode punctuation, and the ASCII symbols that count as punctuation.
static PUNCTUATION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{P}$+<=>^`|~]+").expect("a constant pattern"));

/// Removes the punctuation of all scripts: `“It’s”` becomes `Its`. Currency signs other than `$` and mathematical
/// symbols beyond ASCII stay.
pub(crate) fn without_punctuation(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        return PUNCTUATION.replace_all(text, "");
    }
    if !text.bytes().any(|byte| byte.is_ascii_punctuation()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|c| !c.is_ascii_punctuation()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(without_punctuation(text), expect, "{text:?}");
    }

    #[test]
    fn punctuation_of_any_script_goes() {
        check("It's a \"test\", no?", "Its a test no");
        check("“It’s” – a… test。", "Its  a test");
        check("a_b-c", "abc");
        check("€5 £6 ½ ×", "€5 £6 ½ ×");
        check("$5+é", "5é");
        check("plain", "plain");
    }

    #[test]
    fn both_ways_agree_on_ascii() {
        for c in '\0'..='\x7f' {
            let alone = c.to_string();
            let marked = format!("é{c}");
            let rest = &without_punctuation(&marked)["é".len()..];
            assert_eq!(without_punctuation(&alone), rest, "{c:?}");
        }
    }
}
