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
mod person;
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
use crate::text::excerpt;

pub use class::LabelClass;
pub(crate) use class::LabelClasses;
use person::PeopleOfLines;

/// A line as it should be.
const EXAMPLE: &str = r#"{"id": "q1", "label": 4, "chosen": "random", "seed": 7}"#;

/// How it came that an item was labelled: what its labels may be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelChoice {
    /// For a reason, such as a flip or a failure; also where nothing is said. Such labels tell how far a judge agrees
    /// with people on items like these, and nothing of all items.
    Picked,
    /// By lot from the items of the run.
    Random,
    /// With all others: every item of the run has a label.
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

/// What people say of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemLabels {
    /// The id of its sample.
    pub id: String,
    /// Of the answer as a whole, of each person who said something.
    pub whole: Vec<LabelClass>,
    /// Of one dimension each, by its name.
    pub dimensions: BTreeMap<String, Vec<LabelClass>>,
    /// How it came to be labelled.
    pub chosen: LabelChoice,
    /// What the lot was drawn with.
    pub seed: Option<u64>,
    /// The id of the run whose answers were labelled, where that is said.
    pub run: Option<String>,
    /// Where it stands first, from 1.
    pub line: u64,
}

/// The labels of a file, an item each, in the order of the file. Several lines of one id are several people, who may be
/// told apart by `person`.
///
/// # Errors
///
/// With the place of the first line that is not as it should be, of two of one id that differ in how it was chosen, of
/// one that stands there twice or in which the same person says something again, and for a file without a label.
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

impl ItemLabels {
    /// Whether nobody said anything.
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
        Ok(item)
    }

    /// What one person says.
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

    /// Takes what another line says of the same item.
    fn join(&mut self, other: Self) -> Result<()> {
        let differs = |name: &str| {
            Error::usage(format!(
                "`{name}` of id `{}` is another than in line {}",
                other.id, self.line
            ))
            .hint("an item was chosen once: give all its lines the same")
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

/// A member is not what it should be.
fn wrong(name: &str, wanted: &str, found: &Value) -> Error {
    let shown = excerpt(&found.to_string());
    Error::usage(format!(
        "`{name}` must be {wanted}, found {}: `{shown}`",
        kind(found)
    ))
}
