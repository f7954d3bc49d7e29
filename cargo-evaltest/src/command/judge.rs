//! `cargo evaltest judge`: a judge on stored data. Nobody is asked.

mod agreement;
mod calibrate;
mod correct;
mod figures;
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
