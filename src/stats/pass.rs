//! `pass_at`, `pass_hat`: success probabilities of `k` answers, estimated from `n`.

use super::as_f64;

/// The probability that at least one of `k` answers is correct, estimated without bias from `n` answers of
/// which `c` were correct: `1 - C(n-c, k) / C(n, k)`. `None` when `k` is 0 or above `n`.
///
/// Source: M. Chen et al., *Evaluating large language models trained on code* (2021), arXiv:2107.03374. The
/// naive `1 - (1 - c/n)^k` is too low.
pub(crate) fn pass_at(n: u64, c: u64, k: u64) -> Option<f64> {
    all_among(n, n.checked_sub(c)?, k).map(|none| 1.0 - none)
}

/// The probability that all of `k` answers are correct, estimated without bias from `n` answers of which `c`
/// were correct: `C(c, k) / C(n, k)`. `None` when `k` is 0 or above `n`.
///
/// Source: S. Yao et al., *tau-bench* (2024), arXiv:2406.12045, where it is called pass^k.
pub(crate) fn pass_hat(n: u64, c: u64, k: u64) -> Option<f64> {
    all_among(n, c, k)
}

/// `C(part, k) / C(n, k)`, factor by factor: the binomials themselves would overflow.
fn all_among(n: u64, part: u64, k: u64) -> Option<f64> {
    if k == 0 || k > n || part > n {
        return None;
    }
    if part < k {
        return Some(0.0);
    }
    if part == n {
        return Some(1.0);
    }
    let factor = |taken: u64| as_f64(part - taken) / as_f64(n - taken);
    Some((0..k).map(factor).product())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn give_the_shares_of_all_ways_to_draw() {
        // Counted over every way to draw k of n answers.
        for n in 1..=8_u64 {
            for c in 0..=n {
                for k in 1..=n {
                    let draws = (0..1_u64 << n).filter(|set| u64::from(set.count_ones()) == k);
                    let correct = (1_u64 << c) - 1;
                    let (mut all, mut any, mut every) = (0, 0, 0);
                    for set in draws {
                        all += 1;
                        any += u64::from(set & correct != 0);
                        every += u64::from(set & !correct == 0);
                    }
                    let close = |one: Option<f64>, part: u64| {
                        (one.unwrap() - as_f64(part) / as_f64(all)).abs() < 1e-12
                    };
                    assert!(close(pass_at(n, c, k), any), "pass@{k} of {c} of {n}");
                    assert!(close(pass_hat(n, c, k), every), "pass^{k} of {c} of {n}");
                }
            }
        }
    }

    #[test]
    fn are_exact_at_the_ends_and_nothing_where_there_is_no_answer() {
        assert_eq!(pass_at(5, 5, 3), Some(1.0));
        assert_eq!(pass_at(5, 0, 3), Some(0.0));
        assert_eq!(pass_at(5, 3, 3), Some(1.0 - 0.0));
        assert_eq!(pass_hat(5, 2, 3), Some(0.0));
        assert_eq!(pass_hat(3, 2, 1), Some(2.0 / 3.0));
        for (n, c, k) in [(2, 1, 3), (0, 0, 1), (3, 1, 0), (3, 4, 1)] {
            assert_eq!((pass_at(n, c, k), pass_hat(n, c, k)), (None, None));
        }
        // The example of the paper's own code, `estimator(200, 20, 10)`.
        assert!((pass_at(200, 20, 10).unwrap() - 0.660_2).abs() < 1e-3);
    }
}
