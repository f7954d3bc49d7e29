//! `cargo evaltest judge`: judges a file of items, or analyses a judge from stored data without calling a model.

mod agreement;
mod calibrate;
mod correct;
mod read;
mod winrate;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use evaltest::engine::figure::{or_dash, with_minus};
use evaltest::engine::flow::FlowStage;
use evaltest::engine::judge::{InputLine, parse_input_line};
use evaltest::{Error, Exit, Result};

use super::flow::{self, FlowArgs};
use crate::answers::json_lines;
use agreement::AgreementArgs;
use calibrate::CalibrateArgs;
use correct::CorrectArgs;
use read::ReadArgs;
use winrate::WinrateArgs;

/// Below this number of labels, figures about a judge are unreliable.
const FEW_LABELS: u64 = 50;

/// From this number of labels on, they are useful.
const ENOUGH_LABELS: u64 = 100;

/// Judge a file of items, or analyse a judge offline
///
/// With FILE, the judge rates each item by the dimensions of its rubric, and the reports have their means, and how many
/// items pass and are excellent: the stage `judge` of `flow --items FILE` alone, in a folder of its own. The subcommands
/// parse stored replies and measure agreement with human labels; they call no model.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct JudgeArgs {
    #[command(flatten)]
    items: JudgeItemsArgs,

    #[command(subcommand)]
    command: Option<JudgeCommand>,
}

/// A file of items to judge.
#[derive(Debug, Args)]
struct JudgeItemsArgs {
    /// Items, as an array of JSON or JSON lines: `problem`, `answer`, `solution`, `topic`
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,

    /// The judge, as in a spec: `{type: openai, base_url: …, model: …}`; or with keys of the scorer,
    /// `{agent: JUDGE, rubric: qa}`. The default rubric is `aime`
    #[arg(long, value_name = "YAML", required = true)]
    judge: Option<String>,

    /// Minimum seconds between requests
    #[arg(long, value_name = "SECONDS")]
    delay_s: Option<f64>,

    /// Count the requests without calling the judge
    #[arg(long)]
    dry_run: bool,

    /// The folder of flows
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// The id of the flow
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,

    /// Print the results as JSON on standard output, as `flow` does
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum JudgeCommand {
    Read(ReadArgs),
    Agreement(AgreementArgs),
    Calibrate(CalibrateArgs),
    Correct(CorrectArgs),
    Winrate(WinrateArgs),
}

pub(crate) fn run(args: &JudgeArgs) -> Result<Exit> {
    match &args.command {
        None => judge_items(&args.items),
        Some(JudgeCommand::Read(args)) => read::run(args),
        Some(JudgeCommand::Agreement(args)) => agreement::run(args),
        Some(JudgeCommand::Calibrate(args)) => calibrate::run(args),
        Some(JudgeCommand::Correct(args)) => correct::run(args),
        Some(JudgeCommand::Winrate(args)) => winrate::run(args),
    }
}

/// Runs the stage `judge` of a flow on a file.
fn judge_items(args: &JudgeItemsArgs) -> Result<Exit> {
    flow::run(&FlowArgs {
        items: args.file.clone(),
        only: Some(FlowStage::Judge),
        judge: args.judge.clone(),
        delay_s: args.delay_s,
        dry_run: args.dry_run,
        output_root: args.output_root.clone(),
        run_id: args.run_id.clone(),
        json: args.json,
        ..FlowArgs::default()
    })
}

/// Prints the win rate of stored verdicts.
pub(super) fn winrate_of_file(input: &Path, json: bool, logprobs: bool) -> Result<Exit> {
    let input_args = InputArgs {
        input: input.to_owned(),
        json,
    };
    winrate::run(&WinrateArgs {
        input_args,
        logprobs,
    })
}

/// Three decimals; `-` if missing.
fn figure(value: Option<f64>) -> String {
    // Avoid `−0.000`.
    let rounded = |value: f64| (value * 1e3).round() / 1e3 + 0.0;
    or_dash(value.map(|value| with_minus(&format!("{:.3}", rounded(value)))))
}

/// The bounds of an interval; `-` if it is missing or a single point (a sample that small allows no such certainty).
fn figures(ci95: Option<[f64; 2]>) -> String {
    match ci95.filter(|[low, high]| low < high) {
        Some([low, high]) => format!("{} to {}", figure(Some(low)), figure(Some(high))),
        None => "-".to_owned(),
    }
}

/// A warning for this number of labels, if any.
fn few_labels(labels: u64) -> Option<String> {
    let noun = if labels == 1 { "label" } else { "labels" };
    if labels < FEW_LABELS {
        Some(format!(
            "not calibrated: {labels} {noun}; at least {FEW_LABELS} are needed, {ENOUGH_LABELS} are better"
        ))
    } else if labels < ENOUGH_LABELS {
        Some(format!(
            "few labels: {labels} {noun}, so intervals are wide; {ENOUGH_LABELS} are better"
        ))
    } else {
        None
    }
}

/// What is read and how it is shown, as typed.
#[derive(Debug, Args)]
struct InputArgs {
    /// JSON lines; `-`, or nothing, is standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Passes each non-blank line to `next` with the file name and line number.
///
/// # Errors
///
/// The first malformed line, or a file without lines.
fn each<T: InputLine>(
    input: &Path,
    mut next: impl FnMut(&Path, u64, T) -> Result<()>,
) -> Result<()> {
    let (source, chunks) = json_lines(input)?;
    let mut is_empty = true;
    for chunk in chunks {
        let mut done = Ok(());
        chunk?.lines(|number, _, text| {
            done = text
                .map_err(|error| error.at(source.place(number)))
                .and_then(|text| match text.trim_ascii() {
                    "" => Ok(()),
                    line => {
                        is_empty = false;
                        next(
                            source.path(),
                            number,
                            parse_input_line(source.path(), number, line)?,
                        )
                    }
                });
            done.is_ok()
        });
        done?;
    }
    if is_empty {
        let path = source.path().display();
        return Err(Error::usage(format!("`{path}` is empty"))
            .hint(format!("write lines as `{}`", T::EXAMPLE)));
    }
    Ok(())
}

/// All lines of a file.
fn all<T: InputLine>(input: &Path) -> Result<Vec<T>> {
    let mut found = Vec::new();
    each(input, |_, _, line| {
        found.push(line);
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(figure(Some(0.123_46)), "0.123");
        assert_eq!(figure(Some(-0.000_1)), "0.000");
        assert_eq!(figure(None), "-");
        assert_eq!(figures(Some([-0.5, 1.0])), "−0.500 to 1.000");
        assert_eq!(figures(None), "-");
        assert_eq!(figures(Some([1.0, 1.0])), "-");
    }

    #[test]
    fn few_labels_are_reported() {
        let check = |labels: u64, begins: Option<&str>| {
            let text = few_labels(labels);
            let starts =
                |begins: &str| text.as_deref().is_some_and(|text| text.starts_with(begins));
            assert!(begins.map_or(text.is_none(), starts), "{labels}: {text:?}");
        };
        check(1, Some("not calibrated: 1 label;"));
        check(49, Some("not calibrated: 49 labels;"));
        check(50, Some("few labels: 50 "));
        check(99, Some("few labels: 99 "));
        check(100, None);
    }
}
