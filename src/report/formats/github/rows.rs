//! `SampleRows`: the samples shown on a page, collected in one pass over the records of each run.

use std::collections::HashMap;

use super::{cell, short_message};

use crate::error::Result;
use crate::report::formats::ci;
use crate::report::formats::ci::{CaseEnd, CiSample};
use crate::report::render::markdown::{CountedRows, row_text};
use crate::report::reported::ReportedRun;
use crate::report::section::samples::worded;
use crate::verdict::summary::Subject;

/// Maximum number of samples without a verdict, or wrong without a baseline: they are not changes, and there may be
/// many.
const OTHERS: usize = 100;
/// Maximum bytes of a text in a cell.
const CELL: usize = 200;

/// Which columns the tables of samples have.
#[derive(Clone, Copy)]
pub(super) struct SampleColumns {
    /// Questions and answers; not if those of all runs are masked.
    pub(super) texts: bool,
    /// The eval, if there are several.
    pub(super) several: bool,
    /// Items have no expected answer, and what is judged is the item itself.
    pub(super) subject: Subject,
}

impl SampleColumns {
    pub(super) fn titles(self) -> Vec<&'static str> {
        let question = self.subject.word(["question", "item", "item"]);
        self.of(["eval", "sample", question, "expected", "got", "why"])
    }

    /// The cells of these columns.
    fn of<T>(self, [eval, sample, question, expected, got, why]: [T; 6]) -> Vec<T> {
        let mut cells = Vec::new();
        cells.extend(self.several.then_some(eval));
        cells.push(sample);
        let answers = [question, expected, got].into_iter();
        let shown = match (self.texts, self.subject) {
            (false, _) => 0,
            (true, Subject::Answers) => 3,
            (true, _) => 1,
        };
        cells.extend(answers.take(shown));
        cells.push(why);
        cells
    }
}

/// Rows of samples.
pub(super) struct SampleRows {
    /// Remaining bytes for rows.
    room: usize,
    columns: SampleColumns,
    pub(super) worse: CountedRows,
    pub(super) better: CountedRows,
    pub(super) errors: CountedRows,
    pub(super) wrong: CountedRows,
    used: HashMap<&'static str, usize>,
}

impl SampleRows {
    pub(super) fn of(runs: &[ReportedRun], columns: SampleColumns, room: usize) -> Result<Self> {
        let mut rows = Self {
            room,
            columns,
            worse: CountedRows::default(),
            better: CountedRows::default(),
            errors: CountedRows::default(),
            wrong: CountedRows::default(),
            used: HashMap::new(),
        };
        for run in runs {
            let flips = run.flips();
            for sample in ci::samples(run)? {
                let sample = sample?;
                match (flips.get(&*sample.id), sample.end) {
                    (Some(true), _) => rows.add("worse", run, &sample),
                    (Some(false), _) => rows.add("better", run, &sample),
                    (None, CaseEnd::Errored) => rows.add("errors", run, &sample),
                    (None, CaseEnd::Failed) if run.summary.change.is_none() => {
                        rows.add("wrong", run, &sample);
                    }
                    _ => {}
                }
            }
        }
        Ok(rows)
    }

    fn add(&mut self, kind: &'static str, run: &ReportedRun, sample: &CiSample) {
        let (counted, most) = match kind {
            "worse" => (&mut self.worse, usize::MAX),
            "better" => (&mut self.better, usize::MAX),
            "errors" => (&mut self.errors, OTHERS),
            _ => (&mut self.wrong, OTHERS),
        };
        counted.all += 1;
        let used = self.used.entry(kind).or_default();
        if *used < self.room && counted.rows.len() < most {
            let row = row(run, sample, self.columns);
            *used += row.len() + 1;
            counted.rows.push(row);
        }
    }
}

/// A sample as a row, with the answer of one of its epochs.
fn row(run: &ReportedRun, sample: &CiSample, columns: SampleColumns) -> String {
    let record = sample.representative();
    let output = ci::output(record).unwrap_or_default();
    let why = match (&record.result.error, &record.result.score) {
        (None, Some(score)) => worded(&score.reason),
        _ => ci::why(record),
    };
    row_text(&columns.of([
        run.manifest.eval.as_str().into(),
        cell(&record.sample_id, CELL),
        cell(&record.prompt, CELL),
        cell(ci::truth(record).unwrap_or_default(), CELL),
        cell(&output, CELL),
        short_message(&why, CELL),
    ]))
}
