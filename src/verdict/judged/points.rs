//! `PointsAgreement`: how far a judge's points are from those of people.

use std::collections::HashMap;

use serde::Serialize;

use crate::stats::{DRAWS, Sum, as_f64, bootstrap95};

/// A judge's points compared with the mean of the points by people.
///
/// Two people who give 4 and 5 count as 4.5, and a judge that gives 4 is half a point off: no majority is needed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PointsAgreement {
    /// Answers with points by both.
    pub n: u64,
    /// Cohen's kappa, weighted by the squared distance on the scale; `null` if neither varies.
    pub kappa_quadratic: Option<f64>,
    /// Its 95 % confidence interval, by the bootstrap over answers; `null` if it has no width.
    pub kappa_ci95: Option<[f64; 2]>,
    /// The mean distance between the two, in points.
    pub distance: Option<f64>,
    /// Its 95 % confidence interval.
    pub distance_ci95: Option<[f64; 2]>,
}

impl PointsAgreement {
    /// From answers as `(points by people, points by the judge)`.
    pub(crate) fn of(answers: &[(f64, f64)]) -> Self {
        let mut places = HashMap::new();
        let mut different = Vec::new();
        let kinds = answers.iter().map(|(people, judge)| {
            let kind = (people.to_bits(), judge.to_bits());
            *places.entry(kind).or_insert_with(|| {
                different.push((*people, *judge));
                different.len() - 1
            })
        });
        let kinds: Vec<usize> = kinds.collect();
        let mut counts = vec![0; different.len()];
        for kind in &kinds {
            counts[*kind] += 1;
        }
        let [kappa_quadratic, distance] = figures(&different, &counts);
        let [kappa_ci95, distance_ci95] = bootstrap95(&kinds, different.len(), DRAWS, |counts| {
            figures(&different, counts)
        });
        Self {
            n: answers.len() as u64,
            kappa_quadratic,
            kappa_ci95: kappa_ci95.filter(|[low, high]| low < high),
            distance,
            distance_ci95: distance_ci95.filter(|[low, high]| low < high),
        }
    }
}

/// One minus the mean squared distance over that expected by chance, and the mean distance.
fn figures(answers: &[(f64, f64)], counts: &[u64]) -> [Option<f64>; 2] {
    let n = counts.iter().sum::<u64>();
    let mean = |of: &dyn Fn(f64, f64) -> f64| {
        let each = answers.iter().zip(counts);
        let each = each.map(|((people, judge), count)| of(*people, *judge) * as_f64(*count));
        let sum = each.collect::<Sum>().total()?;
        (n > 0).then(|| sum / as_f64(n))
    };
    let squared = mean(&|people, judge| (people - judge).powi(2));
    let centres = mean(&|people, _| people).zip(mean(&|_, judge| judge));
    let by_chance = centres.and_then(|(people, judge)| {
        let spread = mean(&|one, other| (one - people).powi(2) + (other - judge).powi(2));
        Some(spread? + (people - judge).powi(2))
    });
    let kappa = squared
        .zip(by_chance)
        .filter(|(_, by_chance)| *by_chance > 0.0)
        .map(|(squared, by_chance)| 1.0 - squared / by_chance);
    [kappa, mean(&|people, judge| (people - judge).abs())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::LabelClass;
    use crate::verdict::judged::agreement::{JudgeAgreement, LabelledItem};

    #[test]
    fn of_one_person_it_is_the_quadratic_kappa_of_classes() {
        let pair = |at: u32| (1 + at % 5, 1 + (at * at + at / 3) % 5);
        let pairs = (0..60).map(pair);
        let points: Vec<_> = pairs
            .clone()
            .map(|(one, other)| (f64::from(one), f64::from(other)))
            .collect();
        let class = |points: u32| LabelClass::of(&points.into()).unwrap();
        let items: Vec<_> = pairs
            .map(|(one, other)| LabelledItem {
                labels: vec![class(one)],
                judge: Some(class(other)),
            })
            .collect();
        let found = PointsAgreement::of(&points);
        let expect = JudgeAgreement::of(&items).unwrap();
        let (found, expect) = (found.kappa_quadratic, expect.figures.kappa_quadratic);
        assert!((found.unwrap() - expect.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn people_who_differ_by_a_point_leave_the_judge_near_them() {
        let answers: Vec<_> = (0..50)
            .map(|at| (f64::from(at % 4) + 1.5, f64::from(at % 4 + 1 + at % 2)))
            .collect();
        let found = PointsAgreement::of(&answers);
        assert_eq!((found.n, found.distance), (50, Some(0.5)));
        assert!(found.kappa_quadratic.unwrap() > 0.8);
        assert_eq!(found.distance_ci95, None, "it is the same in every draw");
    }

    #[test]
    fn what_does_not_vary_has_no_kappa() {
        assert_eq!(PointsAgreement::of(&[(3.0, 3.0); 9]).kappa_quadratic, None);
        let perfect = PointsAgreement::of(&[(3.0, 3.0), (4.0, 4.0)]);
        assert_eq!(
            (perfect.kappa_quadratic, perfect.kappa_ci95),
            (Some(1.0), None)
        );
        assert_eq!(PointsAgreement::of(&[]).n, 0);
    }
}
