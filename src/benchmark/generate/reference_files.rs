//! Reads reference items, of which each prompt shows one as an example.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Map;

use crate::benchmark::Benchmark;
use crate::benchmark::aime::Aime;
use crate::data::dataset::{Rows, WRONG_PATH, check_file, scalar};
use crate::data::hub;
use crate::error::{Error, Result};
use crate::scorer::item::fields::{ItemFields, is_blank};
use crate::scorer::item::references::ReferenceItem;
use crate::stats::SplitMix64;
use crate::text::quoted;

/// Alternative column names for fields in common datasets.
const USUAL: [(&str, &[&str]); 4] = [
    ("problem", &["question", "prompt"]),
    ("answer", &["ground_truth", "expected_answer", "target"]),
    ("solution", &["reasoning", "rationale"]),
    ("topic", &["category", "type"]),
];
const ID: [&str; 4] = ["id", "problem_id", "task_id", "item_id"];
/// Hint for a path that does not exist.
const WRONG_REFERENCE: &str = "correct `reference`, which counts from the folder of its file, or `--reference`, which counts \
     from the current folder";
/// A preset with published datasets.
const AIME: &str = "aime";

/// The requirements on a reference item.
pub(super) struct ReferenceShape<'a> {
    pub(super) fields: &'a ItemFields,
    /// The required field.
    pub(super) needed: &'a str,
    /// The preset that it follows.
    pub(super) ready: Option<&'a str>,
}

/// The files that these paths name, relative to a folder.
pub(super) fn files(paths: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>> {
    let files = paths
        .iter()
        .map(|path| Ok(hub::open(&hub::resolve(path, folder))?.0.files));
    Ok(files.collect::<Result<Vec<_>>>()?.concat())
}

/// Reads the items of these files.
///
/// # Errors
/// If a row lacks the required field, or two items have the same id.
pub(super) fn read_all(
    paths: &[PathBuf],
    shape: &ReferenceShape<'_>,
) -> Result<Vec<ReferenceItem>> {
    let mut all: Vec<ReferenceItem> = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        for one in read(path, shape)? {
            if !seen.insert(one.id.clone()) {
                let id = one.id.escape_debug();
                let message = format!("`{}`: another file also has the id `{id}`", path.display());
                return Err(Error::usage(message).hint("give every reference a unique id"));
            }
            all.push(one);
        }
    }
    Ok(all)
}

/// The items of a file.
fn read(path: &Path, shape: &ReferenceShape<'_>) -> Result<Vec<ReferenceItem>> {
    let ReferenceShape {
        fields,
        needed,
        ready,
    } = *shape;
    let rows = check_file(path).and_then(|()| Rows::read(path));
    let rows = rows.map_err(|error| {
        if error.hint_text() == Some(WRONG_PATH) {
            error.hint(WRONG_REFERENCE)
        } else {
            error
        }
    })?;
    let columns: Vec<String> = rows.columns().into_iter().map(str::to_owned).collect();
    let find = |name: &str, others: &[&str]| {
        let is = |wanted: &str| {
            columns
                .iter()
                .find(|column| column.eq_ignore_ascii_case(wanted))
        };
        let exact = columns.iter().find(|column| *column == name);
        exact
            .or_else(|| is(name))
            .or_else(|| others.iter().find_map(|other| is(other)))
    };
    let found = fields.0.iter().map(|field| {
        let others = USUAL.iter().find(|(name, _)| *name == field.name);
        (
            field,
            find(&field.name, others.map_or(&[], |(_, others)| others)),
        )
    });
    let found: Vec<_> = found.collect();
    if !found
        .iter()
        .any(|(field, column)| field.name == needed && column.is_some())
    {
        let message = format!("`{}` has no column `{needed}`", path.display());
        let there = quoted(columns.iter().map(String::as_str));
        return Err(Error::usage(message).hint(format!(
            "a reference has the fields of an item; found {there}"
        )));
    }
    let id = find(ID[0], &ID[1..]);
    // Contest datasets have the ids that they have as questions.
    let is_contest = id.is_none() && ready == Some(AIME);
    let known = is_contest.then(|| Aime::open(path).and_then(|aime| aime.samples()));
    let known = known.and_then(Result::ok).unwrap_or_default();
    let samples = rows.into_samples(|row, index| {
        let id = match id {
            None => None,
            Some(column) => scalar(column, row.get(column))?,
        };
        let id = id.filter(|id| !id.trim().is_empty());
        let mut item = Map::new();
        for (field, column) in &found {
            let value = column
                .and_then(|column| row.get(column))
                .filter(|value| !is_blank(value));
            let Some(value) = value else {
                if field.name == needed {
                    let error = Error::usage(format!("`{needed}` of the reference is empty"));
                    return Err(error.hint("fill it in, or remove the row"));
                }
                continue;
            };
            let normal = field.kind.normal(value).unwrap_or_else(|_| value.clone());
            item.insert(field.name.clone(), normal);
        }
        let id = id.or_else(|| known.get(index).map(|known| known.id.clone()));
        let id = id.unwrap_or_else(|| format!("reference_{}", index + 1));
        let mut sample = crate::data::Sample::new(id, "");
        sample.metadata = item;
        Ok(sample)
    })?;
    let references = samples.into_iter().map(|sample| ReferenceItem {
        id: sample.id,
        item: sample.metadata,
    });
    Ok(references.collect())
}

/// Draws a reference for each item, in rounds: each is used once before any is used again. A longer draw starts with
/// the shorter one.
pub(super) fn draw(references: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64(seed ^ 0x7265_6665_7265);
    let mut drawn = Vec::with_capacity(count);
    let mut turn: Vec<usize> = (0..references).collect();
    while references > 0 && drawn.len() < count {
        for place in (1..turn.len()).rev() {
            turn.swap(place, random.below(place + 1));
        }
        drawn.extend(turn.iter().take(count - drawn.len()));
    }
    drawn
}
