//! [`read_parts`]: reads a record and returns the raw JSON text of some members separately.
//!
//! A [`Record`] can be read in three ways, all with the same definition:
//!
//! * whole: by its `Deserialize`;
//! * [abridged](super::super::record): without the parts that are only needed on disk;
//! * raw, for [rescoring](crate::run::rescore): the input of scoring as JSON text with its position in the line.
//!
//! The last two pass a filtered line to the same `Deserialize`. They only list the filtered members, so a new member
//! of a record is read in all three ways.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::value::RawValue;

use super::Record;
use crate::text::splice::Name;

/// Members of an object with special handling; all others are read normally.
pub(crate) type Parts = &'static [(&'static str, Part)];

/// The handling of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// Skipped: the record gets an empty value.
    Dropped,
    /// Not parsed: its text is passed on, and the record gets an empty value.
    Apart,
    /// Not parsed: its text is passed on, and the record is read as if it were missing.
    Missing,
    /// Parsed, and its text is passed on, too.
    Both,
    /// An object with members that have special handling.
    Inside(Parts),
}

/// Reads a record. `see` gets the text of separated members, borrowed from the line.
pub(crate) fn read_parts<'a>(
    line: &'a [u8],
    parts: Parts,
    mut see: impl FnMut(&'static str, &'a RawValue),
) -> serde_json::Result<Record> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let record = Record::deserialize(Sieve {
        inner: &mut json,
        parts,
        see: &mut see,
    })?;
    json.end()?;
    Ok(record)
}

/// Wraps each stage of reading an object to handle `parts`: the deserializer of a struct, its visitor, the map access,
/// and the seed of a nested struct.
struct Sieve<'s, I, F> {
    inner: I,
    parts: Parts,
    see: &'s mut F,
}

impl<'de, D, F> Deserializer<'de> for Sieve<'_, D, F>
where
    D: Deserializer<'de>,
    F: FnMut(&'static str, &'de RawValue),
{
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Sieve {
            inner: visitor,
            parts: self.parts,
            see: self.see,
        };
        self.inner.deserialize_struct(name, fields, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de, V, F> Visitor<'de> for Sieve<'_, V, F>
where
    V: Visitor<'de>,
    F: FnMut(&'static str, &'de RawValue),
{
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(SieveMap {
            inner: members,
            parts: self.parts,
            part: None,
            see: self.see,
        })
    }
}

impl<'de, S, F> DeserializeSeed<'de> for Sieve<'_, S, F>
where
    S: DeserializeSeed<'de>,
    F: FnMut(&'static str, &'de RawValue),
{
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Sieve {
            inner,
            parts: self.parts,
            see: self.see,
        })
    }
}

/// The members of an object.
struct SieveMap<'s, A, F> {
    inner: A,
    parts: Parts,
    /// The special handling of the next value, if any.
    part: Option<(&'static str, Part)>,
    see: &'s mut F,
}

impl<'de, A, F> MapAccess<'de> for SieveMap<'_, A, F>
where
    A: MapAccess<'de>,
    F: FnMut(&'static str, &'de RawValue),
{
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(Name(key)) = self.inner.next_key()? {
            let part = self.parts.iter().find(|(name, _)| *name == key);
            if let Some((name, Part::Missing)) = part {
                (self.see)(name, self.inner.next_value()?);
                continue;
            }
            self.part = part.copied();
            return seed.deserialize(key.into_deserializer()).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let Some((name, part)) = self.part else {
            return self.inner.next_value_seed(seed);
        };
        match part {
            Part::Dropped => {
                self.inner.next_value::<IgnoredAny>()?;
                seed.deserialize(Nothing(PhantomData))
            }
            Part::Apart | Part::Missing => {
                (self.see)(name, self.inner.next_value()?);
                seed.deserialize(Nothing(PhantomData))
            }
            Part::Both => {
                let text: &RawValue = self.inner.next_value()?;
                (self.see)(name, text);
                seed.deserialize(text).map_err(A::Error::custom)
            }
            Part::Inside(parts) => self.inner.next_value_seed(Sieve {
                inner: seed,
                parts,
                see: self.see,
            }),
        }
    }
}

/// The empty value of a separated member: an empty text or object, or `null`.
struct Nothing<E>(PhantomData<E>);

impl<'de, E: Error> Deserializer<'de> for Nothing<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_none()
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str("")
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str("")
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_map(MapDeserializer::new(std::iter::empty::<((), ())>()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct struct enum identifier ignored_any
    }
}
