//! `cargo evaltest judge`: analyses a judge from stored data. No model is called.

mod agreement;
mod calibrate;
mod correct;
mod read;
mod winrate;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use evaltest::engine::judge::{InputLine, parse_input_line};
use evaltest::{Error, Exit, Result};

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

/// Analyse a judge offline: parse its replies, measure agreement with human labels
#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    #[command(subcommand)]
    command: JudgeCommand,
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
        JudgeCommand::Read(args) => read::run(args),
        JudgeCommand::Agreement(args) => agreement::run(args),
        JudgeCommand::Calibrate(args) => calibrate::run(args),
        JudgeCommand::Correct(args) => correct::run(args),
        JudgeCommand::Winrate(args) => winrate::run(args),
    }
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
    // Avoid `-0.000`.
    let rounded = |value: f64| (value * 1e3).round() / 1e3 + 0.0;
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.3}", rounded(value)))
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
            "not calibrated: {labels} {noun}, where {FEW_LABELS} are the least and {ENOUGH_LABELS} are better"
        ))
    } else if labels < ENOUGH_LABELS {
        Some(format!(
            "few labels: {labels} {noun}, so that intervals are wide; {ENOUGH_LABELS} are better"
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
        assert_eq!(figures(Some([-0.5, 1.0])), "-0.500 to 1.000");
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
        check(1, Some("not calibrated: 1 label,"));
        check(49, Some("not calibrated: 49 labels,"));
        check(50, Some("few labels: 50 "));
        check(99, Some("few labels: 99 "));
        check(100, None);
    }
}
