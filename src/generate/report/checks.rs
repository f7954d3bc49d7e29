//! What the checks found, and what they refused.

use super::told::{part, share_cell};
use crate::figure::{Share, counted};
use crate::generate::statistics::GenerationStatistics;
use crate::report::document::{Align, Block, Document, Line, Table};

use Align::{Left, Right};

/// So many items are shown with the reference that they are nearest to.
const NEAREST: usize = 10;

/// What a check is about.
fn meaning(check: &str) -> String {
    let field = |end: &str| check.strip_suffix(end);
    let known = match check {
        "readable" => "the reply is one JSON object",
        "complete" => "no field is missing or blank",
        "no_copy_of_reference" => "it is no near copy of a reference",
        "no_copy_of_item" => "it is no near copy of another item",
        "topic_as_asked" => "the topic is the one that was asked for",
        "solver_agrees" => "who solves it anew comes to the same answer",
        _ => "",
    };
    if let Some((name, end)) = check.split_once("_ends_in_") {
        return format!("{name} ends in {end}");
    }
    if let Some(name) = field("_in_range") {
        format!("{name} is a number in its range")
    } else if let Some(name) = field("_in_list") {
        format!("{name} is one of its choices")
    } else if let Some(name) = field("_in_form") {
        format!("{name} is of its type and length")
    } else if let Some(name) = field("_differs_from_reference") {
        format!("{name} is not that of the reference that was shown")
    } else {
        known.to_owned()
    }
}

pub(super) fn checks(of: &GenerationStatistics, text: &mut Document) {
    text.section("3 Checks");
    if of.checks.is_empty() {
        text.paragraph("No reply was checked.");
        return;
    }
    let mut table = Table::new(&[
        ("check", Left),
        ("holds that", Left),
        ("replies", Right),
        ("failed", Right),
        ("share that failed", Right),
        ("failed and accepted", Right),
    ]);
    for check in &of.checks {
        table.row([
            check.name.clone(),
            meaning(&check.name),
            check.checked.to_string(),
            check.failed.to_string(),
            share_cell(check.share, check.ci95),
            check.accepted.to_string(),
        ]);
    }
    text.table(table);
    text.paragraph(
        "A check looks at the replies in which there is something to look at. What failed and was accepted all the same is \
         a failure that the spec only has noted.",
    );
    if let Some(solver) = &of.solver {
        text.part("Solved again");
        let agrees = part(solver.agrees, solver.solved, solver.share, solver.ci95);
        text.paragraph(format!(
            "Of the accepted items, who saw the problem alone came to the same answer in {agrees}."
        ));
    }
    nearest(of, text);
}

fn nearest(of: &GenerationStatistics, text: &mut Document) {
    let Some(first) = of.nearest.first() else {
        return;
    };
    text.part("Nearest references");
    if first.share <= 0.0 {
        text.paragraph("No accepted item has a phrase of eight words with a reference in common.");
        return;
    }
    text.paragraph(format!(
        "The accepted item that is nearest to a reference has {} of its phrases of eight words in common with it.",
        Share(first.share)
    ));
    let mut table = Table::new(&[
        ("item", Left),
        ("nearest reference", Left),
        ("share of its phrases", Right),
    ]);
    let near = of.nearest.iter().filter(|it| it.share > 0.0);
    for it in near.take(NEAREST) {
        table.row([
            it.id.clone(),
            it.reference_id.clone().unwrap_or_else(|| "-".to_owned()),
            Share(it.share).to_string(),
        ]);
    }
    text.table(table);
}

pub(super) fn refused(of: &GenerationStatistics, text: &mut Document) {
    text.section("4 Refused replies");
    let replies = &of.replies;
    if replies.refused == 0 {
        text.paragraph(match replies.checked {
            0 => "There was no reply to refuse.".to_owned(),
            1 => "None of 1 reply was refused.".to_owned(),
            many => format!("None of {many} replies was refused."),
        });
        return;
    }
    let share = part(
        replies.refused,
        replies.checked,
        replies.share,
        replies.ci95,
    );
    text.paragraph(format!(
        "{share} replies were refused, by the first check that they failed:"
    ));
    let lines = replies.reasons.iter().map(|(reason, refused)| {
        let line = Line::default()
            .strong(reason.clone())
            .plain(format!(": {}", counted(*refused, "reply")));
        let examples = of.examples.iter();
        let examples = examples.filter(|it| it.check == *reason && it.told != it.check);
        examples.enumerate().fold(line, |line, (place, example)| {
            line.plain(if place == 0 { "; such as " } else { "; " })
                .code(example.id.clone())
                .plain(format!(" ({})", example.told))
        })
    });
    text.blocks.push(Block::List(lines.collect()));
}
