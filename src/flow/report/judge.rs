//! The section on the scores of the judge and the verifications by people.

use super::counts;
use crate::figure::counted;
use crate::flow::figures::{ItemPoints, JudgeWorth, ReviewedItems};
use crate::report::document::{Document, Line};
use crate::report::items::{means, points, shares};

/// The points of a judge.
pub(super) fn judge(judged: &ItemPoints, report: &mut Document) {
    let rates = [judged.pass, judged.excellent];
    let rated = points(&judged.total, rates, &judged.dimensions);
    report.blocks.extend(rated);
    if judged.unread > 0 {
        let (is, them) = match judged.unread {
            1 => ("It is", "it"),
            _ => ("They are", "them"),
        };
        report.note(format!(
            "{} of {} could not be judged: no reply could be read ({}). {is} in no figure here, and gates \
             count {them} once as the best and once as the worst.",
            judged.unread,
            counted(judged.items, "item"),
            counts(&judged.reasons)
        ));
    }
    if judged.topics.len() > 1 {
        report.part("Points by topic");
        report.table(means("topic", &judged.topics));
    }
    report.part("Judge calibration");
    worth(&judged.worth, &judged.notes, report);
}

/// The verifications by people.
pub(super) fn people(reviewed: &ReviewedItems, report: &mut Document) {
    report.part("Human review");
    report.paragraph(format!("Reviewed: {}.", reviewed.reviewed.text("items")));
    let statuses = [
        ("approved", reviewed.approved),
        ("rejected", reviewed.rejected),
        ("needs revision", reviewed.needs_revision),
    ];
    report.table(shares(["status", "items"], statuses));
    report.table(means("dimension, by people", &reviewed.dimensions));
    if let Some(agreement) = &reviewed.agreement {
        report.paragraph(agreement.as_str());
    }
}

/// How far the judge agrees with people, and notices about how it scores.
pub(super) fn worth(worth: &JudgeWorth, notes: &[String], report: &mut Document) {
    let text = format!("The judge is {}.", worth.text);
    if worth.calibrated {
        report.paragraph(text);
    } else {
        report.note(text);
    }
    let lines = worth.corrected.iter().chain(notes);
    report.list(lines.map(|line| Line::default().marked(line)));
}
