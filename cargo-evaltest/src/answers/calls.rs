//! `Calls`: an answer to an entry of the function-calling leaderboard, as it stands on a line.

use evaltest::scorer::bfcl::{Format, JsonFault, Value};
use evaltest::{Error, Result};

use super::fields::Fields;
use super::json::Raw;
use super::line::Line;

const NAMES: [&str; 9] = [
    "id",
    "category",
    "mode",
    "underscore_to_dot",
    "model_result",
    "return_format",
    "has_tool_call_tag",
    "function",
    "ground_truth",
];

const ID: usize = 0;
const CATEGORY: usize = 1;
const MODE: usize = 2;
const UNDERSCORE_TO_DOT: usize = 3;
const MODEL_RESULT: usize = 4;
const RETURN_FORMAT: usize = 5;
const HAS_TOOL_CALL_TAG: usize = 6;
const FUNCTION: usize = 7;
const GROUND_TRUTH: usize = 8;

/// A line with these fields.
pub(super) type CallsLine<'a> = Line<'a, { NAMES.len() }>;

/// An answer to an entry.
pub(crate) struct Calls {
    /// Which entry.
    pub(crate) id: Option<String>,
    pub(crate) category: String,
    /// Whether it is a list of native calls, not a text.
    pub(crate) is_native: bool,
    pub(crate) underscore_to_dot: bool,
    /// What the model said; an error if the official program could not read it.
    pub(crate) model_result: Result<Value, JsonFault>,
    pub(crate) format: Option<Format>,
    pub(crate) has_tool_call_tag: bool,
    /// In place of those of the data.
    pub(crate) function: Option<Value>,
    pub(crate) ground_truth: Option<Value>,
}

impl Calls {
    /// The fields of a line.
    pub(crate) fn fields() -> Fields {
        Fields::named(&NAMES)
    }

    /// Reads a line.
    pub(crate) fn parse<'a>(
        text: &'a str,
        fields: &Fields,
        output: &str,
        open: &mut Vec<u8>,
    ) -> Result<(CallsLine<'a>, Self)> {
        let line = CallsLine::parse(text, fields, NAMES.len(), output, open)?;
        let calls = Self::of(&line)?;
        Ok((line, calls))
    }

    fn of(line: &CallsLine<'_>) -> Result<Self> {
        let model_result = line
            .field(MODEL_RESULT)
            .ok_or_else(|| Error::usage("`model_result` is missing"))?;
        let is_native = match word(line, MODE)?.as_deref() {
            Some("prompt") => false,
            Some("fc") => true,
            // What a model without native calls says is a text.
            None => model_result.text().is_none(),
            Some(other) => {
                return Err(Error::usage(format!(
                    "`mode` is `{}`, expected `prompt` or `fc`",
                    other.escape_debug()
                )));
            }
        };
        let format = match word(line, RETURN_FORMAT)? {
            None => None,
            Some(name) => Some(Format::by_name(&name).ok_or_else(|| {
                Error::usage(format!(
                    "`return_format` is `{}`, expected `python`, `java`, `javascript`, `json`, \
                     `verbose_xml` or `concise_xml`",
                    name.escape_debug()
                ))
            })?),
        };
        let category = word(line, CATEGORY)?;
        Ok(Self {
            id: word(line, ID)?,
            category: category.ok_or_else(|| Error::usage("`category` is missing"))?,
            is_native,
            underscore_to_dot: flag(line, UNDERSCORE_TO_DOT)?,
            model_result: value(model_result),
            format,
            has_tool_call_tag: flag(line, HAS_TOOL_CALL_TAG)?,
            function: inline(line, FUNCTION)?,
            ground_truth: inline(line, GROUND_TRUTH)?,
        })
    }
}

/// A value as Python reads it: half of a surrogate pair and numbers of any size stay what they are.
fn value(raw: Raw<'_>) -> Result<Value, JsonFault> {
    match raw {
        Raw::Plain(text) => Ok(Value::text(text)),
        Raw::Escaped(text) => Value::from_json(&format!("\"{text}\"")),
        Raw::Other(text) => Value::from_json(text),
    }
}

fn given<'a>(line: &CallsLine<'a>, field: usize) -> Option<Raw<'a>> {
    line.field(field).filter(|raw| !raw.is_null())
}

fn wrong(field: usize, what: &str, raw: Raw<'_>) -> Error {
    let (name, kind) = (NAMES[field], raw.kind());
    Error::usage(format!("`{name}` must be {what}, not {kind}"))
}

fn word(line: &CallsLine<'_>, field: usize) -> Result<Option<String>> {
    let Some(raw) = given(line, field) else {
        return Ok(None);
    };
    let (text, _) = raw.text().ok_or_else(|| wrong(field, "a string", raw))?;
    Ok(Some(text.into_owned()))
}

fn flag(line: &CallsLine<'_>, field: usize) -> Result<bool> {
    match given(line, field) {
        None => Ok(false),
        Some(raw) => match &*raw.content() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong(field, "true or false", raw)),
        },
    }
}

/// An object or an array; in cells of CSV files it is inside a text.
fn inline(line: &CallsLine<'_>, field: usize) -> Result<Option<Value>> {
    let Some(raw) = given(line, field) else {
        return Ok(None);
    };
    match Value::from_json(&raw.content()) {
        Ok(value) => Ok(Some(value)),
        Err(_) => Err(wrong(field, "an array", raw)),
    }
}
