//! Lines of a journal that end with the journal's number and a checksum: `…,"journal":"51c0ffee","sum":"9ae0daaf"}`,
//! the CRC-32 of everything before it, both as eight hexadecimal digits.
//!
//! The number identifies lines of another journal, even one of the same eval. Lines without both, from older versions,
//! are accepted unless a newer line precedes them.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;

/// Precedes the digits of the journal's number.
const JOURNAL: &[u8] = br#","journal":""#;
/// Precedes the digits of the checksum.
const SUM: &[u8] = br#"","sum":""#;
/// Follows them.
const END: &[u8] = br#""}"#;
const DIGITS: usize = 8;

/// The number of a journal, in all of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct JournalNumber(u32);

impl JournalNumber {
    /// A new random number.
    pub(super) fn random() -> Self {
        // The state of a hash map is seeded by the system; this is not a secret.
        let random = RandomState::new().build_hasher().finish().to_le_bytes();
        Self(u32::from_le_bytes([
            random[0], random[1], random[2], random[3],
        ]))
    }

    /// The number of a merged journal, which is reproducible.
    pub(super) fn of(run_id: &str) -> Self {
        Self(crc32fast::hash(run_id.as_bytes()))
    }
}

/// The checksum of a line is wrong.
#[derive(Debug, PartialEq)]
pub(super) struct BrokenSeal;

/// A line without its seal.
#[derive(Debug, PartialEq)]
pub(super) struct Unsealed<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// Its journal; `None` for a line without a seal.
    pub(super) journal: Option<JournalNumber>,
}

/// Adds the number of the journal and the checksum to a line, which ends with `}` and a line feed.
pub(super) fn seal(mut line: Vec<u8>, journal: JournalNumber) -> Vec<u8> {
    debug_assert!(line.ends_with(b"}\n"));
    line.truncate(line.len() - 2);
    line.extend(JOURNAL);
    // Writing to memory cannot fail.
    let _ = write!(line, "{:08x}", journal.0);
    let sum = crc32fast::hash(&line);
    line.extend(SUM);
    let _ = write!(line, "{sum:08x}");
    line.extend(END);
    line.push(b'\n');
    line
}

/// Removes and checks the seal of a line, if it has one.
///
/// # Errors
/// When the checksum is wrong.
pub(super) fn unseal(line: &[u8]) -> Result<Unsealed<'_>, BrokenSeal> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let sealed = line.strip_suffix(END).and_then(|rest| {
        let (rest, sum) = digits(rest)?;
        let covered = rest.strip_suffix(SUM)?;
        let (rest, journal) = digits(covered)?;
        let text = rest.strip_suffix(JOURNAL)?;
        Some((text, JournalNumber(journal), covered, sum))
    });
    match sealed {
        None => Ok(Unsealed {
            text: Cow::Borrowed(line),
            journal: None,
        }),
        Some((text, journal, covered, sum)) if crc32fast::hash(covered) == sum => {
            let mut text = text.to_vec();
            text.push(b'}');
            Ok(Unsealed {
                text: Cow::Owned(text),
                journal: Some(journal),
            })
        }
        Some(_) => Err(BrokenSeal),
    }
}

/// Takes the digits of a number from the end of a text.
fn digits(text: &[u8]) -> Option<(&[u8], u32)> {
    let (rest, digits) = text.split_at_checked(text.len().checked_sub(DIGITS)?)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((rest, u32::from_str_radix(digits, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = br#"{"sample_id":"a","kind":"started"}"#;

    fn sealed() -> Vec<u8> {
        let mut line = LINE.to_vec();
        line.push(b'\n');
        let mut line = seal(line, JournalNumber(7));
        assert_eq!(line.pop(), Some(b'\n'));
        line
    }

    fn of(journal: Option<u32>) -> Unsealed<'static> {
        Unsealed {
            text: Cow::Borrowed(LINE),
            journal: journal.map(JournalNumber),
        }
    }

    #[test]
    fn a_sealed_line_is_the_line() {
        let line = sealed();
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
        assert_eq!(unseal(&line), Ok(of(Some(7))));
        assert_eq!(unseal(&[&line[..], b"\r"].concat()), Ok(of(Some(7))));
        // Written by an older version.
        assert_eq!(unseal(LINE), Ok(of(None)));
    }

    #[test]
    fn journals_have_numbers_of_their_own() {
        let numbers: std::collections::HashSet<_> =
            (0..100).map(|_| JournalNumber::random()).collect();
        assert!(numbers.len() > 95);
    }

    #[test]
    fn every_flipped_bit_is_seen_or_does_no_harm() {
        let whole = sealed();
        for bit in 0..whole.len() * 8 {
            let mut line = whole.clone();
            line[bit / 8] ^= 1 << (bit % 8);
            // A line without a seal is refused after a sealed one.
            let read = unseal(&line).ok().filter(|read| read.journal.is_some());
            if let Some(read) = read {
                assert_eq!(read, of(Some(7)), "{bit}");
            }
        }
    }
}
