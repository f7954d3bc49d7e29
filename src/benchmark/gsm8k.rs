//! GSM8K: grade-school word problems with worked solutions.

use std::path::PathBuf;

use crate::benchmark::rows::{
    ProblemRow, Roles, RowBenchmark, RowSource, RowTable, Rules, Usual, names_columns, selects_ids,
};
use crate::data::Sample;
use crate::data::dataset::Columns;
use crate::error::Result;
use crate::scorer::extract::Extract;
use crate::scorer::extract::gsm8k::without_annotations;
use crate::scorer::number::gsm8k::{Gsm8kScorer, ground_truth};

const USUAL: Usual = Usual {
    prompt: &["question", "prompt", "problem"],
    ground_truth: &["answer", "ground_truth", "solution"],
    id: &["id", "task_id"],
};
/// Metadata key of the worked solution.
const SOLUTION: &str = "solution";

const INSTRUCTIONS: &str = "Solve the problem below step by step. Then end with a line that holds \
nothing but `####` and the result as a plain number, without a unit, like this:\n#### 42";

/// The GSM8K questions, or any word problems whose answer is a number.
///
/// The path is a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file, such as the published `test.jsonl`, or the
/// Hub's parquet file.
///
/// | role | columns, the first that is there | becomes |
/// |---|---|---|
/// | `prompt` | `question`, `prompt`, `problem` | [`Sample::prompt`] |
/// | `ground_truth` | `answer`, `ground_truth`, `solution` | a worked solution that ends in `#### 18` or `A: 18`, or a number. The number is [`Sample::target`]; the solution, without calculator annotations, is metadata `solution` that agents do not see |
/// | `id` | `id`, `task_id` | [`Sample::id`]; without the column, the row's index from 0 |
///
/// The scorer is [`gsm8k`](crate::scorer::Gsm8kScorer). There is no official prompt; by default agents are asked to
/// end with `#### 42`.
///
/// ```no_run
/// # fn main() -> evaltest::Result<()> {
/// let gsm8k = evaltest::Gsm8k::open("data/test.jsonl")?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Gsm8k {
    rows: RowSource,
    columns: Columns,
}

impl Gsm8k {
    /// Opens a file of questions, which must exist.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self {
            rows: RowSource::open(&path.into())?,
            columns: Columns::default(),
        })
    }

    names_columns!();

    selects_ids!();
}

impl RowBenchmark for Gsm8k {
    const RULES: Rules = Rules {
        name: "gsm8k",
        extract: Extract::gsm8k,
        scorer: || Box::new(Gsm8kScorer),
        official_prompt: None,
        default_prompt: Some(INSTRUCTIONS),
        is_gated: false,
        has_items: false,
    };

    const HAS_ONLY_ROWS: bool = true;

    fn source(&self) -> &RowSource {
        &self.rows
    }

    fn read(&self, source: &RowSource) -> Result<RowTable> {
        let table = source.table()?;
        let roles = Roles::find(&table.header(), &self.columns, &USUAL)?;
        let table = roles.written(table);
        Ok(RowTable::new(table, move |mut fields, index| {
            let ProblemRow { id, prompt, truth } = roles.take(&mut fields, index)?;
            let number = roles.truth(&truth, ground_truth)?;
            if number != truth {
                let solution = without_annotations(&truth);
                fields.entry(SOLUTION).or_insert(solution.into());
            }
            let sample = Sample::new(id, prompt).target(number);
            Ok(Sample {
                metadata: fields,
                ..sample
            })
        }))
    }
}

#[cfg(test)]
mod tests;
