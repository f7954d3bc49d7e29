//! The command line, as typed.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::command::{
    accept::AcceptArgs, bfcl::BfclArgs, cache::CacheArgs, doctor::DoctorArgs, export::ExportArgs,
    gate::GateArgs, import::ImportArgs, init::InitArgs, list::ListArgs, plan::PlanArgs,
    rescore::RescoreArgs, run::RunArgs, score::ScoreArgs, scorers::ScorersArgs, show::ShowArgs,
    summarize::SummarizeArgs,
};

/// Evaluate LLM agents: benchmarks as tests, snapshots, accuracy gates.
///
/// Without a command, `run` is meant: every eval found in `evals/` and in `[package.metadata.evaltest]`.
#[derive(Debug, Parser)]
#[command(
    name = "cargo evaltest",
    bin_name = "cargo evaltest",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 all gates passed, 1 a gate or assertion failed, 2 a mistake in the command line, \
                  a spec or a dataset (no agent started), 3 infrastructure (error rate, an inconclusive gate, \
                  stopped early, disk full), 130 interrupted."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Run(Box<RunArgs>),
    List(ListArgs),
    Show(ShowArgs),
    Score(ScoreArgs),
    Scorers(ScorersArgs),
    Summarize(SummarizeArgs),
    Rescore(RescoreArgs),
    Gate(GateArgs),
    Accept(AcceptArgs),
    Plan(PlanArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Bfcl(BfclArgs),
    Cache(CacheArgs),
    Init(InitArgs),
    Doctor(DoctorArgs),
}

/// Cargo calls `cargo-evaltest evaltest …`; the name in second place is not an argument.
pub(crate) fn without_subcommand_name(
    arguments: impl Iterator<Item = OsString>,
) -> impl Iterator<Item = OsString> {
    let is_name = |(place, argument): &(usize, OsString)| !(*place == 1 && argument == "evaltest");
    arguments
        .enumerate()
        .filter(is_name)
        .map(|(_, argument)| argument)
}
