//! `PeopleOfLines`: detects duplicate lines of labels and persons counted twice.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{ItemLabels, wrong};
use crate::error::{Error, Result};

/// A line with its number.
type NumberedLine = (u64, Map<String, Value>);

/// The lines of each item, and the labels of each person.
#[derive(Debug, Default)]
pub(super) struct PeopleOfLines {
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
    pub(super) fn add(&mut self, fields: &Map<String, Value>, item: &ItemLabels) -> Result<()> {
        let person = match fields.get("person") {
            None | Some(Value::Null) => None,
            Some(Value::String(person)) => Some(person),
            Some(other) => return Err(wrong("person", "the name of who labels", other)),
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
                    .hint("leave one of the two lines: nobody is counted twice"));
                }
            }
        }
        let before = self.lines.entry(item.id.clone()).or_default();
        if let Some((line, _)) = before.iter().find(|(_, there)| there == fields) {
            return Err(Error::usage(format!(
                "the line of id `{}` stands there twice, as line {line}",
                item.id
            ))
            .hint("leave one out, or say who labels: `\"person\": \"anna\"`; two people who agree are no copy"));
        }
        before.push((item.line, fields.clone()));
        Ok(())
    }
}
