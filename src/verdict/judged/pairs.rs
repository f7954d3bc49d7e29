//! Win rates of the answers of a run over others, from the verdicts of the scorer `pairwise`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::winrate::{OrdersWinRate, Preferred};
use crate::stats::{Slope, as_f64, ratio, win_rate95};

/// The fewest pairs for figures about lengths.
const ENOUGH: usize = 10;

/// A pair of texts compared in both orders.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedPair {
    /// The group of dependent pairs: the sample, or its cluster.
    pub item: String,
    /// The preference with the answer of the run shown first, and shown second; A is that answer.
    pub preferred: [Preferred; 2],
    /// Characters of the answer of the run, and of the other text.
    pub lengths: [u64; 2],
}

/// The position of a win rate's interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The whole interval lies above one half.
    Above,
    /// It contains one half.
    #[serde(rename = "not_told_apart")]
    Indistinguishable,
    /// The whole interval lies below one half.
    Below,
}

/// The win rate of the answers of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PairsSummary {
    /// All compared pairs.
    pub n: u64,
    /// The items of those with a verdict; epochs of a sample are dependent.
    pub items: u64,
    /// The answer of the run is preferred in both orders.
    pub wins: u64,
    /// The other text is preferred in both orders.
    pub losses: u64,
    /// Neither is preferred, in both orders.
    pub ties: u64,
    /// The verdict differs between the orders.
    pub inconsistent: u64,
    /// Pairs without a verdict, excluded from the rate.
    pub unreadable: u64,
    /// (wins + ½ (ties + inconsistent)) / (n - unreadable); `null` without pairs.
    pub win_rate: Option<f64>,
    /// Its 95 % confidence interval, with the pairs of an item as a group; half a win is not treated as a coin flip. It
    /// always has a width.
    pub ci95: Option<[f64; 2]>,
    /// The position of the interval.
    #[serde(rename = "standing")]
    pub outcome: Option<Outcome>,
    /// `first_shown_wins` / `inconsistent`; `null` if there are none.
    pub position_bias: Option<f64>,
    /// Inconsistent pairs in which the text shown first is preferred both times.
    pub first_shown_wins: u64,
    /// The effect of length on the rate: the slope of a line through win (1, ½, 0) by tanh of the difference in
    /// characters over the standard deviation of these differences. Absent with fewer than ten pairs, and if no lengths
    /// differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_coefficient: Option<f64>,
    /// Its interval, with the pairs of an item as a group. Absent if it would have no width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_ci95: Option<[f64; 2]>,
}

impl JudgedPair {
    /// Parses the details of a score; `None` if it is not that of a comparison.
    pub fn of_details<'a>(item: &str, detail: impl Fn(&str) -> Option<&'a Value>) -> Option<Self> {
        let preferred = |name: &str| match detail(name)?.as_str()? {
            "A" => Some(Preferred::A),
            "B" => Some(Preferred::B),
            "tie" => Some(Preferred::Tie),
            _ => None,
        };
        let length = |name: &str| detail(name)?.as_u64();
        Some(Self {
            item: item.to_owned(),
            preferred: [preferred("first")?, preferred("second")?],
            lengths: [length("length")?, length("length_against")?],
        })
    }

    /// The number of half wins.
    fn halves(&self) -> u8 {
        match self.preferred {
            [Preferred::A, Preferred::A] => 2,
            [Preferred::B, Preferred::B] => 0,
            _ => 1,
        }
    }
}

impl PairsSummary {
    /// From the readable pairs, and the number of others.
    pub fn of(pairs: &[JudgedPair], unreadable: u64) -> Self {
        let verdicts: Vec<_> = pairs
            .iter()
            .map(|pair| (Some(pair.preferred[0]), Some(pair.preferred[1])))
            .collect();
        let rate = OrdersWinRate::of(&verdicts);
        let mut items = BTreeMap::<&str, Vec<&JudgedPair>>::new();
        for pair in pairs {
            items.entry(&pair.item).or_default().push(pair);
        }
        let halves = items.values().map(|pairs| {
            let halves = pairs.iter().map(|pair| pair.halves());
            halves.collect()
        });
        let ci95 = win_rate95(&halves.collect::<Vec<_>>());
        let length = (pairs.len() >= ENOUGH)
            .then(|| length_slope(&items))
            .flatten();
        Self {
            n: rate.n + unreadable,
            items: items.len() as u64,
            wins: rate.wins,
            losses: rate.losses,
            ties: rate.ties,
            inconsistent: rate.inconsistent,
            unreadable,
            win_rate: rate.win_rate,
            ci95,
            outcome: ci95.map(Outcome::of),
            position_bias: ratio(rate.first_shown_wins, rate.inconsistent),
            first_shown_wins: rate.first_shown_wins,
            length_coefficient: length.map(|length| length.slope),
            length_ci95: length.and_then(|length| length.ci95),
        }
    }
}

impl Outcome {
    fn of([low, high]: [f64; 2]) -> Self {
        if low > 0.5 {
            Self::Above
        } else if high < 0.5 {
            Self::Below
        } else {
            Self::Indistinguishable
        }
    }
}

/// The slope of wins by the difference in length, which saturates as in Y. Dubois et al., *Length-controlled
/// `AlpacaEval`* (2024), arXiv:2404.04475; by a straight line, which has a slope even if every longer answer wins.
fn length_slope(items: &BTreeMap<&str, Vec<&JudgedPair>>) -> Option<Slope> {
    let longer = |pair: &JudgedPair| as_f64(pair.lengths[0]) - as_f64(pair.lengths[1]);
    let all: Vec<f64> = items.values().flatten().map(|pair| longer(pair)).collect();
    let n = as_f64(all.len() as u64);
    let mean = all.iter().sum::<f64>() / n;
    let deviation = (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    if deviation.is_nan() || deviation <= 0.0 {
        return None;
    }
    let groups = items.values().map(|pairs| {
        let points = pairs.iter().map(|pair| {
            let won = f64::from(pair.halves()) / 2.0;
            ((longer(pair) / deviation).tanh(), won)
        });
        points.collect()
    });
    Slope::of(&groups.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
