//! `qa`: questions and answers in any `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file.
//!
//! [`Qa`] defines the roles of columns; `layout` finds the columns in a file and converts rows to samples.

mod answers;
mod layout;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::benchmark::rows::{
    RowBenchmark, RowSource, RowTable, Rules, selects_ids, without_truths,
};
use crate::data::dataset::Written;
use crate::error::Result;
use crate::scorer::extract::Extract;
use crate::scorer::string::qa::QaScorer;

use layout::{GROUND_TRUTH, QaLayout, Template};

/// Questions and answers in a file of rows.
///
/// | role | columns, the first that is there | becomes |
/// |---|---|---|
/// | `prompt` | `prompt`, `question`, `input` (also capitalised) | [`Sample::prompt`](crate::Sample::prompt); must be there and not blank, unless there is a template |
/// | `ground_truth` | `ground_truth`, `answer`, `answers`, `target`, `targets`, `label` | [`Sample::target`](crate::Sample::target): a text, or an array of several that are all right; null or blank is a hidden answer; calls of tools, `[{"name": …, "arguments": {…}}]`, are kept as they are for `ast_match` and `trajectory` |
/// | `id` | `id`, `task_id`, `sample_id`, `_id` | [`Sample::id`](crate::Sample::id); without the column, the row's index from 0 |
/// | `files` | `file_name`, `files` | [`Sample::files`](crate::Sample::files), found in the folder of the file |
/// | `slices` | `level`, `Level` | [`Sample::slices`](crate::Sample::slices), and metadata |
///
/// All other columns are in [`Sample::metadata`](crate::Sample::metadata); agents only see those in [`Qa::visible`].
/// Numbers and bools become texts in JSON syntax: `17`, `true`.
///
/// A column name may refer to a nested value: `answers.text` is the member `text` of the column `answers`, and so is
/// the JSON pointer `/answers/text`. For an array the name is looked up in each element, so that several right answers
/// are found in both `{"text": ["a", "b"]}` and `[{"text": "a"}, {"text": "b"}]`.
///
/// The default scorer is [`qa`](crate::scorer::QaScorer): it compares numbers as numbers, and other texts by their
/// words.
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
    rows: RowSource,
    pub(crate) columns: QaColumns,
    template: Option<Template>,
    separator: Option<String>,
    slices: Option<Vec<String>>,
    visible: Vec<String>,
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
    /// Opens a file of questions, which must exist, or one on the Hub: `hf://datasets/ORG/NAME/FILE.jsonl`.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self {
            rows: RowSource::open(&path.into())?,
            columns: QaColumns::default(),
            template: None,
            separator: None,
            slices: None,
            visible: Vec::new(),
        })
    }

    /// Sets the column of the question.
    #[must_use]
    pub fn prompt_column(mut self, column: impl Into<String>) -> Self {
        self.columns.prompt = Some(column.into());
        self
    }

    /// Sets the column of the right answer or answers.
    #[must_use]
    pub fn ground_truth_column(mut self, column: impl Into<String>) -> Self {
        self.columns.ground_truth = Some(column.into());
        self
    }

    /// Sets the column of the id.
    #[must_use]
    pub fn id_column(mut self, column: impl Into<String>) -> Self {
        self.columns.id = Some(column.into());
        self
    }

    /// Sets the columns of attached files: a path, or an array of paths, relative to the dataset's folder.
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

    /// Builds the prompt from several columns: `"Passage: {passage}\n\nQuestion: {question}"`. `{{` and `}}` are
    /// literal braces.
    ///
    /// # Errors
    /// If a brace is not closed, or no column is named.
    pub fn template(mut self, template: &str) -> Result<Self> {
        self.template = Some(Template::parse(template)?);
        Ok(self)
    }

    /// The separator of several right answers in one text: `"|"`. Without it a text is one answer.
    #[must_use]
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into()).filter(|separator| !separator.is_empty());
        self
    }

    /// Sets the columns whose values are slices. The first is part of the test name.
    #[must_use]
    pub fn slices<I: Into<String>>(mut self, columns: impl IntoIterator<Item = I>) -> Self {
        self.slices = Some(owned(columns));
        self
    }

    /// Sets the metadata visible to agents.
    #[must_use]
    pub fn visible<I: Into<String>>(mut self, columns: impl IntoIterator<Item = I>) -> Self {
        self.visible = owned(columns);
        self
    }

    selects_ids!();
}

/// Base folder of attachment paths.
fn folder_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new(".")).to_owned()
}

impl RowBenchmark for Qa {
    const RULES: Rules = Rules {
        name: "qa",
        // The text after `FINAL ANSWER:`, or the whole answer if that is missing.
        extract: Extract::final_answer,
        scorer: || Box::new(QaScorer),
        official_prompt: None,
        default_prompt: None,
        is_gated: false,
        has_items: false,
    };

    const HAS_ONLY_ROWS: bool = true;

    fn source(&self) -> &RowSource {
        &self.rows
    }

    fn read(&self, source: &RowSource) -> Result<RowTable> {
        let table = source.table()?;
        let header = table.header();
        let layout = QaLayout::find(&header, self)?;
        let has_truths = layout.ground_truth.is_some();
        let mut notices = Vec::new();
        if !has_truths {
            notices.push(without_truths(&header, GROUND_TRUTH));
        }
        if layout.is_without_ids() {
            notices.push(format!(
                "`{}`: there is no column `id`, so samples are named by their number, from 0: a new row renames all \
                 rows after it, and a baseline no longer matches them",
                source.path.display()
            ));
        }
        let folder = folder_of(&source.path);
        let table = match &layout.ground_truth {
            Some(field) => table.written(field, Written::Always),
            None => table,
        };
        let layout = Arc::new(layout);
        let key = layout.key();
        let sample = move |fields, index| layout.sample(fields, index, &folder);
        Ok(RowTable {
            key,
            has_truths,
            notices,
            ..RowTable::new(table, sample)
        })
    }
}

#[cfg(test)]
mod tests;
