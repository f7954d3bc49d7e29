//! The reply form for endpoints that enforce one: a JSON schema, or a required tool call.
//!
//! It uses only what all endpoints support. Strict modes require every member and forbid others, and some models behind
//! them reject `minimum` and `maximum`, or accept integers in an `enum` but no lengths; so the schema lists the points.
//! Some endpoints accept only strings in the `enum` of a tool; so the tool describes the points in words. The reader
//! checks the reply in any case.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::rubric::{Choices, Dimension, Grading, Rubric};
use crate::data::ReplyForm;

/// The name of the schema, and of the tool.
pub(crate) const TOOL: &str = "record_grade";

/// The most points that a schema lists: strict endpoints reject schemas with more.
const MOST_LISTED: i64 = 500;

/// The schema of a reply, with members in the order they are written: the reason before the verdict.
pub(crate) fn schema(grading: &Grading) -> Value {
    reply(grading, true)
}

/// Additional members of a Chat Completions request for this form; none for text.
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
