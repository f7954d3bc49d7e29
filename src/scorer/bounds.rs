//! The bounds that scorers declare for their details.

use std::sync::Arc;

use super::Scorer;
use crate::data::DetailBounds;

/// The declared bounds of all scorers. Anything but a pair of numbers, lower first, is skipped.
pub(crate) fn detail_bounds(scorers: &[Arc<dyn Scorer>]) -> DetailBounds {
    let mut all = DetailBounds::new();
    for scorer in scorers {
        let bounds = scorer.bounds().into_iter();
        let is_sound = |[low, high]: [f64; 2]| low.is_finite() && high.is_finite() && low <= high;
        let sound = bounds.filter(|(_, bounds)| is_sound(*bounds));
        let bounds: std::collections::BTreeMap<_, _> = sound
            .map(|(detail, bounds)| (detail.into_owned(), bounds))
            .collect();
        if !bounds.is_empty() {
            all.insert(scorer.name().to_owned(), bounds);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::data::Score;
    use crate::error::Result;
    use crate::scorer::{Answer, Exact};

    struct Points(Vec<(Cow<'static, str>, [f64; 2])>);

    impl Scorer for Points {
        fn name(&self) -> &'static str {
            "points"
        }

        fn score(&self, _: &Answer<'_>) -> Result<Score> {
            Ok(Score::binary(true))
        }

        fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
            self.0.clone()
        }
    }

    #[test]
    fn only_pairs_of_numbers_in_order_are_bounds() {
        let bounds = vec![
            ("total".into(), [1.0, 5.0]),
            ("upside_down".into(), [5.0, 1.0]),
            ("endless".into(), [0.0, f64::INFINITY]),
            ("none".into(), [f64::NAN, 1.0]),
        ];
        let scorers: [Arc<dyn Scorer>; 2] = [Arc::new(Points(bounds)), Arc::new(Exact::default())];
        let json = serde_json::to_value(detail_bounds(&scorers)).unwrap();
        assert_eq!(json, serde_json::json!({"points": {"total": [1.0, 5.0]}}));
    }
}
