//! One line of the input: locates the needed members and inserts a score.

use std::ops::Range;

use evaltest::Result;
use evaltest::engine::text::{Cursor, Raw};

use super::fields::{Fields, ID, MANY};

/// A JSON object on a line. If a key is duplicated the last one counts, as in Python.
pub(crate) struct Line<'a, const N: usize = MANY> {
    text: &'a str,
    /// Values of the requested fields.
    fields: [Option<Raw<'a>>; N],
    /// Offset of the object's closing brace.
    end: usize,
    /// Byte ranges of existing members with the output's name, each with one comma.
    old: Vec<Range<usize>>,
    /// Whether there are other members.
    has_others: bool,
}

impl<'a, const N: usize> Line<'a, N> {
    /// Parses a line and finds the first `count` fields. `output` is the member that will be added; `open` is a
    /// reusable buffer.
    pub(crate) fn parse(
        text: &'a str,
        fields: &Fields,
        count: usize,
        output: &str,
        open: &mut Vec<u8>,
    ) -> Result<Self> {
        let mut line = Self {
            text,
            fields: [None; N],
            end: 0,
            old: Vec::new(),
            has_others: false,
        };
        let mut cursor = Cursor::new(text, std::mem::take(open));
        cursor.skip_space();
        if !cursor.eat(b'{') {
            return Err(cursor.expected("an object, as `{\"prediction\":…}`"));
        }
        line.members(&mut cursor, fields, count, output)?;
        cursor.skip_space();
        if !cursor.at_end() {
            return Err(cursor.expected("the end of the line"));
        }
        *open = cursor.into_buffer();
        Ok(line)
    }

    fn members(
        &mut self,
        cursor: &mut Cursor<'a>,
        fields: &Fields,
        count: usize,
        output: &str,
    ) -> Result<()> {
        let mut comma = None;
        cursor.skip_space();
        self.end = cursor.place();
        if cursor.eat(b'}') {
            return Ok(());
        }
        loop {
            let start = cursor.place();
            let key = cursor.key().map_err(|what| cursor.expected(what))?;
            let value = cursor.value().map_err(|what| cursor.expected(what))?;
            let end = cursor.place();
            let is_old = key.is(output);
            fields.put(count, &key, value, &mut self.fields);
            cursor.skip_space();
            self.end = cursor.place();
            let is_last = cursor.eat(b'}');
            if !is_last && !cursor.eat(b',') {
                return Err(cursor.expected("`,` or `}`"));
            }
            let next_comma = self.end;
            cursor.skip_space();
            if is_old {
                // Include the comma before it, or after it if it comes first, so that an earlier run's member is
                // removed completely.
                self.old.push(match comma {
                    Some(comma) if self.has_others => comma..end,
                    _ if is_last => start..end,
                    _ => start..cursor.place(),
                });
            } else {
                self.has_others = true;
            }
            if is_last {
                return Ok(());
            }
            comma = Some(next_comma);
        }
    }

    /// Value of the field with this index in [`Fields`].
    pub(crate) fn field(&self, place: usize) -> Option<Raw<'a>> {
        self.fields[place]
    }

    /// Sets the bits in `found` of those of the first `count` fields that the line has; the first field is the lowest
    /// bit.
    pub(crate) fn add_found(&self, count: usize, found: &mut u16) {
        let all = (1 << count) - 1;
        if *found != all {
            for (place, field) in self.fields[..count].iter().enumerate() {
                *found |= u16::from(field.is_some()) << place;
            }
        }
    }

    /// Whether the line already has the output member.
    pub(crate) fn has_old(&self) -> bool {
        !self.old.is_empty()
    }

    /// Writes the line unchanged, with `value` as its last member in place of any existing one.
    pub(crate) fn splice(
        &self,
        output: &str,
        out: &mut Vec<u8>,
        value: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let mut place = 0;
        for old in &self.old {
            out.extend_from_slice(&self.text.as_bytes()[place..old.start]);
            place = old.end;
        }
        out.extend_from_slice(&self.text.as_bytes()[place..self.end]);
        if self.has_others {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(output.as_bytes());
        out.extend_from_slice(b"\":");
        value(out)?;
        out.extend_from_slice(&self.text.as_bytes()[self.end..]);
        Ok(())
    }
}

impl<'a> Line<'a> {
    /// The line's id.
    pub(super) fn id(&self) -> Option<Raw<'a>> {
        self.fields[ID..].iter().copied().flatten().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Line<'_>> {
        let fields = Fields::parse(&[]).expect("the usual names");
        Line::parse(text, &fields, MANY, "score", &mut Vec::new())
    }

    fn splice(text: &str) -> Result<String> {
        let line = parse(text)?;
        let mut out = Vec::new();
        line.splice("score", &mut out, |out| {
            out.push(b'7');
            Ok(())
        })?;
        Ok(String::from_utf8(out).expect("a text"))
    }

    fn check(text: &str, expect: &str) {
        assert_eq!(splice(text).expect(text), expect);
    }

    #[test]
    fn bytes_stay_as_they_are() {
        check(r#"{"a":1}"#, r#"{"a":1,"score":7}"#);
        check(
            " {\"a\" : [ 1e0 ] }\t\r\n",
            " {\"a\" : [ 1e0 ] ,\"score\":7}\t\r\n",
        );
        check("{}", r#"{"score":7}"#);
        check("{ }", r#"{ "score":7}"#);
        check(r#"{"a":{"score":1}}"#, r#"{"a":{"score":1},"score":7}"#);
        check(
            r#"{"Score":1,"scores":2}"#,
            r#"{"Score":1,"scores":2,"score":7}"#,
        );
    }

    #[test]
    fn an_old_member_goes_wherever_it_stands() {
        check(r#"{"a":1,"score":{"x":[1]}}"#, r#"{"a":1,"score":7}"#);
        check(
            r#"{"a":1, "score" : 2, "b":3 }"#,
            r#"{"a":1, "b":3 ,"score":7}"#,
        );
        check(r#"{"score":2, "b":3}"#, r#"{"b":3,"score":7}"#);
        check(r#"{ "score":2 }"#, r#"{  "score":7}"#);
        check(r#"{"score":1,"score":2}"#, r#"{"score":7}"#);
        check(
            r#"{"score":1,"score":2,"a":3,"score":4,"b":5}"#,
            r#"{"a":3,"b":5,"score":7}"#,
        );
        check(r#"{"a":1,"\u0073cor\u0065":"}"}"#, r#"{"a":1,"score":7}"#);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in [
            "[]",
            "1",
            "\"a\"",
            "{} {}",
            "{\"a\":1}}",
            "{\"a\":1",
            "{,}",
            "{\"a\":1,}",
        ] {
            assert!(splice(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let text =
            r#"{"prediction":"a","pr\u0065diction":"b","ground_truth":1,"ground_truth":"c"}"#;
        let line = parse(text).expect("an object");
        let string = |raw: Option<Raw<'_>>| raw.map(|raw| raw.content().into_owned());
        assert_eq!(string(line.field(0)).as_deref(), Some("b"));
        assert_eq!(string(line.field(1)).as_deref(), Some("c"));
    }
}
