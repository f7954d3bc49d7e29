//! The schema of every built-in rubric, and what is sent to an endpoint.

use super::super::rubric::ready::READY;
use super::*;
use crate::text::yaml;

fn ready() -> impl Iterator<Item = Grading> {
    READY.iter().map(|one| {
        let rubric = yaml::read_json(one.text).unwrap();
        Grading::inline(&json!({ "rubric": rubric }))
    })
}

/// Where a reply violates the schema. Supports only the keywords used here.
fn wrong(schema: &Value, reply: &Value) -> Option<String> {
    let members = schema["properties"].as_object()?;
    let given = reply.as_object()?;
    let other = given.keys().find(|name| !members.contains_key(*name));
    let wrong = members.iter().find(|(name, member)| {
        let Some(value) = given.get(*name) else {
            return true;
        };
        let is_type = match member["type"].as_str().unwrap() {
            "string" => value.is_string(),
            "integer" => value.is_i64(),
            other => panic!("{other}"),
        };
        !is_type
            || member["enum"]
                .as_array()
                .is_some_and(|legal| !legal.contains(value))
    });
    other.or(wrong.map(|(name, _)| name)).cloned()
}

#[test]
fn every_ready_rubric_accepts_a_right_reply() {
    for grading in ready() {
        let schema = schema(&grading);
        assert_eq!(schema["additionalProperties"], false);
        let members: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        let required: Vec<_> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(members, required);
        assert_eq!(
            (required[0], required[required.len() - 1]),
            ("reason", "comments")
        );
        let reply = |points: &Value, verdict: &Value| -> Value {
            let value = |name: &str| match name {
                "reason" | "comments" => "x".into(),
                "verdict" => verdict.clone(),
                _ => points.clone(),
            };
            required
                .iter()
                .map(|name| ((*name).to_owned(), value(name)))
                .collect::<Map<_, _>>()
                .into()
        };
        for points in 1..=5 {
            assert_eq!(
                wrong(&schema, &reply(&points.into(), &"partial".into())),
                None
            );
        }
        let bad = [
            json!(0),
            json!(6),
            json!(4.5),
            json!("4"),
            json!(true),
            json!(null),
        ];
        for bad in bad {
            assert!(wrong(&schema, &reply(&bad, &bad)).is_some(), "{bad}");
        }
        for gone in &required {
            let mut reply = reply(&5.into(), &"correct".into());
            reply.as_object_mut().unwrap().remove(*gone);
            assert_eq!(wrong(&schema, &reply).as_deref(), Some(*gone));
            reply[gone] = if ["reason", "comments", "verdict"].contains(gone) {
                "correct".into()
            } else {
                5.into()
            };
            reply["more"] = 1.into();
            assert_eq!(wrong(&schema, &reply).as_deref(), Some("more"));
        }
    }
}

#[test]
fn request_schema_matches() {
    let grading = Grading::inline(
        &json!({ "rubric": { "dimensions": [{ "name": "a b", "scale": [0, 2] }], "pass": 1 } }),
    );
    let of = |form| Value::from(options(&grading, form)).to_string();
    let expect = r#"{"response_format":{"type":"json_schema","json_schema":{"name":"record_grade","strict":true,"schema":{"type":"object","properties":{"reason":{"type":"string"},"a b":{"type":"integer","description":"whole points from 0 to 2","enum":[0,1,2]},"comments":{"type":"string"}},"required":["reason","a b","comments"],"additionalProperties":false}}}}"#;
    assert_eq!(of(ReplyForm::Schema), expect);
    let expect = r#"{"tools":[{"type":"function","function":{"name":"record_grade","description":"Records the grade of the answer.","parameters":{"type":"object","properties":{"reason":{"type":"string"},"a b":{"type":"integer","description":"whole points from 0 to 2"},"comments":{"type":"string"}},"required":["reason","a b","comments"],"additionalProperties":false}}}],"tool_choice":{"type":"function","function":{"name":"record_grade"}}}"#;
    assert_eq!(of(ReplyForm::Tool), expect);
    assert_eq!(of(ReplyForm::Text), "{}");
    let grading = Grading::inline(&json!({ "choices": { "yes": 1, "no": 0 } }));
    let verdict = json!({ "type": "string", "enum": ["yes", "no"] });
    assert_eq!(schema(&grading)["properties"]["verdict"], verdict);
    let tool = options(&grading, ReplyForm::Tool);
    assert_eq!(
        tool["tools"][0]["function"]["parameters"]["properties"]["verdict"],
        verdict
    );
}

#[test]
fn long_scale_is_described_in_words() {
    let of = |high: i64| {
        let dimensions =
            json!([{ "name": "a", "scale": [1, high] }, { "name": "b", "scale": [1, 100] }]);
        let grading = Grading::inline(&json!({ "rubric": { "dimensions": dimensions } }));
        schema(&grading)["properties"]["a"].clone()
    };
    assert_eq!(of(400)["enum"].as_array().unwrap().len(), 400);
    assert_eq!(
        of(401),
        json!({ "type": "integer", "description": "whole points from 1 to 401" })
    );
}
