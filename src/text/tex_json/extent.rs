//! `Extents`: finds the end of JSON within a text.

use std::borrow::Cow;

use crate::text::json_cursor::Cursor;

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
