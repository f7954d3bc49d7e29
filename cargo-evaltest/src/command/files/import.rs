//! `cargo evaltest import`.

mod traces;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use evaltest::engine::eval::spec;
use evaltest::engine::inspect::InspectLog;
use evaltest::engine::leaderboard::bfcl::export;
use evaltest::engine::leaderboard::{Import as BfclImport, Mode};
use evaltest::engine::run::drive::{Destination, Drive, SampleChoice};
use evaltest::engine::system::signal;
use evaltest::engine::text::{Override, clean};
use evaltest::{Cancel, Error, Eval, Exit, Registry, Result};
use serde_json::{Value, json};

use crate::command::run::report::print_run;
use crate::{console, discover};

/// Import answers of another program, or traces from production
///
/// Writes a run directory, which `show`, `gate`, `accept`, `rescore` and `export` take like any other; with `--as
/// questions`, writes traces as questions. No agent is called.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// `inspect`: the log, `.eval` or `.json`. `bfcl`: a folder with `BFCL_v4_<category>_result.json` files, also in
    /// subfolders. `transcripts`: a file of rows with `id`, `messages` (as in Chat Completions) and optionally
    /// `ground_truth`. `otel`, `openinference`, `langfuse`, `atif`: trace files, or folders of them: JSON lines, one
    /// object or an array, also `.gz`
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// The format
    #[arg(long, value_enum)]
    format: ImportFormat,

    /// Traces: what to write; default: a run
    #[arg(long = "as", value_name = "WHAT")]
    form: Option<ImportForm>,

    /// `--as questions`: the file; a line for each new trace is appended
    #[arg(long, value_name = "FILE", required_if_eq("form", "questions"))]
    output: Option<PathBuf>,

    /// Traces: import only those that match `score(NAME) < 0.5`, `score(NAME) == LABEL`, `tag(NAME)`, `tag(NAME) ==
    /// VALUE`, `tag == NAME`, `time >= 2026-11-01`, joined by `and`
    #[arg(long = "where", value_name = "CONDITION")]
    filter: Option<String>,

    /// Traces: redact matches of this regex in all output, as a spec's `redact` does
    #[arg(long, value_name = "REGEX")]
    redact_pattern: Vec<String>,

    /// The leaderboard's data, to score single-turn answers; without it all verdicts come from the score files
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The model, if there are results of several
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// The official program's score files, which decide for `multi_turn`, `memory` and `web_search`; default:
    /// `score/<model>` next to `result/<model>`
    #[arg(long, value_name = "DIR")]
    scores: Option<PathBuf>,

    /// How to parse answers: as native calls, as texts, or (`auto`, the default) as native calls if any answer of the
    /// model is a list of calls
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,

    /// Whether `a_b` is correct for a function `a.b`, as in the model's registry entry (`underscore_to_dot`); default:
    /// for native calls
    #[arg(long, value_name = "true|false")]
    underscore_to_dot: Option<bool>,

    /// `inspect`: the scorer that decides; default: the first. An entry of a map or list is `NAME.KEY`. `transcripts`
    /// and traces: the scorer, a name or a map as in a spec: `{ type: judge, on: transcript, … }`; repeatable. Traces
    /// keep their recorded verdicts by default
    #[arg(long, value_name = "NAME|YAML")]
    scorer: Vec<String>,

    /// `inspect` and traces: the lowest value of that scorer, or of the first recorded one, that counts as correct;
    /// default: 1
    #[arg(long, value_name = "NUMBER")]
    correct_at: Option<f64>,

    /// `inspect`: a key of the samples' metadata that becomes a slice; repeatable
    #[arg(long, value_name = "KEY")]
    slice: Vec<String>,

    /// A spec with the eval's name, gates and snapshots; default: the name of the task, or `bfcl`, without gates
    #[arg(long, value_name = "SPEC")]
    spec: Option<PathBuf>,

    /// The eval's name
    #[arg(long, conflicts_with = "spec")]
    name: Option<String>,

    /// Treat the imported samples as complete: check gates even if samples or entries of a category are missing
    #[arg(long)]
    partial_eval: bool,

    /// The folder of run directories
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// The id of the run
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,

    /// Print the details of the result: intervals, tests, the drop the run could detect
    #[arg(short, long)]
    verbose: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Formats of other programs.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImportFormat {
    /// Result and score files of the Berkeley Function Calling Leaderboard
    Bfcl,
    /// An Inspect log, with its verdicts
    Inspect,
    /// Conversations of another program, to be scored
    Transcripts,
    /// OpenTelemetry traces (semantic conventions for generative AI)
    Otel,
    /// `OpenInference` traces, as in Phoenix
    #[value(name = "openinference")]
    OpenInference,
    /// Traces exported by Langfuse
    Langfuse,
    /// Trajectories in the Agent Trajectory Interchange Format, as Harbor writes them
    Atif,
}

/// What traces become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ImportForm {
    /// A run with the recorded answers
    Run,
    /// Questions; a person adds the answers with `review`
    Questions,
}

/// How answers are read.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModeArg {
    Auto,
    Fc,
    Prompt,
}

/// An import, ready to run.
struct Imports {
    eval: Eval,
    whole: bool,
    model: Value,
    notices: Vec<String>,
    /// What is missing if the import is partial.
    missing: &'static str,
}

pub(crate) fn run(args: &ImportArgs) -> Result<Exit> {
    check_format(args)?;
    if args.form == Some(ImportForm::Questions) {
        return traces::questions(args);
    }
    let base = || {
        let spec = args.spec.as_ref().map(discover::one_spec).transpose()?;
        spec.map(|path| spec::load(&path, &Registry::new(), &[]))
            .transpose()
    };
    let import = match args.format {
        ImportFormat::Bfcl => of_bfcl(args, base()?)?,
        ImportFormat::Inspect => of_inspect(args, base()?)?,
        ImportFormat::Transcripts => of_transcripts(args)?,
        _ => traces::run(args, base()?)?,
    };
    let mut eval = import.eval;
    if let Some(name) = &args.name {
        eval = eval.named(name);
    }
    let drive = Drive {
        redact: args.redact_pattern.clone(),
        samples: SampleChoice {
            partial: !import.whole && !args.partial_eval,
            ..SampleChoice::default()
        },
        destination: Destination {
            run_id: args.run_id.clone(),
            output_root: args.output_root.clone(),
            default_output_root: Some(
                discover::root()?.join(evaltest::engine::store::DEFAULT_OUTPUT_ROOT),
            ),
            ..Destination::default()
        },
        ..Drive::default()
    };
    let mut notices = import.notices;
    if drive.samples.partial {
        notices.push(format!(
            "{}, so the run is partial: it cannot become a baseline unless `--partial-eval` treats it as complete",
            import.missing
        ));
    }
    for notice in &notices {
        console::note(&clean(notice));
    }
    let cancel = Cancel::new();
    let interrupt = signal::cancel_on_signals(&cancel)
        .map_err(|error| Error::refused("handle signals", &error))?;
    let prepared = drive.prepare(&drive.adapt(eval)?)?;
    let run = drive.run(prepared, &cancel, Arc::new(|_: &_| {}))?;
    if args.json {
        console::print_json(&json!({
            "run_dir": run.dir,
            "model": import.model,
            "summary": run.summary,
            "notices": notices,
        }))?;
    } else {
        print_run(&run, args.verbose)?;
    }
    Ok(if interrupt.is_set() {
        Exit::Interrupted
    } else {
        run.summary.exit_code
    })
}

fn of_bfcl(args: &ImportArgs, base: Option<Eval>) -> Result<Imports> {
    let files = export::find(
        one_path(args)?,
        args.model.as_deref(),
        args.scores.as_deref(),
    )?;
    let model = json!(files.model);
    let import = BfclImport {
        files,
        data: args.data.clone(),
        mode: match args.mode {
            None | Some(ModeArg::Auto) => Mode::Auto,
            Some(ModeArg::Fc) => Mode::Fc,
            Some(ModeArg::Prompt) => Mode::Prompt,
        },
        underscore_to_dot: args.underscore_to_dot,
    };
    let imported = import.load(base)?;
    Ok(Imports {
        eval: imported.eval,
        whole: imported.whole,
        model,
        notices: imported.notices,
        missing: "entries of these categories are missing",
    })
}

fn of_inspect(args: &ImportArgs, base: Option<Eval>) -> Result<Imports> {
    let log = InspectLog {
        path: one_path(args)?.clone(),
        scorer: args.scorer.first().cloned(),
        correct_at: args.correct_at,
        slices: args.slice.clone(),
        name: args.name.clone(),
    };
    let imported = log.load(base)?;
    Ok(Imports {
        eval: imported.eval,
        whole: imported.whole,
        model: json!(imported.model),
        notices: imported.notices,
        missing: "the log does not cover the whole dataset or was not finished",
    })
}

/// An eval of conversations whose agent replays them; with a spec, of its benchmark.
fn of_transcripts(args: &ImportArgs) -> Result<Imports> {
    let path = std::path::absolute(one_path(args)?)
        .map_err(|error| Error::refused("find the file", &error))?;
    let path = path.to_string_lossy().into_owned();
    // Whatever other columns there are.
    let fields = json!({ "id": "id", "answer": "messages" });
    let replay = json!({ "type": "replay", "path": path, "fields": fields });
    let scorers = args.scorer.iter().map(|scorer| Override::value(scorer));
    let scorers: Vec<Value> = scorers.collect::<Result<_>>()?;
    let mut keys = vec![Override::new("agent", replay.clone())];
    if !scorers.is_empty() {
        keys.push(Override::new("scorers", scorers));
    }
    let eval = if let Some(spec) = &args.spec {
        spec::load(&discover::one_spec(spec)?, &Registry::new(), &keys)?
    } else {
        let benchmark = json!({ "type": "conversations", "path": path });
        let name = one_path(args)?.file_stem().unwrap_or_default();
        let name = name.to_string_lossy();
        let spec = json!({ "name": name, "benchmark": benchmark, "agent": replay, "gates": [] });
        let place = discover::root()?.join("transcripts.yaml");
        spec::of_flags(&spec.to_string(), &place, &Registry::new(), &keys)?
    };
    Ok(Imports {
        eval,
        whole: true,
        model: Value::Null,
        notices: Vec::new(),
        missing: "",
    })
}

/// The path, of formats that have one.
fn one_path(args: &ImportArgs) -> Result<&PathBuf> {
    match &args.paths[..] {
        [path] => Ok(path),
        paths => {
            let message = format!("{} paths given, but this format reads one", paths.len());
            Err(Error::usage(message).hint("import them one by one"))
        }
    }
}

/// Returns an error for options that the format does not have.
fn check_format(args: &ImportArgs) -> Result<()> {
    let is_bfcl = matches!(args.format, ImportFormat::Bfcl);
    let is_inspect = matches!(args.format, ImportFormat::Inspect);
    let is_trace = traces::format(args.format).is_some();
    let is_questions = args.form == Some(ImportForm::Questions);
    let given = [
        (is_trace, args.form.is_some(), "--as"),
        (is_questions, args.output.is_some(), "--output"),
        (is_trace, args.filter.is_some(), "--where"),
        (
            is_trace,
            !args.redact_pattern.is_empty(),
            "--redact-pattern",
        ),
        (is_bfcl, args.data.is_some(), "--data"),
        (is_bfcl, args.model.is_some(), "--model"),
        (is_bfcl, args.scores.is_some(), "--scores"),
        (is_bfcl, args.mode.is_some(), "--mode"),
        (
            is_bfcl,
            args.underscore_to_dot.is_some(),
            "--underscore-to-dot",
        ),
        (
            !is_bfcl && !is_questions,
            !args.scorer.is_empty(),
            "--scorer",
        ),
        (
            is_inspect || is_trace && !is_questions,
            args.correct_at.is_some(),
            "--correct-at",
        ),
        (is_inspect, !args.slice.is_empty(), "--slice"),
        (!is_questions, args.name.is_some(), "--name"),
        (!is_questions, args.partial_eval, "--partial-eval"),
        (!is_questions, args.output_root.is_some(), "--output-root"),
        (!is_questions, args.run_id.is_some(), "--run-id"),
    ];
    let strange = given
        .iter()
        .filter(|(fits, is_given, _)| *is_given && !fits);
    let strange: Vec<&str> = strange.map(|(.., name)| *name).collect();
    if !strange.is_empty() {
        let message = format!("`{}` does not apply to this format", strange.join("`, `"));
        return Err(Error::usage(message).hint("cargo evaltest import --help"));
    }
    if is_inspect && args.scorer.len() > 1 {
        let error = Error::usage("`--scorer` is given twice, but only one verdict decides");
        return Err(error.hint("name one"));
    }
    let finite = args.correct_at.is_none_or(f64::is_finite);
    if finite {
        return Ok(());
    }
    Err(Error::usage("`--correct-at` must be a finite number").hint("such as `--correct-at 0.5`"))
}
