//! `ItemRating`: the points of a judge in a word.

use std::fmt;

/// The points of a judge in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemRating {
    /// Fewer points.
    Poor,
    /// 3.0 or more.
    Weak,
    /// 3.5 or more.
    Acceptable,
    /// 4.0 or more.
    Good,
    /// 4.5 or more.
    Excellent,
}

/// The ratings with the fewest points of each, on the scale from 1 to 5.
const RATINGS: [(f64, ItemRating); 4] = [
    (4.5, ItemRating::Excellent),
    (4.0, ItemRating::Good),
    (3.5, ItemRating::Acceptable),
    (3.0, ItemRating::Weak),
];

impl ItemRating {
    /// That of a mean on a scale; another scale than that from 1 to 5 is stretched to it.
    pub(super) fn of(points: f64, [low, high]: [f64; 2]) -> Self {
        let points = 1.0 + 4.0 * (points - low) / (high - low);
        let found = RATINGS.iter().find(|(least, _)| points >= *least);
        found.map_or(Self::Poor, |(_, rating)| *rating)
    }
}

impl fmt::Display for ItemRating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poor => "poor",
            Self::Weak => "weak",
            Self::Acceptable => "acceptable",
            Self::Good => "good",
            Self::Excellent => "excellent",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_begin_where_they_say() {
        let check = |points: f64, expect: &str| {
            assert_eq!(ItemRating::of(points, [1.0, 5.0]).to_string(), expect);
        };
        check(5.0, "excellent");
        check(4.5, "excellent");
        check(4.499, "good");
        check(4.0, "good");
        check(3.999, "acceptable");
        check(3.5, "acceptable");
        check(3.4, "weak");
        check(3.0, "weak");
        check(2.99, "poor");
        check(1.0, "poor");
        // Nine of ten is 4.6 of 5.
        assert_eq!(ItemRating::of(9.0, [0.0, 10.0]), ItemRating::Excellent);
    }
}
