//! Histogram: bars over equal intervals from 0 to the maximum.

use std::io::{self, Write};

use super::super::escape::text;
use super::{place, short, steps};
use crate::report::document::HistogramMark;

/// Number of bars.
const BARS: usize = 32;
/// Top and bottom edge of the bars as fractions of the height; labels are above and below.
const TOP: f64 = 0.16;
const BOTTOM: f64 = 0.84;

/// Writes a histogram of non-negative values. `unit` follows the numbers of the scale.
pub(super) fn histogram(
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

#[cfg(test)]
mod tests {
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
