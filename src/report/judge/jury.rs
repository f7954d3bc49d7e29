//! How far the judges of a jury agree, for people.

use crate::figure::{Interval, Scale, Share, or_dash};
use crate::verdict::agreement::ScorerPair;
use crate::verdict::judged::calibration::JudgeCalibration;
use crate::verdict::summary::{JurorSummary, JurySummary, LabelAgreement};

/// How far they agree, and on how many answers they came to no verdict.
pub(crate) fn line(jury: &JurySummary) -> String {
    let answers = match jury.samples {
        1 => "1 answer".to_owned(),
        samples => format!("{samples} answers"),
    };
    let mut figures = vec![format!("{} judges on {answers}", jury.judges.len())];
    figures.push(format!("alpha {}", number(jury.alpha)));
    let shares = jury.pairs.iter().filter_map(|pair| pair.agreement);
    let low = shares.clone().reduce(f64::min);
    let high = shares.reduce(f64::max);
    if let (Some(low), Some(high)) = (low, high) {
        let [low, high] = [low, high].map(|share| Share(share).to_string());
        figures.push(if low == high {
            format!("pairs agree in {low}")
        } else {
            format!("pairs agree in {low} to {high}")
        });
    }
    if jury.unread > 0 {
        let reasons = jury.reasons.iter();
        let reasons = reasons.map(|(reason, count)| format!("{count} {reason}"));
        let reasons = reasons.collect::<Vec<_>>().join(", ");
        figures.push(format!("{} without a verdict ({reasons})", jury.unread));
    }
    figures.extend(jury.calibration.as_ref().map(JudgeCalibration::told));
    figures.join(", ")
}

/// How far each judge and the panel agree with people; `None` without labels.
pub(crate) fn labels_line(jury: &JurySummary) -> Option<String> {
    let panel = jury.panel.as_ref()?;
    let of = |name: &str, labels: &LabelAgreement| format!("{name} {}", agreement(labels));
    let judges = jury.judges.iter();
    let judges = judges.filter_map(|judge| Some(of(&judge.name, judge.labels.as_ref()?)));
    let all: Vec<_> = std::iter::once(of("panel", panel)).chain(judges).collect();
    let what = match panel.agreement {
        Some(_) => "how many agree",
        None => "how far off",
    };
    let labels = match jury.labelled {
        1 => "1 label".to_owned(),
        labelled => format!("{labelled} labels"),
    };
    let what = match jury.compared {
        // Of choices all are.
        0 => what.to_owned(),
        compared if compared == jury.labelled => what.to_owned(),
        compared => format!("{what} on the {compared} that all gave a verdict on"),
    };
    Some(format!("of {labels}, {what}: {}", all.join(", ")))
}

/// With its interval.
pub(crate) fn agreement(labels: &LabelAgreement) -> String {
    let of = |ends: [f64; 2]| format!(" ({})", Interval(ends.map(|end| Scale(end, 2))));
    match (labels.agreement, labels.distance) {
        (Some(share), _) => {
            let share = Share(share);
            let ci95 = labels.agreement_ci95;
            ci95.map_or_else(|| share.to_string(), |ci95| share.with_interval(ci95))
        }
        (None, Some(distance)) => {
            let interval = labels.distance_ci95.map(of).unwrap_or_default();
            format!("{distance:.2} points{interval}")
        }
        (None, None) => "-".to_owned(),
    }
}

/// How often a judge is far from the others.
pub(crate) fn outliers(judge: &JurorSummary) -> String {
    let share = judge.outlier_share.map(Share);
    share.map_or_else(
        || "-".to_owned(),
        |share| format!("{} ({share})", judge.outliers),
    )
}

/// Both find the same answers correct: the share, and kappa.
pub(crate) fn pair(pair: &ScorerPair) -> String {
    let share = or_dash(pair.agreement.map(Share));
    format!("{share} of {}, kappa {}", pair.judged, number(pair.kappa))
}

pub(crate) fn number(value: Option<f64>) -> String {
    or_dash(value.map(|value| Scale(value, 2)))
}
