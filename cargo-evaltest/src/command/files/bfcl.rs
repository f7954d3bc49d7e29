//! `cargo evaltest bfcl`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use evaltest::engine::leaderboard::official::{self, OfficialAgreement, OfficialProgram};
use evaltest::engine::store::RunDir;
use evaltest::engine::system::project::display;
use evaltest::engine::system::signal;
use evaltest::engine::text::clean;
use evaltest::{Cancel, Error, Exit, Result, Run};
use serde_json::{Value, json};

use crate::command::files::export::bfcl::ModelArgs;
use crate::command::run::report::print_run;
use crate::console;
use crate::runs::read_run;

/// Check verdicts with the official BFCL program, if installed
#[derive(Debug, Args)]
pub(crate) struct BfclArgs {
    #[command(subcommand)]
    command: BfclCommand,
}

#[derive(Debug, Subcommand)]
enum BfclCommand {
    Official(OfficialArgs),
}

/// Score a run with the official program and compare its verdicts with the run's, sample by sample. Calls no agent and
/// no model
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all verdicts agree, 1 some do not, 2 a mistake in the command line or no such \
                  program, 3 the program failed, 130 interrupted."
)]
pub(crate) struct OfficialArgs {
    /// The run directory
    run_dir: PathBuf,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    program: ProgramArgs,

    /// The folder for the exported files and the official score files; default: `official` in the run directory,
    /// replaced if it exists
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Write a run directory with the official verdicts, as `rescore` does; default: only if answers had no verdict
    /// before
    #[arg(long)]
    record: bool,

    /// The folder for that run directory; default: that of the run
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Which program, and how long it may take.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProgramArgs {
    /// The official program; default: the variable `EVALTEST_BFCL_BIN`, else `bfcl` in `PATH`
    #[arg(long, value_name = "PATH")]
    bfcl_bin: Option<PathBuf>,

    /// Its timeout in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0)]
    bfcl_timeout_s: f64,
}

impl ProgramArgs {
    /// The official program, to be run in `folder`.
    pub(crate) fn official(&self, folder: &Path) -> Result<OfficialProgram> {
        let program = self.bfcl_bin.clone();
        let program = program.or_else(|| std::env::var_os("EVALTEST_BFCL_BIN").map(Into::into));
        let timeout = Duration::try_from_secs_f64(self.bfcl_timeout_s)
            .map_err(|_| Error::usage("`--bfcl-timeout-s` must be a number of seconds"))?;
        let folder =
            std::path::absolute(folder).map_err(|error| Error::io("resolve", folder, &error))?;
        Ok(OfficialProgram {
            program: program.unwrap_or_else(|| "bfcl".into()),
            timeout,
            folder,
        })
    }
}

pub(crate) fn run(args: &BfclArgs) -> Result<Exit> {
    let BfclCommand::Official(args) = &args.command;
    let cancel = Cancel::new();
    let interrupt = signal::cancel_on_signals(&cancel)
        .map_err(|error| Error::refused("handle signals", &error))?;
    let done = judge(args, &cancel);
    if interrupt.is_set() {
        if let Err(error) = &done {
            console::complain(error);
        }
        return Ok(Exit::Interrupted);
    }
    done
}

fn judge(args: &OfficialArgs, cancel: &Cancel) -> Result<Exit> {
    let dir = read_run(&args.run_dir)?;
    let compared = compare(
        &dir,
        &args.model,
        &args.program,
        Where {
            folder: args.output.clone(),
            root: args.output_root.clone(),
            record: args.record,
        },
        cancel,
    )?;
    if args.json {
        console::print_json(&compared.json())?;
    } else {
        compared.print()?;
    }
    Ok(compared.exit())
}

/// Output locations.
#[derive(Default)]
pub(crate) struct Where {
    /// For exported files and official score files.
    pub(crate) folder: Option<PathBuf>,
    /// For the run directory with the official verdicts.
    pub(crate) root: Option<PathBuf>,
    /// Create it even if every answer already had a verdict.
    pub(crate) record: bool,
}

/// Result of a comparison with the official program.
pub(crate) struct Compared {
    agreement: OfficialAgreement,
    scores: PathBuf,
    recorded: Option<Run>,
}

/// Exports a run, has the official program score it, and compares the verdicts.
pub(crate) fn compare(
    dir: &RunDir,
    model: &ModelArgs,
    program: &ProgramArgs,
    to: Where,
    cancel: &Cancel,
) -> Result<Compared> {
    let options = model.options(dir)?;
    let is_ours = to.folder.is_none();
    let folder = to.folder.unwrap_or_else(|| dir.file("official"));
    let how = program.official(&folder)?;
    official::check(&how)?;
    if is_ours {
        official::clear(&how.folder)?;
    }
    let judged = official::judge(dir, &options, &how, cancel)?;
    for note in judged.exported.notes(&options) {
        console::note(&note);
    }
    let is_new = judged.agreement.only_official() > 0;
    let recorded = (to.record || is_new).then(|| official::record(dir, &judged, to.root));
    Ok(Compared {
        recorded: recorded.transpose()?,
        agreement: judged.agreement,
        scores: judged.scores,
    })
}

impl Compared {
    /// Whether all verdicts agree.
    pub(crate) fn exit(&self) -> Exit {
        if self.agreement.is_full() {
            Exit::Passed
        } else {
            Exit::Failed
        }
    }

    /// The `--json` output.
    pub(crate) fn json(&self) -> Value {
        json!({
            "agreement": self.agreement,
            "all": self.agreement.all(),
            "scores": self.scores,
            "run_dir": self.recorded.as_ref().map(|run| &run.dir),
            "summary": self.recorded.as_ref().map(|run| &run.summary),
            "exit_code": self.exit(),
        })
    }

    /// Prints the result as text.
    pub(crate) fn print(&self) -> Result<()> {
        let mut text = self.agreement.text();
        text.paragraph(format!("official score files: {}", display(&self.scores)));
        console::print_document(&text)?;
        if let Some(run) = &self.recorded {
            for notice in &run.notices {
                console::note(&clean(notice));
            }
            print_run(run, false)?;
        }
        Ok(())
    }
}
