//! The section on the comparison with real items.

use super::{counts, judge, shares};
use crate::figure::{Interval, Share, counted};
use crate::flow::figures::{ComparedItems, CountedShare};
use crate::report::document::{Document, Line};

/// Generated items compared with real ones.
pub(super) fn winrate(compared: &ComparedItems, report: &mut Document) {
    let pairs = &compared.pairs;
    report.paragraph(format!(
        "Each of {} was judged twice, with either item first. The same verdict both times is a win of the generated item, a \
         loss or a tie; two that differ are inconsistent.",
        counted(pairs.n, "pair")
    ));
    let verdicts = [
        ("wins", pairs.wins),
        ("ties", pairs.ties),
        ("losses", pairs.losses),
        ("inconsistent", pairs.inconsistent),
    ];
    let verdicts = verdicts.map(|(verdict, number)| (verdict, compared.share(number)));
    report.table(shares(["verdict", "pairs"], verdicts));
    if let (Some(value), Some(ci95)) = (pairs.win_rate, pairs.ci95) {
        let interval = Interval(ci95.map(Share)).ci95();
        report.paragraph(
            Line::default()
                .plain("Win rate ")
                .strong(format!("{}, {interval}", Share(value)))
                .plain(": ties and inconsistent pairs count half. One half is neither better nor worse."),
        );
    }
    if pairs.unreadable > 0 {
        let reasons = match &*counts(&compared.reasons) {
            "" => String::new(),
            reasons => format!(" ({reasons})"),
        };
        report.note(format!(
            "{} could not be read{reasons}; no share counts them.",
            counted(pairs.unreadable, "pair")
        ));
    }
    report.part("How the judge compares");
    let mut notes = Vec::new();
    if pairs.inconsistent > 0 {
        let first = CountedShare::of(pairs.first_shown_wins, pairs.inconsistent);
        notes.push(format!(
            "position bias: in {} the first shown item was preferred both times",
            first.text("inconsistent pairs")
        ));
    }
    if let Some(slope) = pairs.length_coefficient {
        let ci95 = pairs.length_ci95.map_or_else(String::new, |ends| {
            let interval = Interval(ends.map(|end| format!("{end:+.2}")));
            format!(" ({})", interval.ci95())
        });
        notes.push(format!(
            "length: a much longer item gains {slope:+.2} of a win{ci95}; nothing is corrected for it"
        ));
    }
    notes.extend(compared.notes.iter().cloned());
    judge::worth(&compared.worth, &notes, report);
}
