//! The limits of one part of a run when other parts run elsewhere, without communication.

use super::{Budget, Limits};
use crate::stats::as_f64;

impl Limits {
    /// The limits of one of `parts` parts, which has `own` of `all` samples: budgets by the share of samples, rates by
    /// the number of parts. Together they stay within the whole.
    pub(crate) fn of_part(&self, parts: u32, own: usize, all: usize) -> Self {
        let budget = &self.budget;
        let count = |count: u64| {
            let part = u128::from(count) * own as u128 / all.max(1) as u128;
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        let share = as_f64(own as u64) / as_f64(all.max(1) as u64);
        let rate = |rate: f64| rate / f64::from(parts.max(1));
        Self {
            budget: Budget {
                cost_usd: budget.cost_usd.map(|usd| usd * share),
                tokens: budget.tokens.map(count),
                requests: budget.requests.map(count),
            },
            requests_per_minute: self.requests_per_minute.map(rate),
            tokens_per_minute: self.tokens_per_minute.map(rate),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_together_take_no_more_than_the_whole() {
        let limits = Limits {
            budget: Budget {
                cost_usd: Some(10.0),
                tokens: Some(u64::MAX),
                requests: Some(100),
            },
            requests_per_minute: Some(60.0),
            tokens_per_minute: Some(1000.0),
            ..Limits::default()
        };
        let sizes = [0, 1, 51, 113];
        let parts = sizes.map(|own| limits.of_part(4, own, 165));
        let of =
            |part: fn(&Limits) -> Option<u64>| parts.iter().filter_map(part).collect::<Vec<_>>();
        assert_eq!(of(|it| it.budget.requests), [0, 0, 30, 68]);
        let tokens: u128 = of(|it| it.budget.tokens).into_iter().map(u128::from).sum();
        assert!(tokens <= u128::from(u64::MAX));
        let usd: f64 = parts.iter().filter_map(|it| it.budget.cost_usd).sum();
        assert!((usd - 10.0).abs() < 1e-9, "{usd}");
        assert!(parts.iter().all(|it| it.requests_per_minute == Some(15.0)));
        assert!(parts.iter().all(|it| it.tokens_per_minute == Some(250.0)));
        // Unset limits stay unset, and the others are unchanged.
        assert_eq!(Limits::default().of_part(4, 1, 9), Limits::default());
        // The one part that is the whole.
        assert_eq!(limits.of_part(1, 165, 165), limits);
    }
}
