//! `Details`: further values of a score.

use std::borrow::Cow;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Named values in insertion order. A score has only a few, mostly with static names, so a list needs less time and
/// memory than a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details(Vec<(Cow<'static, str>, Value)>);

impl Details {
    /// No details.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an entry, replacing one with the same name.
    pub fn insert(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => entry.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// The entry with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let entry = self.0.iter().find(|entry| entry.0 == name)?;
        Some(&entry.1)
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// Retains only the entries for which `holds` is true.
    pub(crate) fn retain(&mut self, holds: impl Fn(&str, &Value) -> bool) {
        self.0.retain(|(name, value)| holds(name, value));
    }

    /// All values, mutable.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut().map(|entry| &mut entry.1)
    }
}

impl From<Map<String, Value>> for Details {
    fn from(map: Map<String, Value>) -> Self {
        let entries = map.into_iter();
        Self(entries.map(|(name, value)| (name.into(), value)).collect())
    }
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Details {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Details;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Details, A::Error> {
                let mut details = Details::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    details.insert(name, value);
                }
                Ok(details)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_replaces() {
        let mut details = Details::new();
        details.insert("z", 1);
        details.insert(String::from("a"), "x");
        details.insert("z", true);
        let text = serde_json::to_string(&details).expect("JSON");
        assert_eq!(text, r#"{"z":true,"a":"x"}"#);
        let read: Details = serde_json::from_str(&text).expect("the same");
        assert_eq!(read, details);
        assert_eq!(read.get("a"), Some(&Value::from("x")));
        assert_eq!(read.get("b"), None);
    }
}
