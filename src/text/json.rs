//! Finds the bytes that need an escape in a JSON string: quotes, backslashes and control characters.

/// The position of the first byte that cannot stand unescaped in a JSON string: a quote, a backslash or a control
/// character.
#[inline]
pub(crate) fn json_special(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks();
    for (place, word) in words.iter().enumerate() {
        let found = specials(*word);
        if found != 0 {
            return Some(8 * place + found.trailing_zeros() as usize / 8);
        }
    }
    let rest = rest.iter().position(|&byte| is_special(byte));
    rest.map(|rest| 8 * words.len() + rest)
}

/// Whether a text needs no escapes in a JSON string.
#[inline]
pub fn is_json_plain(bytes: &[u8]) -> bool {
    // In blocks; the last one overlaps the one before it.
    if let Some(last) = bytes.last_chunk() {
        let blocks = bytes.as_chunks().0.iter();
        return !blocks.fold(has_special(last), |found, block| found | has_special(block));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return specials(*first) | specials(*last) == 0;
    }
    if let (Some([a, b, c, d]), Some([e, f, g, h])) = (bytes.first_chunk(), bytes.last_chunk()) {
        return specials([*a, *b, *c, *d, *e, *f, *g, *h]) == 0;
    }
    !bytes.iter().any(|&byte| is_special(byte))
}

/// Written so that compilers emit a few comparisons of all sixteen bytes.
#[inline]
fn has_special(block: &[u8; 16]) -> bool {
    let found = |found, &byte: &u8| found | is_special(byte);
    block.iter().fold(false, found)
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, so that many bytes are compared at once"
)]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < b' ')
}

/// Marks the special bytes among eight, the first byte being the lowest. Only the lowest mark is reliable.
///
/// See "Determine if a word has a byte less than n" in Anderson's "Bit Twiddling Hacks".
#[inline]
fn specials(bytes: [u8; 8]) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let less = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let word = u64::from_le_bytes(bytes);
    // Flipping this bit moves the quote next to the control characters, and no other byte across the limit.
    let quote_or_control = less(word ^ (ONES * 2), 0x21);
    let backslash = less(word ^ (ONES * u64::from(b'\\')), 1);
    (quote_or_control | backslash) & (ONES * 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_found_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in [
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 15, 16, 17, 23, 24, 31, 32, 38, 39,
            ] {
                // The bytes after it do not matter.
                for behind in [b'a', b'!', b'"', 0x1f, 0xff, byte.wrapping_add(1)] {
                    let mut text = [0x80; 40];
                    text[place] = byte;
                    text[place + 1..].fill(behind);
                    for text in [&text[..], &text[..=place], &text[place..]] {
                        let expect = text.iter().position(|&byte| is_special(byte));
                        assert_eq!(json_special(text), expect, "{byte} {place} {behind}");
                        assert_eq!(
                            is_json_plain(text),
                            expect.is_none(),
                            "{byte} {place} {behind}"
                        );
                    }
                }
            }
        }
        assert!(is_json_plain(b"") && json_special(b"").is_none());
    }
}
