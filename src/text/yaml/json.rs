//! JSON values without duplicate keys: only one of the values could count, and not the one that readers see first.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// Deserializes like [`Value`], but rejects duplicate keys, and puts the entries of a merge key `<<` in its place.
#[derive(Clone, Copy)]
pub(crate) struct OneEach;

impl<'de> DeserializeSeed<'de> for OneEach {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneEach {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        let number = Number::from_i128(value);
        number.map(Value::from).ok_or_else(out_of_range)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        let number = Number::from_u128(value);
        number.map(Value::from).ok_or_else(out_of_range)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let mut merges = false;
        while let Some(key) = entries.next_key::<String>()? {
            if map.is_empty() {
                // Growing a map step by step takes a fifth of the time of a row.
                map = Map::with_capacity(CAPACITY);
            }
            merges |= key == MERGE;
            match map.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(entries.next_value_seed(self)?);
                }
                Entry::Occupied(twice) => {
                    let key = twice.key();
                    return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
                }
            }
        }
        if merges && let Some(merged) = map.shift_remove(MERGE) {
            merge(&mut map, merged).map_err(A::Error::custom)?;
        }
        Ok(map.into())
    }
}

/// As many entries as rows of datasets have.
const CAPACITY: usize = 7;

/// The key whose maps are a part of the map around it.
pub(crate) const MERGE: &str = "<<";

/// Adds entries whose keys are not there: own ones count first, then those of the first map.
fn merge(map: &mut Map<String, Value>, merged: Value) -> Result<(), &'static str> {
    let maps = match merged {
        Value::Array(maps) => maps,
        one => vec![one],
    };
    for one in maps {
        let Value::Object(one) = one else {
            return Err("`<<` takes a map, or a list of maps");
        };
        for (key, value) in one {
            map.entry(key).or_insert(value);
        }
    }
    Ok(())
}

fn out_of_range<E: Error>() -> E {
    E::custom("JSON number out of range")
}
