//! `FigurePair`: a sample with its values of a figure on both sides.

use super::Compared;
use crate::stats::{Arrangements, SplitMix64, as_f64};

/// The longest sequences of tools that are compared whole: the time grows with the product of their lengths.
const LONGEST: usize = 300;

/// A sample with the figure on both sides.
#[derive(Clone, Debug)]
pub(super) struct FigurePair<'a> {
    pub(super) id: &'a str,
    pub(super) cluster: Option<&'a str>,
    /// By run of the baseline.
    pub(super) before: Vec<Vec<FigureValue>>,
    pub(super) now: Vec<FigureValue>,
}

/// The figure of an answer.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(super) enum FigureValue {
    Number(f64),
    Tools(Vec<String>),
}

impl FigureValue {
    pub(super) fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Tools(tools) => as_f64(tools.len() as u64),
        }
    }
}

impl<'a> FigurePair<'a> {
    pub(super) fn all_before(&self) -> Vec<&FigureValue> {
        self.before.iter().flatten().collect()
    }

    /// How far the tools of both sides lie apart, for each arrangement of the answers.
    pub(super) fn tool_arrangements(&self, random: &mut SplitMix64) -> Arrangements {
        let before = self.all_before();
        let all = before.iter().copied().chain(&self.now);
        let all: Vec<&[String]> = all.map(tools_of).collect();
        let count = all.len();
        let mut distances = vec![0.0; count * count];
        for (place, tools) in all.iter().enumerate() {
            for (other, others) in all[..place].iter().enumerate() {
                distances[place * count + other] = distance(tools, others);
            }
        }
        let between = |one: usize, other: usize| distances[one.max(other) * count + one.min(other)];
        Arrangements::apart(before.len(), self.now.len(), random, between)
    }

    /// The values of both sides as they are compared: larger is worse, and the margin is in those of before.
    pub(super) fn scaled(&self, compared: &Compared) -> [Vec<f64>; 2] {
        let sign = compared.sign;
        let before = self.before.iter().flatten();
        let before = before.map(|value| sign * compared.moved(value.number()));
        let now = self.now.iter();
        let now = now.map(|value| sign * compared.scaled(value.number()));
        [before.collect(), now.collect()]
    }

    /// The group; a sample without one is its own.
    pub(super) fn group(&self) -> (bool, &'a str) {
        self.cluster.map_or((false, self.id), |name| (true, name))
    }
}

fn tools_of(value: &FigureValue) -> &[String] {
    match value {
        FigureValue::Tools(tools) => tools,
        FigureValue::Number(_) => &[],
    }
}

/// How far two sequences of tools are from each other: the edits that turn one into the other, by the longer length.
fn distance(one: &[String], other: &[String]) -> f64 {
    if one == other {
        return 0.0;
    }
    let [one, other] = [one, other].map(|tools| &tools[..tools.len().min(LONGEST)]);
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, tool) in one.iter().enumerate() {
        let mut corner = row[0];
        row[0] = place + 1;
        for (at, against) in other.iter().enumerate() {
            let replaced = corner + usize::from(tool != against);
            corner = row[at + 1];
            row[at + 1] = replaced.min(row[at].min(corner) + 1);
        }
    }
    let longer = one.len().max(other.len()).max(1);
    as_f64(row[other.len()] as u64) / as_f64(longer as u64)
}
