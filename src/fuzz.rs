//! Random texts for property tests, the same in every run.

/// How many cases a property test tries; `EVALTEST_FUZZ_CASES` asks for more.
pub(crate) fn cases() -> usize {
    let cases = std::env::var("EVALTEST_FUZZ_CASES").ok();
    cases.map_or(5_000, |cases| cases.parse().expect("a number of cases"))
}

/// Xorshift: small, and good enough to mix parts.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1 << 40)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    /// Up to `most` of the parts, one after the other.
    pub(crate) fn text(&mut self, parts: &[&str], most: usize) -> String {
        let count = self.below(most + 1);
        (0..count).map(|_| parts[self.below(parts.len())]).collect()
    }
}
