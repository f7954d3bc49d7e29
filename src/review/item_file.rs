//! `ItemFile`: an item file, a JSON array of objects or JSON lines.
//!
//! Only the raw text is stored, with the position of each item in it, so memory use is the size of the file.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::items::{DisplayedItem, ListedItem};
use crate::calls::are_calls;
use crate::data::conversation::transcript;
use crate::data::reviews::{NEEDED, REJECTED, REVIEW, ReviewStatus};
use crate::error::{Error, Result};
use crate::system::file::{read_given, write_atomically};
use crate::system::in_shares;
use crate::system::project::display;
use crate::text::hash::Hasher;
use crate::text::json_line;

/// Fields displayed first, in this order.
const FIRST: &[&str] = &["problem", "question", "answer", "solution", "reasoning"];
/// Metadata of an item.
const FACTS: &[&str] = &["topic", "category", "year", "reference_id", "generated_at"];
/// Fields hidden until the item is reviewed.
const LATER: &[&str] = &["model"];
/// Smaller files (in bytes) are parsed by one thread.
const LARGE: usize = 1 << 20;

/// The fields of an item that the list needs.
struct ItemHead {
    id: Option<Value>,
    slice: Option<String>,
    asks_answer: bool,
}

/// An item file.
#[derive(Debug)]
pub(super) struct ItemFile {
    text: String,
    places: Vec<Range<usize>>,
    /// Whether its items are questions of production, whose answers people fill in.
    pub(super) asks_answers: bool,
}

impl ItemFile {
    /// Reads a file.
    ///
    /// # Errors
    /// With the line that is not an item.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<ListedItem>)> {
        let text = read_given(path).map_err(|error| match error.kind() {
            // A pipe without a writer.
            ErrorKind::Other => Error::usage(format!("cannot read `{}`: {error}", path.display())),
            _ => Error::io("read", path, &error),
        })?;
        let name = display(path);
        let text = String::from_utf8(text)
            .map_err(|_| Error::usage(format!("{name}:1: it is not UTF-8 text")).hint(WANTED))?;
        let places = places(&text, &name)?;
        let mut listed = Vec::with_capacity(places.len());
        let mut lines = HashMap::new();
        let mut asks_answers = false;
        let (mut line, mut counted) = (1, 0);
        for ((number, place), head) in (1..).zip(&places).zip(heads(&text, &places)) {
            line += text[counted..place.start].matches('\n').count();
            counted = place.start;
            let at = |error: Error| error.at(format_args!("{name}:{line}"));
            let head = match head {
                Ok(head) => head.ok_or_else(no_object).map_err(at)?,
                // An item that cannot be displayed later, such as one nested too deeply, is reported now.
                Err(error) => {
                    let within = line + error.line().saturating_sub(1);
                    let error = Error::usage(format!("broken JSON: {error}")).hint(WANTED);
                    return Err(error.at(format_args!("{name}:{within}")));
                }
            };
            let id = id_of(head.id.as_ref(), number).map_err(at)?;
            asks_answers |= head.asks_answer;
            if let Some(other) = lines.insert(id.clone(), line) {
                let error = Error::usage(format!("the id `{id}` is already in line {other}"));
                return Err(at(error.hint("give each item its own `id`")));
            }
            listed.push(ListedItem {
                slice: head.slice,
                is_answered: true,
                id,
                ..ListedItem::default()
            });
        }
        let file = Self {
            text,
            places,
            asks_answers,
        };
        Ok((file, listed))
    }

    /// A hash of the content of an item, independent of white space between its members.
    pub(super) fn hash(&self, place: usize) -> String {
        let mut item = members(&self.text[self.places[place].clone()]).unwrap_or_default();
        if self.asks_answers {
            // What the review itself fills in.
            item.shift_remove("answer");
            item.shift_remove(REVIEW);
        }
        let text = serde_json::to_vec(&item).unwrap_or_default();
        Hasher::default().part(text).short()
    }

    /// The item at a place.
    pub(super) fn item(&self, place: usize) -> Result<DisplayedItem> {
        let mut item = members(&self.text[self.places[place].clone()])?;
        let mut found = DisplayedItem::default();
        item.shift_remove("id");
        if self.asks_answers {
            show_question(&mut item, &mut found);
        }
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

/// Takes what a question is about: what was asked, and what production answered, which is named as no more than that.
fn show_question(item: &mut Map<String, Value>, found: &mut DisplayedItem) {
    let mut show = |name: &str, text: String| {
        if !text.is_empty() {
            found.fields.push((name.to_owned(), text));
        }
    };
    for name in ["question", "prompt"] {
        show(
            name,
            item.shift_remove(name)
                .map(|text| text_of(&text))
                .unwrap_or_default(),
        );
    }
    if let Some(Value::Array(messages)) = item.shift_remove("messages") {
        show("conversation", transcript(&messages));
    }
    let answer = item
        .shift_remove("answer")
        .filter(|answer| !answer.is_null());
    show(
        "answer in the file",
        answer.map(|answer| text_of(&answer)).unwrap_or_default(),
    );
    item.shift_remove(REVIEW);
    let Some(Value::Object(reference)) = item.shift_remove("reference") else {
        return;
    };
    for (name, value) in reference {
        let is_empty = match &value {
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            value => value.is_null(),
        };
        let label = match &*name {
            "output" => "answer in production (a reference, not the ground truth)".to_owned(),
            "tool_calls" => "calls in production (a reference)".to_owned(),
            "scores" => "scores recorded in production".to_owned(),
            other => format!("{other} in production"),
        };
        if !is_empty {
            show(&label, text_of(&value));
        }
    }
    if let Some(Value::Object(metadata)) = item.shift_remove("metadata") {
        let facts = metadata
            .into_iter()
            .map(|(name, value)| (name, text_of(&value)));
        found.facts.extend(facts);
    }
}

/// Fills in the answers of the file of questions by their latest reviews. Lines that nobody reviewed stay as they are;
/// `undone` is one whose review was taken back.
///
/// # Errors
/// If the file cannot be read or written.
pub(super) fn fill_in(
    path: &Path,
    answers: &HashMap<String, (ReviewStatus, Option<String>)>,
    undone: Option<&str>,
) -> Result<()> {
    let text = read_given(path).map_err(|error| Error::io("read", path, &error))?;
    let text = String::from_utf8_lossy(&text);
    let (mut filled, mut end) = (String::with_capacity(text.len()), 0);
    for (number, place) in (1..).zip(places(&text, &display(path))?) {
        let mut item = members(&text[place.clone()])?;
        let id = id_of(item.get("id"), number)?;
        let [answer, review] = match answers.get(&id) {
            Some((ReviewStatus::Approved, Some(answer))) => [answer_of(answer), Value::Null],
            Some((ReviewStatus::Rejected, _)) => [Value::Null, REJECTED.into()],
            Some(_) => [Value::Null, NEEDED.into()],
            None if undone == Some(&*id) => [Value::Null, NEEDED.into()],
            None => continue,
        };
        if item.get("answer").unwrap_or(&Value::Null) == &answer
            && item.get(REVIEW).unwrap_or(&Value::Null) == &review
        {
            continue;
        }
        item.insert("answer".to_owned(), answer);
        if review.is_null() {
            item.shift_remove(REVIEW);
        } else {
            item.insert(REVIEW.to_owned(), review);
        }
        let line = json_line(&item).map_err(|error| Error::infrastructure(error.to_string()))?;
        filled.push_str(&text[end..place.start]);
        filled.push_str(&String::from_utf8_lossy(&line));
        end = place.end;
    }
    if end == 0 {
        return Ok(());
    }
    filled.push_str(&text[end..]);
    write_atomically(path, filled.as_bytes())
}

/// The answer as a person typed it; calls of tools become what they are.
fn answer_of(text: &str) -> Value {
    let calls = serde_json::from_str(text).ok().filter(are_calls);
    calls.unwrap_or_else(|| text.into())
}

impl ItemHead {
    /// From the JSON of an item; `None` if it is not an object.
    fn of(raw: &str) -> serde_json::Result<Option<Self>> {
        let Value::Object(mut item) = serde_json::from_str(raw)? else {
            return Ok(None);
        };
        let text = |name: &str| item.get(name)?.as_str().map(str::to_owned);
        // The slice of the item.
        let slice = text("topic").or_else(|| text("category"));
        let id = item.shift_remove("id").filter(|id| !id.is_null());
        let has_reference = item.get("reference").is_some_and(Value::is_object);
        let asks_answer =
            has_reference && (item.contains_key("answer") || item.contains_key(REVIEW));
        Ok(Some(Self {
            id,
            slice,
            asks_answer,
        }))
    }
}

/// The heads of all items. A large file is parsed in parallel, since people wait for the page.
fn heads(text: &str, places: &[Range<usize>]) -> Vec<serde_json::Result<Option<ItemHead>>> {
    let read = |places: &[Range<usize>]| -> Vec<_> {
        let heads = places
            .iter()
            .map(|place| ItemHead::of(&text[place.clone()]));
        heads.collect()
    };
    let least = if text.len() < LARGE { places.len() } else { 1 };
    in_shares(places, least.max(1), &read)
        .into_iter()
        .flatten()
        .collect()
}

fn no_object() -> Error {
    Error::usage("an item must be an object").hint(WANTED)
}

/// The hint for a file of another form.
const WANTED: &str = "name a JSON array of objects with `id`, `problem`, `answer`, or a file with one of them in each line";

/// The byte range of each item.
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
        _ => Err(no_object()),
    }
}

/// The id of an item; its number if it has none.
fn id_of(id: Option<&Value>, number: usize) -> Result<String> {
    match id {
        Some(Value::String(id)) if !id.is_empty() => Ok(id.clone()),
        Some(Value::Number(id)) => Ok(id.to_string()),
        None => Ok(format!("item_{number}")),
        Some(_) => Err(Error::usage("`id` is neither text nor a number").hint(WANTED)),
    }
}

/// A member as text for people.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
        other => other.to_string(),
    }
}
