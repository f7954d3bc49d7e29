//! The grading of a judge: a rubric of dimensions with points, or choices with values.
//!
//! It is read from options (`from_options`), from a separate file (`file`) or from a built-in text (`ready`), all by
//! the same reader (`read`). It is fully validated before any request.

mod file;
mod name;
mod read;
pub(crate) mod ready;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::scorer::OptionReader;
use crate::text::yaml;
use file::RubricFile;
use read::RubricDraft;

/// The default minimum total of a correct answer.
const PASS: f64 = 3.5;
/// The default minimum total of an excellent answer.
const EXCELLENT: f64 = 4.5;
/// The default scale of a dimension.
const SCALE: [i64; 2] = [1, 5];
/// The default minimum value of a correct choice.
const CHOICE_PASS: f64 = 1.0;

/// The grading of a judge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Grading {
    /// Points in several dimensions.
    Rubric(Rubric),
    /// One of several verdicts.
    Choices(Choices),
}

/// Dimensions, each with integer points on its own scale.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Rubric {
    /// Instructions for all dimensions.
    pub(crate) instructions: Option<String>,
    /// At least one; names differ in more than case.
    pub(crate) dimensions: Vec<Dimension>,
    /// The minimum total of a correct answer, on the scale of totals.
    pub(crate) pass: f64,
    /// The minimum total of an excellent answer, on the scale of totals.
    pub(crate) excellent: f64,
    /// Which of these limits are defaults.
    #[serde(skip)]
    pub(crate) defaults: Vec<&'static str>,
}

/// One graded aspect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Dimension {
    /// Its member in a reply, and its detail in the score.
    pub(crate) name: String,
    /// What is graded, and what the points mean; empty if the name says enough.
    pub(crate) description: String,
    /// Its weight in the total, relative to the others; above 0.
    pub(crate) weight: f64,
    /// The lowest and the highest points, inclusive.
    pub(crate) scale: [i64; 2],
    /// Examples of points.
    pub(crate) examples: Vec<GradedExample>,
}

/// An example of how points are given.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GradedExample {
    /// As free text.
    Text(String),
    /// An answer with its points and the reason.
    Graded {
        /// The points, on the scale.
        score: i64,
        /// The answer, or a description of it.
        answer: Option<String>,
        /// Why it gets these points.
        reason: Option<String>,
    },
}

/// Verdicts from which a judge picks one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Choices {
    /// Instructions for all choices.
    pub(crate) instructions: Option<String>,
    /// At least two; names differ in more than case.
    pub(crate) offered: Vec<OfferedChoice>,
    /// The minimum value of a correct answer; at least one choice reaches it.
    pub(crate) pass: f64,
    /// Whether the reference answer is shown if there is one, unless the options define what is shown.
    #[serde(skip)]
    pub(crate) sees_truth: bool,
    /// Whether two texts are compared. Then no feedback goes to an author.
    #[serde(skip)]
    pub(crate) compares: bool,
}

/// An offered verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct OfferedChoice {
    /// As written in a reply.
    pub(crate) name: String,
    /// From 0 to 1.
    pub(crate) value: f64,
    /// When to give it.
    pub(crate) description: Option<String>,
}

impl Dimension {
    /// The lowest and the highest points.
    pub(crate) fn ends(&self) -> [f64; 2] {
        self.scale.map(exact)
    }
}

impl Rubric {
    /// Notices before paying for verdicts: default limits on an unusual scale, and dimensions whose points are not
    /// comparable.
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
                 answer {}: write {}, or other values",
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
                "the scales of its dimensions differ ({}), and the total is the mean of points as they are: longer scales \
                 count more, in addition to `weight`",
                scales.collect::<Vec<_>>().join(", ")
            ));
        }
        notices
    }

    /// The weighted mean of points, one for each dimension in order, on the scale of totals. Rounded to twelve
    /// decimals, so that floating-point error does not put 3.5 below a `pass` of 3.5.
    pub(crate) fn total(&self, points: &[i64]) -> f64 {
        debug_assert_eq!(points.len(), self.dimensions.len());
        self.mean(|place, _| exact(points.get(place).copied().unwrap_or_default()))
    }

    /// The same for fractional points, such as those combined from several judges.
    pub(crate) fn total_of(&self, points: &[f64]) -> f64 {
        debug_assert_eq!(points.len(), self.dimensions.len());
        self.mean(|place, _| points.get(place).copied().unwrap_or_default())
    }

    /// The position of a total between the lowest and the highest, from 0 to 1.
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

    /// The position of these points' total between the lowest and the highest, from 0 to 1.
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

/// Points as a float; the limits of a scale are well within exact range.
fn exact(points: i64) -> f64 {
    let held = i32::try_from(points).unwrap_or(if points < 0 { i32::MIN } else { i32::MAX });
    f64::from(held)
}

impl Choices {
    /// The choice with exactly this name.
    pub(crate) fn named(&self, name: &str) -> Option<&OfferedChoice> {
        self.offered.iter().find(|choice| choice.name == name)
    }
}

impl Grading {
    /// Everything that can change a verdict, for the fingerprint: texts, order, scales, weights, values, limits.
    /// Excludes where it was read from.
    pub(crate) fn canonical(&self) -> Value {
        match self {
            Self::Rubric(rubric) => json!({ "rubric": rubric }),
            Self::Choices(choices) => json!({ "choices": choices }),
        }
    }

    /// A built-in rubric, or a rubric in YAML.
    ///
    /// # Errors
    /// When it is invalid.
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

    /// Notices before paying for verdicts.
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

    /// Whether the judge is shown the ground truth if there is one, unless the options define what it sees.
    pub(crate) fn sees_truth(&self) -> bool {
        self.default_sees().contains(&"ground_truth")
    }

    /// What the judge is shown by default. For the built-in rubric `qa` this includes the ground truth, if a sample has
    /// one.
    pub(crate) fn default_sees(&self) -> &'static [&'static str] {
        match self {
            Self::Choices(choices) if choices.sees_truth => {
                &["prompt", "prediction", "ground_truth"]
            }
            _ => &["prompt", "prediction"],
        }
    }
}

impl Grading {
    /// The built-in rubric with this name, otherwise the one in the file at this path relative to the folder.
    ///
    /// # Errors
    /// When it is neither, or not valid. An error in a file has its position there.
    pub(crate) fn given(name: &str, folder: &Path) -> Result<Self> {
        if let Some(ready) = ready::named(name) {
            return ready.draft()?.finish();
        }
        let file = RubricFile::open(name, folder)?;
        let grading = file.draft()?.finish();
        grading.map_err(|error| file.explain(&error))
    }
}

/// Where a rubric comes from.
enum RubricSource {
    /// It is in the options, or these only have `choices`.
    Inline,
    Ready(&'static str),
    File(RubricFile),
}

impl Grading {
    /// Reads `rubric` (a built-in name, a path or a map), `choices`, and the limits `pass` and `excellent`, which
    /// override those of the rubric.
    ///
    /// # Errors
    /// When there is no grading, or no answer could be graded by it. An error in a file has its position there.
    pub(crate) fn from_options(options: &OptionReader<'_>) -> Result<Self> {
        let of_rubric = |error| options.of("rubric", error);
        let (source, mut draft) = match options.value("rubric") {
            Some(Value::String(name)) => named(name, options).map_err(of_rubric)?,
            Some(value) => (
                RubricSource::Inline,
                RubricDraft::of(value).map_err(of_rubric)?,
            ),
            None if options.value("choices").is_some() => {
                (RubricSource::Inline, RubricDraft::default())
            }
            None => {
                let wanted =
                    "a ready rubric, a file, a map with `dimensions`, or `choices` instead of it";
                return Err(options.missing("rubric", wanted));
            }
        };
        if let Some(choices) = options.value("choices") {
            let taken = draft.choices(choices);
            taken.map_err(|error| options.of("choices", error))?;
        }
        for key in ["pass", "excellent"] {
            if let Some(limit) = options.value(key) {
                let taken = draft.limit(key, limit);
                taken.map_err(|error| options.of(key, error))?;
            }
        }
        let grading = draft.finish().map_err(|error| match &source {
            RubricSource::File(file) => of_rubric(file.explain(&error)),
            _ if options.value("rubric").is_some() => of_rubric(error),
            _ => options.of("choices", error),
        })?;
        Ok(match (grading, &source) {
            (Self::Choices(mut choices), RubricSource::Ready(name)) => {
                choices.sees_truth = *name == ready::QA;
                Self::Choices(choices)
            }
            (grading, _) => grading,
        })
    }
}

/// A built-in rubric, otherwise a file.
fn named(name: &str, options: &OptionReader<'_>) -> Result<(RubricSource, RubricDraft)> {
    if name.trim().is_empty() {
        let error = Error::usage("the name of the rubric is blank");
        return Err(error.hint("name a ready rubric or a file, such as `rubric: aime`"));
    }
    if let Some(ready) = ready::named(name) {
        return Ok((RubricSource::Ready(ready.name), ready.draft()?));
    }
    let file = RubricFile::open(name, options.folder())?;
    let draft = file.draft()?;
    Ok((RubricSource::File(file), draft))
}
