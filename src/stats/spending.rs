//! How interim analyses of a growing part of the samples share one alpha: K. K. G. Lan and D. L. `DeMets`, *Discrete
//! sequential boundaries for clinical trials*, Biometrika 70 (1983), with their spending function like O'Brien and
//! Fleming's.
//!
//! Each analysis is red below its own part, and the parts sum to alpha: an unchanged agent is red at any of them at
//! most that often, however the analyses are correlated.

use super::distribution::normal;

/// The alpha of each analysis, for these growing shares of the samples; the last takes the rest.
pub(crate) fn spending(alpha: f64, shares: &[f64]) -> Vec<f64> {
    let mut spent = 0.0;
    let last = shares.len().saturating_sub(1);
    let parts = shares.iter().enumerate().map(|(analysis, share)| {
        let by_now = if analysis == last {
            alpha
        } else {
            spent_by(alpha, *share)
        };
        let part = (by_now - spent).max(0.0);
        spent += part;
        part
    });
    parts.collect()
}

/// The alpha spent by this share of the samples: very little early, when little is known.
fn spent_by(alpha: f64, share: f64) -> f64 {
    if share <= 0.0 {
        return 0.0;
    }
    let far = normal::percentile(1.0 - alpha / 2.0) / share.min(1.0).sqrt();
    (2.0 * normal::below(-far)).min(alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_alpha_together_and_the_last_has_most() {
        let parts = spending(0.05, &[0.125, 0.5, 1.0]);
        let sum: f64 = parts.iter().sum();
        assert!((sum - 0.05).abs() < 1e-12, "{parts:?}");
        assert!(parts[0] < 1e-6, "{parts:?}");
        // 2 (1 - Phi(1.96 / sqrt(1/2))) = 0.00557.
        assert!((parts[1] - 0.005_57).abs() < 1e-4, "{parts:?}");
        assert_eq!(spending(0.05, &[1.0]), [0.05]);
        assert!(spending(0.05, &[]).is_empty());
    }
}
