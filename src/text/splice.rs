//! `Splice`: changes single members of a JSON text and leaves all others byte for byte. [`Members`]: the members of an
//! object, as text. [`Written`]: the serialized members of a struct.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::{fmt, io};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::ser::Formatter;
use serde_json::value::RawValue;

/// Changes to a text. A change is identified by the old value, which must be a slice of that text.
pub(crate) struct Splice<'a> {
    text: &'a [u8],
    changes: Vec<Change<'a>>,
}

struct Change<'a> {
    place: Range<usize>,
    /// The name of an added member.
    name: Option<&'static str>,
    value: &'a [u8],
}

impl<'a> Splice<'a> {
    pub(crate) fn of(text: &'a [u8]) -> Self {
        Self {
            text,
            changes: Vec::with_capacity(8),
        }
    }

    /// Replaces the value `old`.
    pub(crate) fn replace(&mut self, old: &str, value: &'a [u8]) {
        let place = place(self.text, old);
        self.change(place, None, value);
    }

    /// Adds a member after the one whose value is `before`.
    pub(crate) fn add_behind(&mut self, before: &str, name: &'static str, value: &'a [u8]) {
        let end = place(self.text, before).end;
        self.change(end..end, Some(name), value);
    }

    /// Removes the member whose value is `old`, with one comma.
    pub(crate) fn remove(&mut self, old: &str) {
        let Range { start, mut end } = place(self.text, old);
        let quote = |text: &[u8]| text.iter().rposition(|&byte| byte == b'"').unwrap_or(0);
        // Only the two quotes around the name are plain: others would be escaped, and no removed name has any.
        let mut start = quote(&self.text[..quote(&self.text[..start])]);
        let before = self.text[..start].trim_ascii_end();
        if before.ends_with(b",") {
            start = before.len() - 1;
        } else {
            let behind = self.text[end..].trim_ascii_start();
            if behind.starts_with(b",") {
                end = self.text.len() - behind.len() + 1;
            }
        }
        self.change(start..end, None, b"");
    }

    /// Appends the changed text to `out`.
    pub(crate) fn write(mut self, out: &mut Vec<u8>) {
        self.changes.sort_by_key(|change| change.place.start);
        let mut done = 0;
        for Change { place, name, value } in self.changes {
            out.extend_from_slice(&self.text[done..place.start]);
            if let Some(name) = name {
                out.extend_from_slice(b",\"");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"\":");
            }
            out.extend_from_slice(value);
            done = place.end;
        }
        out.extend_from_slice(&self.text[done..]);
    }

    fn change(&mut self, place: Range<usize>, name: Option<&'static str>, value: &'a [u8]) {
        self.changes.push(Change { place, name, value });
    }
}

/// The range of `part` in `text`.
pub(crate) fn place(text: &[u8], part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// The members of an object in order, each value as text.
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The text of a member's value.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let mut members = self.0.iter();
        let found = members.find(|(known, _)| known == name);
        found.map(|(_, value)| value.get())
    }

    /// The text of the last value.
    pub(crate) fn last(&self) -> Option<&'a str> {
        self.0.last().map(|(_, value)| value.get())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Pairs).map(Members)
    }
}

struct Pairs;

/// A member name, borrowed if it has no escapes.
#[derive(Deserialize)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(name), value)) = map.next_entry()? {
            members.push((name, value));
        }
        Ok(members)
    }
}

/// The serialized members of a struct, to be put into a [`Splice`].
pub(crate) struct Written(Marked);

/// A JSON text, and where each member of the outermost object ends.
struct Marked {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Written {
    pub(crate) fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        let mut written = Marked {
            text: Vec::with_capacity(1024),
            ends: Vec::with_capacity(16),
        };
        let mut json = serde_json::Serializer::with_formatter(&mut written, Marks { depth: 0 });
        value.serialize(&mut json)?;
        written.ends.push(written.text.len());
        Ok(Self(written))
    }

    /// The text of a value. The name must not need escapes.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        let Marked { text, ends } = &self.0;
        let mut start = 0;
        ends.iter().find_map(|&end| {
            let member = &text[start..end];
            start = end;
            let value = member.strip_prefix(b"\"")?.strip_prefix(name.as_bytes())?;
            value.strip_prefix(b"\":")
        })
    }
}

/// Written between members of the outermost object: serialized JSON contains no line break.
const MARK: &[u8] = b"\n";

impl Write for Marked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes == MARK {
            self.ends.push(self.text.len());
        } else {
            self.text.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A formatter that writes a mark between members of the outermost object, and nothing around them.
struct Marks {
    depth: usize,
}

impl Formatter for Marks {
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.depth > 1 {
            out.write_all(b"{")?;
        }
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth > 0 {
            out.write_all(b"}")?;
        }
        Ok(())
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        match (first, self.depth) {
            (true, _) => Ok(()),
            (false, 1) => out.write_all(MARK),
            (false, _) => out.write_all(b","),
        }
    }
}

/// Adds to `new` the members that only `old` has, byte for byte, also in nested objects. `old` is the same object
/// written by another version. Values that are not objects are left unchanged.
pub(crate) fn with_unknown(new: &str, old: &str) -> String {
    let members = |text| serde_json::from_str::<Members<'_>>(text);
    let (Ok(has), Ok(had)) = (members(new), members(old)) else {
        return new.to_owned();
    };
    let mut out = String::with_capacity(new.len() + old.len());
    let mut done = 0;
    for (name, value) in &has.0 {
        let value = value.get();
        if let Some(old) = had.get(name)
            && value.starts_with('{')
        {
            let place = place(new.as_bytes(), value);
            out.push_str(&new[done..place.start]);
            out.push_str(&with_unknown(value, old));
            done = place.end;
        }
    }
    let end = new.rfind('}').unwrap_or(new.len());
    out.push_str(&new[done..end]);
    let mut is_empty = has.0.is_empty();
    let mut start = old.find('{').map_or(0, |start| start + 1);
    for (name, value) in &had.0 {
        let end = place(old.as_bytes(), value.get()).end;
        if has.get(name).is_none() {
            if !is_empty {
                out.push(',');
            }
            let before = |c: char| c == ',' || c.is_ascii_whitespace();
            out.push_str(old[start..end].trim_start_matches(before));
            is_empty = false;
        }
        start = end;
    }
    out.push_str(&new[end..]);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, change: impl Fn(&mut Splice<'_>, &Members<'_>), expect: &str) {
        let members = serde_json::from_str(text).unwrap();
        let mut splice = Splice::of(text.as_bytes());
        change(&mut splice, &members);
        let mut out = Vec::new();
        splice.write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }

    #[test]
    fn what_does_not_change_stays_byte_for_byte() {
        let text = "{ \"a\" : 1.50, \"b\":[ \"x\" ],\"\\u0063\": {}, \"b2\" :null}";
        check(text, |_, _| (), text);
        let value = |members: &Members<'_>, name: &str| members.get(name).unwrap().as_ptr();
        check(
            text,
            |splice, members| {
                splice.add_behind(members.get("c").unwrap(), "d", b"4");
                splice.remove(members.get("c").unwrap());
                splice.replace(members.get("b").unwrap(), b"2");
                assert!(value(members, "a") < value(members, "c"));
            },
            "{ \"a\" : 1.50, \"b\":2,\"d\":4, \"b2\" :null}",
        );
        check(
            text,
            |splice, members| {
                splice.remove(members.get("a").unwrap());
                splice.remove(members.last().unwrap());
            },
            "{  \"b\":[ \"x\" ],\"\\u0063\": {}}",
        );
        check(
            "{\"a\":1}",
            |splice, members| splice.remove(members.get("a").unwrap()),
            "{}",
        );
    }

    #[test]
    fn members_are_found_as_they_are_written() {
        let inner = json!({"a": "x\ny", "b": {"c": [1, {"a": 2}]}});
        let written = Written::of(&json!({"b": inner, "a": null, "ab": "\"a\":1"})).unwrap();
        let text = |name: &str| String::from_utf8(written.get(name).unwrap().to_owned()).unwrap();
        assert_eq!(
            (text("a"), text("b"), text("ab")),
            (
                "null".to_owned(),
                inner.to_string(),
                r#""\"a\":1""#.to_owned()
            )
        );
        assert!(written.get("c").is_none() && Written::of(&json!({})).unwrap().get("a").is_none());
    }
}

#[cfg(test)]
mod unknown_tests {
    use super::*;

    #[test]
    fn what_only_the_old_object_has_is_added_byte_for_byte() {
        let check = |new, old, expect| assert_eq!(with_unknown(new, old), expect);
        check("{}", "{ \"a\" : 1.50 }", "{\"a\" : 1.50}");
        check("{\"a\":1}", "{\"a\":2}", "{\"a\":1}");
        check(
            "{\"a\":{\"b\":{}},\"l\":[{}],\"n\":null,\"o\":{}}",
            " {\"x\":\"},{\" , \"a\": {\"\\\"\\u0079\": [ ], \"b\": {\"z\":{ }}},\"l\":[{\"q\":0}],\
             \"n\":{\"q\":0},\n\"o\":null,\"x\":1}",
            "{\"a\":{\"b\":{\"z\":{ }},\"\\\"\\u0079\": [ ]},\"l\":[{}],\"n\":null,\"o\":{},\
             \"x\":\"},{\",\"x\":1}",
        );
        for (new, old) in [("[1]", "{\"a\":1}"), ("{\"b\":1}", "null"), ("1", "{")] {
            check(new, old, new);
        }
    }
}
