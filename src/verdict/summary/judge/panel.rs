//! `PanelTally`: the verdicts of a jury on each answer, and their figures.

mod labelled;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::judge;
use super::{ENOUGH, JurorSummary, JurySummary, TOTAL, VALUE};
use crate::data::{JudgeCall, JurorVote, Record};
use crate::stats::{self, Alphas, Unit, scaled};
use crate::verdict::agreement::Ballot;
use labelled::Labelled;

/// The verdicts of a jury.
#[derive(Clone, Debug, Default)]
pub(super) struct PanelTally {
    summary: JurySummary,
    judges: Vec<String>,
    /// The choices that occur.
    choices: Vec<String>,
    /// The clusters of the answers, with their indices.
    clusters: BTreeMap<String, usize>,
    rows: Vec<PanelRow>,
}

/// One answer.
#[derive(Clone, Debug)]
struct PanelRow {
    /// By judge; `None` without a verdict.
    jurors: Vec<Option<JurorVerdict>>,
    label: Option<PanelReply>,
    panel: Option<PanelReply>,
    /// The index of its cluster, if it has one.
    cluster: Option<usize>,
}

/// The verdict of one judge.
#[derive(Clone, Copy, Debug)]
struct JurorVerdict {
    says: PanelReply,
    correct: bool,
    outlier: bool,
}

/// A verdict, or a label.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PanelReply {
    /// The index of a choice.
    Choice(usize),
    /// A total, or the value of choices without a verdict among them.
    Points(f64),
}

/// The votes of a record, by the name of the jury.
pub(super) fn votes(calls: &[JudgeCall]) -> BTreeMap<&str, Vec<&JurorVote>> {
    let mut juries = BTreeMap::<&str, Vec<&JurorVote>>::new();
    for call in calls {
        let Some(vote) = call.vote.as_deref() else {
            continue;
        };
        let jury = call.scorer.strip_suffix(&*vote.judge);
        if let Some(jury) = jury.and_then(|jury| jury.strip_suffix('/')) {
            juries.entry(jury).or_default().push(vote);
        }
    }
    juries
}

impl PanelTally {
    /// Adds the verdicts of a jury on an answer; returns why the jury has none, if so.
    pub(super) fn add(
        &mut self,
        record: &Record,
        jury: &str,
        first: Option<&str>,
        votes: &[&JurorVote],
    ) -> Option<String> {
        let mut jurors = vec![None; self.judges.len()];
        for vote in votes {
            let known = self.judges.iter().position(|judge| *judge == vote.judge);
            let place = known.unwrap_or_else(|| {
                self.judges.push(vote.judge.clone());
                jurors.push(None);
                self.judges.len() - 1
            });
            let says = match (&vote.choice, vote.total) {
                (Some(choice), _) => Some(self.choice(choice)),
                (None, total) => total.map(PanelReply::Points),
            };
            jurors[place] = says.map(|says| JurorVerdict {
                says,
                correct: vote.correct.unwrap_or_default(),
                outlier: vote.outlier,
            });
        }
        // Labels are of the first answer.
        let label = votes.iter().find_map(|vote| vote.label.as_ref());
        let label = match label.filter(|_| record.epoch == 0) {
            Some(Value::String(choice)) => Some(self.choice(choice)),
            Some(label) => label.as_f64().map(PanelReply::Points),
            None => None,
        };
        let (panel, reason) = match verdict(record, jury, first) {
            Ok(details) => (self.panel(&details), None),
            Err(reason) => (None, Some(reason)),
        };
        self.summary.samples += 1;
        if let Some(reason) = &reason {
            self.summary.unread += 1;
            *self.summary.reasons.entry(reason.clone()).or_default() += 1;
        }
        let cluster = record.cluster.as_ref().map(|cluster| {
            let next = self.clusters.len();
            *self.clusters.entry(cluster.clone()).or_insert(next)
        });
        self.rows.push(PanelRow {
            jurors,
            label,
            panel,
            cluster,
        });
        reason
    }

    fn choice(&mut self, name: &str) -> PanelReply {
        let known = self.choices.iter().position(|choice| choice == name);
        PanelReply::Choice(known.unwrap_or_else(|| {
            self.choices.push(name.to_owned());
            self.choices.len() - 1
        }))
    }

    fn panel(&mut self, [choice, number]: &[Option<Value>; 2]) -> Option<PanelReply> {
        match choice.as_ref().and_then(Value::as_str) {
            Some(choice) => Some(self.choice(choice)),
            None => number
                .as_ref()
                .and_then(Value::as_f64)
                .map(PanelReply::Points),
        }
    }

    pub(super) fn finish(self) -> JurySummary {
        let labelled = Labelled::of(&self.rows, self.judges.len());
        let judges = self.judges.iter().enumerate();
        let judges = judges.map(|(place, name)| JurorSummary {
            name: name.clone(),
            labels: labelled.as_ref().map(|labelled| labelled.judge(place)),
            ..self.judge(place)
        });
        JurySummary {
            alpha: self.alpha(),
            judges: judges.collect(),
            pairs: self.pairs(),
            labelled: labelled.as_ref().map_or(0, Labelled::count),
            compared: labelled.as_ref().map_or(0, Labelled::compared),
            panel: labelled.as_ref().map(Labelled::panel),
            worse: labelled
                .as_ref()
                .and_then(|labelled| labelled.worse(&self.judges)),
            ..self.summary
        }
    }

    fn judge(&self, place: usize) -> JurorSummary {
        let jurors = self
            .rows
            .iter()
            .map(|row| row.jurors.get(place).copied().flatten());
        let replies: Vec<JurorVerdict> = jurors.flatten().collect();
        let judged = replies.len() as u64;
        let outliers = replies.iter().filter(|juror| juror.outlier).count() as u64;
        let is_constant = replies.windows(2).all(|two| two[0].says == two[1].says);
        JurorSummary {
            judged,
            unread: self.summary.samples - judged,
            outliers,
            outlier_share: stats::ratio(outliers, judged),
            constant: is_constant && replies.len() >= ENOUGH,
            ..JurorSummary::default()
        }
    }

    /// By squared distances for points, nominal for choices.
    fn alpha(&self) -> Option<f64> {
        let replies = || self.rows.iter().flat_map(|row| row.jurors.iter().flatten());
        let has_choices = replies().any(|juror| matches!(juror.says, PanelReply::Choice(_)));
        let points = |says: PanelReply| match says {
            PanelReply::Points(points) => Some(points),
            PanelReply::Choice(_) => None,
        };
        let mut values: Vec<f64> = replies().filter_map(|juror| points(juror.says)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup_by(|one, other| one.total_cmp(other).is_eq());
        let class = |says: PanelReply| match says {
            PanelReply::Choice(place) => Some(place),
            PanelReply::Points(points) => values
                .binary_search_by(|value| value.total_cmp(&points))
                .ok(),
        };
        let numbers = (!has_choices).then(|| scaled(&values));
        let units = self.rows.iter().map(|row| {
            let classes = row.jurors.iter().flatten();
            let classes = classes.filter_map(|juror| class(juror.says));
            Unit::of(&classes.collect::<Vec<_>>(), numbers.as_deref())
        });
        let units: Vec<Unit> = units.collect();
        let classes = if has_choices {
            self.choices.len()
        } else {
            values.len()
        };
        let units = units.iter().map(|unit| (unit, 1));
        let alphas = Alphas::of(units, numbers.as_deref(), classes);
        if has_choices {
            alphas.nominal
        } else {
            alphas.interval
        }
    }

    fn pairs(&self) -> Vec<crate::verdict::agreement::ScorerPair> {
        let mut ballot = Ballot::new(self.judges.iter().cloned());
        for row in &self.rows {
            let votes = row
                .jurors
                .iter()
                .map(|juror| juror.map(|juror| juror.correct));
            ballot.add(&votes.collect::<Vec<_>>(), 1);
        }
        ballot.finish().pairs
    }
}

/// The choice and the number of a jury's verdict on an answer, or why there is none.
fn verdict(record: &Record, jury: &str, first: Option<&str>) -> Result<[Option<Value>; 2], String> {
    let no_reason = || "failed".to_owned();
    if let Some(score) = judge::score_of(record, jury) {
        if score.get("correct").is_none() {
            let reason = score.get("reason").and_then(Value::as_str);
            return Err(reason.map_or_else(no_reason, str::to_owned));
        }
        let detail = |name: &str| score.get("details")?.get(name).cloned();
        return Ok([
            detail("verdict"),
            detail(TOTAL).or_else(|| score.get(VALUE).cloned()),
        ]);
    }
    let outcome = &record.result;
    let decides = first.is_none_or(|first| first == jury);
    match &outcome.score {
        Some(score) if decides => Ok([
            score.details.get("verdict").cloned(),
            score
                .details
                .get(TOTAL)
                .cloned()
                .or(Some(score.value.into())),
        ]),
        _ => {
            let reason = outcome.error.as_ref().and_then(|error| error.reason);
            Err(reason.map_or_else(no_reason, |reason| reason.as_str().to_owned()))
        }
    }
}
