//! The smallest drop that the test of whole runs detects: simulated with a fixed seed and bounded work.
//!
//! **The model.** By chance, whole runs are permuted in each group, as in the test. Samples that became worse count as
//! chance only as far as others became better; the excess is undone. Then samples break, each independently of its
//! group: one after another, in random order, first those that are always right, each in all answers of now. In each
//! draw they break until the test is red; the result is the drop that suffices in a share `power` of the draws.
//!
//! With few choices p is exact, as it then has a minimum that no drop gets below; with many it is the normal
//! approximation with skewness correction.

use super::RedBelow;
use crate::stats::ExactTest;
use crate::stats::SplitMix64;
use crate::stats::as_f64;
use crate::stats::distribution::normal;
use crate::stats::paired::conditional::AnswerCounts;
use crate::stats::paired::whole_runs::RunGroup;

/// A sample with at least this share of right answers counts as always right.
const SURE: f64 = 0.9;

/// The most and fewest draws, and their total cost, in columns and samples that are touched.
const DRAWS: [u64; 2] = [400, 40];
const COST: u64 = 4_000_000;

/// p is exact up to this many choices (as a power of two), and this many distinct sums.
const CHOICES_LOG2: f64 = 16.0;
const SUMS: usize = 4_096;

/// The smallest loss of accuracy that the test of whole runs detects with probability `power` or more. `None` if there
/// are too few groups.
pub(crate) fn smallest_drop_of_groups(
    groups: &[RunGroup],
    red: RedBelow,
    power: f64,
) -> Option<f64> {
    let mut random = SplitMix64(3);
    let mut groups: Vec<GroupRuns> = groups.iter().filter_map(GroupRuns::of).collect();
    take_back(&mut groups, &mut random);
    let samples: u64 = groups.iter().map(|group| group.shares.len() as u64).sum();
    let columns: u64 = groups.iter().map(|group| group.columns.len() as u64).sum();
    if samples == 0 {
        return None;
    }
    let draws = (COST / (columns + 4 * samples)).clamp(DRAWS[1], DRAWS[0]);
    let simulated = Simulated::of(groups);
    let mut drops = Vec::new();
    let mut unseen = 0;
    for _ in 0..draws {
        match simulated.draw(red, &mut random) {
            Some(lost) => drops.push(lost / as_f64(samples)),
            None => unseen += 1,
        }
        if as_f64(unseen) > (1.0 - power) * as_f64(draws) + 1e-9 {
            return None;
        }
    }
    drops.sort_by(f64::total_cmp);
    let seen = |at: &usize| as_f64(*at as u64 + 1) + 1e-9 >= power * as_f64(draws);
    let at = (0..drops.len()).find(seen)?;
    drops.get(at).copied()
}

/// The columns of a group that have an answer, those of now first.
#[derive(Clone)]
struct GroupRuns {
    columns: Vec<Vec<AnswerCounts>>,
    now: usize,
    /// For each sample with answers on both sides: its place and its share of right answers.
    shares: Vec<(usize, f64)>,
}

impl GroupRuns {
    fn of(group: &RunGroup) -> Option<Self> {
        let width = group.before.iter().chain(&group.now).map(Vec::len).max()?;
        let answered = |columns: &[Vec<AnswerCounts>]| -> Vec<_> {
            let columns = columns.iter();
            let columns = columns.filter(|column| column.iter().any(|answers| answers.of > 0));
            let full = |column: &Vec<AnswerCounts>| {
                let mut column = column.clone();
                column.resize(width, AnswerCounts::default());
                column
            };
            columns.map(full).collect()
        };
        let mut columns = answered(&group.now);
        let now = columns.len();
        columns.extend(answered(&group.before));
        let mut group = Self {
            columns,
            now,
            shares: Vec::new(),
        };
        if now == 0 || now == group.columns.len() {
            return None;
        }
        group.shares = (0..width)
            .filter(|place| group.side(*place, true).of > 0 && group.side(*place, false).of > 0)
            .map(|place| (place, 0.0))
            .collect();
        group.count_shares();
        Some(group)
    }

    fn side(&self, place: usize, now: bool) -> AnswerCounts {
        let (after, before) = self.columns.split_at(self.now);
        let side = if now { after } else { before };
        side.iter()
            .fold(AnswerCounts::default(), |sum, column| AnswerCounts {
                right: sum.right + column[place].right,
                of: sum.of + column[place].of,
            })
    }

    fn count_shares(&mut self) {
        let shares = self.shares.iter().map(|(place, _)| {
            let [now, before] = [true, false].map(|now| self.side(*place, now));
            let share = f64::from(now.right + before.right) / f64::from(now.of + before.of);
            (*place, share)
        });
        self.shares = shares.collect();
    }

    /// The fall of the sample's share of right answers; negative for a rise.
    fn fall(&self, place: usize) -> f64 {
        let share = |now| {
            let answers = self.side(place, now);
            f64::from(answers.right) / f64::from(answers.of)
        };
        share(false) - share(true)
    }

    /// Undoes a change: both sides answer as the one with more columns did.
    fn take_back(&mut self, place: usize) {
        let (now, all) = (self.now, self.columns.len());
        let from = if now > all - now { 0..now } else { now..all };
        let answers: Vec<_> = from.clone().map(|at| self.columns[at][place]).collect();
        let others = self.columns.iter_mut().enumerate();
        let others = others.filter(|(at, _)| !from.contains(at));
        for ((_, column), answers) in others.zip(answers.iter().cycle()) {
            column[place] = *answers;
        }
    }
}

/// Undoes declines in excess of improvements, group after group in random order.
fn take_back(groups: &mut [GroupRuns], random: &mut SplitMix64) {
    let falls = |group: &GroupRuns| -> Vec<(usize, f64)> {
        let places = group.shares.iter();
        let falls = places.map(|(place, _)| (*place, group.fall(*place)));
        falls.collect()
    };
    let mut excess: f64 = groups.iter().flat_map(falls).map(|(_, fall)| fall).sum();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    for at in 0..order.len() {
        let other = at + random.below(order.len() - at);
        order.swap(at, other);
    }
    for at in order {
        let group = &mut groups[at];
        for (place, fall) in falls(group) {
            if fall > 1e-9 && excess >= fall / 2.0 {
                group.take_back(place);
                excess -= fall;
            }
        }
        group.count_shares();
    }
}

/// The state of a group while its samples break: the score of each column relative to the mean of the samples.
#[derive(Clone)]
struct Broken {
    scores: Vec<f64>,
    /// Which columns are those of now.
    is_now: Vec<bool>,
    moments: [f64; 3],
}

struct Simulated {
    groups: Vec<GroupRuns>,
    /// The groups as observed.
    unbroken: Vec<Broken>,
    /// The samples, by group and place in it, with their shares: those that are always right, and the others.
    samples: [Vec<(usize, usize, f64)>; 2],
}

impl Simulated {
    fn of(groups: Vec<GroupRuns>) -> Self {
        let unbroken = groups.iter().map(Broken::of).collect();
        let each = groups.iter().enumerate().flat_map(|(at, group)| {
            let shares = group.shares.iter();
            shares.map(move |(place, share)| (at, *place, *share))
        });
        let right = each.filter(|(_, _, share)| *share > 0.0);
        let (sure, others) = right.partition(|(_, _, share)| *share >= SURE);
        Self {
            groups,
            unbroken,
            samples: [sure, others],
        }
    }

    /// The right answers lost until the test is red, each sample counting as one; `None` if it never is.
    fn draw(&self, red: RedBelow, random: &mut SplitMix64) -> Option<f64> {
        let mut groups = self.unbroken.clone();
        let mut sum = 0.0;
        for (group, columns) in groups.iter_mut().zip(&self.groups) {
            let mut remaining = columns.now;
            for at in 0..group.scores.len() {
                group.is_now[at] = random.below(group.scores.len() - at) < remaining;
                remaining -= usize::from(group.is_now[at]);
            }
            sum += group.observed();
        }
        let mut moments = [0.0; 3];
        for group in &groups {
            (0..3).for_each(|at| moments[at] += group.moments[at]);
        }
        let mut lost = 0.0;
        for samples in &self.samples {
            let mut samples = samples.clone();
            for next in 0..samples.len() {
                let other = next + random.below(samples.len() - next);
                samples.swap(next, other);
                let (at, place, share) = samples[next];
                let group = &mut groups[at];
                sum -= group.observed();
                (0..3).for_each(|at| moments[at] -= group.moments[at]);
                group.break_sample(&self.groups[at], place);
                sum += group.observed();
                (0..3).for_each(|at| moments[at] += group.moments[at]);
                lost += share;
                if is_red(&groups, &self.groups, sum, moments, red) {
                    return Some(lost);
                }
            }
        }
        None
    }
}

impl Broken {
    fn of(group: &GroupRuns) -> Self {
        let columns = &group.columns;
        let mut broken = Self {
            scores: vec![0.0; columns.len()],
            is_now: (0..columns.len()).map(|at| at < group.now).collect(),
            moments: [0.0; 3],
        };
        for place in 0..columns[0].len() {
            broken.add(group, place, 1.0, false);
        }
        broken.measure(group.now);
        broken
    }

    /// Adds `times` the deviation of the answers to a sample from their mean, with those of now as observed or wrong.
    fn add(&mut self, group: &GroupRuns, place: usize, times: f64, is_broken: bool) {
        let right = |at: usize, is_now: bool| {
            let answers = group.columns[at][place];
            (
                if is_broken && is_now {
                    0
                } else {
                    answers.right
                },
                answers.of,
            )
        };
        let (mut all_right, mut all) = (0, 0);
        for (at, is_now) in self.is_now.iter().enumerate() {
            let (right, of) = right(at, *is_now);
            all_right += right;
            all += of;
        }
        if all == 0 {
            return;
        }
        let mean = f64::from(all_right) / f64::from(all);
        for at in 0..self.scores.len() {
            let (right, of) = right(at, self.is_now[at]);
            self.scores[at] += times * (f64::from(right) - f64::from(of) * mean);
        }
    }

    fn break_sample(&mut self, group: &GroupRuns, place: usize) {
        self.add(group, place, -1.0, false);
        self.add(group, place, 1.0, true);
        self.measure(group.now);
    }

    /// The sum of the scores of now.
    fn observed(&self) -> f64 {
        let scores = self.scores.iter().zip(&self.is_now);
        scores
            .filter(|(_, now)| **now)
            .map(|(score, _)| score)
            .sum()
    }

    /// Mean, variance and third moment of the sum of as many scores as there are of now, drawn without replacement.
    fn measure(&mut self, now: usize) {
        let (all, now) = (as_f64(self.scores.len() as u64), as_f64(now as u64));
        let mean = self.scores.iter().sum::<f64>() / all;
        let power = |power| -> f64 {
            let off = self.scores.iter().map(|score| score - mean);
            off.map(|off| off.powi(power)).sum()
        };
        let drawn = now * (all - now) / (all * (all - 1.0));
        let skew = if all > 2.0 {
            drawn * (all - 2.0 * now) / (all - 2.0) * power(3)
        } else {
            0.0
        };
        self.moments = [now * mean, drawn * power(2), skew];
    }

    fn varies(&self) -> bool {
        self.moments[1] > 1e-9
    }
}

fn is_red(
    groups: &[Broken],
    columns: &[GroupRuns],
    sum: f64,
    [mean, variance, third]: [f64; 3],
    RedBelow { alpha, test }: RedBelow,
) -> bool {
    if variance <= 1e-9 || sum >= mean {
        return false;
    }
    let deviation = variance.sqrt();
    let x = (sum + if test == ExactTest::MidP { 0.0 } else { 0.5 } - mean) / deviation;
    let skewness = third / (deviation * variance);
    let p = normal::below(x) + skewness * (1.0 - x * x) * normal::density(x) / 6.0;
    // Far from red, p need not be exact.
    if p > 4.0 * alpha {
        return false;
    }
    let varying = || {
        groups
            .iter()
            .zip(columns)
            .filter(|(group, _)| group.varies())
    };
    let mut choices = 0.0;
    for (group, columns) in varying() {
        choices += choices_log2(group.scores.len(), columns.now);
        if choices > CHOICES_LOG2 {
            return p < alpha;
        }
    }
    exact(varying().map(|(group, columns)| (group, columns.now))).map_or(
        p < alpha,
        |[less, same]| {
            less + if test == ExactTest::MidP {
                same / 2.0
            } else {
                same
            } < alpha
        },
    )
}

/// The number of ways to choose `now` of `all`, as a power of two.
fn choices_log2(all: usize, now: usize) -> f64 {
    let factors = (0..now).map(|at| as_f64((all - at) as u64) / as_f64((at + 1) as u64));
    factors.map(f64::log2).sum()
}

/// The probability of a smaller sum than observed, and of the same; `None` if there are too many sums.
fn exact<'a>(groups: impl Iterator<Item = (&'a Broken, usize)>) -> Option<[f64; 2]> {
    let (mut sums, mut observed) = (vec![(0.0, 1.0)], 0.0);
    for (group, now) in groups {
        observed += group.observed();
        let own = chosen(&group.scores, now);
        if own.len() * sums.len() > SUMS {
            return None;
        }
        let both = sums.iter().flat_map(|(sum, weight)| {
            let own = own.iter();
            own.map(move |(more, other)| (sum + more, weight * other))
        });
        sums = merged(both.collect());
    }
    let part = |low: f64, high: f64| -> f64 {
        let within = sums.iter().map(|(sum, weight)| (sum - observed, weight));
        let within = within.filter(|(off, _)| low < *off && *off <= high);
        within.map(|(_, weight)| weight).sum()
    };
    Some([part(f64::NEG_INFINITY, -1e-6), part(-1e-6, 1e-6)])
}

/// The distinct sums of all choices of `now` scores, with their probabilities.
fn chosen(scores: &[f64], now: usize) -> Vec<(f64, f64)> {
    // By the number chosen so far.
    let mut sums = vec![Vec::new(); now + 1];
    sums[0].push((0.0, 1.0));
    for (place, score) in scores.iter().enumerate() {
        let remaining = as_f64((scores.len() - place) as u64);
        for chosen in (0..=now).rev() {
            let take = as_f64((now - chosen) as u64) / remaining;
            let here = std::mem::take(&mut sums[chosen]);
            if take > 0.0 {
                let with = here
                    .iter()
                    .map(|(sum, weight)| (sum + score, weight * take));
                let mut with: Vec<_> = with.collect();
                with.append(&mut sums[chosen + 1]);
                sums[chosen + 1] = merged(with);
            }
            if take < 1.0 {
                let without = here
                    .iter()
                    .map(|(sum, weight)| (*sum, weight * (1.0 - take)));
                sums[chosen] = without.collect();
            }
        }
    }
    sums.pop().unwrap_or_default()
}

/// Merges sums that differ only by rounding.
fn merged(mut sums: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    sums.sort_by(|one, other| one.0.total_cmp(&other.0));
    sums.dedup_by(|next, previous| {
        let is_same = next.0 - previous.0 < 1e-7;
        if is_same {
            previous.1 += next.1;
        }
        is_same
    });
    sums
}
