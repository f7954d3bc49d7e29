//! Spearman's rank correlation.

/// Spearman's rank correlation of two quantities, -1 to 1; equal values share their mean rank.
///
/// Source: C. Spearman, *The proof and measurement of association between two things*, American Journal of Psychology
/// 15 (1904); with ties it is Pearson's correlation of the ranks. `None` for fewer than two pairs, if one quantity does
/// not vary, and if a value is NaN.
pub(crate) fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let one = doubled_ranks(pairs.iter().map(|pair| pair.0).collect())?;
    let other = doubled_ranks(pairs.iter().map(|pair| pair.1).collect())?;
    // Twice the mean of the ranks 1 to n. Integers throughout, so that a perfect order gives exactly 1.
    let middle = i128::try_from(pairs.len()).ok()? + 1;
    let sum = |one: &[i128], other: &[i128]| -> i128 {
        let both = one.iter().zip(other);
        both.map(|(one, other)| (one - middle) * (other - middle))
            .sum()
    };
    let (spread, other_spread) = (sum(&one, &one), sum(&other, &other));
    if spread == 0 || other_spread == 0 {
        return None;
    }
    let both = (float(spread) * float(other_spread)).sqrt();
    Some((float(sum(&one, &other)) / both).clamp(-1.0, 1.0))
}

/// Twice the rank of each value, an integer even for shared ranks.
fn doubled_ranks(values: Vec<f64>) -> Option<Vec<i128>> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    // Turns -0 into 0.
    let values = values.into_iter().map(|value| value + 0.0);
    let mut sorted: Vec<_> = values.enumerate().collect();
    sorted.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let mut ranks = vec![0; sorted.len()];
    let mut before = 0;
    for equal in sorted.chunk_by(|(_, one), (_, other)| one.total_cmp(other).is_eq()) {
        let after = before + i128::try_from(equal.len()).ok()?;
        for (place, _) in equal {
            ranks[*place] = before + 1 + after;
        }
        before = after;
    }
    Some(ranks)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a sum over pairs: what is rounded is far below what anyone reads"
)]
fn float(sum: i128) -> f64 {
    sum as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_those_of_scipy() {
        fn check(pairs: &[(f64, f64)], expect: Option<f64>) {
            match (spearman(pairs), expect) {
                (Some(found), Some(expect)) => assert!((found - expect).abs() < 1e-12, "{found}"),
                (found, expect) => assert_eq!(found, expect, "{pairs:?}"),
            }
        }
        check(&[(1.0, 10.0), (2.0, 1e9), (3.0, 1e10)], Some(1.0));
        check(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], Some(-1.0));
        // scipy.stats.spearmanr([1, 2, 2, 3, 5], [2, 1, 4, 4, 3])
        let tied = [(1.0, 2.0), (2.0, 1.0), (2.0, 4.0), (3.0, 4.0), (5.0, 3.0)];
        check(&tied, Some(0.394_736_842_105_263_2));
        check(&[(0.0, 1.0), (-0.0, 2.0)], None);
        check(&[(1.0, 1.0), (1.0, 2.0)], None);
        check(&[(1.0, 1.0), (2.0, 1.0)], None);
        check(&[(1.0, 1.0)], None);
        check(&[], None);
        check(&[(f64::NAN, 1.0), (2.0, 3.0)], None);
        check(&[(f64::NEG_INFINITY, 1.0), (2.0, 3.0)], Some(1.0));
    }
}
