//! Word overlap of answer and ground truth (F1), optionally with a check for tool calls.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use serde_json::Value;

use crate::data::{Sample, Score, Target};
use crate::error::{Error, Result};
use crate::scorer::string::text_rule::TextRule;
use crate::scorer::{Answer, Entry, Example, Reads, Scorer};
use crate::text::{is_py_punct, is_py_space, is_py_word, py_lower};

pub(crate) const ENTRY: Entry = Entry {
    name: "qa_f1",
    summary: "AgentFly's F1 of common words, with exact match, precision and recall; takes several accepted answers",
    rule: include_str!("qa_f1.md"),
    options: &[],
    examples: &[
        Example {
            options: "",
            prediction: "The Eiffel Tower!",
            ground_truth: "eiffel tower",
            correct: true,
            note: "case, punctuation, articles and spaces do not count",
        },
        Example {
            options: "",
            prediction: "Paris is the capital",
            ground_truth: "Paris",
            correct: false,
            note: "f1 0.5, precision 1/3, recall 1",
        },
        Example {
            options: "",
            prediction: "NYC",
            ground_truth: "[\"New York City\", \"NYC\"]",
            correct: true,
            note: "the best of several ground truths counts",
        },
        Example {
            options: "",
            prediction: "yes, it is",
            ground_truth: "yes",
            correct: false,
            note: "no common word counts for `yes`, `no` and `noanswer`: f1 0",
        },
    ],
    make: |_| Ok(Arc::new(QaF1)),
};

pub(crate) const FORMAT_ENTRY: Entry = Entry {
    name: "qa_f1_format",
    summary: "AgentFly's F1 for agents that called tools at least twice, else 0",
    rule: include_str!("qa_f1_format.md"),
    options: &[],
    examples: &[Example {
        options: "",
        prediction: "Paris",
        ground_truth: "Paris",
        correct: false,
        note: "no tool was called; with two messages of role `tool` it is correct",
    }],
    make: |_| Ok(Arc::new(QaF1Format)),
};

/// Scores as `AgentFly`'s `qa_f1_reward`.
///
#[doc = include_str!("qa_f1.md")]
#[expect(clippy::doc_markdown, reason = "the page is also printed in terminals")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QaF1;

/// Scores as `AgentFly`'s `qa_f1_reward_format`.
///
#[doc = include_str!("qa_f1_format.md")]
#[expect(clippy::doc_markdown, reason = "the page is also printed in terminals")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QaF1Format;

/// The required number of tool messages.
const TOOL_CALLS: u64 = 2;

impl TextRule for QaF1 {
    const NAME: &'static str = "qa_f1";
    const COUNTS_INVISIBLE: bool = true;
    const SHARES: &'static [&'static str] = &["reward", "f1", "em", "precision", "recall"];

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let prediction = normalize(answer.prediction.unwrap_or_default());
        let best = Best::of(&prediction, &answer.target.0, Self::NAME)?;
        let reason = best.figures.reason();
        Ok(best.into_score(prediction, reason))
    }

    fn check(&self, target: &Target) -> Result<()> {
        Best::of("", &target.0, Self::NAME).map(drop)
    }
}

impl Scorer for QaF1Format {
    fn name(&self) -> &'static str {
        "qa_f1_format"
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        if let Some(target) = &sample.target {
            Best::of("", &target.0, self.name())?;
        }
        Ok(None)
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let calls = tool_calls(&answer.output.messages)?;
        let prediction = normalize(answer.prediction.unwrap_or_default());
        let mut best = Best::of(&prediction, &answer.target.0, self.name())?;
        let reason = if calls < TOOL_CALLS {
            best.figures = QaFigures::default();
            "too_few_tool_calls"
        } else {
            best.figures.reason()
        };
        let score = best.into_score(prediction, reason);
        Ok(score.detail("tool_calls", calls))
    }

    fn reads(&self) -> Reads {
        Reads::Roles
    }
}

/// The number of messages with the role `tool`; each message must have a role.
fn tool_calls(messages: &[Value]) -> Result<u64> {
    let mut calls = 0;
    for (place, message) in messages.iter().enumerate() {
        let Some(role) = message.get("role") else {
            let message = format!("message {} of the conversation has no `role`", place + 1);
            let hint = "write messages as `{\"role\": \"tool\", \"content\": \"…\"}`";
            return Err(Error::usage(message).hint(hint));
        };
        calls += u64::from(role == "tool");
    }
    Ok(calls)
}

/// The five figures; `reward` is `f1`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct QaFigures {
    f1: f64,
    em: f64,
    precision: f64,
    recall: f64,
}

impl QaFigures {
    fn is_exact(&self) -> bool {
        self.em > 0.0
    }

    fn reason(&self) -> &'static str {
        if self.is_exact() {
            "exact_match"
        } else if self.f1 > 0.0 {
            "partial_match"
        } else {
            "mismatch"
        }
    }
}

/// A normalised prediction, for comparison with any number of golds.
struct Prediction<'a> {
    text: &'a str,
    /// Computed for the first gold that differs, and reused.
    words: OnceCell<Vec<&'a str>>,
}

impl Prediction<'_> {
    /// The figures for a normalised gold.
    fn compare(&self, gold: &str) -> QaFigures {
        if self.text == gold {
            // Two empty texts: an exact match without words.
            let all = if gold.is_empty() { 0.0 } else { 1.0 };
            return QaFigures {
                f1: all,
                em: 1.0,
                precision: all,
                recall: all,
            };
        }
        let is_special = |text: &str| matches!(text, "yes" | "no" | "noanswer");
        if is_special(self.text) || is_special(gold) {
            return QaFigures::default();
        }
        let left = self.words.get_or_init(|| sorted_words(self.text));
        let right = sorted_words(gold);
        let common = common(left, &right);
        if common == 0 {
            return QaFigures::default();
        }
        let precision = ratio(common, left.len());
        let recall = ratio(common, right.len());
        QaFigures {
            // In this order: another one rounds differently.
            f1: (2.0 * precision * recall) / (precision + recall),
            em: 0.0,
            precision,
            recall,
        }
    }
}

fn sorted_words(normalized: &str) -> Vec<&str> {
    let words = normalized.split(' ').filter(|word| !word.is_empty());
    let mut words: Vec<_> = words.collect();
    words.sort_unstable();
    words
}

/// The number of common words, counting repetitions. Takes time linear in `right`, times a search in `left`.
fn common(left: &[&str], right: &[&str]) -> usize {
    let shared = |group: &[&str]| {
        let start = left.partition_point(|word| *word < group[0]);
        let same = |(one, other): &(&&str, &&str)| one == other;
        left[start..].iter().zip(group).take_while(same).count()
    };
    right.chunk_by(|one, other| one == other).map(shared).sum()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "as the original divides; no answer has 2^53 words"
)]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// The best matching gold.
struct Best<'a> {
    figures: QaFigures,
    normalized: String,
    /// The gold as given, if there were several.
    chosen: Option<&'a str>,
}

impl<'a> Best<'a> {
    fn of(prediction: &str, golds: &'a Value, scorer: &str) -> Result<Self> {
        let prediction = Prediction {
            text: prediction,
            words: OnceCell::new(),
        };
        let compare = |text: &str| {
            let normalized = normalize(text);
            Self {
                figures: prediction.compare(&normalized),
                normalized,
                chosen: None,
            }
        };
        let wrong = || {
            let message = format!(
                "`ground_truth` must be a string or an array of strings for scorer `{scorer}`"
            );
            Error::usage(message)
        };
        let golds = match golds {
            Value::String(text) => return Ok(compare(text)),
            Value::Array(golds) => golds,
            _ => return Err(wrong()),
        };
        let mut best: Option<Self> = None;
        for gold in golds {
            let text = gold.as_str().ok_or_else(wrong)?;
            let next = compare(text);
            let is_better = |best: &Self| next.rank() > best.rank();
            if best.as_ref().is_none_or(is_better) {
                let chosen = Some(text);
                best = Some(Self { chosen, ..next });
            }
        }
        best.ok_or_else(|| {
            Error::usage(format!(
                "`ground_truth` is an empty array for scorer `{scorer}`"
            ))
        })
    }

    /// The key for comparing golds.
    fn rank(&self) -> (f64, f64) {
        (self.figures.f1, self.figures.em)
    }

    fn into_score(self, prediction: String, reason: &'static str) -> Score {
        let figures = self.figures;
        let mut score = Score::new(figures.f1, figures.is_exact(), reason)
            .normalized(prediction, self.normalized)
            .detail("reward", figures.f1)
            .detail("f1", figures.f1)
            .detail("em", figures.em)
            .detail("precision", figures.precision)
            .detail("recall", figures.recall);
        if let Some(gold) = self.chosen {
            score.details.insert("gold", gold);
        }
        score
    }
}

/// In lower case, without punctuation and articles, with single spaces.
fn normalize(text: &str) -> String {
    // The whole text at once: a final sigma depends on its neighbours, including punctuation.
    let text = if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(py_lower(text))
    };
    let mut out = Words {
        text: String::with_capacity(text.len()),
        gap: false,
        word: None,
    };
    for c in text.chars() {
        if is_py_punct(c) {
            continue;
        }
        if is_py_word(c) {
            out.word_character(c.to_ascii_lowercase());
        } else if is_py_space(c) {
            out.space();
        } else {
            out.other_character(c);
        }
    }
    out.end_word();
    out.text
}

/// Words as separated by Python's `\b`, written one after the other. They may be adjacent to characters that are
/// neither word nor space, such as `’`.
struct Words {
    text: String,
    /// Whether white space, or an article replaced by it, precedes the next character.
    gap: bool,
    /// The start of the current word, with and without the space before it.
    word: Option<(usize, usize)>,
}

impl Words {
    fn word_character(&mut self, c: char) {
        if self.word.is_none() {
            let with_gap = self.text.len();
            self.close_gap();
            self.word = Some((with_gap, self.text.len()));
        }
        self.text.push(c);
    }

    fn other_character(&mut self, c: char) {
        self.end_word();
        self.close_gap();
        self.text.push(c);
    }

    fn space(&mut self) {
        self.end_word();
        self.gap = true;
    }

    fn end_word(&mut self) {
        if let Some((with_gap, start)) = self.word.take()
            && matches!(&self.text[start..], "a" | "an" | "the")
        {
            self.text.truncate(with_gap);
            self.gap = true;
        }
    }

    /// Writes one space, except at the start.
    fn close_gap(&mut self) {
        if self.gap && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = false;
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod normal_tests {
    use super::*;

    #[test]
    fn articles_are_words_of_python() {
        let check = |text, expect: &str| assert_eq!(normalize(text), expect, "{text:?}");
        check("  The\tEiffel-Tower, a TOWER!", "eiffeltower tower");
        check("a.n. the-cat", "thecat");
        check("the", "");
        check("a an the", "");
        check("theory of an", "theory of");
        check("the’cat", "’cat");
        check("cat·the·cat", "cat· ·cat");
        check("a\u{301}", "\u{301}");
        check("the² a1 a_b", "the² a1 ab");
        check("x a\0the y", "x \0 y");
        check("a\x1cthe\u{85}b\u{3000}", "b");
        check("“the” b", "“ ” b");
        check("ΟΔΟΣ. Α", "οδος α");
        check("İ", "i\u{307}");
    }
}
