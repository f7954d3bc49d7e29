//! Macro-F1, the figures of labels and their confusion matrix, as Markdown.

use std::io::{self, Write};

use crate::report::render::markdown::text;

use super::{number, row, section, table};
use crate::data::score::OTHER;
use crate::verdict::summary::{Labels, MAX_LABELS, Summary};

/// The labels of the deciding scorer, and those of the others that judge labels.
pub(super) fn labels(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if let Some(labels) = &summary.labels {
        one("Labels", labels, out)?;
    }
    for (name, scorer) in &summary.scorers {
        let decides = summary.scorer.as_ref() == Some(name);
        if let Some(labels) = scorer.labels.as_ref().filter(|_| !decides) {
            one(&format!("Labels by {}", text(name)), labels, out)?;
        }
    }
    Ok(())
}

fn one(title: &str, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    section(out, title)?;
    let Some(macro_f1) = labels.macro_f1 else {
        return writeln!(
            out,
            "Macro-F1 and the confusion matrix are left out: more than {MAX_LABELS} different answers are \
             no labels."
        );
    };
    writeln!(
        out,
        "Macro-F1 **{}**, the mean of the F1 below.\n",
        number(macro_f1)
    )?;
    table(
        out,
        &["label", "precision", "recall", "F1", "support", "predicted"],
    )?;
    for (label, figures) in &labels.by_label {
        let shares = [figures.precision, figures.recall, figures.f1].map(number);
        let counts = [figures.support, figures.predicted].map(|count| count.to_string());
        let cells = std::iter::once(text(label)).chain(shares).chain(counts);
        row(out, &cells.collect::<Vec<_>>())?;
    }
    writeln!(out, "\nGround truth in rows, prediction in columns:\n")?;
    let confusion = &labels.confusion;
    let names: Vec<String> = confusion.labels.iter().map(|label| text(label)).collect();
    let mut titles = vec![""];
    titles.extend(names.iter().map(String::as_str));
    titles.push(OTHER);
    table(out, &titles)?;
    for (name, counts) in names.iter().zip(&confusion.counts) {
        let cells = counts.iter().map(u64::to_string);
        let cells = std::iter::once(name.clone()).chain(cells);
        row(out, &cells.collect::<Vec<_>>())?;
    }
    Ok(())
}
