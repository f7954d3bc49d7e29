//! What people say of generated items.

use super::judged::table;
use super::words::{cell, part};
use crate::figure::ci95;
use crate::flow::figures::ReviewedItems;
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Document, Table};

/// What people say of generated items.
pub(super) fn reviewed(reviewed: &ReviewedItems, text: &mut Document) {
    text.part("What people say");
    text.paragraph(format!("Reviewed: {}.", part(&reviewed.reviewed, "items")));
    let heads = [
        ("status", Left),
        ("items", Right),
        (ci95!("share ("; ")"), Left),
    ];
    let mut statuses = Table::new(&heads);
    for (status, share) in [
        ("approved", &reviewed.approved),
        ("rejected", &reviewed.rejected),
        ("needs revision", &reviewed.needs_revision),
    ] {
        statuses.row([status.to_owned(), share.part.to_string(), cell(share)]);
    }
    text.table(statuses);
    table("dimension, by people", &reviewed.dimensions, text);
    if let Some(agreement) = &reviewed.agreement {
        text.paragraph(agreement.as_str());
    }
}
