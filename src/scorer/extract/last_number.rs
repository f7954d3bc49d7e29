//! The last number of an answer that claims none: of its last sentence with a number, if there it is the only one, the
//! result of an equation, or what the sentence says something is.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::labels::{start, tail};
use super::numbers::numbers;

/// How many of the last numbers are looked at.
const MOST: usize = 32;

/// The longest sentence that is looked at, in bytes.
const LONGEST: usize = 600;

/// A sentence that is not about the answer.
static ASIDE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^[\s*_>#\-–•✓]*(?:check|verif|verification|note|notes|hint|hinweis|remark|source|sources|reference|references|",
        r"a common mistake|common mistake|if you (?:like|want|need)|let me know|had |for example|step)\b|^\s*(?:\[\d+\]|[¹²³†])",
    ))
    .expect("a constant pattern")
});

/// What says that there is no answer.
static NO_ANSWER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:can['’]?t|can ?not|could not|couldn['’]t|unable to|impossible to|not possible to)\s+(?:be\s+)?(?:determine|calculate|compute|answer|say|tell|solve)",
        r"|(?:doesn['’]t|does not|don['’]t|do not) (?:say|tell|state|specify|give)|(?:not|isn['’]t|aren['’]t) (?:given|stated|specified)",
        r"|(?:not|isn['’]t) enough information|depends? on",
    ))
    .expect("a constant pattern")
});

/// What a sentence has before the number that it is about.
static SAYS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:[=≈:→]|\b(?:is|are|was|were|be|makes?|gives?|equals?|totals?|totalling|leaves|has|have|had|gets?|costs?|earns?|needs?|becomes?|",
        r"total of|sum of|left with|comes to|amounts to|ist|sind|macht|est|sont|es|son|fait|è|sono|são|равно))",
        r"(?:\s+(?:approximately|about|roughly|around|now|then|only|exactly|still|therefore|thus|also|just|equal to))?\s*(?:\\[a-z]+\{|[$€£¥*_`(\\\[~])*$",
    ))
    .expect("a constant pattern")
});

/// What states a result, and not something that somebody has: `its consumption is`.
static IS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:[=≈→]|\b(?:is|are|equals|ist|sind|est|es|è|é))",
        r"(?:\s+(?:approximately|about|roughly|around|now|exactly|only|therefore|thus))?\s*(?:\\[a-z]+\{|[$€£¥*_`(\\\[~])*$",
    ))
    .expect("a constant pattern")
});

/// What begins the part of a sentence that draws its conclusion.
static CONCLUDES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:so|therefore|thus|hence|altogether|in total|in all|which means|also|donc|entonces|portanto|quindi)\b")
        .expect("a constant pattern")
});

/// The left side of an equation with a variable that is not alone.
static EQUATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:[0-9][a-z]\b|\b[a-z]\s*[+\-−*/]\s*[0-9])[^=.]*=\s*$")
        .expect("a constant pattern")
});

/// What makes a number a bound, a place or a date.
static CONTEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:\b(?:less than|more than|greater than|smaller than|at most|at least|fewer than|up to|rounded to|chapter|page|table|",
        r"figure|section|note|step|question|problem|part)|[<>≤≥])\s*[$*_`(\\]*$",
    ))
    .expect("a constant pattern")
});

/// A date: a year behind such a word.
static YEAR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:in|since|by|until|from|of|before|after|end in)\s*$")
        .expect("a constant pattern")
});

/// The number, and whether the answer has any at all.
pub(super) fn find(raw: &str) -> Option<Range<usize>> {
    let mut spans = numbers(raw).peekable();
    // The answer is nothing but a number.
    if let Some(first) = spans.peek()
        && raw[..first.range.start].trim_start().is_empty()
        && raw[first.range.end..].trim_end().is_empty()
    {
        return Some(first.range.clone());
    }
    let mut last = VecDeque::new();
    for span in spans {
        last.push_back(span.range);
        if last.len() > MOST {
            last.pop_front();
        }
    }
    if let Some(found) = before_explanation(raw) {
        return Some(found);
    }
    let end = raw.trim_end().len();
    if is_truncated(raw, last.back()?.end) || NO_ANSWER.is_match(tail(&raw[..end], 300)) {
        return None;
    }
    while let Some(number) = last.back() {
        let sentence = sentence_of(raw, number);
        let of_sentence: Vec<Range<usize>> = last
            .iter()
            .filter(|other| other.start >= sentence.start)
            .cloned()
            .collect();
        match of_this(raw, sentence.clone(), &of_sentence) {
            Found::One(range) => return Some(range),
            Found::Several => return None,
            Found::None => last.retain(|other| other.start < sentence.start),
        }
    }
    None
}

/// The only number of a first line behind which the answer is explained.
fn before_explanation(raw: &str) -> Option<Range<usize>> {
    static HEADING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^\s*[*_#>\s]*(?:steps|solution|explanation|working|reasoning|derivation|proof|details)[*_]*\s*[:\n]")
            .expect("a constant pattern")
    });
    let text = raw.trim_start();
    let line = text.lines().next()?;
    let rest = &text[line.len()..];
    if line.len() > 120 || !rest.starts_with("\n\n") || !HEADING.is_match(start(rest, 60)) {
        return None;
    }
    let mut found = numbers(line);
    let offset = raw.len() - text.len();
    let only = found.next().filter(|_| found.next().is_none())?;
    Some(only.range.start + offset..only.range.end + offset)
}

enum Found {
    One(Range<usize>),
    /// Several numbers, of which none is the answer.
    Several,
    /// The sentence is about something else.
    None,
}

fn of_this(raw: &str, sentence: Range<usize>, numbers: &[Range<usize>]) -> Found {
    let text = &raw[sentence.clone()];
    if ASIDE.is_match(start(text, 80)) || text.trim_end().ends_with('?') {
        return Found::None;
    }
    let before = |number: &Range<usize>| &raw[sentence.start..number.start];
    let is_year = |number: &Range<usize>| {
        let digits = &raw[number.clone()];
        digits.len() == 4
            && digits.starts_with(['1', '2'])
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_context = |number: &Range<usize>| {
        let before = tail(before(number), 40);
        CONTEXT.is_match(before) || is_year(number) && YEAR.is_match(before)
    };
    let is_term = |number: &Range<usize>| {
        let mut rest = raw[number.end..].chars();
        let is_letter = rest
            .next()
            .is_some_and(|c| c.is_ascii_lowercase() && !"smgh".contains(c));
        is_letter && !rest.next().is_some_and(char::is_alphabetic)
    };
    let (outside, inside): (Vec<&Range<usize>>, Vec<_>) = numbers
        .iter()
        .filter(|number| !is_context(number) && !is_term(number))
        .partition(|number| {
            !is_in_brackets(before(number)) || SAYS.is_match(tail(before(number), 40))
        });
    let candidates = if outside.is_empty() { inside } else { outside };
    let [.., last] = &candidates[..] else {
        return Found::None;
    };
    // An equation that is set up: `5x + 10(20 - x) = 130`.
    if EQUATION.is_match(tail(before(last), 100)) {
        return Found::Several;
    }
    let [.., other, _] = &candidates[..] else {
        return Found::One((*last).clone());
    };
    let says =
        SAYS.is_match(tail(before(last), 40)) || CONCLUDES.is_match(&raw[other.end..last.start]);
    if is_alternative(raw, &candidates) {
        return Found::Several;
    }
    if says {
        return Found::One((*last).clone());
    }
    // `Its consumption is 6.4 L/100 km.`
    let is_stated = |number: &&&Range<usize>| IS.is_match(tail(before(number), 60));
    let mut stated = candidates.iter().filter(is_stated);
    match (stated.next(), stated.next()) {
        (Some(only), None) if !continues(&raw[only.end..]) => Found::One((*only).clone()),
        _ => Found::Several,
    }
}

/// Whether what follows a number calculates with it, or goes on with its word.
fn continues(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['*', '$', '`']);
    let is_open = !rest.is_empty() && !rest.starts_with([' ', ',', '.', '\n', '\u{a0}']);
    is_open
        || rest
            .trim_start_matches(' ')
            .starts_with(['+', '-', '−', '*', '×', '/', '='])
}

/// Whether the number before the last one is another answer: `x = 3 and x = -3`, `20 or 30`.
fn is_alternative(raw: &str, candidates: &[&Range<usize>]) -> bool {
    let [.., other, last] = candidates else {
        return false;
    };
    let between = raw[other.end..last.start].trim_start_matches(['$', '*', '`']);
    let is_short = between.len() <= 12;
    is_short
        && [" or ", " and ", " oder ", " und ", ", "]
            .iter()
            .any(|join| between.starts_with(join))
}

/// Whether the text has an open bracket.
fn is_in_brackets(before: &str) -> bool {
    let mut depth = 0_i32;
    for byte in before.bytes() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = (depth - 1).max(0),
            _ => {}
        }
    }
    depth > 0
}

/// The sentence around a number, or the part of a long one.
fn sentence_of(raw: &str, number: &Range<usize>) -> Range<usize> {
    let before = tail(&raw[..number.start], LONGEST);
    let mut from = number.start - before.len();
    let mut next = None;
    for (place, c) in before.char_indices().rev() {
        let is_end = c == '\n'
            || c == '。'
            || matches!(c, '.' | '!' | '?' | ';')
                && next.is_none_or(char::is_whitespace)
                && !is_list_marker(&before[..place]);
        if is_end {
            from += place + c.len_utf8();
            break;
        }
        next = Some(c);
    }
    let after = start(&raw[number.end..], LONGEST);
    let mut to = after.len();
    let mut chars = after.char_indices().peekable();
    while let Some((place, c)) = chars.next() {
        let next = chars.peek().map(|next| next.1);
        if c == '\n'
            || c == '。'
            || matches!(c, '.' | '!' | '?' | ';') && next.is_none_or(char::is_whitespace)
        {
            to = place + c.len_utf8();
            break;
        }
    }
    from..number.end + to
}

/// Whether the text ends in the number of an item: `2`, of `2. Add them`.
fn is_list_marker(before: &str) -> bool {
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let line = before[..before.len() - digits].trim_end_matches([' ', '*']);
    (1..=2).contains(&digits) && (line.is_empty() || line.ends_with('\n'))
}

/// Whether a long answer stops in a sentence behind its last number.
fn is_truncated(raw: &str, last: usize) -> bool {
    let text = raw.trim_end();
    let rest = &text[last.min(text.len())..];
    let stops = text.ends_with(|c: char| {
        c.is_alphabetic() && (c as u32) < 0x600 || matches!(c, ',' | '(' | '=' | '+')
    });
    let has_sentence_end = rest.contains(['\n']) || rest.contains(". ");
    let is_open = text.ends_with(|c: char| {
        !c.is_alphanumeric()
            && !c.is_ascii()
            && !"…”’»。！？％°²³✓✅".contains(c)
            && !crate::text::is_invisible(c)
            && c < '\u{2600}'
    });
    let is_operand = [" -", " −", " +", " ×", " /", " ="]
        .iter()
        .any(|sign| text.ends_with(sign));
    (stops && has_sentence_end || is_open || is_operand) && text.len() > 60
}
