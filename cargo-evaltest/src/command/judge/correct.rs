//! `cargo evaltest judge correct`.

use clap::Args;
use evaltest::engine::figure::CI95;
use evaltest::engine::judge::{GradedItem, JudgeCorrection};
use evaltest::engine::report::document::Align::{Left, Right};
use evaltest::engine::report::document::{Block, Table};
use evaltest::{Exit, Result};

use super::super::judge;
use super::InputArgs;
use super::{few_labels, figure, figures};
use crate::console;

/// Correct the mean of a judge's verdicts with a few labels
///
/// Reads lines `{"judge": 0.8, "label": 1}`, both from 0 to 1; `label` is null or missing for unlabelled items. The
/// labelled lines must be a random sample: the intervals assume it.
///
/// The interval of the verdicts' mean ignores the judge's errors. The corrected mean (prediction-powered inference)
/// estimates those errors from the labelled lines. Its interval is valid however poor the judge is, and with a good judge
/// narrower than that of the labels alone.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct CorrectArgs {
    #[command(flatten)]
    input_args: InputArgs,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"labels\": {\"n\", \"mean\", \"ci95\"}, \"judge\": {\"n\", \"mean\", \"ci95\"}, \"corrected\": {\"mean\", \"ci95\",
\"lambda\"}}. `lambda` is the optimal weight of the verdicts, from 0 (labels alone) to 1. Figures without lines and
intervals of one label are null. Intervals lie within 0 and 1, like those of `corrected` gates.";

pub(super) fn run(args: &CorrectArgs) -> Result<Exit> {
    let items: Vec<GradedItem> = judge::all(&args.input_args.input)?;
    let correction = JudgeCorrection::of(&items)?;
    if args.input_args.json {
        console::print_json(&correction)?;
    } else {
        console::print_blocks(&table(&correction))?;
    }
    Ok(Exit::Passed)
}

fn table(found: &JudgeCorrection) -> Vec<Block> {
    let n = found.labels.n;
    let note = match n {
        0 => Some("no line has a `label`, so the judge is not corrected".to_owned()),
        _ => few_labels(n),
    };
    let width = |ci95: Option<[f64; 2]>| ci95.map(|[low, high]| high - low);
    let both = width(found.corrected.ci95).zip(width(found.labels.ci95));
    let both = both.filter(|(_, alone)| *alone > 0.0);
    let narrower = both.map(|(corrected, alone)| 100.0 * (corrected / alone - 1.0));
    let narrower = narrower.filter(|share| share.abs() >= 0.5).map(|share| {
        let word = if share < 0.0 { "narrower" } else { "wider" };
        format!(", {:.0} % {word} than the labels alone", share.abs())
    });
    let lambda = found.corrected.lambda;
    let weight = lambda.map(|lambda| format!("weight of the verdicts {}", figure(Some(lambda))));
    let of_corrected = weight.unwrap_or_default() + &narrower.unwrap_or_default();
    let of_judge = "ignores the judge's errors".to_owned();
    let (labels, judge, corrected) = (&found.labels, &found.judge, &found.corrected);
    let mut table = Table::new(&[
        ("", Left),
        ("lines", Right),
        ("mean", Right),
        (CI95, Left),
        ("", Left),
    ]);
    for (name, n, mean, ci95, note) in [
        (
            "labels",
            Some(labels.n),
            labels.mean,
            labels.ci95,
            String::new(),
        ),
        ("judge", Some(judge.n), judge.mean, judge.ci95, of_judge),
        (
            "corrected",
            None,
            corrected.mean,
            corrected.ci95,
            of_corrected,
        ),
    ] {
        let n = n.map(|n| n.to_string()).unwrap_or_default();
        table.row([name.to_owned(), n, figure(mean), figures(ci95), note]);
    }
    let note = note.map(Block::paragraph).into_iter();
    note.chain(table.block()).collect()
}
