//! Kinds of agents and benchmarks, each read with its own keys: in a spec, or in the options of a scorer.
//!
//! Keys are read by the parser of YAML or by [`yaml::from_json`]. A third deserializer would compile all of them again.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::recipe::Chosen;
use super::{MadeAgent, Surroundings, agents, benchmarks, placed};
use crate::benchmark::Benchmark;
use crate::error::{Error, Result, nearest};
use crate::text::yaml;

/// The key that names the kind.
pub(in crate::eval) const TYPE: &str = "type";

/// An agent or a benchmark.
pub(in crate::eval) trait Kind: Sized + 'static {
    /// What it is, in messages.
    const WHAT: &'static str;
    /// The same with its article.
    const ONE: &'static str;
    /// An example of a kind.
    const EXAMPLE: &'static str;

    /// Reads the keys other than `type`.
    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Chosen<Self>, A::Error>;
}

impl Kind for MadeAgent {
    const WHAT: &'static str = "agent";
    const ONE: &'static str = "an agent";
    const EXAMPLE: &'static str = "openai";

    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Chosen<Self>, A::Error> {
        agents::read(name, keys)
    }
}

impl Kind for Arc<dyn Benchmark> {
    const WHAT: &'static str = "benchmark";
    const ONE: &'static str = "a benchmark";
    const EXAMPLE: &'static str = "qa";

    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Chosen<Self>, A::Error> {
        benchmarks::read(name, keys)
    }
}

/// Builds it from a name, or from a map with `type` and the keys of its kind.
///
/// # Errors
/// As in a spec, about keys inside the value.
pub(in crate::eval) fn of_value<T: Kind>(
    value: &Value,
    surroundings: &Surroundings<'_>,
) -> Result<T> {
    let (what, one, kind) = (T::WHAT, T::ONE, T::EXAMPLE);
    let (name, keys) = match value {
        Value::String(name) => (name.clone(), Map::new()),
        Value::Object(keys) => {
            let mut keys = keys.clone();
            match keys.shift_remove("type") {
                Some(Value::String(name)) => (name, keys),
                Some(other) => {
                    let error = Error::usage(format!("unknown type `{other}` of {what}"));
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
            let error = Error::usage(format!("expected a map for `{what}`, found `{other}`"));
            let hint = format!("write a map, as in `{what}: {{ type: {kind}, … }}`");
            return Err(error.hint(hint));
        }
    };
    chosen(&name, keys)?.make(surroundings)
}

/// The kind with its keys; an error has the key that it is about.
fn chosen<T: Kind>(name: &str, keys: Map<String, Value>) -> Result<Chosen<T>> {
    let read = yaml::from_json(KindKeys::of(name), keys.into());
    read.map_err(|(error, path)| hinted(placed(Error::usage(error.to_string()), &path)))
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

/// Passes the keys other than `type` to a kind, from a map whose `type` is known.
pub(in crate::eval) struct KindKeys<T> {
    name: String,
    /// A key that is not the kind's.
    general: Option<&'static str>,
    made: PhantomData<T>,
}

impl<T> KindKeys<T> {
    /// For this kind.
    pub(in crate::eval) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            general: None,
            made: PhantomData,
        }
    }

    /// Skips a key that every kind has, and none of them reads.
    pub(in crate::eval) fn without(self, general: &'static str) -> Self {
        Self {
            general: Some(general),
            ..self
        }
    }
}

impl<'de, T: Kind> DeserializeSeed<'de> for KindKeys<T> {
    type Value = Chosen<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Chosen<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Kind> Visitor<'de> for KindKeys<T> {
    type Value = Chosen<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name or a map")
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Chosen<T>, E> {
        yaml::from_json(self, Map::new().into()).map_err(|(error, _)| E::custom(error))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Chosen<T>, A::Error> {
        let rest = WithoutType {
            map,
            general: self.general,
        };
        T::read(self.name, rest)
    }
}

/// A map without its `type` and the keys that are not the kind's.
struct WithoutType<A> {
    map: A,
    general: Option<&'static str>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithoutType<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        mut seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        loop {
            let key = Key {
                seed,
                general: self.general,
            };
            match self.map.next_key_seed(key)? {
                Some(Seen::Other(key)) => return Ok(Some(key)),
                Some(Seen::Skipped(back)) => {
                    self.map.next_value::<IgnoredAny>()?;
                    seed = back;
                }
                None => return Ok(None),
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// The seed of a key, used while the parser is at the key, so that an error has its position.
struct Key<K> {
    seed: K,
    general: Option<&'static str>,
}

enum Seen<K, V> {
    /// The seed, not yet used.
    Skipped(K),
    Other(V),
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<K> {
    type Value = Seen<K, K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Key<K> {
    type Value = Seen<K, K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Self::Value, E> {
        if key == TYPE || Some(key) == self.general {
            return Ok(Seen::Skipped(self.seed));
        }
        self.seed
            .deserialize(key.into_deserializer())
            .map(Seen::Other)
    }
}
