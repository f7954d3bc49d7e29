//! `Extents`: where JSON that stands somewhere in a text ends.

use std::borrow::Cow;

use crate::text::json_cursor::Cursor;

/// A text in which values are looked for.
pub(crate) struct Extents<'a> {
    /// The text with every backslash and what it escapes hidden, so that none of them can be wrong.
    masked: Cow<'a, str>,
    /// The containers that are open, kept to save the allocation.
    open: Vec<u8>,
}

impl<'a> Extents<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self {
            masked: masked(text),
            open: Vec::new(),
        }
    }

    /// The text with what backslashes escape hidden: byte for byte as long as the text.
    pub(crate) fn masked(&self) -> &str {
        &self.masked
    }

    /// The place behind the value that begins here, or the one where it stops being JSON.
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
        // A control character stays what it is, which may not stand in a text.
        if let Some(escaped @ b' '..=b'~') = bytes.get_mut(place) {
            *escaped = b'x';
            place += 1;
        }
    }
    // Only ASCII was put in the place of ASCII.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}
