//! `ItemReply`: the object in a model's reply, or why there is none.
//!
//! A reply is entirely JSON, or has one object in a fence or in prose. Objects that share no member with the fields are
//! skipped; two different ones are a contradiction, and so is a member repeated with another value.

use serde_json::{Map, Value};

use super::fields::ItemFields;
use crate::data::Unread;
use crate::scorer::ask::judge::reading::JudgeReply;

/// The object in a reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemReply {
    /// Its raw members.
    pub(crate) map: Map<String, Value>,
    /// How many backslashes were taken as literal, from TeX that was not escaped.
    pub(crate) repaired: u32,
}

/// The check that every reply must pass.
pub(crate) const READABLE: &str = "readable";
/// The check that all fields are present.
pub(crate) const COMPLETE: &str = "complete";

impl ItemReply {
    /// Reads a reply.
    pub(crate) fn of(text: &str, fields: &ItemFields) -> Result<Self, Unread> {
        let JudgeReply {
            whole,
            found,
            quoted,
            ..
        } = JudgeReply::parse(text)?;
        if let Some(json) = whole {
            let Value::Object(map) = json.value else {
                return Err(Unread::InvalidResponseFormat);
            };
            if !json.overwritten.is_empty()
                || !quoted.iter().all(|one| is_same(&one.map, &map, fields))
            {
                return Err(Unread::Conflicting);
            }
            return Ok(Self {
                map,
                repaired: json.repaired,
            });
        }
        let mut items = found
            .into_iter()
            .chain(quoted)
            .filter(|one| is_item(&one.map, fields));
        let first = items.next().ok_or(Unread::InvalidResponseFormat)?;
        if !first.overwritten.is_empty() || items.any(|other| other.map != first.map) {
            return Err(Unread::Conflicting);
        }
        // Within something that starts like JSON but is not, it may be part of another object.
        if !first.is_certain {
            return Err(Unread::InvalidResponseFormat);
        }
        Ok(Self {
            map: first.map,
            repaired: first.repaired,
        })
    }
}

/// Whether an object has a member of an item.
fn is_item(map: &Map<String, Value>, fields: &ItemFields) -> bool {
    map.keys().any(|name| fields.get(name).is_some())
}

/// Whether an object does not contradict an item.
fn is_same(map: &Map<String, Value>, item: &Map<String, Value>, fields: &ItemFields) -> bool {
    !is_item(map, fields) || map == item
}

/// What is wrong with an unreadable reply; the text follows `it`.
pub(super) fn unread(reason: Unread) -> &'static str {
    match reason {
        Unread::NoResponse => "was empty",
        Unread::Conflicting => "held two objects, or one member twice, that differ",
        Unread::Truncated => "was cut off before its end",
        Unread::Refusal => "was a refusal",
        _ => "was not one JSON object with the fields that were asked for",
    }
}

/// What is wrong with an item without these fields; the text follows `it`.
pub(super) fn lacks(names: &[String]) -> String {
    let names = crate::text::quoted(names.iter().map(String::as_str));
    format!("had nothing in {names}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fields::ItemField;
    use super::super::fields::tests::fields;
    use super::*;

    /// The item of a reply, or the check that it fails.
    fn read(text: &str, fields: &ItemFields) -> Result<Value, String> {
        let reply = ItemReply::of(text, fields).map_err(|_| READABLE)?;
        let read = fields.read(&reply.map);
        if !read.missing.is_empty() {
            return Err(COMPLETE.to_owned());
        }
        match read.wrong.first().and_then(|(name, _)| fields.get(name)) {
            None => Ok(read.item.into()),
            Some(wrong) => Err(ItemField::check_name(wrong)),
        }
    }

    fn aime() -> ItemFields {
        let yaml =
            "[{ name: problem, type: text }, { name: answer, type: integer, range: [0, 999] }]";
        fields(yaml).unwrap()
    }

    #[track_caller]
    fn check(text: &str, expect: Result<Value, &str>) {
        let read = read(text, &aime());
        assert_eq!(read, expect.map_err(str::to_owned), "{text:.200}");
    }

    #[test]
    fn an_object_is_found_whole_in_a_fence_or_in_prose() {
        let item = || Ok(json!({"problem": "p", "answer": 7}));
        let object = r#"{"problem": "p", "answer": "007", "mood": "good"}"#;
        check(object, item());
        check(&format!("\u{feff} {object}\n"), item());
        check(
            &format!("Here it is:\n```json\n{object}\n```\nEnjoy!"),
            item(),
        );
        check(
            &format!("Sure: {object} That is all, with {{braces}} and $\\{{x\\}}$."),
            item(),
        );
        check(
            &format!("<think>{{\"problem\": \"draft\"}}</think>{object}"),
            item(),
        );
        check(&format!("Form: {{\"example\": 1}}\n{object}"), item());
        // A repeated object is still one object.
        check(&format!("{object}\n{object}"), item());
    }

    #[test]
    fn latex_survives() {
        check(
            r#"{"problem": "Let $\frac{1}{2} \neq \sqrt{x}$ and \\cdot.", "answer": 1}"#,
            Ok(json!({"problem": r"Let $\frac{1}{2} \neq \sqrt{x}$ and \cdot.", "answer": 1})),
        );
    }

    #[test]
    fn what_is_not_one_object_is_unreadable() {
        let deep = format!(
            "{{\"problem\": {}{}}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let open = "{\"problem\": ".repeat(50_000);
        for text in [
            "",
            "  \u{200b}\n",
            "I would rather not.",
            "42",
            "null",
            r#"[{"problem": "p", "answer": 7}]"#,
            r#"{"problem": "p", "answer": NaN}"#,
            r#"{"problem": "p", "answer": 7"#,
            r#"{"problem": "p", "answer": 7} {"problem": "q", "answer": 7}"#,
            r#"{"problem": "p", "answer": 7, "answer": 8}"#,
            r#"Sure: {"problem": "p", "answer": 7, "answer": 8}"#,
            r#"{"broken": [ {"problem": "p", "answer": 7}"#,
            "<think>{\"problem\": \"p\", \"answer\": 7}",
            r#"<think>a</think>{"problem": "q", "answer": 1}</think>{"problem": "p", "answer": 7}"#,
            &deep,
            &open,
        ] {
            check(text, Err(READABLE));
        }
        let item = json!({"problem": "p", "answer": 7});
        check(r#"{"problem": "p", "answer": 7, "answer": 7}"#, Ok(item));
    }

    #[test]
    fn what_lacks_a_field_or_has_a_wrong_one_says_which() {
        check(r#"{"problem": "p"}"#, Err(COMPLETE));
        check(r#"{"problem": " \u200b\n", "answer": 7}"#, Err(COMPLETE));
        check(r#"{"problem": null, "answer": 7}"#, Err(COMPLETE));
        check(
            r#"{"problem": "p", "answer": true}"#,
            Err("answer_in_range"),
        );
        check(r#"{"problem": ["p"], "answer": 1}"#, Err("problem_in_form"));
    }

    #[test]
    fn long_texts_are_read_in_time_and_as_they_are() {
        let long = "\u{202e}é<script>".repeat(100_000);
        let text = json!({"problem": long, "answer": 7}).to_string();
        check(&text, Ok(json!({"problem": long, "answer": 7})));
    }
}
