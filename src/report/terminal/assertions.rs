//! Samples whose assertion failed, on a terminal.

use std::io::{self, Write};

use super::{LISTED, listed};
use crate::snapshot::assertion::ACCEPT;
use crate::text::clean;
use crate::verdict::run::Run;

/// The samples whose assertion failed, with how they differ where that is known.
pub(super) fn assertions(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let (title, failed) = ("failed assertion", &run.failed_assertions);
    if run.differences.is_empty() {
        return listed(title, failed, out);
    }
    writeln!(out, "  {title} ({}):", failed.len())?;
    for id in failed.iter().take(LISTED) {
        let difference = run.differences.get(id).map_or("", String::as_str);
        let mut lines = difference.lines();
        let first = lines.next().unwrap_or_default();
        writeln!(out, "    {}: {first}", clean(id))?;
        for line in lines {
            writeln!(out, "      {line}")?;
        }
    }
    if failed.len() > LISTED {
        writeln!(out, "    … and {} more", failed.len() - LISTED)?;
    }
    writeln!(out, "    accept them: {ACCEPT}")
}
