//! The beginning of a text, for the reason of a verdict.

use super::line::is_unseen;

/// The first characters of a text, with `…` where more follows; what is not seen is a space. Shorter than an
/// [`excerpt`](super::excerpt), as a reason may quote several.
pub(crate) fn snippet(text: &str) -> String {
    const CHARS: usize = 60;
    let mut chars = text.chars();
    let start = chars.by_ref().take(CHARS);
    let mut start: String = start.map(|c| if is_unseen(c) { ' ' } else { c }).collect();
    if chars.next().is_some() {
        start.push('…');
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(snippet("a\nb\u{202e}é"), "a b é");
        assert_eq!(snippet(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(snippet(&"é".repeat(61)), "é".repeat(60) + "…");
    }
}
