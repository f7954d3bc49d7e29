//! `ItemFile`: a file of items, an array of objects or one in each line.
//!
//! The text is kept as it is, with the place of each item in it: ten thousand of them take what their file takes.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::items::{ListedItem, ShownItem};
use crate::error::{Error, Result};
use crate::system::file::read_given;
use crate::system::project::shown;
use crate::text::hash::Hasher;

/// What stands first, in this order.
const FIRST: &[&str] = &["problem", "question", "answer", "solution", "reasoning"];
/// What is about an item rather than of it.
const FACTS: &[&str] = &["topic", "category", "year", "reference_id", "generated_at"];
/// What is told only once it was reviewed.
const LATER: &[&str] = &["model"];
/// What the list has of an item. Its texts are passed over: there may be a lot of them.
#[derive(Deserialize)]
struct ItemHead {
    id: Option<Value>,
    topic: Option<Value>,
    category: Option<Value>,
}

/// A file of items.
#[derive(Debug)]
pub(super) struct ItemFile {
    text: String,
    places: Vec<Range<usize>>,
}

impl ItemFile {
    /// Reads a file.
    ///
    /// # Errors
    /// With the line of what is no item.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<ListedItem>)> {
        let text = read_given(path).map_err(|error| match error.kind() {
            // A pipe that nobody may ever write into.
            ErrorKind::Other => Error::usage(format!("cannot read `{}`: {error}", path.display())),
            _ => Error::io("read", path, &error),
        })?;
        let name = shown(path);
        let text = String::from_utf8(text)
            .map_err(|_| Error::usage(format!("{name}:1: it is no text in UTF-8")).hint(WANTED))?;
        let places = places(&text, &name)?;
        let mut listed = Vec::with_capacity(places.len());
        let mut lines = HashMap::new();
        let (mut line, mut counted) = (1, 0);
        for (number, place) in (1..).zip(&places) {
            line += text[counted..place.start].matches('\n').count();
            counted = place.start;
            let at = |error: Error| error.at(format_args!("{name}:{line}"));
            let raw = &text[place.clone()];
            let head = ItemHead::of(raw).map_err(at)?;
            // What cannot be shown later, such as too deep a nesting, is told now.
            if let Err(error) = serde_json::from_str::<Value>(raw) {
                let within = line + error.line().saturating_sub(1);
                let error = Error::usage(format!("broken JSON: {error}")).hint(WANTED);
                return Err(error.at(format_args!("{name}:{within}")));
            }
            let id = id_of(head.id.as_ref(), number).map_err(at)?;
            if let Some(other) = lines.insert(id.clone(), line) {
                let error = Error::usage(format!("the id `{id}` is that of line {other}, too"));
                return Err(at(error.hint("give each item an `id` of its own")));
            }
            listed.push(ListedItem {
                slice: head.slice(),
                is_answered: true,
                id,
                ..ListedItem::default()
            });
        }
        Ok((Self { text, places }, listed))
    }

    /// A hash of all that an item says: white space between its members is none of it.
    pub(super) fn hash(&self, place: usize) -> String {
        let item = members(&self.text[self.places[place].clone()]).unwrap_or_default();
        let text = serde_json::to_vec(&item).unwrap_or_default();
        Hasher::default().part(text).short()
    }

    /// The item at a place.
    pub(super) fn item(&self, place: usize) -> Result<ShownItem> {
        let mut item = members(&self.text[self.places[place].clone()])?;
        let mut found = ShownItem::default();
        item.shift_remove("id");
        for name in FIRST {
            if let Some(value) = item.shift_remove(*name) {
                found.fields.push(((*name).to_owned(), text_of(&value)));
            }
        }
        for (name, value) in item {
            let list = if FACTS.contains(&&*name) {
                &mut found.facts
            } else if LATER.contains(&&*name) {
                &mut found.later
            } else {
                &mut found.fields
            };
            list.push((name, text_of(&value)));
        }
        Ok(found)
    }
}

impl ItemHead {
    fn of(raw: &str) -> Result<Self> {
        if !raw.starts_with('{') {
            return Err(Error::usage("an item is an object").hint(WANTED));
        }
        serde_json::from_str(raw)
            .map_err(|error| Error::usage(format!("broken JSON: {error}")).hint(WANTED))
    }

    /// What it is sliced by.
    fn slice(&self) -> Option<String> {
        let values = [&self.topic, &self.category].into_iter().flatten();
        let mut texts = values.filter_map(Value::as_str);
        texts.next().map(str::to_owned)
    }
}

/// What a file should be.
const WANTED: &str = "name a JSON array of objects with `id`, `problem`, `answer`, or a file with one of them in each line";

/// Where each item stands.
fn places(text: &str, name: &str) -> Result<Vec<Range<usize>>> {
    let wrong =
        |line: usize, why: String| Error::usage(format!("{name}:{line}: {why}")).hint(WANTED);
    let range = |raw: &str| {
        let start = raw.as_ptr().addr() - text.as_ptr().addr();
        start..start + raw.len()
    };
    let content = text.strip_prefix('\u{feff}').unwrap_or(text);
    if content.trim_ascii_start().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(content)
            .map_err(|error| wrong(error.line(), format!("broken JSON: {error}")))?;
        return Ok(items.into_iter().map(|raw| range(raw.get())).collect());
    }
    let lines = (1..).zip(content.split('\n'));
    let lines = lines.map(|(number, line)| (number, line.trim_ascii()));
    let lines = lines.filter(|(_, line)| !line.is_empty());
    let places = lines.map(|(number, line)| {
        let raw: &RawValue = serde_json::from_str(line)
            .map_err(|error| wrong(number, format!("broken JSON: {error}")))?;
        Ok(range(raw.get()))
    });
    places.collect()
}

fn members(raw: &str) -> Result<Map<String, Value>> {
    let value = serde_json::from_str(raw)
        .map_err(|error| Error::usage(format!("broken JSON: {error}")).hint(WANTED))?;
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(Error::usage("an item is an object").hint(WANTED)),
    }
}

/// Its id; of one without it where it stands.
fn id_of(id: Option<&Value>, number: usize) -> Result<String> {
    match id {
        Some(Value::String(id)) if !id.is_empty() => Ok(id.clone()),
        Some(Value::Number(id)) => Ok(id.to_string()),
        None => Ok(format!("item_{number}")),
        Some(_) => Err(Error::usage("`id` is neither a text nor a number").hint(WANTED)),
    }
}

/// A member as people read it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
        other => other.to_string(),
    }
}
