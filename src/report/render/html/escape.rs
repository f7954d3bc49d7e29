//! Escapes untrusted texts and script data for HTML. The only module that does so.
//!
//! An escaped text is safe between tags and in double-quoted attributes. Invisible characters (bidirectional marks,
//! zero-width characters, control characters) are shown as escapes.

use std::fmt::{self, Display};
use std::io::{self, Write};

use serde::Serialize;

use crate::printable::{is_unseen, joins};

/// A text on one line.
pub(crate) fn text(text: &str) -> HtmlText<'_> {
    HtmlText {
        text,
        keeps_lines: false,
    }
}

/// A text with its line breaks, for elements whose style shows them.
pub(crate) fn lines(text: &str) -> HtmlText<'_> {
    HtmlText {
        text,
        keeps_lines: true,
    }
}

/// An escaped text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HtmlText<'a> {
    text: &'a str,
    keeps_lines: bool,
}

impl Display for HtmlText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plain = 0;
        let mut before = ' ';
        for (place, c) in self.text.char_indices() {
            let escape = match c {
                '<' => "&lt;",
                '>' => "&gt;",
                '&' => "&amp;",
                '"' => "&quot;",
                '\'' => "&#39;",
                _ if is_visible(c, before, self.keeps_lines) => {
                    before = c;
                    continue;
                }
                _ => "",
            };
            out.write_str(&self.text[plain..place])?;
            out.write_str(escape)?;
            if escape.is_empty() {
                write!(out, "{}", c.escape_default())?;
            }
            plain = place + c.len_utf8();
            before = c;
        }
        out.write_str(&self.text[plain..])
    }
}

/// Whether a character is shown unchanged.
fn is_visible(c: char, before: char, keeps_lines: bool) -> bool {
    match c {
        '\n' | '\t' => keeps_lines,
        _ => !is_unseen(c) || joins(c, before),
    }
}

/// Writes data for the page's scripts: JSON in an inert element. It contains no `<`, so no text can end the element or
/// start another.
pub(crate) fn data(id: &str, value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "<script type=\"application/json\" data-part=\"{}\">",
        text(id)
    )?;
    serde_json::to_writer(NoTags { out }, value)?;
    writeln!(out, "</script>")
}

/// Escapes `<` in JSON, where it only occurs in strings.
struct NoTags<'a> {
    out: &'a mut dyn Write,
}

impl Write for NoTags<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pieces = bytes.split(|byte| *byte == b'<');
        if let Some(first) = pieces.next() {
            self.out.write_all(first)?;
        }
        for piece in pieces {
            self.out.write_all(b"\\u003c")?;
            self.out.write_all(piece)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A text on one line, truncated to `most` characters.
pub(crate) fn truncate(whole: &str, most: usize) -> String {
    // Read only the beginning of a long text.
    let mut line = String::new();
    for word in whole.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 4 * most {
            break;
        }
    }
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text(line[..end].trim_end())),
        None => text(&line).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_text_wherever_it_stands() {
        fn check(raw: &str, expect: &str) {
            assert_eq!(text(raw).to_string(), expect);
        }
        check("plain words, 1-2 (ok)", "plain words, 1-2 (ok)");
        check("</p><script>x", "&lt;/p&gt;&lt;script&gt;x");
        check(
            "\" onclick='x' &amp;",
            "&quot; onclick=&#39;x&#39; &amp;amp;",
        );
        check("\0\u{1b}[31m\u{202e}", "\\u{0}\\u{1b}[31m\\u{202e}");
        check("a\nb\r\tc\u{feff}", "a\\nb\\r\\tc\\u{feff}");
        check("❤\u{fe0f} a\u{200d}b", "❤\u{fe0f} a\\u{200d}b");
        check("עברית", "עברית");
        assert_eq!(lines("a\n\tb\r").to_string(), "a\n\tb\\r");
        assert_eq!(truncate("  <b>\n  ", 9), "&lt;b&gt;");
        assert_eq!(truncate("<bcd ef", 5), "&lt;bcd…");
        assert_eq!(truncate("one\n\ttwo", 20), "one two");
    }

    #[test]
    fn data_has_no_tags_and_is_the_same_when_read() {
        let hostile = "</script><!--<script>\u{2028}\0\u{202e}\"\\ __proto__";
        let mut out = Vec::new();
        data("x", &vec![hostile], &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let inner = out.strip_prefix("<script type=\"application/json\" data-part=\"x\">");
        let inner = inner.unwrap().strip_suffix("</script>\n").unwrap();
        assert!(!inner.contains('<'), "{inner}");
        let read: Vec<String> = serde_json::from_str(inner).unwrap();
        assert_eq!(read, [hostile]);
    }
}
