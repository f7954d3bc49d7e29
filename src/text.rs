//! Text primitives compatible with Python and JavaScript, shared by scorers.
//!
//! The published scorers of most benchmarks are Python or JavaScript programs, and verdicts are only comparable if
//! "white space", "lower case", "a word" and "a number" have the same meaning. Each primitive is pure and equals
//! Python 3.11 (Unicode 14) or Node 20 (Unicode 17) for every code point; the tests compare them with tables generated
//! by these interpreters.
//!
//! Also formats texts for display: [`clean`], [`excerpt`].

pub(crate) mod checksum;
pub(crate) mod hash;
pub(crate) mod json_cursor;
mod json_line;
pub(crate) mod json_rpc;
pub(crate) mod mcp;
pub(crate) mod near_copy;
mod pattern;
mod python;
pub(crate) mod redact;
pub(crate) mod setting;
pub(crate) mod splice;
pub(crate) mod tex_json;
mod word;
pub(crate) mod yaml;

pub(crate) use json_line::{EscapedLineEnds, json_line};
pub use json_line::{escape_json, escape_line_ends};
pub(crate) use pattern::{MatchScope, compile};
pub(crate) use python::{is_py_space, push_py_lower, py_digit, py_float, py_lower, py_repr_float};
use std::borrow::Cow;
use std::sync::LazyLock;
pub(crate) use word::is_py_word;
#[cfg(feature = "bfcl")]
pub(crate) use word::py_word_class;

use regex::Regex;
use serde_json::Value;

use crate::printable::{is_unseen, on_lines, on_one_line};
use crate::text::hash::Hasher;

/// Whether the character is in Python's `string.punctuation`: the 32 ASCII ones, none of Unicode's.
pub(crate) fn is_py_punct(c: char) -> bool {
    c.is_ascii_punctuation()
}

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

/// A JSON string as its text, any other value as JSON.
pub fn unquoted(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The same; `None` for `null`.
pub(crate) fn unquoted_if_any(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| unquoted(value))
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

/// Whether nobody sees the character: zero width, marks of direction, variation selectors. Some models emit them, and
/// they can hide text.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

// White space and word characters as JavaScript's string functions and regular expressions define them.
//
// Its `toLowerCase` is `str::to_lowercase`: the same mapping of the same version of Unicode.

/// Whether JavaScript's `\s` matches the character; `trim()` removes the same ones.
///
/// Unlike Python's white space it includes U+FEFF, and excludes U+001C to U+001F and U+0085.
pub(crate) fn is_js_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// The character of `[a-z0-9_]` in the result of `toLowerCase()` on `c`; `None` if JavaScript's `\w`, which is limited
/// to ASCII, matches nothing in it.
///
/// Two characters beyond ASCII yield a letter: the Kelvin sign `k`, and `İ` an `i` (and a combining dot, which does not
/// match).
pub(crate) fn js_lower_word(c: char) -> Option<char> {
    match c {
        'a'..='z' | '0'..='9' | '_' => Some(c),
        'A'..='Z' => Some(c.to_ascii_lowercase()),
        '\u{212a}' => Some('k'),
        'İ' => Some('i'),
        _ => None,
    }
}

/// The position of the first byte that cannot stand unescaped in a JSON string: a quote, a backslash or a control
/// character.
#[inline]
pub(crate) fn json_special(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks();
    for (place, word) in words.iter().enumerate() {
        let found = specials(*word);
        if found != 0 {
            return Some(8 * place + found.trailing_zeros() as usize / 8);
        }
    }
    let rest = rest.iter().position(|&byte| is_special(byte));
    rest.map(|rest| 8 * words.len() + rest)
}

/// Whether a text needs no escapes in a JSON string.
#[inline]
pub fn is_json_plain(bytes: &[u8]) -> bool {
    // In blocks; the last one overlaps the one before it.
    if let Some(last) = bytes.last_chunk() {
        let blocks = bytes.as_chunks().0.iter();
        return !blocks.fold(has_special(last), |found, block| found | has_special(block));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return specials(*first) | specials(*last) == 0;
    }
    if let (Some([a, b, c, d]), Some([e, f, g, h])) = (bytes.first_chunk(), bytes.last_chunk()) {
        return specials([*a, *b, *c, *d, *e, *f, *g, *h]) == 0;
    }
    !bytes.iter().any(|&byte| is_special(byte))
}

/// Written so that compilers emit a few comparisons of all sixteen bytes.
#[inline]
fn has_special(block: &[u8; 16]) -> bool {
    let found = |found, &byte: &u8| found | is_special(byte);
    block.iter().fold(false, found)
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, so that many bytes are compared at once"
)]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < b' ')
}

/// Marks the special bytes among eight, the first byte being the lowest. Only the lowest mark is reliable.
///
/// See "Determine if a word has a byte less than n" in Anderson's "Bit Twiddling Hacks".
#[inline]
fn specials(bytes: [u8; 8]) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let less = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let word = u64::from_le_bytes(bytes);
    // Flipping this bit moves the quote next to the control characters, and no other byte across the limit.
    let quote_or_control = less(word ^ (ONES * 2), 0x21);
    let backslash = less(word ^ (ONES * u64::from(b'\\')), 1);
    (quote_or_control | backslash) & (ONES * 0x80)
}

/// A file name for any text: `[a-z0-9._-]`, at most 100 characters, with a hash if information was lost.
pub(crate) fn file_name(text: &str) -> String {
    let fits =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let mut name: String = text
        .chars()
        .take(80)
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if fits(c) { c } else { '_' })
        .collect();
    if name != text || name.is_empty() || name.starts_with('.') {
        name = format!(
            "{}-{}",
            name.trim_start_matches('.'),
            &Hasher::default().part(text).short()[..8]
        );
    }
    name
}

/// The same for a file that is to be on every machine: without names that Windows reserves, and no dot at the end.
pub(crate) fn portable_file_name(text: &str) -> String {
    const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
    const PORTS: [&str; 2] = ["com", "lpt"];
    let name = file_name(text);
    // `aux.txt` is the device, too.
    let (base, _) = name.split_once('.').unwrap_or((&name, ""));
    let port = PORTS.iter().find_map(|port| base.strip_prefix(port));
    let is_port = port.is_some_and(|port| port.len() == 1 && port.as_bytes()[0].is_ascii_digit());
    if !is_port && !RESERVED.contains(&base) && !name.ends_with('.') {
        return name;
    }
    let hash = &Hasher::default().part(text).short()[..8];
    let rest = name[base.len()..].trim_end_matches('.');
    format!("{base}-{hash}{rest}")
}

/// Part of a test name for any text: control characters and white space become `_`, other invisible characters escapes.
pub(crate) fn readable(text: &str) -> String {
    let clean = |c: char| {
        if c.is_control() || c.is_whitespace() {
            '_'
        } else {
            c
        }
    };
    if text.is_empty() {
        "_".to_owned()
    } else {
        on_one_line(&text.chars().map(clean).collect::<String>())
    }
}

/// The group of a sample's test: `gaia::level1`, or the eval if there are no slices. Categories need no word before
/// their name: `bfcl::simple_python`.
pub(crate) fn trial_group(eval: &str, slice: Option<(&str, &str)>) -> String {
    match slice {
        Some(("category", value)) => format!("{eval}::{}", readable(value)),
        Some((dimension, value)) => format!("{eval}::{}{}", readable(dimension), readable(value)),
        None => eval.to_owned(),
    }
}

/// The words from zero to nineteen, indexed by value.
pub(crate) const BELOW_TWENTY: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

/// The words of the tens, from twenty.
pub(crate) const TENS: [&str; 8] = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];

/// Unicode punctuation, and the ASCII symbols that count as punctuation.
static PUNCTUATION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{P}$+<=>^`|~]+").expect("a constant pattern"));

/// Removes the punctuation of all scripts: `“It’s”` becomes `Its`. Currency signs other than `$` and mathematical
/// symbols beyond ASCII stay.
pub(crate) fn without_punctuation(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        return PUNCTUATION.replace_all(text, "");
    }
    if !text.bytes().any(|byte| byte.is_ascii_punctuation()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|c| !c.is_ascii_punctuation()).collect())
}

/// The first characters of a text, with `…` if more follow. Control characters become spaces, other invisible
/// characters escapes. Shorter than an [`excerpt`](excerpt), as a reason may quote several.
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

/// Whether `text` contains `part` with no letter, digit or `_` directly before or after it that would extend its first
/// or last word. A `.` or `,` between two digits also extends it: `5` is not a word of `3.5`.
///
/// Takes time linear in the sum of both lengths (the algorithm of Knuth, Morris and Pratt). A search that restarts
/// after each match would not, as matches may overlap.
pub(crate) fn contains_whole(text: &str, part: &str) -> bool {
    if part.is_empty() {
        return false;
    }
    let (text_bytes, part_bytes) = (text.as_bytes(), part.as_bytes());
    let table = prefixes(part_bytes);
    let mut matched = 0;
    for (place, byte) in text_bytes.iter().enumerate() {
        while matched > 0 && part_bytes[matched] != *byte {
            matched = table[matched - 1];
        }
        if part_bytes[matched] == *byte {
            matched += 1;
        }
        if matched == part_bytes.len() {
            let end = place + 1;
            // Matching byte ranges of two valid UTF-8 texts start and end at character boundaries.
            if is_whole(&text[..end - matched], part, &text[end..]) {
                return true;
            }
            matched = table[matched - 1];
        }
    }
    false
}

/// For each position, the length of the longest proper prefix of the word that also ends there.
fn prefixes(word: &[u8]) -> Vec<usize> {
    let mut table = vec![0; word.len()];
    let mut matched = 0;
    for place in 1..word.len() {
        while matched > 0 && word[place] != word[matched] {
            matched = table[matched - 1];
        }
        if word[place] == word[matched] {
            matched += 1;
        }
        table[place] = matched;
    }
    table
}

fn is_whole(before: &str, part: &str, after: &str) -> bool {
    let starts = !joins(before.chars().rev(), part.chars().next());
    let ends = !joins(after.chars(), part.chars().next_back());
    starts && ends
}

/// Whether the characters outside, nearest first, belong to the same word as the edge of the part.
fn joins(mut outside: impl Iterator<Item = char>, edge: Option<char>) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match (outside.next(), edge) {
        (Some('.' | ','), edge) if is_digit(edge) => is_digit(outside.next()),
        (Some(next), Some(edge)) => is_word(next) && is_word(edge),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::tests::{needs, parity};

    #[test]
    fn space_and_punctuation() {
        assert!(is_py_space('\x1f') && is_py_space('\u{85}') && is_py_space('\u{3000}'));
        assert!(!is_py_space('\u{200b}') && !is_py_space('\u{feff}') && !is_py_space('_'));
        assert!(is_py_punct('_') && is_py_punct('$'));
        assert!(!is_py_punct('’') && !is_py_punct('…') && !is_py_punct('€'));
    }

    #[needs(data = "unicode/python_tables.json")]
    #[test]
    fn every_code_point_is_classed_as_python_does() {
        let tables = parity::json("unicode/python_tables.json");
        let spaces: Vec<(u32, u32)> = parity::get(&tables, "py_str_isspace");
        let punctuation: String = parity::get(&tables, "ascii_punct");
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            let space = spaces.iter().any(|run| (run.0..=run.1).contains(&code));
            assert_eq!(is_py_space(c), space, "{c:?}");
            assert_eq!(is_py_punct(c), punctuation.contains(c), "{c:?}");
        }
    }

    #[needs(data = "unicode/python_tables.json")]
    #[test]
    fn every_code_point_counts_as_in_python() {
        let tables = parity::json("unicode/python_tables.json");
        let decimals: Vec<(u32, u8)> = parity::get(&tables, "py_decimal");
        let decimals: HashMap<u32, u8> = decimals.into_iter().collect();
        let stripped: HashSet<u32> = parity::get(&tables, "py_float_strip");
        let mut text = String::new();
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            let ascii = c.to_digit(10).and_then(|value| u8::try_from(value).ok());
            let digit = decimals.get(&code).copied().or(ascii);
            assert_eq!(py_digit(c), digit, "{c:?}");
            text.clear();
            text.push(c);
            assert_eq!(py_float(&text), digit.map(f64::from), "{c:?}");
            text.push('1');
            text.push(c);
            let around = stripped.contains(&code).then_some(1.0);
            let around = around.or(digit.map(|value| f64::from(value) * 101.0 + 10.0));
            assert_eq!(py_float(&text), around, "{c:?}");
        }
    }

    #[needs(data = "unicode/python_tables.json")]
    #[test]
    fn every_code_point_is_lowered_as_python_does() {
        let tables = parity::json("unicode/python_tables.json");
        let table: HashMap<u32, Vec<u32>> = parity::get(&tables, "py_lower");
        for c in '\0'..=char::MAX {
            let (code, got) = (u32::from(c), py_lower(c.encode_utf8(&mut [0; 4])));
            let alone = [code];
            let expect = table.get(&code).map_or(&alone[..], Vec::as_slice);
            assert!(
                got.chars().map(u32::from).eq(expect.iter().copied()),
                "{c:?}"
            );
            let mut pushed = String::new();
            push_py_lower(&mut pushed, c);
            assert_eq!(pushed, got);
        }
    }
}

#[cfg(test)]
mod display_tests {
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

#[cfg(test)]
mod js_tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::tests::{needs, parity};

    #[test]
    fn space_and_words() {
        assert!(is_js_space('\u{feff}') && is_js_space('\x0b') && is_js_space('\u{2028}'));
        assert!(!is_js_space('\x1f') && !is_js_space('\u{85}') && !is_js_space('\u{200b}'));
        assert_eq!(js_lower_word('\u{212a}'), Some('k'));
        assert_eq!(js_lower_word('İ'), Some('i'));
        assert_eq!(js_lower_word('É'), None);
        assert_eq!(js_lower_word('１'), None);
    }

    #[needs(data = "unicode/js_tables.json")]
    #[test]
    fn every_code_point_is_classed_and_lowered_as_javascript_does() {
        let tables = parity::json("unicode/js_tables.json");
        let spaces: HashSet<u32> = parity::get(&tables, "js_space");
        let trimmed: HashSet<u32> = parity::get(&tables, "js_trim");
        // The keys are numbers: `serde_json` parses them from member names.
        let lower: HashMap<u32, Vec<u32>> = parity::get(&tables, "js_lower");
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            assert_eq!(is_js_space(c), spaces.contains(&code), "{c:?}");
            assert_eq!(is_js_space(c), trimmed.contains(&code), "{c:?}");
            let alone = [code];
            let expect = lower.get(&code).map_or(&alone[..], Vec::as_slice);
            let expect = expect.iter().filter_map(|&code| char::from_u32(code));
            // One character at a time, as a sigma at the end of a word becomes a different letter.
            assert!(c.to_lowercase().eq(expect.clone()), "{c:?}");
            let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
            assert!(expect.filter(is_word).eq(js_lower_word(c)), "{c:?}");
        }
    }
}

#[cfg(test)]
mod json_tests {
    use super::*;

    #[test]
    fn every_byte_is_found_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in [
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 15, 16, 17, 23, 24, 31, 32, 38, 39,
            ] {
                // The bytes after it do not matter.
                for behind in [b'a', b'!', b'"', 0x1f, 0xff, byte.wrapping_add(1)] {
                    let mut text = [0x80; 40];
                    text[place] = byte;
                    text[place + 1..].fill(behind);
                    for text in [&text[..], &text[..=place], &text[place..]] {
                        let expect = text.iter().position(|&byte| is_special(byte));
                        assert_eq!(json_special(text), expect, "{byte} {place} {behind}");
                        assert_eq!(
                            is_json_plain(text),
                            expect.is_none(),
                            "{byte} {place} {behind}"
                        );
                    }
                }
            }
        }
        assert!(is_json_plain(b"") && json_special(b"").is_none());
    }
}

#[cfg(test)]
mod name_tests {
    use super::*;

    #[test]
    fn any_id_becomes_a_part_of_a_test_name_that_is_seen() {
        fn check(id: &str, expect: &str) {
            assert_eq!(readable(id), expect);
        }
        check("", "_");
        check("a b\n\u{85}\u{2028}c", "a_b___c");
        check("a\u{200b}\u{202e}b", "a\\u{200b}\\u{202e}b");
        check("##[error]::x", "\\u{23}#[error]::x");
    }

    #[test]
    fn any_id_becomes_a_file_name_of_its_own() {
        assert_eq!(file_name("e1fc63a2-da7a"), "e1fc63a2-da7a");
        for id in [
            "",
            ".",
            "..",
            "a/b",
            "A",
            "a b",
            "日本",
            "con\n",
            &"x".repeat(300),
        ] {
            let name = file_name(id);
            assert!(
                name.len() <= 100 && !name.starts_with('.') && !name.contains('/'),
                "{name}"
            );
            assert_ne!(name, id);
        }
        assert_ne!(file_name("a/b"), file_name("a_b"));
        for id in [
            "con", "nul", "aux.txt", "com1", "lpt9.a.b", "prn.", "a.", "a..", "con.snap",
        ] {
            let name = portable_file_name(id);
            let base = name.split('.').next().unwrap_or_default();
            assert!(base.len() > 8 && !name.ends_with('.'), "{id}: {name}");
        }
        for id in ["constant", "com10", "a.b", "com", "a.con", "CON", "a b"] {
            assert_eq!(portable_file_name(id), file_name(id));
        }
        assert_ne!(file_name("A"), file_name("a"));
    }
}

#[cfg(test)]
mod punctuation_tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(without_punctuation(text), expect, "{text:?}");
    }

    #[test]
    fn punctuation_of_any_script_goes() {
        check("It's a \"test\", no?", "Its a test no");
        check("“It’s” – a… test。", "Its  a test");
        check("a_b-c", "abc");
        check("€5 £6 ½ ×", "€5 £6 ½ ×");
        check("$5+é", "5é");
        check("plain", "plain");
    }

    #[test]
    fn both_ways_agree_on_ascii() {
        for c in '\0'..='\x7f' {
            let alone = c.to_string();
            let marked = format!("é{c}");
            let rest = &without_punctuation(&marked)["é".len()..];
            assert_eq!(without_punctuation(&alone), rest, "{c:?}");
        }
    }
}

#[cfg(test)]
mod snippet_tests {
    use super::*;

    #[test]
    fn long_texts_are_truncated() {
        assert_eq!(snippet("a\nb\u{202e}é\u{200b}"), "a b\\u{202e}é\\u{200b}");
        assert_eq!(snippet(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(snippet(&"é".repeat(61)), "é".repeat(60) + "…");
    }
}

#[cfg(test)]
mod whole_word_tests {
    use super::*;

    fn check(text: &str, part: &str, expect: bool) {
        assert_eq!(contains_whole(text, part), expect, "{text:?} {part:?}");
    }

    #[test]
    fn words_are_whole() {
        check("the cat sat", "cat", true);
        check("concatenate", "cat", false);
        check("cat", "cat", true);
        check("cats", "cat", false);
        check("tomcat, cat", "cat", true);
        check("ba a a", "a a", true);
        check("aaa", "a", false);
        check("cat_1", "cat", false);
        check("Zürich", "rich", false);
        check("a東京b", "東京", false);
        check("in 東京.", "東京", true);
        check("x (-5)", "-5", true);
        check("x-5", "-5", true);
        check("3.5", "5", false);
        check("1,927", "1", false);
        check("It is 5.", "5", true);
        check("4, 5, 6", "5", true);
        check("cat", "", false);
        check("", "cat", false);
    }
}
