//! Maps that have a `type`, anywhere among their keys.
//!
//! Only the kind knows its other keys, and a parser yields keys in their order. So maps with keys that only their kind
//! knows are read twice: [`Tagged`] finds the kind, [`KindKeys`](crate::eval::registry::KindKeys) passes it all the
//! others. serde's own `tag` attribute would buffer the map, which loses line numbers and texts such as `1.10`, and lets
//! unit variants accept unknown keys.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{Deserialize, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, nearest};
use crate::eval::registry::TYPE;

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

/// They are left for the kind.
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
