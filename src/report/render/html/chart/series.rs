//! Figures over runs: lines through points, bands of intervals, and marks of changes.
//!
//! Lines and bands are stretched to the available width; points and letters keep their size. The vertical scale is to
//! the left of the chart, where the style leaves room for it.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::super::escape::text;
use super::place;
use crate::report::document::SeriesChart;

/// Top and bottom edge of the plot as fractions of the height; letters are above it and times below.
const TOP: f64 = 0.1;
const BOTTOM: f64 = 0.88;
/// Width and height of the plot in SVG units.
const UNITS: f64 = 1000.0;
/// Minimum distance of letters, as a fraction of the width.
const APART: f64 = 0.035;
/// Above this number of points they are drawn small.
const MANY: usize = 60;

impl SeriesChart {
    fn across(&self, run: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "runs are counted in thousands")]
        let runs = self.runs.max(1) as f64;
        (run + 0.5) / runs
    }

    #[expect(clippy::cast_precision_loss, reason = "runs are counted in thousands")]
    fn at(&self, run: usize) -> f64 {
        self.across(run as f64)
    }

    /// Horizontal position of the boundary before a run.
    #[expect(clippy::cast_precision_loss, reason = "runs are counted in thousands")]
    fn before(&self, run: usize) -> f64 {
        self.across(run as f64 - 0.5)
    }

    /// Distance of a value from the upper edge, as a fraction of the height.
    fn down(&self, value: f64) -> f64 {
        let ends = [self.scale.first(), self.scale.last()];
        let [low, high] = ends.map(|end| end.map_or(0.0, |(value, _)| *value));
        if high <= low {
            return 1.0;
        }
        1.0 - ((value - low) / (high - low)).clamp(0.0, 1.0)
    }

    fn height(&self, value: f64) -> f64 {
        TOP + (BOTTOM - TOP) * self.down(value)
    }

    /// Writes the chart.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "<figure><figcaption>{}</figcaption><svg class=\"plot series {}\" role=\"img\" aria-label=\"{}\">",
            text(&self.caption),
            self.size,
            text(&self.alt),
        )?;
        for (value, _) in &self.scale {
            let y = place(self.height(*value));
            writeln!(
                out,
                "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/>"
            )?;
        }
        self.stretched(out)?;
        self.write_marks(out)?;
        let radius = if self.runs > MANY { 2 } else { 4 };
        for line in &self.lines {
            for point in line.pieces.iter().flatten() {
                writeln!(
                    out,
                    "<circle class=\"dot {}\" cx=\"{}\" cy=\"{}\" r=\"{radius}\"><title>{}</title></circle>",
                    line.class,
                    place(self.at(point.run)),
                    place(self.height(point.value)),
                    text(&point.label),
                )?;
            }
        }
        for (value, name) in &self.scale {
            writeln!(
                out,
                "<text class=\"to mid\" x=\"0\" dx=\"-6\" y=\"{}\">{}</text>",
                place(self.height(*value)),
                text(name)
            )?;
        }
        let [first, last] = &self.ends;
        writeln!(out, "<text x=\"0\" y=\"99%\">{}</text>", text(first))?;
        if self.runs > 1 {
            let last = text(last);
            writeln!(out, "<text class=\"to\" x=\"100%\" y=\"99%\">{last}</text>")?;
        }
        writeln!(out, "</svg></figure>")
    }

    /// Writes the parts that are stretched to the available width.
    fn stretched(&self, out: &mut dyn Write) -> io::Result<()> {
        let point = |run: usize, value: f64| {
            format!(
                "{:.1},{:.1} ",
                self.at(run) * UNITS,
                self.down(value) * UNITS
            )
        };
        let mut drawn = String::new();
        for line in &self.lines {
            for piece in &line.pieces {
                let known: Vec<_> = piece
                    .iter()
                    .filter_map(|point| Some((point.run, point.interval?)))
                    .collect();
                if known.len() > 1 {
                    let upper = known.iter().map(|(run, [_, high])| point(*run, *high));
                    let lower = known.iter().rev().map(|(run, [low, _])| point(*run, *low));
                    let around: String = upper.chain(lower).collect();
                    let around = around.trim_end();
                    let _ = writeln!(drawn, "<polygon class=\"band\" points=\"{around}\"/>");
                }
                if piece.len() > 1 {
                    let through = piece.iter().map(|it| point(it.run, it.value));
                    let through: String = through.collect();
                    let _ = writeln!(
                        drawn,
                        "<polyline class=\"path {}\" points=\"{}\"/>",
                        line.class,
                        through.trim_end()
                    );
                }
            }
        }
        writeln!(
            out,
            "<svg x=\"0\" width=\"100%\" y=\"{}\" height=\"{}\" viewBox=\"0 0 {UNITS} {UNITS}\" preserveAspectRatio=\"none\">\n{drawn}</svg>",
            place(TOP),
            place(BOTTOM - TOP)
        )?;
        // A single point has no band.
        for line in &self.lines {
            let alone = line.pieces.iter().filter(|piece| piece.len() == 1);
            for point in alone.flatten() {
                if let Some([low, high]) = point.interval {
                    let x = place(self.at(point.run));
                    writeln!(
                        out,
                        "<line class=\"ci\" x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{}\"/>",
                        place(self.height(high)),
                        place(self.height(low))
                    )?;
                }
            }
        }
        Ok(())
    }

    fn write_marks(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut free = f64::NEG_INFINITY;
        for mark in &self.marks {
            let at = self.before(mark.run);
            let (x, class) = (place(at), mark.class);
            writeln!(
                out,
                "<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{}\"/>",
                place(TOP),
                place(BOTTOM)
            )?;
            if at >= free {
                let letter = text(&mark.letter);
                let end = if at > 0.97 { "to" } else { "at" };
                writeln!(
                    out,
                    "<text class=\"{end}\" x=\"{x}\" y=\"7%\">{letter}</text>"
                )?;
                #[expect(clippy::cast_precision_loss, reason = "a letter or two")]
                let wide = mark.letter.chars().count() as f64;
                free = at + APART * wide.max(1.0);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{SeriesLine, SeriesMark, SeriesPoint};

    #[test]
    fn points_lines_and_marks_lie_where_their_runs_are() {
        let point = |run: usize, value: f64| SeriesPoint {
            run,
            value,
            interval: Some([0.0, 1.0]),
            label: "<run>".to_owned(),
        };
        let chart = SeriesChart {
            caption: "Accuracy".to_owned(),
            runs: 4,
            scale: vec![(0.0, "0 %".to_owned()), (1.0, "100 %".to_owned())],
            lines: vec![SeriesLine {
                class: "",
                pieces: vec![vec![point(0, 0.0), point(1, 1.0)], vec![point(3, 0.5)]],
            }],
            marks: vec![SeriesMark {
                run: 3,
                class: "mark",
                letter: "A".to_owned(),
            }],
            ..SeriesChart::default()
        };
        let mut out = Vec::new();
        chart.write(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        for expect in [
            "cx=\"12.50%\" cy=\"88.00%\"",
            "points=\"125.0,1000.0 375.0,0.0\"",
            "points=\"125.0,0.0 375.0,0.0 375.0,1000.0 125.0,1000.0\"",
            "class=\"ci\" x1=\"87.50%\"",
            "class=\"mark\" x1=\"75.00%\"",
            "<title>&lt;run&gt;</title>",
        ] {
            assert!(out.contains(expect), "`{expect}` is not in:\n{out}");
        }
    }
}
