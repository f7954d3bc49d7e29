//! Parses numbers in English words: `forty-two`, `a hundred and one`, `minus two point five million`.

use super::number::ExactNumber;
use crate::text::{BELOW_TWENTY, TENS};

/// The number at the start of the text, and the rest. `None` if there is none, or if another number follows:
/// `nineteen ninety`, `five six`.
pub(super) fn read(text: &str) -> Option<(ExactNumber, &str)> {
    let mut words = Words { rest: text };
    let number = words.number()?;
    match words.peek() {
        Some(word) if value(word).is_some() || scale(word).is_some() => None,
        _ => Some((number, words.rest)),
    }
}

/// Whether a text is a number in words, and nothing else.
pub(in crate::scorer) fn is_whole(text: &str) -> bool {
    read(text).is_some_and(|(_, rest)| rest.trim().is_empty())
}

/// Whether a word is a number or part of one.
pub(super) fn is_number(word: &str) -> bool {
    value(word).is_some() || scale(word).is_some()
}

/// The power of ten of a scale word at the start of the text, after a space or a hyphen; and the rest.
pub(super) fn read_scale(text: &str) -> Option<(u32, &str)> {
    let mut words = Words {
        rest: text.trim_start_matches([' ', '-']),
    };
    let power = scale(words.word()?)?;
    Some((power, words.rest))
}

/// Splits a text into words.
#[derive(Clone, Copy)]
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn peek(mut self) -> Option<&'a str> {
        self.word()
    }

    fn is_fraction(mut self) -> bool {
        self.fraction().is_some()
    }

    /// The next word, after a space, a hyphen, or a comma and a space.
    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest;
        let start = rest.strip_prefix(", ").unwrap_or(rest);
        let start = start.strip_prefix([' ', '-']).unwrap_or(start);
        let end = start
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(start.len());
        let (word, rest) = start.split_at(end);
        if word.is_empty() {
            return None;
        }
        self.rest = rest;
        Some(word)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let mut next = *self;
        let is_next = next
            .word()
            .is_some_and(|word| word.eq_ignore_ascii_case(wanted));
        if is_next {
            *self = next;
        }
        is_next
    }

    fn number(&mut self) -> Option<ExactNumber> {
        let mut after = *self;
        let number = if let Some(number) = after.half_a() {
            number
        } else {
            after = *self;
            if let Some((over, under)) = after.fraction() {
                ExactNumber::ratio(over, under)?
            } else {
                after = *self;
                let whole = after.whole();
                after.after_whole(whole)?
            }
        };
        *self = after;
        self.scales(number)
    }

    /// `half a`, before a scale.
    fn half_a(&mut self) -> Option<ExactNumber> {
        let is_half = self.take("half") && self.take("a");
        let scale = self.peek().and_then(scale)?;
        is_half.then_some(())?;
        self.word();
        ExactNumber::ratio(1, 2)?.scaled(i64::from(scale))
    }

    /// What follows an integer, or the start: `point five`, `and a half`.
    fn after_whole(&mut self, whole: Option<u128>) -> Option<ExactNumber> {
        let mut after = *self;
        if after.take("point") {
            let digits = after.digits();
            if !digits.is_empty() {
                *self = after;
                let whole = whole.map_or(String::new(), |whole| whole.to_string());
                return Some(ExactNumber::decimal(&whole, &digits));
            }
        }
        let whole = whole?;
        let mut after = *self;
        if after.take("and")
            && let Some((over, under)) = after.fraction()
        {
            *self = after;
            return ExactNumber::ratio(whole.checked_mul(under)?.checked_add(over)?, under);
        }
        Some(ExactNumber::whole(whole))
    }

    /// `half`, `a third`, `three quarters`, `two thirds`.
    fn fraction(&mut self) -> Option<(u128, u128)> {
        if self.take("half") {
            return Some((1, 2));
        }
        let over = if self.take("a") {
            1
        } else {
            self.below_hundred()?
        };
        let word = self.word()?.to_ascii_lowercase();
        let under = match (over, word.as_str()) {
            (1, "half") | (2.., "halves") => 2,
            (1, "third") | (2.., "thirds") => 3,
            (1, "quarter") | (2.., "quarters") => 4,
            _ => return None,
        };
        Some((over, under))
    }

    /// A number below a hundred.
    fn below_hundred(&mut self) -> Option<u128> {
        let first = value(self.word()?)?;
        let mut after = *self;
        if first >= 20
            && let Some(second) = after.word().and_then(value)
            && (1..10).contains(&second)
        {
            *self = after;
            return Some(first + second);
        }
        Some(first)
    }

    /// An integer: groups below a thousand (or hundreds, as in `nineteen hundred`), each but the last with a scale
    /// smaller than the previous one.
    fn whole(&mut self) -> Option<u128> {
        let mut total = None;
        let mut last_scale = u32::MAX;
        loop {
            let mut after = *self;
            if total.is_some() && after.take("and") && after.is_fraction() {
                break;
            }
            let Some(group) = after.group(total.is_none()) else {
                break;
            };
            let power = after.peek().and_then(scale).filter(|power| *power > 2);
            if let Some(power) = power {
                after.word();
                if power >= last_scale {
                    return None;
                }
                last_scale = power;
            }
            // Zero must be the only group.
            if group == 0 && (total.is_some() || power.is_some()) {
                return None;
            }
            total = Some(total.unwrap_or(0) + group * 10_u128.pow(power.unwrap_or(0)));
            *self = after;
            if power.is_none() {
                break;
            }
        }
        total
    }

    /// A number below ten thousand, without `thousand`. Before the first scale it may be omitted, or be `a`.
    fn group(&mut self, is_first: bool) -> Option<u128> {
        let mut after = *self;
        let is_article = after.take("a");
        match after.peek().and_then(scale) {
            Some(power) if is_article || is_first => {
                *self = after;
                if power > 2 {
                    return Some(1);
                }
                self.word();
                return Some(self.after_hundred(100));
            }
            _ if is_article => return None,
            _ => {}
        }
        let first = after.below_hundred()?;
        *self = after;
        if first > 0 && after.take("hundred") {
            *self = after;
            return Some(self.after_hundred(first * 100));
        }
        Some(first)
    }

    /// What may follow `hundred`: `five`, `and five`, but not `and a half`.
    fn after_hundred(&mut self, hundreds: u128) -> u128 {
        let mut after = *self;
        if after.take("and") && after.is_fraction() {
            return hundreds;
        }
        match after.below_hundred() {
            Some(rest @ 1..) => {
                *self = after;
                hundreds + rest
            }
            _ => hundreds,
        }
    }

    /// Digits as separate words.
    fn digits(&mut self) -> String {
        let mut digits = String::new();
        let mut after = *self;
        while let Some(digit) = after.word().and_then(value).filter(|value| *value < 10) {
            digits += &digit.to_string();
            *self = after;
        }
        digits
    }

    /// `million` after `two point five`, or after `a million`.
    fn scales(&mut self, mut number: ExactNumber) -> Option<ExactNumber> {
        let mut after = *self;
        while let Some(power) = after.word().and_then(scale).filter(|power| *power > 2) {
            number = number.scaled(i64::from(power))?;
            *self = after;
        }
        Some(number)
    }
}

/// The number of a word below a hundred.
fn value(word: &str) -> Option<u128> {
    let place = |list: &[&str]| list.iter().position(|name| word.eq_ignore_ascii_case(name));
    let value = place(&BELOW_TWENTY).or_else(|| Some(place(&TENS)? * 10 + 20));
    value.map(|value| value as u128)
}

/// The power of ten of a scale word.
fn scale(word: &str) -> Option<u32> {
    const SCALES: [(&str, u32); 5] = [
        ("hundred", 2),
        ("thousand", 3),
        ("million", 6),
        ("billion", 9),
        ("trillion", 12),
    ];
    let found = SCALES
        .iter()
        .find(|scale| word.eq_ignore_ascii_case(scale.0));
    found.map(|scale| scale.1)
}
