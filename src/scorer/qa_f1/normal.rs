//! Normalises texts for comparison.

use std::borrow::Cow;

use crate::text::{is_py_punct, is_py_space, is_py_word, py_lower};

/// In lower case, without punctuation and articles, with single spaces.
pub(super) fn normalize(text: &str) -> String {
    // The whole text at once: a final sigma depends on its neighbours, including punctuation.
    let text = if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(py_lower(text))
    };
    let mut out = Words {
        text: String::with_capacity(text.len()),
        gap: false,
        word: None,
    };
    for c in text.chars() {
        if is_py_punct(c) {
            continue;
        }
        if is_py_word(c) {
            out.word_character(c.to_ascii_lowercase());
        } else if is_py_space(c) {
            out.space();
        } else {
            out.other_character(c);
        }
    }
    out.end_word();
    out.text
}

/// Words as separated by Python's `\b`, written one after the other. They may be adjacent to characters that are
/// neither word nor space, such as `’`.
struct Words {
    text: String,
    /// Whether white space, or an article replaced by it, precedes the next character.
    gap: bool,
    /// The start of the current word, with and without the space before it.
    word: Option<(usize, usize)>,
}

impl Words {
    fn word_character(&mut self, c: char) {
        if self.word.is_none() {
            let with_gap = self.text.len();
            self.close_gap();
            self.word = Some((with_gap, self.text.len()));
        }
        self.text.push(c);
    }

    fn other_character(&mut self, c: char) {
        self.end_word();
        self.close_gap();
        self.text.push(c);
    }

    fn space(&mut self) {
        self.end_word();
        self.gap = true;
    }

    fn end_word(&mut self) {
        if let Some((with_gap, start)) = self.word.take()
            && matches!(&self.text[start..], "a" | "an" | "the")
        {
            self.text.truncate(with_gap);
            self.gap = true;
        }
    }

    /// Writes one space, except at the start.
    fn close_gap(&mut self) {
        if self.gap && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_words_of_python() {
        let check = |text, expect: &str| assert_eq!(normalize(text), expect, "{text:?}");
        check("  The\tEiffel-Tower, a TOWER!", "eiffeltower tower");
        check("a.n. the-cat", "thecat");
        check("the", "");
        check("a an the", "");
        check("theory of an", "theory of");
        check("the’cat", "’cat");
        check("cat·the·cat", "cat· ·cat");
        check("a\u{301}", "\u{301}");
        check("the² a1 a_b", "the² a1 ab");
        check("x a\0the y", "x \0 y");
        check("a\x1cthe\u{85}b\u{3000}", "b");
        check("“the” b", "“ ” b");
        check("ΟΔΟΣ. Α", "οδος α");
        check("İ", "i\u{307}");
    }
}
