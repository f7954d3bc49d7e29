//! The form of a reply for endpoints that enforce one: a JSON schema, or a tool that must be called.
//!
//! It says only what all of them take. Strict modes want every member required and no others, and a part of the models
//! behind them refuse `minimum` and `maximum`, or know whole numbers in an `enum` but not lengths; so the schema lists the
//! points. Some endpoints take in the `enum` of a tool texts alone; so the tool tells the points in words. Whatever an
//! endpoint lets through, whoever reads the reply checks it.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::rubric::{Choices, Dimension, Grading, Rubric};
use crate::data::ReplyForm;

/// The name of the schema, and of the tool.
pub(crate) const TOOL: &str = "record_grade";

/// The most points that a schema lists: strict endpoints refuse more of them in one schema.
const MOST_LISTED: i64 = 500;

/// The schema of a reply, its members in the order in which they are written: the reason before the verdict.
pub(crate) fn schema(grading: &Grading) -> Value {
    reply(grading, true)
}

/// What a Chat Completions request says besides, for this form; nothing for a text.
pub(crate) fn options(grading: &Grading, form: ReplyForm) -> Map<String, Value> {
    let options = match form {
        ReplyForm::Schema => json!({
            "response_format": {
                "type": "json_schema",
                "json_schema": { "name": TOOL, "strict": true, "schema": schema(grading) },
            },
        }),
        ReplyForm::Tool => json!({
            "tools": [{
                "type": "function",
                "function": {
                    "name": TOOL,
                    "description": "Records the grade of the answer.",
                    "parameters": reply(grading, false),
                },
            }],
            "tool_choice": { "type": "function", "function": { "name": TOOL } },
        }),
        ReplyForm::Text => Value::Null,
    };
    match options {
        Value::Object(options) => options,
        _ => Map::new(),
    }
}

fn reply(grading: &Grading, lists_points: bool) -> Value {
    let mut members = Map::new();
    members.insert("reason".to_owned(), json!({ "type": "string" }));
    match grading {
        Grading::Rubric(rubric) => push_dimensions(&mut members, rubric, lists_points),
        Grading::Choices(Choices { offered, .. }) => {
            let names: Vec<_> = offered.iter().map(|choice| choice.name.as_str()).collect();
            members.insert(
                "verdict".to_owned(),
                json!({ "type": "string", "enum": names }),
            );
        }
    }
    if !grading.compares() {
        members.insert("comments".to_owned(), json!({ "type": "string" }));
    }
    let required: Vec<_> = members.keys().cloned().collect();
    json!({
        "type": "object",
        "properties": members,
        "required": required,
        "additionalProperties": false,
    })
}

fn push_dimensions(members: &mut Map<String, Value>, rubric: &Rubric, lists_points: bool) {
    let sizes = rubric
        .dimensions
        .iter()
        .map(|one| one.scale[1] - one.scale[0] + 1);
    let lists_points = lists_points && sizes.sum::<i64>() <= MOST_LISTED;
    for Dimension {
        name,
        scale: [low, high],
        ..
    } in &rubric.dimensions
    {
        let mut member = json!({
            "type": "integer",
            "description": format!("whole points from {low} to {high}"),
        });
        if lists_points {
            member["enum"] = (*low..=*high).collect();
        }
        members.insert(name.clone(), member);
    }
}
