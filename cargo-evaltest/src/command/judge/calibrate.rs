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

/// Put the judge of a run beside labels of people, and write its calibration
///
/// Reads lines `{"id": "q1", "label": 4, "chosen": "random", "seed": 7}`: what people say of the answers of the run, in
/// the judge's own terms: the name of a choice, points, true and false for what is correct, or an object with one of
/// these for each dimension; several people as `labels`, or a line each with their `person`. `chosen` says how the answer came to be labelled.
///
/// Prints how far the judge agrees with them, and writes the calibration, to be committed beside the spec and named there:
/// `calibration: FILE` of the judge. Without one, with fewer than 50 labels, or for another judge than the run's, its
/// model as served included, every line and gate on the judge says `uncalibrated`.
///
/// Where labelled answers were drawn by lot (`random`), or are all of the run (`all`), the means of the judge stand in
/// the summary beside corrected ones (prediction-powered inference), and gates such as `corrected(judge.total) >= 4.0`
/// are decided: `cargo evaltest gate RUN_DIR`. For another run the same labels give a value with an `if`, and no gate.
/// Picked answers give agreement alone, and do not count towards the 50.
///
/// The kappa that lines and gates show is that of the verdict, or of points the quadratic one of `total` and the mean of
/// what people give.
///
/// Which to label: `--draw 100 --seed 7 > labels.jsonl` writes the lines to be filled in.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct CalibrateArgs {
    /// The run directory, or the name of an eval, whose last run is meant
    run_dir: PathBuf,

    /// The labels, as JSON lines
    #[arg(long, value_name = "FILE", required_unless_present_any = ["draw", "plan"], conflicts_with = "draw")]
    labels: Option<PathBuf>,

    /// The judge, where the run has several
    #[arg(long, value_name = "NAME")]
    scorer: Option<String>,

    /// Write the calibration here; where the spec names it by default, else beside the spec
    #[arg(
        long,
        short,
        value_name = "FILE",
        requires = "labels",
        conflicts_with = "plan"
    )]
    output: Option<PathBuf>,

    /// Say how many labels make the intervals of corrected means at most so wide, and write nothing
    #[arg(long, value_name = "WIDTH", conflicts_with = "draw")]
    plan: Option<f64>,

    /// Print a line to be filled in for each of so many answers, drawn by lot
    #[arg(long, value_name = "N")]
    draw: Option<usize>,

    /// Of the draw: a larger one of the same seed begins with the smaller
    #[arg(long, value_name = "SEED", requires = "draw", default_value_t = 0)]
    seed: u64,

    /// Print JSON
    #[arg(long, conflicts_with = "draw")]
    json: bool,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"file\", \"calibration\", \"run\": {\"status\", \"n\", \"picked\", \"doubts\", \"kappa_of\", \"kappa_quadratic\",
\"kappa\", \"kappa_ci95\", \"corrected\": {figure: {\"judge\", \"value\", \"ci95\", \"labels\", \"items\"}}, …}}; the figures of
`judge agreement` stand in `calibration.figures`, with `points` beside the mean of what people give. `kappa` is of
`kappa_of`: the verdict, or the `total`, by the square of the distance (`kappa_quadratic`). With
`--plan` it prints [{\"figure\", \"labels\", \"answers\", \"width_of_all\", \"known\"}]: the fewest labels, or null where all are
too few. It goes by `--labels` of the run where there are some (`known`), and else takes labels to vary as the verdicts
do, and these to tell nothing of them.";

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
        return Err(Error::usage(format!("`--plan {width}` is no width"))
            .hint("say how wide the interval may be, on the scale of the judge: `--plan 0.2`"));
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
                "{name}: more than the {answers} there are, whose interval is {} wide",
                figure(Some(plan.width_of_all))
            ),
        };
        match plan.known {
            0 => format!("{labels}, if the judge is of no help"),
            known => format!("{labels}, as {known} labels have it"),
        }
    };
    let title = format!(
        "labels for a {CI95} {width} wide of the corrected mean, judge `{}`:",
        judge.scorer()
    );
    let draw = format!(
        "draw them by lot: cargo evaltest judge calibrate {} --draw N --seed 7",
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
                format!("of the mean of what people give: quadratic kappa {kappa}"),
                [Block::paragraph(format!(
                    "how far off on average, in points: {distance}"
                ))],
            ));
        }
        text.blocks.extend(of_figures(agreement, None));
    }
    text.section("== means of the run");
    let corrected = of_run.corrected.iter();
    let corrected = list(corrected.map(|(name, of)| format!("{name}: {}", corrected_text(of))));
    text.blocks
        .extend(corrected.map(|lines| Block::group("corrected by labels drawn by lot:", [lines])));
    if let Some(why) = &of_run.not_corrected {
        text.paragraph(format!("no mean is corrected: {why}"));
    }
    text.paragraph(format!("written to {}", display(file)));
    let is_read = is_read(judge, file);
    if !(is_read && judge.is_named()) {
        text.paragraph(format!(
            "name it in the spec, beside which it is to be committed: `calibration: {}` of the judge",
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
            "the gates of this run read `{}`, and not this file: leave `--output` out, or name the file in the spec and \
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
