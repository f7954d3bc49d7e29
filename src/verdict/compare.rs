//! `RunsComparison`: a comparison of two runs.
//!
//! Run A is treated as an accepted baseline, and run B is compared with it as `no_regression` does. So p, the
//! difference and its interval are those of that gate, including its treatment of epochs and groups.
//!
//! Samples are added one by one ([`Comparing`]) and counted: independent samples are not stored.

pub(crate) mod side;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::stats;
use crate::stats::{
    AnswerCounts, ComparedSample, CountedSamples, Difference, RunningMean, grouped_mean95,
};
use crate::verdict::baseline::{Baseline, Pair, flipped, right_of};
use crate::verdict::check::{CountedPairs, ErrorBounds, PairedFigures, SeenDrop, ServedJudges};
use crate::verdict::gate::figure::FigureScale;
use crate::verdict::summary::Summary;
use side::{AGENT, AGENT_PLAIN, SideAnswer, SideNames, SideSample, SideValue};

/// Run B compared with run A.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunsComparison {
    /// Over all samples.
    pub whole: PairedFigures,
    /// The smallest drop that the comparison detects.
    pub seen: SeenDrop,
    /// How errors of either run could change the result; `None` without errors.
    pub error_bounds: Option<ErrorBounds>,
    /// The same figures by dimension and value.
    pub slices: BTreeMap<String, BTreeMap<String, PairedFigures>>,
    /// The same figures by the name of the scorer, if there are several.
    pub scorers: BTreeMap<String, PairedFigures>,
    /// Means of the numbers given by scorers, by scorer and name of the number.
    pub means: BTreeMap<String, BTreeMap<String, PairedMean>>,
    /// What the agent took, by name: tokens, cost, steps, calls of tools.
    pub figures: BTreeMap<String, PairedRatio>,
    /// A message if another model serves the deciding judge in B: what changed may be the judge.
    pub judge: Option<String>,
}

/// What happened to a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleFate {
    /// B does not have it.
    OnlyInA,
    /// A does not have it.
    OnlyInB,
    /// Its question, file or ground truth differs.
    Changed,
    /// It has no verdict in A or B: it errored, was skipped, or none is expected.
    WithoutVerdict,
    /// More than half of its answers are right in A, and at most half in B.
    Worse,
    /// The reverse.
    Better,
    /// Its majority verdict is the same in both.
    Same,
}

/// Builds a [`RunsComparison`] from samples, added in the order of B.
pub(crate) struct Comparing<'a> {
    names: &'a SideNames,
    /// The deciding scorer, and whether the others are the same in both runs.
    scorer: Option<&'a str>,
    all_scorers: bool,
    is_grouped: bool,
    /// The number of samples in both runs, even if their questions differ.
    shared: u64,
    whole: CountedPairs,
    /// Includes samples without a verdict in A.
    with_errors: CountedPairs,
    slices: BTreeMap<u32, CountedPairs>,
    scorers: BTreeMap<u32, CountedPairs>,
    means: BTreeMap<u32, PairedMeanTally>,
}

impl<'a> Comparing<'a> {
    /// For runs decided by the same scorer. Other scorers are compared if `all_scorers` are the same in both.
    /// `is_grouped` if samples of B have groups.
    pub(crate) fn new(
        names: &'a SideNames,
        scorer: Option<&'a str>,
        all_scorers: bool,
        is_grouped: bool,
    ) -> Self {
        Self {
            names,
            scorer,
            all_scorers,
            is_grouped,
            shared: 0,
            whole: CountedPairs::new(is_grouped),
            with_errors: CountedPairs::new(is_grouped),
            slices: BTreeMap::new(),
            scorers: BTreeMap::new(),
            means: BTreeMap::new(),
        }
    }

    /// Adds a sample that is in both runs.
    pub(crate) fn add(&mut self, a: &SideSample, b: &SideSample) -> SampleFate {
        self.shared += 1;
        if !a.has_same_question(b) {
            return SampleFate::Changed;
        }
        self.add_means(a, b);
        let (before, now) = (a.before(), b.now());
        let pair = Pair {
            id: &b.id,
            before: &before,
            now: &now,
            cluster: b.cluster.as_deref(),
            ..Pair::default()
        };
        if !now.is_empty() && a.answers.iter().any(|it| *it != SideAnswer::Unscored) {
            // A sample for which no verdict is expected is not an error.
            let before = a.now();
            let pair = Pair {
                before: &before,
                ..pair
            };
            self.with_errors.add(&pair);
        }
        if now.is_empty() || right_of(&before).of == 0 {
            return SampleFate::WithoutVerdict;
        }
        self.whole.add(&pair);
        let new = || CountedPairs::new(self.is_grouped);
        for slice in &b.slices {
            self.slices.entry(*slice).or_insert_with(new).add(&pair);
        }
        for (scorer, now) in b.scorers.iter().filter(|_| self.all_scorers) {
            let known = a.scorers.iter().find(|(known, _)| known == scorer);
            let Some((_, before)) = known.filter(|(_, it)| it.iter().any(Option::is_some)) else {
                continue;
            };
            let pair = Pair {
                before,
                now,
                ..pair
            };
            self.scorers.entry(*scorer).or_insert_with(new).add(&pair);
        }
        match flipped(&before, &now) {
            Some(true) => SampleFate::Worse,
            Some(false) => SampleFate::Better,
            None if right_of(&now).of == 0 => SampleFate::WithoutVerdict,
            None => SampleFate::Same,
        }
    }

    fn add_means(&mut self, a: &SideSample, b: &SideSample) {
        for value in &b.values {
            let known = a.values.iter().find(|known| known.entry == value.entry);
            let [scorer, _] = self.names.entries.name(value.entry);
            let is_match = self.all_scorers
                || [AGENT, AGENT_PLAIN].contains(&scorer)
                || self.scorer.is_none_or(|it| it == scorer);
            if let Some(known) = known.filter(|_| is_match) {
                let new = || PairedMeanTally::new(self.is_grouped);
                let tally = self.means.entry(value.entry).or_insert_with(new);
                tally.add([known, value], &b.id, b.cluster.as_deref());
            }
        }
    }

    /// Whether the runs have any sample in common.
    pub(crate) fn has_shared(&self) -> bool {
        self.shared > 0
    }

    /// The result, given the summaries and names of the runs.
    pub(crate) fn finish(self, [a, b]: [&Summary; 2], called: [&str; 2]) -> RunsComparison {
        let whole = PairedFigures::of(&self.whole);
        let mut slices = BTreeMap::<String, BTreeMap<_, _>>::new();
        for (place, pairs) in &self.slices {
            let [dimension, value] = self.names.slices.name(*place);
            let values = slices.entry(dimension.to_owned()).or_default();
            values.insert(value.to_owned(), PairedFigures::of(pairs));
        }
        let scorers = self.scorers.iter().map(|(place, pairs)| {
            let [scorer, _] = self.names.scorers.name(*place);
            (scorer.to_owned(), PairedFigures::of(pairs))
        });
        let mut figures = BTreeMap::new();
        let mut means = BTreeMap::<String, BTreeMap<_, _>>::new();
        for (place, tally) in &self.means {
            let [scorer, name] = self.names.entries.name(*place);
            if [AGENT, AGENT_PLAIN].contains(&scorer) {
                let has_plain = FigureScale::of(name) == FigureScale::RatioFromZero
                    && !self.names.with_zero.contains(name);
                if has_plain == (scorer == AGENT_PLAIN) {
                    figures.insert(name.to_owned(), PairedRatio::of(&tally.finish()));
                }
                continue;
            }
            let of_scorer = means.entry(scorer.to_owned()).or_default();
            of_scorer.insert(name.to_owned(), tally.finish());
        }
        RunsComparison {
            seen: SeenDrop::of(&self.whole, &whole),
            whole,
            error_bounds: ErrorBounds::of(&self.with_errors),
            slices,
            scorers: scorers.collect(),
            means,
            figures,
            judge: other_judge([a, b], called),
        }
    }
}

/// A message if another model serves the deciding judge in B.
fn other_judge([a, b]: [&Summary; 2], called: [&str; 2]) -> Option<String> {
    let served = a.judge_models().into_iter();
    let served = served.map(|(scorer, models)| (scorer, models.into_keys().collect()));
    let baseline = Baseline {
        judges: served.collect(),
        ..Baseline::default()
    };
    let decides = |name: &str| b.scorer.as_deref() == Some(name);
    let is_secondary = |name: &str| !decides(name) && b.scorers.contains_key(name);
    ServedJudges::of(b.judge_models()).other_between(&baseline, is_secondary, called)
}

/// The two-sided p's of several comparisons, adjusted by Holm, as chance is more likely to separate one of several
/// pairs. Comparisons with nothing to compare are ignored.
pub(crate) fn holm(comparisons: &[&RunsComparison]) -> Vec<Option<f64>> {
    let p = comparisons
        .iter()
        .map(|compared| compared.whole.p_two_sided);
    let p: Vec<_> = p.collect();
    let known: Vec<f64> = p.iter().flatten().copied().collect();
    let mut adjusted = stats::holm(&known).into_iter();
    p.iter().map(|p| p.and_then(|_| adjusted.next())).collect()
}

/// The mean of a scorer's number (`value`, or a numeric or boolean entry of its details), run B compared with run A.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedMean {
    /// Samples that have it in both runs, with equal weight, however many answers they have.
    pub n: u64,
    /// The mean in A, over these samples.
    pub mean_a: Option<f64>,
    /// The mean in B, over these samples.
    pub mean_b: Option<f64>,
    /// The mean in B minus that in A.
    pub difference: Option<f64>,
    /// Its 95 % confidence interval; `None` if too few samples differ.
    pub difference_ci95: Option<[f64; 2]>,
    /// Whether it is a share: each answer has 0 or 1.
    pub is_share: bool,
}

/// An amount that run B took, such as tokens, as a multiple of what run A took.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedRatio {
    /// Samples that have it in both runs, with equal weight, however many answers they have.
    pub n: u64,
    /// The ratio of the geometric means of B and A; of 1 more than each amount where 0 is one.
    pub ratio: Option<f64>,
    /// Its 95 % confidence interval; `None` if too few samples differ.
    pub ratio_ci95: Option<[f64; 2]>,
}

impl PairedRatio {
    /// From logarithms.
    fn of(logs: &PairedMean) -> Self {
        Self {
            n: logs.n,
            ratio: logs.difference.map(f64::exp),
            ratio_ci95: logs.difference_ci95.map(|ends| ends.map(f64::exp)),
        }
    }
}

/// Builds a [`PairedMean`] from samples.
#[derive(Clone, Debug)]
struct PairedMeanTally {
    means: [stats::Sum; 2],
    differences: RunningMean,
    /// `Some` as long as all numbers are 0 or 1.
    shares: Option<CountedSamples>,
    groups: Option<MeanGroups>,
}

/// The samples by group, if they have groups.
#[derive(Clone, Debug, Default)]
struct MeanGroups {
    names: HashMap<(bool, Box<str>), usize>,
    differences: Vec<Vec<f64>>,
    shares: Vec<Vec<ComparedSample>>,
}

impl PairedMeanTally {
    fn new(is_grouped: bool) -> Self {
        Self {
            means: [stats::Sum::default(); 2],
            differences: RunningMean::default(),
            shares: Some(CountedSamples::default()),
            groups: is_grouped.then(MeanGroups::default),
        }
    }

    /// Adds a sample that has the number in both runs.
    fn add(&mut self, [a, b]: [&SideValue; 2], id: &str, cluster: Option<&str>) {
        let mean = |value: &SideValue| value.sum / f64::from(value.count.max(1));
        let difference = mean(b) - mean(a);
        self.means[0].add(mean(a));
        self.means[1].add(mean(b));
        self.differences.add(difference);
        let sample = ComparedSample {
            before: counts(a),
            now: counts(b),
        };
        if !(a.is_binary && b.is_binary) {
            self.shares = None;
        }
        if let Some(shares) = &mut self.shares {
            shares.add(sample, 1);
        }
        if let Some(groups) = &mut self.groups {
            let name = cluster.map_or((false, id), |name| (true, name));
            let next = groups.names.len();
            let name = (name.0, name.1.into());
            let place = *groups.names.entry(name).or_insert(next);
            if place == next {
                groups.differences.push(Vec::new());
                groups.shares.push(Vec::new());
            }
            groups.differences[place].push(difference);
            groups.shares[place].push(sample);
        }
    }

    fn finish(&self) -> PairedMean {
        let share = self.shares.as_ref().and_then(|counted| match &self.groups {
            None => stats::paired_difference(counted),
            Some(groups) => stats::grouped_difference(&groups.shares),
        });
        let of_share = share.map(|Difference { ci95, .. }| ci95);
        let of_mean = || match &self.groups {
            None => self.differences.ci95(),
            Some(groups) => grouped_mean95(&groups.differences),
        };
        PairedMean {
            n: self.means[0].count(),
            mean_a: self.means[0].mean(),
            mean_b: self.means[1].mean(),
            difference: self.differences.mean(),
            difference_ci95: of_share.or_else(of_mean),
            is_share: self.shares.is_some(),
        }
    }
}

/// Numbers that are 0 or 1 as right answers.
fn counts(value: &SideValue) -> AnswerCounts {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of zeros and ones; another one is not asked for"
    )]
    let right = value.sum as u32;
    AnswerCounts::new(right, value.count)
}

#[cfg(test)]
mod tests;
