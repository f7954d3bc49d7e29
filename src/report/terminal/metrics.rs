//! Slices, and the benchmark's own metrics, on a terminal.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::errors_of;
use crate::report::accuracy;
use crate::report::metrics::ReportedMetrics;
use crate::report::render::terminal::table::{self, cut};
use crate::text::clean;
use crate::verdict::summary::{Group, Summary};

/// As many slices fit on one line.
const ON_A_LINE: usize = 4;

/// More slices than this are only in `summary.md`.
const SLICES: usize = 40;

/// How many rows of a table are shown.
const ROWS: usize = 5;

/// What a name may take of a line.
const NAME: usize = 40;

/// What a list may take of a line.
const TEXT: usize = 200;

/// The accuracy of each slice: few on a line, more as a table.
pub(super) fn slices(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    // Of a slice nobody counts which of the two they are.
    let left = match summary.not_judged {
        0 => "not asked",
        _ => "not asked or not judged",
    };
    for (dimension, values) in &summary.slices {
        match values.len() {
            0..=ON_A_LINE => on_a_line(dimension, values, left, out)?,
            count if count > SLICES => {
                let dimension = clean(dimension);
                writeln!(
                    out,
                    "  the {count} values of `{dimension}` are in summary.md"
                )?;
            }
            _ => as_table(dimension, values, left, out)?,
        }
    }
    Ok(())
}

fn on_a_line(
    dimension: &str,
    values: &BTreeMap<String, Group>,
    left: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = values.iter().map(|(value, slice)| {
        let value = clean(value);
        let Some(share) = share(slice) else {
            let why = without_accuracy(slice, left);
            return format!("{dimension} {value} {why}");
        };
        let share = format!("{dimension} {value} {share} of {}", slice.scored);
        match others(slice, left) {
            others if others.is_empty() => share,
            others => format!("{share} {others}"),
        }
    });
    writeln!(out, "  {}", shown.collect::<Vec<_>>().join(", "))
}

fn as_table(
    dimension: &str,
    values: &BTreeMap<String, Group>,
    left: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let heads = [&*clean(dimension), "correct", "accuracy"].map(str::to_owned);
    let mut rows = vec![heads.to_vec()];
    for (value, slice) in values {
        let name = cut(&clean(value), NAME);
        rows.push(match share(slice) {
            Some(share) => vec![
                name,
                format!("{} of {}", slice.correct, slice.scored),
                share,
                others(slice, left),
            ],
            None => vec![
                name,
                format!("0 of {}", slice.scored),
                "N/A".to_owned(),
                without_accuracy(slice, left),
            ],
        });
    }
    table::write("  ", &rows, out)
}

/// The accuracy of a slice in which something was scored.
fn share(slice: &Group) -> Option<String> {
    let bounds = slice.accuracy_bounds;
    slice
        .accuracy
        .and_then(|share| accuracy::shown(Some(share), bounds))
}

/// `3 without a verdict (+57 not asked)`
fn without_accuracy(slice: &Group, left: &str) -> String {
    let asked = slice.samples.saturating_sub(slice.skipped);
    match (asked, slice.errors > 0, slice.skipped) {
        (0, _, skipped) => format!("{skipped} {left}"),
        (asked, true, 0) => format!("{asked} without a verdict"),
        (asked, true, skipped) => format!("{asked} without a verdict (+{skipped} {left})"),
        (asked, false, 0) => format!("{asked} unscored"),
        (asked, false, skipped) => format!("{asked} unscored (+{skipped} {left})"),
    }
}

/// `(+2 errors) (+3 not asked)`
fn others(slice: &Group, left: &str) -> String {
    let others = [
        (slice.errors, errors_of(slice.errors)),
        (slice.skipped, format!("{} {left}", slice.skipped)),
    ];
    let others = others.iter().filter(|(count, _)| *count > 0);
    let others: Vec<String> = others.map(|(_, what)| format!("(+{what})")).collect();
    others.join(" ")
}

/// The benchmark's own metrics.
pub(super) fn metrics(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let metrics = ReportedMetrics::of(summary);
    let numbers = metrics.numbers.iter().map(|number| {
        let bounds = number.bounds.as_ref();
        let bounds = bounds.filter(|[low, high]| low != high);
        vec![
            cut(&clean(&number.name), NAME),
            number.value.clone(),
            bounds.map_or(String::new(), |[low, high]| format!("{low} to {high}")),
        ]
    });
    let numbers: Vec<Vec<String>> = numbers.collect();
    if !numbers.is_empty() {
        let has_bounds = |row: &Vec<String>| row.last().is_some_and(|last| !last.is_empty());
        let bounds = if numbers.iter().any(has_bounds) {
            ", and what they could be had every sample a verdict"
        } else {
            ""
        };
        writeln!(out, "  metrics of the benchmark{bounds}:")?;
        table::write("    ", &numbers, out)?;
    }
    if !metrics.unknown.is_empty() {
        let names = metrics.unknown.join(", ");
        writeln!(out, "    N/A: {}", cut(&clean(&names), TEXT))?;
    }
    for (title, text) in &metrics.texts {
        writeln!(out, "    {}: {}", clean(title), cut(&clean(text), TEXT))?;
    }
    for shown in &metrics.tables {
        let cells =
            |cells: &Vec<String>| cells.iter().map(|cell| cut(&clean(cell), NAME)).collect();
        let count = shown.rows.len();
        writeln!(out, "  {} ({count}):", clean(&shown.title))?;
        let rows = std::iter::once(&shown.heads).chain(shown.rows.iter().take(ROWS));
        let rows: Vec<Vec<String>> = rows.map(cells).collect();
        table::write("    ", &rows, out)?;
        if count > ROWS {
            writeln!(out, "    … and {} more, see summary.md", count - ROWS)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Status;
    use crate::verdict::summary::tests::record;

    #[test]
    fn many_slices_are_a_table() {
        let mut records: Vec<_> = (0..6)
            .map(|level| record("a", Status::Scored, level > 2, &format!("l{level}")))
            .collect();
        records.push(record("b", Status::TimedOut, false, "l0"));
        records.push(record("c", Status::TimedOut, false, "other"));
        let mut out = Vec::new();
        slices(&Summary::of("e", &records), &mut out).unwrap();
        let expect = "  level  correct         accuracy
  l0      0 of 1  0.0 % to 50.0 %           (+1 error)
  l1      0 of 1            0.0 %
  l2      0 of 1            0.0 %
  l3      1 of 1          100.0 %
  l4      1 of 1          100.0 %
  l5      1 of 1          100.0 %
  other   0 of 0              N/A  1 without a verdict
";
        assert_eq!(String::from_utf8(out).unwrap(), expect);
        let records: Vec<_> = (0..50)
            .map(|level| record("a", Status::Scored, true, &level.to_string()))
            .collect();
        let mut out = Vec::new();
        slices(&Summary::of("e", &records), &mut out).unwrap();
        let expect = "  the 50 values of `level` are in summary.md\n";
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }

    #[test]
    fn metrics_are_numbers_lists_and_tables() {
        let mut summary = Summary::of("e", &[]);
        let row = |name: &str| json!({"function_name": name, "samples": 3, "share": 0.25});
        let rows = ["f", "g", "h", "i", "j", "k"].map(row);
        let metrics = json!({
            "overall": 0.12345, "count": 3, "live": null, "memory": null,
            "counted_as_zero": ["a", "b\u{1b}"], "weights": {"x": 0.5},
            "wrong": rows,
            "nothing": [],
            "bounds": {"overall": [0.1, 0.2]},
        });
        summary.metrics = metrics.as_object().unwrap().clone();
        let mut out = Vec::new();
        super::metrics(&summary, &mut out).unwrap();
        let expect =
            "  metrics of the benchmark, and what they could be had every sample a verdict:
    overall  0.1235  0.1000 to 0.2000
    count         3
    N/A: live, memory
    counted as zero: a, b\\u{1b}
    weights: x 0.5
  wrong (6):
    function name  samples   share
    f                    3  0.2500
    g                    3  0.2500
    h                    3  0.2500
    i                    3  0.2500
    j                    3  0.2500
    … and 1 more, see summary.md
";
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }
}
