//! `items`: generated or collected problems with answers and solutions.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::benchmark::NO_TRUTH;
use crate::benchmark::rows::{RowBenchmark, RowSource, RowTable, Rules, slice_of};
use crate::data::SOLUTION;
use crate::data::Sample;
use crate::data::dataset::{Field, Header, Written, required};
use crate::error::Result;
use crate::scorer::extract::Extract;
use crate::scorer::string::qa::QaScorer;

const ID: [&str; 5] = ["id", "ID", "problem_id", "task_id", "item_id"];
const PROBLEM: [&str; 6] = [
    "problem", "question", "prompt", "Problem", "Question", "Prompt",
];
const ANSWER: [&str; 5] = [
    "answer",
    "Answer",
    "ground_truth",
    "expected_answer",
    "target",
];
/// Usual columns of the topic.
pub(super) const TOPIC: [&str; 4] = ["topic", "category", "Topic", "Category"];

/// Items of data: generated or collected problems with answers and solutions.
///
/// The path is a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file.
///
/// | role | columns, the first that is there | becomes |
/// |---|---|---|
/// | `problem` | `problem`, `question`, `prompt` (also capitalised) | [`Sample::prompt`] |
/// | `answer` | `answer`, `ground_truth`, `expected_answer`, `target` | [`Sample::target`]; where the column is there, every item must have one |
/// | `solution` | `solution`, `reasoning` (also capitalised) | metadata that agents do not see |
/// | `topic` | `topic`, `category` (also capitalised) | slice `topic` |
/// | `id` | `id`, `problem_id`, `task_id`, `item_id` | [`Sample::id`]; without the column, the row's index from 0 |
///
/// All other columns become metadata hidden from agents. Agents get the problem; with the agent `none` the item itself
/// is evaluated. The scorer is [`qa`](crate::scorer::QaScorer).
#[derive(Clone, Debug)]
pub(crate) struct Items {
    rows: RowSource,
    columns: ItemColumns,
}

/// Columns that were named, by role.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemColumns {
    pub(crate) problem: Option<String>,
    pub(crate) answer: Option<String>,
    pub(crate) solution: Option<String>,
    pub(crate) topic: Option<String>,
    pub(crate) id: Option<String>,
}

impl Items {
    /// Opens a file of items, which must exist.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self {
            rows: RowSource::open(&path.into())?,
            columns: ItemColumns::default(),
        })
    }

    /// Selects the items with these ids.
    #[must_use]
    pub(crate) fn ids<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.rows.only(ids);
        self
    }

    /// Column names, if they are not the usual ones.
    pub(crate) fn columns(self, columns: ItemColumns) -> Self {
        Self { columns, ..self }
    }
}

/// The columns of one file by role.
struct ItemLayout {
    problem: Field,
    answer: Option<Field>,
    solution: Option<Field>,
    topic: Option<Field>,
    id: Option<Field>,
}

impl ItemLayout {
    fn find(header: &Header<'_>, named: &ItemColumns) -> Result<Self> {
        Ok(Self {
            problem: header.require_field("problem", named.problem.as_deref(), &PROBLEM)?,
            answer: header.find_field("answer", named.answer.as_deref(), &ANSWER)?,
            solution: match named.solution.as_deref() {
                Some(named) => header.find_field("solution", Some(named), &SOLUTION)?,
                // It keeps its position.
                None => None,
            },
            topic: header.find_field("topic", named.topic.as_deref(), &TOPIC)?,
            id: header.find_field("id", named.id.as_deref(), &ID)?,
        })
    }

    /// The sample of a row. Errors do not include the row number.
    fn sample(&self, mut fields: Map<String, Value>, index: usize) -> Result<Sample> {
        let topic = slice_of(self.topic.as_ref(), &fields)?;
        let solution = match &self.solution {
            Some(field) => field.take(&mut fields)?,
            None => None,
        };
        let mut read = |field: &Field, role| required(field.name(), role, field.take(&mut fields)?);
        let problem = read(&self.problem, "problem")?;
        let id = match &self.id {
            Some(field) => read(field, "id")?,
            None => index.to_string(),
        };
        let answer = self.answer.as_ref();
        let answer = answer.map(|field| read(field, "answer")).transpose()?;
        if let Some(solution) = solution {
            fields.insert(SOLUTION[0].to_owned(), solution.into());
        }
        let mut sample = Sample::new(id, problem);
        if let Some(answer) = answer {
            sample = sample.target(answer);
        }
        if let Some(topic) = topic {
            sample = sample.slice(TOPIC[0], topic);
        }
        Ok(Sample {
            metadata: fields,
            ..sample
        })
    }
}

impl RowBenchmark for Items {
    const RULES: Rules = Rules {
        name: "items",
        // The text after `FINAL ANSWER:`, or the whole answer if that is missing.
        extract: Extract::final_answer,
        scorer: || Box::new(QaScorer),
        official_prompt: None,
        default_prompt: None,
        is_gated: false,
        has_items: true,
    };

    const HAS_ONLY_ROWS: bool = true;

    fn source(&self) -> &RowSource {
        &self.rows
    }

    fn read(&self, source: &RowSource) -> Result<RowTable> {
        let table = source.table()?;
        let layout = ItemLayout::find(&table.header(), &self.columns)?;
        let has_truths = layout.answer.is_some();
        let notice =
            (!has_truths).then(|| format!("`{}`: the items {NO_TRUTH}", source.path.display()));
        let table = match &layout.answer {
            Some(field) => table.written(field, Written::Always),
            None => table,
        };
        Ok(RowTable {
            has_truths,
            notices: notice.into_iter().collect(),
            ..RowTable::new(table, move |fields, index| layout.sample(fields, index))
        })
    }
}

#[cfg(test)]
mod tests;
