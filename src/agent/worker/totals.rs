//! Usage that a program counts from its start: the cost of an answer is the difference.

use crate::data::Usage;

/// The last reported totals of a process.
#[derive(Default)]
pub(super) struct Totals(Usage);

impl Totals {
    /// The usage since the last totals. A total below the last one was reset.
    pub(super) fn difference(&mut self, now: Usage) -> Usage {
        let before = self.0;
        let tokens = |now: Option<u64>, before: Option<u64>| {
            now.map(|now| now.checked_sub(before.unwrap_or(0)).unwrap_or(now))
        };
        let cost_usd = now.cost_usd.map(|cost| {
            let more = cost - before.cost_usd.unwrap_or(0.0);
            if more < 0.0 { cost } else { more }
        });
        self.0 = Usage {
            input_tokens: now.input_tokens.or(before.input_tokens),
            output_tokens: now.output_tokens.or(before.output_tokens),
            cost_usd: now.cost_usd.or(before.cost_usd),
        };
        Usage {
            input_tokens: tokens(now.input_tokens, before.input_tokens),
            output_tokens: tokens(now.output_tokens, before.output_tokens),
            cost_usd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: Option<u64>, cost: f64) -> Usage {
        Usage {
            input_tokens: Some(input),
            output_tokens: output,
            cost_usd: Some(cost),
        }
    }

    #[test]
    fn totals_are_differenced() {
        let mut totals = Totals::default();
        for (now, expect) in [
            (usage(10, Some(2), 0.5), usage(10, Some(2), 0.5)),
            (usage(15, None, 0.75), usage(5, None, 0.25)),
            (usage(15, Some(5), 0.75), usage(0, Some(3), 0.0)),
            // Reset.
            (usage(4, Some(5), 0.25), usage(4, Some(0), 0.25)),
        ] {
            assert_eq!(totals.difference(now), expect);
        }
    }
}
