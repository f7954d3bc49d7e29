//! `JudgedPoints`: the points of a judge for items of a dataset, by dimension.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::judge::TOTAL;
use super::tally::VALUE;
use crate::data::DetailBounds;
use crate::figure::{Interval, Scale, part_of};
use crate::stats::{BoundedMean, RunningMean, ratio, wilson95};

/// Details of a judge's score that are not dimensions.
const NO_DIMENSIONS: [&str; 4] = [TOTAL, EXCELLENT, "self_agreement", "repaired"];

/// The detail with whether the points reach the rubric's `excellent`.
const EXCELLENT: &str = "excellent";

/// The points of a judge for items, over those with a verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JudgedPoints {
    /// The weighted mean of the dimensions.
    pub total: PointMean,
    /// Items that reach the rubric's `pass`.
    pub pass: CountedShare,
    /// Items that reach the rubric's `excellent`.
    pub excellent: CountedShare,
    /// Points of each dimension, in the order of the rubric.
    pub dimensions: Vec<DimensionPoints>,
}

/// The points of a dimension or topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DimensionPoints {
    /// The dimension or topic.
    pub name: String,
    /// The mean of its points.
    pub points: PointMean,
}

/// The running sums behind [`JudgedPoints`].
#[derive(Clone, Debug, Default)]
pub(super) struct PointsTally {
    totals: Vec<f64>,
    passing: u64,
    excellent: u64,
    /// Of how many scores that is known.
    rated: u64,
    dimensions: Vec<(String, Vec<f64>)>,
}

impl PointsTally {
    /// Adds a score with this total, or else value.
    pub(super) fn add<'a>(
        &mut self,
        total: f64,
        is_correct: bool,
        details: impl Iterator<Item = (&'a str, &'a Value)>,
    ) {
        self.totals.push(total);
        self.passing += u64::from(is_correct);
        for (name, value) in details {
            if name == EXCELLENT {
                self.rated += 1;
                let number = value.as_f64();
                let is_excellent = value.as_bool().or(number.map(|number| number > 0.0));
                self.excellent += u64::from(is_excellent == Some(true));
            }
            let Some(points) = value.as_f64().filter(|_| !NO_DIMENSIONS.contains(&name)) else {
                continue;
            };
            match self.dimensions.iter_mut().find(|(known, _)| known == name) {
                Some((_, all)) => all.push(points),
                None => self.dimensions.push((name.to_owned(), vec![points])),
            }
        }
    }

    /// The figures, on the scales of this scorer; `None` without points.
    pub(super) fn finish(self, scorer: &str, bounds: &DetailBounds) -> Option<JudgedPoints> {
        let bounds = bounds.get(scorer);
        let scale = |detail: &str| bounds.and_then(|bounds| bounds.get(detail)).copied();
        let n = self.totals.len() as u64;
        let dimensions = self.dimensions.into_iter().map(|(name, points)| {
            let points = PointMean::of(&points, scale(&name));
            DimensionPoints { name, points }
        });
        (n > 0).then(|| JudgedPoints {
            total: PointMean::of(&self.totals, scale(TOTAL).or_else(|| scale(VALUE))),
            pass: CountedShare::of(self.passing, n),
            excellent: CountedShare::of(self.excellent, self.rated),
            dimensions: dimensions.collect(),
        })
    }
}

/// A share of counted things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountedShare {
    /// The part.
    pub part: u64,
    /// The whole.
    pub of: u64,
    /// `part` / `of`; `null` if `of` is 0.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

impl CountedShare {
    /// `part` of `of`.
    pub fn of(part: u64, of: u64) -> Self {
        Self {
            part,
            of,
            share: ratio(part, of),
            ci95: wilson95(part, of),
        }
    }

    /// `12 of 80 items (15.0 %, 95 % interval 8.8 % to 24.4 %)`.
    pub(crate) fn text(&self, noun: &str) -> String {
        part_of(self.part, self.of, noun)
    }
}

/// The mean of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointMean {
    /// Number of items.
    pub n: u64,
    /// The mean; `null` without items.
    pub mean: Option<f64>,
    /// The 95 % confidence interval by Student's quantile, limited to the scale. It always has a width: if all items
    /// are equal, it is as wide as unseen items could differ. `null` if the scale is unknown and all items are equal.
    pub ci95: Option<[f64; 2]>,
    /// The lowest and highest possible points, if known.
    pub scale: Option<[f64; 2]>,
}

impl PointMean {
    /// The mean of points on a scale.
    pub fn of(points: &[f64], scale: Option<[f64; 2]>) -> Self {
        let mut running = RunningMean::default();
        for points in points {
            running.add(*points);
        }
        let mean = running.mean();
        let n = points.len() as u64;
        // Equal points do not prove that the next one is equal too.
        let constant = || BoundedMean::of((mean?, [mean?; 2]), n, scale, false).ci95();
        let [low, high] = scale.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let ci95 = running.ci95().or_else(constant);
        Self {
            n,
            mean,
            ci95: ci95.map(|ends| ends.map(|end| end.clamp(low, high))),
            scale,
        }
    }

    /// `4.20/5.0 (95 % interval 3.95 to 4.45)`.
    pub(crate) fn text(&self) -> String {
        let Some(mean) = self.mean else {
            return "unknown".to_owned();
        };
        let of = self.scale.map(|[_, high]| format!("/{high:.1}"));
        let mean = format!("{}{}", Scale(mean, 2), of.unwrap_or_default());
        match self.ci95() {
            Some(interval) => format!("{mean} ({})", interval.ci95()),
            None => mean,
        }
    }

    /// `3.95 to 4.45`.
    pub fn ci95(&self) -> Option<Interval<Scale>> {
        Some(Interval(self.ci95?.map(|end| Scale(end, 2))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_never_points_and_stay_on_their_scale() {
        let scale = Some([1.0, 5.0]);
        let constant = PointMean::of(&[5.0; 4], scale);
        assert_eq!(constant.mean, Some(5.0));
        let [low, high] = constant.ci95.unwrap();
        assert!(low < 4.0 && high <= 5.0, "{low} {high}");
        // A single item gives a wide interval.
        let [low, high] = PointMean::of(&[4.0], scale).ci95.unwrap();
        assert!(low < 2.0 && high >= 5.0, "{low} {high}");
        // Student's t: 4.0 ± 4.303 times the root of 1 / 3.
        let [low, high] = PointMean::of(&[3.0, 4.0, 5.0], None).ci95.unwrap();
        assert!((low - 1.5159).abs() < 1e-3 && (high - 6.4841).abs() < 1e-3);
        assert_eq!(PointMean::of(&[4.0], None).ci95, None);
        assert_eq!(PointMean::of(&[], scale).ci95, None);
    }

    #[test]
    fn points_are_by_dimension_and_total() {
        let mut tally = PointsTally::default();
        let bounds = [("total", [1.0, 5.0]), ("clarity", [1.0, 5.0])];
        let bounds = bounds.map(|(name, bounds)| (name.to_owned(), bounds));
        let bounds = DetailBounds::from([("judge".to_owned(), bounds.into())]);
        assert_eq!(tally.clone().finish("judge", &bounds), None);
        for (total, excellent) in [(4.75, true), (3.0, false)] {
            let details = serde_json::json!({
                "clarity": total, "total": total, "excellent": excellent, "repaired": 1, "comments": "Fine.",
            });
            let details = details.as_object().into_iter().flatten();
            let details = details.map(|(name, value)| (name.as_str(), value));
            tally.add(total, total >= 3.5, details);
        }
        // A judge with choices has no dimensions, and does not say what is excellent.
        let mut choices = PointsTally::default();
        choices.add(1.0, true, std::iter::empty());
        let choices = choices.finish("other", &bounds).unwrap();
        assert_eq!((choices.pass.part, choices.excellent.of), (1, 0));
        let found = tally.finish("judge", &bounds).unwrap();
        assert_eq!(found.total.mean, Some(3.875));
        assert_eq!(found.total.scale, Some([1.0, 5.0]));
        assert_eq!((found.pass.part, found.excellent.part), (1, 1));
        let names: Vec<_> = found.dimensions.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["clarity"]);
    }
}
