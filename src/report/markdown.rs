//! `summary.md`: the summary for people, as GitHub-flavoured Markdown.
//!
//! Names, ids and messages come from datasets and agents. They are escaped, so that none of them can make
//! a link, an image, HTML, a mention, a table column or a command of CI, and what is not seen is shown as an escape.

mod assertions;
mod costs;
mod epochs;
mod judge;
mod labels;

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::accuracy;
use super::metrics::ReportedMetrics;
use super::render::markdown::text;
use super::reviewed::lines;
use crate::figure::{Interval, Share};
use crate::verdict::run::Run;
use crate::verdict::summary::{Group, Summary};

/// Writes the summary of a run as Markdown.
pub fn run(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    summary(&run.summary, out)?;
    assertions::assertions(run, out)
}

/// Writes the figures of a run as Markdown.
pub(crate) fn summary(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {}\n", text(&summary.eval))?;
    headline(summary, out)?;
    gates(summary, out)?;
    super::alerts::in_markdown(summary, out)?;
    epochs::epochs(summary, out)?;
    slices(&summary.slices, out)?;
    difficulty(summary, out)?;
    scorers(summary, out)?;
    labels::labels(summary, out)?;
    means(&summary.means, out)?;
    costs::costs(summary, out)?;
    judge::judges(summary, out)?;
    reviewed(summary, out)?;
    failures(summary, out)?;
    metrics(summary, out)
}

fn headline(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if let Some(tier) = &summary.tier {
        writeln!(out, "Tier {}.\n", text(tier))?;
    }
    if let Some(progressive) = summary.progressive.as_ref().filter(|it| it.is_ended()) {
        writeln!(out, "**Ended early**: {}.\n", text(&progressive.told()))?;
    }
    if let Some(part) = &summary.part {
        writeln!(
            out,
            "This is **{}**: gates are judged when all are merged.\n",
            part.told()
        )?;
    } else if summary.partial {
        writeln!(out, "**Partial run**: gates are ignored.")?;
        writeln!(out)?;
    }
    if let Some(look) = summary.early_stop {
        let (number, of, left) = (look.number, look.of, summary.skipped);
        writeln!(
            out,
            "**Stopped early**: every gate was sure at look {number} of {of}; {left} were not asked."
        )?;
        writeln!(out)?;
    }
    let shown = accuracy::shown(summary.accuracy, summary.accuracy_bounds);
    let (correct, scored) = (summary.correct, summary.scored);
    match (shown, accuracy::missing(summary)) {
        (Some(range), Some(missing)) => writeln!(
            out,
            "**{range} ({missing})** correct: {correct} of the {scored} scored."
        )?,
        (Some(share), None) => {
            let ci95 = comma_ci95(summary.accuracy_ci95);
            writeln!(out, "**{share}** correct: {correct} of {scored}{ci95}.")?;
        }
        (None, _) => writeln!(out, "Nothing was scored.")?,
    }
    let bounds = summary.failure_rate_bounds;
    if let Some(shown) = accuracy::shown(summary.failure_rate, bounds) {
        let ci95 = comma_ci95(summary.failure_rate_ci95.filter(|_| !is_range(bounds)));
        writeln!(out, "\nFailure rate: {shown}{ci95}.")?;
    }
    if let Some(name) = summary
        .scorer
        .as_deref()
        .filter(|name| summary.is_uncalibrated(name))
    {
        writeln!(
            out,
            "\nThe judge that decides, {}, is uncalibrated.",
            text(name)
        )?;
    }
    if summary.failed_as_wrong > 0 {
        let failed = summary.failed_as_wrong;
        writeln!(
            out,
            "\n{failed} gave no answer, which counts as wrong here."
        )?;
    }
    writeln!(out)?;
    let rate = summary.error_rate.map(|rate| format!(" ({})", Share(rate)));
    table(
        out,
        &[
            if summary.epochs.is_some() {
                "answers"
            } else {
                "samples"
            },
            "scored",
            "correct",
            "errors",
            "unscored",
            "skipped",
        ],
    )?;
    row(
        out,
        &[
            summary.samples.to_string(),
            summary.scored.to_string(),
            summary.correct.to_string(),
            format!("{}{}", summary.errors, rate.unwrap_or_default()),
            summary.unscored.to_string(),
            summary.skipped.to_string(),
        ],
    )
}

/// What people say of the items.
fn reviewed(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(reviewed) = &summary.reviewed else {
        return Ok(());
    };
    section(out, "Reviewed by people")?;
    let mut lines = lines(reviewed).into_iter();
    lines.try_for_each(|line| writeln!(out, "- {}", text(&line)))
}

fn gates(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.gates.is_empty() {
        return Ok(());
    }
    section(out, "Gates")?;
    table(out, &["gate", "verdict", "message"])?;
    for result in &summary.gates {
        let lines: Vec<String> = result.message.lines().map(text).collect();
        row(
            out,
            &[
                text(&result.gate.to_string()),
                format!("**{}**", result.verdict.as_str()),
                lines.join("<br>"),
            ],
        )?;
    }
    writeln!(out, "\nExit code {}.", summary.exit_code.code())
}

fn slices(
    slices: &BTreeMap<String, BTreeMap<String, Group>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (dimension, values) in slices {
        section(out, &format!("By {}", text(dimension)))?;
        table(
            out,
            &[&text(dimension), "samples", "correct", "accuracy", "errors"],
        )?;
        for (value, group) in in_order(values) {
            row(
                out,
                &[
                    text(value),
                    group.samples.to_string(),
                    format!("{} of {}", group.correct, group.scored),
                    share(group.accuracy, group.accuracy_bounds, group.accuracy_ci95),
                    group.errors.to_string(),
                ],
            )?;
        }
    }
    Ok(())
}

/// Level 10 comes after level 9.
fn in_order(values: &BTreeMap<String, Group>) -> Vec<(&String, &Group)> {
    let mut values: Vec<_> = values.iter().collect();
    values.sort_by_key(|(value, _)| (value.parse::<i64>().unwrap_or(i64::MAX), *value));
    values
}

fn difficulty(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.difficulty_drop.is_empty() {
        return Ok(());
    }
    section(out, "Difficulty drop")?;
    table(
        out,
        &["from level", "to level", "relative drop of accuracy"],
    )?;
    for step in &summary.difficulty_drop {
        let drop = step
            .drop
            .map_or("undefined".to_owned(), |drop| Share(drop).to_string());
        row(out, &[text(&step.from), text(&step.to), drop])?;
    }
    Ok(())
}

fn scorers(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.scorers.is_empty() {
        return Ok(());
    }
    section(out, "Scorers")?;
    table(
        out,
        &["scorer", "correct", "accuracy", "mean score", "errors"],
    )?;
    let decides = |name: &str| summary.scorer.as_deref() == Some(name);
    let mut scorers: Vec<_> = summary.scorers.iter().collect();
    scorers.sort_by_key(|(name, _)| !decides(name));
    for (name, scorer) in scorers {
        let mean = scorer
            .means
            .get("value")
            .map_or("-".to_owned(), |mean| number(*mean));
        let decides = if decides(name) { " (decides)" } else { "" };
        let marked = if summary.is_uncalibrated(name) {
            ", uncalibrated"
        } else {
            ""
        };
        row(
            out,
            &[
                text(name) + decides + marked,
                format!("{} of {}", scorer.correct, scorer.scored),
                share(
                    scorer.accuracy,
                    scorer.accuracy_bounds,
                    scorer.accuracy_ci95,
                ),
                mean,
                scorer.errors.to_string(),
            ],
        )?;
    }
    by_slice(summary, out)
}

/// The accuracy of each scorer in each slice.
fn by_slice(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> = summary.scorers.keys().map(|name| text(name)).collect();
    for (dimension, values) in &summary.slices {
        section(out, &format!("Scorers by {}", text(dimension)))?;
        let mut titles = vec![text(dimension)];
        titles.extend(names.iter().cloned());
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        table(out, &titles)?;
        for (value, group) in in_order(values) {
            let share = |name: &String| {
                let scorer = group.scorers.get(name);
                let shown = scorer
                    .and_then(|scorer| accuracy::shown(scorer.accuracy, scorer.accuracy_bounds));
                shown.unwrap_or("-".to_owned())
            };
            let cells = summary.scorers.keys().map(share);
            let cells = std::iter::once(text(value)).chain(cells);
            row(out, &cells.collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

fn means(means: &BTreeMap<String, f64>, out: &mut dyn Write) -> io::Result<()> {
    if means.is_empty() {
        return Ok(());
    }
    section(out, "Means")?;
    table(out, &["of", "mean"])?;
    for (name, mean) in means {
        row(out, &[text(name), number(*mean)])?;
    }
    Ok(())
}

fn failures(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.failures.is_empty() {
        return Ok(());
    }
    section(out, "Errors")?;
    table(out, &["kind", "samples"])?;
    for (kind, count) in &summary.failures {
        row(out, &[text(kind), count.to_string()])?;
    }
    Ok(())
}

fn metrics(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.metrics.is_empty() {
        return Ok(());
    }
    let metrics = ReportedMetrics::of(summary);
    section(out, "The benchmark's own metrics")?;
    let bounded = metrics.numbers.iter().any(|number| number.bounds.is_some());
    let heads = ["metric", "value", "had every sample a verdict"];
    let columns = if bounded { 3 } else { 2 };
    table(out, &heads[..columns])?;
    for number in metrics.numbers {
        let bounds = number.bounds.map(|[low, high]| format!("{low} to {high}"));
        let cells = [text(&number.name), number.value, bounds.unwrap_or_default()];
        row(out, &cells[..columns])?;
    }
    for name in metrics.unknown {
        row(
            out,
            &[text(&name), "N/A".to_owned(), String::new()][..columns],
        )?;
    }
    for (title, list) in metrics.texts {
        writeln!(out, "\n{}: {}", text(&title), text(&list))?;
    }
    for shown in metrics.tables {
        let heads: Vec<String> = shown.heads.iter().map(|head| text(head)).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        writeln!(out, "\n### {}\n", text(&shown.title))?;
        table(out, &heads)?;
        for cells in &shown.rows {
            row(
                out,
                &cells.iter().map(|cell| text(cell)).collect::<Vec<_>>(),
            )?;
        }
    }
    Ok(())
}

pub(super) fn section(out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "\n## {title}\n")
}

pub(super) fn table(out: &mut dyn Write, titles: &[&str]) -> io::Result<()> {
    writeln!(out, "| {} |", titles.join(" | "))?;
    writeln!(out, "|{}", "---|".repeat(titles.len()))
}

pub(super) fn row(out: &mut dyn Write, cells: &[String]) -> io::Result<()> {
    writeln!(out, "| {} |", cells.join(" | "))
}

/// `, 95 % confidence interval 51.2 % to 72.0 %`; nothing where there is none.
fn comma_ci95(ci95: Option<[f64; 2]>) -> String {
    ci95.map_or_else(String::new, |ci95| {
        format!(", {}", Interval(ci95.map(Share)).ci95())
    })
}

/// A share with its interval; where it is a range, without.
fn share(share: Option<f64>, bounds: Option<[f64; 2]>, ci95: Option<[f64; 2]>) -> String {
    match (accuracy::shown(share, bounds), ci95) {
        (Some(share), Some([low, high])) if !is_range(bounds) => {
            format!("{share} ({})", Interval([Share(low), Share(high)]))
        }
        (Some(share), _) => share,
        (None, _) => "-".to_owned(),
    }
}

/// Whether samples lack a verdict, so that the share is not known.
fn is_range(bounds: Option<[f64; 2]>) -> bool {
    bounds.is_some_and(|[low, high]| low < high)
}

fn number(number: f64) -> String {
    ((number * 1e4).round() / 1e4).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Status;
    use crate::verdict::facts::Facts;
    use crate::verdict::gate::Gate;
    use crate::verdict::summary::tests::record;

    #[test]
    fn shows_every_part() {
        let records = [
            record("a", Status::Scored, true, "1"),
            record("b", Status::Scored, false, "2"),
            record("c", Status::TimedOut, false, "10"),
        ];
        let mut summary = Summary::of("my|eval", &records);
        summary.metrics.insert("own".to_owned(), 3.into());
        let gate: Gate = "accuracy >= 0.2".parse().unwrap();
        summary.gates = vec![gate.check(&Facts::of(summary.clone()))];
        let mut out = Vec::new();
        super::summary(&summary, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        for expect in [
            "# my\\|eval\n",
            "**33.3 % to 66.7 % (1 of 3 without an answer)** correct: 1 of the 2 scored.",
            "Failure rate: 33.3 % to 66.7 %.",
            "| 3 | 2 | 1 | 1 (33.3 %) | 0 | 0 |",
            "| accuracy &gt;= 0.2 | **passed** | accuracy is 0.5",
            "| 2 | 1 | 0 of 1 | 0.0 % (0.0 % to 79.3 %) | 0 |\n| 10 | 1 | 0 of 0 | 0.0 % to 100.0 % | 1 |",
            "| 1 | 2 | 100.0 % |\n| 2 | 10 | undefined |",
            "| timed\\_out | 1 |",
            "| own | 3 |",
            "| latency, median | 1.5 s |",
        ] {
            assert!(out.contains(expect), "`{expect}` is not in:\n{out}");
        }
        assert!(!out.contains("NaN"), "{out}");
    }

    #[test]
    fn an_empty_run_is_no_trouble() {
        let mut out = Vec::new();
        super::summary(&Summary::of("none", &[]), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("Nothing was scored."), "{out}");
    }
}
