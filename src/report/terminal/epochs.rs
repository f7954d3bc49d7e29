//! What several answers to each sample say together, on a terminal.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::figure::Share;
use crate::report::accuracy;
use crate::text::clean;
use crate::verdict::summary::{EpochFigures, Estimate, Summary};

/// How many flaky samples are named.
const NAMED: usize = 10;

/// pass@k, pass^k, the majority and the flaky samples, when there are several epochs.
pub(super) fn epochs(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(figures) = &summary.epochs else {
        return Ok(());
    };
    let mut parts = Vec::new();
    for (name, estimates) in [("pass@", &figures.pass_at), ("pass^", &figures.pass_hat)] {
        parts.extend(passes(name, figures.epochs, estimates));
    }
    let majority = &figures.majority;
    let bounds = majority.low.zip(majority.high).map(<[f64; 2]>::from);
    if let Some(shown) = accuracy::shown(majority.accuracy, bounds) {
        parts.push(format!("majority {shown}"));
    }
    if !parts.is_empty() {
        writeln!(out, "  {}", parts.join(", "))?;
    }
    if figures.incomplete > 0 {
        let (some, all) = (figures.incomplete, figures.samples);
        writeln!(
            out,
            "  {some} of {all} samples lack a verdict in some epoch"
        )?;
    }
    flaky(summary, figures, out)
}

/// The figure for all epochs, and for two where there are more.
fn passes<'a>(
    name: &'a str,
    epochs: u32,
    estimates: &'a BTreeMap<u32, Estimate>,
) -> impl Iterator<Item = String> + 'a {
    let shown = [2, epochs].into_iter().take(if epochs > 2 { 2 } else { 1 });
    shown.filter_map(move |k| {
        let Estimate {
            value, low, high, ..
        } = *estimates.get(&k)?;
        let bounds = low.zip(high).map(<[f64; 2]>::from);
        Some(format!("{name}{k} {}", accuracy::shown(value, bounds)?))
    })
}

fn flaky(summary: &Summary, figures: &EpochFigures, out: &mut dyn Write) -> io::Result<()> {
    if figures.flaky == 0 {
        return Ok(());
    }
    write!(
        out,
        "  flaky: {} of {} samples",
        figures.flaky, figures.scored
    )?;
    if let Some(disagreement) = figures.disagreement {
        let share = Share(disagreement);
        write!(out, "; asked again, {share} of the verdicts change")?;
    }
    let named = summary.flaky.iter().take(NAMED);
    let named = named.map(|sample| {
        let id = clean(&sample.sample_id);
        format!("{id} {} of {}", sample.correct, sample.scored)
    });
    write!(out, "; correct: {}", named.collect::<Vec<_>>().join(", "))?;
    let more = figures.flaky.saturating_sub(NAMED as u64);
    if more > 0 {
        write!(out, " and {more} more")?;
    }
    writeln!(out)
}
