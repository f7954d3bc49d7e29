//! JSON with TeX in its strings, as models write it: `"$\frac{a}{b}$"`, where the backslash should have been doubled.
//!
//! A backslash that does not start a JSON escape is literal. So is one in `\b` and `\f` before a letter: nobody means a
//! backspace there. `\n`, `\r` and `\t` are literal only if two things hold: they start a TeX [`command`], as in
//! `\neq`, and there is evidence, which is that one of them is in `$…$` or that the text has other literal backslashes.
//! A text with correctly escaped backslashes is read as usual. Half of a surrogate pair, which JSON can escape and Rust
//! cannot represent, becomes U+FFFD.
//!
//! Takes linear time and nests no deeper than `serde_json`.

mod command;
mod fix;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::{Deserializer, Map, Value};

use crate::text::json_cursor::Cursor;
use fix::fixed;

/// A parsed JSON text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TexJson {
    pub(crate) value: Value,
    /// How many backslashes were taken as literal.
    pub(crate) repaired: u32,
    /// Members of the outermost object that are repeated with another value: the overwritten values.
    pub(crate) overwritten: Vec<(String, Value)>,
}

/// Parses a text that is JSON throughout, apart from white space around it.
pub(crate) fn read(text: &str) -> Option<TexJson> {
    let (text, repaired) = fixed(text);
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

/// A text to search for values.
pub(crate) struct Extents<'a> {
    /// The text with every backslash and the character it escapes masked, so that no escape can be invalid.
    masked: Cow<'a, str>,
    /// The open containers; reused to save the allocation.
    open: Vec<u8>,
}

impl<'a> Extents<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self {
            masked: masked(text),
            open: Vec::new(),
        }
    }

    /// The text with its escapes masked; it has the same length in bytes.
    pub(crate) fn masked(&self) -> &str {
        &self.masked
    }

    /// The position after the value that starts here, or where it stops being JSON.
    pub(crate) fn end(&mut self, start: usize) -> Result<usize, usize> {
        let mut cursor = Cursor::new(&self.masked, std::mem::take(&mut self.open));
        cursor.back_to(start);
        let read = cursor.value().map(drop);
        let place = cursor.place();
        self.open = cursor.into_buffer();
        read.map(|()| place).map_err(|_| place)
    }
}

fn masked(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut place = 0;
    while let Some(found) = bytes[place..].iter().position(|&byte| byte == b'\\') {
        place += found;
        bytes[place] = b'x';
        place += 1;
        // Do not mask control characters: they are invalid in a string.
        if let Some(escaped @ b' '..=b'~') = bytes.get_mut(place) {
            *escaped = b'x';
            place += 1;
        }
    }
    // Only ASCII was replaced, by ASCII.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests;
