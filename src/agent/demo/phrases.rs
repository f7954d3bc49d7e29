//! A question as a searchable sequence of normalised words.
//!
//! Responsibility: answer "is this column name, key or cell mentioned, and
//! where" in constant time. Words are lower-cased, a plural `s` is dropped and
//! `snake_case` and `camelCase` names fall into words. Limits: phrases of at
//! most [`MAX_WORDS`] words, questions of at most [`MAX_QUESTION_WORDS`] words.

use std::collections::HashMap;

/// The longest phrase that can be found.
const MAX_WORDS: usize = 6;
/// The words of a question that are looked at.
const MAX_QUESTION_WORDS: usize = 4_000;
/// Names longer than this cannot be mentioned.
const MAX_NAME_BYTES: usize = 200;

/// Where a phrase stands in the question: word indexes, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// Index of the first word.
    pub(super) start: usize,
    /// Index after the last word.
    pub(super) end: usize,
}

impl Span {
    /// Whether the word at `index` is part of this span.
    pub(super) fn holds(self, index: usize) -> bool {
        (self.start..self.end).contains(&index)
    }

    /// Whether `other` lies inside this span and is shorter.
    pub(super) fn swallows(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end && self != other
    }
}

/// The words of a question and where every short phrase occurs.
pub(super) struct Phrases {
    words: Vec<String>,
    places: HashMap<String, Vec<usize>>,
}

impl Phrases {
    /// Cuts a question into words.
    pub(super) fn new(question: &str) -> Self {
        let mut words = split(question);
        words.truncate(MAX_QUESTION_WORDS);
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for start in 0..words.len() {
            let mut phrase = String::new();
            for word in words.iter().skip(start).take(MAX_WORDS) {
                if !phrase.is_empty() {
                    phrase.push(' ');
                }
                phrase.push_str(word);
                places.entry(phrase.clone()).or_default().push(start);
            }
        }
        Self { words, places }
    }

    /// Where `name` is first mentioned.
    pub(super) fn find(&self, name: &str) -> Option<Span> {
        self.find_all(name).next()
    }

    /// Everywhere `name` is mentioned, in order.
    pub(super) fn find_all(&self, name: &str) -> impl Iterator<Item = Span> {
        let words = if name.len() > MAX_NAME_BYTES {
            Vec::new()
        } else {
            split(name)
        };
        let starts = self
            .places
            .get(&words.join(" "))
            .map_or(&[][..], Vec::as_slice);
        starts.iter().map(move |&start| Span {
            start,
            end: start + words.len(),
        })
    }

    /// The word at `index`, or an empty one beyond the end.
    pub(super) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// The word before `index`, or an empty one at the beginning.
    pub(super) fn before(&self, index: usize) -> &str {
        index
            .checked_sub(1)
            .map_or("", |previous| self.word(previous))
    }

    /// Where one of the phrases `any` (in normalised form) begins, phrase by phrase.
    pub(super) fn all_of(&self, any: &[&str]) -> impl Iterator<Item = usize> {
        any.iter()
            .filter_map(|phrase| self.places.get(*phrase))
            .flatten()
            .copied()
    }

    /// Where the first of the phrases `any` (in normalised form) begins.
    pub(super) fn first_of(&self, any: &[&str]) -> Option<usize> {
        self.all_of(any).min()
    }

    /// Whether one of the phrases `any` (in normalised form) occurs.
    pub(super) fn has(&self, any: &[&str]) -> bool {
        self.first_of(any).is_some()
    }
}

/// Normalised words; numbers keep their sign, point and thousands commas,
/// comparison signs are words of their own.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut previous = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next_is_digit = letters.peek().is_some_and(char::is_ascii_digit);
        let number_so_far = word.ends_with(|c: char| c.is_ascii_digit());
        if letter.is_alphanumeric() {
            if letter.is_uppercase() && previous.is_lowercase() {
                finish(&mut word, &mut words);
            }
            word.extend(letter.to_lowercase());
        } else if matches!(letter, '.' | ',') && number_so_far && next_is_digit {
            if letter == '.' {
                word.push(letter);
            }
        } else if letter == '-' && next_is_digit && previous.is_whitespace() {
            finish(&mut word, &mut words);
            word.push(letter);
        } else if matches!(letter, '<' | '>' | '=') {
            if !word.ends_with(['<', '>']) {
                finish(&mut word, &mut words);
            }
            word.push(letter);
        } else if !matches!(letter, '\'' | '’') || previous.is_whitespace() {
            finish(&mut word, &mut words);
        }
        previous = letter;
    }
    finish(&mut word, &mut words);
    words
}

/// Moves a finished word, without its plural `s`, to the list.
fn finish(word: &mut String, words: &mut Vec<String>) {
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        assert_eq!(split(input).join("|"), expected, "{input}");
    }

    #[test]
    fn cuts_text_into_words() {
        check("unit_price unitPrice", "unit|price|unit|price");
        check(
            "Prices, glass; Mara's 1,250.5 kg!",
            "price|glass|mara|1250.5|kg",
        );
        check("depth >= -3 or x<2", "depth|>=|-3|or|x|<2");
        check("Ужин 東京  É", "ужин|東京|é");
        check("", "");
    }

    #[test]
    fn finds_mentions() {
        let phrases = Phrases::new("What is the unit price of the Fern Cups?");
        assert_eq!(phrases.find("unitPrice"), Some(Span { start: 3, end: 5 }));
        assert_eq!(phrases.find("fern cup"), Some(Span { start: 7, end: 9 }));
        assert_eq!(phrases.find("fern ball"), None);
        assert_eq!(phrases.find(""), None);
        assert_eq!(phrases.first_of(&["price", "unit"]), Some(3));
        assert_eq!((phrases.before(0), phrases.word(99)), ("", ""));
    }
}
