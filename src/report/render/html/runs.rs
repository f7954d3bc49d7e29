//! A page of runs, whose script lists samples and shows one.

use std::io::{self, Write};

use super::embedded::embedded;
use super::escape::text;
use super::{blocks, class};
use crate::error::Result;
use crate::report::document::{Block, Fold, Tone};
use crate::report::format::unwritten;
use crate::report::reported::ReportedRun;

/// Writes links to the runs of a page, each with its result.
pub(crate) fn links<'a>(
    runs: impl Iterator<Item = (String, &'a ReportedRun, (Tone, &'static str))>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "<ul>")?;
    for (place, (name, run, (tone, word))) in runs.enumerate() {
        let (id, class) = (text(&run.manifest.run_id), class(tone));
        let name = text(&name);
        writeln!(
            out,
            "<li>{name}: <a href=\"#run-{place}\">{id}</a> <span class=\"{class}\">{word}</span></li>"
        )?;
    }
    writeln!(out, "</ul>")
}

/// Writes the report on a run, what readers without scripts see besides, and its samples.
///
/// # Errors
/// If its records cannot be read, or the output cannot be written.
pub(crate) fn run(
    (place, fold): (usize, Fold),
    run: &ReportedRun,
    content: [&[Block]; 2],
    out: &mut dyn Write,
) -> Result<()> {
    section((place, fold), run, content, out).map_err(|error| unwritten(&error))?;
    embedded(place, run, out)
}

fn section(
    (place, fold): (usize, Fold),
    run: &ReportedRun,
    [content, without_script]: [&[Block]; 2],
    out: &mut dyn Write,
) -> io::Result<()> {
    let [begin, end_of_title, end] = match fold {
        Fold::Never => ["", "", ""],
        Fold::Open => [
            "<details class=\"run\" open><summary>",
            "</summary>",
            "</details>\n",
        ],
        Fold::Closed => [
            "<details class=\"run\"><summary>",
            "</summary>",
            "</details>\n",
        ],
    };
    writeln!(
        out,
        "<section id=\"run-{place}\" aria-labelledby=\"title-{place}\">\n{begin}<h2 id=\"title-{place}\" class=\"run\">{} <span class=\"soft\">{}</span></h2>{end_of_title}",
        text(&run.manifest.eval),
        text(&run.manifest.run_id)
    )?;
    blocks(content, 2, out)?;
    if !without_script.is_empty() {
        writeln!(out, "<div class=\"without\">")?;
        blocks(without_script, 2, out)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "{end}</section>")
}
