//! Finds the literal backslashes of a JSON text.

use std::borrow::Cow;
use std::ops::Range;

use super::command;
use crate::text::json_special;

/// What is wrong with a backslash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeFault {
    /// It cannot be meant as an escape.
    Literal,
    /// It is an escape, but also the start of a TeX command: the evidence decides.
    Doubtful,
    /// Half of a surrogate pair.
    Lone,
}

/// The text with every literal backslash escaped, and their number.
pub(super) fn fixed(text: &str) -> (Cow<'_, str>, u32) {
    if !text.contains('\\') {
        return (Cow::Borrowed(text), 0);
    }
    let (mut faults, strings) = faults(text);
    let has =
        |faults: &[(usize, EscapeFault)], kind| faults.iter().any(|(_, fault)| *fault == kind);
    if has(&faults, EscapeFault::Doubtful) {
        let doubtful = faults
            .iter()
            .filter(|(_, fault)| *fault == EscapeFault::Doubtful)
            .map(|(place, _)| *place);
        let is_match = has(&faults, EscapeFault::Literal)
            || in_math(text, &strings, &doubtful.collect::<Vec<_>>());
        if !is_match {
            faults.retain(|(_, fault)| *fault != EscapeFault::Doubtful);
        }
    }
    if faults.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let mut fixed = String::with_capacity(text.len() + faults.len());
    let (mut done, mut repaired) = (0, 0);
    for (place, fault) in faults {
        fixed.push_str(&text[done..place]);
        done = place;
        if fault == EscapeFault::Lone {
            fixed.push_str("\\ufffd");
            done += "\\ufffd".len();
        } else {
            fixed.push('\\');
            repaired += 1;
        }
    }
    fixed.push_str(&text[done..]);
    (Cow::Owned(fixed), repaired)
}

/// The faults in order, and the ranges of strings with doubtful ones, without their quotes.
fn faults(text: &str) -> (Vec<(usize, EscapeFault)>, Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let (mut faults, mut strings) = (Vec::new(), Vec::new());
    let mut place = 0;
    while let Some(quote) = text[place..].find('"') {
        let start = place + quote + 1;
        place = start;
        let mut is_doubtful = false;
        while let Some(run) = json_special(&bytes[place..]) {
            place += run;
            match bytes[place] {
                b'"' => break,
                b'\\' => {
                    let (length, fault) = escape(bytes, place);
                    if let Some(fault) = fault {
                        is_doubtful |= fault == EscapeFault::Doubtful;
                        faults.push((place, fault));
                    }
                    place += length;
                }
                // A control character, where the grammar ends.
                _ => place += 1,
            }
        }
        if bytes.get(place) != Some(&b'"') {
            break;
        }
        if is_doubtful {
            strings.push(start..place);
        }
        place += 1;
    }
    (faults, strings)
}

/// The length of an escape in bytes, 1 for a literal backslash, and what is wrong with it.
fn escape(bytes: &[u8], place: usize) -> (usize, Option<EscapeFault>) {
    let rest = &bytes[place + 1..];
    match rest.first() {
        Some(b'b' | b'f') if rest.get(1).is_some_and(u8::is_ascii_alphabetic) => {
            (1, Some(EscapeFault::Literal))
        }
        Some(b'"' | b'\\' | b'/' | b'b' | b'f') => (2, None),
        Some(b'n' | b'r' | b't') => (2, command::starts(rest).then_some(EscapeFault::Doubtful)),
        Some(b'u') => match hex(rest) {
            None => (1, Some(EscapeFault::Literal)),
            Some(0xd800..0xdc00) if low_half(&rest[5..]) => (12, None),
            Some(0xd800..0xe000) => (6, Some(EscapeFault::Lone)),
            Some(_) => (6, None),
        },
        _ => (1, Some(EscapeFault::Literal)),
    }
}

/// The number after a `u`.
fn hex(rest: &[u8]) -> Option<u32> {
    let digits = rest.get(1..5)?;
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    digits
        .iter()
        .try_fold(0, |code, byte| Some(code * 16 + digit(byte)?))
}

/// Whether the second half of a surrogate pair comes next.
fn low_half(rest: &[u8]) -> bool {
    rest.starts_with(b"\\u") && hex(&rest[1..]).is_some_and(|code| (0xdc00..0xe000).contains(&code))
}

/// Whether one of these escapes is in a formula, so that it can only be a command.
fn in_math(text: &str, strings: &[Range<usize>], doubtful: &[usize]) -> bool {
    strings.iter().any(|&Range { start, end }| {
        let from = doubtful.partition_point(|&place| place < start);
        let to = doubtful.partition_point(|&place| place < end);
        string_has_math(&text[start..end], start, &doubtful[from..to])
    })
}

/// The delimiters of a formula.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Delimiters {
    /// `$…$`
    Inline,
    /// `$$…$$`
    Display,
    /// `\(…\)` or `\[…\]`
    Brackets,
}

/// A delimiter that may open a formula.
struct OpenFormula {
    delimiters: Delimiters,
    before_space: bool,
    before_digit: bool,
    /// Whether one of the doubtful escapes follows it.
    holds_command: bool,
}

impl OpenFormula {
    fn at(delimiters: Delimiters, rest: &[u8]) -> Self {
        Self {
            delimiters,
            before_space: begins_with_space(rest),
            before_digit: rest.first().is_some_and(u8::is_ascii_digit),
            holds_command: false,
        }
    }

    /// Whether a dollar sign before `rest` can close the formula, and does not start an amount of money.
    fn is_closed_by(&self, after_space: bool, rest: &[u8]) -> bool {
        let before_digit = rest.first().is_some_and(u8::is_ascii_digit);
        let before_word = rest.first().is_some_and(u8::is_ascii_alphanumeric);
        let is_lopsided = after_space && !self.before_space;
        let is_amount = before_digit || is_lopsided && (before_word || self.before_digit);
        self.delimiters == Delimiters::Display || !is_amount
    }
}

/// The same within one string, which begins at `offset` in the whole text.
///
/// As in Pandoc, amounts of money are no formulas: in `$5 and $6` the second dollar does not close, because a digit
/// follows. An inline formula does not span a blank line.
fn string_has_math(string: &str, offset: usize, doubtful: &[usize]) -> bool {
    let bytes = string.as_bytes();
    let mut doubtful = doubtful.iter().map(|place| place - offset).peekable();
    let mut open: Option<OpenFormula> = None;
    let mut place = 0;
    // About the preceding character: whether it is white space or a line break; and how many backslashes end there.
    let (mut after_space, mut after_break, mut backslashes) = (true, false, 0_u32);
    // Whether only white space came since the start of a line or of a formula's row.
    let mut at_line_start = false;
    while place < bytes.len() {
        let (byte, next) = (bytes[place], place + 1);
        let slashes = std::mem::take(&mut backslashes);
        match byte {
            b'\\' => {
                let escaped = bytes.get(next).copied().unwrap_or_default();
                if doubtful.next_if_eq(&place).is_some()
                    && let Some(open) = &mut open
                {
                    let is_short = command::length(&bytes[next..]) <= 2;
                    open.holds_command |= !(is_short && at_line_start);
                }
                let is_break = matches!(escaped, b'n' | b'r');
                if is_break && after_break {
                    open = open.filter(|open| open.delimiters != Delimiters::Inline);
                }
                if escaped == b'\\' {
                    backslashes = slashes + 1;
                    if slashes % 2 == 0
                        && let Some(bracket @ (b'(' | b'[' | b')' | b']')) = bytes.get(place + 2)
                    {
                        let in_brackets = open
                            .take_if(|open| open.delimiters == Delimiters::Brackets)
                            .is_some_and(|open| open.holds_command);
                        if in_brackets {
                            return true;
                        }
                        if matches!(bracket, b'(' | b'[') && open.is_none() {
                            open = Some(OpenFormula::at(Delimiters::Brackets, &[]));
                        }
                        (after_space, after_break, at_line_start) = (false, false, true);
                        backslashes = 0;
                        place += 3;
                        continue;
                    }
                }
                after_break = is_break;
                after_space = is_break || escaped == b't';
                at_line_start = is_break || backslashes == 2 || (at_line_start && after_space);
                place += 2;
                continue;
            }
            b'$' if slashes % 2 == 0 => {
                let kind = open.as_ref().map(|open| open.delimiters);
                let is_double = bytes.get(next) == Some(&b'$') && kind != Some(Delimiters::Inline);
                let behind = next + usize::from(is_double);
                let here = if is_double {
                    Delimiters::Display
                } else {
                    Delimiters::Inline
                };
                // A formula in text within another formula.
                let is_inner = kind.is_some_and(|kind| kind != Delimiters::Inline && kind != here);
                if !is_inner {
                    let rest = &bytes[behind..];
                    match open.take() {
                        Some(open) if open.is_closed_by(after_space, rest) => {
                            if open.holds_command {
                                return true;
                            }
                        }
                        _ => open = Some(OpenFormula::at(here, rest)),
                    }
                    at_line_start = is_double && open.is_some();
                }
                (after_space, after_break) = (false, false);
                place = behind;
                continue;
            }
            b' ' => after_space = true,
            b'}' if ends_environment(&bytes[..place]) => at_line_start = true,
            _ => (after_space, after_break, at_line_start) = (false, false, false),
        }
        place = next;
    }
    false
}

/// Whether the next brace ends a `\\begin{…}` or `\\end{…}`, after which a line may break.
fn ends_environment(before: &[u8]) -> bool {
    const LONGEST: usize = 16;
    let tail = &before[before.len().saturating_sub(LONGEST)..];
    let name = tail.iter().rposition(|&byte| byte == b'{');
    name.is_some_and(|name| {
        let command = &before[..before.len() - tail.len() + name];
        command.ends_with(b"\\\\begin") || command.ends_with(b"\\\\end")
    })
}

fn begins_with_space(rest: &[u8]) -> bool {
    match rest {
        [b' ', ..] => true,
        [b'\\', b'n' | b'r' | b't', ..] => !command::starts(&rest[1..]),
        _ => false,
    }
}
