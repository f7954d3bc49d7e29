//! `list`: compares lists element by element.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::calls::matching;
use super::super::compose::forward::forward;
use super::super::compose::parts;
use super::super::{Answer, Entry, Example, Scorer, gaia, shares};
use super::text_rule::without_answer;
use crate::data::{Sample, Score, Target};
use crate::error::{Error, Result};
use crate::text::is_py_space;

/// Limit of elements in an unordered list, as every pair may have to be compared.
const LONGEST: usize = 500;
/// Limit of elements named in the details.
const NAMED: usize = 20;

pub(crate) const ENTRY: Entry = Entry {
    name: "list",
    summary: "a list, element by element, with or without order",
    rule: include_str!("list.md"),
    options: &[
        ("scorer", "compares two elements; `gaia` by default"),
        ("ordered", "whether the order counts; true by default"),
        (
            "separator",
            "the separator between the elements of a text; `,` by default",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "Red, Green",
            ground_truth: r#"["red", "green"]"#,
            correct: true,
            note: "two elements in order",
        },
        Example {
            options: "",
            prediction: "green, red",
            ground_truth: "red, green",
            correct: false,
            note: "the order counts",
        },
        Example {
            options: "ordered: false",
            prediction: "green, red",
            ground_truth: "red, green",
            correct: true,
            note: "the order does not count",
        },
        Example {
            options: "{ ordered: false, separator: ';' }",
            prediction: "1,000; 2; 2",
            ground_truth: "2; 1,000",
            correct: false,
            note: "an element is left over",
        },
    ],
    make: |options| {
        let ordered = options.read("ordered", "true or false", Value::as_bool)?;
        let separator = options.read("separator", "a text that is not empty", |value| {
            value.as_str().filter(|text| !text.is_empty())
        })?;
        Ok(Arc::new(List {
            element: options
                .scorer("scorer")?
                .unwrap_or_else(|| Arc::new(gaia::GaiaScorer)),
            ordered: ordered.unwrap_or(true),
            separator: separator.unwrap_or(SEPARATOR).to_owned(),
        }))
    },
};

const SEPARATOR: &str = ",";

/// Compares lists, element by element.
///
/// ```
/// use evaltest::scorer::{List, GaiaScorer};
///
/// let tags = List::new(GaiaScorer).unordered().separator(";");
/// # let _: Box<dyn evaltest::Scorer> = Box::new(tags);
/// ```
///
#[doc = include_str!("list.md")]
pub struct List {
    element: Arc<dyn Scorer>,
    ordered: bool,
    separator: String,
}

impl List {
    /// An ordered list with commas between elements, each scored by `element`.
    pub fn new(element: impl Scorer + 'static) -> Self {
        Self {
            element: Arc::new(element),
            ordered: true,
            separator: SEPARATOR.to_owned(),
        }
    }

    /// Ignores the order.
    #[must_use]
    pub fn unordered(mut self) -> Self {
        self.ordered = false;
        self
    }

    /// Sets the separator between elements of a text. An empty one does not split.
    #[must_use]
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = separator.into();
        self
    }

    fn split<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let pieces: Vec<&str> = if self.separator.is_empty() {
            vec![text]
        } else {
            text.split(self.separator.as_str()).collect()
        };
        let trimmed = pieces
            .into_iter()
            .map(|piece| piece.trim_matches(is_py_space));
        trimmed.filter(|piece| !piece.is_empty()).collect()
    }

    /// The elements of a ground truth.
    fn targets(&self, target: &Target) -> Result<Vec<Target>> {
        let targets: Vec<Target> = match &target.0 {
            Value::Array(elements) => elements.iter().cloned().map(Target).collect(),
            Value::String(text) => self.split(text).into_iter().map(Target::from).collect(),
            _ => {
                return Err(Error::usage(
                    "`ground_truth` must be an array or a string for scorer `list`",
                ));
            }
        };
        if !self.ordered && targets.len() > LONGEST {
            let length = targets.len();
            return Err(Error::usage(format!(
                "`ground_truth` has {length} elements, more than the {LONGEST} of an unordered list"
            )));
        }
        Ok(targets)
    }

    /// Whether two elements match.
    fn matches(&self, piece: &str, target: &Target, answer: &Answer<'_>) -> Result<bool> {
        let answer = Answer {
            prediction: Some(piece),
            target,
            extract_is_given: true,
            ..*answer
        };
        let verdict = parts::verdict(&*self.element, &answer);
        Ok(verdict.map_err(|error| error.at(place(target)))?.correct)
    }

    /// For each element of the prediction, the index of the element it is paired with.
    fn pairs(
        &self,
        pieces: &[&str],
        targets: &[Target],
        answer: &Answer<'_>,
    ) -> Result<Vec<Option<usize>>> {
        let mut fits = Vec::with_capacity(pieces.len());
        for (place, piece) in pieces.iter().enumerate() {
            let candidates = if self.ordered {
                place..targets.len().min(place + 1)
            } else {
                0..targets.len()
            };
            let mut found = Vec::new();
            for other in candidates {
                if self.matches(piece, &targets[other], answer)? {
                    found.push(other);
                }
            }
            fits.push(found);
        }
        Ok(matching::largest(&fits, targets.len()))
    }

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let targets = self.targets(answer.target)?;
        let truth: Vec<String> = targets.iter().map(display).collect();
        let prediction = parts::prediction(&*self.element, answer);
        let Some(prediction) = prediction.as_deref() else {
            let score = Score::new(0.0, false, "no_prediction");
            return Ok(score.normalized(crate::data::Normalized::None, truth));
        };
        let pieces = self.split(prediction);
        if !self.ordered && pieces.len() > LONGEST {
            let score = Score::new(0.0, false, "too_many_elements");
            return Ok(score.normalized(crate::data::Normalized::None, truth));
        }
        let pairs = self.pairs(&pieces, &targets, answer)?;
        let matched = pairs.iter().flatten().count();
        let mut is_missing = vec![true; targets.len()];
        for place in pairs.iter().flatten() {
            is_missing[*place] = false;
        }
        let missing = truth.iter().zip(is_missing).filter(|(_, missing)| *missing);
        let missing: Vec<_> = missing.map(|(text, _)| text.as_str()).take(NAMED).collect();
        let extra = pieces.iter().zip(&pairs).filter(|(_, pair)| pair.is_none());
        let extra: Vec<_> = extra.map(|(piece, _)| *piece).take(NAMED).collect();

        let longer = pieces.len().max(targets.len());
        let correct = matched == longer;
        let reason = match matched {
            _ if correct => "all_matched",
            0 => "none_matched",
            _ => "partly_matched",
        };
        let score = Score::new(share(matched, longer), correct, reason)
            .detail("precision", share(matched, pieces.len()))
            .detail("recall", share(matched, targets.len()))
            .detail("missing", json!(missing))
            .detail("extra", json!(extra));
        let pieces: Vec<String> = pieces.into_iter().map(str::to_owned).collect();
        Ok(score.normalized(pieces, truth))
    }
}

/// The element in an error.
fn place(target: &Target) -> String {
    format!("element `{}` of the ground truth", display(target))
}

/// An element of the ground truth, for display.
fn display(target: &Target) -> String {
    let text = target.as_text().map(str::to_owned);
    text.unwrap_or_else(|| target.0.to_string())
}

impl Scorer for List {
    fn name(&self) -> &'static str {
        "list"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        self.compare(answer)
            .map(|score| without_answer(score, answer))
    }

    /// Each element must be one that its scorer reads.
    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let Some(target) = &sample.target else {
            return self.element.criterion(sample);
        };
        let targets = self.targets(target)?;
        parts::criterion_of_each(&*self.element, sample, targets, |_, target| place(target))
    }

    forward!(self => self.element, but needs_target, criterion);

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        shares(&["precision", "recall"])
    }

    fn fingerprint(&self) -> String {
        let element = parts::fingerprint(&*self.element);
        format!("list {}", json!([element, self.ordered, self.separator]))
    }
}

/// `part` of `whole`; 1 if `whole` is 0.
fn share(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "lists are shorter than 2^53")]
    let share = part as f64 / whole as f64;
    if whole == 0 { 1.0 } else { share }
}
