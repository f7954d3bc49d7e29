//! `SpanRow`: a span or another object as it was read, with its attributes apart. Those of OTLP are read without the lists
//! and objects that they are wrapped in: they are most of a file.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::span::{any_value, attributes, put};

/// An object, and its attributes by their dotted names.
#[derive(Debug, Default)]
pub(super) struct SpanRow {
    pub(super) members: Map<String, Value>,
    pub(super) attributes: Map<String, Value>,
}

impl SpanRow {
    /// Reads an object; `None` where it is none.
    pub(super) fn read(json: &[u8]) -> Option<Self> {
        if let Ok(row) = serde_json::from_slice(json) {
            return Some(row);
        }
        // With attributes of another form.
        let mut members: Map<String, Value> = serde_json::from_slice(json).ok()?;
        let attributes = attributes(members.shift_remove("attributes"));
        Some(Self {
            members,
            attributes,
        })
    }
}

impl<'de> Deserialize<'de> for SpanRow {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Rows;

        impl<'de> Visitor<'de> for Rows {
            type Value = SpanRow;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SpanRow, A::Error> {
                let mut row = SpanRow::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "attributes" {
                        row.attributes = map.next_value::<AttributeList>()?.0;
                    } else {
                        row.members.insert(key, map.next_value()?);
                    }
                }
                Ok(row)
            }
        }

        json.deserialize_map(Rows)
    }
}

/// Attributes as a list, or as an object.
struct AttributeList(Map<String, Value>);

impl<'de> Deserialize<'de> for AttributeList {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = AttributeList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("attributes")
            }

            fn visit_unit<E>(self) -> Result<AttributeList, E> {
                Ok(AttributeList(Map::new()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<AttributeList, A::Error> {
                let mut found = Map::new();
                while let Some(attribute) = seq.next_element::<Attribute>()? {
                    put(&mut found, attribute.key, attribute.value.0);
                }
                Ok(AttributeList(found))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AttributeList, A::Error> {
                let mut found = Map::new();
                while let Some((key, value)) = map.next_entry()? {
                    put(&mut found, key, value);
                }
                Ok(AttributeList(found))
            }
        }

        json.deserialize_any(List)
    }
}

#[derive(Deserialize)]
struct Attribute {
    key: String,
    #[serde(default)]
    value: AttributeValue,
}

/// A value without the object around it that names its type.
#[derive(Default)]
struct AttributeValue(Value);

impl<'de> Deserialize<'de> for AttributeValue {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Wrapped;

        impl<'de> Visitor<'de> for Wrapped {
            type Value = AttributeValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value of OTLP")
            }

            fn visit_unit<E>(self) -> Result<AttributeValue, E> {
                Ok(AttributeValue::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AttributeValue, A::Error> {
                let Some(kind) = map.next_key::<String>()? else {
                    return Ok(AttributeValue::default());
                };
                let inside: Value = map.next_value()?;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(AttributeValue(
                    if inside.is_string() && kind == "stringValue" {
                        inside
                    } else {
                        any_value(Value::Object(Map::from_iter([(kind, inside)])))
                    },
                ))
            }
        }

        json.deserialize_any(Wrapped)
    }
}
