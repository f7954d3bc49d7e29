//! `Labelled`: verdicts beside what people say of the same answers.

use super::{PanelRow, PanelSaid};
use crate::stats::{self, AnswerCounts, ComparedSample, MeanEstimate, paired_difference};
use crate::verdict::summary::judge::{LabelAgreement, WorsePanel};

/// The answers with a label. All labels are choices, or all are points.
pub(super) struct Labelled<'a> {
    rows: Vec<(&'a PanelRow, PanelSaid)>,
    are_points: bool,
}

impl<'a> Labelled<'a> {
    /// `None` where nothing is labelled.
    pub(super) fn of(rows: &'a [PanelRow]) -> Option<Self> {
        let labelled = rows.iter().filter_map(|row| Some((row, row.label?)));
        let rows: Vec<_> = labelled.collect();
        let (_, first) = rows.first()?;
        Some(Self {
            are_points: matches!(first, PanelSaid::Points(_)),
            rows,
        })
    }

    pub(super) fn count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// How far a judge agrees with the labels.
    pub(super) fn judge(&self, place: usize) -> LabelAgreement {
        self.agreement(&|row| seat(row, place))
    }

    /// How far the verdicts of all do.
    pub(super) fn panel(&self) -> LabelAgreement {
        self.agreement(&|row| row.panel)
    }

    fn agreement(&self, says: &dyn Fn(&PanelRow) -> Option<PanelSaid>) -> LabelAgreement {
        let said = || self.rows.iter().filter(|(row, _)| says(row).is_some());
        let judged = said().count() as u64;
        if self.are_points {
            let distances = self.rows.iter();
            let distances = distances.filter_map(|(row, label)| distance(says(row)?, *label));
            let estimate = MeanEstimate::of(&distances.collect::<Vec<_>>());
            return LabelAgreement {
                judged,
                distance: estimate.mean,
                distance_ci95: estimate.ci95().map(|[low, high]| [low.max(0.0), high]),
                ..LabelAgreement::default()
            };
        }
        let right = self
            .rows
            .iter()
            .filter(|(row, label)| says(row) == Some(*label));
        let right = right.count() as u64;
        LabelAgreement {
            judged,
            agreement: stats::ratio(right, self.count()),
            agreement_ci95: stats::wilson95(right, self.count()),
            ..LabelAgreement::default()
        }
    }

    /// The best judge alone, where the panel is worse than it: the interval of the difference over the same answers
    /// says so.
    pub(super) fn worse(&self, judges: &[String]) -> Option<WorsePanel> {
        let merit = |place: &usize| {
            let judge = self.judge(*place);
            let merit = judge.agreement.or(judge.distance.map(|distance| -distance));
            merit.unwrap_or(f64::NEG_INFINITY)
        };
        // Of equals the first.
        let best = (0..judges.len())
            .rev()
            .max_by(|one, other| merit(one).total_cmp(&merit(other)))?;
        let (difference, ci95) = if self.are_points {
            let farther = self.rows.iter().filter_map(|(row, label)| {
                let of_panel = distance(row.panel?, *label)?;
                Some(of_panel - distance(seat(row, best)?, *label)?)
            });
            let estimate = MeanEstimate::of(&farther.collect::<Vec<_>>());
            (
                estimate.mean?,
                estimate.ci95().filter(|ci95| ci95[0] > 0.0)?,
            )
        } else {
            let counts = |says: Option<PanelSaid>, label: PanelSaid| AnswerCounts {
                right: u32::from(says == Some(label)),
                of: 1,
            };
            let pairs = self.rows.iter().map(|(row, label)| ComparedSample {
                before: counts(seat(row, best), *label),
                now: counts(row.panel, *label),
            });
            let difference = paired_difference(&pairs.collect::<Vec<_>>())?;
            let ci95 = Some(difference.ci95).filter(|ci95| ci95[1] < 0.0)?;
            (difference.value, ci95)
        };
        Some(WorsePanel {
            judge: judges[best].clone(),
            difference,
            ci95,
        })
    }
}

fn seat(row: &PanelRow, place: usize) -> Option<PanelSaid> {
    Some(row.seats.get(place).copied().flatten()?.says)
}

fn distance(says: PanelSaid, label: PanelSaid) -> Option<f64> {
    match (says, label) {
        (PanelSaid::Points(says), PanelSaid::Points(label)) => Some((says - label).abs()),
        _ => None,
    }
}
