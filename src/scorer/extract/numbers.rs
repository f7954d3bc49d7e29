//! Finds the numbers in a text, each whole: `9{,}500`, `10 000`, `3/4`, `1.2 × 10^3`, `−5`, `４２`, `1.234,5`.
//!
//! Nothing is decided here about decimal commas or groups: what looks like one number is handed on as a whole, so that
//! the scorer reads it, or says that it is none. A part of a number is never handed on.

use std::ops::Range;

use crate::text::{is_invisible, py_digit};

/// A number in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NumberSpan {
    /// With its sign, fraction, power of ten, percent sign and scale word.
    pub(super) range: Range<usize>,
    /// Whether a sign of an operation or an equation follows.
    pub(super) is_operand: bool,
}

/// The numbers of a text, in order. Digits in a word (`H2O`), behind `_` or `^`, and of a list (`1. First`) are none.
pub(super) fn numbers(text: &str) -> Numbers<'_> {
    Numbers { text, place: 0 }
}

pub(super) struct Numbers<'a> {
    text: &'a str,
    place: usize,
}

impl Iterator for Numbers<'_> {
    type Item = NumberSpan;

    fn next(&mut self) -> Option<NumberSpan> {
        loop {
            let start = self.place + find_start(&self.text[self.place..])?;
            let end = magnitude(self.text, start);
            self.place = end;
            if !is_part_of_word(self.text, start, end) {
                let start = with_sign(self.text, start);
                let core = end;
                let end = with_suffix(self.text, end);
                self.place = end;
                if is_list_marker(self.text, start, core) {
                    continue;
                }
                return Some(NumberSpan {
                    range: start..end,
                    is_operand: is_operator(&self.text[end..]),
                });
            }
        }
    }
}

fn digit(c: char) -> bool {
    c.is_ascii_digit() || !c.is_ascii() && py_digit(c).is_some()
}

/// `½` and its kin.
fn is_fraction(c: char) -> bool {
    matches!(c, '¼'..='¾' | '⅐'..='⅞')
}

/// Where the next number starts: at a digit, a fraction, or a point before a digit.
fn find_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut place = 0;
    while let Some(&byte) = bytes.get(place) {
        let mut length = 1;
        let is_start = match byte {
            b'0'..=b'9' => true,
            b'.' => {
                let before = text[..place].chars().next_back().unwrap_or(' ');
                !before.is_alphanumeric() && before != '.' && text[place + 1..].starts_with(digit)
            }
            b'\\' => frac(&text[place..]).is_some(),
            0x80.. => {
                let c = text[place..].chars().next()?;
                length = c.len_utf8();
                digit(c) || is_fraction(c)
            }
            _ => false,
        };
        if is_start {
            return Some(place);
        }
        place += length;
    }
    None
}

/// The end of the number that starts here.
fn magnitude(text: &str, start: usize) -> usize {
    let mut place = start;
    // Whether the digits so far may be the first of groups that spaces separate: `10 000`.
    let mut may_group = true;
    loop {
        let rest = &text[place..];
        let run = rest.len() - rest.trim_start_matches(digit).len();
        let digits = rest[..run].chars().count();
        may_group &= (1..=3).contains(&digits) && (place == start || digits == 3);
        place += run;
        let rest = &text[place..];
        if let Some(length) = frac(rest).or_else(|| one_char_fraction(rest)) {
            place += length;
            break;
        }
        if let Some(length) = joint(rest) {
            place += length;
            may_group &= rest.starts_with(['\u{a0}', '\u{202f}', '\u{2009}', '\\', '{', '~']);
        } else if let Some(length) = group(rest).filter(|_| may_group) {
            place += length;
        } else if let Some(length) = mixed(rest) {
            place += length;
        } else {
            break;
        }
    }
    while let Some(length) = power(&text[place..]) {
        place += length;
    }
    place
}

/// The length of what joins digits before and behind it.
fn joint(rest: &str) -> Option<usize> {
    const MARKS: [&str; 22] = [
        "{,}", "{\\,}", "\\,", "\\!", "{.}", "\\ ", ".", ",", "'", "’", "‘", "_", ":", "/", "⁄",
        "∕", "／", "，", "．", "\u{a0}", "\u{202f}", "\u{2009}",
    ];
    if !rest.starts_with(|c: char| !c.is_ascii() || "{\\.,'_:/".contains(c)) {
        return None;
    }
    let mark = MARKS.iter().find(|mark| rest.starts_with(**mark))?;
    let after = &rest[mark.len()..];
    // `\,\!` before a digit.
    let gap = after.len() - after.trim_start_matches("\\!").len();
    after[gap..].starts_with(digit).then_some(mark.len() + gap)
}

/// The length of a space before a group of three digits.
fn group(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix(' ')?;
    let digits = after.chars().take_while(|c| digit(*c)).count();
    (digits == 3).then_some(1)
}

/// The length of the space in `1 3/4` and `1 \frac{3}{4}`, and of the signs of a fraction: ` / 4`.
fn mixed(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix(' ')?;
    if frac(after).is_some() || after.starts_with(is_fraction) {
        return Some(1);
    }
    let under = after.trim_start_matches(digit);
    let has_fraction = under.len() < after.len()
        && under
            .strip_prefix(['/', '⁄'])
            .is_some_and(|under| under.starts_with(digit));
    has_fraction.then_some(1)
}

/// The length of a LaTeX fraction of two numbers.
fn frac(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\\')?;
    let rest = rest.strip_prefix(['d', 't', 'c']).unwrap_or(rest);
    let mut rest = rest.strip_prefix("frac")?;
    for _ in 0..2 {
        let open = rest.trim_start();
        rest = match open.strip_prefix('{') {
            Some(inner) => {
                let (content, after) = inner.split_once('}')?;
                let is_number =
                    !content.is_empty() && content.chars().all(|c| digit(c) || " ,.-".contains(c));
                is_number.then_some(after)?
            }
            None => open.strip_prefix(|c: char| c.is_ascii_digit())?,
        };
    }
    Some(text.len() - rest.len())
}

fn one_char_fraction(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    is_fraction(first).then(|| first.len_utf8())
}

/// The length of an exponent, a power of ten, or another power or root, which makes the number another one.
fn power(rest: &str) -> Option<usize> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        let signed = after.strip_prefix(['+', '-', '−']).unwrap_or(after);
        let count = digits(signed);
        let end = rest.len() - signed.len() + count;
        let is_exponent = count > 0 && !signed[count..].starts_with(char::is_alphanumeric);
        return is_exponent.then_some(end);
    }
    let trimmed = rest.trim_start_matches(' ');
    if !trimmed.starts_with(|c: char| !c.is_ascii() || matches!(c, 'x' | 'X' | '*' | '\\' | '^')) {
        return None;
    }
    for times in ["×", "x", "X", "*", "·", "⋅", "\\times", "\\cdot", "✕"] {
        if let Some(after) = trimmed.strip_prefix(times)
            && let Some(ten) = after.trim_start().strip_prefix("10")
            && let Some(length) = raised(ten)
        {
            return Some(rest.len() - ten.len() + length);
        }
    }
    if let Some(length) = raised(rest) {
        return Some(length);
    }
    ["\\sqrt", "\\pi", "√", "π"]
        .iter()
        .find(|sign| trimmed.starts_with(**sign))
        .map(|sign| rest.len() - trimmed.len() + sign.len())
}

/// The length of `^3`, `^{-3}`, `**3`, `³`; none for degrees.
fn raised(rest: &str) -> Option<usize> {
    let is_superscript = |c: char| matches!(c, '²' | '³' | '¹' | '⁰'..='⁹' | '⁻' | '⁺');
    let plain = rest.trim_start_matches(is_superscript);
    if plain.len() < rest.len() {
        return Some(rest.len() - plain.len());
    }
    let after = rest.strip_prefix('^').or_else(|| rest.strip_prefix("**"))?;
    let (is_braced, inner) = match after.strip_prefix('{') {
        Some(inner) => (true, inner),
        None => (false, after),
    };
    let signed = inner.strip_prefix(['-', '−', '+']).unwrap_or(inner);
    let end = signed.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    if end.len() == signed.len() {
        return None;
    }
    let end = if is_braced {
        end.strip_prefix('}')?
    } else {
        end
    };
    Some(rest.len() - end.len())
}

/// Whether the digits are part of a word, a name or an index: `B52`, `x_1`, `x^2`, `5th`.
fn is_part_of_word(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].trim_end_matches(|c: char| is_invisible(c));
    let is_word = match before.chars().next_back() {
        Some('_') => before
            .trim_end_matches('_')
            .ends_with(|c: char| c.is_alphanumeric()),
        Some('^') => true,
        Some('{') => before[..before.len() - 1].ends_with(['^', '_']),
        Some(c) if c.is_alphabetic() && (c as u32) < 0x600 => !ends_in_currency(before),
        _ => false,
    };
    let rest = &text[end..];
    let is_ordinal = ["st", "nd", "rd", "th"].iter().any(|ending| {
        rest.strip_prefix(ending)
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    });
    is_word || is_ordinal
}

fn ends_in_currency(before: &str) -> bool {
    let letters = before.trim_end_matches(|c: char| c.is_ascii_uppercase());
    let code = &before[letters.len()..];
    code.len() == 3 && !letters.ends_with(char::is_alphanumeric)
}

/// The start of the number with its sign, which no letter, digit or bracket precedes: `-5`, `−$5`, not `3-5`.
fn with_sign(text: &str, start: usize) -> usize {
    let currency = |c: char| "$€£¥₹\\".contains(c) || is_invisible(c);
    let before = text[..start].trim_end_matches(|c: char| is_invisible(c));
    let behind_currency = before.trim_end_matches(currency);
    // `\pm 4` are two numbers, of which the second is no answer.
    for plus_minus in ["±", "\\pm"] {
        if let Some(before) = before.trim_end_matches(' ').strip_suffix(plus_minus) {
            return before.len();
        }
    }
    for before in [before, behind_currency] {
        let Some(sign) = before.chars().next_back() else {
            continue;
        };
        if !matches!(
            sign,
            '-' | '+' | '−' | '–' | '‒' | '‐' | '‑' | '﹣' | '－' | '＋'
        ) {
            continue;
        }
        let sign_start = before.len() - sign.len_utf8();
        let previous = text[..sign_start].chars().next_back();
        let is_operator = previous.is_some_and(|c| {
            c.is_alphanumeric() && (c as u32) < 0x600 || matches!(c, ')' | ']' | '}' | '-' | '%')
        });
        return if is_operator { start } else { sign_start };
    }
    start
}

/// The end of the number with a percent sign or a scale word: `50 %`, `2.5 million`.
fn with_suffix(text: &str, end: usize) -> usize {
    const SUFFIXES: [&str; 12] = [
        "%", "\\%", "％", "‰", "percent", "per cent", "hundred", "thousand", "million", "billion",
        "trillion", "lakh",
    ];
    let mut end = end;
    for _ in 0..2 {
        let rest = &text[end..];
        let after = rest
            .strip_prefix([' ', '\u{a0}', '\u{202f}'])
            .unwrap_or(rest);
        if !after.starts_with(|c: char| {
            !c.is_ascii() || c.is_ascii_alphabetic() || matches!(c, '%' | '\\')
        }) {
            break;
        }
        let found = SUFFIXES.iter().find(|suffix| {
            let Some((head, after)) = after.split_at_checked(suffix.len()) else {
                return false;
            };
            let is_word = suffix.len() > 3;
            head.eq_ignore_ascii_case(suffix)
                && !(is_word && after.starts_with(char::is_alphabetic))
        });
        match found {
            Some(suffix) => end += rest.len() - after.len() + suffix.len(),
            None => break,
        }
    }
    end
}

/// Whether the number counts an item of a list, at the start of its line: `2. Add them`.
fn is_list_marker(text: &str, start: usize, end: usize) -> bool {
    let is_short = end - start <= 2 && text[start..end].bytes().all(|byte| byte.is_ascii_digit());
    let Some(rest) = text[end..].strip_prefix(['.', ')']).filter(|_| is_short) else {
        return false;
    };
    let rest = rest.trim_start_matches(['*', '_']);
    let item = rest.trim_start_matches([' ', '\t']);
    if item.len() == rest.len() || item.is_empty() || item.starts_with(['\n', '\r']) {
        return false;
    }
    let before = text[..start].trim_end_matches([' ', '\t', '*', '_', '#', '>']);
    before.is_empty() || before.ends_with('\n')
}

/// Whether what follows calculates with the number before it, or with what is before that.
fn is_operator(rest: &str) -> bool {
    let is_times = rest.trim_start_matches(' ').strip_prefix('*');
    if is_times.is_some_and(|after| after.trim_start_matches(' ').starts_with(digit)) {
        return true;
    }
    let rest = rest.trim_start_matches([' ', '\u{a0}', '$', '*', '_']);
    if let Some(after) = rest.strip_prefix(['-', '–', '−', '/', 'x', '+', '×', '÷', '·', '=', '≈'])
    {
        let after = after.trim_start_matches([' ', '$', '(', '\\']);
        return after.starts_with(|c: char| digit(c) || c == '(');
    }
    let is_command = |name: &str| {
        let after = rest.strip_prefix(name);
        after.is_some_and(|after| !after.starts_with(char::is_alphabetic))
    };
    ["\\times", "\\cdot", "\\div", "\\pm"]
        .iter()
        .any(|name| is_command(name))
}

/// How a value says a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// It is this number.
    Number(Range<usize>),
    /// It says something that is no number.
    Other,
    /// It says nothing that could be taken for the answer, or several numbers.
    Unclear,
}

/// Words before a number that do not change it.
const LEADS: [&str; 14] = [
    "approximately",
    "about",
    "roughly",
    "around",
    "exactly",
    "only",
    "just",
    "nearly",
    "almost",
    "equal to",
    "a total of",
    "circa",
    "ca.",
    "the number",
];

/// The number that a value says: the one it begins with (`25 of 30`), the result of its equation (`12 + 13 = 25`), or its
/// only one (`that she has 25 eggs`). `value` is the range of its line, or of the start of a long one.
pub(super) fn of_value(
    text: &str,
    value: Range<usize>,
    is_word_number: impl Fn(&str) -> bool,
) -> Value {
    let line = &text[..value.end];
    let mut place = value.start;
    loop {
        let rest = &line[place..];
        let after = rest.trim_start_matches(|c: char| {
            matches!(
                c,
                '*' | '_' | '`' | '~' | '(' | '[' | '{' | '"' | '\'' | '“' | '«' | '‘' | '≈'
            ) || c.is_whitespace()
                || is_invisible(c)
        });
        if after.starts_with(|c: char| c.is_ascii_digit()) {
            place = line.len() - after.len();
            break;
        }
        let after = [
            "\\(",
            "\\[",
            "\\boxed{",
            "\\fbox{",
            "\\text{",
            "\\textbf{",
            "\\mathbf{",
            "\\mathrm{",
            "$\\",
            "<b>",
        ]
        .iter()
        .find_map(|open| {
            let inner = after.strip_prefix(open)?;
            // `$\frac…` keeps its backslash, `\$5` loses only its dollar.
            Some(if *open == "$\\" { &after[1..] } else { inner })
        })
        .unwrap_or(after);
        let after = LEADS
            .iter()
            .find_map(|lead| {
                let (head, rest) = after.split_at_checked(lead.len())?;
                (head.eq_ignore_ascii_case(lead) && rest.starts_with(' ')).then_some(rest)
            })
            .unwrap_or(after);
        if after.len() == rest.len() {
            break;
        }
        place = line.len() - after.len();
    }
    let sentence = place..place + sentence_end(&line[place..]);
    let mut found = numbers(line);
    found.place = place;
    let mut found = found
        .take_while(|span| span.range.start < sentence.end)
        .take(64);
    let first = found.next();
    let leading = first.as_ref().filter(|first| {
        let lead = line.get(place..first.range.start).unwrap_or_default();
        lead.chars().all(|c| !c.is_alphanumeric() && c != '=')
    });
    // `25 = 5^2` says 25.
    let is_result = leading.is_some_and(|first| {
        let rest = line[first.range.end..].trim_start_matches([' ', '$', '*']);
        rest.starts_with(['=', '≈'])
            || !first.is_operand && !is_one_of_several(&line[first.range.end..])
    });
    if let Some(first) = leading.filter(|_| is_result) {
        return Value::Number(first.range.clone());
    }
    let found: Vec<NumberSpan> = first.iter().cloned().chain(found).collect();
    if let Some(equals) = line[sentence.clone()].rfind(['=', '＝']) {
        let after = sentence.start + equals;
        let result = found.iter().find(|span| span.range.start > after);
        return match result {
            Some(span) if !span.is_operand => Value::Number(span.range.clone()),
            _ => Value::Other,
        };
    }
    match leading {
        Some(first) if first.is_operand || is_one_of_several(&line[first.range.end..]) => {
            Value::Other
        }
        Some(first) => Value::Number(first.range.clone()),
        None => {
            let words = line[sentence.clone()]
                .trim_end_matches(|c: char| c.is_whitespace() || ".!*_`~)}]\"'$”".contains(c));
            if is_word_number(words) {
                return Value::Number(place..place + words.len());
            }
            match &found[..] {
                [only] if !only.is_operand => Value::Number(only.range.clone()),
                [] if is_no_answer(words) => Value::Other,
                _ => Value::Unclear,
            }
        }
    }
}

/// Whether another number follows as an alternative: `6 or 8`, `3 and -3`, `20 to 30`.
fn is_one_of_several(rest: &str) -> bool {
    const JOINS: [&str; 9] = [
        " or ", " and ", " to ", " oder ", " und ", " o ", " y ", " ou ", ", or ",
    ];
    let rest = rest.trim_start_matches(['$', '*', '`']);
    let join = JOINS.iter().find(|join| rest.starts_with(**join));
    join.is_some_and(|join| {
        let rest = rest[join.len()..].trim_start_matches(['$', '*', '`', '-', '−', '(', '\\']);
        rest.starts_with(digit)
    })
}

/// The end of the first sentence of a line.
pub(super) fn sentence_end(line: &str) -> usize {
    let mut end = line.find('\n').unwrap_or(line.len());
    for (place, mark) in line[..end].match_indices(['.', '!', '?', '。', ';', '；']) {
        let rest = &line[place + mark.len()..];
        if mark == "。" || rest.starts_with(char::is_whitespace) {
            end = place;
            break;
        }
    }
    end
}

/// Whether a value says that there is no answer.
pub(super) fn is_no_answer(value: &str) -> bool {
    const WORDS: [&str; 22] = [
        "none",
        "unknown",
        "n/a",
        "na",
        "undefined",
        "undetermined",
        "cannot",
        "can't",
        "can not",
        "not ",
        "no answer",
        "no solution",
        "unclear",
        "insufficient",
        "impossible",
        "i don't know",
        "i do not know",
        "unable",
        "both",
        "all of",
        "either",
        "neither",
    ];
    let value = value.trim_start_matches(|c: char| !c.is_alphanumeric());
    WORDS.iter().any(|word| {
        value
            .split_at_checked(word.len())
            .is_some_and(|(head, rest)| {
                head.eq_ignore_ascii_case(word) && !rest.starts_with(char::is_alphanumeric)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        numbers(text).map(|span| &text[span.range]).collect()
    }

    #[test]
    fn a_number_is_whole() {
        for number in [
            "42",
            "1,234.50",
            "12,34,567",
            r"9{,}500",
            r"10\,000",
            "10 000",
            "10\u{202f}000",
            "1.234,5",
            "3/4",
            "1 3/4",
            "1½",
            "½",
            r"\frac{3}{4}",
            r"1\dfrac{3}{4}",
            r"1 \frac34",
            "1.2 × 10^3",
            r"1.2 \times 10^{-3}",
            "1.5e-3",
            "10^6",
            "−5",
            "–5",
            "‑5",
            "－５",
            "４２",
            "１，２３４",
            "٤٢",
            "-$5",
            "50%",
            r"50 \%",
            "2.5 million",
            ".5",
            "10:30",
            "1.2.3",
            "1,2,3",
            r"2\sqrt",
            "2π",
        ] {
            assert_eq!(all(&format!("It is {number}.")), [number], "{number:?}");
        }
    }

    #[test]
    fn numbers_of_a_text() {
        for (text, expect) in [
            ("1, 2 and 3", &["1", "2", "3"][..]),
            ("5-3", &["5", "3"]),
            ("(2)-3", &["2", "3"]),
            ("x = -3", &["-3"]),
            ("in 1999 200 people", &["1999", "200"]),
            ("H2O, B52, x_1, x^2, x^{2}, the 5th", &[]),
            ("USD5, US$5, Rs.500", &["5", "5", "500"]),
            ("答えは４２です", &["４２"]),
            ("1. First\n2. Then 7", &["7"]),
            ("42. ", &["42"]),
            ("none", &[]),
        ] {
            assert_eq!(all(text), expect, "{text:?}");
        }
    }

    #[test]
    fn a_value_says_one_number() {
        let check = |value: &str, expect: &str| {
            let got = match of_value(value, 0..value.len(), |text| text == "forty-two") {
                Value::Number(range) => &value[range],
                Value::Other => "other",
                Value::Unclear => "unclear",
            };
            assert_eq!(got, expect, "{value:?}");
        };
        check("25, as 7 < 8", "25");
        check("**25** of 30", "25");
        check("$25$.", "25");
        check(r"$\frac{1}{2}$", r"\frac{1}{2}");
        check(r"\(25\)", "25");
        check("about $1,200", "1,200");
        check("12+25+25 = 62.", "62");
        check("m+n = 256+37 = 293", "293");
        check("x = 5", "5");
        check("12 + 25", "other");
        check("5 = x", "5");
        check("forty-two.", "forty-two");
        check("that she has 18 eggs", "18");
        check("that of 20 eggs 18 are left", "unclear");
        check("unknown", "other");
        check("as follows", "unclear");
    }
}
