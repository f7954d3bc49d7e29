//! AIME: the American Invitational Mathematics Examination, whose answers are integers from 0 to 999.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::benchmark::items::TOPIC;
use crate::benchmark::rows::{
    AbsentSlices, ProblemRow, Roles, RowBenchmark, RowSource, RowTable, Rules, Usual,
    names_columns, selects_ids, slice_of,
};
use crate::data::Sample;
use crate::data::dataset::{Columns, scalar};
use crate::data::hub::Snapshot;
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;
use crate::scorer::number::aime::{AimeScorer, ground_truth};
use crate::text::quoted;

const USUAL: Usual = Usual {
    prompt: &[
        "problem",
        "question",
        "prompt",
        "Problem",
        "ProblemRow",
        "Question",
    ],
    ground_truth: &["answer", "Answer", "ground_truth", "expected_answer"],
    id: &["id", "ID", "task_id", "problem_id"],
};
const YEAR: [&str; 2] = ["year", "Year"];

const INSTRUCTIONS: &str = "Solve the problem below. Its answer is an integer from 0 to 999. Reason step \
by step, and end with the answer in this form: \\boxed{42}";

/// A year in an id such as `2024-I-3` or `aime_2024_ii_7`.
static YEAR_IN_ID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^0-9])((?:19|20)[0-9]{2})(?:[^0-9]|$)").expect("a constant pattern")
});

/// Problems of the American Invitational Mathematics Examination, or others with integer answers from 0 to 999.
///
/// The path is a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file. The problems are the property of the
/// Mathematical Association of America and are not included in evaltest.
///
/// | role | columns, the first that is there | becomes |
/// |---|---|---|
/// | `prompt` | `problem`, `question`, `prompt`, `Problem`, `ProblemRow`, `Question` | [`Sample::prompt`] |
/// | `ground_truth` | `answer`, `Answer`, `ground_truth`, `expected_answer` | [`Sample::target`], without leading zeros; anything but an integer from 0 to 999 is an error |
/// | `id` | `id`, `ID`, `task_id`, `problem_id` | [`Sample::id`]; without the column `aime_<year>_<index>`, or the row's index from 0 where no year is known |
/// | `year` | `year`, `Year`; else the year in the id, as in `2024-I-3`, or in the name of the file or of the Hub's dataset, as in `aime25` | slice `year` |
/// | `topic` | `topic`, `category` (also capitalised) | slice `topic` |
///
/// All other columns become metadata hidden from agents. The scorer is [`aime`](crate::scorer::AimeScorer). There is
/// no official prompt; by default agents are asked to end with `\boxed{42}`.
///
/// ```no_run
/// # fn main() -> evaltest::Result<()> {
/// let aime = evaltest::Aime::open("data/aime.jsonl")?.year_column("Jahr").years([2024, 2025]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Aime {
    rows: RowSource,
    columns: Columns,
    year_column: Option<String>,
}

impl Aime {
    /// Opens a file of problems, which must exist.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self {
            rows: RowSource::open(&path.into())?,
            columns: Columns::default(),
            year_column: None,
        })
    }

    names_columns!();

    /// Names the column of the year.
    #[must_use]
    pub fn year_column(mut self, column: impl Into<String>) -> Self {
        self.year_column = Some(column.into());
        self
    }

    /// Selects problems of these years. An empty list selects all.
    #[must_use]
    pub fn years(mut self, years: impl IntoIterator<Item = u16>) -> Self {
        let years = years.into_iter().map(|year| year.to_string());
        self.rows.slices = (YEAR[0], years.collect());
        self
    }

    selects_ids!();
}

/// The year in the name of the file, or else of its dataset; none if there are several.
fn year_in_name(path: &Path) -> Option<String> {
    let dataset = Snapshot::of(path).map(|snapshot| snapshot.repository);
    let file = path.file_stem();
    let file = file.map(|name| name.to_string_lossy().into_owned());
    let mut names = file.into_iter().chain(dataset);
    names.find_map(|name| {
        let mut years = years_in(&name);
        years.dedup();
        years.pop().filter(|_| years.is_empty())
    })
}

/// The years in a name such as `aime_2025`, `aime-1983-2025` or `aime25`. Numbers with more digits are ignored.
fn years_in(name: &str) -> Vec<String> {
    let name = name.to_ascii_lowercase();
    let is_digit = |c: char| c.is_ascii_digit();
    let mut years = Vec::new();
    let mut rest = &*name;
    while let Some(start) = rest.find(is_digit) {
        let (before, digits) = rest.split_at(start);
        let end = digits.find(|c| !is_digit(c)).unwrap_or(digits.len());
        let (digits, behind) = digits.split_at(end);
        let is_century = digits.starts_with("19") || digits.starts_with("20");
        let of_contest = before.trim_end_matches(['-', '_', ' ']).ends_with("aime");
        match digits.len() {
            4 if is_century => years.push(digits.to_owned()),
            2 if of_contest => years.push(format!("20{digits}")),
            _ => {}
        }
        rest = behind;
    }
    years
}

/// A year in the formats of parquet or pandas: `2024`, `2024.0`.
fn plain_year(column: &str, cell: &str) -> Result<String> {
    let year = cell.trim().trim_end_matches(".0");
    if year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(year.to_owned());
    }
    Err(Error::usage(format!(
        "column `{column}` has `{}`, which is not a year",
        cell.escape_debug()
    ))
    .hint("write `2024`, or name another column: `columns: { year: NAME }`"))
}

impl RowBenchmark for Aime {
    const RULES: Rules = Rules {
        name: "aime",
        extract: Extract::aime,
        scorer: || Box::new(AimeScorer),
        official_prompt: None,
        default_prompt: Some(INSTRUCTIONS),
        is_gated: false,
        has_items: true,
    };

    const HAS_ONLY_ROWS: bool = true;

    fn source(&self) -> &RowSource {
        &self.rows
    }

    fn read(&self, source: &RowSource) -> Result<RowTable> {
        let table = source.table()?;
        let header = table.header();
        let roles = Roles::find(&header, &self.columns, &USUAL)?;
        let given = header.find_field(YEAR[0], self.year_column.as_deref(), &YEAR)?;
        let topics = header.find_field(TOPIC[0], None, &TOPIC)?;
        let named = year_in_name(&source.path);
        let table = roles.written(table);
        Ok(RowTable::new(table, move |mut fields, index| {
            let topic = slice_of(topics.as_ref(), &fields)?;
            let given = match &given {
                Some(field) => scalar(field.name(), field.get(&fields).as_deref())?
                    .filter(|year| !year.trim().is_empty())
                    .map(|year| plain_year(field.name(), &year))
                    .transpose()?,
                None => None,
            };
            let row = roles.take(&mut fields, index)?;
            let ProblemRow {
                mut id,
                prompt,
                truth,
            } = row;
            let answer = roles.truth(&truth, ground_truth)?;
            let in_id = || Some(YEAR_IN_ID.captures(&id)?[1].to_owned());
            let year = if roles.has_ids() {
                given.or_else(in_id)
            } else {
                given
            };
            let year = year.or_else(|| named.clone());
            if let Some(year) = year.as_ref().filter(|_| !roles.has_ids()) {
                id = format!("aime_{year}_{index}");
            }
            let mut sample = Sample::new(id, prompt).target(answer.to_string());
            if let Some(year) = year {
                sample = sample.slice(YEAR[0], year);
            }
            if let Some(topic) = topic {
                sample = sample.slice(TOPIC[0], topic);
            }
            Ok(Sample {
                metadata: fields,
                ..sample
            })
        }))
    }

    fn without_slices(&self, absent: &AbsentSlices<'_>) -> Result<Vec<String>> {
        let path = absent.path.display();
        let missing = absent.missing[0];
        let found: Vec<&str> = absent.found.iter().map(String::as_str).collect();
        let (found, hint) = if found.is_empty() {
            let hint = "name the column of the year: `columns: { year: NAME }`";
            ("no row has a year".to_owned(), hint.to_owned())
        } else {
            let hint = format!("name existing years: `years: [{}]`", found.join(", "));
            (format!("found {}", quoted(found)), hint)
        };
        Err(Error::usage(format!(
            "`{path}`: no problem of the year `{missing}`; {found}"
        ))
        .hint(hint))
    }
}

#[cfg(test)]
mod tests;
