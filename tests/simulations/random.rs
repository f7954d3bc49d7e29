//! What simulations of gates have in common: random numbers, and all processors.

use std::sync::atomic::{AtomicUsize, Ordering};

/// `SplitMix64` (G. Steele, D. Lea, C. Flood, 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform from 0 to 1.
    pub(crate) fn share(&mut self) -> f64 {
        let high = u32::try_from(self.next() >> 32).unwrap_or(u32::MAX);
        f64::from(high) / (f64::from(u32::MAX) + 1.0)
    }
}

/// Checks each of these on the next free processor, with random numbers of its own.
pub(crate) fn on_all<T: Copy + Sync>(cases: &[T], check: impl Fn(T, &mut Random) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(place) else {
                        break;
                    };
                    check(*case, &mut Random(place as u64 + 1));
                }
            });
        }
    });
}
