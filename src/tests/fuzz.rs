//! What property tests share: random texts, the same in every run, and answers of a megabyte.

use std::fmt::Display;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value};

/// How many cases a property test tries: `EVALTEST_FUZZ_CASES`, else 5,000 when optimised and 1,000 when not.
pub(crate) fn cases() -> usize {
    let requested = std::env::var("EVALTEST_FUZZ_CASES").ok();
    let usual = if cfg!(debug_assertions) { 1_000 } else { 5_000 };
    requested.map_or(usual, |cases| cases.parse().expect("a number of cases"))
}

/// Runs a property on random numbers, as often as [`cases`] says.
pub(crate) fn fuzz(mut property: impl FnMut(&mut Dice)) {
    let mut dice = Dice::new(0x9e37_79b9_7f4a_7c15);
    for _ in 0..cases() {
        property(&mut dice);
    }
}

/// What stands for a megabyte: one when optimised, a sixty-fourth of it when not.
pub(crate) const MEGABYTE: usize = if cfg!(debug_assertions) {
    1 << 14
} else {
    1 << 20
};

/// The piece again and again, about [`MEGABYTE`] bytes.
pub(crate) fn megabyte(piece: &str) -> String {
    piece.repeat(MEGABYTE / piece.len())
}

/// Does what takes milliseconds when its time is linear in a [`megabyte`], and minutes when it is quadratic
/// (seconds when unoptimised). What else the machine does does not count.
pub(crate) fn in_time<T>(what: impl Display, work: impl FnOnce() -> T) -> T {
    let limit = Duration::from_secs(if cfg!(debug_assertions) { 2 } else { 10 });
    let start = cpu();
    let result = work();
    let took = cpu().saturating_sub(start);
    assert!(took < limit, "{what} took {took:?}");
    result
}

/// What this thread has computed so far.
pub(crate) fn cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("a time")
}

/// Random numbers: Xorshift, which is small and good enough to mix pieces.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1 << 40)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    pub(crate) fn pick<'a>(&mut self, pieces: &[&'a str]) -> &'a str {
        pieces[self.below(pieces.len())]
    }

    /// Up to `most` of the pieces, one after the other.
    pub(crate) fn text(&mut self, pieces: &[&str], most: usize) -> String {
        let count = self.below(most + 1);
        (0..count).map(|_| self.pick(pieces)).collect()
    }

    /// A text of the pieces, and of any characters at all now and then.
    pub(crate) fn wild(&mut self, pieces: &[&str]) -> String {
        let mut text = String::new();
        for _ in 0..self.below(7) {
            if self.below(6) > 0 {
                text += self.pick(pieces);
            } else if self.below(2) > 0 {
                text.push(char::from(u8::try_from(self.below(128)).expect("ASCII")));
            } else {
                let code = u32::try_from(self.below(0x11_0000)).expect("a code point");
                text.extend(char::from_u32(code));
            }
        }
        text
    }

    /// Any JSON of a few levels.
    pub(crate) fn json(&mut self, pieces: &[&str], depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) > 0),
            2 => (self.below(4)).into(),
            3 => [0.5, 1.0, -2.0, 1e300, 2.5, 1.01][self.below(6)].into(),
            4 => self.wild(pieces).into(),
            5 | 6 => (0..self.below(5))
                .map(|_| self.json(pieces, depth - 1))
                .collect::<Vec<_>>()
                .into(),
            _ => (0..self.below(4))
                .map(|_| {
                    (
                        self.pick(&["a", "b", "id", ""]).to_owned(),
                        self.json(pieces, depth - 1),
                    )
                })
                .collect::<Map<_, _>>()
                .into(),
        }
    }
}
