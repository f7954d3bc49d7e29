//! `AnswerBits`: one bit per sample, serialised as base64.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One bit per sample; the first is the highest bit of the first byte.
///
/// Uses standard base64 with padding, so that any program can read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerBits(Vec<u8>);

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl FromIterator<bool> for AnswerBits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut bytes = Vec::new();
        for (place, bit) in bits.into_iter().enumerate() {
            if place % 8 == 0 {
                bytes.push(0);
            }
            if let Some(last) = bytes.last_mut() {
                *last |= u8::from(bit) << (7 - place % 8);
            }
        }
        Self(bytes)
    }
}

impl AnswerBits {
    /// The bit of a sample; false if out of range.
    pub fn get(&self, place: usize) -> bool {
        let byte = self.0.get(place / 8).copied().unwrap_or_default();
        byte >> (7 - place % 8) & 1 == 1
    }

    /// Whether the length matches this number of samples.
    pub(super) fn is_of(&self, count: usize) -> bool {
        self.0.len() == count.div_ceil(8)
    }

    fn text(&self) -> String {
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for three in self.0.chunks(3) {
            let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for place in 0..4 {
                let digit = bits >> (18 - 6 * place) & 63;
                let digit = if place > three.len() {
                    b'='
                } else {
                    DIGITS[digit as usize]
                };
                text.push(char::from(digit));
            }
        }
        text
    }

    fn of(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches('=').as_bytes();
        if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
            return None;
        }
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
        for four in digits.chunks(4) {
            let mut bits = 0;
            for digit in four {
                bits = bits << 6 | u32::from(value(*digit)?);
            }
            let missing = 4 - four.len();
            let [_, three @ ..] = (bits << (6 * missing)).to_be_bytes();
            bytes.extend_from_slice(&three[..3 - missing]);
        }
        Some(Self(bytes))
    }
}

/// The value of a base64 digit.
fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

impl Serialize for AnswerBits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text())
    }
}

impl<'a> Deserialize<'a> for AnswerBits {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<'a, str>::deserialize(from)?;
        Self::of(&text).ok_or_else(|| D::Error::custom("its `answers` are no base64"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back_as_they_went() {
        for count in 0..70 {
            let bits: Vec<bool> = (0..count).map(|place| place * place % 7 < 3).collect();
            let written: AnswerBits = bits.iter().copied().collect();
            let read = AnswerBits::of(&written.text()).unwrap();
            assert_eq!(read, written);
            assert!(read.is_of(count));
            let again: Vec<bool> = (0..count).map(|place| read.get(place)).collect();
            assert_eq!(again, bits);
            assert!(!read.get(count + 8));
        }
        // As other programs write it.
        let bits: AnswerBits = [true, false, true].into_iter().collect();
        assert_eq!(bits.text(), "oA==");
        for wrong in ["o", "oA", "oA=", "oA==A", "o===", "ä===", "oA==\n", "===="] {
            assert_eq!(AnswerBits::of(wrong), None, "{wrong}");
        }
    }
}
