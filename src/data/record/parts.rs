//! [`read_parts`]: a record of which some members are set apart, as the text that the line has of them.
//!
//! A [`Record`] is read in three ways, all by the one definition that it has:
//!
//! * whole: by its `Deserialize`;
//! * [abridged](super::abridged): without what only the disk needs;
//! * raw, where it is [scored anew](crate::run::rescore): what a verdict is made of comes as text, and where it
//!   stands in the line.
//!
//! The last two hand the same `Deserialize` a line in which something is set apart. They name those members and no
//! other: a member that is added to a record is read in all three ways.

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

/// Members of an object with what becomes of them; all others are read.
pub(crate) type Parts = &'static [(&'static str, Part)];

/// What becomes of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// It is passed over: the record has nothing in its place.
    Dropped,
    /// It is not decoded: its text is seen, and the record has nothing in its place.
    Apart,
    /// It is not decoded: its text is seen, and the record is read as if the line did not have it.
    Missing,
    /// It is decoded, and its text is seen too.
    Both,
    /// It is an object, some of whose members are set apart.
    Inside(Parts),
}

/// Reads a record. `see` sees the text of a member that is set apart, which is a part of the line.
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

/// Something that reads an object, from which it takes `parts`: in turn the deserializer of a struct, its visitor, the
/// members that the visitor asks for, and the seed of a struct inside.
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
    /// Which of the parts the next value is.
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

/// What a record has in the place of a member that is set apart: an empty text or object, or `null`.
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
