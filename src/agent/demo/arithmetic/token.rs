//! The tokens of an arithmetic question.
//!
//! Responsibility: cut a question into numbers (also spelled out up to
//! ninety-nine), signs and lower-case words; dates and times are dropped
//! because they look like subtraction. Limits: [`MAX_TOKENS`] tokens.

use std::sync::LazyLock;

use regex::Regex;

use super::super::number::Number;
use crate::text::number_words::{BELOW_TWENTY, TENS};

/// Tokens beyond these are not read.
const MAX_TOKENS: usize = 4_000;

/// Dates and times of day.
static MOMENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}:\d{2}(?::\d{2})?\b").ok());

/// One piece of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MathToken {
    /// A number in digits or words.
    Number(Number),
    /// An operator, bracket, comma or other punctuation.
    Sign(char),
    /// Any other word, in lower case.
    Word(String),
}

impl MathToken {
    /// The number, if this is one.
    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// Cuts a question into tokens.
pub(super) fn tokens(question: &str) -> Vec<MathToken> {
    let plain = MOMENT.as_ref().map_or_else(
        || question.to_owned(),
        |pattern| pattern.replace_all(question, " ; ").into_owned(),
    );
    let letters: Vec<char> = plain.chars().collect();
    let mut found: Vec<MathToken> = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at)
        && found.len() < MAX_TOKENS
    {
        let rest = letters.get(at..).unwrap_or_default();
        if letter.is_ascii_digit() {
            let taken = number_length(rest);
            let text: String = rest.iter().take(taken).collect();
            at += taken;
            let glued = letters.get(at).is_some_and(|next| next.is_alphabetic());
            found.push(match Number::parse(&text) {
                Some(number) if !glued => MathToken::Number(number),
                _ => MathToken::Word(text),
            });
        } else if letter.is_alphabetic() {
            let taken = rest.iter().take_while(|c| c.is_alphanumeric()).count();
            let word = rest.iter().take(taken).collect::<String>().to_lowercase();
            at += taken;
            spell(word, &mut found);
        } else {
            at += 1;
            match letter {
                '×' | '·' | '∗' => found.push(MathToken::Sign('*')),
                '÷' => found.push(MathToken::Sign('/')),
                '−' | '–' => found.push(MathToken::Sign('-')),
                _ if letter.is_whitespace() => {}
                _ => found.push(MathToken::Sign(letter)),
            }
        }
    }
    found
}

/// How many characters belong to the number at the beginning: digits, commas
/// before groups of exactly three digits, and one decimal point.
fn number_length(letters: &[char]) -> usize {
    let digits = |from: usize| {
        let rest = letters.get(from..).unwrap_or_default();
        rest.iter().take_while(|c| c.is_ascii_digit()).count()
    };
    let mut length = digits(0);
    if length <= 3 {
        while letters.get(length) == Some(&',') && digits(length + 1) == 3 {
            length += 4;
        }
    }
    if letters.get(length) == Some(&'.') {
        let decimals = digits(length + 1);
        if decimals > 0 {
            length += 1 + decimals;
        }
    }
    length
}

/// Adds a word, as a number if it spells one; `twenty` `-` `one` become one number.
fn spell(word: String, found: &mut Vec<MathToken>) {
    let position = |names: &[&str]| names.iter().position(|name| *name == word);
    if let Some(tens) = position(&TENS) {
        found.push(MathToken::Number(Number::count(tens * 10 + 20)));
    } else if let Some(units) = position(&BELOW_TWENTY) {
        let joined = match found.as_slice() {
            [
                ..,
                MathToken::Number(Number::Whole(tens)),
                MathToken::Sign('-'),
            ] if (1..10).contains(&units) && tens % 10 == 0 && (20..100).contains(tens) => {
                Number::count(units).add(Number::Whole(*tens))
            }
            _ => None,
        };
        if joined.is_some() {
            found.truncate(found.len() - 2);
        }
        found.push(MathToken::Number(joined.unwrap_or(Number::count(units))));
    } else {
        found.push(MathToken::Word(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        let shown: Vec<String> = tokens(input)
            .into_iter()
            .map(|token| match token {
                MathToken::Number(number) => number.render(None).unwrap_or_default(),
                MathToken::Sign(sign) => sign.to_string(),
                MathToken::Word(word) => word,
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{input}");
    }

    #[test]
    fn cuts_questions_into_tokens() {
        check("What is 1,250.5×3?", "what is 1250.5 * 3 ?");
        check("3, 4 and 5.", "3 , 4 and 5 .");
        check("twenty-five plus thirty", "25 plus 30");
        check("on 2031-05-06 at 10:30", "on ; at ;");
        check("3rd 5kg", "3 rd 5 kg");
        check("", "");
    }
}
