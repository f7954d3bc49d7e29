//! What the figures of a run look like: accuracy by slice, by scorer, confusion, latency, judges.

use std::io::{self, Write};

use super::noted::NotedSamples;
use super::{draw, intervals};
use crate::figure::{Interval, Scale, Seconds, Share, ci95};
use crate::report::accuracy;
use crate::report::document::{Chart, HistogramMark, IntervalRow, IntervalScale};
use crate::report::judge::pairs::lines as pair_lines;
use crate::report::judge::{corrected, jury, line};
use crate::report::render::html::escape::text;
use crate::verdict::summary::{Group, JudgeSummary, Labels, Summary, judge_notices};

/// Values of a dimension that are drawn.
const MOST_VALUES: usize = 40;

/// Writes the charts of a run.
pub(super) fn charts(
    summary: &Summary,
    noted: &NotedSamples,
    out: &mut dyn Write,
) -> io::Result<()> {
    slices(summary, out)?;
    scorers(summary, out)?;
    if let Some(labels) = &summary.labels {
        confusion(labels, out)?;
    }
    latency(summary, noted, out)?;
    if let Some(judge) = &summary.judge {
        judges(judge, out)?;
        let notices = judge_notices(summary);
        if !notices.is_empty() {
            writeln!(out, "<p>To be seen to:</p>\n<ul>")?;
            for notice in notices {
                writeln!(out, "<li>{}</li>", text(&notice))?;
            }
            writeln!(out, "</ul>")?;
        }
    }
    Ok(())
}

/// A row of an accuracy.
pub(super) fn accuracy_row(
    label: String,
    share: Option<f64>,
    bounds: Option<[f64; 2]>,
    interval: Option<[f64; 2]>,
    note: String,
) -> IntervalRow {
    let range = bounds.filter(|[low, high]| low < high);
    let mut figures = accuracy::shown(share, bounds).unwrap_or_else(|| "–".to_owned());
    if let (None, Some(interval)) = (range, interval) {
        figures = format!("{figures} ({})", Interval(interval.map(Share)));
    }
    IntervalRow {
        label,
        value: share,
        interval,
        range,
        figures,
        note,
    }
}

fn of_group(label: String, group: &Group) -> IntervalRow {
    let errors = match group.errors {
        0 => String::new(),
        1 => ", 1 error".to_owned(),
        errors => format!(", {errors} errors"),
    };
    let note = format!("{} of {}{errors}", group.correct, group.scored);
    accuracy_row(
        label,
        group.accuracy,
        group.accuracy_bounds,
        group.accuracy_ci95,
        note,
    )
}

const HEADS: [&str; 3] = ["", ci95!("accuracy, "), "correct"];

fn slices(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.slices.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h3>Accuracy by slice</h3>")?;
    for (dimension, values) in &summary.slices {
        let mut values: Vec<_> = values.iter().collect();
        // Level 10 comes after level 9.
        values.sort_by_key(|(value, _)| (value.parse::<i64>().unwrap_or(i64::MAX), *value));
        let left = values.len().saturating_sub(MOST_VALUES);
        let rows: Vec<_> = values
            .into_iter()
            .take(MOST_VALUES)
            .map(|(value, group)| of_group(value.clone(), group))
            .collect();
        let caption = format!("By {dimension}");
        intervals(&caption, HEADS, IntervalScale::SHARES, &rows, out)?;
        if left > 0 {
            writeln!(out, "<p>And {left} more, in <code>summary.json</code>.</p>")?;
        }
    }
    Ok(())
}

fn scorers(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.scorers.len() < 2 {
        return Ok(());
    }
    let decides = |name: &str| summary.scorer.as_deref() == Some(name);
    let mut scorers: Vec<_> = summary.scorers.iter().collect();
    scorers.sort_by_key(|(name, _)| !decides(name));
    let rows = scorers.into_iter().map(|(name, scorer)| {
        let label = if decides(name) {
            format!("{name} (decides)")
        } else {
            name.clone()
        };
        accuracy_row(
            label,
            scorer.accuracy,
            scorer.accuracy_bounds,
            scorer.accuracy_ci95,
            format!("{} of {}", scorer.correct, scorer.scored),
        )
    });
    let rows: Vec<_> = rows.collect();
    writeln!(out, "<h3>Scorers</h3>")?;
    intervals("By scorer", HEADS, IntervalScale::SHARES, &rows, out)
}

fn confusion(labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let confusion = &labels.confusion;
    if labels.left_out || confusion.labels.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h3>Confusion of labels</h3>")?;
    let mut columns = confusion.labels.clone();
    columns.push("(other)".to_owned());
    draw(
        Chart::Confusion {
            caption: "Which truth got which prediction".into(),
            rows: confusion.labels.clone(),
            columns,
            counts: confusion.counts.clone(),
        },
        out,
    )
}

fn latency(summary: &Summary, noted: &NotedSamples, out: &mut dyn Write) -> io::Result<()> {
    let Some(latency) = &summary.latency_s else {
        return Ok(());
    };
    // What takes no time that anybody sees has no picture.
    if latency.max < 0.001 {
        return Ok(());
    }
    let mark = |label: &str, value: f64| HistogramMark {
        label: label.to_owned(),
        value,
    };
    let mut marks = vec![mark("p50", latency.p50)];
    // Two names at one place could not be read.
    if latency.p95 > latency.p50 + latency.max * 0.12 {
        marks.push(mark("p95", latency.p95));
    }
    writeln!(out, "<h3>Latency</h3>")?;
    draw(
        Chart::Histogram {
            caption: "Seconds an answer took".into(),
            unit: " s".into(),
            values: noted.latencies.clone(),
            marks,
        },
        out,
    )?;
    writeln!(
        out,
        "<p>Median {}, p95 {}, p99 {}, the slowest {}.</p>",
        Seconds(latency.p50),
        Seconds(latency.p95),
        Seconds(latency.p99),
        Seconds(latency.max)
    )
}

fn judges(judge: &JudgeSummary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h3>Judges</h3>\n<ul>")?;
    for (name, judge) in &judge.scorers {
        writeln!(
            out,
            "<li><code>{}</code>: {}</li>",
            text(name),
            text(&line(judge))
        )?;
        for told in judge.pairs.iter().flat_map(pair_lines) {
            writeln!(out, "<li><code>{}</code>: {}</li>", text(name), text(&told))?;
        }
    }
    for (name, of) in &judge.juries {
        let told = [jury::line(of)].into_iter().chain(jury::labels_line(of));
        for told in told {
            let (name, told) = (text(name), text(&told));
            writeln!(out, "<li>jury <code>{name}</code>: {told}</li>")?;
        }
    }
    writeln!(out, "</ul>")?;
    kappas(judge, out)?;
    let of_scorers = judge.scorers.iter();
    let of_scorers = of_scorers.map(|(name, judge)| (name, judge.calibration.as_ref()));
    let of_juries = judge.juries.iter();
    let of_juries = of_juries.map(|(name, jury)| (name, jury.calibration.as_ref()));
    for (name, calibration) in of_scorers.chain(of_juries) {
        let Some(calibration) = calibration else {
            continue;
        };
        let figures = calibration
            .corrected
            .iter()
            .chain(&calibration.corrected_if_alike);
        let mut rows = Vec::new();
        let mut ends: Vec<f64> = Vec::new();
        for (figure, of) in figures {
            ends.extend(of.judge.iter().chain(&of.ci95).chain([&of.value]));
            if let Some(value) = of.judge {
                rows.push(IntervalRow {
                    label: format!("{figure}, by the judge"),
                    value: Some(value),
                    figures: format!("{value:.3}"),
                    note: format!("{} answers", of.items),
                    ..IntervalRow::default()
                });
            }
            let ci95 = Interval(of.ci95.map(|end| Scale(end, 3)));
            rows.push(IntervalRow {
                label: format!("{figure}, corrected by labels"),
                value: Some(of.value),
                interval: Some(of.ci95),
                figures: format!("{:.3} ({ci95})", of.value),
                note: format!("{} labels", of.labels),
                ..IntervalRow::default()
            });
        }
        if !rows.is_empty() {
            let heads = ["", ci95!("mean, "), "of"];
            let scale = around(&ends);
            let caption = format!("What people's labels make of {name}");
            intervals(&caption, heads, scale, &rows, out)?;
        }
        let told = corrected(Some(calibration));
        if !told.is_empty() {
            writeln!(out, "<ul>")?;
            for line in told {
                writeln!(out, "<li>{}</li>", text(&line))?;
            }
            writeln!(out, "</ul>")?;
        }
    }
    Ok(())
}

/// How far judges agree with people.
fn kappas(judge: &JudgeSummary, out: &mut dyn Write) -> io::Result<()> {
    let of_scorers = judge.scorers.iter();
    let of_scorers = of_scorers.map(|(name, judge)| (name, judge.calibration.as_ref()));
    let of_juries = judge.juries.iter();
    let of_juries = of_juries.map(|(name, jury)| (name, jury.calibration.as_ref()));
    let known = of_scorers.chain(of_juries);
    let rows = known.filter_map(|(name, calibration)| {
        let calibration = calibration?;
        let kappa = calibration.kappa?;
        let interval = calibration.kappa_ci95;
        let shown = interval.map(|ends| format!(" ({})", Interval(ends.map(|end| Scale(end, 2)))));
        Some(IntervalRow {
            label: name.clone(),
            value: Some(kappa),
            interval,
            figures: format!("{kappa:.2}{}", shown.unwrap_or_default()),
            note: format!("{} labels", calibration.n),
            ..IntervalRow::default()
        })
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    let scale = IntervalScale {
        low: -1.0,
        high: 1.0,
        mark: Some(0.0),
    };
    let heads = ["", ci95!("kappa, "), "of"];
    let caption = "Agreement with people: 1 is always, 0 is by chance";
    intervals(caption, heads, scale, &rows, out)
}

/// A scale that has all of these in it; from none to all, if they are shares.
fn around(ends: &[f64]) -> IntervalScale {
    let low = ends.iter().copied().fold(0.0, f64::min);
    let high = ends.iter().copied().fold(1.0, f64::max);
    IntervalScale {
        low,
        high: if high > 1.0 { high.ceil() } else { 1.0 },
        mark: None,
    }
}
