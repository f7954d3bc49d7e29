//! The simple form of an entry: calls as `{name, arguments}`, with one value per argument.

use super::{Category, Value};
use crate::calls::Dict;
use crate::calls::JsonValue as _;
use crate::error::{Error, Result};

/// Expected calls in the official form, `[{name: {argument: [values]}}]`.
pub(crate) fn ground_truth(calls: Value) -> Result<Value> {
    let calls = match calls {
        Value::List(calls) => calls,
        Value::Dict(call) => vec![Value::Dict(call)],
        _ => return Err(Error::usage("`ground_truth` is not a list of calls")),
    };
    let calls = calls.into_iter().map(call);
    Ok(Value::List(calls.collect::<Result<_>>()?))
}

fn call(call: Value) -> Result<Value> {
    let simple = call.as_dict().and_then(|dict| {
        let name = dict.get_str("name").and_then(Value::as_str)?;
        let arguments = dict.get_str("arguments")?;
        Some((name.to_owned(), arguments.clone()))
    });
    let Some((name, arguments)) = simple else {
        return Ok(call);
    };
    let arguments = match &arguments {
        // Arguments as JSON text, as models write them.
        Value::Str(text) => Value::from_json(text).ok(),
        _ => Some(arguments),
    };
    let Some(Value::Dict(arguments)) = arguments else {
        return Err(Error::usage(format!(
            "the `arguments` of the call of `{name}` are not an object"
        )));
    };
    let options = arguments
        .iter()
        .map(|(key, value)| (key.clone(), Value::List(vec![option(value)])))
        .collect();
    Ok(dict([(name.as_str(), Value::Dict(options))]))
}

/// In a dictionary each key has its own list of accepted values.
fn option(value: &Value) -> Value {
    match value {
        Value::Dict(dict) => Value::Dict(
            dict.iter()
                .map(|(key, value)| (key.clone(), Value::List(vec![value.clone()])))
                .collect(),
        ),
        Value::List(items) if items.iter().any(|item| item.as_dict().is_some()) => {
            Value::List(items.iter().map(option).collect())
        }
        other => other.clone(),
    }
}

/// Function documents derived from the calls: all arguments are required, with the types of their values. `None`
/// without calls.
pub(crate) fn functions(ground_truth: Option<&Value>) -> Option<Value> {
    let calls = ground_truth.and_then(Value::as_list)?;
    let mut documents: Vec<(&str, Dict)> = Vec::new();
    for call in calls {
        let (name, arguments) = call.as_dict()?.iter().next()?;
        let (name, arguments) = (name.as_str()?, arguments.as_dict()?);
        let place = documents.iter().position(|(known, _)| *known == name);
        let place = place.unwrap_or_else(|| {
            documents.push((name, Dict::new()));
            documents.len() - 1
        });
        for (argument, options) in arguments {
            let value = options.as_list().and_then(|options| {
                let is_given = |option: &&Value| option.as_str() != Some("");
                options.iter().find(is_given).or(options.first())
            });
            let property = property(value.unwrap_or(&Value::None));
            documents[place].1.insert(argument.clone(), property);
        }
    }
    let document = |(name, properties): (&str, Dict)| {
        let required: Vec<Value> = properties.iter().map(|(key, _)| key.clone()).collect();
        let parameters = dict([
            ("type", "dict".into()),
            ("properties", Value::Dict(properties)),
            // An argument missing in one call may be in another; the expected calls decide.
            (
                "required",
                Value::List(if calls.len() == 1 {
                    required
                } else {
                    Vec::new()
                }),
            ),
        ]);
        dict([
            ("name", name.into()),
            ("description", "".into()),
            ("parameters", parameters),
        ])
    };
    (!documents.is_empty()).then(|| Value::List(documents.into_iter().map(document).collect()))
}

fn property(value: &Value) -> Value {
    let kind = |value: &Value| match value {
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(_) => "float",
        Value::List(_) | Value::Tuple(_) => "array",
        Value::Dict(_) => "dict",
        _ => "string",
    };
    match value.as_list() {
        None => dict([("type", kind(value).into())]),
        Some(items) => {
            let item = items.first().map_or("string", kind);
            dict([
                ("type", "array".into()),
                ("items", dict([("type", item.into())])),
            ])
        }
    }
}

/// The category of an entry that does not name one.
pub(crate) fn category(functions: &Value, ground_truth: Option<&Value>) -> Category {
    let count = |value: &Value| value.as_list().map_or(0, <[Value]>::len);
    let name = match (ground_truth.map_or(0, count), count(functions)) {
        (0, _) => "irrelevance",
        (1, 0 | 1) => "simple_python",
        (1, _) => "multiple",
        (_, 0 | 1) => "parallel",
        _ => "parallel_multiple",
    };
    Category::named(name)
}

fn dict<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.into_iter();
    Value::Dict(entries.map(|(key, value)| (key.into(), value)).collect())
}
