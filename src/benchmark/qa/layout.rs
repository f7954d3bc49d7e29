//! Maps columns of a file to roles, and rows to samples.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Qa, answers};
use crate::calls::are_calls;
use crate::data::dataset::{Field, Header, RowKey, kind, required, scalar, slice_value};
use crate::data::{Attachment, Sample, Target};
use crate::error::{Error, Result, nearest};
use crate::text::quoted;

const PROMPT: [&str; 6] = ["prompt", "question", "input", "Prompt", "Question", "Input"];
pub(super) const GROUND_TRUTH: [&str; 6] = [
    "ground_truth",
    "answer",
    "answers",
    "target",
    "targets",
    "label",
];
const ID: [&str; 4] = ["id", "task_id", "sample_id", "_id"];
const LEVEL: [&str; 2] = ["level", "Level"];
const FILES: [&str; 2] = ["file_name", "files"];

/// The columns of one file, by role.
#[derive(Debug)]
pub(super) struct QaLayout {
    prompt: Prompt,
    pub(super) ground_truth: Option<Field>,
    id: Option<Field>,
    files: Vec<Field>,
    /// With the names of their dimensions.
    slices: Vec<(String, Field)>,
    /// The columns to keep, if not all.
    metadata: Option<Vec<String>>,
    visible: Vec<String>,
    separator: Option<String>,
}

#[derive(Debug)]
enum Prompt {
    Column(Field),
    Template(Template, Vec<Field>),
}

/// The text of a field in a row.
fn text_in(field: &Field, fields: &Map<String, Value>) -> Result<Option<String>> {
    scalar(field.name(), field.get(fields).as_deref())
}

impl QaLayout {
    pub(super) fn find(rows: &Header<'_>, qa: &Qa) -> Result<Self> {
        let columns = &qa.columns;
        let prompt = match &qa.template {
            None => {
                Prompt::Column(rows.require_field("prompt", columns.prompt.as_deref(), &PROMPT)?)
            }
            Some(_) if columns.prompt.is_some() => {
                return Err(Error::usage(
                    "both `template` and `columns.prompt` are given, but only one can make the prompt",
                )
                .hint("keep one of the two; a template names its columns in braces"));
            }
            Some(template) => {
                let fields = template.columns().map(|name| named(rows, "template", name));
                Prompt::Template(template.clone(), fields.collect::<Result<_>>()?)
            }
        };
        let truth = columns.ground_truth.as_deref();
        let files = match &columns.files {
            Some(names) => names
                .iter()
                .map(|name| named(rows, "columns.files", name))
                .collect::<Result<_>>()?,
            None => FILES
                .iter()
                .filter_map(|name| Field::find(rows, name))
                .collect(),
        };
        let slices = match &qa.slices {
            Some(names) => names
                .iter()
                .map(|name| Ok((name.clone(), named(rows, "slices", name)?)))
                .collect::<Result<_>>()?,
            None => rows
                .find_field("level", None, &LEVEL)?
                .map(|field| ("level".to_owned(), field))
                .into_iter()
                .collect(),
        };
        let layout = Self {
            prompt,
            ground_truth: rows.find_field("ground_truth", truth, &GROUND_TRUTH)?,
            id: rows.find_field("id", columns.id.as_deref(), &ID)?,
            files,
            slices,
            metadata: columns.metadata.clone(),
            visible: qa.visible.clone(),
            separator: qa.separator.clone(),
        };
        layout
            .check_visible(&rows.columns)
            .map_err(|error| error.at(format_args!("`{}`", rows.path.display())))?;
        Ok(layout)
    }

    /// Returns an error for a ground truth visible to agents, or missing metadata columns.
    fn check_visible(&self, columns: &[&str]) -> Result<()> {
        let prompt = match &self.prompt {
            Prompt::Column(field) => std::slice::from_ref(field),
            Prompt::Template(_, fields) => fields,
        };
        let mut visible = prompt.iter().chain(&self.id).chain(&self.files);
        if let Some(truth) = &self.ground_truth
            && let Some(leak) = visible.find(|field| field.overlaps(truth))
        {
            return Err(Error::usage(format!(
                "column `{}` is the ground truth, but is also shown to the agent",
                leak.name()
            ))
            .hint("name another column in `columns`"));
        }
        for (key, names) in [
            (
                "columns.metadata",
                self.metadata.as_deref().unwrap_or_default(),
            ),
            ("visible", &self.visible),
        ] {
            for name in names {
                let selected = self.metadata.as_ref();
                let is_selected = selected.is_none_or(|selected| selected.contains(name));
                if columns.contains(&name.as_str()) && is_selected && !self.is_role(name) {
                    continue;
                }
                let selected: Vec<&str> = columns
                    .iter()
                    .copied()
                    .filter(|column| !self.is_role(column))
                    .collect();
                let error = Error::usage(format!(
                    "`{key}` names `{}`, which is not metadata; found {}",
                    name.escape_debug(),
                    quoted(selected.iter().copied())
                ));
                return Err(match nearest(name, selected) {
                    Some(near) if is_selected => error.hint(format!("did you mean `{near}`?")),
                    _ => error.hint("the columns of prompt, ground truth and id are not metadata"),
                });
            }
        }
        Ok(())
    }

    /// Whether samples have their row index as id.
    pub(super) fn is_without_ids(&self) -> bool {
        self.id.is_none()
    }

    /// Whether a column is the prompt or the id, or contains the ground truth, and so is not metadata.
    fn is_role(&self, column: &str) -> bool {
        let is_whole = |field: &Field| field.is_whole() && field.column() == column;
        let is_prompt = match &self.prompt {
            Prompt::Column(field) => is_whole(field),
            Prompt::Template(..) => false,
        };
        is_prompt
            || self.id.as_ref().is_some_and(is_whole)
            || self
                .ground_truth
                .as_ref()
                .is_some_and(|truth| truth.column() == column)
    }

    fn id(&self, fields: &Map<String, Value>, index: usize) -> Result<String> {
        match &self.id {
            Some(field) => required(field.name(), "id", text_in(field, fields)?),
            None => Ok(index.to_string()),
        }
    }

    fn slices(&self, fields: &Map<String, Value>) -> Result<Vec<(String, String)>> {
        let mut slices = Vec::new();
        for (dimension, field) in &self.slices {
            if let Some(value) = slice_value(text_in(field, fields)?) {
                slices.push((dimension.clone(), value));
            }
        }
        Ok(slices)
    }

    /// The columns of id and slices; `None` if a part of a column is one.
    pub(super) fn key(self: &Arc<Self>) -> Option<RowKey> {
        let slices = self.slices.iter().map(|(_, field)| field);
        let fields = self.id.iter().chain(slices);
        let columns = fields.map(|field| field.is_whole().then(|| field.column().to_owned()));
        let layout = Arc::clone(self);
        Some(RowKey {
            columns: columns.collect::<Option<_>>()?,
            make: Box::new(move |fields, index| {
                Ok(Sample {
                    id: layout.id(&fields, index)?,
                    slices: layout.slices(&fields)?,
                    ..Sample::default()
                })
            }),
        })
    }

    /// The sample of one row. Errors do not include the row number.
    pub(super) fn sample(
        &self,
        mut fields: Map<String, Value>,
        index: usize,
        folder: &Path,
    ) -> Result<Sample> {
        let read = |field| text_in(field, &fields);
        let prompt = match &self.prompt {
            Prompt::Column(field) => {
                let given = required(field.name(), "prompt", read(field)?);
                given.map_err(|error| match fields.get("messages") {
                    Some(Value::Array(_)) => error.hint(
                        "a row with `messages` is a conversation: `benchmark: { type: conversations, path: … }`",
                    ),
                    _ => error,
                })?
            }
            Prompt::Template(template, columns) => {
                let mut columns = columns.iter();
                template.render(|name| match columns.next() {
                    Some(field) => required(name, "part of the template", read(field)?),
                    None => Ok(String::new()),
                })?
            }
        };
        let id = self.id(&fields, index)?;
        let slices = self.slices(&fields)?;
        let target = match &self.ground_truth {
            Some(field) => {
                let cell = field.get(&fields);
                match cell.as_deref() {
                    Some(calls) if are_calls(calls) => Some(Target(calls.clone())),
                    cell => self.target(field, cell)?,
                }
            }
            None => None,
        };
        let mut files = Vec::new();
        for field in &self.files {
            for path in texts(field, field.get(&fields).as_deref())? {
                files.push(attachment(path, folder));
            }
        }
        fields.retain(|column, _| {
            let selected = self.metadata.as_ref();
            selected.is_none_or(|selected| selected.contains(column)) && !self.is_role(column)
        });
        Ok(Sample {
            id,
            prompt,
            target,
            slices,
            files,
            visible: self.visible.clone(),
            metadata: fields,
            tools: Vec::new(),
        })
    }

    /// One right answer as a text, several as an array. Only a text is split: an array has its answers apart.
    fn target(&self, field: &Field, cell: Option<&Value>) -> Result<Option<Target>> {
        let separator = self.separator.as_deref();
        let separator = separator.filter(|_| !matches!(cell, Some(Value::Array(_))));
        let mut seen = HashSet::new();
        let mut golds: Vec<String> = Vec::new();
        for text in texts(field, cell)? {
            let parts = match separator {
                Some(separator) => answers::split(&text, separator),
                None => vec![text],
            };
            for part in parts {
                if !part.trim().is_empty() && seen.insert(part.clone()) {
                    golds.push(part);
                }
            }
        }
        Ok(match golds.len() {
            0 => None,
            1 => golds.pop().map(Target::from),
            _ => Some(golds.into()),
        })
    }
}

/// The column that a key of the spec names.
fn named(rows: &Header<'_>, key: &str, name: &str) -> Result<Field> {
    if let Some(field) = Field::find(rows, name) {
        return Ok(field);
    }
    let columns = rows.columns.iter().copied();
    let error = Error::usage(format!(
        "`{}`: no column `{}` (named by `{key}`); found {}",
        rows.path.display(),
        name.escape_debug(),
        quoted(columns.clone())
    ));
    Err(match nearest(name, columns) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("name an existing column, or a member of one: `answers.text`"),
    })
}

/// The texts of a cell: one, or those of an array. Null and blank ones are skipped.
fn texts(field: &Field, cell: Option<&Value>) -> Result<Vec<String>> {
    let name = field.name();
    let mut found = Vec::new();
    match cell {
        Some(Value::Array(items)) => {
            for item in items {
                let text = scalar(name, Some(item)).map_err(|_| {
                    Error::usage(format!(
                        "column `{name}` has {} in its array, but texts are needed",
                        kind(item)
                    ))
                    .hint(inside(name, item))
                })?;
                found.extend(text);
            }
        }
        Some(object @ Value::Object(_)) => {
            return Err(Error::usage(format!(
                "column `{name}` has an object, but a text or an array of texts is needed"
            ))
            .hint(inside(name, object)));
        }
        other => found.extend(scalar(name, other)?),
    }
    found.retain(|text| !text.trim().is_empty());
    Ok(found)
}

/// Hint on how to name a member inside a column.
fn inside(name: &str, value: &Value) -> String {
    let member = value.as_object().and_then(|map| map.keys().next());
    let member = member.map_or("0", String::as_str);
    format!("name a member of it: `{name}.{member}`")
}

fn attachment(path: String, folder: &Path) -> Attachment {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    Attachment {
        name: name.to_owned(),
        path: path.into(),
        root: folder.to_owned(),
    }
}

/// A text with columns in braces: `Passage: {passage}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Column(String),
}

impl Template {
    /// Parses a template. `{{` and `}}` are literal braces, and so is an unmatched `}`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(place) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(place);
            plain.push_str(before);
            if brace.starts_with("{{") || brace.starts_with("}}") {
                plain.push_str(&brace[..1]);
                rest = &brace[2..];
                continue;
            }
            let Some(opened) = brace.strip_prefix('{') else {
                plain.push('}');
                rest = &brace[1..];
                continue;
            };
            let column = opened
                .split_once('}')
                .filter(|(column, _)| !column.trim().is_empty() && !column.contains(['{', '\n']));
            let Some((column, after)) = column else {
                let visible: String = brace.chars().take(20).collect();
                return Err(Error::usage(format!(
                    "the template has a `{{` that starts no column: `{}`",
                    visible.escape_debug()
                ))
                .hint("write `{question}` for a column, `{{` for a brace"));
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Column(column.trim().to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if parts.is_empty() {
            return Err(Error::usage("the template names no column")
                .hint("write `template: \"Question: {question}\"`"));
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// The columns that it names.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Column(name) => Some(name.as_str()),
        })
    }

    /// The text with the value of each column.
    pub(super) fn render(&self, mut value: impl FnMut(&str) -> Result<String>) -> Result<String> {
        let mut prompt = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => prompt.push_str(text),
                Part::Column(name) => prompt.push_str(&value(name)?),
            }
        }
        Ok(prompt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_braces() {
        let check = |text: &str, expect: &str| {
            let template = Template::parse(text).unwrap();
            let made = template.render(|name| Ok(format!("<{name}>"))).unwrap();
            assert_eq!(made, expect);
        };
        check("{a}", "<a>");
        check(
            "P: {passage}\n\nQ: { question }?",
            "P: <passage>\n\nQ: <question>?",
        );
        check("{a.b}{/c/0}", "<a.b></c/0>");
        check("{{\"x\": {a}}} }", "{\"x\": <a>} }");
        check("{{}} {é}", "{} <é>");
    }

    #[test]
    fn a_brace_that_starts_no_column_is_an_error() {
        for text in ["{a} {", "{a} {}", "{ }", "{a\n}", "{a {b}", "{a} {東"] {
            let error = Template::parse(text).unwrap_err();
            assert!(
                error.message().contains("starts no column"),
                "{text}: {error}"
            );
        }
        for text in ["", "plain", "{{a}}"] {
            let error = Template::parse(text).unwrap_err();
            assert_eq!(error.message(), "the template names no column");
        }
    }
}
