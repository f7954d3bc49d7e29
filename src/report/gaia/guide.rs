//! A guide to submitting an exported file, written beside it.

use std::io::{self, Write};

use super::GaiaExport;
use crate::store::Manifest;
use crate::text::{clean, shell_word};

/// Where the leaderboard is, on Hugging Face.
const SPACE: &str = "gaia-benchmark/leaderboard";

/// Writes the guide for a file that was exported from a run, both by the names under which they are found.
pub fn guide(
    manifest: &Manifest,
    exported: &GaiaExport,
    (file, run_dir): (&str, &str),
    out: &mut dyn Write,
) -> io::Result<()> {
    let GaiaExport {
        lines,
        empty,
        redacted,
        level,
    } = exported;
    writeln!(out, "# Submitting `{}`\n", clean(file))?;
    let eval = clean(&manifest.eval);
    let run = clean(&manifest.run_id);
    write!(out, "{lines} answers of eval `{eval}`, run `{run}`")?;
    if let Some(sha) = &manifest.git_sha {
        let dirty = manifest.git_dirty == Some(true);
        let dirty = if dirty { " with changes" } else { "" };
        write!(out, ", commit `{}`{dirty}", clean(sha))?;
    }
    writeln!(out, ".\n\n## What the leaderboard wants\n")?;
    writeln!(
        out,
        "- One JSON object per line: `task_id`, `model_answer` and, if you like, `reasoning_trace`.\n\
         - Every question of one split, once. A question that is missing, or whose answer is empty, can only \
         count as wrong.\n\
         - The bare answer, as the question asks for it: a number without unit or thousands separators, as few \
         words as possible, or a list with commas. No `FINAL ANSWER:` before it."
    )?;
    writeln!(out, "\n## Before you upload\n")?;
    writeln!(
        out,
        "- [ ] Check the ids: `cargo evaltest export --format gaia {} --check {}`",
        shell_word(run_dir),
        shell_word(file)
    )?;
    if let Some(level) = level {
        let level = clean(level);
        writeln!(
            out,
            "- [ ] All answers are of level {level}: are the other levels to come?"
        )?;
    }
    if !manifest.whole {
        writeln!(
            out,
            "- [ ] The run asked only a part of its eval: run the whole of it."
        )?;
    }
    if *empty > 0 {
        writeln!(
            out,
            "- [ ] {empty} answers are empty: see `errors.jsonl`, and ask them again with \
             `cargo evaltest run --resume {}`",
            shell_word(run_dir)
        )?;
    }
    if *redacted > 0 {
        writeln!(
            out,
            "- [ ] {redacted} answers hold a secret that was blanked: write them by hand if it belongs there."
        )?;
    }
    writeln!(
        out,
        "- [ ] Read a few traces: they may tell more than you want others to know. `--no-trace` leaves them \
         out.\n\
         - [ ] Keep questions and answers of the benchmark off public places, as its authors ask."
    )?;
    writeln!(out, "\n## Where\n")?;
    writeln!(
        out,
        "The leaderboard is the Hugging Face space `{SPACE}`. Log in there, choose the split that this file \
         answers, upload the file, and fill in what its form asks for. Its own rules hold where they differ \
         from this page."
    )
}
