//! `lower_tail`: the probability that a sum of independent integers is at most the observed one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Law;
use crate::stats::as_f64;

/// The most multiplications for a tail: about 50 ms.
pub(in crate::stats) const WORK: u64 = 100_000_000;

/// The position of a sum relative to the observed one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::stats) struct SumTail {
    /// The probability of a smaller sum.
    pub(in crate::stats) less: f64,
    /// The probability of the same sum.
    pub(in crate::stats) same: f64,
}

impl Law {
    /// Mean and variance of the law tilted by `ratio`, with values counted from `first`.
    pub(super) fn moments(&self, ratio: f64) -> (f64, f64) {
        let mut sums = [0.0; 2];
        let (mut factor, mut value) = (1.0, 0.0);
        for weight in &self.weights {
            let weight = weight * factor;
            sums[0] += weight;
            sums[1] += weight * value;
            factor *= ratio;
            value += 1.0;
        }
        let mean = sums[1] / sums[0];
        let (mut variance, mut factor, mut off) = (0.0, 1.0 / sums[0], -mean);
        for weight in &self.weights {
            variance += weight * factor * off * off;
            factor *= ratio;
            off += 1.0;
        }
        (mean, variance)
    }
}

/// The lower tail of the sum of laws with their multiplicities, with 9 correct digits however small it is. `None` if it
/// takes more than `work` multiplications.
pub(in crate::stats) fn lower_tail(
    laws: &[(Law, u64)],
    observed: i64,
    mut work: u64,
) -> Option<SumTail> {
    let times = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let ends = laws.iter().fold((0, 0), |(low, high), (law, count)| {
        let count = times(*count);
        (low + count * law.first, high + count * law.last())
    });
    let all_at = |end: fn(&Law) -> f64| {
        let logs = laws.iter().map(|(law, n)| as_f64(*n) * end(law).ln());
        logs.sum::<f64>().exp()
    };
    if observed <= ends.0 || observed >= ends.1 {
        let lowest = || all_at(|law| law.weights[0]);
        let highest = || all_at(|law| law.weights[law.weights.len() - 1]);
        let (less, same) = match observed {
            _ if observed < ends.0 => (0.0, 0.0),
            _ if observed > ends.1 => (1.0, 0.0),
            _ if observed == ends.0 => (0.0, lowest()),
            _ => (1.0 - highest(), highest()),
        };
        return Some(SumTail { less, same });
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "sums of answers stay far below 2^53"
    )]
    let above = (observed - ends.0) as f64;
    let tilt = tilt(laws, above);
    let (mut log_scale, mut parts) = (-tilt * above, BinaryHeap::new());
    for (law, count) in laws {
        let (law, log) = law.tilted(tilt.exp());
        log_scale += as_f64(*count) * log;
        parts.push(Reverse(SumPart(law.times(*count, &mut work)?)));
    }
    let sum = add_all(parts, &mut work)?;
    let place = usize::try_from(observed - sum.first).unwrap_or(0);
    let scale = log_scale.exp();
    let same = scale * sum.weights.get(place).copied().unwrap_or(0.0);
    let mut less = 0.0;
    let mut factor = scale;
    for weight in sum.weights[..place.min(sum.weights.len())].iter().rev() {
        // Undoes the tilt, which is at most 0.
        factor *= tilt.exp();
        less += weight * factor;
    }
    Some(SumTail {
        less: less.clamp(0.0, 1.0),
        same: same.clamp(0.0, 1.0),
    })
}

/// The law of the sum of laws with their multiplicities, with an absolute error of about 1e-13; `None` if it takes more
/// than `work` multiplications.
pub(in crate::stats) fn sum(laws: &[(Law, u64)], work: &mut u64) -> Option<Law> {
    let parts: Option<_> = laws
        .iter()
        .map(|(law, count)| Some(Reverse(SumPart(law.times(*count, work)?))))
        .collect();
    add_all(parts?, work)
}

/// The tilt, at most 0, for which the expected sum is about `above` its minimum.
fn tilt(laws: &[(Law, u64)], above: f64) -> f64 {
    let expected = |tilt: f64| {
        let ratio = tilt.exp();
        let parts = laws.iter().map(|(law, count)| {
            let (mean, variance) = law.moments(ratio);
            (as_f64(*count) * mean, as_f64(*count) * variance)
        });
        parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    };
    let near = |(mean, variance): (f64, f64)| mean - above <= 0.25 * variance.sqrt();
    if near(expected(0.0)) {
        return 0.0;
    }
    // Downwards from 0: the mean falls with the tilt, so the solution is bracketed once the mean is too small.
    let (mut high, mut low) = (0.0, -1.0);
    for _ in 0..60 {
        let (mean, variance) = expected(low);
        if mean > above {
            (high, low) = (low, low * 2.0);
        } else if above - mean <= 0.25 * variance.sqrt() {
            return low;
        } else {
            break;
        }
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let (mean, variance) = expected(middle);
        if (mean - above).abs() <= 0.25 * variance.sqrt() {
            return middle;
        }
        if mean > above {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// A law ordered by its length: adding the shortest first is cheapest.
struct SumPart(Law);

impl PartialEq for SumPart {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SumPart {}

impl PartialOrd for SumPart {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SumPart {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |part: &Self| (part.0.weights.len(), part.0.first);
        key(self).cmp(&key(other))
    }
}

fn add_all(mut parts: BinaryHeap<Reverse<SumPart>>, work: &mut u64) -> Option<Law> {
    while let Some(Reverse(SumPart(first))) = parts.pop() {
        let Some(Reverse(SumPart(second))) = parts.pop() else {
            return Some(first);
        };
        parts.push(Reverse(SumPart(first.plus(&second, work)?)));
    }
    Some(Law::certain(0))
}
