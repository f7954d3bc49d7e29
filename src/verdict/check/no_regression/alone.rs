//! `PairedFigures`: the comparison of `no_regression`, without a gate.

use serde::Serialize;

use super::counted::CountedPairs;
use super::message::{POWER, assumption};
use super::paired::{As, Paired};
use crate::stats::RedBelow;

/// The default alpha of gates.
const ALPHA: f64 = 0.05;

/// The verdict by the interval of a difference; the point estimate alone may be chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ComparedVerdict {
    /// The whole interval lies below 0: B is worse than A.
    Worse,
    /// The whole interval lies above 0: B is better than A.
    Better,
    /// The interval contains 0.
    #[serde(rename = "not_told_apart")]
    Indistinguishable,
    /// No sample has a verdict on both sides.
    NothingToCompare,
}

/// Run B compared with run A over the samples with a verdict in both. Shares and differences are fractions, B minus A.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedFigures {
    /// Samples with a verdict on both sides, each counted once, however many answers it has.
    pub n: u64,
    /// The verdict by the interval.
    pub verdict: ComparedVerdict,
    /// Accuracy of A over these samples.
    pub accuracy_a: Option<f64>,
    /// Accuracy of B over these samples.
    pub accuracy_b: Option<f64>,
    /// Accuracy of B minus that of A, with equal weight for each sample.
    pub difference: Option<f64>,
    /// Its 95 % confidence interval, which always has a width.
    pub difference_ci95: Option<[f64; 2]>,
    /// The probability of at most this many right answers of B if the two are equal: p of `no_regression`.
    pub p: Option<f64>,
    /// The probability of a difference this large in either direction: twice the smaller one-sided p.
    pub p_two_sided: Option<f64>,
    /// Samples that became wrong.
    pub worse: u64,
    /// Samples that became correct.
    pub better: u64,
    /// The number of groups of these samples, if there are groups: only groups are independent of each other.
    pub groups: Option<u64>,
}

/// The smallest drop that a comparison detects.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SeenDrop {
    /// The smallest drop of accuracy that this many samples detect in four of five runs; `null` if there is none.
    pub smallest_drop: Option<f64>,
    /// Its assumptions, as text.
    pub assumption: String,
}

impl PairedFigures {
    /// The figures of pairs whose `before` is A and whose `now` is B.
    pub(crate) fn of(pairs: &CountedPairs) -> Self {
        Self::of_paired(&pairs.paired(As::Nothing))
    }

    pub(super) fn of_paired(paired: &Paired) -> Self {
        let [a, b] = paired.shares();
        let difference = paired.difference();
        let interval = difference.map(|difference| difference.ci95);
        let has_pairs = paired.pairs() > 0;
        let p = paired.tested.p;
        let other_way = || paired.tested_other_way().p;
        Self {
            n: paired.pairs(),
            verdict: match interval {
                None => ComparedVerdict::NothingToCompare,
                Some([_, high]) if high < 0.0 => ComparedVerdict::Worse,
                Some([low, _]) if low > 0.0 => ComparedVerdict::Better,
                Some(_) => ComparedVerdict::Indistinguishable,
            },
            accuracy_a: a.value,
            accuracy_b: b.value,
            difference: difference.map(|difference| difference.value),
            difference_ci95: interval,
            p: has_pairs.then_some(p),
            p_two_sided: has_pairs.then(|| (2.0 * p.min(other_way())).min(1.0)),
            worse: paired.flips(true),
            better: paired.flips(false),
            groups: paired.group_count().map(|groups| groups as u64),
        }
    }
}

impl SeenDrop {
    /// The smallest drop detectable with these pairs.
    pub(crate) fn of(pairs: &CountedPairs, figures: &PairedFigures) -> Self {
        let paired = pairs.paired(As::Nothing);
        let red = RedBelow {
            alpha: ALPHA,
            mid_p: false,
        };
        // If even losing everything would not be significant, no drop is detected.
        let sees = pairs.paired(As::Lost).tested.p < ALPHA;
        let drop = sees.then(|| paired.smallest_drop(red, POWER)).flatten();
        Self {
            smallest_drop: drop,
            assumption: assumption(&paired, figures.worse, figures.better),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::baseline::Pair;

    type Answers = Vec<Option<bool>>;

    /// A letter for each answer: `C` correct, `W` wrong, `E` without a verdict.
    fn answers(letters: &str) -> Answers {
        let read = |c| match c {
            'C' => Some(true),
            'W' => Some(false),
            _ => None,
        };
        letters.chars().map(read).collect()
    }

    /// The figures of samples with these answers in A and in B.
    fn figures(samples: &[(&str, &str)]) -> PairedFigures {
        let sides: Vec<(Answers, Answers)> = samples
            .iter()
            .map(|(a, b)| (answers(a), answers(b)))
            .collect();
        let pairs = sides.iter().map(|(before, now)| Pair {
            id: "s",
            before,
            now,
            cluster: None,
        });
        PairedFigures::of(&CountedPairs::of(&pairs.collect::<Vec<_>>()))
    }

    #[test]
    fn the_verdict_is_that_of_the_interval() {
        let check = |samples: Vec<(&str, &str)>, verdict, p: f64, two_sided: f64| {
            let found = figures(&samples);
            assert_eq!(found.verdict, verdict, "{found:?}");
            assert_eq!(
                (found.p, found.p_two_sided),
                (Some(p), Some(two_sided)),
                "{found:?}"
            );
        };
        let all = |a, b, n| vec![(a, b); n];
        check(
            all("C", "W", 8),
            ComparedVerdict::Worse,
            1.0 / 256.0,
            1.0 / 128.0,
        );
        check(all("W", "C", 8), ComparedVerdict::Better, 1.0, 1.0 / 128.0);
        check(
            all("C", "W", 1),
            ComparedVerdict::Indistinguishable,
            0.5,
            1.0,
        );
        check(
            all("C", "C", 4),
            ComparedVerdict::Indistinguishable,
            1.0,
            1.0,
        );
    }

    #[test]
    fn what_lacks_a_verdict_is_no_pair_either_way() {
        let found = figures(&[("C", "W"), ("C", "E"), ("W", "C")]);
        assert_eq!((found.n, found.worse, found.better), (2, 1, 1));
        assert_eq!((found.p, found.p_two_sided), (Some(0.75), Some(1.0)));
        let none = figures(&[("C", "E")]);
        assert_eq!(none.verdict, ComparedVerdict::NothingToCompare);
        assert_eq!((none.p, none.difference), (None, None));
    }

    #[test]
    fn turned_round_the_figures_are_those_of_the_other_side() {
        let samples = [("CCC", "CWW"), ("CC", "C"), ("WWC", "WWW"), ("C", "WE")];
        let there = figures(&samples);
        let back = figures(&samples.map(|(a, b)| (b, a)));
        assert_eq!(there.p_two_sided, back.p_two_sided);
        assert_eq!(there.difference.map(|value| -value), back.difference);
        assert_eq!((there.worse, there.better), (back.better, back.worse));
    }
}
