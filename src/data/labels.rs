//! `ItemLabels`: what people say of the answers of a run, a line of JSON for each item.
//!
//! ```json
//! {"id": "q1", "label": 4, "chosen": "random", "seed": 7}
//! {"id": "q2", "labels": [4, 5, null], "chosen": "random", "seed": 7}
//! {"id": "q3", "label": {"clarity": 4, "correctness": 5}, "chosen": "picked"}
//! {"id": "q4", "labels": {"clarity": [4, 3], "correctness": [5, 5]}, "chosen": "all"}
//! {"id": "q5", "label": 4, "person": "anna"}
//! {"id": "q5", "label": 4, "person": "ben"}
//! ```

mod class;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::dataset::{jsonl, kind};
use crate::error::{Error, Result};
use crate::text::checksum;
use crate::text::excerpt;

pub use class::LabelClass;
pub(crate) use class::LabelClasses;

/// A valid line.
const EXAMPLE: &str = r#"{"id": "q1", "label": 4, "chosen": "random", "seed": 7}"#;

/// How an item was selected for labelling, which determines what its labels can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelChoice {
    /// For a reason, such as a flip or a failure; the default. Such labels measure agreement with the judge on similar
    /// items, but say nothing about all items.
    Picked,
    /// Drawn at random from the items of the run.
    Random,
    /// Together with all others: every item of the run has a label.
    All,
}

impl LabelChoice {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Picked => "picked",
            Self::Random => "random",
            Self::All => "all",
        }
    }
}

/// The labels of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemLabels {
    /// The id of its sample.
    pub id: String,
    /// Labels of the whole answer, one per person.
    pub whole: Vec<LabelClass>,
    /// Labels by dimension.
    pub dimensions: BTreeMap<String, Vec<LabelClass>>,
    /// How it was selected.
    pub chosen: LabelChoice,
    /// The seed of the random draw.
    pub seed: Option<u64>,
    /// The id of the run whose answers were labelled, if given.
    pub run: Option<String>,
    /// Its first line, from 1.
    pub line: u64,
}

/// Reads the labels of a file, one entry per item, in the order of the file. Several lines with the same id are from
/// several people, who can be identified by `person`.
///
/// # Errors
///
/// With the position: a malformed line, two lines of an id that differ in how it was selected, a duplicate line, a
/// second label by the same person; also a file without labels.
pub fn read_labels(path: &Path) -> Result<Vec<ItemLabels>> {
    let file = File::open(path).map_err(|error| Error::io("read", path, &error))?;
    let mut found: Vec<ItemLabels> = Vec::new();
    let mut places = HashMap::new();
    let mut people = PeopleOfLines::default();
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(|error| Error::io("read", path, &error))?;
        let line = if number == 1 {
            line.trim_start_matches('\u{feff}')
        } else {
            &line
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let fields = jsonl::fields(path, number, line)?;
        let at = |error: Error| {
            let error = error.at(format_args!("{}:{number}", path.display()));
            match error.hint_text() {
                Some(_) => error,
                None => error.hint(format!("write lines as `{EXAMPLE}`")),
            }
        };
        let item = ItemLabels::of(&fields, number).map_err(at)?;
        people.add(&fields, &item).map_err(at)?;
        match places.get(&item.id) {
            None => {
                places.insert(item.id.clone(), found.len());
                found.push(item);
            }
            Some(&place) => {
                let there: &mut ItemLabels = &mut found[place];
                there.join(item).map_err(at)?;
            }
        }
    }
    if found.iter().all(ItemLabels::is_empty) {
        let message = format!("`{}` has no label", path.display());
        return Err(Error::usage(message).hint(format!("write lines as `{EXAMPLE}`")));
    }
    Ok(found)
}

/// The members of a line that evaltest wrote, and not the person who labels. Lines of people's own need no checksum.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct GivenLabel<'a> {
    pub(crate) id: &'a str,
    pub(crate) chosen: LabelChoice,
    pub(crate) seed: Option<u64>,
    pub(crate) run: Option<&'a str>,
    pub(crate) reviewed_at: Option<&'a str>,
}

impl GivenLabel<'_> {
    /// The line's `sum`.
    pub(crate) fn checksum(&self) -> String {
        checksum::of_members(self)
    }
}

impl ItemLabels {
    /// Refuses a line whose `sum` is that of another.
    fn check_sum(&self, fields: &Map<String, Value>) -> Result<()> {
        let Some(sum) = fields.get("sum") else {
            return Ok(());
        };
        let given = GivenLabel {
            id: &self.id,
            chosen: self.chosen,
            seed: self.seed,
            run: self.run.as_deref(),
            reviewed_at: fields.get("reviewed_at").and_then(Value::as_str),
        };
        if *sum == given.checksum() {
            return Ok(());
        }
        let message = "its `sum` is that of another line: `id`, `chosen`, `seed`, `run` or `reviewed_at` was changed";
        Err(Error::usage(message).hint("undo the change, or leave `sum` out of a line of your own"))
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.dimensions.is_empty()
    }

    fn of(fields: &Map<String, Value>, line: u64) -> Result<Self> {
        let id = match fields.get("id") {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            Some(other) => return Err(wrong("id", "the id of a sample", other)),
            None => return Err(Error::usage("the line has no `id`")),
        };
        let chosen = match fields.get("chosen") {
            None | Some(Value::Null) => LabelChoice::Picked,
            Some(word) => LabelChoice::deserialize(word)
                .map_err(|_| wrong("chosen", "`random`, `all` or `picked`", word))?,
        };
        let seed = match fields.get("seed") {
            None | Some(Value::Null) => None,
            Some(seed) => {
                let number = seed.as_u64();
                Some(number.ok_or_else(|| wrong("seed", "a whole number from 0", seed))?)
            }
        };
        let run = match fields.get("run") {
            None | Some(Value::Null) => None,
            Some(Value::String(run)) => Some(run.clone()),
            Some(other) => return Err(wrong("run", "the id of a run", other)),
        };
        let mut item = Self {
            id,
            whole: Vec::new(),
            dimensions: BTreeMap::new(),
            chosen,
            seed,
            run,
            line,
        };
        match (fields.get("label"), fields.get("labels")) {
            (Some(_), Some(_)) => {
                return Err(Error::usage("the line has both `label` and `labels`"));
            }
            (None, None) => return Err(Error::usage("the line has neither `label` nor `labels`")),
            (Some(label), None) => item.add("label", label)?,
            (None, Some(Value::Array(labels))) => {
                for label in labels {
                    item.add("labels[]", label)?;
                }
            }
            (None, Some(Value::Object(dimensions))) => {
                for (name, labels) in dimensions {
                    let place = format!("labels.{name}");
                    let Value::Array(labels) = labels else {
                        return Err(wrong(
                            &place,
                            "an array with a label of each person",
                            labels,
                        ));
                    };
                    for label in labels {
                        item.add_to(name, &place, label)?;
                    }
                }
            }
            (None, Some(other)) => {
                return Err(wrong(
                    "labels",
                    "an array with a label of each person",
                    other,
                ));
            }
        }
        item.check_sum(fields)?;
        Ok(item)
    }

    /// Adds one person's label.
    fn add(&mut self, place: &str, label: &Value) -> Result<()> {
        match label {
            Value::Null => {}
            Value::Object(dimensions) => {
                for (name, label) in dimensions {
                    self.add_to(name, &format!("{place}.{name}"), label)?;
                }
            }
            label => {
                let class = LabelClass::of(label);
                let wanted = "a number, a text, true, false, or an object with one of these for each dimension";
                self.whole
                    .push(class.ok_or_else(|| wrong(place, wanted, label))?);
            }
        }
        Ok(())
    }

    fn add_to(&mut self, dimension: &str, place: &str, label: &Value) -> Result<()> {
        if label.is_null() {
            return Ok(());
        }
        let class = LabelClass::of(label);
        let class = class.ok_or_else(|| wrong(place, "a number, a text, true or false", label))?;
        self.dimensions
            .entry(dimension.to_owned())
            .or_default()
            .push(class);
        Ok(())
    }

    /// Adds the labels of another line of the same item.
    fn join(&mut self, other: Self) -> Result<()> {
        let differs = |name: &str| {
            Error::usage(format!(
                "`{name}` of id `{}` differs from line {}",
                other.id, self.line
            ))
            .hint("give all lines of an item the same value")
        };
        if self.chosen != other.chosen {
            return Err(differs("chosen"));
        }
        if self.seed != other.seed {
            return Err(differs("seed"));
        }
        if self.run != other.run {
            return Err(differs("run"));
        }
        self.whole.extend(other.whole);
        for (name, labels) in other.dimensions {
            match self.dimensions.entry(name) {
                Entry::Vacant(entry) => drop(entry.insert(labels)),
                Entry::Occupied(mut entry) => entry.get_mut().extend(labels),
            }
        }
        Ok(())
    }
}

/// The error for a member of the wrong type.
pub(crate) fn wrong(name: &str, wanted: &str, found: &Value) -> Error {
    let rendered = excerpt(&found.to_string());
    Error::usage(format!(
        "`{name}` must be {wanted}, found {}: `{rendered}`",
        kind(found)
    ))
}

/// A line with its number.
type NumberedLine = (u64, Map<String, Value>);

/// The lines of each item, and the labels of each person.
#[derive(Debug, Default)]
struct PeopleOfLines {
    lines: HashMap<String, Vec<NumberedLine>>,
    /// By item, person and dimension (`None` for the whole answer).
    seen: HashMap<(String, String, Option<String>), u64>,
}

impl PeopleOfLines {
    /// Adds a line.
    ///
    /// # Errors
    ///
    /// If it repeats an earlier line exactly, or its `person` already labelled the same. Lines without a label may be
    /// repeated.
    fn add(&mut self, fields: &Map<String, Value>, item: &ItemLabels) -> Result<()> {
        let person = match fields.get("person") {
            None | Some(Value::Null) => None,
            Some(Value::String(person)) => Some(person),
            Some(other) => return Err(wrong("person", "the name of a person", other)),
        };
        if item.is_empty() {
            return Ok(());
        }
        if let Some(person) = person {
            let whole = (!item.whole.is_empty()).then_some(None);
            let parts = item.dimensions.keys().cloned().map(Some);
            for of in whole.into_iter().chain(parts) {
                let what = of.as_ref().map(|name| format!(" for `{name}`"));
                let key = (item.id.clone(), person.clone(), of);
                if let Some(line) = self.seen.insert(key, item.line) {
                    return Err(Error::usage(format!(
                        "`{person}` has a label of id `{}`{} in line {line}, too",
                        item.id,
                        what.unwrap_or_default()
                    ))
                    .hint("delete one of the two lines: each person counts once"));
                }
            }
        }
        let before = self.lines.entry(item.id.clone()).or_default();
        if let Some((line, _)) = before.iter().find(|(_, there)| there == fields) {
            return Err(Error::usage(format!(
                "the id `{}` occurs twice, first in line {line}",
                item.id
            ))
            .hint("leave one out, or name the person: `\"person\": \"anna\"`; the same label of two people is not a \
                   copy"));
        }
        before.push((item.line, fields.clone()));
        Ok(())
    }
}
