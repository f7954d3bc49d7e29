//! What a judge was asked, in a line for people.

pub(crate) mod jury;
pub(crate) mod pairs;

use crate::figure::{Interval, Seconds, Usd, Value, counted};
use crate::verdict::judged::calibration::{CorrectedFigure, JudgeCalibration};
use crate::verdict::summary::JudgeSummary;

/// What a judge was asked and what that cost, and how many answers it gave no verdict on.
pub(crate) fn line(judge: &JudgeSummary) -> String {
    let mut calls = format!(
        "{} on {}",
        counted(judge.calls, "call"),
        counted(judge.samples, "answer")
    );
    let parts = [
        (judge.asked_again, "asked again"),
        (judge.cached, "from the cache"),
        (judge.stored, "stored"),
    ];
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !parts.is_empty() {
        calls = format!("{calls} ({})", parts.join(", "));
    }
    let mut figures = vec![calls];
    if let Some(latency) = judge
        .latency_s
        .as_ref()
        .filter(|latency| latency.max >= 0.05)
    {
        figures.push(format!(
            "latency median {}, p95 {}",
            Seconds(latency.p50),
            Seconds(latency.p95)
        ));
    }
    figures.extend(
        judge
            .usage
            .tokens()
            .map(|tokens| format!("{tokens} tokens")),
    );
    figures.extend(judge.usage.cost_usd.map(|cost| Usd(cost).to_string()));
    if judge.unread > 0 {
        figures.push(format!("{} unread ({})", judge.unread, reasons(judge)));
    }
    figures.extend(judge.calibration.as_ref().map(JudgeCalibration::told));
    figures.join(", ")
}

/// The means that labels of people correct, a line each: first what they are, then that they are so only if the judge errs
/// here as there, and what is doubtful about the labels.
pub fn corrected(calibration: Option<&JudgeCalibration>) -> Vec<String> {
    let Some(calibration) = calibration else {
        return Vec::new();
    };
    let line = |(name, of): (&String, &CorrectedFigure), how: &str| {
        let by_judge = of
            .judge
            .map(|mean| format!("{} by the judge, ", Value(mean)));
        format!(
            "{name}: {}{} {how} ({}; {} labels, {} answers)",
            by_judge.unwrap_or_default(),
            Value(of.value),
            Interval(of.ci95.map(Value)).ci95(),
            of.labels,
            of.items
        )
    };
    let own = calibration.corrected.iter();
    let own = own.map(|figure| line(figure, "corrected"));
    let others = calibration.corrected_if_alike.iter();
    let others = others.map(|figure| {
        line(
            figure,
            "corrected, if the judge errs on this agent as on that one",
        )
    });
    let mut lines: Vec<String> = own.chain(others).collect();
    if !lines.is_empty() {
        let doubts = calibration.doubts.iter();
        lines.extend(doubts.map(|doubt| format!("its labels: {doubt}")));
    }
    lines
}

/// Why there is no verdict, with how often.
pub(crate) fn reasons(judge: &JudgeSummary) -> String {
    let reasons = judge.reasons.iter();
    let reasons = reasons.map(|(reason, count)| format!("{count} {reason}"));
    reasons.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(in crate::report) mod tests {
    use std::io::{self, Write};

    use super::*;
    use crate::verdict::summary::{Latency, Summary, UsageTotal};

    /// What is written of a run with these judges, by the names of their scorers.
    pub(in crate::report) fn written(
        write: impl Fn(&Summary, &mut dyn Write) -> io::Result<()>,
        judges: &[(&str, &JudgeSummary)],
    ) -> String {
        let mut summary = Summary::of("e", &[]);
        let scorers = judges
            .iter()
            .map(|&(name, judge)| (name.to_owned(), judge.clone()));
        summary.judge = (!judges.is_empty()).then(|| JudgeSummary {
            scorers: scorers.collect(),
            ..JudgeSummary::default()
        });
        let mut out = Vec::new();
        write(&summary, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_has_what_there_is() {
        let mut judge = JudgeSummary {
            calls: 47,
            samples: 45,
            asked_again: 2,
            ..JudgeSummary::default()
        };
        assert_eq!(line(&judge), "47 calls on 45 answers (2 asked again)");
        judge.cached = 5;
        judge.unread = 3;
        judge.reasons = [("conflicting", 2), ("truncated", 1)]
            .map(|(reason, count)| (reason.to_owned(), count))
            .into();
        judge.usage = UsageTotal {
            input_tokens: Some(50_000),
            output_tokens: Some(1_200),
            cost_usd: Some(0.0123),
            samples: 47,
        };
        judge.latency_s = Some(Latency {
            mean: 1.0,
            p50: 1.0,
            p90: 2.0,
            p95: 2.0,
            p99: 2.0,
            max: 2.0,
        });
        assert_eq!(
            line(&judge),
            "47 calls on 45 answers (2 asked again, 5 from the cache), latency median 1.0 s, p95 2.0 s, 51200 tokens, \
             0.0123 USD, 3 unread (2 conflicting, 1 truncated)"
        );
    }
}
