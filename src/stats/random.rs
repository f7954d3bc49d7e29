//! `SplitMix64`: random numbers that are the same for a seed on every platform and in every version.

/// Source: G. Steele, D. Lea, C. Flood, *Fast splittable pseudorandom number generators*, OOPSLA (2014). The seed is
/// the first state.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform from 0 up to, but not including, `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * (bound as u128);
        // The upper half of a product with `bound` is less than `bound`, so it fits.
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Uniform from 0 up to, but not including, 1.
    pub(crate) fn share(&mut self) -> f64 {
        let high = u32::try_from(self.next() >> 32).unwrap_or(u32::MAX);
        f64::from(high) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut random = SplitMix64(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
