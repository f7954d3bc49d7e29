//! The section on generated and refused items.

use crate::figure::{P, ci95, counted, share_cell};
use crate::flow::figures::GeneratedItems;
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Document, Table};

/// Generated and refused items.
pub(super) fn generation(items: &GeneratedItems, report: &mut Document) {
    report.paragraph(format!(
        "Accepted: {}. {}.",
        items.share().text("asked items"),
        match items.refused {
            0 => "No reply was refused".to_owned(),
            1 => "1 reply was refused on the way".to_owned(),
            refused => format!("{refused} replies were refused on the way"),
        }
    ));
    if items.errors > 0 {
        report.note(format!(
            "The generator gave no reply for {}.",
            counted(items.errors, "item")
        ));
    }
    topics(items, report);
    checks(items, report);
    if let Some(solver) = &items.solver {
        report.paragraph(format!(
            "An independent solver, who does not see the solution, comes to the answer of {}.",
            solver.text("items")
        ));
    }
}

fn topics(items: &GeneratedItems, report: &mut Document) {
    if items.topics.is_empty() {
        return;
    }
    report.part("Topics");
    let mut table = Table::new(&[
        ("topic", Left),
        ("asked", Right),
        ("quantity", Right),
        (ci95!("share ("; ")"), Left),
    ]);
    for topic in &items.topics {
        table.row([
            topic.topic.clone(),
            topic.requested.to_string(),
            topic.reached.part.to_string(),
            share_cell(topic.reached.share, topic.reached.ci95),
        ]);
    }
    report.table(table);
    if let Some(p) = items.topics_p {
        let p = P(p);
        report.paragraph(format!(
            "Exact test of the spread against the asked one: {p}."
        ));
    }
}

fn checks(items: &GeneratedItems, report: &mut Document) {
    if !items.checks.is_empty() {
        report.part("Checks");
        let mut table = Table::new(&[
            ("check", Left),
            ("passed", Right),
            ("of", Right),
            (ci95!("share ("; ")"), Left),
        ]);
        for check in &items.checks {
            table.row([
                check.name.replace('_', " "),
                check.passed.part.to_string(),
                check.passed.of.to_string(),
                share_cell(check.passed.share, check.passed.ci95),
            ]);
        }
        report.table(table);
    }
    if !items.reasons.is_empty() {
        report.part("Refused replies");
        let mut table = Table::of_numbers(["why", "replies"]);
        for (why, replies) in &items.reasons {
            table.row([why.replace('_', " "), replies.to_string()]);
        }
        report.table(table);
    }
}
