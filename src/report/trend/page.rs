//! Trends as one page, which is read without scripts, from disk or as an artifact of CI.
//!
//! Of each eval: what changed, pictures over its runs (the tiers one above the other), and all of it as a table, the newest run
//! first. What is from a history is hostile and goes through `text`.

mod charts;
mod tables;

use std::io::{self, Write};

use super::{EvalTrend, alert};
use crate::report::render::html::escape::text;
use crate::report::render::html::page::HtmlPage;
use crate::verdict::alert::AlertVerdict;

/// Writes the page of these trends.
pub fn write(evals: &[EvalTrend<'_>], out: &mut dyn Write) -> io::Result<()> {
    let title = match evals {
        [eval] => format!("Trend of {}", eval.eval),
        evals => format!("Trends of {} evals", evals.len()),
    };
    let page = HtmlPage {
        title: &title,
        scripts: &[],
    };
    page.begin(out)?;
    writeln!(out, "<h1>{}</h1>", text(&title))?;
    for eval in evals {
        if evals.len() > 1 {
            writeln!(out, "<h2>{}</h2>", text(eval.eval))?;
        }
        // Headings of tiers lie below that of their eval.
        let heading = if evals.len() > 1 { "h3" } else { "h2" };
        one(eval, heading, out)?;
    }
    page.end(out)
}

fn one(eval: &EvalTrend<'_>, heading: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<p>{}, from <code>{}</code></p>",
        text(&eval.headline()),
        text(&eval.file)
    )?;
    for notice in &eval.notices {
        writeln!(out, "<p class=\"warn\">{}</p>", text(notice))?;
    }
    for result in &eval.alerts {
        let class = match result.verdict {
            AlertVerdict::Raised => "box failed",
            AlertVerdict::Quiet => "box passed",
            AlertVerdict::Silent => "box",
        };
        let told = alert(result);
        writeln!(out, "<p class=\"{class}\">{}</p>", text(&told))?;
    }
    let changes = eval.changes();
    if !changes.is_empty() {
        writeln!(out, "<div class=\"box\">")?;
        for change in changes {
            writeln!(out, "<p>{}</p>", text(&change))?;
        }
        writeln!(out, "</div>")?;
    }
    match eval.older() {
        0 => {}
        older => writeln!(
            out,
            "<p class=\"soft\">{older} older runs are left out; \
             <code>cargo evaltest trend --last 0 --html FILE</code> shows them.</p>"
        )?,
    }
    charts::write(eval, heading, out)?;
    tables::write(eval, out)
}
