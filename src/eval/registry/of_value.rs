//! An agent or a benchmark nested in something else, such as a scorer: built from a parsed value.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::value::MapDeserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::{Map, Value};

use super::recipe::{Chosen, Surroundings};
use super::{MadeAgent, agents, benchmarks, placed};
use crate::benchmark::Benchmark;
use crate::error::{Error, Result, nearest};

/// What can be nested.
pub(super) trait OfValue: Sized + 'static {
    /// What it is, in messages.
    const WHAT: &'static str;
    /// The same with its article.
    const ONE: &'static str;
    /// An example of a kind.
    const KIND: &'static str;

    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Chosen<Self>, A::Error>;
}

impl OfValue for MadeAgent {
    const WHAT: &'static str = "agent";
    const ONE: &'static str = "an agent";
    const KIND: &'static str = "openai";

    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Chosen<Self>, A::Error> {
        agents::read(name, keys)
    }
}

impl OfValue for Arc<dyn Benchmark> {
    const WHAT: &'static str = "benchmark";
    const ONE: &'static str = "a benchmark";
    const KIND: &'static str = "qa";

    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Chosen<Self>, A::Error> {
        benchmarks::read(name, keys)
    }
}

/// Builds it from a name, or from a map with `type` and the keys of its kind.
///
/// # Errors
/// As in a spec, about keys inside the value.
pub(super) fn of_value<T: OfValue>(value: &Value, surroundings: &Surroundings<'_>) -> Result<T> {
    let (what, one, kind) = (T::WHAT, T::ONE, T::KIND);
    let (name, keys) = match value {
        Value::String(name) => (name.clone(), Map::new()),
        Value::Object(keys) => {
            let mut keys = keys.clone();
            match keys.shift_remove("type") {
                Some(Value::String(name)) => (name, keys),
                Some(other) => {
                    let error = Error::usage(format!("`{other}` is no kind of {what}"));
                    let error = error.hint(format!("write `type: {kind}`"));
                    return Err(error.under("type"));
                }
                None => {
                    let error = Error::usage(format!("missing key `type` of {one}"));
                    let hint = format!("add one, as in `{what}: {{ type: {kind}, … }}`");
                    return Err(error.hint(hint));
                }
            }
        }
        other => {
            let error = Error::usage(format!("`{other}` is no {what}"));
            let hint = format!("write a map, as in `{what}: {{ type: {kind}, … }}`");
            return Err(error.hint(hint));
        }
    };
    chosen(name, keys)?.make(surroundings)
}

/// The kind with its keys; an error has the key that it is about.
fn chosen<T: OfValue>(name: String, keys: Map<String, Value>) -> Result<Chosen<T>> {
    let mut track = serde_path_to_error::Track::new();
    let keys: MapDeserializer<'_, _, serde_json::Error> = MapDeserializer::new(keys.into_iter());
    let keys = serde_path_to_error::Deserializer::new(keys, &mut track);
    let read = keys.deserialize_map(KindVisitor(name, PhantomData));
    read.map_err(|error| hinted(placed(Error::usage(error.to_string()), &track.path())))
}

/// Adds a hint to an error of serde, which calls keys fields.
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

struct KindVisitor<T>(String, PhantomData<T>);

impl<'de, T: OfValue> Visitor<'de> for KindVisitor<T> {
    type Value = Chosen<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the keys of {}", T::ONE)
    }

    fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<Self::Value, A::Error> {
        T::read(self.0, keys)
    }
}
