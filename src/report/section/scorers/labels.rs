//! Macro-F1, figures per label, and the confusion matrix.

use super::super::source::{Source, number};
use crate::data::score::OTHER;
use crate::figure::counted;
use crate::report::document::{Block, Chart, Line, Table};
use crate::report::render::terminal::truncate;
use crate::verdict::summary::{Labels, MAX_LABELS};

/// Maximum number of labels listed on a terminal.
const BRIEF: usize = 12;

/// Maximum width of a terminal line, and of a label.
const WIDTH: usize = 74;
const NAME: usize = 16;

/// Number of figures per label that fit.
const BRIEF_FIGURES: usize = 4;

/// The labels of the deciding scorer, and in full those of other scorers with labels.
pub(in crate::report::section) fn labels(source: &Source<'_>) -> Vec<Block> {
    let summary = source.summary;
    if source.is_brief() {
        return summary.labels.as_ref().map_or_else(Vec::new, brief);
    }
    let mut blocks = Vec::new();
    if let Some(labels) = &summary.labels {
        full("Labels".to_owned(), labels, &mut blocks);
    }
    for (name, scorer) in &summary.scorers {
        if let Some(labels) = scorer.labels.as_ref().filter(|_| !source.decides(name)) {
            full(format!("Labels by {name}"), labels, &mut blocks);
        }
    }
    blocks
}

fn brief(labels: &Labels) -> Vec<Block> {
    // Too many labels, so these are free texts, for which F1 is meaningless.
    let Some(macro_f1) = labels.macro_f1 else {
        return Vec::new();
    };
    let count = labels.by_label.len();
    let below = if count > BRIEF {
        vec![Block::paragraph("the labels are in summary.md")]
    } else {
        let mut blocks = vec![Block::Table(by_label(labels, BRIEF_FIGURES))];
        confusion_table(labels, &mut blocks);
        blocks
    };
    vec![Block::group(
        format!(
            "macro-F1 {macro_f1:.4} over {}",
            counted(count as u64, "label")
        ),
        below,
    )]
}

/// Precision, recall, F1, support and, as the fifth figure, the number of predictions of each label.
fn by_label(labels: &Labels, figures: usize) -> Table {
    let heads = ["precision", "recall", "F1", "support", "predicted"];
    let mut table =
        Table::of_numbers(std::iter::once("label").chain(heads.into_iter().take(figures)));
    for (label, of) in &labels.by_label {
        let shares = [of.precision, of.recall, of.f1].map(|share| format!("{share:.4}"));
        let counts = [of.support, of.predicted].map(|count| count.to_string());
        let cells = shares.into_iter().chain(counts).take(figures);
        let most = if figures == BRIEF_FIGURES {
            2 * NAME
        } else {
            usize::MAX
        };
        table.row(std::iter::once(truncate(label, most)).chain(cells));
    }
    table
}

/// The confusion matrix as a table, if it fits.
fn confusion_table(labels: &Labels, blocks: &mut Vec<Block>) {
    let names = &labels.confusion.labels;
    let others = labels.confusion.counts.iter().filter_map(|row| row.last());
    let has_others = others.copied().sum::<u64>() > 0;
    let columns = names.len() + usize::from(has_others);
    // Columns are separated by two blanks.
    let room = WIDTH.saturating_sub(NAME) / columns.max(1);
    if room < 6 {
        blocks.push(Block::paragraph("the confusion matrix is in summary.md"));
        return;
    }
    let heads = names.iter().map(String::as_str).chain([OTHER]);
    let heads = heads.take(columns).map(|head| truncate(head, room - 2));
    let mut table = Table::of_numbers(std::iter::once(String::new()).chain(heads));
    for (name, counts) in names.iter().zip(&labels.confusion.counts) {
        let cells = counts.iter().take(columns).map(u64::to_string);
        table.row(std::iter::once(truncate(name, NAME)).chain(cells));
    }
    blocks.push(Block::paragraph(
        "ground truth in rows, prediction in columns:",
    ));
    blocks.push(Block::Table(table));
}

fn full(title: String, labels: &Labels, blocks: &mut Vec<Block>) {
    blocks.push(Block::section(title));
    let Some(macro_f1) = labels.macro_f1 else {
        blocks.push(Block::paragraph(format!(
            "Macro-F1 and the confusion matrix are not shown: there are more than {MAX_LABELS} different answers."
        )));
        return;
    };
    let line = Line::from("Macro-F1 ").strong(number(macro_f1));
    blocks.push(Block::Paragraph(
        line.plain(", the mean of the F1 of all labels."),
    ));
    blocks.push(Block::Table(by_label(labels, 5)));
    let confusion = &labels.confusion;
    let mut columns = confusion.labels.clone();
    columns.push(OTHER.to_owned());
    blocks.push(Block::Chart(Chart::Confusion {
        caption: "Ground truth in rows, prediction in columns".to_owned(),
        rows: confusion.labels.clone(),
        columns,
        counts: confusion.counts.clone(),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::section::Detail;
    use crate::report::section::tests::on_terminal;
    use crate::verdict::summary::Summary;
    use crate::verdict::summary::tests::labelled;

    #[test]
    fn labels_are_two_tables_where_there_is_room() {
        let rendered = |pairs: &[(&str, Option<&str>)]| {
            let summary = Summary::of("e", &labelled(pairs));
            on_terminal(labels(&Source::of(&summary, Detail::Brief)))
        };
        assert_eq!(rendered(&[]), "");
        let expect = "  macro-F1 0.3333 over 2 labels
    label  precision  recall      F1  support
    no        0.0000  0.0000  0.0000        1
    yes       0.5000  1.0000  0.6667        1
    ground truth in rows, prediction in columns:
         no  yes
    no    0    1
    yes   0    1
";
        assert_eq!(
            rendered(&[("yes", Some("yes")), ("no", Some("yes"))]),
            expect
        );
        assert!(rendered(&[("yes", None)]).contains("(other)"));
        let letters = "ABCDEFGHIJKLM"
            .split("")
            .filter(|letter| !letter.is_empty());
        let many: Vec<_> = letters.map(|letter| (letter, Some(letter))).collect();
        let expect = "  macro-F1 1.0000 over 13 labels\n    the labels are in summary.md\n";
        assert_eq!(rendered(&many), expect);
        let long = "x".repeat(40);
        for line in rendered(&[(&long, None), ("b\u{1b}", Some("c"))]).lines() {
            assert!(
                line.chars().count() <= WIDTH && !line.contains('\u{1b}'),
                "{line}"
            );
        }
    }
}
