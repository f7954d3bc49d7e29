//! Arguments given as text: JSON, or a list of `key=value`.

use super::Call;
use super::{Brackets, Outside};
use crate::calls::{JsonValue as _, Value};
use crate::calls::{literal_eval, plain_calls};
use crate::text::is_py_space;

/// The call of `name` with these arguments.
///
/// Accepts JSON, a Python dictionary, or the arguments between the brackets of a call. Anything else is read as a list
/// such as `city=New York, days=3`, whose values are strings unless they are constants. A text without any `=` is a
/// single positional string.
pub(super) fn call(name: &str, text: &str) -> Call {
    let text = text.trim_matches(is_py_space);
    let mut call = Call {
        name: name.to_owned(),
        ..Call::default()
    };
    if text.is_empty() {
        return call;
    }
    let value = Value::from_json(text).ok().or_else(|| {
        let is_collection = text.starts_with(['{', '[']);
        is_collection.then(|| literal_eval(text).ok())?
    });
    if let Some(value) = value {
        put(&mut call, value);
        return call;
    }
    // A bare name is not a quoted string here either.
    if let Ok(mut read) = plain_calls(&format!("f({text}\n)"))
        && read.len() == 1
        && !read[0].has_bare_name
    {
        let read = read.swap_remove(0);
        call.positional = read.positional;
        call.named = read.named;
        return call;
    }
    for piece in pieces(text) {
        match piece.split_once('=') {
            Some((key, value)) => {
                let key = key.trim_matches(is_py_space).to_owned();
                call.named
                    .push((key, constant(value.trim_matches(is_py_space))));
            }
            // The comma was part of the previous value.
            None => match call.named.last_mut() {
                Some((_, Value::Str(value))) => {
                    value.push(',');
                    value.push_str(piece.trim_end_matches(is_py_space));
                }
                _ => call
                    .positional
                    .push(constant(piece.trim_matches(is_py_space))),
            },
        }
    }
    call
}

/// Splits a list at its commas, except those in brackets and quotes; at every comma if a bracket or quote stays open.
fn pieces(text: &str) -> Vec<&str> {
    let mut outside = Outside::of(Brackets::ALL);
    let mut pieces = Vec::new();
    let mut start = 0;
    for (place, c) in text.char_indices() {
        if c == ',' && outside.is_here() {
            pieces.push(&text[start..place]);
            start = place + 1;
        }
        outside.pass(c);
    }
    if !outside.is_here() {
        return text.split(',').collect();
    }
    pieces.push(&text[start..]);
    pieces
}

/// Adds arguments given as a value: an object has named ones, a list positional ones, null none.
pub(super) fn put(call: &mut Call, value: Value) {
    match value {
        Value::None => {}
        Value::Dict(dict) => {
            for (key, value) in &dict {
                let key = key
                    .as_str()
                    .map_or_else(|| key.repr().unwrap_or_default(), str::to_owned);
                call.named.push((key, value.clone()));
            }
        }
        Value::List(items) | Value::Tuple(items) => call.positional = items,
        other => call.positional.push(other),
    }
}

fn constant(text: &str) -> Value {
    let value = Value::from_json(text)
        .ok()
        .or_else(|| literal_eval(text).ok());
    value.unwrap_or_else(|| Value::text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_in_many_forms() {
        let check = |text: &str, expect: &str| {
            let call = call("f", text);
            let positional = call.positional.iter().map(|value| value.repr().unwrap());
            let named = call.named.iter();
            let named = named.map(|(name, value)| format!("{name}={}", value.repr().unwrap()));
            let rendered: Vec<String> = positional.chain(named).collect();
            assert_eq!(rendered.join(" "), expect, "{text}");
        };
        check("", "");
        check("{}", "");
        check(r#"{"a": 1, "b": [true, null]}"#, "a=1 b=[True, None]");
        check("{'a': 1, 'b': None}", "a=1 b=None");
        check("[1, \"x\"]", "1 'x'");
        check("\"x\"", "'x'");
        check("a=2+3, b='x'", "a=5 b='x'");
        check("city=New York, days=3", "city='New York' days=3");
        check("q=one, two, three, n=1", "q='one, two, three' n=1");
        check("l=[1, 2], q=New York", "l=[1, 2] q='New York'");
        check(
            "q=New York, d={'a': (1, 2)}",
            "q='New York' d={'a': (1, 2)}",
        );
        check("q=it's, r=\"a, b\", n=1 x", "q=\"it's\" r='a, b' n='1 x'");
        check("q=:(, n=1", "q=':(' n=1");
        check("Rome", "'Rome'");
        check("1 # x", "1");
    }
}
