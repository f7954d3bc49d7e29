//! Texts from outside on one line that says what it seems to say.

/// The text on one line, without anything a terminal would act on: such characters become escapes.
pub(crate) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Whether a character does something instead of being seen: control characters, and the marks that turn the
/// direction of a text and so what a reader takes the line for.
pub(super) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped() {
        assert_eq!(on_one_line("a\nb\x1b[1mé"), "a\\nb\\u{1b}[1mé");
        assert_eq!(on_one_line("\u{202e}x\0"), "\\u{202e}x\\u{0}");
    }
}
