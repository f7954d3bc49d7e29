//! Means of the numbers that scorers give.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{LISTED, MOST};
use crate::figure::ci95;
use crate::report::render::terminal::table::{self, cut};
use crate::text::clean;
use crate::verdict::compare::means::PairedMean;
use crate::verdict::summary::VALUE;

/// Writes a table of them. A score that is always 0 or 1 is the accuracy, which stands above.
pub(super) fn write(
    means: &BTreeMap<String, BTreeMap<String, PairedMean>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let told = means.iter().flat_map(|(scorer, entries)| {
        let entries = entries.iter().map(move |(name, mean)| (scorer, name, mean));
        entries.filter(|(_, name, mean)| !(mean.is_share && *name == VALUE))
    });
    let told: Vec<_> = told.collect();
    if told.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let heads = ["mean of", "pairs", "A", "B", "B less A", ci95!()];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let number = |number: f64| format!("{number:.4}");
    let signed = |number: f64| format!("{number:+.4}");
    let none = || "-".to_owned();
    for (scorer, name, mean) in told.iter().take(LISTED) {
        let interval = mean.difference_ci95;
        rows.push(vec![
            cut(&clean(&format!("{scorer} {name}")), MOST),
            mean.n.to_string(),
            mean.mean_a.map_or_else(none, number),
            mean.mean_b.map_or_else(none, number),
            mean.difference.map_or_else(none, signed),
            interval.map_or_else(none, |[low, high]| {
                format!("{} to {}", signed(low), signed(high))
            }),
        ]);
    }
    table::write("  ", &rows, out)?;
    match told.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more: `--json`"),
    }
}
