//! Alters untrusted texts so that nothing resembles the lines around them.
//!
//! Each change inserts a visible backslash, which can be removed to get the original back: if a backslash is there
//! already, another one is added, so that different texts stay different.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Anything that resembles the start of a delimiter, in any case and width, with or without invisible characters.
static DELIMITER: LazyLock<Regex> = LazyLock::new(|| {
    let unseen = r"[\u{ad}\u{61c}\u{180e}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2069}\u{fe00}-\u{fe0f}\u{feff}]*";
    let bracket = "[<＜﹤]";
    let word = |letters: &str| {
        let letters = letters.split(' ');
        let each: Vec<_> = letters.map(|pair| format!("[{pair}]")).collect();
        each.join(unseen)
    };
    let [begin, end] = ["bｂ eｅ gｇ iｉ nｎ", "eｅ nｎ dｄ"].map(word);
    let gap = format!(r"(?:[ \t/]{unseen})*");
    let pattern = format!(
        r"(?i)(?<head>{bracket}{unseen}{bracket}{unseen})(?<tail>\\*{bracket}{unseen}{gap}(?:{begin}|{end}))"
    );
    Regex::new(&pattern).expect("the pattern is constant")
});

/// The text, with a backslash inserted into marks and whatever resembles a delimiter.
pub(super) fn neutral<'a>(text: &'a str, mark: &str) -> Cow<'a, str> {
    match DELIMITER.replace_all(text, r"${head}\${tail}") {
        Cow::Borrowed(text) => without_mark(text, mark).map_or(Cow::Borrowed(text), Cow::Owned),
        Cow::Owned(text) => Cow::Owned(without_mark(&text, mark).unwrap_or(text)),
    }
}

/// The text with a backslash in the middle of each mark; `None` if there is no mark.
fn without_mark(text: &str, mark: &str) -> Option<String> {
    let (first, last) = mark.split_at(mark.len() / 2);
    let folded = text.to_ascii_lowercase();
    let mut out: Option<String> = None;
    let mut copied = 0;
    for (start, _) in folded.match_indices(first) {
        let middle = start + first.len();
        if folded[middle..].trim_start_matches('\\').starts_with(last) {
            let out = out.get_or_insert_default();
            out.push_str(&text[copied..middle]);
            out.push('\\');
            copied = middle;
        }
    }
    let mut out = out?;
    out.push_str(&text[copied..]);
    Some(out)
}

#[cfg(test)]
mod tests;
