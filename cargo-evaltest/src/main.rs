//! `cargo evaltest`: run, list, show, score, compare scorers, gate and accept evaluations of LLM agents.

use std::process::ExitCode;

mod answers;
mod args;
mod baselines;
mod called;
mod colour;
mod command;
mod console;
mod discover;
mod examples;
mod histories;
mod progress;
mod run_ids;
mod runs;
mod scorers;
mod target;

use args::CliCommand;

/// The system allocator took a quarter of the time of `score`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let exit_code = evaltest::engine::system::sandbox::serve_if_requested();
    if let Some(code) = exit_code.or_else(evaltest::engine::system::orphans::watch_if_requested) {
        return code;
    }
    evaltest::engine::system::panics::quiet();
    evaltest::engine::system::orphans::adopt();
    let arguments = match args::read() {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    let done = match arguments.command {
        None => command::run::run(&arguments.run),
        Some(CliCommand::Run(args)) => command::run::run(&args),
        Some(CliCommand::Generate(args)) => command::generate::run(&args),
        Some(CliCommand::List(args)) => command::read::list::run(&args),
        Some(CliCommand::Runs(args)) => command::read::runs::run(&args),
        Some(CliCommand::Show(args)) => command::read::show::run(&args),
        Some(CliCommand::Compare(args)) => command::read::compare::run(&args),
        Some(CliCommand::Trend(args)) => command::read::trend::run(&args),
        Some(CliCommand::Score(args)) => command::score::run(&args),
        Some(CliCommand::Scorers(args)) => command::read::scorers::run(&args),
        Some(CliCommand::Judge(args)) => command::judge::run(&args),
        Some(CliCommand::Summarize(args)) => command::read::summarize::run(&args),
        Some(CliCommand::Report(args)) => command::read::report::run(&args),
        Some(CliCommand::View(args)) => command::read::view::run(&args),
        Some(CliCommand::Review(args)) => command::review::run(&args),
        Some(CliCommand::Flow(args)) => command::flow::run(&args),
        Some(CliCommand::Rescore(args)) => command::rescore::run(&args),
        Some(CliCommand::Merge(args)) => command::files::merge::run(&args),
        Some(CliCommand::Winrate(args)) => command::winrate::run(&args),
        Some(CliCommand::Repair(args)) => command::files::repair::run(&args),
        Some(CliCommand::Gate(args)) => command::gate::run(&args),
        Some(CliCommand::Accept(args)) => command::accept::run(&args),
        Some(CliCommand::Plan(args)) => command::plan::run(&args),
        Some(CliCommand::Export(args)) => command::files::export::run(&args),
        Some(CliCommand::Import(args)) => command::files::import::run(&args),
        Some(CliCommand::Bfcl(args)) => command::files::bfcl::run(&args),
        Some(CliCommand::Cache(args)) => command::files::cache::run(&args),
        Some(CliCommand::HistoryPatch(args)) => command::files::history_patch::run(&args),
        Some(CliCommand::Init(args)) => command::init::run(&args),
        Some(CliCommand::Schema(args)) => command::docs::schema::run(&args),
        Some(CliCommand::Completions(args)) => {
            command::docs::completions::run(&args, args::command())
        }
        Some(CliCommand::Mcp(args)) => command::docs::mcp::run(&args),
        Some(CliCommand::Man(args)) => command::docs::man::run(&args, args::command()),
        Some(CliCommand::Reference(args)) => {
            command::docs::reference::run(&args, &args::in_groups())
        }
        Some(CliCommand::Doctor(args)) => command::doctor::run(&args),
    };
    evaltest::engine::system::orphans::kill_all();
    let exit = done.unwrap_or_else(|error| {
        console::complain(&error);
        error.exit()
    });
    exit.into()
}
