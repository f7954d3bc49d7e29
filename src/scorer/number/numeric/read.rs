//! Parses a number from a text, in the many ways people write numbers.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::number::{ExactNumber, exponent};
use super::{DecimalSign, Percent, Units, words};
use crate::text::{is_invisible, py_digit};

/// How texts are parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberReader {
    pub(super) decimal: DecimalSign,
    pub(super) percent: Percent,
    pub(super) units: Units,
}

/// Currency codes, before or after a number.
const CURRENCIES: [&str; 33] = [
    "AED", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR",
    "ILS", "INR", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RMB", "RUB", "SAR",
    "SEK", "SGD", "THB", "TRY", "TWD", "USD", "ZAR",
];

/// Single-character fractions.
const FRACTIONS: [(char, &str, &str); 18] = [
    ('½', "1", "2"),
    ('⅓', "1", "3"),
    ('⅔', "2", "3"),
    ('¼', "1", "4"),
    ('¾', "3", "4"),
    ('⅕', "1", "5"),
    ('⅖', "2", "5"),
    ('⅗', "3", "5"),
    ('⅘', "4", "5"),
    ('⅙', "1", "6"),
    ('⅚', "5", "6"),
    ('⅐', "1", "7"),
    ('⅛', "1", "8"),
    ('⅜', "3", "8"),
    ('⅝', "5", "8"),
    ('⅞', "7", "8"),
    ('⅑', "1", "9"),
    ('⅒', "1", "10"),
];

const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

impl NumberReader {
    /// The number, if the text is a single number and nothing else.
    pub(super) fn read(self, text: &str) -> Option<ExactNumber> {
        let plain = plain(text);
        let mut rest = plain.trim();
        rest = rest.strip_suffix('.').unwrap_or(rest).trim_end();
        let mut is_negative = None;
        let mut has_currency = false;
        loop {
            if let Some((minus, after)) = sign(rest).filter(|_| is_negative.is_none()) {
                (is_negative, rest) = (Some(minus), after);
            } else if let Some(after) = currency_before(rest).filter(|_| !has_currency) {
                (has_currency, rest) = (true, after);
            } else {
                break;
            }
        }
        let (number, after) = self.magnitude(rest)?;
        let (number, after) = scaled(number, after)?;
        let number = self.suffix(number, after)?;
        Some(if is_negative == Some(true) {
            number.negated()
        } else {
            number
        })
    }

    fn magnitude(self, text: &str) -> Option<(ExactNumber, &str)> {
        if text.starts_with(char::is_alphabetic) {
            return words::read(text);
        }
        if let Some((over, under, rest)) = fraction(text) {
            return Some((ExactNumber::mixed("", over, under)?, rest));
        }
        let (whole, rest) = self.whole(text)?;
        if let Some((number, rest)) = self.with_fraction(&whole, rest) {
            return Some((number?, rest));
        }
        let (decimals, after) = match rest.strip_prefix(self.decimal.sign()) {
            Some(rest) => digits(rest),
            None => ("", rest),
        };
        let rest = if whole.is_empty() && decimals.is_empty() {
            return None;
        } else {
            after
        };
        let is_ten = whole == "10" && decimals.is_empty();
        let number = ExactNumber::decimal(&whole, decimals);
        if is_ten && let Some((power, rest)) = power(rest) {
            return Some((ExactNumber::whole(1).scaled(power?)?, rest));
        }
        match times_ten(rest) {
            Some((power, rest)) => Some((number.scaled(power?)?, rest)),
            None => Some((number, rest)),
        }
    }

    /// Digits, with or without group separators; `None` if the groups are invalid.
    fn whole(self, text: &str) -> Option<(Cow<'_, str>, &str)> {
        let (first, rest) = digits(text);
        let comma = self.decimal.separator();
        let Some(separator) = rest
            .chars()
            .next()
            .filter(|c| *c == comma || " '_".contains(*c))
        else {
            return Some((first.into(), rest));
        };
        let mut whole = first.to_owned();
        let mut sizes = Vec::new();
        let mut after = rest;
        while let Some(next) = after.strip_prefix(separator) {
            let (group, next) = digits(next);
            if group.is_empty() {
                break;
            }
            whole += group;
            sizes.push(group.len());
            after = next;
        }
        let is_grouped = is_grouped(first, &sizes);
        // `1 500/1000` is a number and a fraction.
        if is_grouped && !(separator == ' ' && after.trim_start().starts_with('/')) {
            Some((whole.into(), after))
        } else if separator == ' ' || sizes.is_empty() {
            Some((first.into(), rest))
        } else {
            None
        }
    }

    /// `3/4`, `1 3/4`, `1½`, `1\frac{3}{4}`: digits followed by a fraction. The number is `None` if it is invalid, such
    /// as `1/0`.
    fn with_fraction<'a>(
        self,
        whole: &str,
        rest: &'a str,
    ) -> Option<(Option<ExactNumber>, &'a str)> {
        if whole.is_empty() {
            return None;
        }
        if let Some(under) = rest.trim_start().strip_prefix('/') {
            let (under, rest) = self.whole(under.trim_start())?;
            return Some((ExactNumber::mixed("", whole, &under), rest));
        }
        let after = rest.trim_start();
        if let Some((over, under, rest)) = fraction(after) {
            return Some((ExactNumber::mixed(whole, over, under), rest));
        }
        let (over, after) = digits(rest.strip_prefix(' ')?);
        let (under, rest) = digits(after.trim_start().strip_prefix('/')?.trim_start());
        Some((ExactNumber::mixed(whole, over, under), rest))
    }

    /// What may follow a number: percent, a currency, a unit.
    fn suffix(self, mut number: ExactNumber, text: &str) -> Option<ExactNumber> {
        // Possibly in addition to one before the number: `$5 USD`.
        let (mut has_currency, mut has_percent) = (false, false);
        let mut rest = text;
        loop {
            let next = rest.strip_prefix(' ').unwrap_or(rest);
            if next.is_empty() {
                return Some(number);
            }
            if let Some((power, after)) = percent_sign(next).filter(|_| !has_percent) {
                if self.percent == Percent::Scale {
                    number = number.scaled(-power)?;
                }
                (has_percent, rest) = (true, after);
            } else if let Some(after) = currency(next).filter(|_| !has_currency) {
                (has_currency, rest) = (true, after);
            } else {
                let is_unit = self.units == Units::Ignore && is_unit(rest);
                return is_unit.then_some(number);
            }
        }
    }
}

/// Whether groups of digits are a number: three in each but the first, or two in each and three in the last.
fn is_grouped(first: &str, sizes: &[usize]) -> bool {
    let Some((last, middle)) = sizes.split_last() else {
        return false;
    };
    let is_first = matches!(first.len(), 1..=3) && !first.starts_with('0');
    let all = |size: usize| middle.iter().all(|other| *other == size);
    is_first && *last == 3 && (all(3) || (all(2) && first.len() < 3))
}

/// Normalises the text: digits of any script, minus signs, spaces and fraction slashes become ASCII, runs of white
/// space one space; LaTeX notation for these is removed.
fn plain(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'{');
    if text.bytes().all(is_plain) {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            c if c.is_whitespace() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            c if is_invisible(c) => {}
            '−' | '–' | '‒' | '‐' | '‑' | '﹣' | '－' => plain.push('-'),
            '＋' => plain.push('+'),
            '．' => plain.push('.'),
            '，' => plain.push(','),
            '％' | '﹪' => plain.push('%'),
            '⁄' | '∕' | '／' => plain.push('/'),
            '’' | '‘' => plain.push('\''),
            '⋅' | '·' | '∙' | '✕' => plain.push('×'),
            c => plain.push(py_digit(c).map_or(c, |digit| char::from(b'0' + digit))),
        }
    }
    if !plain.contains(['\\', '{']) {
        return plain.into();
    }
    for (from, to) in [
        (r"\%", "%"),
        (r"\$", "$"),
        (r"\!", ""),
        (r"\,", " "),
        ("{,}", ","),
        (r"\times", "×"),
        (r"\cdot", "×"),
        (r"\dfrac", r"\frac"),
        (r"\tfrac", r"\frac"),
        (r"\frac{-", r"-\frac{"),
    ] {
        plain = plain.replace(from, to);
    }
    plain.into()
}

/// A minus (true) or plus sign.
fn sign(text: &str) -> Option<(bool, &str)> {
    for (name, is_negative) in [
        ("-", true),
        ("+", false),
        ("minus ", true),
        ("negative ", true),
        ("plus ", false),
    ] {
        if let Some((start, rest)) = text.split_at_checked(name.len())
            && start.eq_ignore_ascii_case(name)
        {
            return Some((is_negative, rest.trim_start()));
        }
    }
    None
}

fn is_currency_sign(c: char) -> bool {
    // `¢` is excluded: it is a hundredth of a unit.
    matches!(c, '$' | '\u{a3}'..='\u{a5}' | '\u{58f}' | '\u{60b}' | '\u{9f2}' | '\u{9f3}' | '\u{e3f}'
        | '\u{17db}' | '\u{20a0}'..='\u{20cf}' | '\u{fdfc}' | '\u{fe69}' | '\u{ff04}' | '\u{ffe1}'
        | '\u{ffe5}' | '\u{ffe6}')
}

/// The text after a currency sign or code.
fn currency(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(is_currency_sign) {
        return Some(rest);
    }
    let (code, rest) = text.split_at_checked(3)?;
    let is_code = CURRENCIES
        .iter()
        .any(|known| code.eq_ignore_ascii_case(known));
    (is_code && !rest.starts_with(char::is_alphabetic)).then_some(rest)
}

/// Like [`currency`], also with a country's letters: `US$`.
fn currency_before(text: &str) -> Option<&str> {
    let letters = text
        .bytes()
        .take(3)
        .take_while(u8::is_ascii_uppercase)
        .count();
    let behind = text[letters..].strip_prefix('$');
    behind.or_else(|| currency(text)).map(str::trim_start)
}

/// A fraction as one character or in LaTeX: numerator, denominator, and the rest of the text.
fn fraction(text: &str) -> Option<(&str, &str, &str)> {
    static LATEX: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\\frac ?(?:\{ ?([0-9]+) ?\}|([0-9])) ?(?:\{ ?([0-9]+) ?\}|([0-9]))")
            .expect("a constant pattern")
    });
    let first = text.chars().next()?;
    if let Some((_, over, under)) = FRACTIONS.iter().find(|known| known.0 == first) {
        let rest = &text[first.len_utf8()..];
        return Some((over, under, rest));
    }
    if first != '\\' {
        return None;
    }
    let found = LATEX.captures(text)?;
    let part = |one: usize, other: usize| found.get(one).or(found.get(other));
    let (over, under) = (part(1, 2)?.as_str(), part(3, 4)?.as_str());
    Some((over, under, &text[found.get(0)?.end()..]))
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at(end)
}

/// The power of ten in `e3`, `× 10^3`, `x 10^{-3}`, `*10³`; `None` if it is too large.
fn times_ten(text: &str) -> Option<(Option<i64>, &str)> {
    if let Some(rest) = text.strip_prefix(['e', 'E']) {
        let (is_negative, rest) = match rest.strip_prefix(['-', '+']) {
            Some(after) => (rest.starts_with('-'), after),
            None => (false, rest),
        };
        let (digits, rest) = digits(rest);
        return (!digits.is_empty()).then(|| (exponent(is_negative, digits), rest));
    }
    let rest = text.trim_start().strip_prefix(['×', 'x', 'X', '*'])?;
    power(rest.trim_start().strip_prefix("10")?)
}

/// The exponent in `^3`, `**3`, `^{-3}`, `³`; `None` if it is too large.
fn power(text: &str) -> Option<(Option<i64>, &str)> {
    let caret = text.trim_start();
    if let Some(rest) = caret.strip_prefix('^').or_else(|| caret.strip_prefix("**")) {
        let rest = rest.trim_start();
        let (is_braced, rest) = match rest.strip_prefix('{') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, rest),
        };
        let (is_negative, rest) = match rest.strip_prefix(['-', '+']) {
            Some(after) => (rest.starts_with('-'), after),
            None => (false, rest),
        };
        let (digits, rest) = digits(rest);
        let rest = if is_braced {
            rest.trim_start().strip_prefix('}')?
        } else {
            rest
        };
        return (!digits.is_empty()).then(|| (exponent(is_negative, digits), rest));
    }
    let is_negative = text.starts_with('⁻');
    let text = text.strip_prefix(['⁻', '⁺']).unwrap_or(text);
    let mut digits = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next()
        && let Some(digit) = SUPERSCRIPTS.iter().position(|known| *known == c)
    {
        digits += &digit.to_string();
        rest = &rest[c.len_utf8()..];
    }
    (!digits.is_empty()).then(|| (exponent(is_negative, &digits), rest))
}

/// The number with the scale words that follow it: `2.5 million`.
fn scaled(mut number: ExactNumber, mut rest: &str) -> Option<(ExactNumber, &str)> {
    while let Some((power, after)) = words::read_scale(rest) {
        number = number.scaled(i64::from(power))?;
        rest = after;
    }
    Some((number, rest))
}

/// The power of ten of a percent or per mille sign, and the rest of the text.
fn percent_sign(text: &str) -> Option<(i64, &str)> {
    const SIGNS: [(&str, i64); 5] = [
        ("%", 2),
        ("percent", 2),
        ("per cent", 2),
        ("pct", 2),
        ("‰", 3),
    ];
    SIGNS.iter().find_map(|(name, power)| {
        let (start, rest) = text.split_at_checked(name.len())?;
        let is_word = name.len() > 3 || *name == "pct";
        let is_longer = is_word && rest.starts_with(char::is_alphabetic);
        (start.eq_ignore_ascii_case(name) && !is_longer).then_some((*power, rest))
    })
}

/// Whether the text after a number is a unit, or words without another number: `km`, ` m/s^2`, `-year-old`.
fn is_unit(text: &str) -> bool {
    let is_attached = !text.starts_with([' ', '-']);
    let text = text.strip_prefix([' ', '-']).unwrap_or(text);
    let is_start = |c: char| c.is_alphabetic() || "°′″µΩ\\".contains(c);
    let is_degrees = text.starts_with("^\\circ") || text.starts_with("^{\\circ");
    if !(text.starts_with(is_start) || is_degrees) {
        return false;
    }
    let is_ordinal = |word: &str| ["st", "nd", "rd", "th"].contains(&word);
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    if is_attached && words.clone().next().is_some_and(is_ordinal) {
        return false;
    }
    if words.any(words::is_number) {
        return false;
    }
    // A digit belongs to a unit directly after a letter, an exponent sign or another such digit.
    let (mut last, mut before) = (' ', ' ');
    for c in text.chars() {
        let is_joint = |c: char| c.is_alphanumeric() || "^{_".contains(c);
        if c.is_ascii_digit() && !is_joint(last) && !(last == '-' && is_joint(before)) {
            return false;
        }
        (last, before) = (c, last);
    }
    true
}
