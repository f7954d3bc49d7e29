//! `Labelled`: verdicts compared with labels of the same answers.
//!
//! All judges are compared over the same answers. For choices these are all labelled ones, and a missing verdict does
//! not agree. Distances need verdicts: they are over the answers on which all have one, except judges that lack most of
//! them.

use std::collections::BTreeMap;

use super::{PanelReply, PanelRow};
use crate::stats::{
    self, AnswerCounts, Clusters, ComparedSample, grouped_difference, grouped_mean95,
};
use crate::verdict::summary::judge::{LabelAgreement, WorsePanel};

/// The labelled answers. All labels are choices, or all are points.
pub(super) struct Labelled<'a> {
    rows: Vec<LabelledRow<'a>>,
    /// The answers that distances are over.
    common: Vec<LabelledRow<'a>>,
    are_points: bool,
}

/// An answer and its label.
type LabelledRow<'a> = (&'a PanelRow, PanelReply);

/// Whose verdicts: those of one judge or of the panel.
#[derive(Clone, Copy, Debug)]
enum Voice {
    Judge(usize),
    Panel,
}

impl Voice {
    fn says(self, row: &PanelRow) -> Option<PanelReply> {
        match self {
            Self::Judge(place) => Some(row.jurors.get(place).copied().flatten()?.says),
            Self::Panel => row.panel,
        }
    }

    fn distance(self, (row, label): &LabelledRow<'_>) -> Option<f64> {
        match (self.says(row)?, label) {
            (PanelReply::Points(says), PanelReply::Points(label)) => Some((says - label).abs()),
            _ => None,
        }
    }
}

impl<'a> Labelled<'a> {
    /// For this number of judges; `None` if nothing is labelled.
    pub(super) fn of(rows: &'a [PanelRow], judges: usize) -> Option<Self> {
        let labelled = rows.iter().filter_map(|row| Some((row, row.label?)));
        let rows: Vec<_> = labelled.collect();
        let (_, first) = rows.first()?;
        let are_points = matches!(first, PanelReply::Points(_));
        let judges = (0..judges).map(Voice::Judge);
        let has_most = |voice: &Voice| {
            let measured = rows.iter().filter(|row| voice.distance(row).is_some());
            2 * measured.count() >= rows.len()
        };
        let all: Vec<Voice> = judges.chain([Voice::Panel]).filter(has_most).collect();
        let is_common = |row: &&LabelledRow<'_>| all.iter().all(|it| it.distance(row).is_some());
        let common = rows.iter().filter(|_| are_points && !all.is_empty());
        Some(Self {
            common: common.filter(is_common).copied().collect(),
            are_points,
            rows,
        })
    }

    pub(super) fn count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The number of answers that distances are over.
    pub(super) fn compared(&self) -> u64 {
        self.common.len() as u64
    }

    /// The agreement of a judge with the labels.
    pub(super) fn judge(&self, place: usize) -> LabelAgreement {
        self.agreement(Voice::Judge(place))
    }

    /// The agreement of the panel with the labels.
    pub(super) fn panel(&self) -> LabelAgreement {
        self.agreement(Voice::Panel)
    }

    /// The distances from the labels, by group; `None` if a verdict on one of the common answers is missing.
    fn distances(&self, voice: Voice) -> Option<Vec<Vec<f64>>> {
        let all = self.common.iter();
        let all = all.map(|row| Some((row.0, voice.distance(row)?)));
        all.collect::<Option<Vec<_>>>().map(groups)
    }

    fn agreement(&self, voice: Voice) -> LabelAgreement {
        let replies = self
            .rows
            .iter()
            .filter(|(row, _)| voice.says(row).is_some());
        let judged = replies.count() as u64;
        if self.are_points {
            let groups = self.distances(voice).unwrap_or_default();
            let interval = grouped_mean95(&groups);
            return LabelAgreement {
                judged,
                distance: stats::mean(&groups.concat()),
                distance_ci95: interval.map(|[low, high]| [low.max(0.0), high]),
                ..LabelAgreement::default()
            };
        }
        let all = self.rows.iter();
        let all = all.map(|(row, label)| (*row, voice.says(row) == Some(*label)));
        let (mut right, mut clusters) = (0, Clusters::default());
        for group in groups(all) {
            let own = group.iter().filter(|is_right| **is_right).count() as u64;
            right += own;
            clusters.add(own, group.len() as u64);
        }
        LabelAgreement {
            judged,
            agreement: stats::ratio(right, self.count()),
            agreement_ci95: clusters.interval95(),
            ..LabelAgreement::default()
        }
    }

    /// The best single judge, if the panel is worse by the interval of the difference over the same answers.
    pub(super) fn worse(&self, judges: &[String]) -> Option<WorsePanel> {
        let merit = |place: &usize| {
            let judge = self.judge(*place);
            let merit = judge.agreement.or(judge.distance.map(|distance| -distance));
            merit.unwrap_or(f64::NEG_INFINITY)
        };
        // The first of the best ones.
        let best = (0..judges.len())
            .rev()
            .max_by(|one, other| merit(one).total_cmp(&merit(other)))?;
        let alone = Voice::Judge(best);
        let (difference, ci95) = if self.are_points {
            let farther = self.common.iter().map(|row| {
                let farther = Voice::Panel.distance(row)? - alone.distance(row)?;
                Some((row.0, farther))
            });
            let groups = groups(farther.collect::<Option<Vec<_>>>()?);
            let ci95 = grouped_mean95(&groups).filter(|ci95| ci95[0] > 0.0)?;
            (stats::mean(&groups.concat())?, ci95)
        } else {
            let counts = |voice: Voice, (row, label): &LabelledRow<'_>| AnswerCounts {
                right: u32::from(voice.says(row) == Some(*label)),
                of: 1,
            };
            let pairs = self.rows.iter().map(|row| {
                let pair = ComparedSample {
                    before: counts(alone, row),
                    now: counts(Voice::Panel, row),
                };
                (row.0, pair)
            });
            let difference = grouped_difference(&groups(pairs))?;
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

/// Groups values by the clusters of their answers; an answer without one is its own group.
fn groups<'a, T>(all: impl IntoIterator<Item = (&'a PanelRow, T)>) -> Vec<Vec<T>> {
    let mut clusters = BTreeMap::<usize, Vec<T>>::new();
    let mut groups = Vec::new();
    for (row, one) in all {
        match row.cluster {
            Some(cluster) => clusters.entry(cluster).or_default().push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.extend(clusters.into_values());
    groups
}
