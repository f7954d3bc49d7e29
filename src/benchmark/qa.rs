//! `qa`: questions and answers in any `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file.
//!
//! [`Qa`] says which column plays which role; `layout` finds them in a file and makes a sample of each row;
//! `template` builds a prompt out of several columns.

mod layout;
mod template;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::benchmark::{Benchmark, NO_TRUTH, collected};
use crate::data::Sample;
use crate::data::dataset::{Filter, Table, TakePlaced, check_file};
use crate::data::hub::{self, Dataset};
use crate::error::Result;
use crate::scorer::Scorer;
use crate::scorer::extract::Extract;
use crate::scorer::qa::QaScorer;
use crate::text::quoted;

use layout::{GROUND_TRUTH, QaLayout};
use template::Template;

/// Questions and answers in a file of rows.
///
/// | role | columns, the first that is there | becomes |
/// |---|---|---|
/// | `prompt` | `prompt`, `question`, `input` (also capitalised) | [`Sample::prompt`]; must be there and not blank, unless there is a template |
/// | `ground_truth` | `ground_truth`, `answer`, `answers`, `target`, `targets`, `label` | [`Sample::target`]: a text, or an array of several that are all right; null or blank is a hidden answer; calls of tools, `[{"name": …, "arguments": {…}}]`, are kept as they are for `ast_match` and `trajectory` |
/// | `id` | `id`, `task_id`, `sample_id`, `_id` | [`Sample::id`]; without the column, the row's index from 0 |
/// | `files` | `file_name`, `files` | [`Sample::files`], found in the folder of the file |
/// | `slices` | `level`, `Level` | [`Sample::slices`], and metadata |
///
/// Every other column is kept in [`Sample::metadata`]; agents see of it what [`Qa::visible`] names. Numbers and
/// bools become texts as JSON writes them: `17`, `true`.
///
/// A column that is named may be nested: `answers.text` is the member `text` of the column `answers`, and so is
/// the JSON pointer `/answers/text`. A name that meets an array is looked for in each of its elements, so that
/// several right answers are found whether they are `{"text": ["a", "b"]}` or `[{"text": "a"}, {"text": "b"}]`.
///
/// The scorer is [`qa`](crate::scorer::QaScorer), unless the eval names another: numbers are compared as numbers, other
/// texts by their words.
///
/// ```no_run
/// # fn main() -> evaltest::Result<()> {
/// use evaltest::Qa;
/// let qa = Qa::open("data/squad.parquet")?
///     .template("Passage: {context}\n\nQuestion: {question}")?
///     .id_column("key")
///     .prompt_column("ask")
///     .ground_truth_column("answers.text")
///     .file_columns(["image"])
///     .metadata_columns(["title", "topic"])
///     .slices(["title"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Qa {
    path: PathBuf,
    /// Where its files come from, if not from this machine.
    hub: Option<Dataset>,
    pub(crate) columns: QaColumns,
    template: Option<Template>,
    separator: Option<String>,
    slices: Option<Vec<String>>,
    visible: Vec<String>,
    filter: Filter,
    /// What the last [`Benchmark::samples`] had to remark.
    notices: OnceLock<Vec<String>>,
}

/// Columns that were named, by role.
#[derive(Clone, Debug, Default)]
pub(crate) struct QaColumns {
    pub(crate) prompt: Option<String>,
    pub(crate) ground_truth: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) files: Option<Vec<String>>,
    pub(crate) metadata: Option<Vec<String>>,
}

fn owned<I: Into<String>>(names: impl IntoIterator<Item = I>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

impl Qa {
    /// The questions of a file, which must be there, or on the Hub: `hf://datasets/ORG/NAME/FILE.jsonl`.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let (path, hub) = hub::open(path.into())?;
        check_file(&path)?;
        Ok(Self {
            path,
            hub,
            columns: QaColumns::default(),
            template: None,
            separator: None,
            slices: None,
            visible: Vec::new(),
            filter: Filter::default(),
            notices: OnceLock::new(),
        })
    }

    /// Names the column of the question.
    #[must_use]
    pub fn prompt_column(mut self, column: impl Into<String>) -> Self {
        self.columns.prompt = Some(column.into());
        self
    }

    /// Names the column of the right answer, or of several.
    #[must_use]
    pub fn ground_truth_column(mut self, column: impl Into<String>) -> Self {
        self.columns.ground_truth = Some(column.into());
        self
    }

    /// Names the column that identifies a row.
    #[must_use]
    pub fn id_column(mut self, column: impl Into<String>) -> Self {
        self.columns.id = Some(column.into());
        self
    }

    /// Names the columns of attached files: a path, or an array of paths, from the folder of the dataset.
    #[must_use]
    pub fn file_columns<I: Into<String>>(mut self, columns: impl IntoIterator<Item = I>) -> Self {
        self.columns.files = Some(owned(columns));
        self
    }

    /// Keeps only these columns as metadata.
    #[must_use]
    pub fn metadata_columns<I: Into<String>>(
        mut self,
        columns: impl IntoIterator<Item = I>,
    ) -> Self {
        self.columns.metadata = Some(owned(columns));
        self
    }

    /// Builds the prompt out of several columns: `"Passage: {passage}\n\nQuestion: {question}"`. `{{` and `}}`
    /// are braces.
    ///
    /// # Errors
    /// When a brace is not closed, or no column is named.
    pub fn template(mut self, template: &str) -> Result<Self> {
        self.template = Some(Template::parse(template)?);
        Ok(self)
    }

    /// What stands between several right answers in one text: `"|"`. Without it a text is one answer.
    #[must_use]
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into()).filter(|separator| !separator.is_empty());
        self
    }

    /// The columns whose values are slices. The first is part of a test's name.
    #[must_use]
    pub fn slices<I: Into<String>>(mut self, columns: impl IntoIterator<Item = I>) -> Self {
        self.slices = Some(owned(columns));
        self
    }

    /// Metadata that an agent may see.
    #[must_use]
    pub fn visible<I: Into<String>>(mut self, columns: impl IntoIterator<Item = I>) -> Self {
        self.visible = owned(columns);
        self
    }

    /// Only the samples of these ids.
    #[must_use]
    pub fn ids<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.filter.ids = Some(owned(ids));
        self
    }

    /// Hands on the samples one by one; gives what there is to remark.
    fn each(&self, take: &mut TakePlaced<'_>) -> Result<Vec<String>> {
        let table = Table::read(&self.path)?;
        let layout = QaLayout::find(&table.header(), self)?;
        let path = self.path.display();
        let mut notices = Vec::new();
        if layout.ground_truth.is_none() {
            notices.push(format!(
                "`{path}`: there is no column of ground truths, so a scorer that needs one scores no sample: looked for {}; found {}",
                quoted(GROUND_TRUTH),
                quoted(table.header().columns)
            ));
        }
        if layout.is_without_ids() {
            notices.push(format!(
                "`{path}`: samples are called by the number of their row, for there is no column `id`: a row that is put in \
                 renames all behind it, and a baseline does not know them any more"
            ));
        }
        let folder = folder_of(&self.path);
        let (mut all, mut hidden) = (0, 0);
        let has_truths = layout.ground_truth.is_some();
        let make = move |fields, index| layout.sample(fields, index, &folder);
        let see = |sample: &Sample| {
            all += 1;
            hidden += usize::from(sample.target.is_none());
        };
        table.each_filtered(&self.filter, make, see, take)?;
        if has_truths && hidden > 0 {
            notices.push(format!("`{path}`: {hidden} of {all} samples {NO_TRUTH}"));
        }
        Ok(notices)
    }
}

/// The folder that the paths of attachments start from.
fn folder_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new(".")).to_owned()
}

impl Benchmark for Qa {
    fn name(&self) -> &'static str {
        "qa"
    }

    fn fetch(&self, samples: &[Sample]) -> Result<()> {
        hub::fetch_attachments(self.hub.as_ref(), samples)
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.each_placed(&mut |sample, _| take(sample))
    }

    fn each_placed(&self, take: &mut TakePlaced<'_>) -> Result<()> {
        let notices = self.each(take)?;
        // Loading again finds the same.
        let _ = self.notices.set(notices);
        Ok(())
    }

    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        let whole = Self {
            filter: Filter::default(),
            ..self.clone()
        };
        whole.each(&mut |sample, _| take(sample)).map(drop)
    }

    /// What follows `FINAL ANSWER:`; the whole answer of an agent that does not say so.
    fn extract(&self) -> Extract {
        Extract::final_answer()
    }

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        Some(Box::new(QaScorer))
    }

    fn has_metrics(&self) -> bool {
        false
    }

    fn notices(&self) -> Vec<String> {
        if let Some(notices) = self.notices.get() {
            return notices.clone();
        }
        // Whoever asks for the samples gets the error.
        self.each(&mut |_, _| Ok(())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
