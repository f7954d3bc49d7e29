//! `cargo evaltest judge correct`.

use std::io::{self, Write};

use clap::Args;
use evaltest::engine::figure::CI95;
use evaltest::engine::judge::{GradedItem, JudgeCorrection};
use evaltest::{Exit, Result};

use super::figures::{few_labels, figure, figures};
use super::lines::{self, JudgedArgs};
use crate::console;

/// A mean of a judge's verdicts that a few labels correct
///
/// Reads lines `{"judge": 0.8, "label": 1}`, both from 0 to 1; `label` is null, or left out, where nobody looked. Label
/// lines that were drawn by chance: the intervals count on it.
///
/// The mean of the verdicts alone has an interval that knows nothing of how wrong the judge is. The corrected mean
/// (prediction-powered inference) takes from the labelled lines how far the judge is off; its interval holds however poor
/// the judge is, and is narrower than that of the labels alone if the judge is good.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct CorrectArgs {
    #[command(flatten)]
    judged: JudgedArgs,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"labels\": {\"n\", \"mean\", \"ci95\"}, \"judge\": {\"n\", \"mean\", \"ci95\"}, \"corrected\": {\"mean\", \"ci95\",
\"lambda\"}}. `lambda` is how much the verdicts count, from 0 (nothing: the labels alone) to 1, at its optimum. A
figure of no line is null, and so is an interval of one label.";

pub(super) fn run(args: &CorrectArgs) -> Result<Exit> {
    let items: Vec<GradedItem> = lines::all(&args.judged.input)?;
    let correction = JudgeCorrection::of(&items)?;
    if args.judged.json {
        console::print_json(&correction)?;
    } else {
        console::print(|out| show(&correction, out))?;
    }
    Ok(Exit::Passed)
}

fn show(found: &JudgeCorrection, out: &mut dyn Write) -> io::Result<()> {
    let labels = found.labels.n;
    if labels == 0 {
        writeln!(out, "no line has a `label`: nothing corrects the judge")?;
    } else if let Some(told) = few_labels(labels) {
        writeln!(out, "{told}")?;
    }
    let width = |ci95: Option<[f64; 2]>| ci95.map(|[low, high]| high - low);
    let both = width(found.corrected.ci95).zip(width(found.labels.ci95));
    let narrower = both
        .filter(|(_, alone)| *alone > 0.0)
        .map(|(corrected, alone)| {
            let share = 100.0 * (corrected / alone - 1.0);
            let word = if share < 0.0 { "narrower" } else { "wider" };
            format!(", {:.0} % {word} than the labels alone", share.abs())
        });
    let lambda = found.corrected.lambda;
    let weight = lambda.map(|lambda| format!("verdicts count {}", figure(Some(lambda))));
    let told = weight.unwrap_or_default() + &narrower.unwrap_or_default();
    let judge = "says nothing of how wrong the judge is";
    let rows = [
        (
            "labels",
            labels.to_string(),
            found.labels.mean,
            found.labels.ci95,
            "",
        ),
        (
            "judge",
            found.judge.n.to_string(),
            found.judge.mean,
            found.judge.ci95,
            judge,
        ),
        (
            "corrected",
            String::new(),
            found.corrected.mean,
            found.corrected.ci95,
            &told,
        ),
    ];
    writeln!(out, "{:<9} {:>7}  {:>6}  {CI95}", "", "lines", "mean")?;
    for (name, n, mean, ci95, told) in rows {
        let row = format!(
            "{name:<9} {n:>7}  {:>6}  {:<16}  {told}",
            figure(mean),
            figures(ci95)
        );
        writeln!(out, "{}", row.trim_end())?;
    }
    Ok(())
}
