//! The figures of several scorers, and of labels, on a terminal.

use std::io::{self, Write};

use crate::data::score::OTHER;
use crate::figure::{Interval, Scale, Share, ci95, or_dash};
use crate::report::accuracy;
use crate::report::render::terminal::table::{self, cut};
use crate::text::clean;
use crate::verdict::summary::{Labels, Summary};

/// More labels than this are not shown one by one; `summary.md` has all.
const SHOWN: usize = 12;

/// The characters of a line at most.
const WIDTH: usize = 78;

/// What a name may take of it.
const NAME: usize = 32;

/// A line for each scorer, the deciding one first, when there are several.
pub(super) fn scorers(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.scorers.len() < 2 {
        return Ok(());
    }
    let mut scorers: Vec<_> = summary.scorers.iter().collect();
    let decides = |name: &str| summary.scorer.as_deref() == Some(name);
    scorers.sort_by_key(|(name, _)| !decides(name));
    let mut rows = vec![row(&["scorer", "correct", "accuracy", ci95!(), "mean"])];
    for (name, scorer) in scorers {
        let decides = if decides(name) { " (decides)" } else { "" };
        let interval = scorer.accuracy_ci95.filter(|_| scorer.errors == 0);
        let mean = scorer.means.get("value");
        let errors = match scorer.errors {
            0 => String::new(),
            errors => format!("{errors} not judged"),
        };
        let marked = if summary.is_uncalibrated(name) {
            ", uncalibrated"
        } else {
            ""
        };
        rows.push(vec![
            cut(&clean(name), NAME) + decides + marked,
            format!("{} of {}", scorer.correct, scorer.scored),
            accuracy::shown(scorer.accuracy, scorer.accuracy_bounds).unwrap_or("-".to_owned()),
            or_dash(interval.map(|ci95| Interval(ci95.map(Share)))),
            or_dash(mean.map(|mean| Scale(*mean, 3))),
            errors,
        ]);
    }
    table::write("  ", &rows, out)
}

/// Macro-F1, and where there is room the figures of each label and the confusion matrix.
pub(super) fn labels(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(labels) = &summary.labels else {
        return Ok(());
    };
    // Too many labels: free texts. Nobody who has those asked for their F1.
    let Some(macro_f1) = labels.macro_f1 else {
        return Ok(());
    };
    let count = labels.by_label.len();
    writeln!(out, "  macro-F1 {macro_f1:.4} over {count} labels")?;
    if count > SHOWN {
        return writeln!(out, "    the labels are in summary.md");
    }
    let mut rows = vec![row(&["label", "precision", "recall", "F1", "support"])];
    for (label, figures) in &labels.by_label {
        rows.push(vec![
            cut(&clean(label), NAME),
            format!("{:.4}", figures.precision),
            format!("{:.4}", figures.recall),
            format!("{:.4}", figures.f1),
            figures.support.to_string(),
        ]);
    }
    table::write("    ", &rows, out)?;
    confusion(labels, out)
}

fn confusion(labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> = labels.confusion.labels.iter().map(|l| clean(l)).collect();
    let others = labels.confusion.counts.iter().filter_map(|row| row.last());
    let has_others = others.copied().sum::<u64>() > 0;
    let columns = names.len() + usize::from(has_others);
    // Each column has two blanks before it.
    let room = (WIDTH - 4).saturating_sub(NAME / 2) / columns.max(1);
    if room < 6 {
        return writeln!(out, "    the confusion matrix is in summary.md");
    }
    let heads = names.iter().map(String::as_str).chain([OTHER]);
    let heads = heads.take(columns).map(|head| cut(head, room - 2));
    writeln!(out, "    ground truth in rows, prediction in columns:")?;
    let mut rows: Vec<Vec<String>> = vec![std::iter::once(String::new()).chain(heads).collect()];
    for (name, counts) in names.iter().zip(&labels.confusion.counts) {
        let cells = counts.iter().take(columns).map(u64::to_string);
        rows.push(std::iter::once(cut(name, NAME / 2)).chain(cells).collect());
    }
    table::write("    ", &rows, out)
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::summary::tests::{judged, labelled};

    #[test]
    fn several_scorers_are_a_table() {
        let records = [
            judged("a", &[("gaia", Some(true)), ("exact", Some(false))]),
            judged("b", &[("gaia", Some(true)), ("exact", None)]),
        ];
        let mut summary = Summary::of("e", &records);
        summary.scorer = Some("gaia".to_owned());
        let mut out = Vec::new();
        scorers(&summary, &mut out).unwrap();
        let expect = [
            "  scorer          correct         accuracy      95 % interval   mean",
            "  gaia (decides)   2 of 2          100.0 %  34.2 % to 100.0 %  1.000",
            "  exact            0 of 1  0.0 % to 50.0 %                  -  0.000  1 not judged",
            "",
        ];
        assert_eq!(String::from_utf8(out).unwrap(), expect.join("\n"));
    }

    #[test]
    fn labels_are_two_tables_where_there_is_room() {
        let shown = |pairs: &[(&str, Option<&str>)]| {
            let mut out = Vec::new();
            labels(&Summary::of("e", &labelled(pairs)), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(&[]), "");
        let expect = "  macro-F1 0.3333 over 2 labels
    label  precision  recall      F1  support
    no        0.0000  0.0000  0.0000        1
    yes       0.5000  1.0000  0.6667        1
    ground truth in rows, prediction in columns:
         no  yes
    no    0    1
    yes   0    1
";
        assert_eq!(shown(&[("yes", Some("yes")), ("no", Some("yes"))]), expect);
        assert!(shown(&[("yes", None)]).contains("(other)"));
        let letters = "ABCDEFGHIJKLM"
            .split("")
            .filter(|letter| !letter.is_empty());
        let many: Vec<_> = letters.map(|letter| (letter, Some(letter))).collect();
        let expect = "  macro-F1 1.0000 over 13 labels\n    the labels are in summary.md\n";
        assert_eq!(shown(&many), expect);
        let long = "x".repeat(40);
        for line in shown(&[(&long, None), ("b\u{1b}", Some("c"))]).lines() {
            assert!(
                line.chars().count() <= WIDTH && !line.contains('\u{1b}'),
                "{line}"
            );
        }
    }
}
