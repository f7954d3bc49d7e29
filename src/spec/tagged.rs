//! Maps whose first key is `type`.
//!
//! serde's own `tag` attribute buffers the map, which loses line numbers and lets unit variants accept
//! unknown keys. Reading `type` in a visitor and handing the rest on keeps both.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// What can stand behind `type`.
pub(super) trait BuiltIns: Sized {
    /// `agent`, `scorer`, …
    const WHAT: &'static str;
    /// The names, for messages.
    const NAMES: &'static [&'static str];

    /// Reads the rest of the map; `None` for a name that is not built in.
    fn read<'de, A: MapAccess<'de>>(name: &str, rest: A) -> Option<Result<Self, A::Error>>;
}

/// A built-in thing with its typed keys, or a registered one with whatever keys it has. A name alone is
/// short for `{ type: name }`.
pub(super) enum Tagged<B> {
    BuiltIn(B),
    Other {
        name: String,
        options: Map<String, Value>,
    },
}

impl<'de, B: BuiltIns> Deserialize<'de> for Tagged<B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaggedVisitor(PhantomData))
    }
}

struct TaggedVisitor<B>(PhantomData<B>);

impl<B: BuiltIns> TaggedVisitor<B> {
    fn read<'de, A: MapAccess<'de>>(name: String, rest: A) -> Result<Tagged<B>, A::Error> {
        if B::NAMES.contains(&name.as_str()) {
            if let Some(read) = B::read(&name, rest) {
                return read.map(Tagged::BuiltIn);
            }
            return Err(A::Error::custom(format!("unknown {} `{name}`", B::WHAT)));
        }
        let options = Map::deserialize(MapAccessDeserializer::new(rest))?;
        Ok(Tagged::Other { name, options })
    }
}

impl<'de, B: BuiltIns> Visitor<'de> for TaggedVisitor<B> {
    type Value = Tagged<B>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let example = B::NAMES.first().copied().unwrap_or("gaia");
        write!(
            f,
            "the name of a {what} or a map such as `{{ type: {example} }}`",
            what = B::WHAT
        )
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Tagged<B>, E> {
        let nothing = std::iter::empty::<(&str, &str)>();
        Self::read(name.to_owned(), MapDeserializer::new(nothing))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tagged<B>, A::Error> {
        match map.next_key::<String>()?.as_deref() {
            Some("type") => {
                let name = map.next_value()?;
                Self::read(name, map)
            }
            _ => Err(A::Error::custom(format!(
                "`type` must be the first key of {article} {}",
                B::WHAT,
                article = if B::WHAT.starts_with(['a', 'e']) {
                    "an"
                } else {
                    "a"
                }
            ))),
        }
    }
}
