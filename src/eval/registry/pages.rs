//! For tests: the pages of the built-in kinds list exactly the keys that are read.

use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::{de::DeserializeOwned, forward_to_deserialize_any};

use super::BuiltIn;
use super::recipe::Recipe;

/// The keys that a struct reads.
pub(super) fn keys_of<T: DeserializeOwned>() -> Vec<&'static str> {
    let mut keys = Vec::new();
    // It returns no value, so that only the names are collected.
    let _ = T::deserialize(KeyCollector(&mut keys));
    assert!(!keys.is_empty());
    keys
}

/// A deserializer that records the keys it is asked for.
struct KeyCollector<'a>(&'a mut Vec<&'static str>);

impl<'de> Deserializer<'de> for KeyCollector<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.0.extend(keys);
        Err(Error::custom("no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Checks the page of a kind, and its summary.
pub(super) fn check<K: DeserializeOwned, T>(recipe: &Recipe<K, T>) {
    let BuiltIn {
        name,
        summary,
        page,
    } = recipe.about;
    assert!(
        !summary.is_empty() && !summary.ends_with('.') && !summary.contains('\n'),
        "{name}"
    );
    assert!(page.len() > summary.len(), "{name}");
    let mut documented: Vec<_> = recipe.about.options().map(|(key, _)| key).collect();
    let mut read = keys_of::<K>();
    documented.sort_unstable();
    read.sort_unstable();
    assert_eq!(documented, read, "{name}");
    for (key, meaning) in recipe.about.options() {
        assert!(
            !meaning.is_empty() && !meaning.ends_with('.'),
            "{name} {key}"
        );
    }
}

/// Checks that the row of a key that is a map lists the keys in it.
pub(super) fn check_row<T: DeserializeOwned>(about: &BuiltIn, key: &str) {
    let row = about.options().find(|(documented, _)| *documented == key);
    let (_, meaning) = row.unwrap_or_else(|| panic!("{} {key}", about.name));
    for within in keys_of::<T>() {
        assert!(
            meaning.contains(&format!("`{within}`")),
            "{} {key}.{within}",
            about.name
        );
    }
}
