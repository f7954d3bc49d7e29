//! The beginning of a text, for messages.

/// The first characters of a text on one line, with `…` where more follows.
pub(crate) fn excerpt(text: &str) -> String {
    const CHARS: usize = 60;
    let mut chars = text.chars();
    let start = chars.by_ref().take(CHARS);
    let mut start: String = start
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
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
        assert_eq!(excerpt("a\nb\u{7}é"), "a b é");
        assert_eq!(excerpt(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(excerpt(&"é".repeat(61)), "é".repeat(60) + "…");
    }
}
