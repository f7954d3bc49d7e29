//! Charts as inline SVG: nothing is downloaded, and no scripts are needed.
//!
//! Positions are fractions of the width, so that a chart fills the available width while text keeps its size. The
//! figures of a chart are also in the text for accessibility. Colours come from the style sheet.

mod scatter;
mod series;

use std::fmt::Write as _;
use std::io;
use std::io::Write;

use super::escape::{text, truncate};
use super::label_of;
use crate::report::document::{Chart, HistogramMark, IntervalRow, IntervalScale, Intervals};

/// Writes a chart.
pub(super) fn chart(content: &Chart, out: &mut dyn Write) -> io::Result<()> {
    match content {
        Chart::Histogram {
            caption,
            unit,
            values,
            marks,
        } => histogram(caption, unit, values, marks, out),
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

/// Number of bars.
const BARS: usize = 32;
/// Top and bottom edge of the bars as fractions of the height; labels are above and below.
const TOP: f64 = 0.16;
const BOTTOM: f64 = 0.84;

/// Writes a histogram of non-negative values. `unit` follows the numbers of the scale.
fn histogram(
    caption: &str,
    unit: &str,
    values: &[f64],
    marks: &[HistogramMark],
    out: &mut dyn Write,
) -> io::Result<()> {
    let largest = values.iter().copied().filter(|value| value.is_finite());
    let ends = steps(largest.fold(0.0, f64::max));
    let right = ends[ends.len() - 1];
    if right <= 0.0 {
        return Ok(());
    }
    let counts = counted(values, right);
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    writeln!(
        out,
        "<figure><figcaption>{}</figcaption><svg class=\"plot\" role=\"img\" aria-label=\"{}\">",
        text(caption),
        text(&alt_text(caption, unit, values.len(), marks)),
    )?;
    let wide = 1.0 / f64::from(u32::try_from(BARS).unwrap_or(1));
    for (count, number) in counts.iter().zip(0u32..) {
        if *count == 0 {
            continue;
        }
        // One in ten thousand must still be visible.
        let share = (f64::from(*count) / f64::from(most)).max(0.01);
        let high = share * (BOTTOM - TOP);
        writeln!(
            out,
            "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            place(f64::from(number) * wide + wide * 0.06),
            place(BOTTOM - high),
            place(wide * 0.88),
            place(high),
        )?;
    }
    writeln!(
        out,
        "<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"{0}\" y2=\"{0}\"/>",
        place(BOTTOM)
    )?;
    for end in &ends {
        let at = end / right;
        writeln!(
            out,
            "<text x=\"{}\" y=\"98%\" class=\"{}\">{}{}</text>",
            place(at),
            anchor(at),
            short(*end),
            text(unit)
        )?;
    }
    for mark in marks {
        let at = place(mark.value / right);
        writeln!(
            out,
            "<line class=\"mark\" x1=\"{at}\" x2=\"{at}\" y1=\"{}\" y2=\"{}\"/><text x=\"{at}\" y=\"10%\" class=\"{}\">{}</text>",
            place(TOP - 0.03),
            place(BOTTOM),
            anchor(mark.value / right),
            text(&mark.label)
        )?;
    }
    writeln!(out, "</svg></figure>")
}

fn counted(values: &[f64], right: f64) -> Vec<u32> {
    let mut counts = vec![0u32; BARS];
    for value in values
        .iter()
        .filter(|value| value.is_finite() && **value >= 0.0)
    {
        let bars = f64::from(u32::try_from(BARS).unwrap_or(1));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between nothing and the number of bars"
        )]
        let place = (value / right * bars) as usize;
        counts[place.min(BARS - 1)] += 1;
    }
    counts
}

/// The alternative text.
fn alt_text(caption: &str, unit: &str, values: usize, marks: &[HistogramMark]) -> String {
    let marks = marks
        .iter()
        .map(|mark| format!(", {} {}{unit}", mark.label, short(mark.value)));
    format!("{caption}: {values} values{}", marks.collect::<String>())
}

/// The text anchor that keeps a label inside the chart.
fn anchor(share: f64) -> &'static str {
    match share {
        _ if share < 0.08 => "from",
        _ if share > 0.92 => "to",
        _ => "at",
    }
}

/// Writes a table of rows with heads for label, figures and note.
pub(super) fn intervals(content: &Intervals, out: &mut dyn Write) -> io::Result<()> {
    let [label, figures, note] = &content.heads;
    let (name, caption) = match &*content.caption {
        "" => (text("Chart"), String::new()),
        name => (text(name), format!("<caption>{}</caption>", text(name))),
    };
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\"><table class=\"chart\">\
         {caption}\n<thead><tr><th scope=\"col\">{0}</th>\
         <td class=\"scale\" aria-hidden=\"true\">{3}</td><th scope=\"col\">{1}</th><th scope=\"col\">{2}</th></tr></thead>\n<tbody>",
        text(label),
        text(figures),
        text(note),
        axis(content.scale),
    )?;
    for row in &content.rows {
        writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"scale\">{}</td><td class=\"n\"{}>{}</td><td class=\"n\"{}>{}</td></tr>",
            text(&row.label),
            drawn(row, content.scale),
            label_of(figures),
            text(&row.figures),
            label_of(note),
            text(&row.note),
        )?;
    }
    writeln!(out, "</tbody></table></div>")
}

/// The ends of the scale, and the meaning of the line through all rows.
fn axis(scale: IntervalScale) -> String {
    let [low, high] = scale.ends();
    let mut svg = format!(
        "<svg class=\"iv ends\" focusable=\"false\"><text x=\"0\" y=\"90%\">{}</text>\
         <text class=\"to\" x=\"100%\" y=\"90%\">{}</text>",
        text(&low),
        text(&high)
    );
    if let Some(mark) = scale.mark {
        let share = scale.of(mark);
        let at = place(share);
        let anchor = anchor(share);
        let _ = write!(
            svg,
            "<line class=\"mark\" x1=\"{at}\" x2=\"{at}\" y1=\"46%\" y2=\"64%\"/>\
             <text class=\"{anchor}\" x=\"{at}\" y=\"40%\">{}</text>",
            text(scale.marked)
        );
    }
    svg.push_str("</svg>");
    svg
}

fn drawn(row: &IntervalRow, scale: IntervalScale) -> String {
    let mut svg = "<svg class=\"iv\" aria-hidden=\"true\" focusable=\"false\">\
                   <line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"50%\" y2=\"50%\"/>"
        .to_owned();
    let mut line = |class: &str, [low, high]: [f64; 2]| {
        let (from, to) = (place(scale.of(low)), place(scale.of(high)));
        let _ = write!(
            svg,
            "<line class=\"{class}\" x1=\"{from}\" x2=\"{to}\" y1=\"50%\" y2=\"50%\"/>"
        );
    };
    if let Some(range) = row.range {
        line("may", range);
    }
    if let Some(interval) = row.interval {
        line("ci", interval);
    }
    if let Some(mark) = scale.mark {
        let at = place(scale.of(mark));
        let _ = write!(
            svg,
            "<line class=\"mark\" x1=\"{at}\" x2=\"{at}\" y1=\"0\" y2=\"100%\"/>"
        );
    }
    if let Some(value) = row.value {
        let at = place(scale.of(value));
        let _ = write!(
            svg,
            "<circle class=\"dot\" cx=\"{at}\" cy=\"50%\" r=\"5\"/>"
        );
    }
    svg.push_str("</svg>");
    svg
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

#[cfg(test)]
mod histogram_tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bar() {
        let counts = counted(&[0.0, 0.1, 9.99, 10.0, f64::NAN, -1.0], 10.0);
        assert_eq!(counts.iter().sum::<u32>(), 4);
        assert_eq!((counts[0], counts[BARS - 1]), (2, 2));
    }

    #[test]
    fn nothing_makes_no_picture() {
        let mut out = Vec::new();
        histogram("Latency", " s", &[0.0, 0.0], &[], &mut out).unwrap();
        assert!(out.is_empty());
        let marks = [HistogramMark {
            label: "p95".to_owned(),
            value: 3.0,
        }];
        histogram("Latency", " s", &[1.0, 3.0], &marks, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(
            out.contains("aria-label=\"Latency: 2 values, p95 3 s\""),
            "{out}"
        );
    }
}

#[cfg(test)]
mod intervals_tests {
    use super::*;

    #[test]
    fn rows_have_what_they_show_in_figures_too() {
        let row = IntervalRow {
            label: "level <1>".to_owned(),
            value: Some(0.5),
            interval: Some([0.25, 0.75]),
            figures: "50.0 % (25.0 % to 75.0 %)".to_owned(),
            note: "1 of 2".to_owned(),
            ..IntervalRow::default()
        };
        let mut out = Vec::new();
        let heads = ["slice", "accuracy", "correct"];
        let content = Intervals {
            caption: "By slice".to_owned(),
            heads: heads.map(str::to_owned),
            scale: IntervalScale::SHARES,
            rows: vec![row],
        };
        intervals(&content, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        for expect in [
            "<th scope=\"row\">level &lt;1&gt;</th>",
            "class=\"ci\" x1=\"25.00%\" x2=\"75.00%\"",
            "class=\"dot\" cx=\"50.00%\"",
            "50.0 % (25.0 % to 75.0 %)",
            // On a narrow page each cell is labelled.
            "<td class=\"n\" data-label=\"accuracy\">50.0 %",
            "<text x=\"0\" y=\"90%\">0 %</text><text class=\"to\" x=\"100%\" y=\"90%\">100 %</text>",
        ] {
            assert!(out.contains(expect), "`{expect}` is not in:\n{out}");
        }
        assert!(!out.contains("class=\"mark\""), "{out}");
    }

    #[test]
    fn differences_have_their_zero_in_the_middle() {
        let scale = IntervalScale::differences([[-0.1, 0.02], [-0.04, 0.2]]);
        assert!((scale.of(0.0) - 0.5).abs() < 1e-9);
        assert!((scale.of(0.2) - 1.0).abs() < 1e-9);
        let axis = axis(scale);
        for expect in [">−20.0 points<", ">+20.0 points<", ">no difference<"] {
            assert!(axis.contains(expect), "`{expect}` is not in:\n{axis}");
        }
        // A tiny interval is not stretched to the full width.
        let scale = IntervalScale::differences([[-0.001, 0.001]]);
        assert!((scale.high - 0.05).abs() < 1e-9);
    }
}
