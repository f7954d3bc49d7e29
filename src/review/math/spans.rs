//! Finds the formulas of a text: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, and environments.
//!
//! A `$` may also be a currency sign: between two delimiters there must be no prose and no `$`, so "costs $5 and $7"
//! has no formula. Linear in the length of the text: a formula that is not closed within `LONGEST` bytes is
//! abandoned.

use std::ops::Range;

/// The maximum length of a formula in bytes; longer ones are not written by hand.
const LONGEST: usize = 4 << 10;
/// The most formulas of a text that are rendered.
const MOST: usize = 2000;

/// Environments that are formulas without delimiters.
const ENVIRONMENTS: &[&str] = &[
    "align",
    "align*",
    "alignat",
    "alignat*",
    "aligned",
    "array",
    "bmatrix",
    "cases",
    "displaymath",
    "eqnarray",
    "eqnarray*",
    "equation",
    "equation*",
    "gather",
    "gather*",
    "gathered",
    "math",
    "matrix",
    "multline",
    "multline*",
    "pmatrix",
    "vmatrix",
];

/// Function names that people write without a backslash.
const FUNCTIONS: &[&str] = &[
    "arccos", "arcsin", "arctan", "cos", "cot", "csc", "deg", "det", "exp", "gcd", "inf", "lcm",
    "lim", "log", "max", "min", "mod", "sec", "sin", "sup", "tan",
];

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormulaSpan {
    /// The range with its delimiters.
    pub(super) whole: Range<usize>,
    /// The range to render: without delimiters, but with the names of environments.
    pub(super) inner: Range<usize>,
    /// Whether it is a display formula.
    pub(super) display: bool,
}

/// The formulas of a text, in order.
pub(super) fn spans(text: &str) -> Vec<FormulaSpan> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = bytes[at..]
        .iter()
        .position(|byte| matches!(byte, b'$' | b'\\'))
    {
        at += found;
        match span(text, at) {
            Ok(span) => {
                at = span.whole.end;
                spans.push(span);
            }
            Err(skipped) => at += skipped,
        }
        if spans.len() == MOST || at >= bytes.len() {
            break;
        }
    }
    spans
}

/// The formula at this place, or how many bytes to skip.
fn span(text: &str, at: usize) -> Result<FormulaSpan, usize> {
    let rest = &text.as_bytes()[at..];
    let found = |from: usize, to: usize, end: usize, display: bool| FormulaSpan {
        whole: at..at + end,
        inner: at + from..at + to,
        display,
    };
    match rest {
        [b'$', b'$', ..] => {
            let end = dollar(rest, 2).filter(|end| rest.get(end + 1) == Some(&b'$'));
            let end = end.filter(|end| !text[at + 2..at + end].trim().is_empty());
            end.map(|end| found(2, end, end + 2, true)).ok_or(2)
        }
        [b'$', ..] => {
            let end = dollar(rest, 1).filter(|end| {
                let behind = rest.get(end + 1);
                let is_closed = !behind.is_some_and(|byte| byte.is_ascii_digit() || *byte == b'$');
                is_closed && is_formula(&text[at + 1..at + end])
            });
            end.map(|end| found(1, end, end + 1, false)).ok_or(1)
        }
        [b'\\', b'(', ..] => {
            let end = closing(rest, b')');
            end.map(|end| found(2, end, end + 2, false)).ok_or(2)
        }
        [b'\\', b'[', ..] => {
            let end = closing(rest, b']');
            end.map(|end| found(2, end, end + 2, true)).ok_or(2)
        }
        [b'\\', b'b', ..] => {
            let end = environment(&text[at..]);
            end.map(|end| found(0, end, end, true)).ok_or(2)
        }
        // `\\` is a line break, `\$` a currency sign.
        [b'\\', b'\\' | b'$', ..] => Err(2),
        _ => Err(1),
    }
}

/// The next unescaped `$`.
fn dollar(rest: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < rest.len().min(LONGEST) {
        match rest[at] {
            b'$' => return Some(at),
            b'\\' => at += 2,
            // End of the paragraph.
            b'\n' if rest[at + 1..].first() == Some(&b'\n') => return None,
            _ => at += 1,
        }
    }
    None
}

/// The next `\)` or `\]` before another formula starts.
fn closing(rest: &[u8], sign: u8) -> Option<usize> {
    let mut at = 2;
    while at + 1 < rest.len().min(LONGEST) {
        match (rest[at], rest[at + 1]) {
            (b'\\', other) if other == sign => return Some(at),
            (b'\\', b'(' | b'[') => return None,
            (b'\\', _) => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// The end of the environment that starts here.
fn environment(rest: &str) -> Option<usize> {
    /// Maximum nesting of environments of one name.
    const DEEPEST: usize = 4;
    let behind = rest.strip_prefix("\\begin{")?;
    let is_in = |c: char| c.is_ascii_lowercase() || c == '*';
    let name = &behind[..behind.find(|c| !is_in(c))?];
    if !ENVIRONMENTS.contains(&name) {
        return None;
    }
    let (begin, end) = (format!("\\begin{{{name}}}"), format!("\\end{{{name}}}"));
    let most = rest.floor_char_boundary(LONGEST);
    let mut depth = 0;
    let mut at = 0;
    while let Some(found) = rest[at..most].find('\\') {
        at += found;
        if rest[at..most].starts_with(&end) {
            at += end.len();
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        } else if rest[at..most].starts_with(&begin) {
            at += begin.len();
            depth += 1;
            if depth > DEEPEST {
                return None;
            }
        } else {
            at += 1;
        }
    }
    None
}

/// Whether the text between two `$` is a formula rather than text between two prices.
fn is_formula(inner: &str) -> bool {
    let is_blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
    let (first, last) = (inner.chars().next(), inner.chars().next_back());
    // "$5 $x$": text after a price starts with a digit and ends in a blank.
    let is_price = first.is_some_and(|c| c.is_ascii_digit()) && is_blank(last);
    !inner.trim().is_empty() && !is_price && !has_prose(inner)
}

/// Whether it contains a word of prose: "5 and ", but not `x + ab + c` or `\text{for all } x`.
fn has_prose(inner: &str) -> bool {
    let mut depth = 0_usize;
    let mut before: Option<&str> = None;
    for word in inner.split_inclusive(char::is_whitespace) {
        let is_word =
            depth == 0 && word.ends_with(char::is_whitespace) && is_prose(word.trim_end());
        let follows = |before: &str| {
            !before.contains('\\')
                && before.ends_with(|c: char| c.is_alphanumeric() || ",.;:".contains(c))
        };
        if is_word && before.map_or(inner.starts_with(char::is_whitespace), follows) {
            return true;
        }
        for byte in word.bytes() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if !word.trim().is_empty() {
            before = Some(word.trim_end());
        }
    }
    false
}

/// Whether this is a word of natural language.
fn is_prose(word: &str) -> bool {
    const SHORT: &[&str] = &[
        "a", "an", "as", "at", "by", "if", "in", "is", "it", "of", "on", "or", "so", "to", "we",
    ];
    let word = word.trim_end_matches([',', '.', ';', ':']);
    let is_lower = word.chars().all(char::is_lowercase);
    let is_known = !FUNCTIONS.contains(&word);
    is_lower && is_known && (word.chars().count() > 2 || SHORT.contains(&word))
}
