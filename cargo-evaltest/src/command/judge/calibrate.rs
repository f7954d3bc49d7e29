//! `cargo evaltest judge calibrate`.

use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::figure::CI95;
use evaltest::engine::judge::{
    Calibration, CorrectedFigure, JudgeComparison, JudgeOfRun, LabelPlan, read_labels,
};
use evaltest::engine::report::document::{Block, Document, list};
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::{Error, Exit, Result};
use serde_json::json;

use super::agreement::of_figures;
use super::{figure, figures};
use crate::console;
use crate::runs::read_run;

/// Compare the judge of a run with human labels, and write its calibration
///
/// Reads lines `{"id": "q1", "label": 4, "chosen": "random", "seed": 7}`. A label has the form of the judge's verdicts: the
/// name of a choice, points, true or false for correctness, or an object with one of these for each dimension. Labels of
/// several people are a list `labels`, or a line each with `person`. `chosen` says how the answer was selected.
///
/// Prints how well the judge agrees with the labels and writes the calibration. Commit it next to the spec and name it
/// there: `calibration: FILE` of the judge. Every line and gate on the judge shows `uncalibrated` if there is none, if it
/// has fewer than 50 labels, or if the judge differs from the run's, including its model as served.
///
/// If the labelled answers were sampled at random (`random`), or are all answers of the run (`all`), the summary shows the
/// judge's means with corrected ones (prediction-powered inference), and gates such as `corrected(judge.total) >= 4.0` are
/// decided: `cargo evaltest gate RUN_DIR`. For another run the same labels give a conditional value and decide no gate.
/// Answers picked by hand (`picked`) only measure agreement; they do not count towards the 50.
///
/// The kappa in lines and gates is that of the verdicts; for points, the quadratic kappa of `total` and the mean of the
/// human points.
///
/// To choose what to label: `--draw 100 --seed 7 > labels.jsonl` writes the lines to fill in.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct CalibrateArgs {
    /// The run directory, or the name of an eval (its last run)
    run_dir: PathBuf,

    /// The labels, as JSON lines
    #[arg(long, value_name = "FILE", required_unless_present_any = ["draw", "plan"], conflicts_with = "draw")]
    labels: Option<PathBuf>,

    /// The judge, if the run has several
    #[arg(long, value_name = "NAME")]
    scorer: Option<String>,

    /// The file to write; default: the file that the spec names, else one next to the spec
    #[arg(
        long,
        short,
        value_name = "FILE",
        requires = "labels",
        conflicts_with = "plan"
    )]
    output: Option<PathBuf>,

    /// Print how many labels give corrected means an interval of at most this width; write nothing
    #[arg(long, value_name = "WIDTH", conflicts_with = "draw")]
    plan: Option<f64>,

    /// Print a line to fill in for each of N answers, sampled at random
    #[arg(long, value_name = "N")]
    draw: Option<usize>,

    /// Random seed; with the same seed a larger sample starts with the smaller one
    #[arg(long, value_name = "SEED", requires = "draw", default_value_t = 0)]
    seed: u64,

    /// Print JSON
    #[arg(long, conflicts_with = "draw")]
    json: bool,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"file\", \"calibration\", \"run\": {\"status\", \"n\", \"picked\", \"doubts\", \"kappa_of\", \"kappa_quadratic\",
\"kappa\", \"kappa_ci95\", \"corrected\": {figure: {\"judge\", \"value\", \"ci95\", \"labels\", \"items\"}}, …}}; `calibration.figures`
has the figures of `judge agreement`, with `points` and the mean of the human points. `kappa` is of `kappa_of`: the
verdict, or the `total` with quadratic weights (`kappa_quadratic`). With `--plan` it prints [{\"figure\", \"labels\",
\"answers\", \"width_of_all\", \"known\"}]: the smallest number of labels, or null if all are too few. It uses `--labels` of
the run if there are any (`known`); else it assumes that labels vary as the verdicts do and are independent of them.";

pub(super) fn run(args: &CalibrateArgs) -> Result<Exit> {
    let dir = read_run(&args.run_dir)?;
    let judge = JudgeOfRun::open(&dir, args.scorer.as_deref())?;
    if let Some(number) = args.draw {
        let lines = judge.draw(number, args.seed)?;
        console::print(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
        return Ok(Exit::Passed);
    }
    let comparison = match &args.labels {
        None => None,
        Some(path) => Some(judge.comparison(path, &read_labels(path)?)?),
    };
    if let Some(width) = args.plan {
        let labels = comparison
            .as_ref()
            .map(|comparison| &comparison.calibration);
        return plan(args, (dir.path(), &judge), width, labels);
    }
    let Some(comparison) = comparison else {
        return Ok(Exit::Passed);
    };
    for notice in &comparison.notices {
        console::note(&clean(notice));
    }
    let file = args.output.clone().unwrap_or_else(|| judge.file());
    comparison.calibration.write(&file)?;
    let elsewhere = elsewhere(dir.path(), &judge, &file);
    if let Some(note) = &elsewhere {
        console::note(&clean(note));
    }
    if args.json {
        console::print_json(&json!({
            "file": display(&file),
            "calibration": comparison.calibration,
            "run": comparison.summary,
        }))?;
    } else {
        console::print_blocks(&calibration_text(dir.path(), &judge, &comparison, &file))?;
    }
    Ok(Exit::Passed)
}

fn plan(
    args: &CalibrateArgs,
    (dir, judge): (&Path, &JudgeOfRun),
    width: f64,
    labels: Option<&Calibration>,
) -> Result<Exit> {
    if !(width.is_finite() && width > 0.0) {
        return Err(
            Error::usage(format!("`--plan {width}` is not a width above 0"))
                .hint("say how wide the interval may be, on the scale of the judge: `--plan 0.2`"),
        );
    }
    let plans = judge.plan(width, labels);
    if args.json {
        console::print_json(&plans)?;
    } else {
        console::print_blocks(&plan_text(dir, judge, width, &plans))?;
    }
    Ok(Exit::Passed)
}

fn plan_text(dir: &Path, judge: &JudgeOfRun, width: f64, plans: &[LabelPlan]) -> Vec<Block> {
    let line = |plan: &LabelPlan| {
        let (name, answers) = (&plan.figure, plan.answers);
        let labels = match plan.labels {
            Some(labels) => format!("{name}: {labels} of {answers}"),
            None => format!(
                "{name}: more than all {answers}, whose interval is {} wide",
                figure(Some(plan.width_of_all))
            ),
        };
        match plan.known {
            0 => format!("{labels}, assuming that the judge is uninformative"),
            known => format!("{labels}, estimated from {known} labels"),
        }
    };
    let title = format!(
        "labels needed for a {CI95} of width {width} of the corrected mean, judge `{}`:",
        judge.scorer()
    );
    let draw = format!(
        "sample them at random: cargo evaltest judge calibrate {} --draw N --seed 7",
        shell_word(&display(dir))
    );
    vec![
        Block::group(title, list(plans.iter().map(line))),
        Block::paragraph(
            "with fewer than 50 the judge is uncalibrated, and no `corrected` gate decides",
        ),
        Block::paragraph(draw),
    ]
}

/// What the labels show about the judge, and what to do with the file.
fn calibration_text(
    dir: &Path,
    judge: &JudgeOfRun,
    comparison: &JudgeComparison,
    file: &Path,
) -> Vec<Block> {
    let of_run = &comparison.summary;
    let mut text = Document::default();
    text.paragraph(format!("judge `{}`: {}", judge.scorer(), of_run.summary()));
    if let Some(warning) = of_run.warning() {
        text.paragraph(format!("few labels: {warning}"));
    }
    if let Some(share) = comparison.calibration.self_agreement {
        let percent = 100.0 * share;
        text.paragraph(format!(
            "it agrees with itself in {percent:.0} % of its repeats"
        ));
    }
    for (name, agreement) in &comparison.agreement {
        text.section(format!("== {name}"));
        if let Some(points) = comparison.points.get(name) {
            let line = |value, ci95| format!("{}, {CI95} {}", figure(value), figures(ci95));
            let kappa = line(points.kappa_quadratic, points.kappa_ci95);
            let distance = line(points.distance, points.distance_ci95);
            text.blocks.push(Block::group(
                format!("against the mean of the human points: quadratic kappa {kappa}"),
                [Block::paragraph(format!(
                    "mean distance in points: {distance}"
                ))],
            ));
        }
        text.blocks.extend(of_figures(agreement, None));
    }
    text.section("== means of the run");
    let corrected = of_run.corrected.iter();
    let corrected = list(corrected.map(|(name, of)| format!("{name}: {}", corrected_text(of))));
    text.blocks.extend(
        corrected.map(|lines| Block::group("corrected by randomly sampled labels:", [lines])),
    );
    if let Some(why) = &of_run.not_corrected {
        text.paragraph(format!("no corrected means: {why}"));
    }
    text.paragraph(format!("written to {}", display(file)));
    let is_read = is_read(judge, file);
    if !(is_read && judge.is_named()) {
        text.paragraph(format!(
            "name it in the spec and commit it next to the spec: `calibration: {}` of the judge",
            from_spec(judge, file)
        ));
    }
    if is_read {
        let dir = shell_word(&display(dir));
        text.paragraph(format!("next: cargo evaltest gate {dir}"));
    }
    text.blocks
}

/// Path of the file relative to the spec.
fn from_spec(judge: &JudgeOfRun, file: &Path) -> String {
    let path = judge.from_spec(file);
    display(path.as_deref().unwrap_or(file))
}

/// Whether the run's gates read this file.
fn is_read(judge: &JudgeOfRun, file: &Path) -> bool {
    let own = judge.file();
    own == file || own.canonicalize().ok() == file.canonicalize().ok()
}

/// A note if the run's gates read another file.
fn elsewhere(dir: &Path, judge: &JudgeOfRun, file: &Path) -> Option<String> {
    (!is_read(judge, file)).then(|| {
        format!(
            "the gates of this run read `{}`, not this file: leave `--output` out, or name the file in the spec and \
             score the run again: `cargo evaltest rescore {} --spec SPEC`",
            display(&judge.file()),
            shell_word(&display(dir))
        )
    })
}

fn corrected_text(of: &CorrectedFigure) -> String {
    let [low, high] = of.ci95;
    format!(
        "{} by the judge, {} corrected, {CI95} {} to {} ({} labels, {} answers)",
        figure(of.judge),
        figure(Some(of.value)),
        figure(Some(low)),
        figure(Some(high)),
        of.labels,
        of.items
    )
}
