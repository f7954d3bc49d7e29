//! `cargo evaltest judge`: analyses a judge from stored data. No model is called.

mod agreement;
mod calibrate;
mod correct;
mod lines;
mod read;
mod winrate;

use clap::{Args, Subcommand};
use evaltest::{Exit, Result};

use agreement::AgreementArgs;
use calibrate::CalibrateArgs;
use correct::CorrectArgs;
use read::ReadArgs;
use winrate::WinrateArgs;

/// Below this number of labels, figures about a judge are unreliable.
const FEW_LABELS: u64 = 50;

/// From this number of labels on, they are useful.
const ENOUGH_LABELS: u64 = 100;

/// What judges replied, and what a judge is worth beside labels of people, from files. No model is asked
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
