//! Makes untrusted texts safe to print for people, terminals and CI log parsers.

use std::borrow::Cow;

/// The text on one line: invisible characters are escaped, and so is the start of anything that a CI log would
/// interpret as a command.
pub(crate) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    // GitHub interprets a line that starts with this, after white space, as a command.
    let mut begins_command = text.trim_start().starts_with("::");
    for (place, c) in text.char_indices() {
        if is_unseen(c) {
            line.extend(c.escape_default());
        } else if c == ':' && std::mem::take(&mut begins_command)
            || c == '#' && is_mark(&text.as_bytes()[place..])
        {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line
}

/// Like [`on_one_line`], but keeps the line breaks.
pub(crate) fn on_lines(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c != ':' && c != '#' && (c == '\n' || !is_unseen(c));
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<String> = text.split('\n').map(on_one_line).collect();
    Cow::Owned(lines.join("\n"))
}

/// Whether a character has an effect instead of being visible: control characters, line ends, bidirectional marks
/// (which can make a line read differently), and zero-width characters (which make different texts look equal):
/// Unicode's `Default_Ignorable_Code_Point`.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether an invisible character is part of the symbol before it: the variation selector in `⚠️`, or the joiner between
/// two emoji. Between letters, or many in a row, these characters could hide a message.
pub(crate) fn joins(c: char, before: char) -> bool {
    let is_symbol = !before.is_ascii() && !before.is_alphanumeric() && !is_unseen(before);
    match c {
        '\u{fe0f}' => is_symbol,
        '\u{200d}' => is_symbol || before == '\u{fe0f}',
        _ => false,
    }
}

/// Whether a text starts with a command marker that GitHub, Azure or `TeamCity` recognise anywhere in a line: `##[`,
/// `##vso[`, `##teamcity[`.
pub(crate) fn is_mark(text: &[u8]) -> bool {
    let behind = text.strip_prefix(b"##").and_then(|rest| {
        let mut rest = rest.iter();
        rest.find(|byte| !byte.is_ascii_alphanumeric() && **byte != b'-')
    });
    behind == Some(&b'[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped() {
        fn check(text: &str, expect: &str) {
            assert_eq!(on_one_line(text), expect);
        }
        check("a\nb\x1b[1mé", "a\\nb\\u{1b}[1mé");
        check("\u{202e}x\0", "\\u{202e}x\\u{0}");
        check("a\u{85}b\u{2028}c\u{2029}", "a\\u{85}b\\u{2028}c\\u{2029}");
        for c in [
            '\u{ad}',
            '\u{61c}',
            '\u{180e}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{2060}',
            '\u{2064}',
            '\u{2066}',
            '\u{206f}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            check(&format!("a{c}"), &format!("a\\u{{{:x}}}", u32::from(c)));
        }
        // Accents and scripts are visible.
        check("e\u{301} 東京 नि שלום", "e\u{301} 東京 नि שלום");
    }

    #[test]
    fn no_text_begins_a_command_of_ci() {
        fn check(text: &str, expect: &str) {
            assert_eq!(on_one_line(text), expect);
        }
        check("::error::x", "\\u{3a}:error::x");
        check(" \u{a0}::add-mask::x", " \u{a0}\\u{3a}:add-mask::x");
        check("std::mem: a::b", "std::mem: a::b");
        check(": :", ": :");
        check("x ##[error]y", "x \\u{23}#[error]y");
        check("###[group]", "#\\u{23}#[group]");
        check("##vso[task.setvariable]", "\\u{23}#vso[task.setvariable]");
        check("##teamcity[x", "\\u{23}#teamcity[x");
        check("## A title [1]", "## A title [1]");
        check("a\n::error::", "a\\n::error::");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(
            on_lines("a: 1\n  ::error::b\n"),
            "a: 1\n  \\u{3a}:error::b\n"
        );
        assert_eq!(on_lines("a\r\n\u{202e}"), "a\\r\n\\u{202e}");
        assert!(matches!(on_lines("a\nb"), Cow::Borrowed("a\nb")));
    }
}
