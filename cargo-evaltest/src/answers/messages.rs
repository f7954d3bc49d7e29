//! The messages of a conversation, as far as a scorer wants them.

use evaltest::dataset::python_json;
use serde_json::{Map, Value};

use super::json::{Cursor, Raw};

/// The messages with nothing but their roles; what is no object stays whole. An empty list for null, none
/// for what is no list.
///
/// A conversation is long and its roles are short: reading only these saves most of the time.
pub(super) fn roles(raw: Raw<'_>) -> Option<Vec<Value>> {
    // In cells of CSV files it is a text.
    let text = raw.content();
    let text = &*text;
    let mut cursor = Cursor::new(text, Vec::new());
    cursor.skip_space();
    if text[cursor.place()..].starts_with("null") {
        return Some(Vec::new());
    }
    let mut messages = Vec::new();
    if !cursor.eat(b'[') {
        return None;
    }
    cursor.skip_space();
    if cursor.eat(b']') {
        return Some(messages);
    }
    loop {
        cursor.skip_space();
        messages.push(if cursor.eat(b'{') {
            role(&mut cursor)?
        } else {
            value(cursor.value().ok()?)?
        });
        cursor.skip_space();
        if !cursor.eat(b',') {
            return cursor.eat(b']').then_some(messages);
        }
    }
}

/// The rest of an object whose brace is open, of which the role stays.
fn role(cursor: &mut Cursor<'_>) -> Option<Value> {
    let mut message = Map::new();
    cursor.skip_space();
    if cursor.eat(b'}') {
        return Some(message.into());
    }
    loop {
        cursor.skip_space();
        let is_role = cursor.key().ok()?.is("role");
        let found = cursor.value().ok()?;
        if is_role {
            message.insert("role".to_owned(), value(found)?);
        }
        cursor.skip_space();
        if !cursor.eat(b',') {
            return cursor.eat(b'}').then_some(message.into());
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

    fn read(text: &str) -> Option<Value> {
        let raw = Cursor::new(text, Vec::new()).value().expect("a value");
        roles(raw).map(Value::Array)
    }

    #[test]
    fn only_the_roles_are_kept() {
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
