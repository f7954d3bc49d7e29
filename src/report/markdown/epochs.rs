//! What several answers to each sample say together, as Markdown.

use std::io::{self, Write};

use crate::report::render::markdown::text;

use super::{accuracy, number, row, section, share, table};
use crate::figure::{Share, or_dash};
use crate::verdict::summary::{Estimate, Summary};

/// So many flaky samples are listed; `summary.json` has more.
const LISTED: usize = 50;

/// pass@k, pass^k, the majority and the flaky samples, when there are several epochs.
pub(super) fn epochs(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(figures) = &summary.epochs else {
        return Ok(());
    };
    section(out, "Epochs")?;
    writeln!(
        out,
        "{} samples, each asked {} times; {} lack a verdict in some epoch. The counts above are of answers; \
         intervals of accuracy are clustered by sample.\n",
        figures.samples, figures.epochs, figures.incomplete
    )?;
    table(out, &["figure", "value", "standard error", "samples"])?;
    let error = |error: Option<f64>| error.map_or("-".to_owned(), number);
    row(
        out,
        &[
            "accuracy".to_owned(),
            accuracy::shown(summary.accuracy, summary.accuracy_bounds).unwrap_or("-".to_owned()),
            error(figures.standard_error),
            figures.scored.to_string(),
        ],
    )?;
    for (name, estimates) in [("pass@", &figures.pass_at), ("pass^", &figures.pass_hat)] {
        // Of one answer both are the mean of the samples' accuracies.
        for (k, estimate) in estimates.iter().filter(|(k, _)| **k > 1) {
            let Estimate { value, samples, .. } = *estimate;
            let bounds = estimate.low.zip(estimate.high).map(<[f64; 2]>::from);
            row(
                out,
                &[
                    text(&format!("{name}{k}")),
                    accuracy::shown(value, bounds).unwrap_or("-".to_owned()),
                    error(estimate.standard_error),
                    samples.to_string(),
                ],
            )?;
        }
    }
    let majority = &figures.majority;
    row(
        out,
        &[
            "majority".to_owned(),
            share(
                majority.accuracy,
                majority.low.zip(majority.high).map(<[f64; 2]>::from),
                majority.accuracy_ci95,
            ),
            "-".to_owned(),
            figures.scored.to_string(),
        ],
    )?;
    flaky(summary, figures.flaky, figures.disagreement, out)
}

fn flaky(
    summary: &Summary,
    flaky: u64,
    disagreement: Option<f64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if flaky == 0 {
        return Ok(());
    }
    section(out, "Flaky samples")?;
    let share = or_dash(disagreement.map(Share));
    writeln!(
        out,
        "{flaky} samples are correct in some epochs and wrong in others. Asked again, {share} of all verdicts \
         change.\n"
    )?;
    table(out, &["sample", "correct", "different answers"])?;
    for sample in summary.flaky.iter().take(LISTED) {
        row(
            out,
            &[
                text(&sample.sample_id),
                format!("{} of {}", sample.correct, sample.scored),
                sample.answers.to_string(),
            ],
        )?;
    }
    let more = flaky.saturating_sub(LISTED as u64);
    if more > 0 {
        writeln!(out, "\nand {more} more.")?;
    }
    Ok(())
}
