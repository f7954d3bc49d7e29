//! GSM8K: grade-school word problems with worked solutions.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::benchmark::problems::{ProblemRow, Roles, Usual};
use crate::benchmark::{Benchmark, collected};
use crate::data::dataset::{Columns, Filter, Table, TakePlaced, check_file};
use crate::data::{Sample, Target, hub};
use crate::error::Result;
use crate::scorer::Scorer;
use crate::scorer::extract::Extract;
use crate::scorer::extract::gsm8k::without_annotations;
use crate::scorer::gsm8k::ground_truth;

const USUAL: Usual = Usual {
    prompt: &["question", "prompt", "problem"],
    ground_truth: &["answer", "ground_truth", "solution"],
    id: &["id", "task_id"],
};
/// Where the worked solution is kept.
const SOLUTION: &str = "solution";

const INSTRUCTIONS: &str = "Solve the problem below step by step. Then end with a line that holds \
nothing but `####` and the result as a plain number, without a unit, like this:\n#### 42";

/// The GSM8K questions, or any word problems whose answer is a number.
///
/// The path is a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file, as it is published: `test.jsonl`, or the hub's parquet.
///
/// | role | columns, the first that is there | becomes |
/// |---|---|---|
/// | `prompt` | `question`, `prompt`, `problem` | [`Sample::prompt`] |
/// | `ground_truth` | `answer`, `ground_truth`, `solution` | a worked solution that ends in `#### 18` or `A: 18`, or a number. The number is [`Sample::target`]; the solution, without calculator annotations, is metadata `solution` that agents do not see |
/// | `id` | `id`, `task_id` | [`Sample::id`]; without the column, the row's index from 0 |
///
/// The scorer is [`gsm8k`](crate::scorer::Gsm8kScorer). There is no official prompt: unless the eval says otherwise,
/// agents are asked to end with `#### 42`.
///
/// ```no_run
/// # fn main() -> evaltest::Result<()> {
/// let gsm8k = evaltest::Gsm8k::open("data/test.jsonl")?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Gsm8k {
    path: PathBuf,
    columns: Columns,
    filter: Filter,
}

impl Gsm8k {
    /// The questions of a file, which must be there.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = hub::file(path.into())?;
        check_file(&path)?;
        Ok(Self {
            path,
            columns: Columns::default(),
            filter: Filter::default(),
        })
    }

    /// Names of the columns of prompt, ground truth and id, where they are not the usual ones.
    #[must_use]
    pub fn columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// Only the samples of these ids.
    #[must_use]
    pub fn ids<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.filter.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }
}

impl Benchmark for Gsm8k {
    fn name(&self) -> &'static str {
        "gsm8k"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.each_placed(&mut |sample, _| take(sample))
    }

    fn each_placed(&self, take: &mut TakePlaced<'_>) -> Result<()> {
        let table = Table::read(&self.path)?;
        let roles = Roles::find(&table.header(), &self.columns, &USUAL)?;
        let make = move |mut fields: Map<String, Value>, index| {
            let ProblemRow {
                id,
                prompt,
                truth: solution,
            } = roles.take(&mut fields, index)?;
            let number = ground_truth(&Target::from(solution.as_str()));
            let number = number.map_err(|error| roles.of_truth(error))?;
            if number != solution {
                let solution = without_annotations(&solution);
                fields.entry(SOLUTION).or_insert(solution.into());
            }
            let sample = Sample::new(id, prompt).target(number);
            Ok(Sample {
                metadata: fields,
                ..sample
            })
        };
        table.each_filtered(&self.filter, make, |_| {}, take)
    }

    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        let whole = Self {
            filter: Filter::default(),
            ..self.clone()
        };
        whole.each_sample(take)
    }

    fn extract(&self) -> Extract {
        Extract::gsm8k()
    }

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn has_metrics(&self) -> bool {
        false
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        Some(Box::new(crate::scorer::gsm8k::Gsm8kScorer))
    }

    fn default_prompt(&self) -> Option<&str> {
        Some(INSTRUCTIONS)
    }
}

#[cfg(test)]
mod tests;
