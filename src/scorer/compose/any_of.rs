//! `any_of`: compares with several accepted answers.

use std::slice;
use std::sync::Arc;

use serde_json::Value;

use super::super::{Answer, Entry, Example, Scorer, gaia};
use super::forward::forward;
use super::parts;
use crate::data::{Sample, Score, Target};
use crate::error::{Error, Result};

pub(crate) const ENTRY: Entry = Entry {
    name: "any_of",
    summary: "the ground truth is an array of accepted answers, the best counts",
    rule: include_str!("any_of.md"),
    options: &[(
        "scorer",
        "compares the prediction with each accepted answer; `gaia` by default",
    )],
    examples: &[
        Example {
            options: "",
            prediction: "NYC",
            ground_truth: r#"["New York", "NYC"]"#,
            correct: true,
            note: "one of the accepted answers",
        },
        Example {
            options: "",
            prediction: "Boston",
            ground_truth: r#"["New York", "NYC"]"#,
            correct: false,
            note: "none of them",
        },
        Example {
            options: "scorer: { type: list, ordered: false }",
            prediction: "2, 1",
            ground_truth: r#"["1, 2", "one, two"]"#,
            correct: true,
            note: "with another scorer",
        },
    ],
    make: |options| {
        let scorer = options.scorer("scorer")?;
        Ok(Arc::new(AnyOf(
            scorer.unwrap_or_else(|| Arc::new(gaia::GaiaScorer)),
        )))
    },
};

/// Compares with each of several accepted answers.
///
/// ```
/// use evaltest::scorer::{AnyOf, GaiaScorer};
///
/// let lenient = AnyOf::new(GaiaScorer);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(lenient);
/// ```
///
#[doc = include_str!("any_of.md")]
pub struct AnyOf(Arc<dyn Scorer>);

impl AnyOf {
    /// Uses this scorer for each accepted answer.
    pub fn new(scorer: impl Scorer + 'static) -> Self {
        Self(Arc::new(scorer))
    }
}

impl Scorer for AnyOf {
    fn name(&self) -> &'static str {
        "any_of"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let accepted = match &answer.target.0 {
            Value::Array(accepted) => accepted.as_slice(),
            one => slice::from_ref(one),
        };
        let prediction = parts::prediction(&*self.0, answer);
        let mut best: Option<(Score, &Value)> = None;
        for (place, value) in accepted.iter().enumerate() {
            let target = Target(value.clone());
            let score = parts::verdict(
                &*self.0,
                &Answer {
                    prediction: prediction.as_deref(),
                    target: &target,
                    ..*answer
                },
            )
            .map_err(|error| error.at(format_args!("accepted answer {}", place + 1)))?;
            let rank = |score: &Score| (score.correct, score.value);
            if best
                .as_ref()
                .is_none_or(|(best, _)| rank(best) < rank(&score))
            {
                best = Some((score, value));
            }
        }
        let Some((score, value)) = best else {
            return Err(Error::usage("`ground_truth` has no accepted answer"));
        };
        let matched = if score.correct { value } else { &Value::Null };
        Ok(score.detail("matched", matched.clone()))
    }

    /// Each accepted answer must be one that the scorer reads.
    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let Some(target) = &sample.target else {
            return self.0.criterion(sample);
        };
        let accepted = match &target.0 {
            Value::Array(accepted) => accepted.as_slice(),
            one => slice::from_ref(one),
        };
        let accepted = accepted.iter().cloned().map(Target);
        let place = |number, _: &Target| format!("accepted answer {}", number + 1);
        parts::criterion_of_each(&*self.0, sample, accepted, place)
    }

    forward!(self => self.0, but needs_target, criterion);

    fn fingerprint(&self) -> String {
        format!("any_of {}", parts::fingerprint(&*self.0))
    }
}
