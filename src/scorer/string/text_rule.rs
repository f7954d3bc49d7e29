//! `TextRule`: the base of scorers that compare only the prediction with the ground truth.
//!
//! A rule defines its name and its comparison. [`Golds`] are the accepted answers of a ground truth that is a string or
//! an array of strings; [`Golds::compare`] is the frame of a rule that compares normalised texts.

use std::borrow::Cow;

use serde_json::Value;

use super::super::{Answer, Reads, Scorer};
use super::folding::visible;
use crate::data::{Normalized, Sample, Score, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;

/// A rule that compares a prediction with the ground truth.
#[diagnostic::on_unimplemented(
    message = "the trait `Scorer` is not implemented for `{Self}`",
    label = "not a scorer"
)]
pub(crate) trait TextRule: Send + Sync {
    const NAME: &'static str;

    /// Whether it is the rule of an official program for which characters that nobody sees count. Where these alone make
    /// an answer wrong, the score has a warning.
    const COUNTS_INVISIBLE: bool = false;

    /// See [`Scorer::score`].
    fn compare(&self, answer: &Answer<'_>) -> Result<Score>;

    /// Rejects a ground truth that cannot be compared, before an agent is paid to answer.
    fn check(&self, target: &Target) -> Result<()> {
        let _ = target;
        Ok(())
    }

    /// The details that its scores may have, see [`Scorer::details`].
    fn detail_names(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// See [`Scorer::extract`].
    fn extraction(&self) -> Option<Extract> {
        None
    }

    /// See [`Scorer::fingerprint`].
    fn version(&self) -> String {
        Self::NAME.to_owned()
    }
}

impl<R: TextRule> Scorer for R {
    fn name(&self) -> &str {
        R::NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let score = self.compare(answer)?;
        if R::COUNTS_INVISIBLE && !score.correct && is_right_as_seen(self, answer) {
            return Ok(score.detail("warning", INVISIBLE));
        }
        Ok(score)
    }

    fn extract(&self) -> Option<Extract> {
        self.extraction()
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        sample
            .target
            .as_ref()
            .map_or(Ok(()), |target| self.check(target))?;
        Ok(None)
    }

    fn reads(&self) -> Reads {
        Reads::Text
    }

    fn fingerprint(&self) -> String {
        self.version()
    }

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        let names = self.detail_names()?;
        Some(names.iter().copied().map(Cow::Borrowed).collect())
    }
}

/// The warning for an answer that only characters make wrong that nobody sees.
const INVISIBLE: &str = "the answer would be correct without characters that nobody sees, such as U+200B, which count by this rule";

/// Whether the answer is correct without the characters that nobody sees.
fn is_right_as_seen(rule: &impl TextRule, answer: &Answer<'_>) -> bool {
    let Some(prediction) = answer.prediction else {
        return false;
    };
    let seen = |text: &str| visible(text).into_owned();
    let target = match &answer.target.0 {
        Value::String(text) => Value::from(seen(text)),
        Value::Array(texts) => {
            let texts = texts.iter().map(|text| match text {
                Value::String(text) => seen(text).into(),
                other => other.clone(),
            });
            texts.collect()
        }
        other => other.clone(),
    };
    let visible = visible(prediction);
    if *visible == *prediction && target == answer.target.0 {
        return false;
    }
    let target = &Target(target);
    let prediction = Some(&*visible);
    let score = rule.compare(&Answer {
        prediction,
        target,
        ..*answer
    });
    score.is_ok_and(|score| score.correct)
}

/// A ground truth that is one string.
pub(in crate::scorer) fn truth_text<'a>(target: &'a Target, scorer: &str) -> Result<&'a str> {
    let message = || format!("`ground_truth` must be a string for scorer `{scorer}`");
    target.as_text().ok_or_else(|| Error::usage(message()))
}

/// One or more accepted answers.
pub(in crate::scorer) struct Golds<'a> {
    texts: Vec<&'a str>,
    is_list: bool,
}

impl<'a> Golds<'a> {
    /// Reads a ground truth; anything but a string or a non-empty array of strings is an error.
    pub(in crate::scorer) fn read(target: &'a Target, scorer: &str) -> Result<Self> {
        let (texts, is_list) = match &target.0 {
            Value::String(text) => (Some(vec![text.as_str()]), false),
            Value::Array(items) if !items.is_empty() => {
                (items.iter().map(Value::as_str).collect(), true)
            }
            _ => (None, false),
        };
        match texts {
            Some(texts) => Ok(Self { texts, is_list }),
            None => Err(Error::usage(format!(
                "`ground_truth` must be a string or a non-empty array of strings for scorer `{scorer}`"
            ))
            .hint("name the member with the text in `columns.ground_truth`, or judge by a scorer that reads such data: `ast_match`, `json`")),
        }
    }

    /// Compares the normalised prediction, if any, with the normalised texts, and adds these to the score.
    pub(in crate::scorer) fn compare(
        &self,
        prediction: Option<&str>,
        normalize: impl Fn(&str) -> String,
        compare: impl FnOnce(Option<&str>, &[String]) -> Result<Score>,
    ) -> Result<Score> {
        let texts: Vec<String> = self.texts.iter().map(|text| normalize(text)).collect();
        let prediction = prediction.map(normalize);
        let score = compare(prediction.as_deref(), &texts)?;
        let prediction = prediction.map_or(Normalized::None, Normalized::Text);
        Ok(score.normalized(prediction, self.normalized(texts)))
    }

    /// At least one.
    pub(in crate::scorer) fn texts(&self) -> &[&'a str] {
        &self.texts
    }

    /// The normalised texts in the form of the ground truth: a string or a list.
    pub(in crate::scorer) fn normalized(&self, mut texts: Vec<String>) -> Normalized {
        match texts.pop() {
            Some(text) if !self.is_list => Normalized::Text(text),
            last => {
                texts.extend(last);
                Normalized::List(texts)
            }
        }
    }
}
