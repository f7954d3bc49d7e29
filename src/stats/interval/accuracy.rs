//! An accuracy compared with a threshold: its interval, and the chance that it is below by luck.

use crate::stats::distribution::binomial::upper_tail;
use crate::stats::distribution::normal;
use crate::stats::{AnswerCounts, Clusters, as_f64, ratio};

/// The two-sided confidence interval `[low, high]` of the share of right answers at level `confidence` (above 0, below
/// 1); `None` without answers.
///
/// Entries are independent of each other: a sample with its answers, or a group of samples. With single answers this is
/// Wilson's interval. Otherwise it is Wilson's interval for the effective number of independent answers, with Student's
/// quantile; if all are right or all wrong, each entry counts once. The interval displayed with an accuracy is this one
/// at 0.95.
pub fn accuracy_interval(groups: &[AnswerCounts], confidence: f64) -> Option<[f64; 2]> {
    clusters(groups).interval(confidence)
}

/// The probability that an agent whose accuracy is exactly `threshold` gets a smaller share of right answers, with as
/// many answers as `groups` have: how often a gate without an interval fails an agent that is just good enough. `None`
/// without answers.
///
/// Binomial for single answers; otherwise normal, with the effective number of independent answers.
pub(crate) fn chance_of_less(groups: &[AnswerCounts], threshold: f64) -> Option<f64> {
    let clusters = clusters(groups);
    let answers = clusters.answers();
    if answers == 0 {
        return None;
    }
    if threshold <= 0.0 || threshold >= 1.0 {
        return Some(if threshold > 1.0 { 1.0 } else { 0.0 });
    }
    // The fewest right answers that suffice, compared as gates do.
    let (mut few, mut enough) = (0, answers);
    while few < enough {
        let middle = few + (enough - few) / 2;
        if ratio(middle, answers)? >= threshold {
            enough = middle;
        } else {
            few = middle + 1;
        }
    }
    if clusters.is_single() {
        return Some(1.0 - upper_tail(enough, answers, threshold));
    }
    let error = (threshold * (1.0 - threshold) / clusters.effective()?).sqrt();
    let end = (as_f64(enough) - 0.5) / as_f64(answers);
    Some(normal::below((end - threshold) / error))
}

fn clusters(groups: &[AnswerCounts]) -> Clusters {
    let mut clusters = Clusters::default();
    for AnswerCounts { right, of } in groups {
        clusters.add(u64::from(*right.min(of)), u64::from(*of));
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::simulated::draw;
    use crate::stats::{SplitMix64, wilson95};

    fn single(right: u32, of: u32) -> Vec<AnswerCounts> {
        (0..of)
            .map(|i| AnswerCounts::new(u32::from(i < right), 1))
            .collect()
    }

    #[test]
    fn of_single_answers_it_is_wilson() {
        for (right, of) in [(0, 5), (3, 7), (40, 40), (99, 165)] {
            let [low, high] = accuracy_interval(&single(right, of), 0.95).unwrap();
            let [l, h] = wilson95(u64::from(right), u64::from(of)).unwrap();
            assert!((low - l).abs() < 1e-9 && (high - h).abs() < 1e-9);
        }
        // statsmodels.stats.proportion.proportion_confint(99, 165, 0.10, "wilson")
        let [low, high] = accuracy_interval(&single(99, 165), 0.9).unwrap();
        assert!(
            (low - 0.536_141_6).abs() < 1e-6 && (high - 0.660_631_8).abs() < 1e-6,
            "{low} {high}"
        );
        assert_eq!(accuracy_interval(&[], 0.95), None);
    }

    #[test]
    fn holds_the_truth() {
        const RUNS: u32 = 1_000;
        let mut random = SplitMix64(6);
        // Samples with individual rates and five answers each; groups with correlated answers.
        for (count, of, apart) in [(40, 5, 0.3), (165, 5, 0.3), (8, 8, 0.62), (40, 8, 0.62)] {
            let held = (0..RUNS).filter(|_| {
                let groups: Vec<_> = (0..count)
                    .map(|_| {
                        let up = random.share() < 0.62;
                        let rate = 0.62 + apart * if up { 0.38 } else { -0.62 };
                        draw(of, rate, &mut random)
                    })
                    .collect();
                let [low, high] = accuracy_interval(&groups, 0.95).unwrap();
                low <= 0.62 && 0.62 <= high
            });
            let held = f64::from(u32::try_from(held.count()).unwrap()) / f64::from(RUNS);
            assert!(held >= 0.93, "{count} of {of}: {held}");
        }
    }

    #[test]
    fn displayed_interval_decides() {
        let groups: Vec<_> = [(2, 23), (1, 13), (0, 4)]
            .into_iter()
            .flat_map(|(right, count)| vec![AnswerCounts::new(right, 2); count])
            .collect();
        let displayed = clusters(&groups).interval95();
        assert_eq!(displayed, accuracy_interval(&groups, 0.95));
        assert!(
            (displayed.unwrap()[1] - 0.8301).abs() < 5e-5,
            "{displayed:?}"
        );
    }

    #[test]
    fn one_group_says_nothing() {
        assert_eq!(
            accuracy_interval(&[AnswerCounts::new(4, 8)], 0.95),
            Some([0.0, 1.0])
        );
        let [low, high] = accuracy_interval(&single(1, 1), 0.95).unwrap();
        assert!(low < 0.3 && high > 0.99);
    }

    #[test]
    fn chance_puts_a_just_good_agent_below() {
        #[track_caller]
        fn check(groups: &[AnswerCounts], threshold: f64, expect: f64) {
            let got = chance_of_less(groups, threshold).unwrap();
            assert!((got - expect).abs() < 1e-6, "{got}, not {expect}");
        }
        // scipy.stats.binom.cdf(98, 165, 0.6), (24, 40, 0.62), (30, 50, 0.62)
        check(&single(3, 165), 0.6, 0.466_253_4);
        check(&single(3, 40), 0.62, 0.455_983_7);
        check(&single(50, 50), 0.62, 0.437_649_0);
        check(&single(50, 50), 1.0, 0.0);
        check(&single(50, 50), 0.0, 0.0);
        assert_eq!(chance_of_less(&[], 0.6), None);
        // Ten fully correlated groups are about ten answers: the chance is slightly below one half.
        let groups: Vec<_> = (0..10)
            .map(|i| AnswerCounts::new(8 * u32::from(i < 6), 8))
            .collect();
        let chance = chance_of_less(&groups, 0.6).unwrap();
        assert!(chance > 0.4 && chance < 0.5, "{chance}");
    }
}
