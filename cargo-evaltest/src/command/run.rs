//! `cargo evaltest run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Command, FromArgMatches};
use evaltest::engine::report::Event;
use evaltest::engine::run::drive::{Drive, Prepared, Verbosity};
use evaltest::engine::store::RunDir;
use evaltest::engine::system::project::display;
use evaltest::engine::system::signal::{self, Interrupt};
use evaltest::engine::text::clean;
use evaltest::{Cancel, Error, Exit, Result, Run};
use serde_json::{Value, json};

use crate::colour::ColorArgs;
use crate::command::files::bfcl;
use crate::command::files::bfcl::{ProgramArgs, Where};
use crate::command::files::export::ExportFormat;
use crate::command::files::export::bfcl::ModelArgs;
use crate::console;
use crate::progress::{Ahead, Progress};

pub(super) mod after;
mod flags;
pub(super) mod options;
pub(super) mod report;
mod shard;
mod sources;
mod tiers;
mod watch;
mod watched;
pub(super) mod work;

use crate::target::run_test;
use after::{After, AfterArgs};
use report::{RunsReport, report_all, results_of};
use shard::ShardArgs;
use tiers::{HistoryArgs, TierArgs};
use work::Work;

/// Run evals: ask the agent, score the answers, check the gates
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are flags of a command line"
)]
pub(crate) struct RunArgs {
    /// Specs, folders of specs or names of evals to run; default: every eval of the project
    #[arg(value_name = "SPEC|FOLDER|NAME")]
    pub(super) specs: Vec<PathBuf>,

    /// Run only the first N samples (after shuffling). Gates are then ignored, unlike with `limits.limit` in the spec
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Run only evals of this benchmark or name. With `--benchmark-option path=…` and `--agent`, runs an eval without a
    /// spec
    #[arg(long, value_name = "NAME")]
    benchmark: Option<String>,

    #[command(flatten)]
    tiers: TierArgs,

    #[command(flatten)]
    shard: ShardArgs,

    /// The split of the dataset
    #[arg(long)]
    split: Option<String>,

    /// Shuffle the samples with the spec's seed, or with a random seed, which is printed
    #[arg(long)]
    shuffle: bool,

    /// Shuffle with this seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The agent, as in a spec: `echo`, or `{type: command, command: [./agent]}`. Replaces all `agents` of the spec
    #[arg(long, value_name = "YAML")]
    pub(super) agent: Option<String>,

    /// The scorer, a name or a map as in a spec. Replaces the spec's scorers; repeatable, the first decides
    #[arg(long = "scorer", value_name = "NAME|YAML")]
    scorers: Vec<String>,

    /// Set an option of the scorers: `compat=true` for all that have it, `NAME.compat=true` for one
    #[arg(long = "scorer-option", value_name = "[NAME.]KEY=YAML")]
    scorer_options: Vec<String>,

    /// The extraction, as in a spec
    #[arg(long, value_name = "YAML")]
    extract: Option<String>,

    /// Ask each sample N times. Accuracy counts all answers; gates such as `pass@3` and `majority` combine the answers
    /// of a sample
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    epochs: Option<u32>,

    /// Maximum number of samples in parallel
    #[arg(long, value_name = "N")]
    pub(super) concurrency: Option<usize>,

    /// Timeout of one attempt, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout_s: Option<f64>,

    /// Maximum number of retries after a failed attempt
    #[arg(long, value_name = "N")]
    pub(super) retries: Option<u32>,

    /// The most that it may cost, also where the spec's budget is higher
    #[arg(long, hide = true)]
    at_most_usd: Option<f64>,

    /// Stop at the first sample whose agent failed
    #[arg(long)]
    fail_fast: bool,

    /// Keep going even if the first 10 attempts of an agent all fail with the same error (same kind, exit code and last line
    /// of stderr, ignoring digits)
    #[arg(long)]
    pub(super) keep_going: bool,

    /// Continue an interrupted run; answered samples are not asked again
    #[arg(long, value_name = "RUN_DIR")]
    pub(super) resume: Option<PathBuf>,

    /// With `--resume`: continue even if the agent's program, keys or options changed; the run cannot become a baseline
    #[arg(long, requires = "resume")]
    pub(super) allow_changed_agent: bool,

    /// Run only the samples that failed or flipped in this run
    #[arg(long, value_name = "RUN_DIR")]
    failed: Option<PathBuf>,

    /// Use the cache even if the spec does not enable it
    #[arg(long, conflicts_with_all = ["no_cache", "refresh"])]
    pub(super) cache: bool,

    /// Do not use the cache even if the spec enables it
    #[arg(long, conflicts_with = "refresh")]
    pub(super) no_cache: bool,

    /// Ignore cached answers and replace them
    #[arg(long)]
    pub(super) refresh: bool,

    /// Make all model calls and record them again; overrides the `mode` of the spec's `record`
    #[arg(long, conflicts_with = "replay")]
    pub(super) record: bool,

    /// Replay recorded model calls and make none; overrides the `mode` of the spec's `record`
    #[arg(long)]
    pub(super) replay: bool,

    /// Count samples and requests without calling the agent
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Run again, with the cache, after each change of the spec, the dataset, the agent's program or a module next to
    /// it, until Ctrl-C. Shows which samples flipped since the previous run
    #[arg(long, conflicts_with_all = ["json", "dry_run", "resume", "failed", "run_id", "no_cache", "refresh",
        "export", "official", "report", "junit", "github", "pr_comment", "gitlab"])]
    watch: bool,

    /// Show the agents' output, redacted, while they run
    #[arg(long)]
    pub(super) stream: bool,

    /// The folder of run directories
    #[arg(long, value_name = "DIR")]
    pub(super) output_root: Option<PathBuf>,

    /// The id of the run
    #[arg(long, value_name = "ID")]
    pub(super) run_id: Option<String>,

    /// Redact matches of this regex in all output
    #[arg(long, value_name = "REGEX")]
    pub(super) redact_pattern: Vec<String>,

    /// Set a key of the spec's `benchmark`
    #[arg(long, value_name = "KEY=VALUE")]
    benchmark_option: Vec<String>,

    /// Set a key of the agent's `options`, or of every agent's, if there are several. Programs get them as JSON
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) agent_option: Vec<String>,

    /// Set any key of the spec: `--set snapshot.assert=exact`
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,

    /// Run only samples whose test name contains this text. Gates are then ignored
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// With `CI` set, exit with 0 even if gates were ignored: those of a partial run (`--limit`, `--filter`,
    /// `--failed`) or of a slice without samples
    #[arg(long)]
    allow_ignored: bool,

    /// With `CI` set, let `no_regression` pass even if all answers came from the cache
    #[arg(long)]
    allow_cached: bool,

    /// Do not read the committed baseline
    #[arg(long)]
    ignore_baseline: bool,

    #[command(flatten)]
    history: HistoryArgs,

    /// After the run, export it into the current folder, as `export` does; also if gates fail, but not after an
    /// interrupted run or an early stop
    #[arg(long, value_enum, value_name = "FORMAT")]
    export: Option<ExportFormat>,

    /// After the run, score the answers with the official program as well and compare the verdicts, as `bfcl official`
    /// does; also if gates fail. Needs `--model-name`
    #[arg(long, requires = "model_name")]
    official: bool,

    #[command(flatten)]
    after: AfterArgs,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    program: ProgramArgs,

    /// Print the details of each result: intervals, tests, the drop the run could detect
    #[arg(short, long)]
    verbose: bool,

    #[command(flatten)]
    pub(super) color: ColorArgs,

    /// Print the results as JSON on standard output
    #[arg(long)]
    pub(super) json: bool,
}

pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    if args.watch {
        watch::watch(args)
    } else {
        once(args)
    }
}

fn once(args: &RunArgs) -> Result<Exit> {
    // Shards are reported after the merge.
    let is_quiet = args.dry_run || args.asks_part();
    let mut after = After::new(&args.after, is_quiet)?;
    let ended = run_evals(args, &mut after);
    after.end(ended)
}

fn run_evals(args: &RunArgs, after: &mut After<'_>) -> Result<Exit> {
    let mut drive = args.drive()?;
    let work = args.work(&mut drive)?;
    let evals = work.evals.len() + drive.evals.only.len();
    if evals > 1 && (args.run_id.is_some() || args.resume.is_some()) {
        return Err(
            Error::usage("`--run-id` and `--resume` need exactly one eval")
                .hint("name the spec: cargo evaltest run SPEC"),
        );
    }
    if args.dry_run {
        return dry_run(args, &drive, &work);
    }
    args.check_export()?;
    // Read every dataset and baseline before the first agent starts.
    let mut prepared = Vec::new();
    for eval in &work.evals {
        let what = format!(
            "{}: still fetching or reading the dataset",
            clean(eval.name())
        );
        let prepare = console::waiting(&what, || drive.prepare(eval));
        let eval = prepare.inspect_err(|error| after.add_unstarted(eval.name(), error))?;
        if args.filter.is_none() || evals == 1 || eval.count().samples > 0 {
            prepared.push(eval);
        }
    }
    // Up to here a signal kills the process: downloads may be slow, and there are no answers to lose yet.
    let cancel = Cancel::new();
    let interrupt = signal::cancel_on_signals(&cancel)
        .map_err(|error| Error::refused("handle signals", &error))?;
    let several = prepared.len() + drive.evals.only.len() > 1;
    drive.audience.verbosity = args.verbosity(several);
    drive.audience.paint = args.color.paint();
    let mut report = RunsReport::new(drive.audience.verbosity, drive.audience.paint, several);
    let counts = prepared.iter().map(Prepared::count);
    let ahead = Ahead {
        evals: prepared.len() + drive.evals.only.len(),
        questions: counts
            .map(|count| count.samples as u64 * u64::from(count.epochs))
            .sum(),
        ..Ahead::default()
    };
    let progress = Arc::new(Progress::new(args.json, ahead));
    let mut runs = Vec::new();
    let mut exit = Exit::Passed;
    for eval in prepared {
        if interrupt.is_set() {
            break;
        }
        let name = eval.count().eval;
        let progress = Arc::clone(&progress);
        let observer = move |event: &Event<'_>| progress.event(event);
        match drive.run(eval, &cancel, Arc::new(observer)) {
            Ok(run) => {
                exit = exit.max(run.summary.exit_code);
                report.run(&run)?;
                let (result, worst) = args.result(&run, after, &cancel)?;
                report.ends_at_least(worst);
                exit = exit.max(worst);
                runs.push(result);
            }
            // Errors here, such as for the run directory, concern only this eval.
            Err(error) => {
                after.add_unstarted(&name, &error);
                report.failed(&name, &error);
                exit = exit.max(error.exit());
            }
        }
    }
    for test in &work.tests {
        if !interrupt.is_set() {
            exit = exit.max(run_test(test, &drive, args.json, &interrupt)?);
            for run in results_of(&drive, &runs)? {
                report.row(&run);
                let (result, worst) = args.result(&run, after, &cancel)?;
                report.ends_at_least(worst);
                exit = exit.max(worst);
                runs.push(result);
            }
        }
    }
    if args.filter.is_none() && !interrupt.is_set() {
        // Evals of a test binary that ended before it ran them.
        let names = drive.evals.only.iter();
        names.for_each(|name| report.not_run(name, Exit::Usage));
        after.report_missing(&drive.evals.only);
    }
    // A single eval has reported it itself.
    let is_unreported = runs.is_empty() && work.tests.is_empty() && exit == Exit::Passed;
    if let Some(filter) = (args.filter.as_ref()).filter(|_| is_unreported && !interrupt.is_set()) {
        return Err(
            Error::usage(format!("`--filter {filter}` matches no sample of any eval")).hint(
                drive
                    .samples
                    .hint_of_filter()
                    .unwrap_or_else(|| "cargo evaltest list".to_owned()),
            ),
        );
    }
    report_all(&runs, exit, args.json)?;
    if interrupt.is_set() {
        exit = Exit::Interrupted;
    }
    report.end(exit)?;
    Ok(exit)
}

impl RunArgs {
    /// The arguments of `run` without any flags, for other commands that run evals.
    pub(super) fn usual() -> Result<Self> {
        let command = Self::augment_args(Command::new("run")).no_binary_name(true);
        let matches = command.try_get_matches_from(Vec::<String>::new());
        let usual = matches.and_then(|matches| Self::from_arg_matches(&matches));
        usual.map_err(|error| Error::infrastructure(error.to_string()))
    }

    /// How verbose the output of each run is.
    fn verbosity(&self, several: bool) -> Verbosity {
        if self.json {
            Verbosity::Nothing
        } else if self.verbose {
            Verbosity::Verbose
        } else if several {
            Verbosity::Brief
        } else {
            Verbosity::Whole
        }
    }

    /// The result and exit code of a run, including the requested export and official verdicts.
    fn result(&self, run: &Run, after: &mut After<'_>, cancel: &Cancel) -> Result<(Value, Exit)> {
        let mut result = result(run);
        after.ran(&mut result, self.json)?;
        self.export(&mut result)?;
        let exit = self.official(&mut result, cancel)?;
        Ok((result, exit))
    }

    /// Checks before the run that its export is possible.
    fn check_export(&self) -> Result<()> {
        if let Some(format) = self.export {
            format.check(&self.model)?;
        }
        if self.official {
            self.model.model()?;
            evaltest::engine::leaderboard::official::check(
                &self.program.official(Path::new("."))?,
            )?;
        }
        Ok(())
    }

    /// Runs the official program on a finished run if requested, and adds its verdicts to the result.
    fn official(&self, result: &mut Value, cancel: &Cancel) -> Result<Exit> {
        if !self.official || !result["stop_reason"].is_null() {
            return Ok(Exit::Passed);
        }
        let dir = RunDir::open(Path::new(result["run_dir"].as_str().unwrap_or_default()))?;
        let compared = bfcl::compare(&dir, &self.model, &self.program, Where::default(), cancel)?;
        if !self.json {
            compared.print()?;
        }
        result["official"] = compared.json();
        Ok(compared.exit())
    }

    /// Exports a finished run if requested, and adds the path to its result.
    fn export(&self, result: &mut Value) -> Result<()> {
        let Some(format) = self.export else {
            return Ok(());
        };
        if !result["stop_reason"].is_null() {
            console::note(&format!(
                "run `{}` is not exported: it stopped early",
                result["eval"].as_str().unwrap_or_default()
            ));
            return Ok(());
        }
        let dir = RunDir::open(Path::new(result["run_dir"].as_str().unwrap_or_default()))?;
        let file = format.export(&dir, &self.model)?;
        if !self.json {
            console::print(|out| writeln!(out, "  exported: {}", display(&file)))?;
        }
        result["exported"] = json!(file);
        Ok(())
    }
}

pub(super) fn dry_run(args: &RunArgs, drive: &Drive, work: &Work) -> Result<Exit> {
    let mut counts = Vec::new();
    for eval in &work.evals {
        let prepared = drive.prepare(eval)?;
        for notice in prepared.notices() {
            console::note(&format!("{}: {}", eval.name(), clean(&notice)));
        }
        counts.push(prepared.count());
    }
    if args.json {
        console::print_json(&counts)?;
    } else {
        console::print(|out| {
            counts
                .iter()
                .try_for_each(|count| writeln!(out, "{count}; no agent or model was called"))
        })?;
    }
    work.tests.iter().try_fold(Exit::Passed, |exit, test| {
        let other = run_test(test, drive, args.json, &Interrupt::default())?;
        Ok(exit.max(other))
    })
}

/// A run's `--json` output.
pub(super) fn result(run: &Run) -> Value {
    let ids = |worse: bool| -> Vec<&str> {
        run.flips
            .iter()
            .filter(|flip| flip.worse == worse)
            .map(|flip| flip.id.as_str())
            .collect()
    };
    json!({
        "eval": run.eval,
        "run_dir": run.dir,
        "summary": run.summary,
        "flipped_to_wrong": ids(true),
        "flipped_to_correct": ids(false),
        "failed_assertions": run.failed_assertions,
        "stop_reason": run.stop_reason,
        "duration_s": run.duration_s,
    })
}
