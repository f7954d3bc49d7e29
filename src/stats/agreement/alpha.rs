//! `Alphas`: Krippendorff's alpha, for any number of raters and missing values.

use crate::stats::as_f64;

/// Krippendorff's alpha of the values that several raters gave to the same items. 1 is full agreement, 0 chance
/// agreement.
///
/// Source: K. Krippendorff, *Computing Krippendorff's alpha-reliability* (2011). `None` if no item has two values, or
/// all values are of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Alphas {
    /// All pairs of distinct classes are equally different.
    pub(crate) nominal: Option<f64>,
    /// The difference is the squared distance; `None` also if classes are not numbers.
    pub(crate) interval: Option<f64>,
}

/// The values of one item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unit {
    /// Classes with their counts; empty if the item has fewer than two values.
    counts: Vec<(usize, u64)>,
    /// Σ of the differences of all pairs, over m - 1.
    nominal: f64,
    interval: f64,
}

impl Unit {
    /// From the class of each value of the item; `values` are the numbers of the classes, if they are numbers.
    pub(crate) fn of(classes: &[usize], values: Option<&[f64]>) -> Self {
        let mut sorted = classes.to_owned();
        sorted.sort_unstable();
        let kinds = sorted.chunk_by(|one, other| one == other);
        let counts: Vec<_> = kinds.map(|equal| (equal[0], equal.len() as u64)).collect();
        let Some(others) = classes.len().checked_sub(1).filter(|others| *others > 0) else {
            return Self {
                counts: Vec::new(),
                nominal: 0.0,
                interval: 0.0,
            };
        };
        let others = as_f64(others as u64);
        let interval = values.map(|values| squared_distances(&counts, values));
        Self {
            nominal: as_f64(unequal(counts.iter().map(|(_, count)| *count))) / others,
            interval: interval.unwrap_or(0.0) / others,
            counts,
        }
    }
}

impl Alphas {
    /// From units with their multiplicities, `classes` classes, and the `values` that the units were built with.
    pub(crate) fn of<'a>(
        units: impl Iterator<Item = (&'a Unit, u64)>,
        values: Option<&[f64]>,
        classes: usize,
    ) -> Self {
        let mut totals = vec![0; classes];
        let (mut nominal, mut interval) = (0.0, 0.0);
        for (unit, times) in units.filter(|(_, times)| *times > 0) {
            nominal += as_f64(times) * unit.nominal;
            interval += as_f64(times) * unit.interval;
            for (class, count) in &unit.counts {
                totals[*class] += times * count;
            }
        }
        let present = totals.iter().enumerate().filter(|(_, count)| **count > 0);
        let totals: Vec<_> = present.map(|(class, count)| (class, *count)).collect();
        if totals.len() < 2 {
            return Self::default();
        }
        let others = as_f64(totals.iter().map(|(_, count)| count).sum::<u64>() - 1);
        let alpha = |observed: f64, by_chance: f64| {
            (by_chance > 0.0).then(|| 1.0 - observed / (by_chance / others))
        };
        let by_chance = values.map(|values| squared_distances(&totals, values));
        Self {
            nominal: alpha(
                nominal,
                as_f64(unequal(totals.iter().map(|(_, count)| *count))),
            ),
            interval: by_chance.and_then(|by_chance| alpha(interval, by_chance)),
        }
    }
}

/// Shifts and scales the numbers to -1 to 1, which does not change alpha and keeps their squares finite.
pub(crate) fn scaled(values: &[f64]) -> Vec<f64> {
    // Halved, since the distance of two finite numbers may be infinite.
    let halves = values.iter().map(|value| value / 2.0);
    let low = halves.clone().fold(f64::INFINITY, f64::min);
    let high = halves.clone().fold(f64::NEG_INFINITY, f64::max);
    let (centre, radius) = (f64::midpoint(low, high), high / 2.0 - low / 2.0);
    let radius = if radius > 0.0 { radius } else { 1.0 };
    halves.map(|half| (half - centre) / radius).collect()
}

/// The number of ordered pairs of unequal values.
fn unequal(counts: impl Iterator<Item = u64> + Clone) -> u64 {
    let all: u64 = counts.clone().sum();
    counts.map(|count| count * (all - count)).sum()
}

/// Σ of the squared distances of all ordered pairs: 2 m Σ (x - mean)².
fn squared_distances(counts: &[(usize, u64)], values: &[f64]) -> f64 {
    let all = as_f64(counts.iter().map(|(_, count)| count).sum());
    let counted = counts
        .iter()
        .map(|(class, count)| (values[*class], as_f64(*count)));
    let mean = counted
        .clone()
        .map(|(value, count)| value * count)
        .sum::<f64>()
        / all;
    let squares = counted.map(|(value, count)| count * (value - mean).powi(2));
    2.0 * all * squares.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alphas(items: &[&[usize]], values: Option<&[f64]>) -> Alphas {
        let values = values.map(scaled);
        let units = items.iter().map(|item| Unit::of(item, values.as_deref()));
        let units: Vec<_> = units.collect();
        Alphas::of(units.iter().map(|unit| (unit, 1)), values.as_deref(), 5)
    }

    fn near(found: Option<f64>, expect: f64) {
        let found = found.unwrap();
        assert!((found - expect).abs() < 1e-12, "{found} is not {expect}");
    }

    #[test]
    fn alphas_by_hand() {
        // Two items with full agreement, one split 1 : 2: 3 pairs. Observed: 2 / 1; by chance: the values are 1, 1, 1,
        // 2, 2, 2: 18 ordered pairs differ, over 5.
        let items: [&[usize]; 3] = [&[1, 1], &[2, 2], &[1, 2]];
        let found = alphas(&items, Some(&[0.0, 10.0, 20.0, 30.0, 40.0]));
        near(found.nominal, 1.0 - 2.0 / (18.0 / 5.0));
        near(found.interval, 1.0 - 2.0 / (18.0 / 5.0));
        // Of 1, 2, 3 in one item and 3, 3 in another: observed 6/2; by chance 1·4 + 1·4 + 3·2 = 14 over 4. Squares:
        // 2·(1 + 4 + 1)/2 = 6; by chance 2·(1 + 3·4 + 3·1) = 32 over 4.
        let items: [&[usize]; 3] = [&[3, 1, 2], &[3, 3], &[4]];
        let found = alphas(&items, Some(&[0.0, 1.0, 2.0, 3.0, 99.0]));
        near(found.nominal, 1.0 - 3.0 / (14.0 / 4.0));
        near(found.interval, 1.0 - 6.0 / (32.0 / 4.0));
        assert_eq!(alphas(&items, None).interval, None);
    }

    #[test]
    fn what_has_nothing_to_compare_is_none() {
        let check = |items: &[&[usize]]| {
            let values = [1.0, 2.0, 3.0, 4.0, 5.0];
            assert_eq!(alphas(items, Some(&values)), Alphas::default(), "{items:?}");
        };
        check(&[]);
        check(&[&[], &[1], &[2]]);
        check(&[&[1, 1], &[1, 1, 1], &[2]]);
    }

    #[test]
    fn scale_and_place_of_numbers_do_not_matter() {
        let items: [&[usize]; 4] = [&[0, 1, 1], &[2, 2], &[3, 4], &[4, 4, 4]];
        let plain = alphas(&items, Some(&[1.0, 2.0, 3.0, 4.0, 5.0]))
            .interval
            .unwrap();
        near(
            alphas(
                &items,
                Some(&[1e6 + 1.0, 1e6 + 2.0, 1e6 + 3.0, 1e6 + 4.0, 1e6 + 5.0]),
            )
            .interval,
            plain,
        );
        let huge = [-1.6e308, -0.8e308, 0.0, 0.8e308, 1.6e308];
        near(alphas(&items, Some(&huge)).interval, plain);
        assert_eq!(scaled(&[7.0]), [0.0]);
        assert_eq!(scaled(&[]), [0.0; 0]);
    }
}
