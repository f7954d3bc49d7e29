//! Notices about how the judges of a run score.

use std::collections::{BTreeMap, BTreeSet};

use super::{ENOUGH, JudgeSummary, JurySummary, TOTAL};
use crate::figure::{Interval, Points, Share, counted, with_minus};
use crate::stats;
use crate::verdict::judged::calibration::JudgeCalibration;
use crate::verdict::summary::{Summary, VALUE};

/// Notices about the judges of a finished run: constant scores, correlation with the length of answers, self-agreement.
pub(crate) fn judge_notices(summary: &Summary) -> Vec<String> {
    let judges = summary.judge.iter().flat_map(|judge| &judge.scorers);
    let juries = summary.judge.iter().flat_map(|judge| &judge.juries);
    let of_juries = juries.flat_map(|(name, jury)| of_jury(name, jury));
    let jurors = summary.judge.iter().flat_map(|judge| &judge.juries);
    let jurors = jurors.flat_map(|(name, jury)| {
        let judges = jury.judges.iter();
        judges.map(move |judge| format!("{name}/{}", judge.name))
    });
    let jurors: BTreeSet<String> = jurors.collect();
    judges
        .flat_map(|(name, judge)| {
            let least = if jurors.contains(name) {
                // In a jury other judges hide it, and gates are about the whole.
                judge.samples / 5 + 1
            } else if summary.scorer.as_deref() == Some(name) {
                // Gates report it.
                u64::MAX
            } else {
                judge.samples
            };
            let noun = judge.noun(summary);
            let silent = silent(name, judge, least, noun);
            let means = means_of(summary, name);
            let score = means.and_then(|means| means.get(TOTAL).or_else(|| means.get(VALUE)));
            let has_points = means.is_some_and(|means| means.contains_key(TOTAL));
            let others = of_one(name, judge, score.copied(), (has_points, noun));
            silent.into_iter().chain(others)
        })
        .chain(of_juries)
        .collect()
}

/// Notices that a judge is often an outlier, and that the panel is worse than one judge.
fn of_jury(name: &str, jury: &JurySummary) -> Vec<String> {
    /// The outlier share above which a judge is reported.
    const OFTEN: f64 = 0.2;
    let warning = jury
        .calibration
        .as_ref()
        .and_then(JudgeCalibration::warning);
    let warning = warning.map(|warning| format!("jury `{name}` is {warning}"));
    let mut notices: Vec<String> = warning.into_iter().collect();
    for judge in &jury.judges {
        if let Some(share) = judge.outlier_share.filter(|share| *share > OFTEN) {
            notices.push(format!(
                "jury `{name}`: judge `{}` is far from the others in {} of {} answers: check its verdicts, or remove it",
                judge.name,
                Share(share),
                judge.judged
            ));
        }
    }
    if let (Some(worse), Some(panel)) = (&jury.worse, &jury.panel) {
        let judge = &worse.judge;
        let best = jury.judges.iter().find(|one| one.name == *judge);
        let best = best.and_then(|best| best.labels);
        let text = match (panel.agreement, best.and_then(|best| best.agreement)) {
            (Some(panel), Some(best)) => format!(
                "the panel agrees with the labels of {} answers in {}, its judge `{judge}` alone in {}: {} points, {}",
                jury.labelled,
                Share(panel),
                Share(best),
                Points(worse.difference),
                Interval(worse.ci95.map(Points)).ci95()
            ),
            _ => format!(
                "the panel is {:.2} points from the labels of {} answers, its judge `{judge}` alone {:.2}: {}, {}",
                panel.distance.unwrap_or_default(),
                jury.compared,
                best.and_then(|best| best.distance).unwrap_or_default(),
                with_minus(&format!("{:+.2}", worse.difference)),
                Interval(worse.ci95.map(|end| with_minus(&format!("{end:+.2}")))).ci95()
            ),
        };
        notices.push(format!(
            "jury `{name}` is worse than its best judge: {text}; use that judge alone, or `aggregate: weighted`"
        ));
    }
    notices
}

/// A notice that a judge gave no verdict on at least `least` answers.
fn silent(name: &str, judge: &JudgeSummary, least: u64, noun: &str) -> Option<String> {
    let (all, unread) = (judge.samples, judge.unread);
    let all_of_them = counted(all, noun);
    let of = if unread == all {
        "any".to_owned()
    } else {
        unread.to_string()
    };
    let reasons = judge.reasons.iter();
    let reasons = reasons.map(|(reason, count)| format!("{count} {reason}"));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    (all > 0 && unread >= least)
        .then(|| format!("judge `{name}` gave no verdict on {of} of {all_of_them} ({reasons})"))
}

/// A notice that several models replied under the same name, which no figure shows. Fingerprints only identify
/// machines.
fn several_models(name: &str, judge: &JudgeSummary) -> Option<String> {
    let mut models = BTreeMap::<&str, u64>::new();
    for (model, calls) in &judge.models {
        let model = model.split_once(" (").map_or(&**model, |(model, _)| model);
        *models.entry(model).or_default() += calls;
    }
    let text: Vec<String> = models
        .iter()
        .map(|(model, calls)| format!("`{model}` {calls}"))
        .collect();
    (models.len() > 1).then(|| {
        format!(
            "judge `{name}` was served by {} models ({} calls): its verdicts are not those of one judge",
            models.len(),
            text.join(", ")
        )
    })
}

fn of_one(
    name: &str,
    judge: &JudgeSummary,
    score: Option<f64>,
    (has_points, noun): (bool, &str),
) -> Vec<String> {
    let warning = judge
        .calibration
        .as_ref()
        .and_then(JudgeCalibration::warning);
    let warning = warning.map(|warning| format!("judge `{name}` is {warning}"));
    let mut notices: Vec<String> = warning.into_iter().collect();
    notices.extend(several_models(name, judge));
    let judged = judge.samples - judge.unread;
    if judge.constant {
        // 4.0: a score, not a count.
        let score = score
            .map(|score| format!(", {score:?}"))
            .unwrap_or_default();
        notices.push(format!(
            "judge `{name}` gave all {judged} {noun}s the same score{score}, so it cannot distinguish them"
        ));
    }
    if let Some(correlation) = judge.length_correlation
        && judged >= ENOUGH as u64
        && is_worth_knowing(correlation, judged)
    {
        notices.push(format!(
            "judge `{name}`: its scores of {judged} {noun}s correlate with their length by {correlation:.2} (Spearman)"
        ));
    }
    if let Some(agreement) = judge.self_agreement {
        let what = if has_points { "points" } else { "choice" };
        let repeats = judge.repeats;
        notices.push(format!(
            "judge `{name}`: its repeats give the same {what} as its first verdict in {} of {repeats} repeats",
            Share(agreement)
        ));
    }
    notices
}

/// Whether a correlation is significant and not negligible. The test is of its z-transform (R. A. Fisher, *Metron* 1,
/// 1921), two-sided at 5 %, with the variance for ranks (E. C. Fieller, H. O. Hartley and E. S. Pearson, *Biometrika*
/// 44, 1957).
fn is_worth_knowing(correlation: f64, of: u64) -> bool {
    const LEAST: f64 = 0.3;
    // The normal quantile.
    const Z: f64 = 1.959_964;
    const RANKS: f64 = 1.06;
    let degrees = stats::as_f64(of.saturating_sub(3));
    correlation.abs() >= LEAST && correlation.abs().atanh() * (degrees / RANKS).sqrt() > Z
}

/// The means of a scorer, if the summary has them.
fn means_of<'a>(summary: &'a Summary, name: &str) -> Option<&'a BTreeMap<String, f64>> {
    let of_first = || (summary.scorer.as_deref() == Some(name)).then_some(&summary.means);
    let own = summary.scorers.get(name).map(|scorer| &scorer.means);
    own.or_else(of_first)
}

#[cfg(test)]
mod tests {
    use super::is_worth_knowing;

    #[test]
    fn insignificant_or_weak_correlation_is_not_reported() {
        // The critical values of Spearman's rho at 5 % are 0.648 for 10 pairs, 0.447 for 20 and 0.279 for 50.
        for (correlation, of, expect) in [
            (0.0, 10, false),
            (0.6, 10, false),
            (0.68, 10, true),
            (-0.68, 10, true),
            (1.0, 10, true),
            (0.42, 20, false),
            (0.47, 20, true),
            (0.29, 10_000, false),
            (0.3, 10_000, true),
        ] {
            assert_eq!(
                is_worth_knowing(correlation, of),
                expect,
                "{correlation} {of}"
            );
        }
    }
}
