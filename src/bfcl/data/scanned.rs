//! `Scanned`: entries that stay on disk and are read again on demand.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::question::{LinePlace, QuestionLine, taken};
use super::{BfclQuestion, Category};
use crate::data::Sample;
use crate::data::dataset::{PlacedRows, RowFile, SamplePlace, TakePlaced, scan};
use crate::error::{Error, Result};

/// The entries of a file, with the file of their answers if they have none themselves.
pub(super) struct Scanned {
    lines: ScannedLines,
    /// The lines of the file of answers, and the line of each entry.
    answers: Option<(ScannedLines, Vec<Option<usize>>)>,
    category: Option<Category>,
    /// The category of each entry, if the file has no single category.
    categories: Vec<Category>,
}

/// The lines of a file.
pub(super) struct ScannedLines {
    path: Arc<Path>,
    rows: RowFile,
    ids: HashMap<Box<str>, usize>,
    /// Lines without ground truth.
    open: Vec<usize>,
}

impl ScannedLines {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let shared: Arc<Path> = path.into();
        let mut ids = HashMap::new();
        let mut open = Vec::new();
        let mut numbers = Vec::new();
        let rows = scan::rows(path, &mut |number, line| {
            let place = LinePlace::new(&shared, number);
            let line = QuestionLine::read(line, place)?;
            let row = numbers.len();
            if let Some(first) = ids.insert(line.id().into(), row) {
                let first: u64 = numbers[first];
                return Err(taken(line.id(), first).at(line.place()));
            }
            numbers.push(number);
            if !line.has_ground_truth() {
                open.push(row);
            }
            Ok(())
        })?;
        if numbers.is_empty() {
            return Err(Error::usage("there is no entry").at(path.display()));
        }
        Ok(Self {
            path: shared,
            rows,
            ids,
            open,
        })
    }

    /// Whether there are entries without ground truth.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn first(&self) -> Result<QuestionLine> {
        self.line(0)
    }

    fn line(&self, row: usize) -> Result<QuestionLine> {
        let place = LinePlace::new(&self.path, self.rows.place(row).line.unwrap_or_default());
        QuestionLine::read(&self.rows.text(row)?, place)
    }
}

impl Scanned {
    /// If the file has no category, each entry has its own.
    pub(super) fn new(
        mut lines: ScannedLines,
        answers: Option<ScannedLines>,
        category: Option<Category>,
    ) -> Result<Self> {
        let answers = answers
            .map(|answers| Self::answers(&lines, answers))
            .transpose()?;
        // No longer needed.
        lines.ids = HashMap::new();
        let mut scanned = Self {
            lines,
            answers,
            category,
            categories: Vec::new(),
        };
        if scanned.category.is_none() {
            let rows = 0..scanned.lines.rows.len();
            let categories = rows.map(|row| Ok(scanned.question(row)?.category));
            scanned.categories = categories.collect::<Result<_>>()?;
        }
        Ok(scanned)
    }

    fn answers(
        lines: &ScannedLines,
        mut answers: ScannedLines,
    ) -> Result<(ScannedLines, Vec<Option<usize>>)> {
        if let Some(row) = answers.open.first() {
            return Err(Error::usage("`ground_truth` is missing").at(answers.line(*row)?.place()));
        }
        let mut of = vec![None; lines.rows.len()];
        for &row in &lines.open {
            let line = lines.line(row)?;
            let Some(answer) = answers.ids.get(line.id()) else {
                return Err(line.without_answer(&answers.path));
            };
            of[row] = Some(*answer);
        }
        answers.ids = HashMap::new();
        Ok((answers, of))
    }

    /// The categories in order of appearance.
    ///
    /// # Errors
    /// If an entry is invalid.
    pub(super) fn categories(&self) -> Result<Vec<Category>> {
        if self.category.is_some() {
            // Without a category of the file, all lines were already read.
            let mut rows = 0..self.lines.rows.len();
            rows.try_for_each(|row| self.question(row).map(drop))?;
        }
        let mut found: Vec<Category> = self.category.iter().cloned().collect();
        for category in &self.categories {
            if !found.contains(category) {
                found.push(category.clone());
            }
        }
        Ok(found)
    }

    fn question(&self, row: usize) -> Result<BfclQuestion> {
        let mut line = self.lines.line(row)?;
        if let Some((answers, of)) = &self.answers
            && let Some(answer) = of[row]
        {
            line.set_ground_truth(&answers.line(answer)?);
        }
        line.into_question(self.category.as_ref())
    }

    /// Passes on the samples of a category.
    pub(super) fn each(
        self: &Arc<Self>,
        category: &Category,
        make: fn(BfclQuestion) -> Sample,
        take: &mut TakePlaced<'_>,
    ) -> Result<()> {
        let scanned = Arc::clone(self);
        let rows: Arc<dyn PlacedRows> = Arc::new(move |row| Ok(make(scanned.question(row)?)));
        for row in 0..self.lines.rows.len() {
            let of = self.categories.get(row).or(self.category.as_ref());
            if of == Some(category) {
                take(rows.sample(row)?, Some(SamplePlace::new(&rows, row)))?;
            }
        }
        Ok(())
    }
}
