//! Typos in the words of a question.
//!
//! Left alone are digits, code, quotes, addresses, names of files, labels of options, and the words of the ground truth.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use super::Draws;

/// Words with fewer letters have no typos.
const LETTERS: usize = 4;
/// Signs of code and addresses, anywhere in a word.
const SIGNS: &str = "_/\\@=<>{}[]`#$%^~|+*&";
/// Marks that begin and end what is quoted.
const QUOTES: [(char, char); 5] = [
    ('`', '`'),
    ('"', '"'),
    ('\u{201c}', '\u{201d}'),
    ('\u{ab}', '\u{bb}'),
    ('\u{2018}', '\u{2019}'),
];
/// Words before the label of an option.
const LABELS: [&str; 4] = ["answer", "choice", "option", "statement"];

/// The words of a ground truth, in lower case.
#[derive(Debug, Default)]
pub(super) struct Truths(HashSet<String>);

impl Truths {
    pub(super) fn of<'a>(values: impl Iterator<Item = &'a Value>) -> Self {
        let mut truths = Self::default();
        values.for_each(|value| truths.add(value));
        truths
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                let words = text.split(|c: char| !c.is_alphabetic());
                self.0.extend(words.map(str::to_lowercase));
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(members) => members.values().for_each(|member| self.add(member)),
            _ => {}
        }
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(&word.to_lowercase())
    }

    /// Whether a sentence has one of the words that are long enough to mean something.
    pub(super) fn has_word_of(&self, sentence: &str) -> bool {
        let words = sentence.split(|c: char| !c.is_alphabetic());
        let mut words = words.filter(|word| word.len() >= LETTERS);
        words.any(|word| self.has(word))
    }
}

/// The text with typos in a share of its words, and at least in one; `None` if no word may have one.
pub(super) fn with_typos(
    text: &str,
    truths: &Truths,
    rate: f64,
    draws: &mut Draws,
) -> Option<String> {
    let mut words = words(text);
    words.retain(|word| !truths.has(&text[word.clone()]));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "no question has so many words"
    )]
    let share = (words.len() as f64 * rate).round() as usize;
    let wanted = share.max(1).min(words.len());
    let mut drawn: Vec<Range<usize>> = (0..wanted)
        .map(|_| words.swap_remove(draws.below(words.len())))
        .collect();
    drawn.sort_unstable_by_key(|word| word.start);
    let mut changed = String::with_capacity(text.len() + drawn.len());
    let mut end = 0;
    for word in &drawn {
        changed += &text[end..word.start];
        changed += &misspelt(&text[word.clone()], draws);
        end = word.end;
    }
    changed += &text[end..];
    (!drawn.is_empty()).then_some(changed)
}

/// A word with a letter swapped, dropped or doubled. Its first letter stays.
fn misspelt(word: &str, draws: &mut Draws) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let last = letters.len() - 1;
    let place = 1 + draws.below(last);
    match draws.below(3) {
        0 if place < last && letters[place] != letters[place + 1] => letters.swap(place, place + 1),
        1 => {
            letters.remove(place);
        }
        _ => letters.insert(place, letters[place]),
    }
    letters.into_iter().collect()
}

/// The places of the words that may have a typo.
fn words(text: &str) -> Vec<Range<usize>> {
    let quoted = quoted(text);
    let mut found = Vec::new();
    for token in tokens(text) {
        let is_quoted = quoted
            .iter()
            .any(|range| range.start < token.end && token.start < range.end);
        let written = &text[token.clone()];
        if !is_quoted && !is_code(written) && !is_label(text, &token) {
            found.extend(runs(written).map(|run| token.start + run.start..token.start + run.end));
        }
    }
    found
}

/// What stands between white space, without lines of code.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let is_code = line.starts_with("    ") || line.starts_with('\t');
        if !is_code {
            let mut rest = 0;
            for token in line.split_whitespace() {
                // It is there, as it was split off.
                let at = rest + line[rest..].find(token).unwrap_or_default();
                rest = at + token.len();
                tokens.push(start + at..start + rest);
            }
        }
        start += line.len();
    }
    tokens
}

/// What stands in fences of code or between quotation marks.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = first.len_utf8();
        let is_inside = text[..at]
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric);
        let end = if let Some(fenced) = rest.strip_prefix("```") {
            Some(fenced.find("```").map_or(text.len(), |end| at + end + 6))
        } else if let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == first) {
            let end = rest[length..].find(*close);
            end.map(|end| at + length + end + close.len_utf8())
        } else if first == '\'' && !is_inside {
            // An apostrophe ends nothing.
            let mut ends = rest[length..].match_indices('\'');
            let is_end = |end: usize| {
                let after = rest[length + end + 1..].chars().next();
                !after.is_some_and(char::is_alphanumeric)
            };
            let end = ends.find(|(end, _)| is_end(*end));
            end.map(|(end, _)| at + length + end + 1)
        } else {
            None
        };
        match end {
            Some(end) => {
                ranges.push(at..end);
                at = end;
            }
            None => at += length,
        }
    }
    ranges
}

/// Whether a token is more than words: it has digits or signs, or a dot or colon within.
fn is_code(token: &str) -> bool {
    let mut chars = token.chars().peekable();
    let mut is_after_letter = false;
    let mut is_after_small = false;
    while let Some(c) = chars.next() {
        if c.is_numeric() || SIGNS.contains(c) {
            return true;
        }
        let is_before_letter = chars.peek().is_some_and(|next| next.is_alphanumeric());
        // `a.b`, `call()`, `camelCase`.
        if is_after_letter && (matches!(c, '.' | ':') && is_before_letter || c == '(')
            || is_after_small && c.is_uppercase()
        {
            return true;
        }
        is_after_letter = c.is_alphabetic();
        is_after_small = c.is_lowercase();
    }
    false
}

/// Whether a token is a word before the label of an option: `Option B`.
fn is_label(text: &str, token: &Range<usize>) -> bool {
    let word = text[token.clone()].to_lowercase();
    let next = text[token.end..].split_whitespace().next();
    let label = next.map(|next| next.trim_matches(|c: char| !c.is_alphanumeric()));
    LABELS.contains(&word.as_str()) && label.is_some_and(|label| label.chars().count() == 1)
}

/// The runs of letters that are long enough.
fn runs(token: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let runs = token.split(|c: char| !c.is_alphabetic()).map(move |run| {
        // It is there, as it was split off.
        let start = at + token[at..].find(run).unwrap_or_default();
        at = start + run.len();
        start..at
    });
    let is_long = |run: &Range<usize>| token[run.clone()].chars().count() >= LETTERS;
    runs.filter(is_long).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::record::perturb::PerturbKind;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let found: Vec<_> = words(text).into_iter().map(|word| &text[word]).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn words_are_found_and_all_else_is_left_alone() {
        check(
            "What is the capital of France?",
            &["What", "capital", "France"],
        );
        check(
            "well-known (maybe) doesn't",
            &["well", "known", "maybe", "doesn"],
        );
        check(
            "see https://example.org/path or www.example.org, data.csv",
            &[],
        );
        check("call some_name(x), x=long and print(value)", &["call"]);
        check("what does fooBar() or myFunc do", &["what", "does"]);
        check("abc123 level2 2026 4th", &[]);
        check(
            "say \"quoted words\" then 'more words' and \u{201c}others\u{201d} it's fine",
            &["then", "fine"],
        );
        check(
            "use `some code` here\n```\nlong fence\n```\nafter",
            &["here", "after"],
        );
        check(
            "text\n    indented code\n\ttabbed code\nagain",
            &["text", "again"],
        );
        check(
            "Option B: correct\n(A) first\nB. second",
            &["correct", "first", "second"],
        );
        check("unclosed \"quote here", &["unclosed", "quote", "here"]);
        check("Größe 漢字漢字 naïve", &["Größe", "漢字漢字", "naïve"]);
        check("", &[]);
    }

    #[test]
    fn a_share_of_the_words_and_at_least_one_gets_a_typo() {
        let text = "alpha bravo charlie delta foxtrot hotel india juliet lima november";
        let truths = Truths::of([json!(["Lima", {"x": "hotel"}])].iter());
        let count = |rate: f64, id: &str| {
            let mut draws = Draws::of(7, PerturbKind::Typos, id, 0);
            let changed = with_typos(text, &truths, rate, &mut draws).unwrap();
            let pairs = text.split(' ').zip(changed.split(' '));
            let different: Vec<_> = pairs.filter(|(one, other)| one != other).collect();
            for (one, other) in &different {
                let (a, b) = (one.chars().count(), other.chars().count());
                assert!(a.abs_diff(b) <= 1 && one.chars().next() == other.chars().next());
                assert!(!["lima", "hotel"].contains(one), "{one}");
            }
            different.len()
        };
        for id in ["a", "b", "c", "d", "e"] {
            assert_eq!(
                [count(0.01, id), count(0.25, id), count(1.0, id)],
                [1, 2, 8]
            );
        }
        let mut draws = Draws::of(7, PerturbKind::Typos, "a", 0);
        assert_eq!(with_typos("Is it so? 12", &truths, 1.0, &mut draws), None);
        assert_eq!(with_typos("lima hotel", &truths, 1.0, &mut draws), None);
    }

    #[test]
    fn any_text_is_read() {
        let alphabet = [
            "'", "\"", "`", "```", " ", "\n", "é", "word", "A)", ".", "漢",
        ];
        let mut draws = Draws::of(1, PerturbKind::Typos, "fuzz", 0);
        for _ in 0..2000 {
            let parts = (0..draws.below(12)).map(|_| alphabet[draws.below(alphabet.len())]);
            let text: String = parts.collect::<Vec<_>>().concat();
            let mut own = Draws::of(1, PerturbKind::Typos, &text, 0);
            if let Some(changed) = with_typos(&text, &Truths::default(), 1.0, &mut own) {
                assert_ne!(changed, text);
            }
        }
    }
}
