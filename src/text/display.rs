//! Cleans texts for display on a terminal, in a log or in a report.

use std::borrow::Cow;

use crate::printable::{on_lines, on_one_line};

/// `text` on one line, without anything a terminal or a CI log would act on, and without invisible characters.
pub fn clean(text: &str) -> String {
    on_one_line(text)
}

/// Like [`clean`], but keeps line breaks.
pub fn clean_lines(text: &str) -> Cow<'_, str> {
    on_lines(text)
}

/// Like [`clean`], truncated to a readable length.
pub fn excerpt(text: &str) -> String {
    let mut short: String = clean(text.trim()).chars().take(200).collect();
    if text.trim().chars().count() > 200 {
        short.push('…');
    }
    short
}

/// Names in backticks, separated by commas: `` `a`, `b` ``.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names
        .into_iter()
        .map(|name| format!("`{}`", name.escape_debug()))
        .collect();
    names.join(", ")
}

/// `text` quoted as one word of a shell command.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    let text = clean(text);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        assert_eq!(
            clean("a\x1b[2Jb\u{202e}c\r\n"),
            "a\\u{1b}[2Jb\\u{202e}c\\r\\n"
        );
    }

    #[test]
    fn an_excerpt_has_a_readable_length() {
        fn check(text: &str, expect: &str) {
            assert_eq!(excerpt(text), expect);
        }
        check(" a\nb ", "a\\nb");
        check(&"é".repeat(200), &"é".repeat(200));
        check(&"é".repeat(201), &("é".repeat(200) + "…"));
    }

    #[test]
    fn names_are_in_backticks_and_shell_words_in_quotation_marks() {
        assert_eq!(quoted(["a", "b\n"]), "`a`, `b\\n`");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word("a-1"), "a-1");
    }
}
