//! `cargo evaltest judge agreement`.

use std::io::{self, Write};

use clap::Args;
use evaltest::engine::figure::CI95;
use evaltest::engine::judge::{JudgeAgreement, LabelledItem};
use evaltest::engine::text::clean;
use evaltest::{Exit, Result};

use super::figures::{few_labels, figure, figures};
use super::lines::{self, JudgedArgs};
use crate::console;

/// Classes that a table on a terminal has room for.
const SHOWN_CLASSES: usize = 12;

/// Means of points are as many as items: of more than this a table says nothing to a person.
const MOST_POINTS: usize = 12;

/// How far a judge agrees with the labels of people
///
/// Reads lines `{"labels": [a, b, …], "judge": x}`: the classes that people, and the judge, put an item in, as texts,
/// numbers or bools; null is one that is missing. `1`, `1.0` and `"1"` are one class.
///
/// The label of an item is the one that more than half of its labels are; items without such count in alpha alone. The
/// kappas, AC1 and the agreement compare that label with the verdict. Alpha is over all labels, with the judge as one
/// rater more; it needs no judge. Intervals are of the bootstrap over items, 2,000 draws, the same each time.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct AgreementArgs {
    #[command(flatten)]
    judged: JudgedArgs,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"n\", \"agreement\", \"constant_agreement\", \"kappa\", \"kappa_linear\", \"kappa_quadratic\", \"ac1\",
\"alpha_nominal\", \"alpha_interval\", \"classes\": {class: {\"precision\", \"recall\", \"n\"}}, \"confusion\": {label:
{verdict: n}}, \"ci95\": {figure: [low, high]}}. `n` counts the items with a label and a verdict. A figure that is
nothing over nothing is null, and so are those that need numbers (`kappa_linear`, `kappa_quadratic`,
`alpha_interval`) where classes are texts. Of more than 100 classes, `confusion` leaves out what is 0.";

pub(super) fn run(args: &AgreementArgs) -> Result<Exit> {
    let items: Vec<LabelledItem> = lines::all(&args.judged.input)?;
    let agreement = JudgeAgreement::of(&items)?;
    if args.judged.json {
        console::print_json(&agreement)?;
    } else {
        console::print(|out| show(&agreement, out))?;
    }
    Ok(Exit::Passed)
}

fn show(agreement: &JudgeAgreement, out: &mut dyn Write) -> io::Result<()> {
    show_figures(agreement, few_labels(agreement.n), out)
}

/// The figures, with how many items they are of.
pub(super) fn show_figures(
    agreement: &JudgeAgreement,
    few: Option<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (n, items) = (agreement.n, agreement.items);
    writeln!(out, "{n} of {items} items have a label and a verdict")?;
    match agreement.undecided {
        0 => {}
        1 => writeln!(out, "1 item has no label that more than half gave")?,
        many => writeln!(out, "{many} items have no label that more than half gave")?,
    }
    if let Some(few) = few {
        writeln!(out, "{few}")?;
    }
    let (found, ci95) = (&agreement.figures, &agreement.ci95);
    let most = agreement
        .classes
        .iter()
        .rev()
        .max_by_key(|(_, class)| class.n);
    let constant = most.map(|(name, _)| format!("always saying `{}`", clean(name)));
    let rows = [
        (
            "agreement",
            found.agreement,
            ci95.agreement,
            "verdicts that are the label",
        ),
        (
            "  of a constant",
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
            "  linear",
            found.kappa_linear,
            ci95.kappa_linear,
            "a near miss counts less",
        ),
        (
            "  quadratic",
            found.kappa_quadratic,
            ci95.kappa_quadratic,
            "far less",
        ),
        (
            "AC1",
            found.ac1,
            ci95.ac1,
            "the same, steady where one class is rare",
        ),
        (
            "alpha",
            found.alpha_nominal,
            ci95.alpha_nominal,
            "of all labels and the judge",
        ),
        (
            "  interval",
            found.alpha_interval,
            ci95.alpha_interval,
            "by squared distance",
        ),
    ];
    writeln!(out, "\n{:<15} {:>6}  {CI95}", "", "value")?;
    for (name, value, ci95, told) in rows {
        let (value, ci95) = (figure(value), figures(ci95));
        let row = format!("{name:<15} {value:>6}  {ci95:<16}  {told}");
        writeln!(out, "{}", row.trim_end())?;
    }
    show_classes(agreement, out)
}

fn show_classes(agreement: &JudgeAgreement, out: &mut dyn Write) -> io::Result<()> {
    let shown = agreement.classes.len().min(SHOWN_CLASSES);
    if shown == 0 {
        return Ok(());
    }
    let names_of = || agreement.classes.iter().map(|(name, _)| name);
    if agreement.classes.len() > MOST_POINTS && names_of().all(|name| name.parse::<f64>().is_ok()) {
        let count = agreement.classes.len();
        return writeln!(
            out,
            "\n{count} different numbers: `--json` has a table of them"
        );
    }
    let names: Vec<_> = agreement
        .classes
        .iter()
        .map(|(name, _)| short(name))
        .collect();
    let width = |least: usize| {
        names
            .iter()
            .map(|name| name.chars().count())
            .fold(least, usize::max)
    };
    let (first, column) = (width(5), width(4));
    write!(out, "\n{:<first$}  labels  precision  recall", "class")?;
    let is_whole = agreement.classes.len() == shown;
    if is_whole {
        write!(out, "   verdicts:")?;
        for name in &names {
            write!(out, " {name:>column$}")?;
        }
    }
    writeln!(out)?;
    let rows = agreement
        .classes
        .iter()
        .zip(&names)
        .zip(&agreement.confusion);
    for (((_, class), name), (_, cells)) in rows.take(shown) {
        let (precision, recall) = (figure(class.precision), figure(class.recall));
        write!(
            out,
            "{name:<first$}  {:>6}  {precision:>9}  {recall:>6}",
            class.n
        )?;
        if is_whole {
            write!(out, "{:12}", "")?;
            for (_, count) in cells {
                write!(out, " {count:>column$}")?;
            }
        }
        writeln!(out)?;
    }
    match agreement.classes.len() - shown {
        0 => Ok(()),
        more => writeln!(out, "and {more} classes more: `--json` has all"),
    }
}

/// A name that fits in a column.
fn short(name: &str) -> String {
    let name = clean(name);
    if name.chars().count() <= 16 {
        return name;
    }
    name.chars().take(15).chain(['…']).collect()
}
