//! `cargo evaltest judge agreement`.

use clap::Args;
use evaltest::engine::figure::CI95;
use evaltest::engine::judge::{JudgeAgreement, LabelledItem};
use evaltest::engine::report::document::Align::{Left, Right};
use evaltest::engine::report::document::{Block, Table};
use evaltest::engine::report::render::terminal::truncate;
use evaltest::{Exit, Result};

use super::super::judge;
use super::InputArgs;
use super::{few_labels, figure, figures};
use crate::console;

/// Maximum number of classes shown in a terminal table.
const MAX_CLASSES: usize = 12;

/// Maximum number of points shown: mean points may differ for each item, and a larger table is unreadable.
const MOST_POINTS: usize = 12;

/// Measure how well a judge agrees with human labels
///
/// Reads lines `{"labels": [a, b, …], "judge": x}`: the classes that people and the judge assign to an item, as texts,
/// numbers or booleans; null is missing. `1`, `1.0` and `"1"` are the same class.
///
/// The label of an item is the majority of its labels; items without a majority only count in alpha. The kappas, AC1 and
/// the agreement compare that label with the verdict. Alpha uses all labels, with the judge as another rater; it needs no
/// judge. Intervals are bootstrap intervals over items, with 2,000 resamples and a fixed seed.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct AgreementArgs {
    #[command(flatten)]
    input_args: InputArgs,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"n\", \"agreement\", \"constant_agreement\", \"kappa\", \"kappa_linear\", \"kappa_quadratic\", \"ac1\",
\"alpha_nominal\", \"alpha_interval\", \"classes\": {class: {\"precision\", \"recall\", \"n\"}}, \"confusion\": {label:
{verdict: n}}, \"ci95\": {figure: [low, high]}}. `n` counts the items with a label and a verdict. Undefined figures
are null; so are those that need numbers (`kappa_linear`, `kappa_quadratic`, `alpha_interval`) if classes are
texts. With more than 100 classes, `confusion` omits zeros.";

pub(super) fn run(args: &AgreementArgs) -> Result<Exit> {
    let items: Vec<LabelledItem> = judge::all(&args.input_args.input)?;
    let agreement = JudgeAgreement::of(&items)?;
    if args.input_args.json {
        console::print_json(&agreement)?;
    } else {
        let few = few_labels(agreement.n);
        console::print_blocks(&of_figures(&agreement, few))?;
    }
    Ok(Exit::Passed)
}

/// The figures with their item counts.
pub(super) fn of_figures(agreement: &JudgeAgreement, few: Option<String>) -> Vec<Block> {
    let (n, items) = (agreement.n, agreement.items);
    let counts = format!("{n} of {items} items have a label and a verdict");
    let undecided = match agreement.undecided {
        0 => None,
        1 => Some("1 item has no majority label".to_owned()),
        many => Some(format!("{many} items have no majority label")),
    };
    let notes = [Some(counts), undecided, few].into_iter().flatten();
    let (found, ci95) = (&agreement.figures, &agreement.ci95);
    let classes = agreement.classes.iter().rev();
    let most = classes.max_by_key(|(_, class)| class.n);
    let constant = most.map(|(name, _)| format!("always saying `{name}`"));
    let mut table = Table::new(&[("", Left), ("value", Right), (CI95, Left), ("", Left)]);
    for (name, value, ci95, note) in [
        (
            "agreement",
            found.agreement,
            ci95.agreement,
            "verdicts equal to the label",
        ),
        (
            "of a constant",
            found.constant_agreement,
            ci95.constant_agreement,
            constant.as_deref().unwrap_or_default(),
        ),
        (
            "kappa",
            found.kappa,
            ci95.kappa,
            "beyond chance: 0 none, 1 all",
        ),
        (
            "kappa, linear",
            found.kappa_linear,
            ci95.kappa_linear,
            "a near miss counts less",
        ),
        (
            "kappa, quadratic",
            found.kappa_quadratic,
            ci95.kappa_quadratic,
            "far less",
        ),
        (
            "AC1",
            found.ac1,
            ci95.ac1,
            "beyond chance, robust if one class is rare",
        ),
        (
            "alpha",
            found.alpha_nominal,
            ci95.alpha_nominal,
            "of all labels and the judge",
        ),
        (
            "alpha, interval",
            found.alpha_interval,
            ci95.alpha_interval,
            "by squared distance",
        ),
    ] {
        table.row([name, &figure(value), &figures(ci95), note]);
    }
    let blocks = notes.map(Block::paragraph).chain(table.block());
    blocks.chain(of_classes(agreement)).collect()
}

fn of_classes(agreement: &JudgeAgreement) -> Vec<Block> {
    let classes = &agreement.classes;
    let mut are_numbers = classes.iter().map(|(name, _)| name.parse::<f64>().is_ok());
    if classes.len() > MOST_POINTS && are_numbers.all(|is_number| is_number) {
        let count = classes.len();
        return vec![Block::paragraph(format!(
            "{count} different numbers: `--json` has a table of them"
        ))];
    }
    let is_whole = classes.len() <= MAX_CLASSES;
    let mut heads = ["class", "labels", "precision", "recall"]
        .map(str::to_owned)
        .to_vec();
    if is_whole {
        heads.extend(
            classes
                .iter()
                .map(|(name, _)| format!("judged {}", truncate(name, 16))),
        );
    }
    let mut table = Table::of_numbers(heads);
    let rows = classes.iter().zip(&agreement.confusion);
    for ((name, class), (_, counts)) in rows.take(MAX_CLASSES) {
        let mut row = vec![
            truncate(name, 16),
            class.n.to_string(),
            figure(class.precision),
            figure(class.recall),
        ];
        if is_whole {
            row.extend(counts.iter().map(|(_, count)| count.to_string()));
        }
        table.row(row);
    }
    let more = (!is_whole).then(|| {
        let more = classes.len() - MAX_CLASSES;
        Block::paragraph(format!("and {more} more classes: `--json` has all"))
    });
    let table = table
        .block()
        .map(|table| [Block::section("by class:"), table]);
    table.into_iter().flatten().chain(more).collect()
}
