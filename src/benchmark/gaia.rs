//! GAIA: questions for a general assistant, in the layout of the published benchmark.
//!
//! [`Gaia::open`] takes the folder or one file of it; `folder` finds the metadata of a split; each row becomes a
//! sample. Attachments are only located here: a missing one is an error of its sample only.

mod folder;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::benchmark::rows::{
    AbsentSlices, RowBenchmark, RowSource, RowTable, Rules, names_columns, selects_ids,
    without_truths,
};
use crate::data::dataset::{
    Columns, Field, Header, RowKey, WRONG_PATH, Written, required, scalar, slice_value,
};
use crate::data::hub::{Address, Dataset};
use crate::data::{Attachment, Sample, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;
use crate::scorer::gaia::GaiaScorer;
use crate::system::file::is_inside;
use crate::text::quoted;

use folder::{KnownFiles, MetadataFile};

const PROMPT: [&str; 2] = ["question", "Question"];
pub(super) const GROUND_TRUTH: [&str; 3] = ["final_answer", "Final answer", "answer"];
const ID: [&str; 2] = ["task_id", "id"];
const LEVEL: [&str; 2] = ["level", "Level"];

/// The published GAIA dataset. It is gated: users must accept its terms on its page.
pub(crate) const HUB: &str = "hf://datasets/gaia-benchmark/GAIA";

/// The system prompt of the benchmark's protocol, word for word: GAIA, a benchmark for General AI
/// Assistants (arXiv 2311.12983); also on the leaderboard's page
/// (huggingface.co/spaces/gaia-benchmark/leaderboard).
const OFFICIAL_PROMPT: &str = "\
You are a general AI assistant. I will ask you a question. Report your thoughts, and finish your answer \
with the following template: FINAL ANSWER: [YOUR FINAL ANSWER]. \
YOUR FINAL ANSWER should be a number OR as few words as possible OR a comma separated list of numbers \
and/or strings. \
If you are asked for a number, don't use comma to write your number neither use units such as $ or \
percent sign unless specified otherwise. \
If you are asked for a string, don't use articles, neither abbreviations (e.g. for cities), and write \
the digits in plain text unless specified otherwise. \
If you are asked for a comma separated list, apply the above rules depending of whether the element to \
be put in the list is a number or a string.";

/// The GAIA benchmark, or any dataset in its layout.
///
/// The path is a Hugging Face Hub address such as `hf://datasets/gaia-benchmark/GAIA` (feature `http`), the folder of
/// the dataset (`2023/<split>/metadata.parquet` or `metadata.jsonl`, with attachments next to it), a folder of splits,
/// a folder with the metadata, or one `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file with the attachments next
/// to it.
///
/// | role | columns, the first that is there | becomes |
/// |---|---|---|
/// | `prompt` | `question`, `Question` | [`Sample::prompt`]; must be there and not blank |
/// | `ground_truth` | `final_answer`, `Final answer`, `answer` | [`Sample::target`]; null, blank or `?` is a hidden answer |
/// | `id` | `task_id`, `id` | [`Sample::id`]; without the column, the row's index from 0 |
/// | `level` | `level`, `Level` | slice `level`, and metadata |
/// | `file_name`, `file_path` | of these names | [`Sample::files`], and metadata |
///
/// All other columns, including nested ones, are in [`Sample::metadata`]. Agents only see the level and the file name.
/// Numbers and bools in the first four roles become texts in JSON syntax: `17`, `true`.
///
/// ```no_run
/// # fn main() -> evaltest::Result<()> {
/// let gaia = evaltest::Gaia::open("data/gaia")?.split("validation").levels([1, 2]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Gaia {
    rows: RowSource,
    split: Option<String>,
    columns: Columns,
}

impl Gaia {
    /// Opens a dataset in a folder or file, which must exist, or on the Hub.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if let Some(address) = Address::of(&path) {
            let dataset = Dataset::open(&address?)?;
            return Ok(Self::of(dataset.root(), Some(dataset)));
        }
        fs::metadata(&path).map_err(|error| {
            let error = Error::io("open", &path, &error);
            if path.extension().is_some() {
                return error.hint(WRONG_PATH);
            }
            error.hint(format!("GAIA itself is fetched with `path: {HUB}`"))
        })?;
        Ok(Self::of(path, None))
    }

    fn of(path: PathBuf, hub: Option<Dataset>) -> Self {
        Self {
            rows: RowSource::of(path, hub),
            split: None,
            columns: Columns::default(),
        }
    }

    /// The split to read; `validation` by default.
    #[must_use]
    pub fn split(mut self, split: impl Into<String>) -> Self {
        self.split = Some(split.into());
        self
    }

    /// Only samples of these levels, compared as text: `[1, 2]`, `["easy"]`. No level at all means every
    /// level.
    #[must_use]
    pub fn levels<L: ToString>(mut self, levels: impl IntoIterator<Item = L>) -> Self {
        let levels = levels.into_iter().map(|level| level.to_string());
        self.rows.slices = (LEVEL[0], levels.collect());
        self
    }

    names_columns!();

    selects_ids!();

    /// The metadata of the split in a source.
    fn metadata(&self, source: &RowSource) -> Result<MetadataFile> {
        let files = KnownFiles(source.hub.clone());
        folder::locate(&source.path, self.split.as_deref(), &files)
    }
}

impl RowBenchmark for Gaia {
    /// GAIA asks not to publish its answers, hence `is_gated`.
    const RULES: Rules = Rules {
        name: "gaia",
        extract: Extract::final_answer,
        scorer: || Box::new(GaiaScorer),
        official_prompt: Some(OFFICIAL_PROMPT),
        default_prompt: Some(OFFICIAL_PROMPT),
        is_gated: true,
        has_items: false,
    };

    const HAS_ONLY_ROWS: bool = true;

    fn source(&self) -> &RowSource {
        &self.rows
    }

    fn read(&self, source: &RowSource) -> Result<RowTable> {
        let found = self.metadata(source)?;
        let table = source.table_of(&found.metadata)?;
        let header = table.header();
        let layout = GaiaLayout::find(&header, &self.columns)?;
        let has_truths = layout.ground_truth.is_some();
        let mut notices = found.notices.clone();
        if !has_truths {
            notices.push(without_truths(&header, GROUND_TRUTH));
        }
        if !source.slices.1.is_empty() && layout.level.is_none() {
            return Err(Error::usage(format!(
                "`{}`: `levels` is set, but there is no column `level` or `Level`",
                found.metadata.display()
            ))
            .hint("remove `levels`, or name the column: `columns: { level: NAME }`"));
        }
        let table = match &layout.ground_truth {
            Some(column) => table.written(&Field::whole(column), Written::Always),
            None => table,
        };
        let layout = Arc::new(layout);
        let key = layout.key();
        let sample = move |fields, index| layout.sample(fields, index, &found);
        Ok(RowTable {
            key: Some(key),
            has_truths,
            notices,
            ..RowTable::new(table, sample)
        })
    }

    /// Returns an error for levels without samples, or notes if only some are missing.
    fn without_slices(&self, absent: &AbsentSlices<'_>) -> Result<Vec<String>> {
        let path = absent.path.display();
        let found = quoted(absent.found.iter().map(String::as_str));
        if absent.missing.len() == absent.wanted.len() {
            let wanted = quoted(absent.wanted.iter().map(String::as_str));
            return Err(Error::usage(format!(
                "`{path}`: no sample of level {wanted}; found {found}"
            ))
            .hint("name existing levels: `levels: [1, 2]`"));
        }
        let remark = |level| format!("`{path}`: no sample of level `{level}`; found {found}");
        Ok(absent.missing.iter().map(remark).collect())
    }

    fn holders(&self) -> Vec<PathBuf> {
        folder::holders(&self.rows.path)
    }

    fn row_paths(&self) -> Vec<PathBuf> {
        let source = self.metadata(&self.rows);
        source.map(|source| source.metadata).into_iter().collect()
    }
}

/// The columns of one file by role.
#[derive(Debug)]
struct GaiaLayout {
    prompt: String,
    ground_truth: Option<String>,
    id: Option<String>,
    level: Option<String>,
    file_name: Option<String>,
    file_path: Option<String>,
}

impl GaiaLayout {
    fn find(header: &Header<'_>, given: &Columns) -> Result<Self> {
        let find = |role: &str, given: &Option<String>, known: &[&str]| {
            header.find_column(role, given.as_deref(), known)
        };
        Ok(Self {
            prompt: header.require_column("prompt", given.prompt.as_deref(), &PROMPT)?,
            ground_truth: find("ground_truth", &given.ground_truth, &GROUND_TRUTH)?,
            id: find("id", &given.id, &ID)?,
            level: find("level", &given.level, &LEVEL)?,
            file_name: find("file_name", &given.file_name, &["file_name"])?,
            file_path: find("file_path", &given.file_path, &["file_path"])?,
        })
    }

    /// The columns of question, ground truth and id.
    fn roles(&self) -> impl Iterator<Item = &String> {
        let others = self.ground_truth.iter().chain(&self.id);
        std::iter::once(&self.prompt).chain(others)
    }

    fn id(&self, fields: &Map<String, Value>, index: usize) -> Result<String> {
        match &self.id {
            Some(column) => required(column, "id", scalar(column, fields.get(column))?),
            None => Ok(index.to_string()),
        }
    }

    /// The id and the level.
    fn key(self: &Arc<Self>) -> RowKey {
        let layout = Arc::clone(self);
        let level = self.level.clone();
        let level = level.filter(|level| !self.roles().any(|role| role == level));
        RowKey {
            columns: self.id.iter().chain(&level).cloned().collect(),
            make: Box::new(move |fields, index| {
                let level = level.as_ref();
                let level = level.map(|level| scalar(level, fields.get(level)));
                Ok(Sample {
                    id: layout.id(&fields, index)?,
                    slices: level_slice(level.transpose()?.flatten()),
                    ..Sample::default()
                })
            }),
        }
    }

    /// The sample of one row. Errors do not include the row number.
    fn sample(
        &self,
        mut fields: Map<String, Value>,
        index: usize,
        source: &MetadataFile,
    ) -> Result<Sample> {
        // A column may have two roles, such as question and id; but the answer must not be visible to agents.
        if let Some(truth) = &self.ground_truth
            && (*truth == self.prompt || self.id.as_ref() == Some(truth))
        {
            return Err(Error::usage(format!(
                "column `{truth}` is the ground truth, but is also shown to the agent"
            ))
            .hint("name another column in `columns`"));
        }
        let read = |column: &str| scalar(column, fields.get(column));
        let prompt = required(&self.prompt, "prompt", read(&self.prompt)?)?;
        let target = match &self.ground_truth {
            Some(column) => read(column)?.filter(|truth| !is_hidden(truth)),
            None => None,
        };
        let id = self.id(&fields, index)?;
        // Columns with a role are not metadata; in particular not the ground truth.
        for column in self.roles() {
            // `Map::remove` would move the last column into the removed one's position.
            fields.shift_remove(column);
        }
        let get = |column: &Option<String>| match column {
            Some(column) => scalar(column, fields.get(column)),
            None => Ok(None),
        };
        let slices = level_slice(get(&self.level)?);
        let file = attachment(get(&self.file_name)?, get(&self.file_path)?, source);
        let visible = [&self.level, &self.file_name];
        Ok(Sample {
            id,
            prompt,
            target: target.map(Target::from),
            slices,
            files: file.into_iter().collect(),
            visible: visible.into_iter().flatten().cloned().collect(),
            metadata: fields,
            tools: Vec::new(),
        })
    }
}

/// The slice of a level.
fn level_slice(level: Option<String>) -> Vec<(String, String)> {
    let level = slice_value(level).map(|level| (LEVEL[0].to_owned(), level));
    level.into_iter().collect()
}

/// The published test split has `?` for every answer. CSV represents null as blank.
fn is_hidden(truth: &str) -> bool {
    matches!(truth.trim(), "" | "?")
}

/// The file of a row. Only its path is determined; the file is not opened.
///
/// `file_path` is relative to the dataset's folder. If it does not exist, as in a split copied out of its folder,
/// `file_name` next to the metadata is used. A forbidden path is kept, so that using it is an error.
fn attachment(
    name: Option<String>,
    path: Option<String>,
    source: &MetadataFile,
) -> Option<Attachment> {
    let name = name.filter(|name| !name.trim().is_empty());
    let path = path.filter(|path| !path.trim().is_empty());
    let metadata_dir = |name: &str| source.metadata_dir.join(name);
    let place: PathBuf = match (&name, &path) {
        (None, None) => return None,
        (Some(name), None) => metadata_dir(name),
        (None, Some(path)) => path.into(),
        (Some(name), Some(path)) => {
            if is_inside(Path::new(path)) && !source.has(Path::new(path)) {
                metadata_dir(name)
            } else {
                path.into()
            }
        }
    };
    let last = |path: &str| {
        path.rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    Some(Attachment {
        name: last(name.as_deref().or(path.as_deref()).unwrap_or_default()),
        path: place,
        root: source.root.clone(),
    })
}

#[cfg(test)]
mod tests;
