//! `items`: data that was generated or collected, each item a problem with its answer and how it is found.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::benchmark::{Benchmark, NO_TRUTH, collected};
use crate::data::dataset::{
    Field, Filter, Header, Table, TakePlaced, check_file, required, scalar, slice_value,
};
use crate::data::item_part::SOLUTION;
use crate::data::{Sample, hub};
use crate::error::Result;
use crate::scorer::Scorer;
use crate::scorer::extract::Extract;
use crate::scorer::qa::QaScorer;

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
/// The columns that have a topic.
pub(super) const TOPIC: [&str; 4] = ["topic", "category", "Topic", "Category"];

/// Items of data: problems with answers and solutions, as they were generated or collected.
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
/// Every other column is kept as metadata that agents do not see. Agents are asked the problem; with the agent `none` the
/// item is what is looked at. The scorer is [`qa`](crate::scorer::QaScorer).
#[derive(Clone, Debug)]
pub(crate) struct Items {
    path: PathBuf,
    columns: ItemColumns,
    filter: Filter,
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
    /// The items of a file, which must be there.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = hub::file(path.into())?;
        check_file(&path)?;
        Ok(Self {
            path,
            columns: ItemColumns::default(),
            filter: Filter::default(),
        })
    }

    /// Only the items of these ids.
    #[must_use]
    pub(crate) fn ids<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.filter.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Names of columns, where they are not the usual ones.
    pub(crate) fn columns(self, columns: ItemColumns) -> Self {
        Self { columns, ..self }
    }
}

/// Which column has which role in one file.
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
                // It stays where it is found.
                None => None,
            },
            topic: header.find_field("topic", named.topic.as_deref(), &TOPIC)?,
            id: header.find_field("id", named.id.as_deref(), &ID)?,
        })
    }

    /// The sample of a row. Errors do not say which row it is.
    fn sample(&self, mut fields: Map<String, Value>, index: usize) -> Result<Sample> {
        let topic = topic(self.topic.as_ref(), &fields)?;
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

/// The topic of a row, as the value of a slice.
pub(super) fn topic(field: Option<&Field>, fields: &Map<String, Value>) -> Result<Option<String>> {
    let Some(field) = field else {
        return Ok(None);
    };
    Ok(slice_value(scalar(
        field.name(),
        field.get(fields).as_deref(),
    )?))
}

impl Benchmark for Items {
    fn name(&self) -> &'static str {
        "items"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.each_placed(&mut |sample, _| take(sample))
    }

    fn each_placed(&self, take: &mut TakePlaced<'_>) -> Result<()> {
        let table = Table::read(&self.path)?;
        let layout = ItemLayout::find(&table.header(), &self.columns)?;
        let make = move |fields, index| layout.sample(fields, index);
        table.each_filtered(&self.filter, make, |_| {}, take)
    }

    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        let whole = Self {
            filter: Filter::default(),
            ..self.clone()
        };
        whole.each_sample(take)
    }

    fn has_items(&self) -> bool {
        true
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
        let Ok(table) = Table::read(&self.path) else {
            // Whoever asks for the samples gets the error.
            return Vec::new();
        };
        match ItemLayout::find(&table.header(), &self.columns) {
            Ok(layout) if layout.answer.is_none() => {
                vec![format!("`{}`: the items {NO_TRUTH}", self.path.display())]
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
