//! `cargo evaltest gate`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::run::drive::CiPolicy;
use evaltest::engine::run::rescore;
use evaltest::engine::text::clean;
use evaltest::{Exit, Gate, Result};

use crate::command::run::report::print_run;
use crate::console;
use crate::run_ids::typed_folder;
use crate::runs::named_or_last;

/// Check a finished run again: by its own gates, or those of `--gate`
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct GateArgs {
    /// A run directory, or an eval's name for its last run; default: the last run
    #[arg(value_parser = typed_folder())]
    run_dir: Option<PathBuf>,

    /// Check this gate instead of the run's own, such as `accuracy >= 0.6`; may be repeated
    #[arg(long = "gate", value_name = "GATE")]
    gates: Vec<String>,

    /// With `CI` set, exit with 0 even if gates were ignored
    #[arg(long)]
    allow_ignored: bool,

    /// With `CI` set, let `no_regression` pass even if all answers came from the cache
    #[arg(long)]
    allow_cached: bool,

    /// Print the details of the result: intervals, tests, the drop the run could detect
    #[arg(short, long)]
    verbose: bool,

    /// Print the verdicts as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &GateArgs) -> Result<Exit> {
    let gates = args
        .gates
        .iter()
        .map(|text| text.parse::<Gate>())
        .collect::<Result<Vec<_>>>()?;
    evaltest::engine::verdict::check_unique(&gates)?;
    let gates = (!gates.is_empty()).then_some(gates);
    let ci = CiPolicy {
        is_set: evaltest::engine::system::project::is_ci(),
        allow_ignored: args.allow_ignored,
        allow_cached: args.allow_cached,
    };
    let dir = named_or_last(args.run_dir.as_deref())?;
    let manifest = dir.manifest()?;
    manifest.refuse_part(&dir, "its gates need all samples")?;
    let run = rescore::reload(&dir, gates, ci)?;
    for notice in &run.notices {
        console::note(&clean(notice));
    }
    if args.json {
        console::print_json(&serde_json::json!({
            "account": run.summary.account,
            "gates": run.summary.gates,
            "exit_code": run.summary.exit_code,
        }))?;
    } else {
        print_run(&run, args.verbose)?;
    }
    Ok(run.summary.exit_code)
}
