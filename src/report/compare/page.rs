//! Runs side by side as one page, which is read without scripts, from disk or as an artifact of CI.
//!
//! Two runs: what came of it, where they differ, and who flipped with both answers beside each other. More runs: each by
//! itself, and all pairs of them. What a page shows is cut, so that its size does not follow that of the runs.

mod charts;
mod flips;

use std::io::{self, Write};

use super::figures::figure_rows;
use super::ids::IdList;
use super::said::said;
use super::texts::ShownFlips;
use super::{ComparedRun, ComparedRuns, RunPair, UnpairedIds};
use crate::report::render::html::escape::text;
use crate::report::render::html::page::HtmlPage;
use crate::verdict::check::ComparedVerdict;

/// So many ids of a list are named.
const NAMED: usize = 200;

/// Writes the page. The flips are those of two runs.
pub fn write(
    compared: &ComparedRuns,
    flips: ShownFlips<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let runs: Vec<&ComparedRun> = compared.runs.iter().collect();
    match (&*runs, &*compared.pairs) {
        (&[a, b], [pair]) => {
            let said = said([a, b], &pair.comparison);
            let title = verdict(&said);
            framed(compared, title, out, &mut |out| {
                two([a, b], pair, &said, flips, out)
            })
        }
        _ => framed(compared, &format!("{} runs", runs.len()), out, &mut |out| {
            charts::several(&compared.runs, &compared.pairs, out)?;
            figures(&runs, out)
        }),
    }
}

/// The first sentence up to the figures.
fn verdict(said: &[String]) -> &str {
    let first = said.first().map(String::as_str).unwrap_or_default();
    first.split(':').next().unwrap_or(first)
}

/// The page around what is said of the runs.
fn framed(
    compared: &ComparedRuns,
    title: &str,
    out: &mut dyn Write,
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let eval = compared.runs.first().map(|run| &*run.eval);
    let page = HtmlPage {
        title: &format!("{}: {title}", eval.unwrap_or_default()),
        scripts: &[],
    };
    page.begin(out)?;
    writeln!(out, "<h1>{}</h1>\n<ul>", text(title))?;
    for run in &compared.runs {
        named(run, out)?;
    }
    writeln!(out, "</ul>")?;
    for notice in &compared.notices {
        writeln!(out, "<p class=\"warn\">{}</p>", text(notice))?;
    }
    content(out)?;
    page.end(out)
}

/// Which run a letter stands for.
fn named(run: &ComparedRun, out: &mut dyn Write) -> io::Result<()> {
    let minute = run.started_at.get(..16).unwrap_or(&run.started_at);
    write!(
        out,
        "<li><strong>{}</strong>: <code>{}</code> of {}, {}",
        run.letter,
        text(&run.run_id),
        text(&run.eval),
        text(&minute.replace('T', " ")),
    )?;
    for of_agent in [&run.agent, &run.model].into_iter().flatten() {
        write!(out, ", <b>{}</b>", text(of_agent))?;
    }
    writeln!(out, "</li>")
}

fn two(
    runs: [&ComparedRun; 2],
    pair: &RunPair,
    said: &[String],
    flips: ShownFlips<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let class = match (pair.comparison.whole.verdict, &pair.comparison.judge) {
        (ComparedVerdict::Worse, None) => "failed",
        (ComparedVerdict::Better, None) => "passed",
        _ => "inconclusive",
    };
    writeln!(out, "<div class=\"box {class}\">")?;
    for (place, sentence) in said.iter().enumerate() {
        let sentence = text(sentence);
        if place == 0 {
            writeln!(out, "<p><strong>{sentence}</strong></p>")?;
        } else {
            writeln!(out, "<p>{sentence}</p>")?;
        }
    }
    writeln!(out, "</div>")?;
    charts::two(&pair.comparison, out)?;
    figures(&runs, out)?;
    flips::write(runs, &pair.flips, flips, out)?;
    unpaired(runs, &pair.unpaired, out)
}

/// What each run amounts to by itself.
fn figures(runs: &[&ComparedRun], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<h2>Each run by itself</h2>\n\
         <div class=\"wide\" role=\"region\" aria-label=\"Each run by itself\" tabindex=\"0\"><table>\n\
         <thead><tr><td></td>"
    )?;
    for run in runs {
        write!(out, "<th scope=\"col\">{}</th>", run.letter)?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (title, cells) in figure_rows(runs) {
        write!(out, "<tr><th scope=\"row\">{}</th>", text(&title))?;
        for cell in cells {
            write!(out, "<td class=\"n\">{}</td>", text(&cell))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

/// What has no counterpart, by name.
fn unpaired(
    [a, b]: [&ComparedRun; 2],
    unpaired: &UnpairedIds,
    out: &mut dyn Write,
) -> io::Result<()> {
    let told = unpaired.told([&a.letter, &b.letter]);
    if told.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Not compared</h2>")?;
    for (title, ids) in told {
        writeln!(
            out,
            "<details><summary>{}: {}</summary>",
            text(&title),
            ids.count()
        )?;
        name_ids(ids, out)?;
        writeln!(out, "</details>")?;
    }
    Ok(())
}

/// The first ids of a list.
fn name_ids(ids: &IdList, out: &mut dyn Write) -> io::Result<()> {
    let named = &ids.first()[..ids.first().len().min(NAMED)];
    write!(out, "<p>")?;
    for (place, id) in named.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(out, "{comma}<code>{}</code>", text(id))?;
    }
    match ids.count().saturating_sub(named.len() as u64) {
        0 => writeln!(out, "</p>"),
        more => writeln!(
            out,
            " and {more} more, which <code>cargo evaltest compare --json</code> names</p>"
        ),
    }
}
