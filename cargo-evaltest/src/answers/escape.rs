//! The escapes in a string of JSON.

/// A string without its escapes, and whether a lone surrogate was replaced by U+FFFD.
pub(super) fn unescaped(raw: &str) -> (String, bool) {
    let mut text = String::with_capacity(raw.len());
    let mut replaced = false;
    let mut rest = raw;
    while let Some(place) = rest.find('\\') {
        text.push_str(&rest[..place]);
        let (c, length) = unescape(&rest[place..]);
        replaced |= c.is_none();
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[place + length..];
    }
    text.push_str(rest);
    (text, replaced)
}

/// The character of the escape that the text starts with (none for a lone surrogate) and its length.
fn unescape(text: &str) -> (Option<char>, usize) {
    let c = match text.as_bytes().get(1) {
        Some(b'b') => '\x08',
        Some(b'f') => '\x0c',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unescape_unicode(text),
        Some(&other) => char::from(other),
        None => return (None, text.len()),
    };
    (Some(c), 2)
}

fn unescape_unicode(text: &str) -> (Option<char>, usize) {
    let unit = |text: &str| {
        let hex = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(hex, 16).ok()
    };
    let Some(first) = unit(text) else {
        return (None, text.len());
    };
    let pair = text.get(6..).and_then(unit).map(|second| [first, second]);
    if let Some(pair @ [0xd800..=0xdbff, 0xdc00..=0xdfff]) = pair {
        return (
            char::decode_utf16(pair).find_map(std::result::Result::ok),
            12,
        );
    }
    (char::from_u32(u32::from(first)), 6)
}
