//! Differences with their intervals: over all, by slice, by scorer, of means, of all pairs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::figure::{Interval, P, Share, ci95, or_dash};
use crate::report::compare::said::{ALPHA, difference_cells, rows_apart, share};
use crate::report::compare::{ComparedRun, RunPair};
use crate::report::document::{Chart, IntervalRow, IntervalScale, ScatterPoint};
use crate::report::html::{draw, intervals};
use crate::report::render::html::escape::text;
use crate::report::section::accuracy;
use crate::verdict::check::PairedFigures;
use crate::verdict::compare::RunsComparison;
use crate::verdict::compare::means::PairedMean;
use crate::verdict::summary::VALUE;

/// So many rows of a table.
const MOST_ROWS: usize = 40;

const HEADS: [&str; 3] = ["", ci95!("B less A in points, "), "of"];

/// Where two runs differ.
pub(super) fn two(compared: &RunsComparison, out: &mut dyn Write) -> io::Result<()> {
    if compared.whole.difference.is_none() {
        return Ok(());
    }
    // One scale for all, so that one look compares them.
    let whole = [("all samples", &compared.whole)];
    let of_slices = compared.slices.values().flatten();
    let all = of_slices.chain(&compared.scorers).map(|(_, it)| it);
    let all = all.chain([&compared.whole]);
    let scale = IntervalScale::differences(all.filter_map(|it| it.difference_ci95));
    writeln!(out, "<h2>Difference</h2>")?;
    drawn("Accuracy", &whole, scale, out)?;
    for (dimension, values) in &compared.slices {
        let mut values = by_name(values);
        // Level 10 comes after level 9.
        values.sort_by_key(|(value, _)| (value.parse::<i64>().unwrap_or(i64::MAX), *value));
        drawn(&format!("By {dimension}"), &values, scale, out)?;
    }
    if !compared.scorers.is_empty() {
        drawn("By scorer", &by_name(&compared.scorers), scale, out)?;
    }
    means(&compared.means, out)
}

fn by_name(figures: &BTreeMap<String, PairedFigures>) -> Vec<(&str, &PairedFigures)> {
    let figures = figures.iter();
    figures.map(|(name, it)| (name.as_str(), it)).collect()
}

fn drawn(
    caption: &str,
    figures: &[(&str, &PairedFigures)],
    scale: IntervalScale,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = figures.iter().take(MOST_ROWS).map(|(name, it)| {
        let p = it.p_two_sided.map(|p| format!(", {}", P(p)));
        IntervalRow {
            note: format!(
                "{} pairs, {} to {}{}",
                it.n,
                share(it.accuracy_a),
                share(it.accuracy_b),
                p.unwrap_or_default()
            ),
            ..row((*name).to_owned(), it)
        }
    });
    let rows: Vec<_> = rows.collect();
    intervals(caption, HEADS, scale, &rows, out)?;
    if let Some(note) = rows_apart(figures.iter().take(MOST_ROWS).copied()) {
        writeln!(out, "<p>{}</p>", text(&note))?;
    }
    left(figures.len(), out)
}

fn left(all: usize, out: &mut dyn Write) -> io::Result<()> {
    match all.saturating_sub(MOST_ROWS) {
        0 => Ok(()),
        more => writeln!(out, "<p>And {more} more: <code>--json</code>.</p>"),
    }
}

fn row(label: String, figures: &PairedFigures) -> IntervalRow {
    let [points, interval] = difference_cells(figures);
    IntervalRow {
        label,
        value: figures.difference,
        interval: figures.difference_ci95,
        figures: format!("{points} ({interval})"),
        ..IntervalRow::default()
    }
}

/// The numbers that scorers tell besides. A score that is always 0 or 1 is the accuracy, which stands above.
fn means(
    means: &BTreeMap<String, BTreeMap<String, PairedMean>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let told = means.iter().flat_map(|(scorer, entries)| {
        let entries = entries.iter().map(move |(name, mean)| (scorer, name, mean));
        entries.filter(|(_, name, mean)| !(mean.is_share && *name == VALUE))
    });
    let told: Vec<_> = told.collect();
    if told.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-label=\"Means\" tabindex=\"0\"><table>\n<caption>Means of what scorers tell besides</caption>\n\
         <thead><tr><th scope=\"col\">mean of</th><th scope=\"col\">pairs</th><th scope=\"col\">A</th><th scope=\"col\">B</th>\
         <th scope=\"col\">B less A</th><th scope=\"col\">{}</th></tr></thead>\n<tbody>",
        ci95!()
    )?;
    let number = |number: Option<f64>| number.map_or("-".to_owned(), |it| format!("{it:.4}"));
    let signed = |number: f64| format!("{number:+.4}");
    for (scorer, name, mean) in told.iter().take(MOST_ROWS) {
        let interval = mean.difference_ci95;
        let interval = interval.map(|[low, high]| format!("{} to {}", signed(low), signed(high)));
        writeln!(
            out,
            "<tr><th scope=\"row\">{} {}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            text(scorer),
            text(name),
            mean.n,
            number(mean.mean_a),
            number(mean.mean_b),
            mean.difference.map_or("-".to_owned(), signed),
            interval.unwrap_or("-".to_owned()),
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    left(told.len(), out)
}

/// Three runs or more, and all pairs of them.
pub(super) fn several(
    runs: &[ComparedRun],
    pairs: &[RunPair],
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = runs.iter().map(|run| {
        let range = run.accuracy_bounds.filter(|[low, high]| low < high);
        let shown = accuracy::shown(run.accuracy, run.accuracy_bounds);
        let figures = match (shown, range, run.accuracy_ci95) {
            (Some(shown), None, Some([low, high])) => {
                Some(format!("{shown} ({})", Interval([Share(low), Share(high)])))
            }
            (shown, ..) => shown,
        };
        IntervalRow {
            label: format!("{} {}", run.letter, run.run_id),
            value: run.accuracy,
            interval: run.accuracy_ci95,
            range,
            figures: figures.unwrap_or_else(|| "-".to_owned()),
            note: format!("{} of {}", run.correct, run.scored),
        }
    });
    let rows: Vec<_> = rows.collect();
    let heads = ["run", ci95!("accuracy, "), "correct"];
    intervals("Accuracy", heads, IntervalScale::SHARES, &rows, out)?;
    let points = runs.iter().filter_map(|run| {
        Some(ScatterPoint {
            letter: run.letter.clone(),
            x: run.usage.cost_usd?,
            y: run.accuracy?,
            interval: run.accuracy_ci95,
        })
    });
    let points: Vec<_> = points.collect();
    if points.len() > 1 && points.iter().any(|point| point.x > 0.0) {
        draw(
            Chart::Scatter {
                caption: "Accuracy against cost".into(),
                below: "cost in USD".into(),
                points,
            },
            out,
        )?;
    }
    let of_pairs = pairs.iter();
    let scale = IntervalScale::differences(
        of_pairs.filter_map(|pair| pair.comparison.whole.difference_ci95),
    );
    let rows = pairs.iter().map(|pair| {
        let [a, b] = pair.places.map(|place| &*runs[place].letter);
        let p = |p: Option<f64>| or_dash(p.map(|p| P(p).cell()));
        IntervalRow {
            note: format!(
                "{} pairs, p {}, Holm {}: {}",
                pair.comparison.whole.n,
                p(pair.comparison.whole.p_two_sided),
                p(pair.p_holm),
                pair.said()
            ),
            ..row(format!("{b} less {a}"), &pair.comparison.whole)
        }
    });
    let rows: Vec<_> = rows.collect();
    writeln!(out, "<h2>All pairs</h2>")?;
    let heads = ["", ci95!("points, "), "what it says"];
    intervals("Difference", heads, scale, &rows, out)?;
    let left_out: Vec<_> = pairs
        .iter()
        .filter_map(|pair| pair.left_out(runs))
        .collect();
    if !left_out.is_empty() {
        writeln!(out, "<ul>")?;
        for line in left_out {
            writeln!(out, "<li>{}</li>", text(&line))?;
        }
        writeln!(out, "</ul>")?;
    }
    writeln!(
        out,
        "<p class=\"soft\">p is two-sided, and Holm adjusts it over all pairs: two runs are told apart where the interval \
         leaves out 0 and the adjusted p is below {ALPHA}. Two of them alone have a page with who flipped.</p>"
    )
}
