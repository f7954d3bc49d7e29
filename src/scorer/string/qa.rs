//! Compares numbers as numbers, and anything else by its words.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::super::number::numeric::Numeric;
use super::super::{Answer, Entry, Example, Scorer};
use super::folding::visible;
use super::text_rule::{Golds, TextRule};
use super::token_f1::TokenF1;
use crate::data::{Normalized, Score, Target};
use crate::error::Result;
use crate::figure::counted;
use crate::text::{is_invisible, py_digit};

const NAME: &str = "qa";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "`numeric` where the ground truth is a number, else `token_f1`",
    rule: include_str!("qa.md"),
    options: &[],
    examples: &[
        Example {
            options: "",
            prediction: "-45",
            ground_truth: "45",
            correct: false,
            note: "a sign counts",
        },
        Example {
            options: "",
            prediction: "1,500.0",
            ground_truth: "1500",
            correct: true,
            note: "the same number",
        },
        Example {
            options: "",
            prediction: "The Eiffel Tower!",
            ground_truth: "Eiffel tower",
            correct: true,
            note: "a text, by its words",
        },
        Example {
            options: "",
            prediction: "7",
            ground_truth: "007",
            correct: false,
            note: "leading zeros make a code, which is a text",
        },
        Example {
            options: "",
            prediction: "140 passengers",
            ground_truth: r#"["140", "140 passengers"]"#,
            correct: true,
            note: "each accepted answer by its own rule",
        },
    ],
    make: |_| Ok(Arc::new(QaScorer)),
};

/// Scores numbers like [`Numeric`], and anything else like [`TokenF1`].
///
#[doc = include_str!("qa.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QaScorer;

impl QaScorer {
    /// The verdict of `numeric`: all or nothing.
    fn number(answer: &Answer<'_>, gold: &str) -> Result<Score> {
        let target = Target::from(gold);
        let score = Numeric::default().compare(&Answer {
            prediction: answer.prediction.map(without_marks),
            target: &target,
            ..*answer
        })?;
        let value = score.value;
        let figures = ["f1", "em", "precision", "recall"];
        let score = figures
            .into_iter()
            .fold(score, |score, name| score.detail(name, value));
        Ok(score.detail("gold", gold).detail("scorer", "numeric"))
    }

    /// The verdict of `token_f1`.
    fn text(answer: &Answer<'_>, target: &Target) -> Result<Score> {
        let prediction = answer.prediction.map(visible);
        let score = TokenF1::default().compare(&Answer {
            prediction: prediction.as_deref(),
            target,
            ..*answer
        })?;
        Ok(score.detail("scorer", "token_f1"))
    }
}

impl TextRule for QaScorer {
    const NAME: &'static str = NAME;
    const NAMES_NO_ANSWER: bool = true;
    const SHARES: &'static [&'static str] = &["f1", "em", "precision", "recall"];

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let target = as_texts(answer.target);
        let golds = Golds::read(&target, NAME)?;
        let (numbers, texts): (Vec<&str>, Vec<&str>) =
            golds.texts().iter().partition(|text| is_number(text));
        if numbers.is_empty() {
            return Self::text(answer, &target);
        }
        let mut scores = Vec::with_capacity(numbers.len() + 1);
        for number in &numbers {
            scores.push(Self::number(answer, number)?);
        }
        if !texts.is_empty() {
            scores.push(Self::text(answer, &Target::from(Value::from(texts)))?);
        }
        // Each in its own form, in the given order.
        let forms = |score: &Score| score.normalized_ground_truth.clone();
        let mut of_numbers = scores[..numbers.len()].iter().map(forms);
        let mut of_texts = match scores.last().map(forms) {
            Some(Normalized::List(list)) => list.into_iter(),
            _ => Vec::new().into_iter(),
        };
        let form = |text: &&str| match is_number(text).then(|| of_numbers.next()) {
            Some(Some(Normalized::Text(form))) => Some(form),
            _ => of_texts.next(),
        };
        let normalized = golds.normalized(golds.texts().iter().filter_map(form).collect());
        let is_better =
            |one: &Score, other: &Score| (one.correct, one.value) > (other.correct, other.value);
        let best = scores
            .into_iter()
            .reduce(|best, next| if is_better(&next, &best) { next } else { best });
        let best = best.unwrap_or_else(|| Score::binary(false));
        Ok(Score {
            normalized_ground_truth: normalized,
            ..best
        })
    }

    fn check(&self, target: &Target) -> Result<()> {
        Golds::read(&as_texts(target), NAME).map(drop)
    }

    fn version(&self) -> String {
        let [number, text] = [
            Numeric::default().fingerprint(),
            TokenF1::default().fingerprint(),
        ];
        format!("{NAME} 1: {number}, {text}")
    }
}

/// The ground truth with numbers as strings, as in the benchmark `qa`.
fn as_texts(target: &Target) -> Cow<'_, Target> {
    let text = |value: &Value| match value {
        Value::Number(number) => Value::from(number.to_string()),
        other => other.clone(),
    };
    match &target.0 {
        Value::Number(_) => Cow::Owned(Target(text(&target.0))),
        Value::Array(items) if items.iter().any(Value::is_number) => {
            Cow::Owned(Target(items.iter().map(text).collect()))
        }
        _ => Cow::Borrowed(target),
    }
}

/// Whether a ground truth is a number and not a code: `numeric` reads it, it contains a digit, and has no leading zero.
fn is_number(text: &str) -> bool {
    text.contains(char::is_numeric) && !is_code(text) && Numeric::default().reads_number(text)
}

/// Whether digits start with a zero: at the start, possibly after a sign or a currency, or after a slash.
fn is_code(text: &str) -> bool {
    let mut before = None;
    let mut digits = text.chars().map(|c| (c, py_digit(c))).peekable();
    let mut has_any = false;
    while let Some((c, digit)) = digits.next() {
        let leads = !has_any || matches!(before, Some('/' | '⁄' | '∕' | '／'));
        let mut goes_on = || matches!(digits.peek(), Some((_, Some(_))));
        if digit == Some(0) && leads && goes_on() {
            return true;
        }
        has_any |= digit.is_some() || c == '.';
        if !c.is_whitespace() {
            before = Some(c);
        }
    }
    false
}

/// A prediction without marks and brackets around a number.
fn without_marks(text: &str) -> &str {
    const AROUND: [char; 12] = ['"', '\'', '`', '*', '_', '~', '“', '”', '‘', '’', '«', '»'];
    const PAIRS: [(&str, &str); 6] = [
        ("(", ")"),
        ("[", "]"),
        ("\\(", "\\)"),
        ("\\[", "\\]"),
        ("$$", "$$"),
        ("$", "$"),
    ];
    let is_around = |c: char| AROUND.contains(&c) || c.is_whitespace() || is_invisible(c);
    let mut text = text;
    // A pair may be around marks, and these around a pair.
    for _ in 0..4 {
        text = text
            .trim_start_matches(is_around)
            .trim_end_matches(|c: char| is_around(c) || ".…!?,;:".contains(c));
        let within = |(open, close): &(&str, &str)| text.strip_prefix(open)?.strip_suffix(close);
        text = PAIRS.iter().find_map(within).unwrap_or(text);
    }
    text
}

/// How many samples each rule judges.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QaRules {
    numbers: usize,
    texts: usize,
    /// Samples that accept both numbers and texts.
    both: usize,
}

impl QaRules {
    /// Counts a ground truth.
    pub(crate) fn add(&mut self, target: &Target) {
        let target = as_texts(target);
        let Ok(golds) = Golds::read(&target, NAME) else {
            return;
        };
        let numbers = golds.texts().iter().filter(|text| is_number(text)).count();
        match numbers {
            0 => self.texts += 1,
            count if count == golds.texts().len() => self.numbers += 1,
            _ => self.both += 1,
        }
    }

    /// The notice for a run; `None` if no ground truth is a number.
    pub(crate) fn notice(self) -> Option<String> {
        if self.numbers + self.both == 0 {
            return None;
        }
        let truths = match self.numbers {
            1 => "its ground truth is a number",
            _ => "their ground truth is a number",
        };
        let parts = [
            (self.numbers, format!("with `numeric` ({truths})")),
            (
                self.both,
                "with `numeric` or `token_f1` (whichever fits the accepted answer)".to_owned(),
            ),
            (self.texts, "with `token_f1`".to_owned()),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts = parts.enumerate().map(|(place, (count, rule))| match place {
            0 => format!("{} {rule}", counted(*count as u64, "sample")),
            _ => format!("{count} {rule}"),
        });
        let parts: Vec<String> = parts.collect();
        let text = match &*parts {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            parts => parts.join(", "),
        };
        Some(format!("scorer `{NAME}` scores {text}"))
    }
}

#[cfg(test)]
mod tests;
