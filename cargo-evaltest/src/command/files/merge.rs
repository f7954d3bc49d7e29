//! `cargo evaltest merge`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::run::drive::{CiPolicy, Verbosity};
use evaltest::engine::run::merge::{FoundParts, MergeOptions, found_parts, merge};
use evaltest::engine::system::project::is_ci;
use evaltest::engine::text::clean;
use evaltest::{Error, Exit, Result, Run};

use crate::colour::ColorArgs;
use crate::command::run::after::{After, AfterArgs};
use crate::command::run::report::{RunsReport, report_all};
use crate::command::run::result;
use crate::{console, runs};

/// Merge the shards of a run and check its gates
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are flags of a command line"
)]
pub(crate) struct MergeArgs {
    /// Run directories of shards, or folders that contain them, up to four levels deep
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// The merged run directory; default: a new one in DIR, or next to the first of several
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// With `CI` set, exit with 0 even if gates were ignored, such as the gate of a slice without samples
    #[arg(long)]
    allow_ignored: bool,

    /// With `CI` set, let `no_regression` pass even if all answers came from the cache
    #[arg(long)]
    allow_cached: bool,

    /// Do not read the committed baseline
    #[arg(long)]
    ignore_baseline: bool,

    /// Append the run to the eval's history, a file to commit: `history.jsonl` in the snapshots folder
    #[arg(long)]
    history: bool,

    #[command(flatten)]
    after: AfterArgs,

    #[command(flatten)]
    color: ColorArgs,

    /// Print the details of the result: intervals, tests, the drop the run could detect
    #[arg(short, long)]
    verbose: bool,

    /// Print the results as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &MergeArgs) -> Result<Exit> {
    let mut after = After::new(&args.after, false)?;
    let ended = merge_all(args, &mut after);
    after.end(ended)
}

fn merge_all(args: &MergeArgs, after: &mut After<'_>) -> Result<Exit> {
    for dir in &args.dirs {
        runs::gather_parts(dir);
    }
    let evals = found_parts(&args.dirs)?;
    if evals.len() > 1 && args.output.is_some() {
        let names: Vec<_> = evals.iter().map(|parts| clean(&parts.eval)).collect();
        let message = format!("these shards belong to several evals: {}", names.join(", "));
        return Err(Error::usage(message).hint("leave out `--output`, or merge one eval at a time"));
    }
    let several = evals.len() > 1;
    let verbosity = if args.json {
        Verbosity::Nothing
    } else if args.verbose {
        Verbosity::Verbose
    } else {
        Verbosity::Whole
    };
    let mut report = RunsReport::new(verbosity, args.color.paint(), several);
    let (mut runs, mut exit) = (Vec::new(), Exit::Passed);
    for parts in evals {
        let eval = parts.eval.clone();
        match args.merge(parts) {
            Ok(run) => {
                exit = exit.max(run.summary.exit_code);
                for notice in &run.notices {
                    console::note(&format!("{}: {}", clean(&eval), clean(notice)));
                }
                report.run(&run)?;
                let mut result = result(&run);
                after.ran(&mut result, args.json)?;
                runs.push(result);
            }
            Err(error) if !several => return Err(error),
            // Continue with the other evals.
            Err(error) => {
                after.add_unstarted(&eval, &error);
                report.failed(&eval, &error);
                exit = exit.max(error.exit());
            }
        }
    }
    report_all(&runs, exit, args.json)?;
    report.end(exit)?;
    Ok(exit)
}

impl MergeArgs {
    fn merge(&self, parts: FoundParts) -> Result<Run> {
        let options = MergeOptions {
            output: self.output.clone(),
            ci: CiPolicy {
                is_set: is_ci(),
                allow_ignored: self.allow_ignored,
                allow_cached: self.allow_cached,
            },
            ignore_baseline: self.ignore_baseline,
            history: self.history,
        };
        merge(parts, &options)
    }
}
