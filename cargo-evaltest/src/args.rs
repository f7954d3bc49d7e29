//! Command-line arguments.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use evaltest::engine::text::clean;

use crate::called;
use crate::colour;
use crate::command::accept::AcceptArgs;
use crate::command::docs::completions::CompletionsArgs;
use crate::command::docs::man::ManArgs;
use crate::command::docs::mcp::McpArgs;
use crate::command::docs::reference::{CommandsInGroups, ReferenceArgs};
use crate::command::docs::schema::SchemaArgs;
use crate::command::doctor::DoctorArgs;
use crate::command::files::bfcl::BfclArgs;
use crate::command::files::cache::CacheArgs;
use crate::command::files::export::ExportArgs;
use crate::command::files::history_patch::HistoryPatchArgs;
use crate::command::files::import::ImportArgs;
use crate::command::files::merge::MergeArgs;
use crate::command::files::repair::RepairArgs;
use crate::command::flow::FlowArgs;
use crate::command::gate::GateArgs;
use crate::command::generate::GenerateArgs;
use crate::command::init::InitArgs;
use crate::command::judge::JudgeArgs;
use crate::command::plan::PlanArgs;
use crate::command::read::compare::CompareArgs;
use crate::command::read::list::ListArgs;
use crate::command::read::report::ReportArgs;
use crate::command::read::runs::RunsArgs;
use crate::command::read::scorers::ScorersArgs;
use crate::command::read::show::ShowArgs;
use crate::command::read::summarize::SummarizeArgs;
use crate::command::read::trend::TrendArgs;
use crate::command::read::view::ViewArgs;
use crate::command::rescore::RescoreArgs;
use crate::command::review::ReviewArgs;
use crate::command::run::RunArgs;
use crate::command::score::ScoreArgs;
use crate::command::winrate::RunsWinrateArgs;
use crate::examples;

mod groups;

/// Commands of the leaderboard's own program, which users may type after `cargo evaltest bfcl`.
const OF_LEADERBOARD: &[&str] = &[
    "evaluate",
    "generate",
    "models",
    "results",
    "scores",
    "test-categories",
];

/// Adds to the error for such a command which command to use instead.
fn with_tip_of_leaderboard(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if OF_LEADERBOARD.contains(&name.as_str()) {
        let tip = format!(
            "`bfcl {name}` is a command of the official program: type it without `cargo evaltest`"
        );
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

#[cfg(test)]
mod tests;

/// Evaluate LLM agents: benchmarks as tests, snapshots, accuracy gates.
///
/// `cargo evaltest` alone means `cargo evaltest run`: every eval in `evals/` and in `[package.metadata.evaltest]`.
#[derive(Debug, Parser)]
#[command(
    name = "cargo evaltest",
    bin_name = "cargo evaltest",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 all gates passed, 1 a gate or assertion failed, 2 a mistake in the command line, \
                  a spec or a dataset, or an endpoint that refuses every request, 3 infrastructure \
                  (error rate, an inconclusive gate, stopped early, disk full), 130 interrupted."
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
    Merge(MergeArgs),
    Generate(Box<GenerateArgs>),
    List(ListArgs),
    Runs(RunsArgs),
    Show(ShowArgs),
    Compare(CompareArgs),
    Trend(TrendArgs),
    Score(ScoreArgs),
    Scorers(ScorersArgs),
    Judge(JudgeArgs),
    Summarize(SummarizeArgs),
    Report(ReportArgs),
    View(ViewArgs),
    Review(ReviewArgs),
    Flow(Box<FlowArgs>),
    Rescore(RescoreArgs),
    Winrate(RunsWinrateArgs),
    Repair(RepairArgs),
    Gate(GateArgs),
    Accept(AcceptArgs),
    Plan(PlanArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Bfcl(BfclArgs),
    Cache(CacheArgs),
    HistoryPatch(HistoryPatchArgs),
    Init(InitArgs),
    Doctor(DoctorArgs),
    Schema(SchemaArgs),
    Completions(CompletionsArgs),
    Mcp(McpArgs),
    Man(ManArgs),
    Reference(ReferenceArgs),
}

/// Maximum width of help; narrower terminals wrap earlier.
pub(crate) const WIDTH: usize = 100;

/// The command with its groups and examples.
pub(crate) fn command() -> Command {
    examples::with_examples(without_examples())
}

fn without_examples() -> Command {
    groups::grouped(Arguments::command()).max_term_width(WIDTH)
}

/// The commands for the reference, in the order of their groups.
pub(crate) fn in_groups() -> CommandsInGroups {
    let names = groups::GROUPS.iter().flat_map(|(_, names)| *names);
    CommandsInGroups {
        command: command().term_width(WIDTH),
        names: names.copied().collect(),
    }
}

/// Parses the command line. Help and errors show the command name as typed and end the process.
pub(crate) fn read() -> Result<Arguments, ExitCode> {
    let words = called::arguments(std::env::args_os());
    parse(words.clone()).map_err(|error| {
        let error = printable(error, &words);
        let text = error.render();
        let terminal = if error.use_stderr() {
            std::io::stderr().is_terminal()
        } else {
            std::io::stdout().is_terminal()
        };
        let text = if colour::wanted(terminal) {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        let text = called::spoken(&text);
        // If the output is closed, the exit code is enough.
        let _ = if error.use_stderr() {
            std::io::stderr().write_all(text.as_bytes())
        } else {
            std::io::stdout().write_all(text.as_bytes())
        };
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// The error with control characters in arguments escaped: clap's message for the same arguments after escaping.
fn printable(error: clap::Error, words: &[OsString]) -> clap::Error {
    let rendered = |word: &OsString| {
        word.to_str()
            .map_or_else(|| word.clone(), |word| clean(word).into())
    };
    let rendered: Vec<_> = words.iter().map(rendered).collect();
    if rendered == words {
        return error;
    }
    let message = || command().error(error.kind(), "an argument contains invisible characters");
    parse(rendered).err().unwrap_or_else(message)
}

/// Lays out the examples only for help: that takes longer than parsing.
fn parse(words: Vec<OsString>) -> clap::error::Result<Arguments> {
    parse_with(without_examples(), words.clone()).or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            parse_with(command(), words)
        }
        _ => Err(error),
    })
}

fn parse_with(mut command: Command, words: Vec<OsString>) -> clap::error::Result<Arguments> {
    called::has_commands(command.get_subcommands().map(Command::get_name));
    let mut matches = command
        .try_get_matches_from_mut(words)
        .map_err(with_tip_of_leaderboard)?;
    if matches.subcommand_name().is_some() {
        called::typed_command();
    }
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}
