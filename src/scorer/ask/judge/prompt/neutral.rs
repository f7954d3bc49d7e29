//! Texts of others without anything that could be taken for the lines around them.
//!
//! Each change is a backslash, put where anybody sees it and where whoever looks for the text as it was can take it
//! away again: of a text with the backslash already there, another is put beside it, so that two texts never become one.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// What looks like the beginning of a delimiter, in any case and width, with or without characters that nobody sees.
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

/// The text with what looks like a delimiter, and with the mark, cut in two by a backslash.
pub(super) fn neutral<'a>(text: &'a str, mark: &str) -> Cow<'a, str> {
    match DELIMITER.replace_all(text, r"${head}\${tail}") {
        Cow::Borrowed(text) => without_mark(text, mark).map_or(Cow::Borrowed(text), Cow::Owned),
        Cow::Owned(text) => Cow::Owned(without_mark(&text, mark).unwrap_or(text)),
    }
}

/// The text with a backslash in the middle of each mark; `None` where there is none.
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
