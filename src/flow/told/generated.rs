//! What was generated.

use super::words::{cell, part};
use crate::figure::{P, ci95, counted};
use crate::flow::figures::GeneratedItems;
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Document, Table};

/// What was generated, and what was refused.
pub(super) fn generated(items: &GeneratedItems, text: &mut Document) {
    let share = items.share();
    text.paragraph(format!(
        "Accepted: {}. {}.",
        part(&share, "asked items"),
        match items.refused {
            0 => "No reply was refused".to_owned(),
            refused => format!("{} refused on the way", {
                let replies = if refused == 1 {
                    "reply was"
                } else {
                    "replies were"
                };
                format!("{refused} {replies}")
            }),
        }
    ));
    if items.errors > 0 {
        text.note(format!(
            "The generator gave no reply for {}.",
            counted(items.errors, "item")
        ));
    }
    topics(items, text);
    checks(items, text);
    if let Some(solver) = &items.solver {
        text.paragraph(format!(
            "An independent solver, who does not see the solution, comes to the answer of {}.",
            part(solver, "items")
        ));
    }
}

fn topics(items: &GeneratedItems, text: &mut Document) {
    if items.topics.is_empty() {
        return;
    }
    text.part("Topics");
    let heads = [
        ("topic", Left),
        ("asked", Right),
        ("quantity", Right),
        (ci95!("share ("; ")"), Left),
    ];
    let mut table = Table::new(&heads);
    for topic in &items.topics {
        table.row([
            topic.topic.clone(),
            topic.asked.to_string(),
            topic.reached.part.to_string(),
            cell(&topic.reached),
        ]);
    }
    text.table(table);
    if let Some(p) = items.topics_p {
        text.paragraph(format!(
            "Exact test of the spread against the asked one: {}.",
            P(p)
        ));
    }
}

fn checks(items: &GeneratedItems, text: &mut Document) {
    if !items.checks.is_empty() {
        text.part("Checks");
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
                cell(&check.passed),
            ]);
        }
        text.table(table);
    }
    if !items.reasons.is_empty() {
        text.part("Refused replies");
        let mut table = Table::new(&[("why", Left), ("replies", Right)]);
        for (why, replies) in &items.reasons {
            table.row([why.replace('_', " "), replies.to_string()]);
        }
        text.table(table);
    }
}
