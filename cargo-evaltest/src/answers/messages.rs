//! The messages of a conversation, reduced to what scorers need.

use evaltest::engine::data::python_json;
use evaltest::engine::text::{Cursor, Raw};
use serde_json::{Map, Value};

/// Fills in the messages with only their roles; values that are no objects are copied whole. No messages for null;
/// `None` if it is not a list.
///
/// Conversations are long and roles are short, so reading only the roles saves most of the time. Consecutive
/// conversations often have the same roles: matching entries are reused.
pub(super) fn fill_roles(raw: Raw<'_>, messages: &mut Vec<Value>) -> Option<()> {
    // In CSV cells the list is JSON text.
    let text = raw.content();
    let mut cursor = Cursor::new(&text, Vec::new());
    cursor.skip_space();
    if text[cursor.place()..].starts_with("null") {
        messages.clear();
        return Some(());
    }
    if !cursor.eat(b'[') {
        return None;
    }
    cursor.skip_space();
    if cursor.eat(b']') {
        messages.clear();
        return Some(());
    }
    let mut count = 0;
    loop {
        cursor.skip_space();
        let message = if cursor.eat(b'{') {
            Message::Role(role(&mut cursor)?)
        } else {
            Message::Other(cursor.value().ok()?)
        };
        match messages.get_mut(count) {
            Some(old) if message.is(old) => {}
            Some(old) => *old = message.value()?,
            None => messages.push(message.value()?),
        }
        count += 1;
        cursor.skip_space();
        if !cursor.eat(b',') {
            messages.truncate(count);
            return cursor.eat(b']').then_some(());
        }
    }
}

/// The retained part of a message.
enum Message<'a> {
    Role(Option<Raw<'a>>),
    Other(Raw<'a>),
}

impl Message<'_> {
    /// Whether it equals `old`, by a cheap check.
    fn is(&self, old: &Value) -> bool {
        match (self, old.as_object()) {
            (Self::Role(None), Some(old)) => old.is_empty(),
            (Self::Role(Some(role)), Some(old)) => {
                let old = old.get("role").and_then(Value::as_str);
                old.is_some_and(|old| role.is(old))
            }
            _ => false,
        }
    }

    fn value(&self) -> Option<Value> {
        match self {
            Self::Other(raw) => value(*raw),
            Self::Role(role) => {
                let mut message = Map::new();
                if let Some(role) = role {
                    message.insert("role".to_owned(), value(*role)?);
                }
                Some(message.into())
            }
        }
    }
}

/// Parses the rest of an object after its opening brace: its role, if any.
#[expect(
    clippy::option_option,
    reason = "no object, no role in it, and a role are three cases"
)]
fn role<'a>(cursor: &mut Cursor<'a>) -> Option<Option<Raw<'a>>> {
    let mut role = None;
    cursor.skip_space();
    if cursor.eat(b'}') {
        return Some(role);
    }
    loop {
        cursor.skip_space();
        let is_role = cursor.key().ok()?.is("role");
        let value = cursor.value().ok()?;
        if is_role {
            role = Some(value);
        }
        cursor.skip_space();
        if !cursor.eat(b',') {
            return cursor.eat(b'}').then_some(role);
        }
    }
}

fn value(raw: Raw<'_>) -> Option<Value> {
    match raw.text() {
        Some((text, _)) => Some(text.into_owned().into()),
        None => python_json(&raw.content()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Ignores any previous content.
    fn read(text: &str) -> Option<Value> {
        let raw = Cursor::new(text, Vec::new()).value().expect("a value");
        let before = [
            json!([]),
            json!([{"role": "tool"}, {}, 7, {"role": null}, [], {"role": "user"}]),
            json!([{}, {"role": "tool"}]),
        ];
        let read = before.map(|before| {
            let mut messages = before.as_array().cloned().unwrap_or_default();
            fill_roles(raw, &mut messages).map(|()| Value::Array(messages))
        });
        assert!(read.iter().all(|other| *other == read[0]), "{read:?}");
        read.into_iter().next().flatten()
    }

    #[test]
    fn only_roles_are_preserved() {
        let check = |text: &str, expect: Value| assert_eq!(read(text), Some(expect), "{text}");
        check("[]", json!([]));
        check("null", json!([]));
        check(
            r#"[ {"role" : "tool", "content":[{"role":"x"}]} , {"content":NaN}, {}, 7 ]"#,
            json!([{"role": "tool"}, {}, {}, 7]),
        );
        check(
            r#"[{"role":"a","\u0072ole":null}]"#,
            json!([{"role": null}]),
        );
        check(r#""[{\"role\":\"tool\"}]""#, json!([{"role": "tool"}]));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["{}", "1", r#""tool""#, r#""[{""#, r#""[1""#] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
