//! Shares with intervals in rows, on one scale.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::super::escape::text;
use super::place;
use crate::report::document::{IntervalRow, IntervalScale, Intervals};

/// Writes a table of rows with heads for label, figures and note.
pub(in crate::report::render::html) fn intervals(
    content: &Intervals,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [label, figures, note] = &content.heads;
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table class=\"chart\">\
         <caption>{0}</caption>\n<thead><tr><th scope=\"col\">{1}</th>\
         <td class=\"scale\" aria-hidden=\"true\"></td><th scope=\"col\">{2}</th><th scope=\"col\">{3}</th></tr></thead>\n<tbody>",
        text(&content.caption),
        text(label),
        text(figures),
        text(note),
    )?;
    for row in &content.rows {
        writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"scale\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            text(&row.label),
            drawn(row, content.scale),
            text(&row.figures),
            text(&row.note),
        )?;
    }
    writeln!(out, "</tbody></table></div>")
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
        // A tiny interval is not stretched to the full width.
        let scale = IntervalScale::differences([[-0.001, 0.001]]);
        assert!((scale.high - 0.05).abs() < 1e-9);
    }
}
