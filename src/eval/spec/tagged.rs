//! Maps whose first key is `type`.
//!
//! serde's own `tag` attribute buffers the map, which loses line numbers and lets unit variants accept
//! unknown keys. Reading `type` in a visitor and handing the rest on keeps both.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Error as _, MapAccess, Visitor};

/// What a map with a `type` is read as.
pub(super) trait Typed: Sized {
    /// `agent`, `scorer`, …
    const WHAT: &'static str;
    /// A name, for messages.
    const EXAMPLE: &'static str;

    /// Reads the rest of the map behind the name.
    fn read<'de, A: MapAccess<'de>>(name: String, rest: A) -> Result<Self, A::Error>;
}

/// A thing that has its kind behind `type`. A name alone is short for `{ type: name }`.
pub(super) struct Tagged<T>(pub(super) T);

impl<'de, T: Typed> Deserialize<'de> for Tagged<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(TaggedVisitor(PhantomData))
            .map(Self)
    }
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Typed> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the name of a {what} or a map such as `{{ type: {example} }}`",
            what = T::WHAT,
            example = T::EXAMPLE,
        )
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<T, E> {
        let nothing = std::iter::empty::<(&str, &str)>();
        T::read(name.to_owned(), MapDeserializer::new(nothing))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        match map.next_key::<String>()?.as_deref() {
            Some("type") => {
                let name = map.next_value()?;
                T::read(name, map)
            }
            _ => Err(A::Error::custom(format!(
                "`type` must be the first key of {article} {}",
                T::WHAT,
                article = if T::WHAT.starts_with(['a', 'e']) {
                    "an"
                } else {
                    "a"
                }
            ))),
        }
    }
}
