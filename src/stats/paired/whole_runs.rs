//! A permutation test of two sets of runs over grouped samples, which permutes whole runs.

use std::collections::BTreeMap;

use super::conditional::{AnswerCounts, ComparedSample, Tested};
use crate::stats::SplitMix64;
use crate::stats::as_f64;
use crate::stats::distribution::law::{self, Law, WORK, lower_tail};

/// With missing answers, scores are fractions; they are rounded to these parts of an answer, the finest for which the
/// work suffices. The test is valid with any of them.
const PARTS: [u32; 4] = [60, 12, 4, 2];

/// The most and fewest random draws, used if the exact sum takes too much work.
const DRAWS: [u64; 2] = [19_999, 999];

/// Samples with correlated answers, such as questions on one passage.
///
/// A column has the answers of one run, or one epoch of a run, to the samples of the group, in their order. Dependent
/// answers, such as epochs that share something, form one column with several answers to a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunGroup {
    /// The columns of the baseline.
    pub before: Vec<Vec<AnswerCounts>>,
    /// The columns of the run compared with it.
    pub now: Vec<Vec<AnswerCounts>>,
}

/// Are there fewer right answers now than by chance, if only groups are independent of each other?
///
/// If the agent is unchanged, any choice of a group's columns is equally likely to be those of now. The number of right
/// answers now is compared with its exact distribution over all choices in all groups; the choices are not enumerated,
/// their distributions are added. With groups of one sample this is
/// [`conditional_test`](crate::stats::conditional_test), and with one column on each side the sign-flip test.
///
/// A missing answer counts as the mean of the other answers to its sample, so that a run is not worse for lacking an
/// answer to an easy question. Columns without any answer are ignored, as are groups without a column on one side.
///
/// Beyond 100 million multiplications, choices are drawn at random with a fixed seed: p is then
/// `(1 + hits) / (1 + draws)`, and [`Tested::error`] four of its standard errors. Source: E. S. Edgington,
/// *Randomization tests* (1980); B. Phipson and G. K. Smyth, *Permutation p-values should never be zero*, SAGMB 9
/// (2010).
pub fn whole_runs_test(groups: &[RunGroup]) -> Tested {
    let groups: Vec<GroupColumns<'_>> = groups.iter().filter_map(GroupColumns::of).collect();
    let (whole, torn): (Vec<_>, Vec<_>) = groups.into_iter().partition(GroupColumns::is_whole);
    let parts = PARTS
        .into_iter()
        .find(|parts| summed(&torn, *parts) <= WORK / 4 * 3);
    let fine = parts.unwrap_or(PARTS[PARTS.len() - 1]);
    let whole: Vec<_> = whole.iter().map(|group| group.scores(None)).collect();
    let torn: Vec<_> = torn.iter().map(|group| group.scores(Some(fine))).collect();
    parts
        .and_then(|_| exact(&whole, &torn, fine))
        .unwrap_or_else(|| drawn(&whole, &torn, fine))
}

impl RunGroup {
    /// The samples of the group, individually.
    pub(in crate::stats) fn samples(&self) -> Vec<ComparedSample> {
        let columns = self.before.iter().chain(&self.now);
        let count = columns.map(Vec::len).max().unwrap_or(0);
        let at = |columns: &[Vec<AnswerCounts>], sample: usize| {
            let answers = columns.iter().filter_map(|column| column.get(sample));
            answers.fold(AnswerCounts::default(), |sum, answers| AnswerCounts {
                right: sum.right + answers.right,
                of: sum.of + answers.of,
            })
        };
        let both = |sample| ComparedSample {
            before: at(&self.before, sample),
            now: at(&self.now, sample),
        };
        (0..count).map(both).collect()
    }
}

/// The design effect: the variance of the right answers of now when whole runs are permuted, over that when the answers
/// of each sample are.
pub(crate) fn design_effect(groups: &[RunGroup]) -> f64 {
    let (mut whole, mut single) = (0.0, 0.0);
    for group in groups {
        for ComparedSample { before, now } in group.samples() {
            let (m, k) = (f64::from(before.of), f64::from(now.of));
            let (right, all) = (f64::from(before.right + now.right), m + k);
            if m > 0.0 && k > 0.0 {
                single += m * k * right * (all - right) / (all * all * (all - 1.0));
            }
        }
        if let Some(columns) = GroupColumns::of(group) {
            whole += columns.scores(Some(PARTS[0])).variance() / f64::from(PARTS[0]).powi(2);
        }
    }
    if whole > 0.0 && single > 0.0 {
        whole / single
    } else {
        1.0
    }
}

/// The columns of a group that have an answer, those of now first.
struct GroupColumns<'a> {
    columns: Vec<&'a [AnswerCounts]>,
    now: usize,
}

/// The contribution of each column if it is one of now, in parts of an answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Scores {
    scores: Vec<i64>,
    now: usize,
}

impl<'a> GroupColumns<'a> {
    fn of(group: &'a RunGroup) -> Option<Self> {
        let answered = |columns: &'a [Vec<AnswerCounts>]| {
            let columns = columns.iter().map(Vec::as_slice);
            columns.filter(|column| column.iter().any(|answers| answers.of > 0))
        };
        let mut columns: Vec<_> = answered(&group.now).collect();
        let now = columns.len();
        columns.extend(answered(&group.before));
        (now > 0 && now < columns.len()).then_some(Self { columns, now })
    }

    /// Whether all columns have the same number of answers to each sample.
    fn is_whole(&self) -> bool {
        let counts =
            |column: &&'a [AnswerCounts]| column.iter().map(|answers| answers.of).collect();
        let first: Vec<u32> = counts(&self.columns[0]);
        self.columns.iter().all(|column| counts(column) == first)
    }

    /// Right answers; with `parts`, in parts of an answer and minus the mean of the sample.
    fn scores(&self, parts: Option<u32>) -> Scores {
        let samples = self.columns.iter().map(|column| column.len()).max();
        let mut means = vec![(0.0, 0.0); samples.unwrap_or(0)];
        for column in &self.columns {
            for (mean, answers) in means.iter_mut().zip(*column) {
                mean.0 += f64::from(answers.right);
                mean.1 += f64::from(answers.of);
            }
        }
        let score = |column: &&[AnswerCounts]| match parts {
            None => column.iter().map(|answers| i64::from(answers.right)).sum(),
            Some(parts) => {
                let answered = column.iter().zip(&means).filter(|(a, _)| a.of > 0);
                let above = answered.map(|(answers, (right, of))| {
                    f64::from(answers.right) - f64::from(answers.of) * right / of
                });
                rounded(above.sum::<f64>() * f64::from(parts))
            }
        };
        Scores {
            scores: self.columns.iter().map(score).collect(),
            now: self.now,
        }
    }
}

impl Scores {
    fn observed(&self) -> i64 {
        self.scores[..self.now].iter().sum()
    }

    /// The variance of the sum of the scores of now.
    fn variance(&self) -> f64 {
        let (of, now) = (as_f64(self.scores.len() as u64), as_f64(self.now as u64));
        let scores = self.scores.iter().map(|score| float(*score));
        let mean = scores.clone().sum::<f64>() / of;
        let squares: f64 = scores.map(|score| (score - mean).powi(2)).sum();
        now * (of - now) / (of * (of - 1.0)) * squares
    }

    /// The law of the sum of the scores of now, over all equally likely choices; `None` if it takes more than `work`
    /// multiplications.
    fn law(&self, work: &mut u64) -> Option<Law> {
        let least = self.scores.iter().copied().min()?;
        let above: Vec<usize> = self
            .scores
            .iter()
            .map(|score| usize::try_from(score - least).unwrap_or(0))
            .collect();
        let width = above.iter().max()? * self.now + 1;
        let products = (width as u64).checked_mul((self.now * above.len()) as u64)?;
        *work = work.checked_sub(products)?;
        // The probability of each sum, by the number of columns chosen so far.
        let mut sums = vec![vec![0.0; width]; self.now + 1];
        sums[0][0] = 1.0;
        for (place, score) in above.iter().enumerate() {
            let remaining = as_f64((above.len() - place) as u64);
            for chosen in (0..=self.now.min(place)).rev() {
                let take = as_f64((self.now - chosen) as u64) / remaining;
                let (without, with) = sums.split_at_mut(chosen + 1);
                let without = &mut without[chosen];
                if let Some(with) = with.first_mut() {
                    for (sum, weight) in with[*score..].iter_mut().zip(&*without) {
                        *sum += take * weight;
                    }
                }
                // 0 if the column must be taken, whatever rounding says.
                let leave = (1.0 - take).max(0.0);
                for weight in without.iter_mut() {
                    *weight *= leave;
                }
            }
        }
        let first = least * i64::try_from(self.now).ok()?;
        Some(Law::new(first, sums.pop()?))
    }
}

/// The rough number of multiplications to sum the groups: for each level of the tree of sums, about half the square of
/// the length of the final one.
fn summed(groups: &[GroupColumns<'_>], parts: u32) -> u64 {
    let variance: f64 = groups
        .iter()
        .map(|group| group.scores(Some(parts)).variance())
        .sum();
    let levels = f64::from(usize::BITS - groups.len().leading_zeros());
    let products = 170.0 * variance * levels;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate that is not negative"
    )]
    let products = products as u64;
    products
}

fn exact(whole: &[Scores], torn: &[Scores], parts: u32) -> Option<Tested> {
    let mut work = WORK;
    let observed: i64 = whole.iter().map(Scores::observed).sum();
    let whole = laws(whole, &mut work)?;
    if torn.is_empty() {
        return lower_tail(&whole, observed, work).map(Tested::exact);
    }
    let offset: i64 = torn.iter().map(Scores::observed).sum();
    let torn = law::sum(&laws(torn, &mut work)?, &mut work)?;
    let whole = law::sum(&whole, &mut work)?;
    // The sum in parts is at most the observed one: for each sum of the incomplete groups, the remainder for the
    // complete ones.
    let parts = i64::from(parts);
    let remaining = |torn: i64| parts * observed + offset - torn;
    let (mut at_most, mut same) = (0.0, 0.0);
    let whole_at_most = whole.at_most();
    for (value, weight) in torn.weights() {
        let remaining = remaining(value);
        at_most += weight * whole_at_most(remaining.div_euclid(parts));
        if remaining.rem_euclid(parts) == 0 {
            same += weight * whole.at(remaining / parts);
        }
    }
    Some(Tested {
        p: at_most.min(1.0),
        mid_p: (at_most - same / 2.0).clamp(0.0, 1.0),
        error: 0.0,
    })
}

/// The law of each kind of group, with its multiplicity.
fn laws(groups: &[Scores], work: &mut u64) -> Option<Vec<(Law, u64)>> {
    let mut kinds = BTreeMap::<Scores, u64>::new();
    for group in groups {
        let mut group = group.clone();
        group.scores.sort_unstable();
        *kinds.entry(group).or_default() += 1;
    }
    kinds
        .into_iter()
        .map(|(group, count)| Some((group.law(work)?, count)))
        .collect()
}

fn drawn(whole: &[Scores], torn: &[Scores], parts: u32) -> Tested {
    let groups = || {
        let whole = whole.iter().map(|group| (group, i64::from(parts)));
        whole.chain(torn.iter().map(|group| (group, 1)))
    };
    let observed: i64 = groups().map(|(group, unit)| unit * group.observed()).sum();
    let columns: u64 = groups().map(|(group, _)| group.scores.len() as u64).sum();
    let draws = (WORK / 4 / columns.max(1)).clamp(DRAWS[1], DRAWS[0]);
    let mut random = SplitMix64(1);
    let mut groups: Vec<_> = groups()
        .map(|(group, unit)| (group.clone(), unit))
        .collect();
    let (mut less, mut same) = (0, 0);
    for _ in 0..draws {
        let mut sum = 0;
        for (group, unit) in &mut groups {
            for place in 0..group.now {
                let other = place + random.below(group.scores.len() - place);
                group.scores.swap(place, other);
            }
            sum += *unit * group.observed();
        }
        less += u64::from(sum < observed);
        same += u64::from(sum == observed);
    }
    let all = as_f64(1 + draws);
    let p = as_f64(1 + less + same) / all;
    Tested {
        p,
        mid_p: (0.5 + as_f64(less) + as_f64(same) / 2.0) / all,
        error: 4.0 * (p * (1.0 - p) / all).sqrt(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a few thousand parts of an answer"
)]
fn rounded(parts: f64) -> i64 {
    parts.round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "parts of answers")]
fn float(parts: i64) -> f64 {
    parts as f64
}

#[cfg(test)]
mod tests;
