//! How generated items do beside real ones.

use super::judged::worth;
use super::words::{cell, part, rate_of};
use crate::figure::{Interval, ci95, counted};
use crate::flow::figures::{ComparedItems, CountedShare};
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Document, Line, Table};

/// How generated items do beside real ones.
pub(super) fn compared(compared: &ComparedItems, text: &mut Document) {
    let pairs = &compared.pairs;
    text.paragraph(format!(
        "Each of {} was judged twice, with either item first. The same verdict both times is a win of the generated item, a \
         loss or a tie; two that differ are inconsistent.",
        counted(pairs.n, "pair")
    ));
    let mut table = Table::new(&[
        ("verdict", Left),
        ("pairs", Right),
        (ci95!("share ("; ")"), Left),
    ]);
    for (verdict, number) in [
        ("wins", pairs.wins),
        ("ties", pairs.ties),
        ("losses", pairs.losses),
        ("inconsistent", pairs.inconsistent),
    ] {
        table.row([
            verdict.to_owned(),
            number.to_string(),
            cell(&compared.share(number)),
        ]);
    }
    text.table(table);
    if let (Some(value), Some(ci95)) = (pairs.win_rate, pairs.ci95) {
        text.paragraph(
            Line::default()
                .plain("Win rate ")
                .strong(rate_of(value, ci95))
                .plain(": ties and inconsistent pairs count half. One half is neither better nor worse."),
        );
    }
    if pairs.unreadable > 0 {
        let reasons = compared.reasons.iter();
        let reasons: Vec<_> = reasons
            .map(|(reason, times)| format!("{times} {reason}"))
            .collect();
        let reasons = match &*reasons.join(", ") {
            "" => String::new(),
            reasons => format!(" ({reasons})"),
        };
        text.note(format!(
            "{} could not be read{reasons}; no share counts them.",
            counted(pairs.unreadable, "pair")
        ));
    }
    text.part("How the judge compares");
    let mut lines = Vec::new();
    if pairs.inconsistent > 0 {
        lines.push(format!(
            "position bias: in {} the first shown item was preferred both times",
            part(
                &CountedShare::of(pairs.first_shown_wins, pairs.inconsistent),
                "inconsistent pairs"
            )
        ));
    }
    if let Some(slope) = pairs.length_coefficient {
        let ci95 = pairs.length_ci95.map_or_else(String::new, |ends| {
            format!(
                " ({})",
                Interval(ends.map(|end| format!("{end:+.2}"))).ci95()
            )
        });
        lines.push(format!(
            "length: a much longer item gains {slope:+.2} of a win{ci95}; nothing is corrected for it"
        ));
    }
    lines.extend(compared.notes.iter().cloned());
    worth(&compared.worth, &lines, text);
}
