//! The runs of an eval as a table, the newest first.

use std::io::{self, Write};

use crate::figure::{Seconds, Usd, ci95};
use crate::report::render::html::escape::text;
use crate::report::trend::{EvalTrend, delta, mark, measured, minute, short_commit};
use crate::verdict::trend::{TrendEntry, TrendMark};

/// Columns, and whether they hold figures.
const HEADS: [(&str, bool); 10] = [
    ("time (UTC)", true),
    ("commit", true),
    ("tier", true),
    (ci95!("accuracy, "), true),
    ("points", true),
    ("correct", true),
    ("errors", true),
    ("cost", true),
    ("p50", true),
    ("what was new", false),
];

/// Writes a row for each run and each accepted baseline that is shown.
pub(super) fn write(eval: &EvalTrend<'_>, out: &mut dyn Write) -> io::Result<()> {
    let name = format!("Runs of {}, the newest first", eval.eval);
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table class=\"runs\">\
         <caption>{0}</caption>\n<thead><tr>",
        text(&name)
    )?;
    for (head, is_figure) in HEADS {
        let class = if is_figure { " class=\"n\"" } else { "" };
        write!(out, "<th scope=\"col\"{class}>{}</th>", text(head))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for entry in eval.entries().iter().rev() {
        row(entry, out)?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn row(entry: &TrendEntry<'_>, out: &mut dyn Write) -> io::Result<()> {
    let of = entry.of;
    let cells = [
        minute(of.time),
        short_commit(of.commit.as_deref()),
        of.tier.clone().unwrap_or_default(),
        measured(entry).unwrap_or_else(|| "–".to_owned()),
        delta(entry).unwrap_or_default(),
        format!("{} of {}", of.correct, of.scored),
        of.errors.to_string(),
        of.cost_usd
            .map_or_else(String::new, |usd| Usd(usd).to_string()),
        of.latency_s
            .map_or_else(String::new, |latency| Seconds(latency.p50).to_string()),
    ];
    write!(out, "<tr>")?;
    for (cell, (_, is_figure)) in cells.iter().zip(HEADS) {
        let class = if is_figure { " class=\"n\"" } else { "" };
        write!(out, "<td{class}>{}</td>", text(cell))?;
    }
    let mut new: Vec<String> = entry.marks.iter().map(in_words).collect();
    if entry.is_run() {
        new.push(format!("<code class=\"soft\">{}</code>", text(&of.id)));
    } else {
        let runs = of.runs.iter();
        let runs = runs.map(|run| format!("<code>{}</code>", text(run)));
        let runs = runs.collect::<Vec<_>>().join(", ");
        new.insert(0, format!("<b>baseline accepted</b> {runs}"));
    }
    writeln!(out, "<td>{}</td></tr>", new.join("<br>"))
}

fn in_words(told: &TrendMark) -> String {
    let class = match told {
        TrendMark::Level { before, after, .. } if after < before => "bad",
        TrendMark::Gates { failed, .. } if *failed > 0 => "bad",
        TrendMark::Level { .. } => "good",
        TrendMark::Gates { .. } => "warn",
        _ => "strong",
    };
    let after = if told.begins_a_line() {
        ": not compared with older runs"
    } else {
        ""
    };
    format!(
        "<span class=\"{class}\">{}{after}</span>",
        text(&mark(told))
    )
}
