//! Sensitivity to the prompt format: the accuracy of each format and their spread.
//!
//! Source: `format_sensitivity_runner` in `eval_checker/eval_runner.py` of bfcl-eval 2026.3.23. It rounds percents to
//! two decimals, and a variance of shares of 200 entries is halfway between two roundings in one of 26 cases. So
//! variance and deviation are computed as exactly as in Python's `statistics`.

use crate::bfcl::form::PromptForm;
use crate::stats::as_f64;

/// Correct answers per format, in order of appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormCounts(Vec<FormCount>);

/// Correct answers in a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormCount {
    pub(crate) form: PromptForm,
    pub(crate) correct: u64,
    pub(crate) total: u64,
}

impl FormCount {
    pub(crate) fn accuracy(self) -> f64 {
        as_f64(self.correct) / as_f64(self.total)
    }
}

impl FormCounts {
    /// Counts a verdict.
    pub(crate) fn add(&mut self, form: PromptForm, correct: bool) {
        let place = self.0.iter().position(|count| count.form == form);
        let place = place.unwrap_or_else(|| {
            self.0.push(FormCount {
                form,
                correct: 0,
                total: 0,
            });
            self.0.len() - 1
        });
        self.0[place].total += 1;
        self.0[place].correct += u64::from(correct);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &FormCount> {
        self.0.iter()
    }

    pub(crate) fn of(&self, form: PromptForm) -> Option<FormCount> {
        self.iter().find(|count| count.form == form).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The difference between the best and the worst format.
    pub(crate) fn max_delta(&self) -> f64 {
        let accuracies = || self.iter().map(|count| count.accuracy());
        let best = accuracies().reduce(f64::max).unwrap_or_default();
        best - accuracies().reduce(f64::min).unwrap_or_default()
    }

    /// Sample variance; 0 for a single format.
    pub(crate) fn variance(&self) -> f64 {
        self.exact_variance().high
    }

    /// Sample standard deviation; 0 for a single format.
    pub(crate) fn std(&self) -> f64 {
        let variance = self.exact_variance();
        let near = variance.high.sqrt();
        if near == 0.0 {
            return 0.0;
        }
        let rest = variance.plus(Exact::product(near, near).negated());
        near + rest.high / (2.0 * near)
    }

    fn exact_variance(&self) -> Exact {
        if self.0.len() < 2 {
            return Exact::default();
        }
        let count = as_f64(self.0.len() as u64);
        let accuracies = || self.iter().map(|count| Exact::of(count.accuracy()));
        let mean = accuracies().fold(Exact::default(), Exact::plus).over(count);
        let squares = accuracies().map(|accuracy| {
            let apart = accuracy.plus(mean.negated());
            apart.times(apart)
        });
        squares
            .fold(Exact::default(), Exact::plus)
            .over(count - 1.0)
    }
}

/// A number with twice the precision of a double, as a sum of two doubles (Dekker 1971).
#[derive(Clone, Copy, Debug, Default)]
struct Exact {
    high: f64,
    low: f64,
}

impl Exact {
    fn of(high: f64) -> Self {
        Self { high, low: 0.0 }
    }

    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let of_b = high - a;
        let low = (a - (high - of_b)) + (b - of_b);
        Self { high, low }
    }

    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let low = a.mul_add(b, -high);
        Self { high, low }
    }

    fn plus(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        let lows = Self::sum(self.low, other.low);
        let sum = Self::sum(sum.high, sum.low + lows.high);
        Self::sum(sum.high, sum.low + lows.low)
    }

    fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let rest = self.high.mul_add(other.low, self.low * other.high);
        Self::sum(product.high, product.low + rest)
    }

    fn over(self, divisor: f64) -> Self {
        let high = self.high / divisor;
        let rest = self.plus(Self::product(high, divisor).negated());
        Self::sum(high, rest.high / divisor)
    }

    fn negated(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::py_repr_float;

    /// Correct answers of 26 formats, and the `repr` of variance and deviation from Python's `statistics`.
    const OFFICIAL: &[(&[u64], u64, [&str; 2])] = &[
        (
            &[
                189, 184, 101, 151, 138, 140, 187, 145, 153, 104, 173, 163, 105, 151, 198, 174,
                161, 123, 104, 181, 110, 199, 132, 199, 160, 192,
            ],
            200,
            ["0.026436499999999998", "0.16259305028198467"],
        ),
        (
            &[
                180, 197, 165, 112, 138, 122, 152, 145, 192, 150, 108, 191, 175, 133, 198, 171,
                169, 157, 153, 139, 182, 105, 155, 128, 106, 116,
            ],
            200,
            ["0.021734499999999997", "0.1474262527503158"],
        ),
        (
            &[
                115, 111, 171, 149, 198, 130, 181, 137, 163, 158, 147, 179, 175, 102, 123, 111,
                123, 148, 102, 194, 149, 123, 110, 180, 160, 144,
            ],
            200,
            ["0.021096499999999997", "0.1452463424668587"],
        ),
        (
            &[
                4, 3, 6, 4, 6, 6, 3, 1, 3, 0, 6, 0, 2, 4, 2, 0, 6, 3, 6, 1, 2, 2, 6, 0, 1, 6,
            ],
            7,
            ["0.10288854003139716", "0.32076243550546435"],
        ),
        (
            &[
                190, 192, 190, 190, 193, 197, 199, 195, 191, 191, 194, 194, 195, 191, 192, 197,
                192, 198, 191, 194, 196, 192, 195, 190, 192, 197,
            ],
            200,
            ["0.00018615384615384647", "0.013643820804812943"],
        ),
        (
            &[
                5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
            ],
            13,
            ["0.0", "0.0"],
        ),
        (
            &[0, 1, 1],
            3,
            ["0.037037037037037035", "0.19245008972987523"],
        ),
    ];

    #[test]
    fn figures_are_those_of_python_to_the_last_bit() {
        for (correct, total, expect) in OFFICIAL {
            let counts = PromptForm::all().zip(*correct);
            let counts = counts.map(|(form, &correct)| FormCount {
                form,
                correct,
                total: *total,
            });
            let counts = FormCounts(counts.collect());
            let found = [counts.variance(), counts.std()];
            assert_eq!(found.map(py_repr_float), *expect, "{correct:?}");
        }
        let mut one = FormCounts::default();
        assert!(one.is_empty() && one.max_delta() == 0.0);
        one.add(PromptForm::at(3), true);
        one.add(PromptForm::at(3), false);
        let none = [one.variance(), one.std(), one.max_delta()];
        assert_eq!(none.map(py_repr_float), ["0.0"; 3]);
        one.add(PromptForm::at(4), false);
        assert!((one.max_delta() - 0.5).abs() < 1e-15);
        assert!(one.of(PromptForm::at(3)).unwrap().correct == 1);
    }
}
