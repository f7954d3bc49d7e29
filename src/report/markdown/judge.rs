//! What judges were asked, in `summary.md`.

use std::io::{self, Write};

use crate::report::render::markdown::text;

use super::{row, section, table};
use crate::figure::{Seconds, Usd, or_dash};
use crate::report::judge::{corrected, jury as of_jury, pairs, reasons};
use crate::verdict::judged::calibration::JudgeCalibration;
use crate::verdict::summary::{JudgeSummary, JurySummary, Summary, judge_notices};

/// A column for each scorer that asks a judge, and what people should know of it.
pub(super) fn judges(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(judge) = &summary.judge else {
        return Ok(());
    };
    section(out, "Judge")?;
    let mut heads = vec!["figure".to_owned()];
    heads.extend(judge.scorers.keys().map(|name| text(name)));
    table(out, &heads.iter().map(String::as_str).collect::<Vec<_>>())?;
    for (name, of) in FIGURES {
        let cells = judge.scorers.values().map(|judge| text(&of(judge)));
        let cells = std::iter::once((*name).to_owned()).chain(cells);
        row(out, &cells.collect::<Vec<_>>())?;
    }
    for (name, judge) in &judge.scorers {
        let Some(pairs) = &judge.pairs else {
            continue;
        };
        writeln!(out, "\n{}:\n", text(name))?;
        for line in pairs::lines(pairs) {
            writeln!(out, "- {}", text(&line))?;
        }
    }
    for (name, judge) in &judge.scorers {
        for line in corrected(judge.calibration.as_ref()) {
            writeln!(out, "\n{}", text(&format!("judge `{name}`, {line}")))?;
        }
    }
    for (name, of) in &judge.juries {
        jury(name, of, out)?;
    }
    for notice in judge_notices(summary) {
        writeln!(out, "\n{}", text(&notice))?;
    }
    Ok(())
}

/// How far the judges of a jury agree, with each other and with people.
fn jury(name: &str, jury: &JurySummary, out: &mut dyn Write) -> io::Result<()> {
    section(out, &format!("Jury {}", text(name)))?;
    writeln!(out, "{}\n", text(&of_jury::line(jury)))?;
    let mut heads = vec!["judge", "judged", "unread", "far from the others"];
    if jury.panel.is_some() {
        heads.push("against the labels");
    }
    table(out, &heads)?;
    for judge in &jury.judges {
        let mut cells = vec![
            text(&judge.name),
            judge.judged.to_string(),
            judge.unread.to_string(),
            of_jury::outliers(judge),
        ];
        cells.extend(judge.labels.as_ref().map(of_jury::agreement));
        row(out, &cells)?;
    }
    if let Some(panel) = &jury.panel {
        let judged = (jury.samples - jury.unread).to_string();
        let cells = [
            "(panel)".to_owned(),
            judged,
            jury.unread.to_string(),
            "-".to_owned(),
            of_jury::agreement(panel),
        ];
        row(out, &cells)?;
    }
    for line in corrected(jury.calibration.as_ref()) {
        writeln!(out, "\n{}", text(&format!("jury `{name}`, {line}")))?;
    }
    if jury.pairs.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    table(out, &["judges", "find the same correct"])?;
    for pair in &jury.pairs {
        let judges = format!("{}, {}", pair.one, pair.other);
        row(out, &[text(&judges), of_jury::pair(pair)])?;
    }
    Ok(())
}

/// A figure of a judge as a text.
type Figure = (&'static str, fn(&JudgeSummary) -> String);

const FIGURES: &[Figure] = &[
    ("answers", |judge| judge.samples.to_string()),
    ("unread", |judge| match judge.unread {
        0 => "0".to_owned(),
        unread => format!("{unread} ({})", reasons(judge)),
    }),
    ("calls", |judge| judge.calls.to_string()),
    ("asked again", |judge| judge.asked_again.to_string()),
    ("from the cache", |judge| judge.cached.to_string()),
    ("stored", |judge| judge.stored.to_string()),
    ("requests", |judge| judge.requests.to_string()),
    ("input tokens", |judge| or_dash(judge.usage.input_tokens)),
    ("output tokens", |judge| or_dash(judge.usage.output_tokens)),
    ("cost", |judge| {
        let cost = judge.usage.cost_usd;
        or_dash(cost.map(Usd))
    }),
    ("latency, mean", |judge| {
        let latency = judge.latency_s;
        or_dash(latency.map(|latency| Seconds(latency.mean)))
    }),
    ("models", |judge| counted(judge.models.iter())),
    ("forms", |judge| counted(judge.forms.iter())),
    ("labels of people", |judge| {
        or_dash(judge.calibration.as_ref().map(JudgeCalibration::told))
    }),
];

fn counted<'a>(counts: impl Iterator<Item = (&'a String, &'a u64)>) -> String {
    let counts: Vec<_> = counts
        .map(|(name, count)| format!("{name}: {count}"))
        .collect();
    match counts.as_slice() {
        [] => "-".to_owned(),
        counts => counts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::written;

    #[test]
    fn there_is_a_column_for_each_judge() {
        assert_eq!(written(judges, &[]), "");
        let one = JudgeSummary {
            calls: 12,
            samples: 11,
            unread: 1,
            reasons: [("refusal".to_owned(), 1)].into(),
            models: [("m|1".to_owned(), 12)].into(),
            self_agreement: Some(0.93),
            ..JudgeSummary::default()
        };
        let shown = written(judges, &[("a", &one), ("b", &JudgeSummary::default())]);
        for line in [
            "| figure | a | b |",
            "| unread | 1 (refusal) | 0 |",
            "| cost | - | - |",
            "| models | m\\|1: 12 | - |",
            "judge \\`a\\`: its repeats give the same",
        ] {
            let line = line.replace("1 (refusal)", "1 (1 refusal)");
            assert!(shown.contains(&line), "{line} is not in {shown}");
        }
    }
}
