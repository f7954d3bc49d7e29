//! The start of a text, for the reason of a verdict.

use crate::printable::is_unseen;

/// The first characters of a text, with `…` if more follow. Control characters become spaces, other invisible
/// characters escapes. Shorter than an [`excerpt`](super::excerpt), as a reason may quote several.
pub(crate) fn snippet(text: &str) -> String {
    const CHARS: usize = 60;
    let mut chars = text.chars();
    let start = chars.by_ref().take(CHARS);
    let mut out = String::with_capacity(CHARS);
    for c in start {
        match c {
            _ if c.is_control() => out.push(' '),
            _ if is_unseen(c) => out.extend(c.escape_default()),
            _ => out.push(c),
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_truncated() {
        assert_eq!(snippet("a\nb\u{202e}é\u{200b}"), "a b\\u{202e}é\\u{200b}");
        assert_eq!(snippet(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(snippet(&"é".repeat(61)), "é".repeat(60) + "…");
    }
}
