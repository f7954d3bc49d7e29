//! The file of references: items that exist, of which each new one is shown another.

use std::path::Path;

use serde_json::Map;

use crate::data::dataset::{Rows, scalar};
use crate::error::{Error, Result};
use crate::scorer::item::fields::{ItemFields, is_blank};
use crate::scorer::item::references::ReferenceItem;
use crate::stats::SplitMix64;
use crate::text::quoted;

/// Other names under which data sets have what a field is, by the field's name.
const USUAL: [(&str, &[&str]); 4] = [
    ("problem", &["question", "prompt"]),
    ("answer", &["ground_truth", "expected_answer"]),
    ("solution", &["reasoning", "rationale"]),
    ("topic", &["category", "type"]),
];
const ID: [&str; 3] = ["id", "problem_id", "task_id"];

/// The items of a file. `needed` is the field without which a reference is none.
///
/// # Errors
/// When a row has no such field, or two have one id.
pub(super) fn read(path: &Path, fields: &ItemFields, needed: &str) -> Result<Vec<ReferenceItem>> {
    let rows = Rows::read(path)?;
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
            "a reference has the fields of an item; there is {there}"
        )));
    }
    let id = find(ID[0], &ID[1..]);
    let samples = rows.clone().into_samples(|row, index| {
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
                    let error = Error::usage(format!("the reference has nothing in `{needed}`"));
                    return Err(error.hint("fill it in, or remove the row"));
                }
                continue;
            };
            let normal = field.kind.normal(value).unwrap_or_else(|_| value.clone());
            item.insert(field.name.clone(), normal);
        }
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

/// Which of so many references each item is shown: in turns, so that each is shown before one is shown again. More items
/// begin like fewer.
pub(super) fn draw(references: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64(seed ^ 0x7265_6665_7265);
    let mut drawn = Vec::with_capacity(count);
    let mut turn: Vec<usize> = (0..references).collect();
    while references > 0 && drawn.len() < count {
        for left in (1..turn.len()).rev() {
            turn.swap(left, random.below(left + 1));
        }
        drawn.extend(turn.iter().take(count - drawn.len()));
    }
    drawn
}
