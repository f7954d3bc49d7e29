//! `Law`: the distribution of an integer, and the lower tail of a sum of such integers.
//!
//! Laws are tilted before they are added: each weight is multiplied by `exp(tilt · value)`, with the tilt that moves
//! the expected sum to the observed one. Terms far from there are then negligible, and a p of 1e-30 has as many correct
//! digits as one of 0.3. Source: H. E. Daniels, *Saddlepoint approximations in statistics*, Annals of Mathematical
//! Statistics 25 (1954); unlike there, nothing is approximated: the tilt is undone exactly.

mod sum;

pub(in crate::stats) use sum::{SumTail, WORK, lower_tail, sum};

/// The tail probability that may be dropped. A sum of a million laws, each truncated by this at both ends, still has 13
/// correct digits.
const NEGLIGIBLE: f64 = 1e-20;

/// The probabilities of `first`, `first + 1`, and so on; they sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::stats) struct Law {
    first: i64,
    weights: Vec<f64>,
}

impl Law {
    /// From weights with a positive sum; they need not sum to 1.
    pub(in crate::stats) fn new(first: i64, weights: Vec<f64>) -> Self {
        let mut law = Self { first, weights };
        law.normalize();
        law
    }

    /// The constant `value`.
    fn certain(value: i64) -> Self {
        Self {
            first: value,
            weights: vec![1.0],
        }
    }

    /// The number of white balls among `drawn` drawn without replacement from `white` white and `black` black ones.
    pub(in crate::stats) fn hypergeometric(drawn: u32, white: u32, black: u32) -> Self {
        let drawn = drawn.min(white.saturating_add(black));
        let (low, high) = (drawn.saturating_sub(black), drawn.min(white));
        // From the most likely value outwards, so that no weight overflows.
        let share = (f64::from(drawn) + 1.0) * (f64::from(white) + 1.0)
            / (f64::from(white) + f64::from(black) + 2.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of balls; only where the weights start"
        )]
        let mode = (share as u32).clamp(low, high);
        // The ratio of the weights of `x + 1` and `x`.
        let step = |x: u32| {
            f64::from(white - x) * f64::from(drawn - x)
                / (f64::from(x + 1) * (f64::from(black) - f64::from(drawn) + f64::from(x) + 1.0))
        };
        let falling = |next: f64| (next > 1e-300).then_some(next);
        let mut below: Vec<f64> = (low..mode)
            .rev()
            .scan(1.0, |weight, x| {
                *weight /= step(x);
                falling(*weight)
            })
            .collect();
        below.reverse();
        let first = i64::from(mode) - i64::try_from(below.len()).unwrap_or_default();
        below.push(1.0);
        below.extend((mode..high).scan(1.0, |weight, x| {
            *weight *= step(x);
            falling(*weight)
        }));
        Self::new(first, below)
    }

    /// Each value with its probability.
    pub(in crate::stats) fn weights(&self) -> impl Iterator<Item = (i64, f64)> {
        (self.first..).zip(self.weights.iter().copied())
    }

    /// The probability of `value`.
    pub(in crate::stats) fn at(&self, value: i64) -> f64 {
        let place = usize::try_from(value - self.first).ok();
        place
            .and_then(|place| self.weights.get(place))
            .copied()
            .unwrap_or(0.0)
    }

    /// The distribution function.
    pub(in crate::stats) fn at_most(&self) -> impl Fn(i64) -> f64 {
        let mut sum = 0.0;
        let sums = self.weights.iter().map(|weight| {
            sum += weight;
            sum
        });
        let (sums, first): (Vec<f64>, _) = (sums.collect(), self.first);
        move |value| match usize::try_from(value - first) {
            Ok(place) => sums[place.min(sums.len() - 1)],
            Err(_) => 0.0,
        }
    }

    fn last(&self) -> i64 {
        self.first + i64::try_from(self.weights.len()).unwrap_or(i64::MAX) - 1
    }

    fn normalize(&mut self) -> f64 {
        let sum: f64 = self.weights.iter().sum();
        for weight in &mut self.weights {
            *weight /= sum;
        }
        sum
    }

    /// Drops negligible weights at both ends.
    fn trim(&mut self) {
        let negligible = |weights: &mut dyn Iterator<Item = &f64>| {
            weights
                .scan(0.0, |sum, weight| {
                    *sum += weight;
                    (*sum < NEGLIGIBLE).then_some(())
                })
                .count()
        };
        let above = negligible(&mut self.weights.iter().rev());
        self.weights.truncate(self.weights.len() - above);
        let below = negligible(&mut self.weights.iter());
        self.weights.drain(..below);
        self.first += i64::try_from(below).unwrap_or_default();
    }

    /// The law with each weight times `ratio ^ value`, and the logarithm of the sum of these weights, with values
    /// counted from `first`.
    fn tilted(&self, ratio: f64) -> (Self, f64) {
        let mut law = self.clone();
        let mut factor = 1.0;
        for weight in &mut law.weights {
            *weight *= factor;
            factor *= ratio;
        }
        let sum = law.normalize();
        law.trim();
        (law, sum.ln())
    }

    /// The law of the sum of two independent integers; `None` if that takes more than `work` multiplications.
    fn plus(&self, other: &Self, work: &mut u64) -> Option<Self> {
        let (short, long) = if self.weights.len() <= other.weights.len() {
            (self, other)
        } else {
            (other, self)
        };
        let products = short.weights.len() as u64 * long.weights.len() as u64;
        *work = work.checked_sub(products)?;
        let mut weights = vec![0.0; short.weights.len() + long.weights.len() - 1];
        for (place, a) in short.weights.iter().enumerate() {
            for (sum, b) in weights[place..].iter_mut().zip(&long.weights) {
                *sum += a * b;
            }
        }
        let mut law = Self {
            first: self.first + other.first,
            weights,
        };
        law.trim();
        Some(law)
    }

    /// The law of the sum of `count` such integers, by repeated squaring.
    fn times(&self, count: u64, work: &mut u64) -> Option<Self> {
        let mut sum = Self::certain(0);
        let (mut remaining, mut power) = (count, self.clone());
        loop {
            if remaining % 2 == 1 {
                sum = sum.plus(&power, work)?;
            }
            remaining /= 2;
            if remaining == 0 {
                return Some(sum);
            }
            power = power.plus(&power, work)?;
        }
    }
}

#[cfg(test)]
mod tests;
