//! Rows of samples: question, answer and outcome.

use std::collections::HashMap;

use crate::report::document::{Align, Block, Line, Table, Tone};
use crate::report::figures::{ReportedSample, SampleOutcome};
use crate::report::reported::ReportedRun;
use crate::verdict::summary::Subject;

/// `part_wrong` as `part wrong`; a reason in words may hold names, and stays, as does `ast_decoder:decoder_failed`.
pub(in crate::report) fn worded(reason: &str) -> String {
    if reason.contains([' ', ':']) {
        reason.to_owned()
    } else {
        reason.replace('_', " ")
    }
}

/// Builds the rows of a run's samples.
pub(in crate::report) struct SampleTable {
    /// Whether texts may be shown.
    texts: bool,
    epochs: bool,
    /// Whether there is a column of verdicts.
    verdicts: bool,
    /// What the verdicts are about.
    subject: Subject,
    /// Samples that flipped, and whether they became wrong.
    flips: HashMap<String, bool>,
}

impl SampleTable {
    /// For the samples of this run.
    pub(in crate::report) fn of(run: &ReportedRun) -> Self {
        let flips = run.flips().into_iter();
        Self {
            texts: !run.hides_texts,
            epochs: run.summary.epochs.is_some(),
            verdicts: true,
            subject: run.summary.subject(),
            flips: flips.map(|(id, worse)| (id.to_owned(), worse)).collect(),
        }
    }

    /// For samples that flipped alike, so that their title has the verdict.
    pub(in crate::report) fn of_flips(run: &ReportedRun) -> Self {
        Self {
            verdicts: false,
            ..Self::of(run)
        }
    }

    /// A table of these samples; `None` if there are none.
    pub(in crate::report) fn block<'a>(
        &self,
        caption: &str,
        samples: impl Iterator<Item = &'a ReportedSample>,
    ) -> Option<Block> {
        let mut table = self.empty();
        caption.clone_into(&mut table.caption);
        table.rows = samples.map(|sample| self.row(sample)).collect();
        table.block()
    }

    /// The table without its rows.
    pub(in crate::report) fn empty(&self) -> Table {
        let mut heads = vec![("sample", Align::Left)];
        if self.texts {
            let columns: &[&str] = match self.subject {
                Subject::Answers => &["question", "expected", "got"],
                // The rest is the item itself.
                Subject::Items => &["item"],
                Subject::Pairs => &["item", "text"],
            };
            heads.extend(columns.iter().map(|it| (*it, Align::Left)));
        }
        heads.extend(self.verdicts.then_some(("verdict", Align::Left)));
        heads.push(("why", Align::Left));
        Table::new(&heads)
    }

    /// The row of a sample.
    pub(in crate::report) fn row(&self, sample: &ReportedSample) -> Vec<Line> {
        let mut id = Line::default().quoted(&sample.id);
        if self.epochs {
            id = id.plain(format!(" (epoch {})", sample.epoch));
        }
        let mut cells = vec![id];
        if self.texts {
            let quoted = |text: &str| Line::default().quoted(text);
            let or_dash =
                |text: &Option<String>| text.as_deref().map_or_else(|| "-".into(), quoted);
            cells.push(quoted(&sample.question));
            if self.subject == Subject::Answers {
                cells.push(or_dash(&sample.ground_truth));
            }
            if self.subject != Subject::Items {
                cells.push(or_dash(&sample.answer));
            }
        }
        let (tone, word) = match sample.outcome {
            SampleOutcome::Correct => (Tone::Good, self.subject.word(["correct", "passes", "won"])),
            SampleOutcome::Wrong => (Tone::Bad, self.subject.bad()),
            SampleOutcome::Error => (Tone::Unsure, "error"),
            SampleOutcome::Unscored => (Tone::Faint, "unscored"),
            SampleOutcome::Skipped => (Tone::Faint, "skipped"),
        };
        let changed = match self.flips.get(&sample.id) {
            Some(true) => self.subject.word([
                ", was correct in the baseline",
                ", passed in the baseline",
                ", was won in the baseline",
            ]),
            Some(false) => self.subject.word([
                ", was wrong in the baseline",
                ", did not pass in the baseline",
                ", was not won in the baseline",
            ]),
            None => "",
        };
        if self.verdicts {
            cells.push(Line::default().toned(tone, word).plain(changed));
        }
        cells.push(worded(&sample.why).into());
        cells
    }
}
