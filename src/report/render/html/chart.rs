//! Charts as inline SVG: nothing is downloaded, and no scripts are needed.
//!
//! Positions are fractions of the width, so that a chart fills the available width while text keeps its size. The
//! figures of a chart are also in the text for accessibility. Colours come from the style sheet.

mod histogram;
mod intervals;
mod scatter;
mod series;

use std::io;
use std::io::Write;

use super::escape::{text, truncate};
use crate::report::document::Chart;

pub(super) use intervals::intervals;

/// Writes a chart.
pub(super) fn chart(content: &Chart, out: &mut dyn Write) -> io::Result<()> {
    match content {
        Chart::Histogram {
            caption,
            unit,
            values,
            marks,
        } => histogram::histogram(caption, unit, values, marks, out),
        Chart::Scatter {
            caption,
            below,
            points,
        } => scatter::scatter(caption, below, points, out),
        Chart::Confusion {
            caption,
            rows,
            columns,
            counts,
        } => matrix(caption, rows, columns, counts, out),
        Chart::Series(content) => content.write(out),
        Chart::Small(charts) => {
            writeln!(out, "<div class=\"small\">")?;
            charts.iter().try_for_each(|content| chart(content, out))?;
            writeln!(out, "</div>")
        }
    }
}

/// A fraction of the width or height in SVG syntax.
fn place(share: f64) -> String {
    let share = if share.is_finite() { share } else { 0.0 };
    format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)
}

/// A few round tick values from 0 to `most`: multiples of 1, 2 or 5 times a power of ten.
pub(crate) fn steps(most: f64) -> Vec<f64> {
    if !most.is_finite() || most <= 0.0 {
        return vec![0.0];
    }
    let rough = most / 4.0;
    let power = 10f64.powf(rough.log10().floor());
    let wide = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = wide.into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let mut ends = vec![0.0];
    while ends.len() < 12 && ends[ends.len() - 1] < most * 0.999_999 {
        #[expect(clippy::cast_precision_loss, reason = "a dozen at most")]
        ends.push(ends.len() as f64 * step);
    }
    ends
}

/// A number without insignificant decimals.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    let content = match size {
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 1.0 => format!("{value:.2}"),
        _ if size >= 0.001 => format!("{value:.4}"),
        _ => return format!("{value:.1e}"),
    };
    if content.contains('.') {
        content
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    } else {
        content
    }
}

/// Number of shades in the style sheet.
const SHADES: u64 = 5;

/// Writes the matrix of rows (ground truths) and columns (predictions). `columns` may be one more than `rows`.
fn matrix(
    caption: &str,
    rows: &[String],
    columns: &[String],
    counts: &[Vec<u64>],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table class=\"matrix\">\
         <caption>{0}</caption>\n<thead><tr><td>truth \\ prediction</td>",
        text(caption)
    )?;
    for column in columns {
        write!(out, "<th scope=\"col\">{}</th>", truncate(column, 24))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (place, (row, cells)) in rows.iter().zip(counts).enumerate() {
        write!(out, "<tr><th scope=\"row\">{}</th>", truncate(row, 24))?;
        let all: u64 = cells.iter().sum();
        for (column, count) in cells.iter().enumerate() {
            let shade = match (*count, all) {
                (0, _) | (_, 0) => 0,
                (count, all) => (count * (SHADES - 1)).div_ceil(all).min(SHADES - 1),
            };
            let side = if place == column { "hit" } else { "miss" };
            write!(out, "<td class=\"{side} q{shade}\">{count}</td>")?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_that_people_count_in() {
        fn check(most: f64, expect: &[f64]) {
            let found = steps(most);
            let same = found.iter().zip(expect).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(same && found.len() == expect.len(), "{most}: {found:?}");
        }
        check(1.0, &[0.0, 0.5, 1.0]);
        check(0.0, &[0.0]);
        check(f64::NAN, &[0.0]);
        check(7.3, &[0.0, 2.0, 4.0, 6.0, 8.0]);
        check(0.0041, &[0.0, 0.002, 0.004, 0.006]);
    }

    #[test]
    fn figures_are_short() {
        fn check(value: f64, expect: &str) {
            assert_eq!(short(value), expect);
        }
        check(0.0, "0");
        check(1.5, "1.5");
        check(120.0, "120");
        check(0.25, "0.25");
        check(0.000_041, "4.1e-5");
    }
}

#[cfg(test)]
mod matrix_tests {
    use super::*;

    #[test]
    fn cells_are_the_darker_the_more_of_their_row_they_hold() {
        let labels = ["a", "<b"].map(str::to_owned);
        let counts = [vec![9, 1, 0], vec![0, 0, 0]];
        let columns = ["a", "<b", "(other)"].map(str::to_owned);
        let mut out = Vec::new();
        matrix("Confusion", &labels, &columns, &counts, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let row =
            "<td class=\"hit q4\">9</td><td class=\"miss q1\">1</td><td class=\"miss q0\">0</td>";
        assert!(out.contains(row), "{out}");
        assert!(out.contains("<th scope=\"row\">&lt;b</th>"), "{out}");
    }
}
