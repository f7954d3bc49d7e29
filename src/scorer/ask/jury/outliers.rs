//! Which totals are far from the others.

/// Scales the median absolute deviation to the standard deviation of a normal distribution.
const SCALE: f64 = 1.4826;
/// The minimum distance of an outlier, in scaled deviations.
const FARTHEST: f64 = 3.5;
/// The minimum distance of an outlier, in points.
const LEAST_POINTS: f64 = 1.5;

/// Whether each total is an outlier: further than 3.5 scaled median absolute deviations from the median, and at least
/// 1.5 points. Source: B. Iglewicz and D. Hoaglin, *How to detect and handle outliers* (1993).
pub(super) fn outliers(totals: &[f64]) -> Vec<bool> {
    let Some(middle) = median(totals) else {
        return Vec::new();
    };
    let away = totals.iter().map(|total| rounded((total - middle).abs()));
    let away: Vec<f64> = away.collect();
    let usual = median(&away).unwrap_or_default();
    let is_far = |away: &f64| *away > FARTHEST * SCALE * usual && *away >= LEAST_POINTS;
    away.iter().map(is_far).collect()
}

/// The highest minus the lowest; 0 if there are none.
pub(super) fn spread(totals: impl Iterator<Item = f64> + Clone) -> f64 {
    let low = totals.clone().fold(f64::INFINITY, f64::min);
    let high = totals.fold(f64::NEG_INFINITY, f64::max);
    if low > high { 0.0 } else { rounded(high - low) }
}

/// The middle value, or the mean of the two in the middle.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some(f64::midpoint(sorted[low], sorted[high]))
}

/// Rounds floating-point error away, like totals.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e12).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(totals: &[f64], expect: &[f64]) {
        let found = totals.iter().zip(outliers(totals));
        let found: Vec<f64> = found.filter(|it| it.1).map(|it| *it.0).collect();
        assert_eq!(found, expect, "{totals:?}");
    }

    #[test]
    fn it_is_far_by_both_measures() {
        check(&[], &[]);
        check(&[4.0], &[]);
        check(&[1.0, 5.0], &[]);
        // The others agree: everything 1.5 points away is an outlier.
        check(&[4.0, 4.0, 2.5], &[2.5]);
        check(&[4.0, 4.0, 2.6], &[]);
        check(&[3.6, 3.6, 2.1], &[2.1]);
        // The deviation is 0.25: 1.297 would be enough, but 1.25 points are not.
        check(&[4.0, 4.25, 4.0, 3.75, 2.5], &[2.5]);
        check(&[4.0, 4.25, 4.0, 3.75, 2.75], &[]);
        // Widely spread totals have no outliers.
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], &[]);
        // 5.189 deviations of 0.5 are 2.59.
        check(&[3.0, 3.5, 3.5, 4.0, 0.9], &[0.9]);
        check(&[3.0, 3.5, 3.5, 4.0, 1.0], &[]);
    }

    #[test]
    fn the_middle_and_the_ends() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0]), Some(2.0));
        assert_eq!(median(&[3.0, 1.0, 5.0]), Some(3.0));
        assert!(spread([].into_iter()).abs() < f64::EPSILON);
        assert!((spread([3.6, 2.1].into_iter()) - 1.5).abs() < f64::EPSILON);
    }
}
