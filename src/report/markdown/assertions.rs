//! Samples whose assertion failed, as Markdown.

use std::io::{self, Write};

use crate::report::render::markdown::text;

use super::section;
use crate::printable::on_one_line;
use crate::verdict::run::Run;

/// So many are listed; `manifest.json` has them all.
const LISTED: usize = 50;

/// The samples whose assertion failed, with how they differ where that is known.
pub(super) fn assertions(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let failed = &run.failed_assertions;
    if failed.is_empty() {
        return Ok(());
    }
    section(out, "Failed assertions")?;
    writeln!(out, "{} of {} samples.", failed.len(), samples(run))?;
    for id in failed.iter().take(LISTED) {
        let difference = run.differences.get(id).map_or("", String::as_str);
        let mut lines = difference.lines();
        let first = lines.next().unwrap_or_default();
        let between = if first.is_empty() { "" } else { ": " };
        writeln!(out, "\n{}{between}{}", text(id), text(first))?;
        for (number, line) in lines.enumerate() {
            if number == 0 {
                writeln!(out)?;
            }
            // Indented, so that nothing in it ends the block.
            writeln!(out, "    {}", on_one_line(line))?;
        }
    }
    let more = failed.len().saturating_sub(LISTED);
    if more > 0 {
        writeln!(out, "\nand {more} more.")?;
    }
    Ok(())
}

/// Each counted once.
fn samples(run: &Run) -> u64 {
    let epochs = run.summary.epochs.as_ref();
    epochs.map_or(run.summary.samples, |figures| figures.samples)
}
