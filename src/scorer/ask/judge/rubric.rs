//! What a judge grades by: a rubric of dimensions with points, or choices with values.
//!
//! It is data, read from options (`from_options`), from a file of its own (`file`) or from a ready text (`ready`), and
//! all three by the same reader (`read`). Nothing of it is asked before all of it is known to be sound.

mod file;
mod from_options;
mod given;
mod name;
mod read;
pub(crate) mod ready;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::text::yaml;

/// The total from which an answer is correct, unless a rubric says otherwise.
const PASS: f64 = 3.5;
/// The total from which it is excellent.
const EXCELLENT: f64 = 4.5;
/// The points of a dimension.
const SCALE: [i64; 2] = [1, 5];
/// The value from which a choice is correct.
const CHOICE_PASS: f64 = 1.0;

/// What a judge grades by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Grading {
    /// Points in several dimensions.
    Rubric(Rubric),
    /// One of a few verdicts.
    Choices(Choices),
}

/// Dimensions, each with whole points on a scale of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Rubric {
    /// What holds for all dimensions.
    pub(crate) instructions: Option<String>,
    /// At least one, with names that differ in more than case.
    pub(crate) dimensions: Vec<Dimension>,
    /// The total from which an answer is correct, on the scale of totals.
    pub(crate) pass: f64,
    /// The total from which it is excellent, on the scale of totals.
    pub(crate) excellent: f64,
    /// Which of the two nobody wrote.
    #[serde(skip)]
    pub(crate) defaults: Vec<&'static str>,
}

/// One thing that is graded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Dimension {
    /// Its member in a reply, and the detail of the score.
    pub(crate) name: String,
    /// What is looked at, and what points mean; empty where the name says all.
    pub(crate) description: String,
    /// Its part of the total in relation to the others; above 0.
    pub(crate) weight: f64,
    /// The lowest and the highest points, both included.
    pub(crate) scale: [i64; 2],
    /// What shows the points.
    pub(crate) examples: Vec<GradedExample>,
}

/// What shows how points are given.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GradedExample {
    /// In words.
    Text(String),
    /// An answer, the points that it gets, and why.
    Graded {
        /// The points, on the scale.
        score: i64,
        /// The answer, or what it is like.
        answer: Option<String>,
        /// Why it gets these points.
        reason: Option<String>,
    },
}

/// Verdicts, one of which a judge gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Choices {
    /// What holds for all of them.
    pub(crate) instructions: Option<String>,
    /// At least two, with names that differ in more than case.
    pub(crate) offered: Vec<OfferedChoice>,
    /// The value from which an answer is correct; at least one choice reaches it.
    pub(crate) pass: f64,
    /// Whether the reference answer is shown where there is one, unless the options say what is shown.
    #[serde(skip)]
    pub(crate) sees_truth: bool,
    /// Whether two texts are compared: nothing is told to an author then.
    #[serde(skip)]
    pub(crate) compares: bool,
}

/// A verdict that is offered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct OfferedChoice {
    /// As it stands in a reply.
    pub(crate) name: String,
    /// From 0 to 1.
    pub(crate) value: f64,
    /// When it is to be given.
    pub(crate) description: Option<String>,
}

impl Dimension {
    /// The lowest and the highest points.
    pub(crate) fn ends(&self) -> [f64; 2] {
        self.scale.map(exact)
    }
}

impl Rubric {
    /// What people should know before they pay for verdicts: limits that nobody wrote, on another scale than the one
    /// that they are of, and dimensions whose points cannot be compared.
    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let (lowest, highest) = (self.lowest(), self.highest());
        let [usual_lowest, usual_highest] = SCALE.map(exact);
        let differ = |one: f64, other: f64| one.total_cmp(&other).is_ne();
        let is_usual = !differ(lowest, usual_lowest) && !differ(highest, usual_highest);
        if !self.defaults.is_empty() && !is_usual {
            let stretched = |limit: f64| {
                let share = (limit - usual_lowest) / (usual_highest - usual_lowest);
                let limit = lowest + share * (highest - lowest);
                (limit * 100.0).round() / 100.0
            };
            let limits = self.defaults.iter().map(|key| match *key {
                "pass" => (
                    format!("passes from {}", self.pass),
                    format!("`pass: {}`", stretched(PASS)),
                ),
                _ => (
                    format!("is excellent from {}", self.excellent),
                    format!("`excellent: {}`", stretched(EXCELLENT)),
                ),
            });
            let (now, write): (Vec<_>, Vec<_>) = limits.unzip();
            notices.push(format!(
                "totals go from {lowest} to {highest}, and by defaults meant for {usual_lowest} to {usual_highest} an \
                 answer {}: write {}, or what you mean",
                now.join(" and "),
                write.join(" and ")
            ));
        }
        let first = self.dimensions.first().map(|one| one.scale);
        if self.dimensions.iter().any(|one| Some(one.scale) != first) {
            let scales = self.dimensions.iter();
            let scales =
                scales.map(|one| format!("`{}` {} to {}", one.name, one.scale[0], one.scale[1]));
            notices.push(format!(
                "the scales of its dimensions differ ({}), and the total is the mean of points as they are: a longer scale \
                 counts for more, beside its `weight`",
                scales.collect::<Vec<_>>().join(", ")
            ));
        }
        notices
    }

    /// The weighted mean of points, one for each dimension in order, on the scale of totals. It is rounded to
    /// twelve decimals: what is 3.5 on paper is not below a `pass` of 3.5 because of how weights are stored.
    pub(crate) fn total(&self, points: &[i64]) -> f64 {
        debug_assert_eq!(points.len(), self.dimensions.len());
        self.mean(|place, _| exact(points.get(place).copied().unwrap_or_default()))
    }

    /// The same of points that lie between whole ones, as those of several judges together do.
    pub(crate) fn total_of(&self, points: &[f64]) -> f64 {
        debug_assert_eq!(points.len(), self.dimensions.len());
        self.mean(|place, _| points.get(place).copied().unwrap_or_default())
    }

    /// Where a total lies between the lowest and the highest, from 0 to 1.
    pub(crate) fn value_of(&self, total: f64) -> f64 {
        let (lowest, highest) = (self.lowest(), self.highest());
        ((total - lowest) / (highest - lowest)).clamp(0.0, 1.0)
    }

    /// The total of the lowest points.
    pub(crate) fn lowest(&self) -> f64 {
        self.mean(|_, dimension| exact(dimension.scale[0]))
    }

    /// The total of the highest points.
    pub(crate) fn highest(&self) -> f64 {
        self.mean(|_, dimension| exact(dimension.scale[1]))
    }

    /// Where the total of these points lies between the lowest and the highest, from 0 to 1.
    pub(crate) fn value(&self, points: &[i64]) -> f64 {
        let lowest = self.exact_mean(|_, dimension| exact(dimension.scale[0]));
        let highest = self.exact_mean(|_, dimension| exact(dimension.scale[1]));
        let total =
            self.exact_mean(|place, _| exact(points.get(place).copied().unwrap_or_default()));
        ((total - lowest) / (highest - lowest)).clamp(0.0, 1.0)
    }

    fn mean(&self, points: impl Fn(usize, &Dimension) -> f64) -> f64 {
        (self.exact_mean(points) * 1e12).round() / 1e12
    }

    fn exact_mean(&self, points: impl Fn(usize, &Dimension) -> f64) -> f64 {
        let weights: f64 = self.dimensions.iter().map(|one| one.weight).sum();
        let parts = self.dimensions.iter().enumerate();
        parts
            .map(|(place, one)| points(place, one) * (one.weight / weights))
            .sum()
    }
}

/// Points as a float; the ends of a scale are far below what one holds exactly.
fn exact(points: i64) -> f64 {
    let held = i32::try_from(points).unwrap_or(if points < 0 { i32::MIN } else { i32::MAX });
    f64::from(held)
}

impl Choices {
    /// The choice of this name, exactly as offered.
    pub(crate) fn named(&self, name: &str) -> Option<&OfferedChoice> {
        self.offered.iter().find(|choice| choice.name == name)
    }
}

impl Grading {
    /// Everything that can change a verdict, for a fingerprint: texts, order, scales, weights, values, limits. Where it
    /// was read from is not among it.
    pub(crate) fn canonical(&self) -> Value {
        match self {
            Self::Rubric(rubric) => json!({ "rubric": rubric }),
            Self::Choices(choices) => json!({ "choices": choices }),
        }
    }

    /// Of a ready rubric, or of the text of one in YAML.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn of_text(text: &str) -> Result<Self> {
        if let Some(ready) = ready::named(text) {
            return ready.draft()?.finish();
        }
        let value = yaml::read_json(text).map_err(|error| Error::usage(error.to_string()))?;
        let draft = read::RubricDraft::of(&value);
        draft
            .and_then(read::RubricDraft::finish)
            .map_err(|error| error.at("rubric"))
    }

    /// What people should know of it before they pay for verdicts.
    pub(crate) fn notices(&self) -> Vec<String> {
        match self {
            Self::Rubric(rubric) => rubric.notices(),
            Self::Choices(_) => Vec::new(),
        }
    }

    /// Whether two texts are compared.
    pub(crate) fn compares(&self) -> bool {
        matches!(self, Self::Choices(choices) if choices.compares)
    }

    /// Whether the judge is shown the ground truth where there is one, unless the options say what it sees.
    pub(crate) fn sees_truth(&self) -> bool {
        self.default_sees().contains(&"ground_truth")
    }

    /// What the judge is shown unless the options say it. Of the ready rubric `qa` that is the ground truth, too, for
    /// samples that have one.
    pub(crate) fn default_sees(&self) -> &'static [&'static str] {
        match self {
            Self::Choices(choices) if choices.sees_truth => {
                &["prompt", "prediction", "ground_truth"]
            }
            _ => &["prompt", "prediction"],
        }
    }
}
