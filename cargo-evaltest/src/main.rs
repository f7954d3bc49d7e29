//! `cargo evaltest`.

mod command;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    /// Evaluate LLM agents
    Evaltest(Evaltest),
}

#[derive(Debug, clap::Args)]
#[command(version)]
struct Evaltest {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Score(command::score::ScoreArgs),
}

fn main() -> ExitCode {
    let Cargo::Evaltest(Evaltest { command }) = Cargo::parse();
    let done = match &command {
        Command::Score(args) => command::score::run(args),
    };
    ExitCode::from(done.unwrap_or_else(|error| {
        // With stderr gone there is nobody left to tell.
        let _ = writeln!(std::io::stderr(), "error: {error}");
        error.exit_code()
    }))
}
