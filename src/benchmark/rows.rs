//! `RowBenchmark`: base of benchmarks whose samples are the rows of one file.
//!
//! A benchmark defines its rules as data, opens its file and converts a row to a sample ([`RowBenchmark::read`]).
//! Filters, order, notices and the rest of [`Benchmark`] are shared.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use crate::benchmark::{Benchmark, NO_TRUTH, collected};
use crate::data::dataset::parts::LocalFiles;
use crate::data::dataset::{
    Columns, Field, Filter, Header, KnownRows, PlacedFile, RowKey, Table, TakePlaced, Written,
    check_file, required, scalar, slice_value,
};
use crate::data::hub::{self, Dataset};
use crate::data::reviews::{REJECTED, REVIEW, without_answer};
use crate::data::{Sample, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;
use crate::scorer::{Maker, Scorer};
use crate::text::{quoted, shell_word};

/// The method that selects among the `rows` of a type.
macro_rules! selects_ids {
    () => {
        /// Selects the samples with these ids.
        #[must_use]
        pub fn ids<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
            self.rows.only(ids);
            self
        }
    };
}

/// The method that sets the `columns` of a type.
macro_rules! names_columns {
    () => {
        /// Column names that are not the usual ones. A named column must exist.
        #[must_use]
        pub fn columns(mut self, columns: Columns) -> Self {
            self.columns = columns;
            self
        }
    };
}

pub(super) use {names_columns, selects_ids};

/// Properties of a benchmark besides its rows.
pub(crate) struct Rules {
    pub(crate) name: &'static str,
    pub(crate) extract: fn() -> Extract,
    pub(crate) scorer: fn() -> Box<dyn Scorer>,
    /// See [`Benchmark::official_prompt`].
    pub(crate) official_prompt: Option<&'static str>,
    /// See [`Benchmark::default_prompt`].
    pub(crate) default_prompt: Option<&'static str>,
    /// See [`Benchmark::is_gated`].
    pub(crate) is_gated: bool,
    /// See [`Benchmark::has_items`].
    pub(crate) has_items: bool,
}

/// A benchmark whose samples are the rows of one file.
#[diagnostic::on_unimplemented(
    message = "the trait `Benchmark` is not implemented for `{Self}`",
    label = "not a benchmark"
)]
pub(crate) trait RowBenchmark: Send + Sync {
    const RULES: Rules;

    /// The source of the rows, with filters.
    fn source(&self) -> &RowSource;

    /// Opens the file of a source and finds the columns in it.
    fn read(&self, source: &RowSource) -> Result<RowTable>;

    /// Whether its samples are conversations.
    const HAS_CONVERSATIONS: bool = false;

    /// Whether its samples are made of the rows and its settings, and of nothing else.
    const HAS_ONLY_ROWS: bool = false;

    /// The default scorer, if it is composed of others; otherwise that of the rules.
    fn composed_scorer(&self, maker: &Maker) -> Option<Box<dyn Scorer>> {
        let _ = maker;
        None
    }

    /// Handles requested slices without samples: an error, or notes for the user.
    fn without_slices(&self, absent: &AbsentSlices<'_>) -> Result<Vec<String>> {
        let _ = absent;
        Ok(Vec::new())
    }

    /// See [`Benchmark::paths`].
    fn holders(&self) -> Vec<PathBuf> {
        self.source().files.clone()
    }

    /// See [`Benchmark::read_paths`].
    fn row_paths(&self) -> Vec<PathBuf> {
        let mut paths = self.holders();
        paths.retain(|path| path.exists());
        paths
    }
}

/// A source of rows, with filters.
#[derive(Clone, Debug)]
pub(crate) struct RowSource {
    /// The file, or a pattern for the files of one table.
    pub(crate) path: PathBuf,
    /// In order. For GAIA, which looks for its file later, the path.
    files: Vec<PathBuf>,
    /// What the user should know about these files.
    note: Option<String>,
    /// The Hub dataset, if the files are not local.
    pub(crate) hub: Option<Dataset>,
    pub(crate) filter: Filter,
    /// The slice dimension and the selected values; empty selects all.
    pub(crate) slices: (&'static str, Vec<String>),
    /// Its rows, if they need not be read.
    known: Option<Arc<KnownRows>>,
    /// From the last read.
    found: OnceLock<FoundRows>,
}

/// What a read finds besides samples.
#[derive(Clone, Debug, Default)]
struct FoundRows {
    columns: Vec<String>,
    /// First those that are known when the file is opened.
    notices: Vec<String>,
    of_opening: usize,
}

impl RowSource {
    /// Opens a source of rows, which must exist, or be on the Hub.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let (LocalFiles { name, files, note }, hub) = hub::open(path)?;
        files.iter().try_for_each(|file| check_file(file))?;
        Ok(Self {
            files,
            note,
            ..Self::of(name, hub)
        })
    }

    /// A source for a path that was already checked.
    pub(crate) fn of(path: PathBuf, hub: Option<Dataset>) -> Self {
        Self {
            files: vec![path.clone()],
            note: None,
            path,
            hub,
            filter: Filter::default(),
            slices: ("", Vec::new()),
            known: None,
            found: OnceLock::new(),
        }
    }

    /// Reads the files.
    pub(crate) fn table(&self) -> Result<Table> {
        match self.files.as_slice() {
            [file] => self.table_of(file),
            files => Table::read_files(&self.path, files),
        }
    }

    /// Reads its only file.
    pub(crate) fn table_of(&self, file: &Path) -> Result<Table> {
        match &self.known {
            Some(known) => Table::known(file, known),
            None => Table::read(file),
        }
    }

    /// Whether every row becomes a sample.
    fn is_whole(&self) -> bool {
        self.filter.ids.is_none() && self.slices.1.is_empty()
    }

    /// The same source without filters.
    fn whole(&self) -> Self {
        Self {
            files: self.files.clone(),
            ..Self::of(self.path.clone(), self.hub.clone())
        }
    }

    /// Selects the samples with these ids.
    pub(crate) fn only<I: Into<String>>(&mut self, ids: impl IntoIterator<Item = I>) {
        self.filter.ids = Some(ids.into_iter().map(Into::into).collect());
    }
}

/// Makes a sample of a row and its index.
type MakeSample = dyn Fn(Map<String, Value>, usize) -> Result<Sample> + Send + Sync;

/// The table of a file, and the conversion of rows to samples.
pub(crate) struct RowTable {
    pub(crate) table: Table,
    /// Converts a row and its index to a sample. Errors need not include the row number.
    pub(crate) sample: Box<MakeSample>,
    /// What decides whether a row is asked, if that can be read alone.
    pub(crate) key: Option<RowKey>,
    /// Whether there is a column of ground truths.
    pub(crate) has_truths: bool,
    pub(crate) notices: Vec<String>,
}

impl RowTable {
    /// A table in which each row has a ground truth.
    pub(crate) fn new(
        table: Table,
        sample: impl Fn(Map<String, Value>, usize) -> Result<Sample> + Send + Sync + 'static,
    ) -> Self {
        Self {
            table,
            sample: Box::new(sample),
            key: None,
            has_truths: true,
            notices: Vec::new(),
        }
    }
}

/// Requested slices without samples.
pub(crate) struct AbsentSlices<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    pub(crate) wanted: &'a [String],
    /// Values without samples; not empty.
    pub(crate) missing: Vec<&'a str>,
    /// Values that exist.
    pub(crate) found: &'a BTreeSet<String>,
}

/// The same conversion, of rows that may be under review.
fn reviewed(
    sample: Box<MakeSample>,
) -> impl Fn(Map<String, Value>, usize) -> Result<Sample> + Send + Sync {
    move |fields, index| {
        let review = without_answer(&fields);
        let mut made = sample(fields, index)?;
        if let Some(review) = review {
            made.target = None;
            made.metadata.insert(REVIEW.to_owned(), review.into());
        }
        Ok(made)
    }
}

/// Passes the samples on one by one; returns what else is found. Where rows can be read `by_key`, nothing is found of
/// their other columns.
fn each<B: RowBenchmark>(
    benchmark: &B,
    source: &RowSource,
    by_key: bool,
    take: &mut TakePlaced<'_>,
) -> Result<FoundRows> {
    let RowTable {
        mut table,
        sample,
        key,
        has_truths,
        mut notices,
    } = benchmark.read(source)?;
    if let Some(key) = key.filter(|_| by_key) {
        table = table.by_key(key);
    }
    let by_key = table.is_by_key();
    notices.extend(source.note.clone());
    let of_opening = notices.len();
    let path = table.path().to_owned();
    let columns = table.columns().to_vec();
    let sample = reviewed(sample);
    let (mut all, mut hidden) = (0, 0);
    let mut unanswered = [0; 2];
    let see = |sample: &Sample| {
        if by_key {
            return;
        }
        all += 1;
        match without_answer(&sample.metadata) {
            Some(word) => unanswered[usize::from(word == REJECTED)] += 1,
            None => hidden += usize::from(sample.target.is_none()),
        }
    };
    let (dimension, wanted) = &source.slices;
    let mut found = BTreeSet::new();
    table.each_filtered(&source.filter, sample, see, &mut |sample, place| {
        if wanted.is_empty() {
            return take(sample, place);
        }
        let mut slices = sample.slices.iter();
        let Some((_, value)) = slices.find(|(name, _)| name == dimension) else {
            return Ok(());
        };
        if !found.contains(value) {
            found.insert(value.clone());
        }
        if wanted.contains(value) {
            take(sample, place)
        } else {
            Ok(())
        }
    })?;
    let [needed, rejected] = unanswered;
    if needed > 0 {
        let (line, await_it) = if needed == 1 {
            ("line", "awaits")
        } else {
            ("lines", "await")
        };
        let path = path.display().to_string();
        notices.push(format!(
            "`{path}`: {needed} {line} of {all} {await_it} review (`review: needed`) and {} no ground truth: fill in \
             the answers with `cargo evaltest review {}`",
            if needed == 1 { "has" } else { "have" },
            shell_word(&path)
        ));
    }
    if rejected > 0 {
        let path = path.display();
        notices.push(format!(
            "`{path}`: {rejected} of {all} samples were rejected in review and are not scored"
        ));
    }
    if has_truths && hidden > 0 {
        let path = path.display();
        notices.push(format!("`{path}`: {hidden} of {all} samples {NO_TRUTH}"));
    }
    let missing = wanted.iter().map(String::as_str);
    let missing: Vec<_> = missing.filter(|value| !found.contains(*value)).collect();
    if !missing.is_empty() {
        notices.extend(benchmark.without_slices(&AbsentSlices {
            path: &path,
            wanted,
            missing,
            found: &found,
        })?);
    }
    Ok(FoundRows {
        columns,
        notices,
        of_opening,
    })
}

impl<B: RowBenchmark> Benchmark for B {
    fn name(&self) -> &str {
        B::RULES.name
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.each_placed(&mut |sample, _| take(sample))
    }

    fn each_placed(&self, take: &mut TakePlaced<'_>) -> Result<()> {
        let source = self.source();
        let found = each(self, source, false, take)?;
        // Reading again finds the same.
        let _ = source.found.set(found);
        Ok(())
    }

    fn each_key(&self, take: &mut TakePlaced<'_>) -> Result<()> {
        let source = self.source();
        let found = each(self, source, true, take)?;
        let _ = source.found.set(found);
        Ok(())
    }

    fn row_file(&self) -> Option<PathBuf> {
        let source = self.source();
        // Before a look for its paths, which may ask the Hub.
        if !B::HAS_ONLY_ROWS || source.hub.is_some() || !source.is_whole() {
            return None;
        }
        match self.row_paths().as_slice() {
            [path] => Some(path.clone()),
            _ => None,
        }
    }

    fn found_rows(&self) -> Option<KnownRows> {
        let found = self.source().found.get()?;
        Some(KnownRows {
            columns: found.columns.clone(),
            notices: found.notices[found.of_opening..].to_vec(),
            rows: Vec::new(),
        })
    }

    fn reopen(&self, known: KnownRows) -> Result<Option<PlacedFile>> {
        let source = self.source();
        let known = Arc::new(known);
        let table = self.read(&RowSource {
            known: Some(Arc::clone(&known)),
            ..source.clone()
        })?;
        let mut notices = table.notices;
        notices.extend(source.note.clone());
        let of_opening = notices.len();
        notices.extend(known.notices.iter().cloned());
        let _ = source.found.set(FoundRows {
            columns: known.columns.clone(),
            notices,
            of_opening,
        });
        Ok(table.table.placed(Box::new(reviewed(table.sample))))
    }

    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        each(self, &self.source().whole(), false, &mut |sample, _| {
            take(sample)
        })
        .map(drop)
    }

    fn fetch(&self, samples: &[Sample]) -> Result<()> {
        hub::fetch_attachments(self.source().hub.as_ref(), samples)
    }

    fn extract(&self) -> Extract {
        (B::RULES.extract)()
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        Some((B::RULES.scorer)())
    }

    fn scorer_of(&self, maker: &Maker) -> Option<Box<dyn Scorer>> {
        self.composed_scorer(maker).or_else(|| self.scorer())
    }

    fn has_conversations(&self) -> bool {
        B::HAS_CONVERSATIONS
    }

    fn official_prompt(&self) -> Option<&str> {
        B::RULES.official_prompt
    }

    fn default_prompt(&self) -> Option<&str> {
        B::RULES.default_prompt
    }

    fn has_metrics(&self) -> bool {
        false
    }

    fn has_items(&self) -> bool {
        B::RULES.has_items
    }

    fn is_gated(&self) -> bool {
        B::RULES.is_gated
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.holders()
    }

    fn read_paths(&self) -> Vec<PathBuf> {
        self.row_paths()
    }

    fn notices(&self) -> Vec<String> {
        let source = self.source();
        if let Some(found) = source.found.get() {
            return found.notices.clone();
        }
        // An error is reported when the samples are read.
        let found = each(self, source, false, &mut |_, _| Ok(()));
        found.unwrap_or_default().notices
    }
}

/// The error that none of the usual ground-truth columns exists.
pub(super) fn without_truths<'a>(
    header: &Header<'_>,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    format!(
        "`{}`: there is no column of ground truths, so scorers that need one score no sample: looked for {}; found {}",
        header.path.display(),
        quoted(known),
        quoted(header.columns.iter().copied())
    )
}

/// Usual column names by role; the first existing one is used.
pub(super) struct Usual {
    pub(super) prompt: &'static [&'static str],
    pub(super) ground_truth: &'static [&'static str],
    pub(super) id: &'static [&'static str],
}

/// The columns of question, answer and id in one file.
pub(super) struct Roles {
    prompt: Field,
    truth: Field,
    id: Option<Field>,
}

/// A row as texts.
pub(super) struct ProblemRow {
    pub(super) id: String,
    pub(super) prompt: String,
    pub(super) truth: String,
}

impl Roles {
    /// Finds the columns; a `named` one must exist.
    pub(super) fn find(header: &Header<'_>, named: &Columns, usual: &Usual) -> Result<Self> {
        let truth = named.ground_truth.as_deref();
        Ok(Self {
            prompt: header.require_field("prompt", named.prompt.as_deref(), usual.prompt)?,
            truth: header.require_field("ground_truth", truth, usual.ground_truth)?,
            id: header.find_field("id", named.id.as_deref(), usual.id)?,
        })
    }

    /// Whether there is an id column.
    pub(super) fn has_ids(&self) -> bool {
        self.id.is_some()
    }

    /// The table with ground truths as the file writes them.
    pub(super) fn written(&self, table: Table) -> Table {
        table.written(&self.truth, Written::WithoutExponent)
    }

    /// Removes the three values from a row; without an id column the id is the row's index from 0.
    pub(super) fn take(&self, fields: &mut Map<String, Value>, index: usize) -> Result<ProblemRow> {
        let mut read = |field: &Field, role| required(field.name(), role, field.take(fields)?);
        let prompt = read(&self.prompt, "prompt")?;
        let id = match &self.id {
            Some(field) => read(field, "id")?,
            None => index.to_string(),
        };
        let truth = read(&self.truth, "ground truth")?;
        Ok(ProblemRow { id, prompt, truth })
    }

    /// Parses a ground truth; errors name the column.
    pub(super) fn truth<T>(&self, truth: &str, read: fn(&Target) -> Result<T>) -> Result<T> {
        let column = || format!("column `{}`", self.truth.name());
        read(&Target::from(truth)).map_err(|error: Error| error.at(column()))
    }
}

/// A column's value as a slice.
pub(super) fn slice_of(
    field: Option<&Field>,
    fields: &Map<String, Value>,
) -> Result<Option<String>> {
    let Some(field) = field else {
        return Ok(None);
    };
    let cell = field.get(fields);
    Ok(slice_value(scalar(field.name(), cell.as_deref())?))
}
