//! Lines of score files, which the official program writes for wrong answers.

use serde_json::Value as Json;

use super::answer::ResultField;
use super::layout;
use crate::bfcl::benchmark::tools::with_hints;
use crate::bfcl::checker::{self, AnswerKey, BfclVerdict, CRASH, CheckRequest, check};
use crate::bfcl::form::{FORM, FORMAT_SENSITIVITY, ORIGINAL, PromptForm};
use crate::calls::{JsonValue as _, Value};
use crate::data::{Record, Status};
use crate::error::Result;
use crate::text::escape_line_ends;

/// The verdict on an answer.
pub(super) struct AnswerVerdict {
    /// Whether it is right.
    pub(super) correct: bool,
    /// Whether it crashes the official program.
    pub(super) is_crash: bool,
    /// Its line, for wrong answers only.
    pub(super) line: Option<String>,
}

/// Scores an answer like the official program, or uses its recorded verdict; `None` if there is no verdict.
pub(super) fn judge(
    record: &Record,
    category: &str,
    answer: &ResultField,
    underscore_to_dot: Option<bool>,
    model: &str,
) -> Result<Option<AnswerVerdict>> {
    let ground_truth = Some(&record.ground_truth).filter(|truth| !truth.is_null());
    let wrong = Wrong {
        record,
        category,
        model,
        result: &answer.result,
        ground_truth: ground_truth.map(Value::from_serde),
    };
    let form_name = record.metadata.get(FORM).and_then(Json::as_str);
    let form = form_name.and_then(PromptForm::named);
    let is_without_form = category == FORMAT_SENSITIVITY && form.is_none();
    if layout::needs_official(category) || is_without_form {
        return Ok(recorded_verdict(record, &wrong));
    }
    let is_relevance = category.contains("relevance");
    let Some(functions) = record.metadata.get("function") else {
        return Ok(None);
    };
    if ground_truth.is_none() && !is_relevance {
        return Ok(None);
    }
    let entry = AnswerKey::new(&Value::from_serde(functions), wrong.ground_truth.as_ref());
    let entry = entry.map_err(|fault| crate::Error::usage(fault).at(&record.sample_id))?;
    // For `format_sensitivity` the original entry determines the check.
    let original = record.metadata.get(ORIGINAL).and_then(Json::as_str);
    let original = original.filter(|_| form.is_some());
    let request = CheckRequest {
        underscore_to_dot: underscore_to_dot
            .or_else(|| record.metadata.get("underscore_to_dot")?.as_bool())
            .unwrap_or(answer.is_native),
        format: form.map(PromptForm::call_format),
        has_tool_call_tag: form.is_some_and(PromptForm::has_tool_call_tag),
        ..CheckRequest::new(
            &entry,
            original.unwrap_or(category),
            if answer.is_native {
                checker::ModelAnswer::Native(&answer.result)
            } else {
                checker::ModelAnswer::Prompt(&answer.result)
            },
        )
    };
    let verdict = check(&request);
    let line = (!verdict.valid).then(|| {
        if is_relevance {
            wrong.relevance(&verdict, &entry)
        } else {
            wrong.calls(&verdict, &entry)
        }
    });
    Ok(Some(AnswerVerdict {
        correct: verdict.valid,
        is_crash: verdict.error_type == Some(CRASH),
        line,
    }))
}

/// The recorded verdict, where only the official program can score.
fn recorded_verdict(record: &Record, wrong: &Wrong<'_>) -> Option<AnswerVerdict> {
    let score = record.result.score.as_ref();
    let score = score.filter(|_| record.result.status == Status::Scored)?;
    Some(AnswerVerdict {
        correct: score.correct,
        is_crash: false,
        line: (!score.correct).then(|| {
            let error = match score.details.get("error") {
                Some(error @ Json::Object(_)) => Value::from_serde(error),
                other => dict([
                    (
                        "error_message",
                        Value::from_serde(other.unwrap_or(&Json::Array(Vec::new()))),
                    ),
                    ("error_type", score.reason.as_ref().into()),
                ]),
            };
            wrong.steps(error)
        }),
    })
}

/// The content of a wrong answer's line.
struct Wrong<'a> {
    record: &'a Record,
    category: &'a str,
    model: &'a str,
    result: &'a Value,
    ground_truth: Option<Value>,
}

impl Wrong<'_> {
    fn calls(&self, verdict: &BfclVerdict, entry: &AnswerKey) -> String {
        let kind = verdict.error_type.unwrap_or_default();
        let text = |value: &Value| Value::Str(python_str(value));
        let as_texts = kind == "ast_decoder:decoder_wrong_output_format";
        let mut members = self.start();
        members.push(("error", verdict.error_value(entry)));
        members.push(("error_type", kind.into()));
        members.push(("prompt", self.prompt()));
        let raw = self.result;
        let raw = if as_texts { text(raw) } else { raw.clone() };
        members.push(("model_result_raw", raw));
        if let Some(decoded) = &verdict.decoded {
            let decoded = if as_texts {
                text(decoded)
            } else {
                decoded.clone()
            };
            members.push(("model_result_decoded", decoded));
        }
        members.push(("possible_answer", self.possible_answer()));
        line(members)
    }

    fn relevance(&self, verdict: &BfclVerdict, entry: &AnswerKey) -> String {
        let mut members = self.start();
        members.push(("prompt", self.prompt()));
        members.push(("model_result", self.result.clone()));
        let decoded = verdict.decoded.clone().unwrap_or(Value::None);
        members.push(("decoded_result", decoded));
        members.push(("error", verdict.error_value(entry)));
        members.push(("error_type", verdict.error_type.unwrap_or_default().into()));
        line(members)
    }

    fn steps(&self, error: Value) -> String {
        let mut members = self.start();
        members.push(("error", error));
        members.push(("prompt", self.prompt()));
        members.push(("model_result_raw", self.result.clone()));
        members.push(("possible_answer", self.possible_answer()));
        line(members)
    }

    fn start(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("id", self.record.sample_id.as_str().into()),
            ("model_name", self.model.into()),
            ("test_category", self.category.into()),
            ("valid", Value::Bool(false)),
        ]
    }

    fn possible_answer(&self) -> Value {
        self.ground_truth.clone().unwrap_or(Value::None)
    }

    /// The entry as in the data.
    fn prompt(&self) -> Value {
        let mut members = vec![("id", self.record.sample_id.as_str().into())];
        let metadata = &self.record.metadata;
        if let Some(messages) = metadata.get("messages") {
            members.push(("question", Value::List(vec![Value::from_serde(messages)])));
        }
        if let Some(functions) = metadata.get("function") {
            // The official program writes the processed entry there.
            let functions = if metadata.contains_key(FORM) {
                Value::from_serde(&with_hints(functions, self.category))
            } else {
                Value::from_serde(functions)
            };
            members.push(("function", functions));
        }
        dict(members)
    }
}

/// Python's `str(value)`.
fn python_str(value: &Value) -> String {
    match value {
        Value::Str(text) => text.clone(),
        // Fails only for integers with more digits than Python prints.
        other => other.repr().unwrap_or_default(),
    }
}

pub(super) fn dict<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let members = members.into_iter();
    Value::Dict(members.map(|(key, value)| (key.into(), value)).collect())
}

/// An object as a line of a file.
pub(super) fn line<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> String {
    let mut line = dict(members).to_json_text().into_bytes();
    escape_line_ends(&mut line, 0);
    line.push(b'\n');
    String::from_utf8_lossy(&line).into_owned()
}
