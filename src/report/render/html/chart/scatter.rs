//! Points with intervals, such as the cost and accuracy of runs.

use std::io::{self, Write};

use super::super::escape::text;
use super::{place, short, steps};
use crate::report::document::ScatterPoint;

/// Bounds of the plot area.
const LEFT: f64 = 0.1;
const RIGHT: f64 = 0.96;
const TOP: f64 = 0.05;
const BOTTOM: f64 = 0.82;

/// Writes points over a scale from 0 to the maximum, with shares from 0 to 1 on the vertical axis.
pub(super) fn scatter(
    caption: &str,
    below: &str,
    points: &[ScatterPoint],
    out: &mut dyn Write,
) -> io::Result<()> {
    let ends = steps(points.iter().map(|point| point.x).fold(0.0, f64::max));
    let most = ends[ends.len() - 1];
    let across = |x: f64| place(LEFT + (RIGHT - LEFT) * if most > 0.0 { x / most } else { 0.0 });
    let up = |y: f64| place(BOTTOM - (BOTTOM - TOP) * y.clamp(0.0, 1.0));
    writeln!(
        out,
        "<figure><figcaption>{0}</figcaption><svg class=\"plot tall\" role=\"img\" aria-label=\"{0}\">",
        text(caption),
    )?;
    let (left, right, label_x) = (place(LEFT), place(RIGHT), place(LEFT - 0.01));
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (y, percent) = (up(share), share * 100.0);
        writeln!(
            out,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y}\" y2=\"{y}\"/>\
             <text x=\"{label_x}\" y=\"{y}\" class=\"to mid\">{percent:.0} %</text>",
        )?;
    }
    for end in &ends {
        writeln!(
            out,
            "<text x=\"{}\" y=\"90%\" class=\"at\">{}</text>",
            across(*end),
            short(*end)
        )?;
    }
    writeln!(
        out,
        "<text x=\"53%\" y=\"99%\" class=\"at\">{}</text>",
        text(below)
    )?;
    for point in points {
        let (x, y) = (across(point.x), up(point.y));
        if let Some([low, high]) = point.interval {
            writeln!(
                out,
                "<line class=\"ci\" x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{}\"/>",
                up(low),
                up(high)
            )?;
        }
        writeln!(
            out,
            "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"6\"/>\
             <text x=\"{x}\" y=\"{y}\" {} strong\">{}</text>",
            // Names stay within the chart.
            if most > 0.0 && point.x / most > 0.7 {
                "dx=\"-10\" class=\"to mid"
            } else {
                "dx=\"10\" class=\"mid"
            },
            text(&point.letter)
        )?;
    }
    writeln!(out, "</svg></figure>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_in_the_picture() {
        let point = |letter: &str, x: f64, y: f64| ScatterPoint {
            letter: letter.to_owned(),
            x,
            y,
            interval: Some([0.0, 1.0]),
        };
        let mut out = Vec::new();
        let points = [point("A", 0.0, 0.0), point("<B", 2.0, 1.0)];
        scatter("Cost and accuracy", "USD", &points, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("cx=\"10.00%\" cy=\"82.00%\""), "{out}");
        assert!(out.contains("cx=\"96.00%\" cy=\"5.00%\""), "{out}");
        assert!(out.contains(">&lt;B<"), "{out}");
    }
}
