//! The mean of a judge's figure, corrected by labels of people, for gates.

use super::UpperEnds;
use super::figures::Figures;
use super::mean::{Found, KnownMeans};
use super::{Measured, show};
use crate::figure::{Interval, Value};
use crate::stats;
use crate::verdict::gate::Slice;
use crate::verdict::judged::calibrated::{RunCorrection, no_labels};
use crate::verdict::judged::calibration::CorrectedFigure;
use crate::verdict::judged::items::{CORRECT, VALUE};

impl Figures<'_> {
    /// The corrected mean, with items that lack a verdict at the lowest and highest end of the scale.
    pub(super) fn corrected(&self, name: &str, slice: Option<&Slice>) -> Result<Measured, String> {
        let nothing = |why| self.nothing_scored().unwrap_or(why);
        let found = self.find_corrected(name).map_err(nothing)?;
        let RunCorrection {
            found: corrected,
            lacking,
            ..
        } = self.found_corrected(&found, slice)?;
        let by_judge = corrected
            .judge
            .map(|mean| format!("; by the judge alone {}", show(mean, corrected.value)));
        let from = format!(
            "by {} labels of {} answers, {}{}",
            corrected.labels,
            corrected.items,
            Interval(corrected.ci95.map(Value)).ci95(),
            by_judge.unwrap_or_default()
        );
        let ends = self.corrected_bounds(&found, &corrected, corrected.value, lacking);
        Ok(Measured {
            value: corrected.value,
            low: ends[0],
            high: ends[1],
            from,
        })
    }

    /// The upper ends of its interval, of this confidence.
    pub(in crate::verdict) fn corrected_ends(
        &self,
        name: &str,
        slice: Option<&Slice>,
        confidence: f64,
        threshold: f64,
    ) -> Option<UpperEnds> {
        let found = self.find_corrected(name).ok()?;
        let RunCorrection {
            found: corrected,
            mean,
            lacking,
        } = self.found_corrected(&found, slice).ok()?;
        let [_, upper] = mean.interval(stats::half_width(confidence))?;
        Some(UpperEnds {
            ends: self.corrected_bounds(&found, &corrected, upper, lacking),
            text: UpperEnds::text(confidence, upper, threshold),
        })
    }

    pub(super) fn find_corrected(&self, name: &str) -> Result<Found, String> {
        KnownMeans::of(&self.facts.summary, &self.facts.detail_bounds).find_corrected(name)
    }

    fn found_corrected(
        &self,
        found: &Found,
        slice: Option<&Slice>,
    ) -> Result<RunCorrection, String> {
        let scorer = found.scorer.as_deref().or(self.decides());
        let scorer = scorer.unwrap_or_default();
        let judge = self.facts.calibrated.get(scorer);
        let judge = judge.ok_or_else(|| {
            let judges = self.facts.summary.judge.as_ref();
            if judges.is_some_and(|judges| judges.scorers.contains_key(scorer)) {
                no_labels()
            } else {
                format!("scorer `{scorer}` asks no judge")
            }
        })?;
        judge.corrected(&found.detail, slice)
    }

    /// A mean with additional items at the lowest and at the highest value.
    fn corrected_bounds(
        &self,
        found: &Found,
        corrected: &CorrectedFigure,
        mean: f64,
        lacking: f64,
    ) -> [f64; 2] {
        if lacking <= 0.0 {
            return [mean; 2];
        }
        let is_share = [CORRECT, VALUE].contains(&found.detail.as_str());
        let bounds = match self.bounds(found) {
            None if is_share => [0.0, 1.0],
            // The scale is unknown.
            None => return [f64::NEG_INFINITY, f64::INFINITY],
            Some(bounds) => bounds,
        };
        let seen = stats::as_f64(corrected.items);
        bounds.map(|each| (mean * seen + lacking * each) / (seen + lacking))
    }
}
