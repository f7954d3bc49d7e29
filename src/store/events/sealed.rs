//! Lines of a journal with a checksum at their end: `…,"sum":"9ae0daaf"}`, the CRC-32 of what stands before it, as eight
//! hexadecimal digits.
//!
//! Lines without one, as older versions wrote them, are taken as they are.

use std::borrow::Cow;

/// What stands before the digits.
const KEY: &[u8] = br#","sum":""#;
/// What stands behind them.
const END: &[u8] = br#""}"#;
const DIGITS: usize = 8;

/// A line is not what was written.
#[derive(Debug, PartialEq)]
pub(super) struct BrokenSeal;

/// Adds the checksum to a line, which ends with `}` and a line feed.
pub(super) fn seal(mut line: Vec<u8>) -> Vec<u8> {
    debug_assert!(line.ends_with(b"}\n"));
    line.truncate(line.len() - 2);
    let sum = format!("{:08x}", crc32fast::hash(&line));
    line.extend(KEY);
    line.extend(sum.as_bytes());
    line.extend(END);
    line.push(b'\n');
    line
}

/// The line without its checksum, if it has one.
///
/// # Errors
/// When the checksum is that of another line.
pub(super) fn unseal(line: &[u8]) -> Result<Cow<'_, [u8]>, BrokenSeal> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let sealed = line.strip_suffix(END).and_then(|rest| {
        let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
        let digits = std::str::from_utf8(digits).ok()?;
        let sum = u32::from_str_radix(digits, 16).ok()?;
        Some((rest.strip_suffix(KEY)?, sum))
    });
    match sealed {
        None => Ok(Cow::Borrowed(line)),
        Some((rest, sum)) if crc32fast::hash(rest) == sum => {
            let mut line = rest.to_vec();
            line.push(b'}');
            Ok(Cow::Owned(line))
        }
        Some(_) => Err(BrokenSeal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = br#"{"sample_id":"a","kind":"started"}"#;

    fn sealed() -> Vec<u8> {
        let mut line = LINE.to_vec();
        line.push(b'\n');
        let mut line = seal(line);
        assert_eq!(line.pop(), Some(b'\n'));
        line
    }

    #[test]
    fn a_sealed_line_is_the_line() {
        let line = sealed();
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
        assert_eq!(unseal(&line).as_deref(), Ok(LINE));
        assert_eq!(unseal(&[&line[..], b"\r"].concat()).as_deref(), Ok(LINE));
        // Of an older version.
        assert_eq!(unseal(LINE).as_deref(), Ok(LINE));
    }

    #[test]
    fn every_flipped_bit_is_seen_or_does_no_harm() {
        let whole = sealed();
        for bit in 0..whole.len() * 8 {
            let mut line = whole.clone();
            line[bit / 8] ^= 1 << (bit % 8);
            match unseal(&line).as_deref() {
                Err(BrokenSeal) | Ok(LINE) => {}
                // Then it is no event: what is known of it is not what it says.
                Ok(read) => {
                    let value = serde_json::from_slice::<serde_json::Value>(read);
                    let is_harmless = value
                        .is_ok_and(|value| value["sample_id"] == "a" && value["kind"] == "started");
                    let cannot_be_read = serde_json::from_slice::<serde_json::Value>(read).is_err();
                    assert!(
                        is_harmless || cannot_be_read,
                        "{}",
                        String::from_utf8_lossy(&line)
                    );
                }
            }
        }
    }
}
