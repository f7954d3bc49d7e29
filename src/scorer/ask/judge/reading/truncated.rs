//! Where JSON starts that does not end, because the reply was truncated.

use std::sync::LazyLock;

use regex::Regex;

/// The start of an object, or of a list of texts.
static START: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"\{\s*(?:["'“‘]|\w+\s*[:=])|\[\s*["'“‘{]"#;
    Regex::new(pattern).expect("a constant pattern")
});

/// Where the first object or list starts that is never closed; the length of the text if there is none.
///
/// `text` has no objects that can be read.
pub(super) fn truncated(text: &str) -> usize {
    let Some(first) = START.find(text) else {
        return text.len();
    };
    let starts: Vec<usize> = START.find_iter(text).map(|found| found.start()).collect();
    let by_brackets = open_by_brackets(text, first.start());
    let by_brackets = by_brackets
        .into_iter()
        .find(|place| starts.binary_search(place).is_ok());
    // A bracket within a text closes nothing. Where quotes are not escaped, the last character tells.
    let last = text.trim_end_matches(|c: char| c.is_whitespace() || c == '`');
    let by_texts = if last.ends_with(['}', ']']) {
        None
    } else {
        ends_open(text, first.start()).then_some(first.start())
    };
    [by_brackets, by_texts]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(text.len())
}

/// The brackets from a place on that are never closed, outermost first.
fn open_by_brackets(text: &str, from: usize) -> Vec<usize> {
    let mut open: Vec<(usize, u8)> = Vec::new();
    for (place, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            b'{' | b'[' => open.push((place, byte + 2)),
            b'}' | b']' if open.last().is_some_and(|(_, close)| *close == byte) => {
                open.pop();
            }
            _ => {}
        }
    }
    open.into_iter().map(|(place, _)| place).collect()
}

/// Whether the value that starts here is still open at the end of the text, if brackets in its texts do not count.
fn ends_open(text: &str, from: usize) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in text[from..].bytes() {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_json_is_truncated() {
        let check = |text: &str, expect: Option<usize>| {
            let found = truncated(text);
            assert_eq!((found < text.len()).then_some(found), expect, "{text}");
        };
        check("GRADE: C", None);
        check(r#"{"verdict": "C""#, Some(0));
        check(r#"So: {"verdict": "C", "reason": "It"#, Some(4));
        check("{'verdict': 'C'", Some(0));
        check("{verdict: C", Some(0));
        check(r#"["C""#, Some(0));
        check(r#"{"reason": "a }", "verdict": "C""#, Some(0));
        check("```json\n{\"verdict\": \"C\"\n```", Some(8));
        check("{verdict: C}", None);
        check(r#"{"reason": "he says "5 and so", "verdict": "C"}"#, None);
        check("The `{` of `if (x) {` is not closed.\nGRADE: C", None);
        check(r"the set $\{x: x > 0\}$ is GRADE: C", None);
        check("[[C]]", None);
    }
}
