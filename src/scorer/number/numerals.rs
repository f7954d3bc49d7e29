//! Compares the numbers stated in texts. A rule that compares characters may treat `-45` and `45` as equal: the verdict
//! stands, and gets a warning.

use crate::text::py_digit;

/// The warning for a verdict that treats different numbers as equal.
pub(in crate::scorer) const WARNING: &str =
    "prediction and ground truth say different numbers, which this rule does not tell apart";

/// Whether each of two texts states a number that the other does not: `-45` and `45`, `1.5` and `15`, `19` and `1927`.
/// Additional numbers in one text are no difference, and neither is notation: `1,000` is `1000.0`.
pub(in crate::scorer) fn differ(one: &str, other: &str) -> bool {
    if one == other
        || have_same_plain_numbers(one, other)
        || !(may_have_digits(one) && may_have_digits(other))
    {
        return false;
    }
    let (one, other) = (numerals(one), numerals(other));
    let lacks = |these: &[Numeral], those: &[Numeral]| {
        let is_there = |numeral: &Numeral| those.binary_search(numeral).is_ok();
        !these.iter().all(is_there)
    };
    lacks(&one, &other) && lacks(&other, &one)
}

/// Whether two texts state the same plain numbers in the same order. A fast path: it holds for most texts that a rule
/// treats as equal.
fn have_same_plain_numbers(one: &str, other: &str) -> bool {
    let [mut one, mut other] = [one, other].map(|text| PlainNumbers {
        text: text.as_bytes(),
        place: 0,
    });
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(Some(one)), Some(Some(other))) if one == other => {}
            _ => return false,
        }
    }
}

/// Iterates over the digits of whole numbers without a sign. Yields `None` for any other number; do not continue after
/// that.
struct PlainNumbers<'a> {
    text: &'a [u8],
    place: usize,
}

/// Whether a byte is a digit, or starts a character from U+0640 on. Below that, only ASCII has digits and signs.
const STOPS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = matches!(byte, 0x30..=0x39 | 0xd9..);
        byte += 1;
    }
    table
};

impl<'a> Iterator for PlainNumbers<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text;
        let mut start = self.place;
        while !STOPS[usize::from(*bytes.get(start)?)] {
            start += 1;
        }
        let mut end = start;
        while bytes.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
        self.place = end;
        let is_start = match self.text[..start].last() {
            None => true,
            Some(before) => *before == b' ' || before.is_ascii_alphabetic(),
        };
        let is_end = match self.text[end..] {
            [b'e' | b'E', ..] => false,
            [b'.' | b',' | b'\'' | b'_', after, ..] => !after.is_ascii_digit(),
            [after, ..] => after.is_ascii(),
            [] => true,
        };
        let is_plain = start < end && is_start && is_end;
        Some(is_plain.then(|| &self.text[start..end]))
    }
}

/// Whether a text may contain a digit.
fn may_have_digits(text: &str) -> bool {
    text.bytes()
        .any(|byte| byte.is_ascii_digit() || !byte.is_ascii())
}

/// A number as stated: the digits times ten to the exponent, without leading or trailing zeros.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Numeral {
    is_negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

/// The numbers in a text, sorted.
fn numerals(text: &str) -> Vec<Numeral> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    let mut is_negative = false;
    while let Some(c) = rest.chars().next() {
        // `2019-20` and `B-52` have no signs, and `v.5` no decimals.
        let is_start = !before.is_alphanumeric() && before != '.';
        let after = &rest[c.len_utf8()..];
        let is_decimal = c == '.' && is_start && digit(after).is_some();
        if is_decimal || digit(rest).is_some() {
            let (numeral, after) = Numeral::read(rest, is_negative);
            found.push(numeral);
            (rest, before, is_negative) = (after, '0', false);
            continue;
        }
        let is_minus = matches!(c, '-' | '−' | '－' | '﹣');
        let is_currency = matches!(c, '$' | '€' | '£' | '¥');
        is_negative = (is_minus && is_start) || (is_negative && is_currency);
        (rest, before) = (after, c);
    }
    found.sort_unstable();
    found
}

impl Numeral {
    /// Reads a number that starts with a digit, or with a point and a digit; also returns the rest of the text.
    fn read(text: &str, is_negative: bool) -> (Self, &str) {
        let mut digits = Vec::new();
        let mut rest = whole(text, &mut digits);
        let mut exponent = 0;
        if let Some(after) = rest.strip_prefix('.')
            && digit(after).is_some()
        {
            let whole = digits.len();
            rest = run(after, &mut digits);
            exponent = length(whole) - length(digits.len());
        }
        if let Some((power, after)) = power(rest) {
            exponent += power;
            rest = after;
        }
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        let is_zero = digits.is_empty();
        let numeral = Self {
            is_negative: is_negative && !is_zero,
            digits,
            exponent: if is_zero { 0 } else { exponent },
        };
        (numeral, rest)
    }
}

/// Reads digits, also in groups of three: `1,234,567`. Returns the rest of the text.
fn whole<'a>(text: &'a str, digits: &mut Vec<u8>) -> &'a str {
    let mut rest = run(text, digits);
    if !(1..=3).contains(&digits.len()) {
        return rest;
    }
    while let Some(after) = rest.strip_prefix([',', '\'', '’', '_']) {
        let before = digits.len();
        let after = run(after, digits);
        if digits.len() - before != 3 {
            digits.truncate(before);
            break;
        }
        rest = after;
    }
    rest
}

/// Reads digits. Returns the rest of the text.
fn run<'a>(text: &'a str, digits: &mut Vec<u8>) -> &'a str {
    let mut rest = text;
    while let Some((digit, after)) = digit(rest) {
        digits.push(digit);
        rest = after;
    }
    rest
}

/// A digit of any script at the start of a text, and the rest.
fn digit(text: &str) -> Option<(u8, &str)> {
    let c = text.chars().next()?;
    Some((py_digit(c)?, &text[c.len_utf8()..]))
}

/// The exponent in `e5` and `e-5`, unless it is part of a word.
fn power(text: &str) -> Option<(i64, &str)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let is_negative = rest.starts_with(['-', '−']);
    let rest = rest.strip_prefix(['-', '−', '+']).unwrap_or(rest);
    let mut digits = Vec::new();
    let rest = run(rest, &mut digits);
    let is_word = rest.starts_with(char::is_alphanumeric);
    if is_word || !(1..=6).contains(&digits.len()) {
        return None;
    }
    let power = digits
        .iter()
        .fold(0, |power, digit| power * 10 + i64::from(*digit));
    Some((if is_negative { -power } else { power }, rest))
}

fn length(digits: usize) -> i64 {
    i64::try_from(digits).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fuzz::{fuzz, in_time, megabyte};

    fn check(expect: bool, pairs: &[(&str, &str)]) {
        for (one, other) in pairs {
            assert_eq!(differ(one, other), expect, "{one:?} {other:?}");
            assert_eq!(differ(other, one), expect, "{other:?} {one:?}");
        }
    }

    #[test]
    fn different_numbers_are_seen() {
        check(
            true,
            &[
                ("-45", "45"),
                ("−45", "45"),
                ("-$45", "$45"),
                ("$-45", "45"),
                ("1.5", "15"),
                (".5", "5"),
                ("1/2", "12"),
                ("1,5", "15"),
                ("1e-5", "1e5"),
                ("19", "1927"),
                ("000, 1", "1,000"),
                ("1-1", "11"),
                ("it is -5 km", "5 km"),
                ("٤٥", "-٤٥"),
                ("in 1962", "in 1963"),
                ("100000000000000000000001", "100000000000000000000002"),
            ],
        );
    }

    #[test]
    fn the_same_numbers_and_more_of_them_are_not() {
        check(
            false,
            &[
                ("45", "45"),
                ("1,000", "1000.0"),
                ("1'000", "1_000"),
                ("45.", "45"),
                ("$45", "45 %"),
                ("0.50", ".5"),
                ("-0", "0"),
                ("1e3", "1000"),
                ("1.5E2", "150"),
                ("007", "7"),
                ("٤٥", "45"),
                ("B-52", "b52"),
                ("2019-20", "2019 20"),
                ("5, not 15", "5"),
                ("Paris", "Paris 1927"),
                ("Paris", "paris"),
                ("", "5"),
                ("東京", "5"),
                ("5 eggs", "5 e"),
                ("the 5th", "5"),
            ],
        );
    }

    const PIECES: &[&str] = &[
        "1", "0", "05", ".", ",", "-", " ", "$", "e", "/", "a", "٣", "é", "000", "−", "'",
    ];

    #[test]
    fn plain_numbers_agree_with_the_full_comparison() {
        fuzz(|dice| {
            let (one, other) = (dice.wild(PIECES), dice.wild(PIECES));
            if have_same_plain_numbers(&one, &other) {
                assert_eq!(numerals(&one), numerals(&other), "{one:?} {other:?}");
            }
        });
        assert!(have_same_plain_numbers(
            "The sea-gull 42.",
            "the seagull 42"
        ));
        assert!(have_same_plain_numbers("café 1, room B52", "cafe 1 52th"));
        for (one, other) in [
            ("-42", "42"),
            ("42", "4.2"),
            ("1e5", "1"),
            ("1", "2"),
            ("٣ 1", "1"),
        ] {
            assert!(!have_same_plain_numbers(one, other), "{one} {other}");
        }
    }

    #[test]
    fn it_has_two_sides_and_no_text_differs_from_itself() {
        fuzz(|dice| {
            let (one, other) = (dice.wild(PIECES), dice.wild(PIECES));
            assert_eq!(differ(&one, &other), differ(&other, &one));
            assert!(!differ(&one, &format!("{one} ")));
            let both = format!("{one} ; {other}");
            assert!(!differ(&one, &both), "{one:?} {both:?}");
        });
    }

    #[test]
    fn a_megabyte_takes_linear_time() {
        for piece in ["1", "1,", "1 ", "000,", ".5", "-", "1e", "-$", "٣", "1.1"] {
            let long = megabyte(piece);
            let other = format!("{long}7");
            in_time(piece, || differ(&long, &other));
        }
    }
}
