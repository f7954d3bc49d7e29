//! The part of a text that methods such as `find` look at: `text.find(part, start, end)`.

use super::super::value::Value;

/// A part of a text, as positions cut it.
pub(super) struct SearchedPart<'a> {
    pub(super) text: &'a str,
    /// How many characters stand before it.
    pub(super) start: usize,
}

impl<'a> SearchedPart<'a> {
    /// The part between up to two positions, which count from the end where they are negative. `Ok(None)` where there is none,
    /// not even an empty one: the start lies behind the end. An error where a position is none.
    pub(super) fn of(text: &'a str, positions: &[Value]) -> Result<Option<Self>, ()> {
        let (start, end) = match positions {
            [] => return Ok(Some(Self { text, start: 0 })),
            [start] => (start, &Value::None),
            [start, end] => (start, end),
            _ => return Err(()),
        };
        let length = text.chars().count();
        let place = |value: &Value, or: usize| match value {
            Value::None => Ok(or),
            value => {
                let place = value.as_integer().ok_or(())?.to_i64().ok_or(())?;
                let back = usize::try_from(place.unsigned_abs()).map_err(|_| ())?;
                Ok(if place < 0 {
                    length.saturating_sub(back)
                } else {
                    back
                })
            }
        };
        let (start, end) = (place(start, 0)?, place(end, length)?.min(length));
        if start > end {
            return Ok(None);
        }
        let at = |place: usize| {
            text.char_indices()
                .nth(place)
                .map_or(text.len(), |(at, _)| at)
        };
        let text = &text[at(start)..at(end)];
        Ok(Some(Self { text, start }))
    }
}

/// The lines of a text, by all that Python takes for the end of one; with their ends, if they are kept.
pub(super) fn lines(text: &str, keeps_ends: bool) -> Vec<&str> {
    let is_end = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(is_end) {
        let behind = &rest[end..];
        let first = behind.chars().next().map_or(0, char::len_utf8);
        let length = if behind.starts_with("\r\n") { 2 } else { first };
        lines.push(&rest[..if keeps_ends { end + length } else { end }]);
        rest = &rest[end + length..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}
