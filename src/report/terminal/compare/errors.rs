//! What the answers without a verdict could change.

use std::io::{self, Write};

use super::{difference_cells, word};
use crate::verdict::check::{ComparedVerdict, ErrorBounds, PairedFigures, show_p};
use crate::verdict::compare::RunsComparison;

/// Writes how low and how high the difference could be, and whether that would say something else; nothing without an
/// error.
pub(super) fn write(
    [a, b]: [&str; 2],
    compared: &RunsComparison,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(bounds) = &compared.error_bounds else {
        return Ok(());
    };
    let ErrorBounds {
        errors_a,
        errors_b,
        lowest,
        highest,
        ..
    } = bounds;
    let whose: Vec<_> = [(errors_a, a), (errors_b, b)]
        .into_iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, run)| format!("{count} in {run}"))
        .collect();
    writeln!(
        out,
        "  errors: {} answers have no verdict ({}); with them the difference is from {} to {}",
        errors_a + errors_b,
        whose.join(", "),
        end(lowest),
        end(highest)
    )?;
    let seen = compared.whole.verdict;
    let ends = [lowest.verdict, highest.verdict];
    let says = if ends == [seen; 2] {
        "so they change nothing of what is said".to_owned()
    } else {
        let others = ends.into_iter().filter(|verdict| *verdict != seen);
        let mut others: Vec<_> = others.map(|verdict| said(verdict, b)).collect();
        others.dedup();
        format!(
            "so they could change what is said: {}",
            others.join(", or ")
        )
    };
    writeln!(out, "  {says}")
}

fn said(verdict: ComparedVerdict, b: &str) -> String {
    match verdict {
        ComparedVerdict::Worse | ComparedVerdict::Better => format!("{b} {}", word(verdict)),
        _ => word(verdict).to_owned(),
    }
}

/// `-8.3 points (-20.1 to +3.0, p = 0.1250)`
fn end(figures: &PairedFigures) -> String {
    let [points, interval] = difference_cells(figures);
    let p = figures.p.map(show_p).unwrap_or_default();
    format!("{points} points ({interval}, p = {p})")
}
