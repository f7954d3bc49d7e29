//! Reads the run directories of stages into figures.

use std::collections::BTreeMap;

use serde_json::Value;

use super::figures::{
    ComparedItems, DimensionPoints, FlowGate, FlowStage, ItemPoints, JudgeWorth, PointMean,
    StageCost,
};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::report::corrected_lines;
use crate::report::reported::{MaskedTexts, ReportedRun};
use crate::run::CiPolicy;
use crate::run::record::reload::reload;
use crate::store::RunDir;
use crate::verdict::judged::calibration::{CalibrationStatus, JudgeCalibration};
use crate::verdict::summary::{JudgeSummary, Summary, judge_notices};

/// A finished run of a stage.
pub(super) struct StageRun {
    run: ReportedRun,
}

impl StageRun {
    pub(super) fn read(dir: &RunDir) -> Result<Self> {
        let mut run = ReportedRun::read(dir.clone(), MaskedTexts::Visible)?;
        // People may have added labels since.
        if run.summary.judge.is_some()
            && let Ok(now) = reload(dir, None, CiPolicy::default())
        {
            run.summary.judge = now.summary.judge;
        }
        Ok(Self { run })
    }

    /// The run directory.
    pub(super) fn dir(&self) -> &RunDir {
        &self.run.dir
    }

    /// How it ended.
    pub(super) fn exit(&self) -> Exit {
        self.summary().exit_code
    }

    fn summary(&self) -> &Summary {
        &self.run.summary
    }

    /// The name and summary of the only scorer that uses a judge.
    fn judge(&self) -> Option<(&str, &JudgeSummary)> {
        let judge = self.summary().judge.as_ref()?;
        let (name, judge) = judge.scorers.iter().next()?;
        Some((name, judge))
    }

    /// The gates with their verdicts.
    pub(super) fn gates(&self, stage: FlowStage) -> Vec<FlowGate> {
        let gates = self.summary().gates.iter();
        gates
            .map(|gate| FlowGate {
                stage,
                gate: gate.gate.to_string(),
                verdict: gate.verdict,
                value: gate.value,
                threshold: gate.threshold,
                message: gate.message.clone(),
                default: gate.default,
            })
            .collect()
    }

    /// The cost of the stage.
    pub(super) fn cost(&self, stage: FlowStage) -> StageCost {
        let summary = self.summary();
        let judge = summary.judge.as_ref();
        // Judging stages request no answers.
        let answers = matches!(stage, FlowStage::Generate);
        let usages = [
            answers.then_some(&summary.usage),
            judge.map(|judge| &judge.usage),
        ];
        let usages = || usages.iter().flatten();
        let tokens: Vec<u64> = usages().filter_map(|usage| usage.tokens()).collect();
        let costs: Vec<f64> = usages().filter_map(|usage| usage.cost_usd).collect();
        let attempts = if answers { summary.attempts } else { 0 };
        StageCost {
            stage,
            requests: attempts + judge.map_or(0, |judge| judge.requests),
            tokens: (!tokens.is_empty()).then(|| tokens.iter().sum()),
            cost_usd: (!costs.is_empty()).then(|| costs.iter().sum()),
            duration_s: self.run.manifest.duration_s,
        }
    }

    /// The kinds of errors that samples ended with, as text.
    pub(super) fn failures(&self) -> String {
        let failures = self.summary().failures.iter();
        let failures = failures.map(|(kind, times)| format!("{times} {kind}"));
        failures.collect::<Vec<_>>().join(", ")
    }

    /// Why the stage has no figures, if no reply of its judge could be read.
    pub(super) fn unread(&self) -> Option<String> {
        let read = self.judge().map(|(_, judge)| judge.samples - judge.unread);
        if read.is_some_and(|read| read > 0) {
            return None;
        }
        let failures = self.summary().failures.iter();
        let reasons = self.judge().map(|(_, judge)| &judge.reasons);
        let reasons: BTreeMap<&String, &u64> = reasons
            .into_iter()
            .flatten()
            .chain(failures.filter(|(kind, _)| *kind != "scorer_failed"))
            .collect();
        let reasons = reasons
            .iter()
            .map(|(reason, times)| format!("{times} {reason}"));
        let reasons: Vec<_> = reasons.collect();
        let why = self.run.manifest.stop_reason.as_deref();
        let mut text = "no reply of the judge could be read".to_owned();
        if !reasons.is_empty() {
            text = format!("{text} ({})", reasons.join(", "));
        }
        if let Some(why) = why {
            let line = why.lines().next().unwrap_or_default();
            text = format!("{text}; it stopped early: {line}");
        }
        Some(text)
    }

    /// Notices about the judge, and that the stage stopped early, if it did.
    fn notes(&self) -> Vec<String> {
        let why = self.run.manifest.stop_reason.as_deref();
        let why = why.and_then(|why| why.lines().next());
        let stopped = why.map(|why| format!("incomplete, because the stage stopped early: {why}"));
        let notes = judge_notices(self.summary());
        stopped.into_iter().chain(notes).collect()
    }

    /// The points given by the judge.
    pub(super) fn judged(&self) -> Result<ItemPoints> {
        let Some((name, judge)) = self.judge() else {
            return Ok(ItemPoints::default());
        };
        let bounds = self.run.manifest.detail_bounds.get(name);
        let scale = bounds.and_then(|bounds| bounds.get("total")).copied();
        let mut topics = BTreeMap::<String, Vec<f64>>::new();
        for record in self.run.records()? {
            let record = record?;
            let total = record.result.score.as_ref().map(|score| {
                let total = score.details.get("total");
                total.and_then(Value::as_f64).unwrap_or(score.value)
            });
            if let (Some(total), Some(topic)) = (total, record.slices.get("topic")) {
                let topic = topic
                    .as_str()
                    .map_or_else(|| topic.to_string(), str::to_owned);
                topics.entry(topic).or_default().push(total);
            }
        }
        let topics = topics.into_iter();
        let topics = topics.map(|(name, points)| DimensionPoints {
            name,
            points: PointMean::of(&points, scale),
        });
        let points = judge.points.clone().unwrap_or_default();
        Ok(ItemPoints {
            items: judge.samples,
            unread: judge.unread,
            reasons: judge.reasons.clone(),
            total: points.total,
            pass: points.pass,
            excellent: points.excellent,
            dimensions: points.dimensions,
            topics: topics.collect(),
            worth: worth(judge),
            notes: self.notes(),
        })
    }

    /// Whether the judge passes each item, by item id, for items with a verdict.
    pub(super) fn passes(&self) -> Result<Vec<(String, bool)>> {
        let mut all = Vec::new();
        for record in self.run.records()? {
            let record = record?;
            if let Some(score) = &record.result.score {
                all.push((record.sample_id, score.correct));
            }
        }
        Ok(all)
    }

    /// The comparison with real items.
    pub(super) fn compared(&self) -> Result<ComparedItems> {
        let judge = self.judge().map(|(_, judge)| judge);
        let pairs = judge.and_then(|judge| judge.pairs.clone());
        let (Some(judge), Some(pairs)) = (judge, pairs) else {
            return Err(Error::infrastructure("no pair has a verdict"));
        };
        Ok(ComparedItems {
            pairs,
            reasons: judge.reasons.clone(),
            worth: worth(judge),
            notes: self.notes(),
        })
    }
}

/// How far the judge agrees with labels by people.
fn worth(judge: &JudgeSummary) -> JudgeWorth {
    let Some(calibration) = &judge.calibration else {
        return JudgeWorth {
            text: "uncalibrated: it was never compared with human labels".to_owned(),
            ..JudgeWorth::default()
        };
    };
    JudgeWorth {
        calibrated: calibration.status == CalibrationStatus::Calibrated,
        text: JudgeCalibration::summary(calibration),
        kappa_ci95: calibration.kappa_ci95,
        corrected: corrected_lines(Some(calibration)),
    }
}
