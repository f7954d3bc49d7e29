//! `Sum`: a sum of floats with compensated rounding.

use super::as_f64;

/// A running sum of floats and their number.
///
/// Source: A. Neumaier, *Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen*, ZAMM 54
/// (1974). A plain sum of 165 times 0.001 is 0.16500000000000012, and a gate at 0.165 would fail.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    rounded: f64,
    /// The accumulated rounding error.
    lost: f64,
    count: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, value: f64) {
        let next = self.rounded + value;
        self.lost += if self.rounded.abs() >= value.abs() {
            (self.rounded - next) + value
        } else {
            (value - next) + self.rounded
        };
        self.rounded = next;
        self.count += 1;
    }

    /// Adds a value `times` times, as exactly as one by one.
    pub(crate) fn add_times(&mut self, value: f64, times: u64) {
        if times == 0 {
            return;
        }
        let count = as_f64(times);
        let product = value * count;
        self.add(product);
        // The rounding error of the product is exact; there is none for infinite values.
        let lost = value.mul_add(count, -product);
        self.lost += if lost.is_finite() { lost } else { 0.0 };
        self.count += times - 1;
    }

    /// Adds another sum.
    pub(crate) fn add_all(&mut self, other: &Self) {
        if other.count > 0 {
            self.add(other.rounded);
            self.lost += other.lost;
            self.count += other.count - 1;
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// `None` without values, or if the sum overflowed.
    pub(crate) fn total(&self) -> Option<f64> {
        let total = self.rounded + self.lost;
        (self.count > 0 && total.is_finite()).then_some(total)
    }

    /// `None` without values, or if the sum overflowed. The mean of equal values is that value.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.total()?;
        let count = as_f64(self.count);
        let rough = self.rounded / count;
        // The division rounds too; its remainder is exact.
        let remainder = (-rough).mul_add(count, self.rounded) + self.lost;
        Some(rough + remainder / count)
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: impl IntoIterator<Item = f64>, total: Option<f64>, mean: Option<f64>) {
        let sum: Sum = values.into_iter().collect();
        assert_eq!((sum.total(), sum.mean()), (total, mean));
    }

    #[test]
    fn loses_nothing() {
        check([], None, None);
        check([0.001; 165], Some(0.165), Some(0.001));
        // Eleven times the float that is nearest to 0.7 is less than 7.7.
        check([0.7; 11], Some(7.699_999_999_999_999), Some(0.7));
        check([1e100, 1.0, -1e100], Some(1.0), Some(1.0 / 3.0));
        check([f64::MAX, f64::MAX], None, None);
        check([f64::NAN], None, None);
        for share in 0..1_000 {
            let value = f64::from(share) / 1e3;
            for count in [3, 7, 165] {
                let mean = std::iter::repeat_n(value, count).collect::<Sum>().mean();
                assert_eq!(mean, Some(value), "{count} times {value}");
                let mut sum = Sum::default();
                sum.add_times(value, count as u64);
                assert_eq!(sum.mean(), Some(value), "{count} times {value} at once");
            }
        }
    }
}
