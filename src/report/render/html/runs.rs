//! A page of runs, whose script lists samples and shows one.

use std::io::{self, Write};

use super::embedded::embedded;
use super::escape::text;
use super::{blocks, class};
use crate::error::Result;
use crate::report::document::{Block, Tone};
use crate::report::format::unwritten;
use crate::report::reported::ReportedRun;

/// Writes links to the runs of a page, each with its result.
pub(crate) fn links<'a>(
    runs: impl Iterator<Item = (String, &'a ReportedRun, (Tone, &'static str))>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "<ul>")?;
    for (place, (letter, run, (tone, word))) in runs.enumerate() {
        let (id, class) = (text(&run.manifest.run_id), class(tone));
        writeln!(
            out,
            "<li>{letter}: <a href=\"#run-{place}\">{id}</a> <span class=\"{class}\">{word}</span></li>"
        )?;
    }
    writeln!(out, "</ul>")
}

/// Writes the report on a run, a fallback for readers without scripts, and its samples.
///
/// # Errors
/// If its records cannot be read, or the output cannot be written.
pub(crate) fn run(
    place: usize,
    run: &ReportedRun,
    content: &[Block],
    without_script: &[Block],
    out: &mut dyn Write,
) -> Result<()> {
    section(place, run, content, without_script, out).map_err(|error| unwritten(&error))?;
    embedded(place, run, out)
}

fn section(
    place: usize,
    run: &ReportedRun,
    content: &[Block],
    without_script: &[Block],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<section id=\"run-{place}\" aria-labelledby=\"title-{place}\">\n<h2 id=\"title-{place}\" class=\"run\">{} <span class=\"soft\">{}</span></h2>",
        text(&run.manifest.eval),
        text(&run.manifest.run_id)
    )?;
    blocks(content, 2, out)?;
    if !without_script.is_empty() {
        writeln!(out, "<div class=\"without\">")?;
        blocks(without_script, 2, out)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "</section>")
}
