//! Collects the column names of rows without parsing their values.

use std::collections::HashSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};

/// The names of columns.
#[derive(Default)]
pub(super) struct ColumnNames {
    /// In order of appearance.
    pub(super) names: Vec<String>,
    known: HashSet<String>,
}

impl ColumnNames {
    pub(super) fn name(&mut self, name: &str) {
        if !self.known.contains(name) {
            self.known.insert(name.to_owned());
            self.names.push(name.to_owned());
        }
    }

    /// Adds the names of a row; false if it is not an object.
    pub(super) fn add(&mut self, line: &str) -> bool {
        let mut json = serde_json::Deserializer::from_str(line);
        let read = json.deserialize_map(Names(self));
        read.is_ok() && json.end().is_ok()
    }
}

/// Deserializes only the keys of an object.
struct Names<'a>(&'a mut ColumnNames);

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(Name(self.0))?.is_some() {
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Reads one key.
struct Name<'a>(&'a mut ColumnNames);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<(), D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        self.0.name(name);
        Ok(())
    }
}
