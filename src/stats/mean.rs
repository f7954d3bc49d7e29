//! `MeanEstimate`: a mean with its standard error.

use super::distribution::student;
use super::{Sum, Z95, as_f64, mean};

/// The mean of independent numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanEstimate {
    /// Their number.
    pub(crate) n: u64,
    /// `None` without numbers.
    pub(crate) mean: Option<f64>,
    /// The sample standard deviation (n - 1) over √n; `None` for fewer than two.
    pub(crate) standard_error: Option<f64>,
}

impl MeanEstimate {
    pub(crate) fn of(values: &[f64]) -> Self {
        let n = values.len() as u64;
        Self {
            n,
            mean: mean(values),
            standard_error: variance(values, 1).map(|variance| (variance / as_f64(n)).sqrt()),
        }
    }

    /// The 95 % confidence interval by the normal approximation, not limited to a scale; `None` for fewer than two.
    pub(crate) fn ci95(&self) -> Option<[f64; 2]> {
        Some(normal95(self.mean?, self.standard_error?))
    }
}

/// A running mean and variance that stores no numbers.
///
/// Source: B. P. Welford, *Note on a method for calculating corrected sums of squares and products*, Technometrics 4
/// (1962).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunningMean {
    sum: Sum,
    mean: f64,
    squares: f64,
}

impl RunningMean {
    pub(crate) fn add(&mut self, value: f64) {
        self.sum.add(value);
        let off = value - self.mean;
        self.mean += off / as_f64(self.sum.count());
        self.squares += off * (value - self.mean);
    }

    /// `None` without numbers.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.sum.mean()
    }

    /// The 95 % confidence interval by Student's quantile; `None` for fewer than two, and if all are equal, as the
    /// spread is then unknown.
    pub(crate) fn ci95(&self) -> Option<[f64; 2]> {
        let freedom = self.sum.count().checked_sub(1).filter(|it| *it > 0)?;
        let mean = self.mean()?;
        if self.squares <= 0.0 {
            return None;
        }
        let error = (self.squares / as_f64(freedom) / as_f64(self.sum.count())).sqrt();
        let half = student::percentile(0.975, freedom) * error;
        Some([mean - half, mean + half])
    }
}

/// The 95 % confidence interval of the mean of numbers in independent groups: that of [`MeanEstimate`] if each group is
/// one number, otherwise by the influence of each group on the mean, with Student's quantile. `None` with fewer than
/// two groups.
pub(crate) fn grouped_mean95(groups: &[Vec<f64>]) -> Option<[f64; 2]> {
    let values = groups.concat();
    let plain = MeanEstimate::of(&values);
    if groups.iter().all(|group| group.len() == 1) {
        return plain.ci95();
    }
    let (mean, n) = (plain.mean?, as_f64(plain.n));
    let moved = groups.iter().filter(|group| !group.is_empty());
    let moved = moved.map(|group| group.iter().map(|value| value - mean).sum::<f64>() / n);
    let squares: Vec<f64> = moved.map(|moved| moved * moved).collect();
    let count = squares.len() as u64;
    let freedom = count.checked_sub(1).filter(|freedom| *freedom > 0)?;
    let squares = squares.into_iter().collect::<Sum>().total()?;
    let error = (squares * as_f64(count) / as_f64(freedom)).sqrt();
    let half = student::percentile(0.975, freedom) * error;
    Some([mean - half, mean + half])
}

/// The 95 % confidence interval of a normal distribution with this mean and standard error.
pub(super) fn normal95(mean: f64, standard_error: f64) -> [f64; 2] {
    let half = Z95 * standard_error;
    [mean - half, mean + half]
}

/// The sum of squared deviations over n minus `lost` degrees of freedom; `None` if that is not positive.
pub(super) fn variance(values: &[f64], lost: u64) -> Option<f64> {
    let mean = mean(values)?;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let freedom = (values.len() as u64).checked_sub(lost)?;
    let total = squares.collect::<Sum>().total()?;
    (freedom > 0).then(|| total / as_f64(freedom))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_with_its_interval() {
        let estimate = MeanEstimate::of(&[0.0, 1.0, 1.0, 1.0]);
        assert_eq!((estimate.n, estimate.mean), (4, Some(0.75)));
        // 0.75 ± quantile · √(0.25 / 4).
        assert_eq!(estimate.standard_error, Some(0.25));
        let [low, high] = estimate.ci95().unwrap();
        assert!((low - (0.75 - 0.25 * 1.959_964)).abs() < 1e-6 && high > 1.0);
    }

    #[test]
    fn numbers_of_a_group_are_not_so_many() {
        let single: Vec<_> = [0.0, 1.0, 1.0, 1.0].map(|it| vec![it]).into();
        assert_eq!(
            grouped_mean95(&single),
            MeanEstimate::of(&[0.0, 1.0, 1.0, 1.0]).ci95()
        );
        // Each number three times: as wide as with one of each, except for Student's quantile with 3 degrees of
        // freedom.
        let groups: Vec<_> = [0.0, 1.0, 1.0, 1.0].map(|it| vec![it; 3]).into();
        let [low, high] = grouped_mean95(&groups).unwrap();
        assert!((low - (0.75 - 0.25 * 3.182_446)).abs() < 1e-5, "{low}");
        assert!((low + high - 1.5).abs() < 1e-9);
        assert_eq!(grouped_mean95(&[vec![1.0, 2.0]]), None);
        assert_eq!(grouped_mean95(&[]), None);
    }

    #[test]
    fn little_has_no_interval() {
        let none = MeanEstimate::of(&[]);
        assert_eq!((none.n, none.mean, none.ci95()), (0, None, None));
        let one = MeanEstimate::of(&[0.3]);
        assert_eq!(
            (one.mean, one.standard_error, one.ci95()),
            (Some(0.3), None, None)
        );
        assert_eq!(MeanEstimate::of(&[0.7; 11]).ci95(), Some([0.7, 0.7]));
    }
}
