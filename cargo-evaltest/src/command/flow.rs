//! `cargo evaltest flow`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use evaltest::engine::figure::{Scale, Share, counted};
use evaltest::engine::flow::{
    CountedShare, Flow, FlowEnd, FlowFigures, FlowFlags, FlowHost, FlowNews, FlowPlan, FlowStage,
    PointMean, READY_FLOW,
};
use evaltest::engine::report::Event;
use evaltest::engine::report::document::{Block, Document, list};
use evaltest::engine::run::drive::CiPolicy;
use evaltest::engine::store::DEFAULT_OUTPUT_ROOT;
use evaltest::engine::system::project::{display, is_ci};
use evaltest::engine::system::signal;
use evaltest::engine::text::{Override, clean, nearest, shell_word};
use evaltest::{Cancel, Error, Exit, Result};
use serde_json::Value;

use super::run::options::{absolute, place};
use crate::progress::{Ahead, Progress};
use crate::{console, discover};

/// Generate items, judge them, compare them with real ones, report
///
/// Runs three stages in one folder `evaltest-runs/TIME_ID/`, each with its own run directory: `generate` writes the items,
/// `judge` scores them, and `winrate` compares them with real ones in both orders. Then it writes
/// `comprehensive_report.md` and `.html`. If the judge fails, the other stages still run. With `--items` the items are
/// those of a file, and the first stage is left out.
///
/// SPEC is a YAML file with `generate` (or `items`), `judge`, `winrate` and `gates`; `aime` needs none. The exit code is 1
/// if a gate failed and 3 if a stage failed.
#[derive(Debug, Default, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct FlowArgs {
    /// A flow in YAML, or `aime` (the default)
    #[arg(value_name = "SPEC|aime")]
    pub(super) spec: Option<PathBuf>,

    /// The agent that generates, as in a spec: `{type: openai, base_url: …, model: …}`
    #[arg(long, value_name = "YAML")]
    pub(super) agent: Option<String>,

    /// Start from the items of this file, JSON or JSON lines, and generate none
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "count"])]
    pub(super) items: Option<PathBuf>,

    /// The only stage to run on them.
    #[arg(skip)]
    pub(super) only: Option<FlowStage>,

    /// The number of pairs.
    #[arg(skip)]
    pub(super) pairs: Option<u64>,

    /// The judge; default: the generator. With more keys of the scorer `judge`, `{agent: JUDGE, rubric: …}`
    #[arg(long, value_name = "YAML")]
    pub(super) judge: Option<String>,

    /// Real items: a JSON, JSONL, CSV or parquet file, or a dataset of the Hub. The generator uses them as examples,
    /// and the win rate compares with them; without them there is no win rate
    #[arg(long, value_name = "PATH|hf://…")]
    pub(super) reference: Option<PathBuf>,

    /// Number of items to request; default: 30
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) count: Option<u64>,

    /// Minimum seconds between requests to an endpoint
    #[arg(long, value_name = "SECONDS")]
    pub(super) delay_s: Option<f64>,

    /// Random seed for topics, examples and pairs
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// Continue a flow that was interrupted or had a failed stage; answered requests are not repeated. If no reply of
    /// the judge could be read, name another with `--judge`: its stages start over
    #[arg(long, value_name = "DIR", conflicts_with_all = ["spec", "agent", "items", "reference", "count", "delay_s", "seed",
        "output_root", "run_id", "dry_run"])]
    pub(super) resume: Option<PathBuf>,

    /// Check the flow and count its requests without calling a model
    #[arg(long)]
    pub(super) dry_run: bool,

    /// The folder of flows
    #[arg(long, value_name = "DIR")]
    pub(super) output_root: Option<PathBuf>,

    /// The id of the flow
    #[arg(long, value_name = "ID")]
    pub(super) run_id: Option<String>,

    /// Print the results as JSON on standard output
    #[arg(long)]
    pub(super) json: bool,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints the content of `flow.json` in the folder, plus that `folder`: `stages` with `status` (`done`, `failed`, \
`left_out`), `why` and `run_dir`, `files`, `exit_code`, and `figures`: {\"basics\", \"generation\", \"judge\", \"winrate\", \"reviewed\", \
\"costs\", \"gates\"}, where a stage is {\"found\": figures}, {\"failed\": why} or {\"left_out\": why}. Each share has `part`, `of`, \
`share` and `ci95`, each mean `n`, `mean`, `ci95` and `scale`. With `--dry-run` it is {\"name\", \"configuration\", \"counts\"}.";

pub(crate) fn run(args: &FlowArgs) -> Result<Exit> {
    let flow = if let Some(folder) = &args.resume {
        Flow::resume(folder, args.flags()?.judge)?
    } else {
        let plan = planned(args)?;
        if args.dry_run {
            return dry_run(args, &plan);
        }
        let root = args.root(&plan)?;
        plan.begin(&root, args.run_id.as_deref())?
    };
    if !args.json {
        let state = flow.state();
        let folder = format!("folder: {}", display(flow.folder()));
        let configuration = &state.configuration;
        console::print_document(&outline(&state.name, configuration, folder))?;
    }
    let cancel = Cancel::new();
    let interrupt = signal::cancel_on_signals(&cancel)
        .map_err(|error| Error::refused("handle signals", &error))?;
    let progress = Arc::new(Progress::new(args.json, Ahead::default()));
    let observer = move |event: &Event<'_>| progress.event(event);
    let host = FlowHost {
        cancel,
        observer: Arc::new(observer),
        notify: &notify,
        ci: CiPolicy {
            is_set: is_ci(),
            ..CiPolicy::default()
        },
    };
    let folder = flow.folder().to_owned();
    let ended = flow.run(&host).map_err(|error| {
        // Answers are stored, and after any error the same command resumes the flow.
        let resume = format!(
            "cargo evaltest flow --resume {}",
            shell_word(&display(&folder))
        );
        match error.hint_text() {
            Some(hint) => {
                let hint = format!("{hint}; then continue: {resume}");
                error.hint(hint)
            }
            None => error.hint(resume),
        }
    })?;
    let exit = if interrupt.is_set() {
        Exit::Interrupted
    } else {
        ended.exit
    };
    end(args, &ended, exit)?;
    Ok(exit)
}

/// The requested flow, validated, with notes for the user.
fn planned(args: &FlowArgs) -> Result<FlowPlan> {
    let (spec, flags) = (args.spec()?, args.flags()?);
    let plan = console::waiting("still reading the real items", || {
        FlowPlan::new(spec.as_deref(), flags)
    })?;
    for notice in plan.notices() {
        console::note(&clean(notice));
    }
    Ok(plan)
}

/// Prints the progress of the flow.
fn notify(news: &FlowNews<'_>) {
    match news {
        FlowNews::Begins(stage) => console::note(&format!("stage {}", stage.as_str())),
        FlowNews::WasOver(stage) => {
            console::note(&format!("stage {} is already done", stage.as_str()));
        }
        FlowNews::Failed(stage, why) => {
            console::note(&clean(&format!("stage {} failed: {why}", stage.as_str())));
        }
    }
}

fn end(args: &FlowArgs, ended: &FlowEnd, exit: Exit) -> Result<()> {
    if args.json {
        let mut value = serde_json::to_value(&ended.state).map_err(|error| {
            Error::infrastructure(format!("the flow cannot be printed: {error}"))
        })?;
        value["folder"] = display(&ended.folder).into();
        return console::print_json(&value);
    }
    if exit == Exit::Interrupted {
        let folder = shell_word(&display(&ended.folder));
        console::note(&format!(
            "interrupted; answers are kept; to continue: `cargo evaltest flow --resume {folder}`"
        ));
        return Ok(());
    }
    console::print_document(&summary(ended))
}

fn dry_run(args: &FlowArgs, plan: &FlowPlan) -> Result<Exit> {
    if args.json {
        let counts = plan.counts().into_iter();
        let counts = counts.map(|(stage, count)| (stage.as_str().to_owned(), Value::from(count)));
        let counts: serde_json::Map<String, Value> = counts.collect();
        console::print_json(&serde_json::json!({
            "name": plan.name(),
            "configuration": plan.configuration(),
            "counts": counts,
        }))?;
    } else {
        let [(_, items), (_, judged), (_, pairs)] = plan.counts();
        let counts = if args.items.is_some() || items == 0 {
            format!(
                "at most {judged} items are judged and {pairs} pairs compared, each in both orders; no model was called"
            )
        } else {
            format!(
                "at most {items} items are generated, {judged} judged and {pairs} pairs compared, each in both orders; no \
                 agent or model was called"
            )
        };
        let outline = outline(plan.name(), &plan.configuration(), counts);
        console::print_document(&outline)?;
    }
    Ok(Exit::Passed)
}

/// The flow's plan as text.
fn outline(name: &str, of: &Value, last: String) -> Document {
    let reference = of["generate"]["reference"].as_str().unwrap_or("none");
    let gates = of["gates"].as_array().into_iter().flatten();
    let gates: Vec<_> = gates.filter_map(Value::as_str).collect();
    let mut text = Document::new(format!("flow {name}"));
    let mut lines = Vec::new();
    let judge = match &of["judge"]["agent"] {
        Value::Null => &of["winrate"]["agent"],
        agent => agent,
    };
    match of["items"].as_str() {
        Some(items) => lines.push(format!("items: {items}")),
        None => lines.push(format!("generator: {}", of["agent"])),
    }
    lines.push(format!("judge: {judge}"));
    lines.push(format!("real items: {reference}"));
    if of["items"].is_null() {
        lines.push(format!("items: {}", of["generate"]["count"]));
    }
    lines.push(format!("gates: {}", gates.join(", ")));
    lines.push(last);
    text.list(lines);
    text
}

/// The flow's results as text.
fn summary(ended: &FlowEnd) -> Document {
    let state = &ended.state;
    let mut text = Document::default();
    text.section("stages");
    text.list(state.stages.iter().map(|stage| {
        let why = stage.why.as_ref().map(|why| format!(": {why}"));
        let (name, status) = (stage.stage.as_str(), stage.status.as_str());
        format!("{name}: {status}{}", why.unwrap_or_default())
    }));
    if let Some(figures) = &state.figures {
        text.section("figures");
        text.blocks.extend(figure_lines(figures));
        text.list(figures.listed_gates().map(|gate| {
            let (verdict, stage) = (gate.verdict.as_str(), gate.stage.as_str());
            format!("gate {verdict}, {stage}: {}", gate.text())
        }));
        text.section(format!("files in {}", display(&ended.folder)));
        text.list(state.files.iter().map(String::as_str));
        text.section("next");
        text.list(next_steps(figures));
    }
    text
}

fn figure_lines(of: &FlowFigures) -> Option<Block> {
    let mut lines = Vec::new();
    if let Some(items) = of.generation.found() {
        let refused = counted(items.refused, "reply");
        lines.push(format!(
            "generated: {} of {} items accepted, {refused} refused",
            items.accepted, items.requested
        ));
    }
    if let Some(judged) = of.judge.found() {
        let unread = match judged.unread {
            0 => String::new(),
            unread => format!(", {unread} not judged"),
        };
        lines.push(format!(
            "judge: mean {}, {} pass, {} excellent{unread}",
            mean(&judged.total),
            share(&judged.pass),
            share(&judged.excellent)
        ));
        lines.push(format!("judge: {}", judged.worth.text));
    }
    if let Some(compared) = of.winrate.found() {
        let pairs = &compared.pairs;
        lines.push(format!(
            "against real items: wins {}, ties {}, losses {}, inconsistent {}, unreadable {}; {} are won",
            pairs.wins,
            pairs.ties,
            pairs.losses,
            pairs.inconsistent,
            pairs.unreadable,
            share(&compared.share(pairs.wins))
        ));
    }
    if let Some(reviewed) = &of.reviewed {
        lines.push(format!(
            "people: {} reviewed, {} approved",
            share(&reviewed.reviewed),
            share(&reviewed.approved)
        ));
    }
    list(lines)
}

/// Commands to run next.
fn next_steps(of: &FlowFigures) -> Vec<String> {
    let places = &of.basics.places;
    let made = of.generation.found();
    let failed = of.judge.failure().is_some()
        || of.winrate.failure().is_some()
        || made.is_some_and(|made| made.failure.is_some());
    let is_given = of.basics.items.is_some();
    let has_items = is_given || made.is_some_and(|made| made.accepted > 0);
    let items = places.items.as_ref().filter(|_| has_items);
    let runs = [&places.judge, &places.winrate, &places.generation];
    let run = runs.into_iter().flatten().next();
    let steps = [
        ("flow --resume", failed.then_some(&places.folder)),
        ("review", items),
        ("show", run),
    ];
    let step = |(command, path): (&str, Option<&String>)| {
        Some(format!("cargo evaltest {command} {}", shell_word(path?)))
    };
    steps.into_iter().filter_map(step).collect()
}

/// `62.2 % (95 % interval 51.2 % to 72.0 %)`.
fn share(of: &CountedShare) -> String {
    let share = of.share.zip(of.ci95);
    share.map_or_else(
        || "none".to_owned(),
        |(share, ci95)| Share(share).with_ci95(ci95),
    )
}

/// `4.20 (95 % interval 3.95 to 4.45)`.
fn mean(of: &PointMean) -> String {
    let Some(mean) = of.mean.map(|mean| Scale(mean, 2)) else {
        return "none".to_owned();
    };
    let interval = of.ci95().map(|it| format!(" ({})", it.ci95()));
    format!("{mean}{}", interval.unwrap_or_default())
}

impl FlowArgs {
    /// Path of the flow's spec; `None` for the built-in flow.
    fn spec(&self) -> Result<Option<PathBuf>> {
        let Some(spec) = &self.spec else {
            return Ok(None);
        };
        if spec.is_file() {
            return Ok(Some(spec.clone()));
        }
        if spec == Path::new(READY_FLOW) {
            return Ok(None);
        }
        let word = spec.to_string_lossy();
        let error = Error::usage(format!("flow `{}` does not exist", clean(&word)));
        Err(match nearest(&word, [READY_FLOW]) {
            Some(near) => error.hint(format!("did you mean `cargo evaltest flow {near}`?")),
            None => error.hint(format!(
                "name a YAML file, or `{READY_FLOW}`, which needs no file"
            )),
        })
    }

    fn flags(&self) -> Result<FlowFlags> {
        let value = |text: &Option<String>| text.as_deref().map(Override::value).transpose();
        Ok(FlowFlags {
            agent: value(&self.agent)?,
            items: self.items.as_deref().map(place).transpose()?,
            only: self.only,
            pairs: self.pairs,
            judge: value(&self.judge)?,
            reference: self.reference.as_deref().map(place).transpose()?,
            count: self.count,
            delay_s: self.delay_s,
            seed: self.seed,
        })
    }

    /// The folder of flows.
    fn root(&self, plan: &FlowPlan) -> Result<PathBuf> {
        match (&self.output_root, plan.root()) {
            (Some(root), _) => absolute(root),
            (None, Some(root)) => Ok(root),
            (None, None) => Ok(discover::root()?.join(DEFAULT_OUTPUT_ROOT)),
        }
    }
}
