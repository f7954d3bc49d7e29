//! `Price`: the price of tokens.

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Cached input tokens, if the endpoint reports them; otherwise they cost as `input`.
    pub cached_input: Option<f64>,
}

impl Price {
    /// US dollars for these tokens, of which `cached` are included in `input`.
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
