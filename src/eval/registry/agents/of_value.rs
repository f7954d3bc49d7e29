//! An agent that stands inside something else, such as a scorer: made of a value that was read already.

use std::fmt;

use serde::Deserializer;
use serde::de::value::MapDeserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::{Map, Value};

use super::read;
use crate::error::{Error, Result, nearest};
use crate::eval::registry::recipe::{Chosen, Surroundings};
use crate::eval::registry::{MadeAgent, placed};

/// The agent that a name means, or a map with `type` and the keys of its kind.
///
/// # Errors
/// As those of a spec, about keys inside the value.
pub(in crate::eval::registry) fn agent_of(
    value: &Value,
    surroundings: &Surroundings<'_>,
) -> Result<MadeAgent> {
    let (name, keys) = match value {
        Value::String(name) => (name.clone(), Map::new()),
        Value::Object(keys) => {
            let mut keys = keys.clone();
            match keys.shift_remove("type") {
                Some(Value::String(name)) => (name, keys),
                Some(other) => {
                    let error = Error::usage(format!("`{other}` is no kind of agent"));
                    return Err(error.hint("write `type: openai`").under("type"));
                }
                None => {
                    let error = Error::usage("missing key `type` of an agent");
                    return Err(error.hint("add one, as in `agent: { type: openai, … }`"));
                }
            }
        }
        other => {
            let error = Error::usage(format!("`{other}` is no agent"));
            return Err(error.hint("write a map, as in `agent: { type: openai, … }`"));
        }
    };
    chosen(name, keys)?.make(surroundings)
}

/// The kind with its keys; an error knows the key that it is about.
fn chosen(name: String, keys: Map<String, Value>) -> Result<Chosen<MadeAgent>> {
    let mut track = serde_path_to_error::Track::new();
    let keys: MapDeserializer<'_, _, serde_json::Error> = MapDeserializer::new(keys.into_iter());
    let keys = serde_path_to_error::Deserializer::new(keys, &mut track);
    let read = keys.deserialize_map(KindVisitor(name));
    read.map_err(|error| hinted(placed(Error::usage(error.to_string()), &track.path())))
}

/// An error of serde with what to type. That names keys fields.
fn hinted(error: Error) -> Error {
    let message = error.message();
    let mut named = message.split('`').skip(1).step_by(2);
    let given = named.next().unwrap_or_default();
    let hint = if message.contains("missing field") {
        format!("add the key `{given}`")
    } else if message.contains("unknown field") {
        match nearest(given, named) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("remove `{given}`, or write one of those"),
        }
    } else if message.contains("expected f64") {
        "write a number, such as `0.5`".to_owned()
    } else {
        return error;
    };
    error.hint(hint)
}

struct KindVisitor(String);

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Chosen<MadeAgent>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the keys of an agent")
    }

    fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<Self::Value, A::Error> {
        read(self.0, keys)
    }
}
