//! `JsonTemplate`: JSON with placeholders in its texts; `UrlTemplate`: an address with placeholders.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use crate::data::{AgentError, FailureKind, Task};
use crate::error::{Error, Result, nearest};
use crate::system::http::Url;

/// A name in braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    Prompt,
    Question,
    Id,
    Epoch,
    Attempt,
    Messages,
    Tools,
    Options,
    Metadata,
    Files,
    FileContents,
}

use Placeholder::{
    Attempt, Epoch, FileContents, Files, Id, Messages, Metadata, Options, Prompt, Question, Tools,
};

const NAMES: [(&str, Placeholder); 11] = [
    ("prompt", Prompt),
    ("question", Question),
    ("id", Id),
    ("epoch", Epoch),
    ("attempt", Attempt),
    ("messages", Messages),
    ("tools", Tools),
    ("options", Options),
    ("metadata", Metadata),
    ("files", Files),
    ("file_contents", FileContents),
];

impl Placeholder {
    fn value(self, task: &Task) -> Result<Value, AgentError> {
        Ok(match self {
            Prompt => task.prompt().into(),
            Question => task.question().into(),
            Id => task.id().into(),
            Epoch => task.epoch().into(),
            Attempt => task.attempt().into(),
            Messages if !task.messages().is_empty() => task.messages().into(),
            Messages => match task.metadata().get("messages") {
                Some(Value::Array(own)) if !own.is_empty() => own.clone().into(),
                _ => json!([{"role": "user", "content": task.prompt()}]),
            },
            Tools => task.tools().into(),
            Options => task.options().clone().into(),
            Metadata => task.metadata().clone().into(),
            Files => task
                .files()
                .iter()
                .map(|file| json!({"name": file.name, "path": file.path.to_string_lossy()}))
                .collect(),
            FileContents => {
                let content = |file: &crate::data::TaskFile| {
                    let bytes = std::fs::read(&file.path).map_err(|error| {
                        let message = format!("cannot read `{}`: {error}", file.path.display());
                        AgentError::of(FailureKind::Attachment, message)
                    })?;
                    Ok(json!({"name": file.name, "content": BASE64_STANDARD.encode(bytes)}))
                };
                let all: Result<Vec<Value>, AgentError> =
                    task.files().iter().map(content).collect();
                all?.into()
            }
        })
    }
}

/// A text in parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TextPart {
    Text(String),
    Hole(Placeholder),
}

/// Splits a text into parts, in one pass: filled-in text is not expanded again.
fn parts(text: &str) -> Result<Vec<TextPart>> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        plain.push_str(before);
        let doubled = from.starts_with("{{");
        let inner = &from[if doubled { 2 } else { 1 }..];
        let name = &inner[..inner
            .find(|c: char| !c.is_ascii_lowercase() && c != '_')
            .unwrap_or(inner.len())];
        let end = if doubled { "}}" } else { "}" };
        if name.is_empty() || !inner[name.len()..].starts_with(end) {
            // An ordinary brace.
            plain.push('{');
            rest = &from[1..];
            continue;
        }
        rest = &inner[name.len() + end.len()..];
        if doubled {
            let _ = write!(plain, "{{{name}}}");
            continue;
        }
        let found = NAMES.iter().find(|(known, _)| *known == name);
        let (_, placeholder) = found.ok_or_else(|| unknown(name))?;
        if !plain.is_empty() {
            parts.push(TextPart::Text(std::mem::take(&mut plain)));
        }
        parts.push(TextPart::Hole(*placeholder));
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(TextPart::Text(plain));
    }
    Ok(parts)
}

fn unknown(name: &str) -> Error {
    let legal = NAMES.iter().map(|(name, _)| *name);
    let names: Vec<String> = legal.clone().map(|name| format!("{{{name}}}")).collect();
    let error = Error::usage(format!(
        "unknown placeholder `{{{name}}}`, expected one of `{}`",
        names.join("`, `")
    ));
    match nearest(name, legal) {
        Some(near) => error.hint(format!(
            "did you mean `{{{near}}}`? `{{{{{name}}}}}` is the text itself"
        )),
        None => error.hint(format!("`{{{{{name}}}}}` is the text itself")),
    }
}

/// JSON with placeholders in its texts.
#[derive(Clone, Debug)]
pub(super) enum JsonTemplate {
    Plain(Value),
    Text(Vec<TextPart>),
    List(Vec<JsonTemplate>),
    Map(Vec<(String, JsonTemplate)>),
}

impl JsonTemplate {
    /// Parses a template; keys of maps are not expanded.
    ///
    /// # Errors
    /// When it has an unknown placeholder.
    pub(super) fn new(value: &Value) -> Result<Self> {
        Ok(match value {
            Value::String(text) => Self::Text(parts(text)?),
            Value::Array(list) => Self::List(list.iter().map(Self::new).collect::<Result<_>>()?),
            Value::Object(map) => {
                let entry = |(key, value): (&String, &Value)| Ok((key.clone(), Self::new(value)?));
                Self::Map(map.iter().map(entry).collect::<Result<_>>()?)
            }
            plain => Self::Plain(plain.clone()),
        })
    }

    /// Whether it contains a placeholder.
    pub(super) fn holds(&self, placeholder: Placeholder) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Text(parts) => parts.contains(&TextPart::Hole(placeholder)),
            Self::List(list) => list.iter().any(|part| part.holds(placeholder)),
            Self::Map(map) => map.iter().any(|(_, part)| part.holds(placeholder)),
        }
    }

    pub(super) fn fill(&self, task: &Task) -> Result<Value, AgentError> {
        Ok(match self {
            Self::Plain(value) => value.clone(),
            Self::Text(parts) => match &parts[..] {
                [TextPart::Hole(placeholder)] => placeholder.value(task)?,
                parts => {
                    let mut text = String::new();
                    for part in parts {
                        text.push_str(&written(part, task)?);
                    }
                    text.into()
                }
            },
            Self::List(list) => {
                let filled = list.iter().map(|template| template.fill(task));
                Value::Array(filled.collect::<Result<_, _>>()?)
            }
            Self::Map(map) => {
                let filled = map
                    .iter()
                    .map(|(key, template)| Ok((key.clone(), template.fill(task)?)));
                Value::Object(filled.collect::<Result<Map<_, _>, AgentError>>()?)
            }
        })
    }
}

/// A part as text.
fn written(part: &TextPart, task: &Task) -> Result<String, AgentError> {
    match part {
        TextPart::Text(text) => Ok(text.clone()),
        TextPart::Hole(placeholder) => Ok(match placeholder.value(task)? {
            Value::String(text) => text,
            value => value.to_string(),
        }),
    }
}

/// An address with placeholders after its host.
#[derive(Clone, Debug)]
pub(super) struct UrlTemplate {
    parts: Vec<TextPart>,
    example: &'static str,
}

impl UrlTemplate {
    pub(super) fn new(url: &str, example: &'static str) -> Result<Self> {
        let parts = parts(url)?;
        let begin = url.split_once("://").map_or("", |(_, rest)| rest);
        let host = begin.split(['/', '?']).next().unwrap_or_default();
        let holds_json = |part: &TextPart| match part {
            TextPart::Hole(hole) => ![Prompt, Question, Id, Epoch, Attempt].contains(hole),
            TextPart::Text(_) => false,
        };
        if host.contains('{') || parts.iter().any(holds_json) {
            let message = format!("`{url}` has a placeholder where none is allowed");
            return Err(Error::usage(message).hint("write `{id}` or `{prompt}` after the host"));
        }
        Ok(Self { parts, example })
    }

    /// The address for messages, with placeholders not filled in.
    pub(super) fn display(&self) -> String {
        let text = |part: &TextPart| match part {
            TextPart::Text(text) => text.clone(),
            TextPart::Hole(_) => "-".to_owned(),
        };
        self.parts.iter().map(text).collect()
    }

    /// The address for a task; `None` when it is the same for all.
    pub(super) fn fill(&self, task: &Task) -> Result<Option<Url>> {
        if self
            .parts
            .iter()
            .all(|part| matches!(part, TextPart::Text(_)))
        {
            return Ok(None);
        }
        let mut url = String::new();
        for part in &self.parts {
            let text = written(part, task).map_err(|error| Error::usage(error.message))?;
            match part {
                TextPart::Text(_) => url.push_str(&text),
                TextPart::Hole(_) => percent_encode(&text, &mut url),
            }
        }
        Url::new(url, self.example).map(Some)
    }
}

/// RFC 3986: all but unreserved characters.
fn percent_encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(byte.into());
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}
