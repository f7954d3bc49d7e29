//! `cargo evaltest run`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use clap::Args;
use evaltest::artifact::{RunDir, runs_in};
use evaltest::drive::{self, Drive, DryRun, worse_exit};
use evaltest::event::Event;
use evaltest::report::terminal;
use evaltest::spec::{self, Override};
use evaltest::{Cancel, Error, Eval, Registry, Result, Run, signal};
use serde_json::{Value, json};

use crate::console;
use crate::discover::{self, TestTarget};
use crate::progress::Progress;

/// Run evals: ask the agent, score the answers, check the gates
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are flags of a command line"
)]
pub(crate) struct RunArgs {
    /// Specs to run; every eval of the project when none is named
    #[arg(value_name = "SPEC")]
    specs: Vec<PathBuf>,

    /// Run only evals of this benchmark or name; with `--benchmark-option path=…` and `--agent`, an eval
    /// without a spec
    #[arg(long, value_name = "NAME")]
    benchmark: Option<String>,

    /// Ask only the first N samples (after shuffling)
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// The split of the dataset
    #[arg(long)]
    split: Option<String>,

    /// Shuffle the samples
    #[arg(long)]
    shuffle: bool,

    /// The seed of the shuffle
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The agent, as in a spec: `echo`, or `{type: command, command: [./agent]}`
    #[arg(long, value_name = "YAML")]
    agent: Option<String>,

    /// The scorer, as in a spec
    #[arg(long, value_name = "YAML")]
    scorer: Option<String>,

    /// The extraction, as in a spec
    #[arg(long, value_name = "YAML")]
    extract: Option<String>,

    /// Samples in flight at once
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,

    /// Seconds that one attempt may take
    #[arg(long, value_name = "SECONDS")]
    timeout_s: Option<f64>,

    /// How often a failed attempt is repeated
    #[arg(long, value_name = "N")]
    retries: Option<u32>,

    /// Stop at the first sample whose agent failed
    #[arg(long)]
    fail_fast: bool,

    /// Continue a run that was interrupted: what was answered is not asked again
    #[arg(long, value_name = "RUN_DIR")]
    resume: Option<PathBuf>,

    /// Ask only what failed or flipped in this run
    #[arg(long, value_name = "RUN_DIR")]
    failed: Option<PathBuf>,

    /// Count samples and requests, ask nothing
    #[arg(long)]
    dry_run: bool,

    /// Show what agents print, redacted, while they run
    #[arg(long)]
    stream: bool,

    /// The folder of run directories
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// The id of the run
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,

    /// Blank what matches this regular expression in everything that is written
    #[arg(long, value_name = "REGEX")]
    redact_pattern: Vec<String>,

    /// A key of the spec's `benchmark`
    #[arg(long, value_name = "KEY=VALUE")]
    benchmark_option: Vec<String>,

    /// A key of the agent's `options`, which reach the agent in its JSON task
    #[arg(long, value_name = "KEY=VALUE")]
    agent_option: Vec<String>,

    /// Any key of the spec: `--set snapshot.assert=exact`
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Ask only samples whose test name holds this text; gates are then ignored
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Leave the committed baseline alone
    #[arg(long)]
    ignore_baseline: bool,

    /// Print the results as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// What a command runs.
struct Work {
    evals: Vec<Eval>,
    tests: Vec<TestTarget>,
}

pub(crate) fn run(args: &RunArgs) -> Result<u8> {
    let mut drive = args.drive()?;
    let work = args.work(&mut drive)?;
    if work.evals.len() + work.tests.len() > 1 && (args.run_id.is_some() || args.resume.is_some()) {
        return Err(Error::usage("`--run-id` and `--resume` are for one eval")
            .hint("name the spec: cargo evaltest run SPEC"));
    }
    if args.dry_run {
        return dry_run(args, &drive, &work);
    }
    let cancel = Cancel::new();
    let interrupt = signal::cancel_on_signals(&cancel)
        .map_err(|error| Error::infrastructure(format!("cannot handle signals: {error}")))?;
    let progress = Arc::new(Progress::new(args.json));
    let mut runs = Vec::new();
    let mut code = 0;
    for eval in &work.evals {
        if interrupt.is_set() {
            break;
        }
        let progress = Arc::clone(&progress);
        let observer = move |event: &Event<'_>| progress.event(event);
        match drive.run(eval, &cancel, Arc::new(observer)) {
            Ok(run) => {
                code = worse_exit(code, run.summary.exit_code);
                if !args.json {
                    console::print(|out| terminal::run(&run, out))?;
                }
                runs.push(result(&run));
            }
            // A spec that is wrong says so before the others start; what fails here is this eval's own.
            Err(error) if work.evals.len() == 1 => return Err(error),
            Err(error) => {
                console::complain(&error);
                code = worse_exit(code, error.exit_code());
            }
        }
    }
    for test in &work.tests {
        if !interrupt.is_set() {
            code = worse_exit(code, run_test(test, &drive, args.json)?);
            runs.extend(results_of(&drive, &runs)?);
        }
    }
    if args.json {
        console::print_json(&json!({ "runs": runs, "exit_code": code }))?;
    } else if runs.len() > 1 {
        console::print(|out| writeln!(out, "{} evals, exit code {code}", runs.len()))?;
    }
    Ok(if interrupt.is_set() { 130 } else { code })
}

fn dry_run(args: &RunArgs, drive: &Drive, work: &Work) -> Result<u8> {
    let counts = work
        .evals
        .iter()
        .map(|eval| drive.count(eval))
        .collect::<Result<Vec<DryRun>>>()?;
    if args.json {
        console::print_json(&counts)?;
    } else {
        console::print(|out| {
            counts.iter().try_for_each(|count| {
                let DryRun { eval, samples, most_requests } = count;
                writeln!(out, "{eval}: {samples} samples, {samples} to {most_requests} requests; nothing was asked")
            })
        })?;
    }
    work.tests.iter().try_fold(0, |code, test| {
        Ok(worse_exit(code, run_test(test, drive, args.json)?))
    })
}

/// A run as `--json` shows it.
fn result(run: &Run) -> Value {
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

/// Runs the evals of a test target as we run specs.
fn run_test(test: &TestTarget, drive: &Drive, json: bool) -> Result<u8> {
    let mut cargo = test_command(test, drive)?;
    if json {
        cargo.stdout(Stdio::null());
    }
    let status = cargo
        .status()
        .map_err(|error| Error::usage(format!("cannot run cargo: {error}")))?;
    // Cargo hands the binary's exit code on; its own failures (a build that fails) are usage errors.
    Ok(match status.code() {
        Some(code @ (0 | 1 | 3 | 130)) => u8::try_from(code).unwrap_or(2),
        _ => 2,
    })
}

fn test_command(test: &TestTarget, drive: &Drive) -> Result<std::process::Command> {
    let text = serde_json::to_string(drive)
        .map_err(|error| Error::infrastructure(format!("options cannot be passed on: {error}")))?;
    let mut cargo = discover::cargo();
    cargo
        .args([
            "test",
            "--quiet",
            "--package",
            &test.package,
            "--test",
            &test.name,
            "--manifest-path",
        ])
        .arg(&test.manifest)
        .env(drive::VARIABLE, text)
        .stdin(Stdio::null());
    Ok(cargo)
}

/// The names of the evals in a test target.
fn evals_in(test: &TestTarget, drive: &Drive) -> Result<Vec<String>> {
    let drive = Drive {
        names_only: true,
        ..drive.clone()
    };
    let output = test_command(test, &drive)?
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Error::usage(format!("cannot run cargo: {error}")))?;
    if !output.status.success() {
        return Err(Error::usage(format!(
            "test target `{}` does not list its evals",
            test.name
        ))
        .hint(format!("cargo test --test {}", test.name)));
    }
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect())
}

/// The runs of this command that are on disk and not among `known`.
fn results_of(drive: &Drive, known: &[Value]) -> Result<Vec<Value>> {
    let known: BTreeSet<_> = known
        .iter()
        .filter_map(|run| run["run_dir"].as_str())
        .collect();
    let Some(root) = &drive.output_root else {
        return Ok(Vec::new());
    };
    let mut results = Vec::new();
    for dir in runs_in(root) {
        let is_known = known.contains(dir.path().to_string_lossy().as_ref());
        if !is_known
            && dir
                .manifest()
                .is_ok_and(|manifest| manifest.invocation == drive.invocation)
        {
            results.push(read_result(&dir)?);
        }
    }
    Ok(results)
}

fn read_result(dir: &RunDir) -> Result<Value> {
    Ok(result(&evaltest::rescore::reload(dir, None, false)?))
}

impl RunArgs {
    fn drive(&self) -> Result<Drive> {
        let root = match &self.output_root {
            Some(root) => Some(absolute(root)?),
            None => None,
        };
        let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let stamp = stamp.map(|since| since.as_nanos()).unwrap_or_default();
        Ok(Drive {
            overrides: self.overrides()?,
            invocation: format!("{stamp:x}-{}", std::process::id()),
            run_id: self.run_id.clone(),
            output_root: root,
            redact: self.redact_pattern.clone(),
            filter: self.filter.clone(),
            failed: self.failed.as_deref().map(absolute).transpose()?,
            resume: self.resume.as_deref().map(absolute).transpose()?,
            ignore_baseline: self.ignore_baseline,
            partial: self.limit.is_some(),
            stream: self.stream,
            dry_run: self.dry_run,
            ci: !matches!(
                std::env::var("CI").as_deref(),
                Err(_) | Ok("" | "0" | "false")
            ),
            ..Drive::default()
        })
    }

    /// The flags as keys of a spec.
    fn overrides(&self) -> Result<Vec<Override>> {
        let mut changes = Vec::new();
        for (key, text) in [
            ("agent", &self.agent),
            ("scorer", &self.scorer),
            ("extract", &self.extract),
        ] {
            if let Some(text) = text {
                changes.push(Override::new(key, Override::value(text)?));
            }
        }
        for pair in &self.benchmark_option {
            let mut change = Override::parse("benchmark.", pair)?;
            let path = change.value.as_str().map(PathBuf::from);
            if change.key == "benchmark.path"
                && let Some(path) = path
            {
                // Typed in a shell, a path means what it means there.
                change.value = absolute(&path)?.to_string_lossy().as_ref().into();
            }
            changes.push(change);
        }
        for pair in &self.agent_option {
            changes.push(Override::parse("agent.options.", pair)?);
        }
        let number = |key: &str, value: Option<Value>| value.map(|value| Override::new(key, value));
        changes.extend(number(
            "benchmark.split",
            self.split.clone().map(Value::from),
        ));
        changes.extend(number("limits.limit", self.limit.map(Value::from)));
        changes.extend(number(
            "limits.concurrency",
            self.concurrency.map(Value::from),
        ));
        changes.extend(number("limits.timeout_s", self.timeout_s.map(Value::from)));
        changes.extend(number("limits.retries", self.retries.map(Value::from)));
        if self.fail_fast {
            changes.push(Override::new("limits.fail_fast", true));
        }
        if self.shuffle || self.seed.is_some() {
            changes.push(Override::new(
                "shuffle",
                json!({ "seed": self.seed.unwrap_or_default() }),
            ));
        }
        for pair in &self.set {
            changes.push(Override::parse("", pair)?);
        }
        Ok(changes)
    }

    /// Everything there is to run. Every spec is read before anything starts.
    fn work(&self, drive: &mut Drive) -> Result<Work> {
        if let Some(eval) = self.without_spec(drive)? {
            return Ok(Work {
                evals: vec![eval],
                tests: Vec::new(),
            });
        }
        let resumed = self
            .resume
            .as_deref()
            .filter(|_| self.specs.is_empty())
            .map(spec_of_run)
            .transpose()?;
        let named: Vec<PathBuf> = self.specs.iter().cloned().chain(resumed).collect();
        let found = if named.is_empty() {
            discover::find()?
        } else {
            discover::Found {
                specs: named,
                tests: Vec::new(),
            }
        };
        if found.specs.is_empty() && found.tests.is_empty() {
            return Err(discover::nothing_found());
        }
        let mut evals = Vec::new();
        let mut unregistered = Vec::new();
        for path in &found.specs {
            match spec::load(&absolute(path)?, &Registry::new(), &drive.overrides) {
                Ok(eval) => evals.push(drive.adapt(with_root(eval)?)),
                // A test binary may know the name.
                Err(error) if error.is_unregistered() => unregistered.push(error),
                Err(error) => return Err(error),
            }
        }
        check_names(&evals)?;
        if drive.output_root.is_none() {
            drive.output_root =
                Some(discover::root()?.join(evaltest::artifact::DEFAULT_OUTPUT_ROOT));
        }
        let wanted = |name: &str, benchmark: &str| {
            self.benchmark
                .as_deref()
                .is_none_or(|wanted| wanted == name || wanted == benchmark)
        };
        drive.skip = evals.iter().map(|eval| eval.name().to_owned()).collect();
        evals.retain(|eval| wanted(eval.name(), eval.benchmark_name()));
        let tests = if found.tests.is_empty() && !unregistered.is_empty() {
            discover::find()?.tests
        } else {
            found.tests
        };
        let mut left = Vec::new();
        for test in tests {
            let is_ours = |name: &String| !drive.skip.contains(name) && wanted(name, name);
            let names = match &test.evals {
                Some(names) => names.clone(),
                None => evals_in(&test, drive)?,
            };
            if names.iter().any(is_ours) {
                drive.evals.extend(names.into_iter().filter(is_ours));
                left.push(test);
            }
        }
        if left.is_empty()
            && let Some(error) = unregistered.into_iter().next()
        {
            return Err(error);
        }
        if evals.is_empty() && left.is_empty() {
            let name = self.benchmark.as_deref().unwrap_or_default();
            return Err(Error::usage(format!(
                "no eval is called `{name}` or is of benchmark `{name}`"
            ))
            .hint("cargo evaltest list"));
        }
        Ok(Work { evals, tests: left })
    }

    /// An eval from flags alone.
    fn without_spec(&self, drive: &Drive) -> Result<Option<Eval>> {
        let has_path = drive
            .overrides
            .iter()
            .any(|change| change.key == "benchmark.path");
        let Some(name) = self
            .benchmark
            .as_ref()
            .filter(|_| self.specs.is_empty() && has_path)
        else {
            return Ok(None);
        };
        if self.agent.is_none() {
            return Err(
                Error::usage("an eval without a spec needs an agent").hint("add `--agent echo`")
            );
        }
        let path = discover::root()?.join("evals").join(format!("{name}.yaml"));
        let folder = std::env::current_dir().unwrap_or_default();
        let text = format!("benchmark: {{ type: {name}, path: . }}\nagent: echo\n");
        let path = if path.exists() {
            folder.join(format!("{name}.yaml"))
        } else {
            path
        };
        let eval = spec::parse(&text, &path, &Registry::new(), &drive.overrides)?;
        Ok(Some(drive.adapt(with_root(eval)?)))
    }
}

/// The eval with the project's folder of runs, unless its spec names one.
fn with_root(eval: Eval) -> Result<Eval> {
    if eval.has_output_root() {
        return Ok(eval);
    }
    Ok(eval.output_root(discover::root()?.join(evaltest::artifact::DEFAULT_OUTPUT_ROOT)))
}

fn check_names(evals: &[Eval]) -> Result<()> {
    let mut seen: Vec<&Eval> = Vec::new();
    for eval in evals {
        if let Some(other) = seen.iter().find(|other| other.name() == eval.name()) {
            let path = |eval: &Eval| eval.spec_path().map(terminal::shown).unwrap_or_default();
            return Err(Error::usage(format!(
                "two evals are called `{}`: `{}` and `{}`",
                eval.name(),
                path(other),
                path(eval)
            ))
            .hint("give one of them another `name:`"));
        }
        seen.push(eval);
    }
    Ok(())
}

fn spec_of_run(dir: &std::path::Path) -> Result<PathBuf> {
    let manifest = RunDir::open(dir)?.manifest()?;
    let local = manifest
        .spec_in_project
        .map(|path| discover::root().map(|root| root.join(path)));
    if let Some(local) = local.transpose()?.filter(|path| path.is_file()) {
        return Ok(local);
    }
    manifest.spec.ok_or_else(|| {
        Error::usage(format!("run `{}` was not made from a spec", dir.display()))
            .hint("only runs of specs can be resumed")
    })
}

fn absolute(path: &std::path::Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Error::usage(format!("`{}` is not a path: {error}", path.display())))
}
