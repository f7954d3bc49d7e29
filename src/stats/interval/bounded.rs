//! `BoundedMean`: the uncertainty of a mean of labels on a bounded scale.

use crate::stats::{Z95, as_f64, wilson};

/// A mean of labels on a scale, with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoundedMean {
    /// The mean, within the scale.
    pub(crate) mean: f64,
    /// Its standard error, for use with the normal quantile.
    error: f64,
    /// Number of independent labels: labelled items, or groups of them.
    labels: u64,
    /// The lowest and highest possible label, if known.
    scale: Option<[f64; 2]>,
    /// Whether all labels are at the ends of the scale, so that the mean is a share.
    is_share: bool,
}

impl BoundedMean {
    /// From a mean with a 95 % confidence interval that ignores the scale.
    pub(crate) fn of(
        (mean, ci95): (f64, [f64; 2]),
        labels: u64,
        scale: Option<[f64; 2]>,
        is_share: bool,
    ) -> Self {
        let scale = scale.filter(|[low, high]| low < high);
        Self {
            mean: scale.map_or(mean, |[low, high]| mean.clamp(low, high)),
            error: (ci95[1] - ci95[0]).max(0.0) / 2.0 / Z95,
            labels,
            scale,
            is_share,
        }
    }

    /// Its 95 % confidence interval.
    pub(crate) fn ci95(&self) -> Option<[f64; 2]> {
        self.interval(1.0)
    }

    /// The interval that is `wider` times as wide as that of 95 %; `None` if nothing varies and the scale is unknown.
    ///
    /// It never leaves the scale and is never a point: if all labels agree with the judge, or are equal, the next one
    /// may still differ. What does not occur among n labels may have a share of up to z² / (n + z²), the bound of
    /// Wilson's interval at its end, and then be off by the whole scale. For a share it is Wilson's interval with the
    /// effective number of answers, at least the number of labels.
    pub(crate) fn interval(&self, wider: f64) -> Option<[f64; 2]> {
        let z = Z95 * wider;
        let Some([low, high]) = self.scale else {
            let half = z * self.error;
            return (half > 0.0).then_some([self.mean - half, self.mean + half]);
        };
        let (width, n) = (high - low, as_f64(self.labels));
        let unseen = width * unseen(n, z);
        let [from, to] = if self.is_share {
            let share = (self.mean - low) / width;
            let variance = (self.error / width).powi(2);
            let of = if variance > 0.0 {
                (share * (1.0 - share) / variance).max(n)
            } else {
                n
            };
            wilson(share, of, z).map(|end| low + width * end)
        } else {
            let half = z * self.error;
            [self.mean - half, self.mean + half]
        };
        Some([
            from.min(self.mean - unseen).max(low),
            to.max(self.mean + unseen).min(high),
        ])
    }
}

/// The largest plausible share of a kind that does not occur among n: Wilson's bound at its end.
pub(in crate::stats) fn unseen(n: f64, z: f64) -> f64 {
    z * z / (n + z * z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{SplitMix64, powered_mean_of_groups, wilson95};

    #[track_caller]
    fn check(mean: BoundedMean, expect: [f64; 2]) {
        let found = mean.ci95().unwrap();
        let off = [found[0] - expect[0], found[1] - expect[1]];
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn nothing_is_certain_and_nothing_lies_off_the_scale() {
        let of = |mean: f64, half: f64, scale, is_share| {
            BoundedMean::of((mean, [mean - half, mean + half]), 12, scale, is_share)
        };
        // Twelve of twelve.
        check(
            of(1.0, 0.0, Some([0.0, 1.0]), true),
            wilson95(12, 12).unwrap(),
        );
        let unseen = 4.0 * (1.0 - wilson95(12, 12).unwrap()[0]);
        check(
            of(4.0, 0.0, Some([1.0, 5.0]), false),
            [4.0 - unseen, 4.0 + unseen].map(|it| it.min(5.0)),
        );
        check(of(3.0, 1.5, Some([1.0, 5.0]), false), [1.5, 4.5]);
        check(of(4.5, 1.5, Some([1.0, 5.0]), false), [3.0, 5.0]);
        check(of(5.5, 1.5, Some([1.0, 5.0]), false), [3.5, 5.0]);
        check(of(2.0, 0.5, None, false), [1.5, 2.5]);
        assert_eq!(of(2.0, 0.0, None, false).ci95(), None);
        // As certain as 48 answers, of which 12 have a label; the bound for unseen labels is further up.
        let half = Z95 * (0.25_f64 * 0.75 / 48.0).sqrt();
        let share = of(0.75, half, Some([0.0, 1.0]), true);
        let unseen = 1.0 - wilson95(12, 12).unwrap()[0];
        check(share, [0.75 - unseen, 0.75 + unseen]);
        let few = BoundedMean {
            labels: 1_000,
            ..share
        };
        check(few, wilson95(750, 1_000).unwrap());
        let [low, high] = share.interval(1.3).unwrap();
        assert!(low < 0.75 - unseen && high > 0.75 + unseen);
    }

    /// Coverage of the interval over 400 draws of labels of 600 answers.
    fn coverage(
        labels: usize,
        mut item: impl FnMut(&mut SplitMix64) -> (f64, f64),
        truth: f64,
        (scale, is_share): ([f64; 2], bool),
    ) -> f64 {
        let mut random = SplitMix64(5);
        let names: Vec<String> = (0..600).map(|at| at.to_string()).collect();
        let mut covered = 0.0;
        for _ in 0..400 {
            let items: Vec<_> = names
                .iter()
                .map(|name| (item(&mut random), &**name))
                .collect();
            let (few, rest) = items.split_at(labels);
            let few: Vec<_> = few
                .iter()
                .map(|((judge, label), name)| (*judge, *label, *name))
                .collect();
            let rest: Vec<_> = rest
                .iter()
                .map(|((judge, _), name)| (*judge, *name))
                .collect();
            let found = powered_mean_of_groups(&few, &rest);
            let found = (found.mean.unwrap(), found.ci95.unwrap());
            let found = BoundedMean::of(found, labels as u64, Some(scale), is_share);
            let [low, high] = found.ci95().unwrap();
            covered += if (low..=high).contains(&truth) {
                1.0
            } else {
                0.0
            };
        }
        covered / 400.0
    }

    fn chance(random: &mut SplitMix64, percent: usize) -> bool {
        random.below(100) < percent
    }

    #[test]
    fn interval_coverage_is_nominal() {
        let yes = |is: bool| if is { 1.0 } else { 0.0 };
        for (labels, right, errs) in [(12, 96, 0), (50, 96, 5), (100, 98, 0), (100, 90, 30)] {
            let draw = |random: &mut SplitMix64| {
                let label = chance(random, right);
                (yes(label != chance(random, errs)), yes(label))
            };
            let truth = as_f64(right as u64) / 100.0;
            let share = coverage(labels, draw, truth, ([0.0, 1.0], true));
            assert!(
                share >= 0.92,
                "{labels} labels, {right} %, {errs} %: {share}"
            );
        }
        // 4.9 of 5 points, which the judge gives for nine of ten answers; otherwise any points.
        let draw = |random: &mut SplitMix64| {
            let label = if chance(random, 10) { 4.0 } else { 5.0 };
            let judge = if chance(random, 10) {
                as_f64(1 + random.below(5) as u64)
            } else {
                label
            };
            (judge, label)
        };
        let share = coverage(50, draw, 4.9, ([1.0, 5.0], false));
        assert!(share >= 0.92, "{share}");
    }
}
