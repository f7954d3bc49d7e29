//! `Aggregate`: combines the verdicts of several judges. Pure.

use std::collections::BTreeMap;

use super::juror::JurorSays;
use super::{median, rounded};
use crate::data::Unread;
use crate::scorer::ask::judge::rubric::{Choices, Grading, Rubric};

/// How the verdicts of a [`Jury`](super::Jury) are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aggregate {
    /// The median of each dimension, or of the values of choices.
    Median,
    /// The mean without outliers.
    Mean,
    /// The mean without outliers, and without the lowest and the highest of three or more.
    TrimmedMean,
    /// The choice of more than half of all judges, or whether more than half pass the answer.
    Majority,
    /// The weighted mean, or the choice with the greatest weight.
    Weighted,
}

/// The names in specs.
pub(super) const WORDS: [(&str, Aggregate); 5] = [
    ("median", Aggregate::Median),
    ("mean", Aggregate::Mean),
    ("trimmed_mean", Aggregate::TrimmedMean),
    ("majority", Aggregate::Majority),
    ("weighted", Aggregate::Weighted),
];

/// The vote of a judge with a readable reply.
pub(super) struct Voice<'a> {
    pub(super) says: &'a JurorSays,
    /// Excluded from means.
    pub(super) outlier: bool,
    /// Its weight, for weighted verdicts.
    pub(super) weight: f64,
}

/// The combined verdict.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Together {
    /// By dimension, for a rubric.
    pub(super) points: Vec<f64>,
    /// The total of a rubric, or the value of a choice.
    pub(super) total: f64,
    pub(super) choice: Option<String>,
    pub(super) correct: bool,
}

impl Aggregate {
    pub(super) fn word(self) -> &'static str {
        let found = WORDS.iter().find(|(_, it)| *it == self);
        found.map_or("", |(word, _)| word)
    }

    /// The verdict of the readable votes, out of `panel` judges; or why there is none.
    pub(super) fn of(
        self,
        grading: &Grading,
        voices: &[Voice<'_>],
        panel: usize,
    ) -> Result<Together, Unread> {
        match grading {
            Grading::Rubric(rubric) => self.mean_points(rubric, voices, panel),
            Grading::Choices(choices) => self.choice(choices, voices, panel),
        }
    }

    fn mean_points(
        self,
        rubric: &Rubric,
        voices: &[Voice<'_>],
        panel: usize,
    ) -> Result<Together, Unread> {
        let of_dimension = |place: usize| {
            let points = |voice: &Voice<'_>| voice.says.points.get(place).copied();
            self.number(voices, points)
        };
        let points: Option<Vec<f64>> = (0..rubric.dimensions.len()).map(of_dimension).collect();
        let points = points.ok_or(Unread::NoMajority)?;
        let total = rubric.total_of(&points);
        let correct = if self == Self::Majority {
            let passing = voices.iter().filter(|voice| voice.says.correct).count();
            let failing = voices.len() - passing;
            let is_most = |votes: usize| 2 * votes > panel;
            match (is_most(passing), is_most(failing)) {
                (false, false) => return Err(Unread::NoMajority),
                (passes, _) => passes,
            }
        } else {
            total >= rubric.pass
        };
        Ok(Together {
            points,
            total,
            choice: None,
            correct,
        })
    }

    fn choice(
        self,
        choices: &Choices,
        voices: &[Voice<'_>],
        panel: usize,
    ) -> Result<Together, Unread> {
        let named = match self {
            Self::Majority => Some(majority(voices, panel).ok_or(Unread::NoMajority)?),
            Self::Weighted => Some(heaviest(voices).ok_or(Unread::NoMajority)?),
            Self::Median | Self::Mean | Self::TrimmedMean => None,
        };
        let total = match named {
            Some(name) => choices.named(name).map(|choice| choice.value),
            None => self.number(voices, |voice| Some(voice.says.total)),
        };
        let total = total.ok_or(Unread::NoMajority)?;
        Ok(Together {
            points: Vec::new(),
            total,
            choice: named.map(str::to_owned),
            correct: total >= choices.pass,
        })
    }

    /// Combines one number of each vote; `Majority` uses the median. `None` if no vote has a weight.
    fn number(
        self,
        voices: &[Voice<'_>],
        number: impl Fn(&Voice<'_>) -> Option<f64>,
    ) -> Option<f64> {
        let of = |voice: &Voice<'_>| number(voice).map(|number| (number, voice.weight));
        if matches!(self, Self::Median | Self::Majority) {
            let all = voices.iter().filter_map(&number);
            return median(&all.collect::<Vec<_>>()).map(rounded);
        }
        let inliers = voices.iter().filter(|voice| !voice.outlier);
        let mut inliers: Vec<(f64, f64)> = inliers.filter_map(of).collect();
        // The order of judges must not affect the result, not even its last digit.
        inliers.sort_unstable_by(|one, other| {
            one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
        });
        match self {
            Self::TrimmedMean if inliers.len() > 2 => {
                inliers.pop();
                inliers.remove(0);
            }
            _ => {}
        }
        let weight = |weight: f64| if self == Self::Weighted { weight } else { 1.0 };
        let all: f64 = inliers.iter().map(|it| weight(it.1)).sum();
        let sum: f64 = inliers.iter().map(|it| it.0 * weight(it.1)).sum();
        (all > 0.0).then(|| rounded(sum / all))
    }
}

/// The choice of more than half of the panel.
fn majority<'a>(voices: &[Voice<'a>], panel: usize) -> Option<&'a str> {
    let mut votes = BTreeMap::<&str, usize>::new();
    for choice in voices.iter().filter_map(|it| it.says.choice.as_deref()) {
        *votes.entry(choice).or_default() += 1;
    }
    let most = votes.into_iter().find(|(_, votes)| 2 * votes > panel);
    most.map(|(choice, _)| choice)
}

/// The choice with the greatest weight, if there is no tie.
fn heaviest<'a>(voices: &[Voice<'a>]) -> Option<&'a str> {
    let mut weights = BTreeMap::<&str, Vec<f64>>::new();
    for voice in voices {
        if let Some(choice) = voice.says.choice.as_deref() {
            weights.entry(choice).or_default().push(voice.weight);
        }
    }
    let sums = weights.into_iter().map(|(choice, mut weights)| {
        weights.sort_unstable_by(f64::total_cmp);
        (choice, rounded(weights.iter().sum()))
    });
    let mut sums: Vec<(&str, f64)> = sums.filter(|(_, sum)| *sum > 0.0).collect();
    sums.sort_by(|one, other| other.1.total_cmp(&one.1));
    match sums[..] {
        [] => None,
        [(choice, _)] => Some(choice),
        [(choice, first), (_, second), ..] => (first > second).then_some(choice),
    }
}

#[cfg(test)]
mod tests;
