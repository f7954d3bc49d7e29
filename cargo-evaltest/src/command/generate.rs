//! `cargo evaltest generate`.

mod overrides;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use evaltest::engine::eval::spec;
use evaltest::engine::figure::{Interval, Share};
use evaltest::engine::generate::{
    BENCHMARK, Generation, GenerationStatistics, check_writable, generate, made_items, makes_items,
};
use evaltest::engine::report::Event;
use evaltest::engine::report::document::Document;
use evaltest::engine::report::render::terminal::Paint;
use evaltest::engine::report::terminal::brief;
use evaltest::engine::run::drive::{Drive, Prepared};
use evaltest::engine::store::{DEFAULT_OUTPUT_ROOT, RunDir};
use evaltest::engine::system::project::display;
use evaltest::engine::system::signal;
use evaltest::engine::text::{clean, shell_word};
use evaltest::{Cancel, Error, Eval, Exit, Registry, Result};
use serde_json::{Value, json};

use super::run::options::absolute;
use super::run::report::report_all;
use super::run::work::Work;
use super::run::{RunArgs, dry_run, result as result_of};
use crate::colour::ColorArgs;
use crate::progress::{Ahead, Progress};
use crate::{console, discover, run_ids};

/// The built-in preset, used if no spec is named.
const READY: &str = "aime";

/// Generate test items with an agent, and check them
///
/// SPEC is an eval whose benchmark is `generate`; `aime` writes problems like those of the AIME. Generating is a run like
/// any other, with a journal, a budget, retries, a cache and gates; `--resume` repeats no answered request. A reply that
/// fails a check is requested again.
///
/// Writes `NAME_generated_TIME.json`, an array of the accepted items, and `generation_report_TIME.md` next to the run
/// directory, for each of several `agents`. The exit code is that of `run`, and 1 if no item was accepted.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are flags of a command line"
)]
pub(crate) struct GenerateArgs {
    /// A spec, or `aime` (the default)
    #[arg(value_name = "SPEC|aime")]
    spec: Option<PathBuf>,

    /// Number of items to request
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,

    /// The agent that writes items, as in a spec: `{type: openai, base_url: …, model: …}`
    #[arg(long, value_name = "YAML")]
    agent: Option<String>,

    /// Items that serve as examples and must not be copied: a JSON, JSONL, CSV or parquet file, or a dataset of the Hub
    #[arg(long, value_name = "PATH|hf://…")]
    reference: Option<PathBuf>,

    /// Random seed for topics and examples
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The topics, used equally often
    #[arg(long, value_name = "TOPIC,…", value_delimiter = ',')]
    topics: Vec<String>,

    /// An agent that solves each problem again without seeing the solution, as in a spec
    #[arg(long, value_name = "YAML")]
    solver: Option<String>,

    /// Number of answers by the solver; the most frequent counts
    #[arg(long, value_name = "N", requires = "solver")]
    votes: Option<u32>,

    /// What to do with an item if the solver's answer differs
    #[arg(long, value_enum, value_name = "WHAT", requires = "solver")]
    on_disagreement: Option<Disagreement>,

    /// Minimum seconds between requests, for the agent and for the solver; 0 for no limit
    #[arg(long, value_name = "SECONDS")]
    delay_s: Option<f64>,

    /// Maximum number of items in parallel
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,

    /// Timeout of one reply, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout_s: Option<f64>,

    /// Maximum number of retries after a failed request
    #[arg(long, value_name = "N")]
    retries: Option<u32>,

    /// Maximum cost of the run in US dollars; needs the agent's price
    #[arg(long, value_name = "USD")]
    budget_usd: Option<f64>,

    /// Maximum number of tokens of the run
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,

    /// Keep going even if the first 10 requests all fail with the same error
    #[arg(long)]
    keep_going: bool,

    /// Continue an interrupted run; answered samples are not asked again
    #[arg(long, value_name = "RUN_DIR")]
    resume: Option<PathBuf>,

    /// With `--resume`: continue even if the agent's program, keys or options changed
    #[arg(long, requires = "resume")]
    allow_changed_agent: bool,

    /// Count items and requests without calling the agent
    #[arg(long)]
    dry_run: bool,

    /// Use cached replies and store new ones
    #[arg(long, conflicts_with_all = ["no_cache", "refresh"])]
    cache: bool,

    /// Do not use the cache even if the spec enables it
    #[arg(long, conflicts_with = "refresh")]
    no_cache: bool,

    /// Ignore cached replies and replace them
    #[arg(long)]
    refresh: bool,

    /// The folder for the files and run directories
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// The id of the run
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    run_id: Option<String>,

    /// Redact matches of this regex in all output
    #[arg(long, value_name = "REGEX")]
    redact_pattern: Vec<String>,

    /// Set a key of the agent's `options`
    #[arg(long, value_name = "KEY=VALUE")]
    agent_option: Vec<String>,

    /// Set any key of the spec: `--set benchmark.checks.again=1`
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    #[command(flatten)]
    color: ColorArgs,

    /// Print the results as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// What happens to an item whose answer the solver does not confirm.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Disagreement {
    Refuse,
    Note,
}

pub(crate) fn run(args: &GenerateArgs) -> Result<Exit> {
    let requested = args.requested()?;
    let mut drive = requested.drive()?;
    drive.overrides.extend(args.overrides()?);
    let work = args.work(&requested, &mut drive)?;
    if args.dry_run {
        return dry_run(&requested, &drive, &work);
    }
    if let Some(folder) = args.folder()? {
        check_writable(&folder)?;
    }
    made(args, &drive, &work)
}

/// Runs all evals, one after the other.
fn made(args: &GenerateArgs, drive: &Drive, work: &Work) -> Result<Exit> {
    // Read every reference before the first item is requested.
    let mut prepared = Vec::new();
    for eval in &work.evals {
        let what = format!(
            "{}: still fetching or reading the references",
            clean(eval.name())
        );
        prepared.push(console::waiting(&what, || drive.prepare(eval))?);
    }
    let cancel = Cancel::new();
    let interrupt = signal::cancel_on_signals(&cancel)
        .map_err(|error| Error::refused("handle signals", &error))?;
    let counts = prepared.iter().map(Prepared::count);
    let ahead = Ahead {
        evals: prepared.len(),
        questions: counts
            .map(|count| count.samples as u64 * u64::from(count.epochs))
            .sum(),
        ..Ahead::default()
    };
    let progress = Arc::new(Progress::generating(args.json, ahead));
    let paint = args.color.paint();
    let mut exit = Exit::Passed;
    let mut results = Vec::new();
    for eval in prepared {
        if interrupt.is_set() {
            break;
        }
        let progress = Arc::clone(&progress);
        let observer = move |event: &Event<'_>| progress.event(event);
        // Errors here, such as for the run directory, concern only this eval.
        match generate(drive, eval, &cancel, Arc::new(observer)) {
            Ok(made) => {
                exit = exit.max(exit_of(&made));
                if !args.json {
                    console::print(|out| alerts(&made, paint, out))?;
                    console::print_document(&summary(&made))?;
                }
                results.push(result(&made));
            }
            Err(error) => {
                console::complain(&error);
                exit = exit.max(error.exit());
            }
        }
    }
    if interrupt.is_set() {
        exit = Exit::Interrupted;
    }
    report_all(&results, exit, args.json)?;
    Ok(exit)
}

/// Exit code of a run: that of its gates, but a failure if no item was accepted.
fn exit_of(made: &Generation) -> Exit {
    let items = &made.files.statistics.items;
    let own = if items.accepted == 0 {
        Exit::Failed
    } else {
        Exit::Passed
    };
    own.max(made.run.summary.exit_code)
}

/// A run's `--json` output.
fn result(made: &Generation) -> Value {
    let mut result = result_of(&made.run);
    result["items"] = json!(made.files.items);
    result["report"] = json!(made.files.report);
    result["statistics"] = json!(made.files.statistics);
    result
}

/// A summary of the generated items.
fn summary(made: &Generation) -> Document {
    let of = &made.files.statistics;
    let mut text = Document::new(first_line(of));
    let parts = [
        (of.items.never_passed, "never passed"),
        (of.items.errors, "without a reply that could be checked"),
        (of.items.not_requested, "never requested"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !parts.is_empty() {
        text.paragraph(parts.join(", "));
    }
    if of.replies.refused > 0 {
        let (refused, checked) = (of.replies.refused, of.replies.checked);
        let reasons = of.replies.reasons.iter();
        let reasons = reasons.map(|(reason, count)| format!("{count} {reason}"));
        let reasons = reasons.collect::<Vec<_>>().join(", ");
        text.paragraph(format!(
            "refused: {refused} of {checked} replies ({reasons})"
        ));
    }
    if let Some(solver) = &of.solver {
        text.paragraph(format!(
            "solved again: {} of {} with the same answer",
            solver.agrees, solver.solved
        ));
    }
    let topics = of.topics.topics.iter();
    let topics = topics.map(|it| format!("{} {}/{}", it.topic, it.reached, it.requested));
    let topics: Vec<_> = topics.collect();
    if !topics.is_empty() {
        text.paragraph(format!(
            "accepted of requested, by topic: {}",
            topics.join(", ")
        ));
    }
    let dir = display(&made.run.dir);
    text.paragraph(format!("items: {}", display(&made.files.items)));
    text.paragraph(format!("report: {}", display(&made.files.report)));
    text.paragraph(format!("run: {dir}"));
    if of.items.not_requested + of.items.errors > 0 {
        let dir = shell_word(&dir);
        text.paragraph(format!(
            "to continue: cargo evaltest generate --resume {dir}"
        ));
    }
    text
}

fn first_line(of: &GenerationStatistics) -> String {
    let (eval, items) = (&of.eval, &of.items);
    let (accepted, requested) = (items.accepted, items.requested);
    if accepted == 0 {
        return format!("{eval}: none of {requested} items was accepted");
    }
    let share = items.share.zip(items.ci95).map(|(share, ci95)| {
        let interval = Interval(ci95.map(Share)).ci95();
        format!(", {} of those with a reply ({interval})", Share(share))
    });
    let share = share.unwrap_or_default();
    format!("{eval}: {accepted} of {requested} items accepted{share}")
}

/// Prints warnings about the run. How to resume it comes at the end, because `run` would not write the files again.
fn alerts(made: &Generation, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    brief(&made.run, paint, &mut text)?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines();
    lines
        .filter(|line| !line.contains("cargo evaltest run --resume"))
        .try_for_each(|line| writeln!(out, "{line}"))
}

impl GenerateArgs {
    /// The equivalent arguments of `run`.
    fn requested(&self) -> Result<RunArgs> {
        let is_ready = self.is_ready();
        let specs = self.spec.iter().filter(|_| !is_ready);
        let mut run = RunArgs::usual()?;
        run.specs = specs.cloned().collect();
        run.agent.clone_from(&self.agent);
        run.concurrency = self.concurrency;
        run.timeout_s = self.timeout_s;
        run.retries = self.retries;
        run.keep_going = self.keep_going;
        run.resume.clone_from(&self.resume);
        run.allow_changed_agent = self.allow_changed_agent;
        run.cache = self.cache;
        run.no_cache = self.no_cache;
        run.refresh = self.refresh;
        run.dry_run = self.dry_run;
        run.output_root.clone_from(&self.output);
        run.run_id.clone_from(&self.run_id);
        run.redact_pattern.clone_from(&self.redact_pattern);
        run.agent_option.clone_from(&self.agent_option);
        run.set.clone_from(&self.set);
        run.color = self.color;
        run.json = self.json;
        Ok(run)
    }

    /// Whether the preset is requested instead of a spec.
    fn is_ready(&self) -> bool {
        let ready = Path::new(READY);
        match &self.spec {
            Some(spec) => spec == ready && !spec.exists(),
            None => self.resume.is_none(),
        }
    }

    /// The evals to run; all must generate items.
    fn work(&self, requested: &RunArgs, drive: &mut Drive) -> Result<Work> {
        if let Some(dir) = &self.resume {
            let manifest = RunDir::open(&run_ids::found(dir)?)?.manifest()?;
            if !made_items(&manifest) {
                return Err(not_generated(
                    &format!("the run `{}`", dir.display()),
                    &manifest.benchmark,
                    &format!(
                        "cargo evaltest run --resume {}",
                        shell_word(&dir.to_string_lossy())
                    ),
                ));
            }
            if self.is_ready() && spec::spec_of_run(&manifest).is_some() {
                return Err(Error::usage(format!(
                    "run `{}` is not a run of `{READY}`",
                    dir.display()
                ))
                .hint("leave the spec out: the run has its own"));
            }
        }
        let work = if self.is_ready() && self.resume.is_none() {
            self.ready(drive)?
        } else {
            requested.work(drive)?
        };
        if let Some(test) = work.tests.first() {
            return Err(Error::usage(format!(
                "`generate` needs a spec with built-in kinds, but `{}` is a test target",
                test.name
            ))
            .hint("cargo evaltest run"));
        }
        if let Some(other) = work.evals.iter().find(|eval| !makes_items(eval)) {
            let spec = self.spec.as_deref().unwrap_or(Path::new(""));
            return Err(not_generated(
                &format!("the eval `{}`", other.name()),
                other.benchmark_name(),
                &format!("cargo evaltest run {}", shell_word(&spec.to_string_lossy())),
            ));
        }
        if work.evals.len() > 1 && (self.run_id.is_some() || self.resume.is_some()) {
            return Err(
                Error::usage("`--run-id` and `--resume` need a spec with one agent")
                    .hint("name a spec with one agent"),
            );
        }
        Ok(work)
    }

    /// The preset as work, without a spec.
    fn ready(&self, drive: &mut Drive) -> Result<Work> {
        if self.agent.is_none() {
            return Err(Error::usage("no agent to write the items").hint(
                "add `--agent '{type: openai, base_url: URL, model: NAME}'`, or name a spec: cargo evaltest generate SPEC",
            ));
        }
        let root = discover::root()?;
        drive.destination.default_output_root = Some(root.join(DEFAULT_OUTPUT_ROOT));
        let name = format!("gen-{READY}");
        let text = format!(
            "name: {name}\nbenchmark: {{ type: {BENCHMARK}, ready: {READY} }}\nagent: echo\n"
        );
        // Paths typed in a shell are relative to the current folder. The run stores the path, so that resuming it
        // works from any folder.
        let folder = std::env::current_dir()
            .map_err(|error| Error::refused("find the current folder", &error))?;
        let path = folder.join(format!("{name}.flags"));
        let eval: Eval = spec::of_flags(&text, &path, &Registry::new(), &drive.overrides)?;
        Ok(Work {
            evals: vec![drive.adapt(eval)?],
            tests: Vec::new(),
        })
    }

    /// The output folder, if given; for a resumed run the folder it is in.
    fn folder(&self) -> Result<Option<PathBuf>> {
        let output = self.output.as_deref().map(absolute).transpose()?;
        let Some(dir) = &self.resume else {
            return Ok(output);
        };
        let dir = absolute(&run_ids::found(dir)?)?;
        let parent = dir.parent().unwrap_or(&dir).to_owned();
        match output {
            Some(output) if output != parent => Err(Error::usage(format!(
                "a resumed run writes next to its directory, into `{}`, not into `{}`",
                parent.display(),
                output.display()
            ))
            .hint("leave `--output` out")),
            _ => Ok(Some(parent)),
        }
    }
}

/// The error for an eval that does not generate items.
fn not_generated(what: &str, benchmark: &str, hint: &str) -> Error {
    Error::usage(format!(
        "{} has benchmark `{}`, but `generate` needs benchmark `{BENCHMARK}`",
        clean(what),
        clean(benchmark)
    ))
    .hint(hint)
}
