//! `Price`: what tokens cost.

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// Tokens that the model reads.
    pub input: f64,
    /// Tokens that it writes.
    pub output: f64,
    /// Tokens that it read before and has kept, where the endpoint tells them apart; else they cost as `input`.
    pub cached_input: Option<f64>,
}

impl Price {
    /// US dollars for so many tokens, of which `cached` are among those of `input`.
    pub(super) fn of(&self, input: u64, cached: u64, output: u64) -> f64 {
        let cached = cached.min(input);
        #[expect(clippy::cast_precision_loss, reason = "nobody uses so many tokens")]
        let count = |tokens: u64| tokens as f64;
        let millionths = count(input - cached) * self.input
            + count(cached) * self.cached_input.unwrap_or(self.input)
            + count(output) * self.output;
        millionths / 1e6
    }
}
