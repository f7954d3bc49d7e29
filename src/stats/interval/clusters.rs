//! `Clusters`: the uncertainty of a share over correlated answers in groups, such as the epochs of a sample.

use crate::stats::distribution::{normal, student};
use crate::stats::{as_f64, ratio, wilson};

/// Running sums over groups of answers. Groups are independent, answers within a group are not.
///
/// Asking one question ten times is not asking ten questions: treating all answers as independent gives a standard
/// error that is too small.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clusters {
    groups: u64,
    answers: u64,
    correct: u64,
    /// Sums over the groups of correct², correct · answers and answers²; exact in integers.
    cc: u128,
    cn: u128,
    nn: u128,
}

impl Clusters {
    /// Adds a group of `n` answers of which `c` are correct; ignored if `n` is 0.
    pub(crate) fn add(&mut self, c: u64, n: u64) {
        self.add_times(c, n, 1);
    }

    /// Adds `times` groups of `n` answers of which `c` are correct.
    pub(crate) fn add_times(&mut self, c: u64, n: u64, times: u64) {
        if n == 0 {
            return;
        }
        self.groups += times;
        self.answers += times * n;
        self.correct += times * c;
        let (c, n, times) = (u128::from(c), u128::from(n), u128::from(times));
        self.cc += times * c * c;
        self.cn += times * c * n;
        self.nn += times * n * n;
    }

    /// The standard error of correct / answers; `None` with fewer than two groups.
    ///
    /// The linearised variance of a ratio: `g/(g-1) · Σ (c_i - p n_i)² / (Σ n_i)²`, which for groups of equal size is
    /// the usual standard error of the mean of group means. Source: W. G. Cochran, *Sampling techniques* (1977), 2.11
    /// and 9A; for evals E. Miller, *Adding error bars to evals* (2024), arXiv:2411.00640.
    pub(crate) fn standard_error(&self) -> Option<f64> {
        if self.groups < 2 {
            return None;
        }
        let (c, n) = (u128::from(self.correct), u128::from(self.answers));
        // Σ (c_i n - c n_i)², in integers if they do not overflow: no cancellation.
        let squares = exact(&[(n, n, self.cc), (c, c, self.nn)], (c, n, self.cn))?;
        let (g, n) = (as_f64(self.groups), as_f64(self.answers));
        Some((squares * g / (g - 1.0)).sqrt() / (n * n))
    }

    /// Whether each group is a single answer.
    pub(in crate::stats) fn is_single(&self) -> bool {
        self.groups == self.answers
    }

    pub(in crate::stats) fn answers(&self) -> u64 {
        self.answers
    }

    /// The share of correct answers; `None` without answers.
    pub(in crate::stats) fn share(&self) -> Option<f64> {
        ratio(self.correct, self.answers)
    }

    /// The 95 % confidence interval `[low, high]` of correct / answers; `None` without answers.
    pub(crate) fn interval95(&self) -> Option<[f64; 2]> {
        self.bounds(0.95)
    }

    /// The two-sided confidence interval `[low, high]` of correct / answers at level `confidence`; `None` without
    /// answers.
    ///
    /// Wilson's interval if each group is a single answer. Otherwise it is Wilson's interval for the effective number
    /// of answers, `p (1-p) / standard error²`, with Student's quantile. This number is at most the real number of
    /// answers; if all answers are correct, or all wrong, each group counts once. Source: E. L. Korn and B. I.
    /// Graubard, *Survey Methodology* 24 (1998), with Wilson's interval as N. Dean and M. Pagano, *Journal of Survey
    /// Statistics and Methodology* 3 (2015), recommend.
    pub(in crate::stats) fn bounds(&self, confidence: f64) -> Option<[f64; 2]> {
        let (share, side) = (self.share()?, f64::midpoint(1.0, confidence));
        if self.is_single() {
            return Some(wilson(
                share,
                as_f64(self.answers),
                normal::percentile(side),
            ));
        }
        let quantile = student::percentile(side, self.groups - 1);
        Some(if quantile.is_finite() {
            wilson(share, self.effective()?, quantile)
        } else {
            [0.0, 1.0]
        })
    }

    /// The effective number of answers; `None` without answers.
    pub(in crate::stats) fn effective(&self) -> Option<f64> {
        let share = self.share()?;
        let groups = as_f64(self.groups);
        let effective = match self.standard_error() {
            _ if self.correct == 0 || self.correct == self.answers => groups,
            None => 1.0,
            Some(error) => share * (1.0 - share) / (error * error),
        };
        // Infinite without any spread.
        Some(effective.clamp(1.0, as_f64(self.answers)))
    }
}

/// `a + b - 2 x`, each a product of three; `None` if integers overflow.
fn exact(plus: &[(u128, u128, u128); 2], minus: (u128, u128, u128)) -> Option<f64> {
    let product = |(a, b, c): (u128, u128, u128)| a.checked_mul(b)?.checked_mul(c);
    let sum = product(plus[0])?.checked_add(product(plus[1])?)?;
    let rest = sum.checked_sub(product(minus)?.checked_mul(2)?)?;
    #[expect(clippy::cast_precision_loss, reason = "rounded once, at the end")]
    Some(rest as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::wilson95;

    fn clusters(groups: &[(u64, u64)]) -> Clusters {
        let mut clusters = Clusters::default();
        for &(c, n) in groups {
            clusters.add(c, n);
        }
        clusters
    }

    #[test]
    fn for_groups_of_one_size_it_is_the_error_of_the_mean_of_means() {
        let groups = [(3, 3), (0, 3), (2, 3), (1, 3), (3, 3)];
        let means: Vec<f64> = groups.iter().map(|&(c, n)| as_f64(c) / as_f64(n)).collect();
        let mean = means.iter().sum::<f64>() / 5.0;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 4.0;
        let expect = (variance / 5.0).sqrt();
        let error = clusters(&groups).standard_error().unwrap();
        assert!((error - expect).abs() < 1e-12, "{error} {expect}");
    }

    #[test]
    fn answers_that_repeat_each_other_count_once() {
        let groups: Vec<_> = (0..100).map(|i| (5 * (i % 2), 5)).collect();
        let [low, high] = clusters(&groups).interval95().unwrap();
        let [one_low, one_high] = wilson95(50, 100).unwrap();
        assert!((low - one_low).abs() < 2e-3 && (high - one_high).abs() < 2e-3);
        // Treated as independent samples, the interval would be less than half as wide.
        let [naive_low, naive_high] = wilson95(250, 500).unwrap();
        assert!(high - low > 2.0 * (naive_high - naive_low));
    }

    #[test]
    fn is_never_surer_than_independent_answers_and_never_collapses() {
        let even = clusters(&[(1, 2), (1, 2), (1, 2)]);
        assert_eq!(even.standard_error(), Some(0.0));
        let wider = |groups: &[(u64, u64)], [one_low, one_high]: [f64; 2]| {
            let [low, high] = clusters(groups).interval95().unwrap();
            assert!(low <= one_low && one_high <= high && (low, high) != (one_low, one_high));
        };
        wider(&[(1, 2), (1, 2), (1, 2)], wilson95(3, 6).unwrap());
        wider(&[(4, 4), (4, 4)], wilson95(2, 2).unwrap());
        wider(&[(0, 4), (0, 4)], wilson95(0, 2).unwrap());
        assert_eq!(clusters(&[(2, 4)]).standard_error(), None);
        let [low, high] = clusters(&[(2, 4)]).interval95().unwrap();
        assert!(low < 0.1 && high > 0.9, "one sample says hardly anything");
        assert_eq!(clusters(&[]).interval95(), None);
        assert_eq!(clusters(&[(0, 0)]).interval95(), None);
    }
}
