//! Maps that have a `type`, anywhere among their keys.
//!
//! Only the kind knows its other keys, and a parser yields keys in their order. So maps with keys that only their kind
//! knows are read twice: [`Tagged`] finds the kind, [`KindKeys`] passes it all the others. serde's own `tag` attribute
//! would buffer the map, which loses line numbers and texts such as `1.10`, and lets unit variants accept unknown keys.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::value::MapDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Error as _, IgnoredAny, IntoDeserializer, MapAccess, Visitor,
};
use serde_json::{Map, Value};

use crate::error::{Error, nearest};

const TYPE: &str = "type";

/// What the map is about.
pub(super) trait TaggedKind {
    /// `agent`, `scorer`, …
    const WHAT: &'static str;
    /// A name, for messages.
    const EXAMPLE: &'static str;

    /// The built-in names.
    fn names() -> impl Iterator<Item = &'static str>;
}

/// What to do with the keys other than `type` while the kind is unknown.
pub(super) trait Rest: Default {
    /// Takes the next value.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error>;
}

/// They are left for [`KindKeys`].
impl Rest for () {
    fn take<'de, A: MapAccess<'de>>(&mut self, _: String, map: &mut A) -> Result<(), A::Error> {
        map.next_value::<IgnoredAny>().map(drop)
    }
}

/// They are plain values for any kind.
impl Rest for Map<String, Value> {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        self.insert(key, map.next_value()?);
        Ok(())
    }
}

/// A kind's name. A name alone is short for `{ type: name }`.
pub(super) struct Tagged<K: ?Sized, R = ()> {
    pub(super) name: String,
    pub(super) rest: R,
    kind: PhantomData<K>,
}

impl<K: ?Sized, R> Tagged<K, R> {
    fn new(name: String, rest: R) -> Self {
        Self {
            name,
            rest,
            kind: PhantomData,
        }
    }
}

impl<'de, K: TaggedKind + ?Sized, R: Rest> Deserialize<'de> for Tagged<K, R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaggedVisitor(PhantomData))
    }
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, K: TaggedKind + ?Sized, R: Rest> Visitor<'de> for TaggedVisitor<Tagged<K, R>> {
    type Value = Tagged<K, R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the name of a {what} or a map such as `{{ type: {example} }}`",
            what = K::WHAT,
            example = K::EXAMPLE,
        )
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Tagged::new(name.to_owned(), R::default()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut name, mut rest, mut near) = (None, R::default(), None);
        while let Some(key) = map.next_key::<String>()? {
            if key != TYPE {
                near = near.or_else(|| nearest(&key, [TYPE]).map(|_| key.clone()));
                rest.take(key, &mut map)?;
            } else if name.is_some() {
                return Err(A::Error::duplicate_field(TYPE));
            } else {
                name = Some(map.next_value()?);
            }
        }
        match name {
            Some(name) => Ok(Tagged::new(name, rest)),
            None => Err(A::Error::custom(missing::<K>(near))),
        }
    }
}

/// The error for a map without a `type`; `near` is a key that may be a misspelt one.
fn missing<K: TaggedKind + ?Sized>(near: Option<String>) -> Error {
    let names: Vec<_> = K::names().collect();
    let names = names.join("`, `");
    let article = if K::WHAT.starts_with(['a', 'e']) {
        "an"
    } else {
        "a"
    };
    let error = Error::usage(format!("missing key `{TYPE}` of {article} {}", K::WHAT));
    match near {
        Some(near) => error.hint(format!(
            "did you mean `{TYPE}` where it says `{near}`? legal names: `{names}`"
        )),
        None => error.hint(format!("add `{TYPE}: NAME`; legal names: `{names}`")),
    }
}

/// What a kind builds from its own keys.
pub(super) trait OfKeys: Sized {
    /// Reads the keys other than `type`.
    fn read<'de, A: MapAccess<'de>>(name: String, keys: A) -> Result<Self, A::Error>;
}

/// Passes the keys other than `type` to a kind, from a map that was read as [`Tagged`] before.
pub(super) struct KindKeys<T> {
    name: String,
    /// A key that is not the kind's.
    general: Option<&'static str>,
    made: PhantomData<T>,
}

impl<T> KindKeys<T> {
    /// For this kind.
    pub(super) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            general: None,
            made: PhantomData,
        }
    }

    /// Skips a key that every kind has, and none of them reads.
    pub(super) fn without(self, general: &'static str) -> Self {
        Self {
            general: Some(general),
            ..self
        }
    }
}

impl<'de, T: OfKeys> DeserializeSeed<'de> for KindKeys<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: OfKeys> Visitor<'de> for KindKeys<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name or a map")
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<T, E> {
        let nothing = std::iter::empty::<(&str, &str)>();
        T::read(self.name, MapDeserializer::new(nothing))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
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
                Some(Seen::Type(back)) => {
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
    Type(K),
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
            return Ok(Seen::Type(self.seed));
        }
        self.seed
            .deserialize(key.into_deserializer())
            .map(Seen::Other)
    }
}
