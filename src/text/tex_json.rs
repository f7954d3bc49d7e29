//! JSON with TeX in its texts, as models write it: `"$\frac{a}{b}$"`, whose backslash should have been two.
//!
//! What is no escape of JSON is a backslash that stands for itself. `\b` and `\f` before a letter are, too: nobody means
//! a backspace there. `\n`, `\r` and `\t` are JSON's unless two things come together: they are the start of a TeX
//! [`command`], as in `\neq`, and there is evidence, that one of them stands in `$…$` or that the text has other
//! backslashes that stand for themselves. A text in which every backslash is escaped is read as any reader reads it;
//! half of a surrogate pair, for which JSON has an escape and Rust no character, is U+FFFD.
//!
//! Linear in the length of the text, and no deeper than `serde_json` goes.

mod command;
mod extent;
mod mend;

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::{Deserializer, Map, Value};

pub(crate) use extent::Extents;
use mend::mended;

/// A text of JSON that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TexJson {
    pub(crate) value: Value,
    /// How many backslashes were taken for themselves.
    pub(crate) repaired: u32,
    /// Members of the outermost object that come again with another value: what stood there before.
    pub(crate) overwritten: Vec<(String, Value)>,
}

/// Reads a text that is JSON from its first to its last character, but for the white space around it.
pub(crate) fn read(text: &str) -> Option<TexJson> {
    let (text, repaired) = mended(text);
    if !text.trim_start().starts_with('{') {
        return Some(TexJson {
            value: serde_json::from_str(&text).ok()?,
            repaired,
            overwritten: Vec::new(),
        });
    }
    let mut json = Deserializer::from_str(&text);
    let members = json.deserialize_map(Outermost).ok()?;
    json.end().ok()?;
    Some(TexJson {
        value: Value::Object(members.map),
        repaired,
        overwritten: members.overwritten,
    })
}

struct Outermost;

struct OutermostMembers {
    map: Map<String, Value>,
    overwritten: Vec<(String, Value)>,
}

impl<'de> Visitor<'de> for Outermost {
    type Value = OutermostMembers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut given: A) -> Result<Self::Value, A::Error> {
        let mut map = Map::new();
        let mut overwritten = Vec::new();
        while let Some((name, value)) = given.next_entry::<String, Value>()? {
            let old = map.insert(name.clone(), value);
            if let Some(old) = old.filter(|old| Some(old) != map.get(&name)) {
                overwritten.push((name, old));
            }
        }
        Ok(OutermostMembers { map, overwritten })
    }
}

#[cfg(test)]
mod tests;
