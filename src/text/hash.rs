//! Content hashes, as hex.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use hmac_sha256::HMAC;
use memchr::memchr_iter;
use sha2::{Digest, Sha256};

/// Incremental SHA-256.
#[derive(Clone, Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Adds one part. Its length goes first, so that ("ab","c") and ("a","bc") differ.
    pub(crate) fn part(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// Adds a text as one part, independent of the line ends of the checkout.
    pub(crate) fn text(self, text: &str) -> Self {
        if text.contains("\r\n") {
            self.part(text.replace("\r\n", "\n"))
        } else {
            self.part(text)
        }
    }

    /// Adds raw bytes, for the hash of a file.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The 32 bytes of [`Hasher::hex`].
    pub(crate) fn digest(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// The hash as 64 hex digits.
    pub(crate) fn hex(self) -> String {
        hex(&self.0.finalize())
    }

    /// The first 16 hex digits: enough to tell versions of a sample apart, short enough to read.
    pub(crate) fn short(self) -> String {
        hex(&self.first_bytes())
    }

    /// The 8 bytes of [`Hasher::short`].
    pub(crate) fn first_bytes(self) -> [u8; 8] {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0.finalize()[..8]);
        first
    }
}

/// A hash for use by this build of the program: a million hashes take 8 MiB, a million values about 100 MiB. Collisions are
/// possible but so rare that they are ignored.
pub(crate) fn mark(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The hash of a file, independent of the line ends of the checkout: a carriage return before a line feed is skipped.
#[derive(Default)]
pub(crate) struct LineHasher {
    hasher: Hasher,
    /// Whether the last byte was a carriage return; the next byte decides whether it is hashed.
    waits: bool,
}

impl LineHasher {
    /// Adds the next bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let [Some(first), Some(last)] = [bytes.first(), bytes.last()] else {
            return;
        };
        if self.waits && *first != b'\n' {
            self.hasher.bytes(b"\r");
        }
        self.waits = *last == b'\r';
        let body = &bytes[..bytes.len() - usize::from(self.waits)];
        let mut start = 0;
        for place in memchr_iter(b'\r', body) {
            if body.get(place + 1) == Some(&b'\n') {
                self.hasher.bytes(&body[start..place]);
                start = place + 1;
            }
        }
        self.hasher.bytes(&body[start..]);
    }

    /// The hash as 64 hex digits.
    pub(crate) fn hex(mut self) -> String {
        if self.waits {
            self.hasher.bytes(b"\r");
        }
        self.hasher.hex()
    }
}

/// A key for digests (HMAC-SHA-256). Without the key they reveal nothing, and guesses cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaskKey([u8; 32]);

impl MaskKey {
    /// Makes a key from the hash of a secret.
    pub(crate) fn of(secret: Hasher) -> Self {
        Self(secret.0.finalize().into())
    }

    /// Parses the output of [`MaskKey::to_hex`].
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let mut key = [0; 32];
        if text.len() != 2 * key.len() || !text.is_ascii() {
            return None;
        }
        for (place, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
        }
        Some(Self(key))
    }

    /// The key as 64 hex digits.
    pub(crate) fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// Derives a key for one purpose. It does not reveal this key.
    pub(crate) fn derived(&self, name: &str) -> Self {
        Self(self.digest(["key", name]))
    }

    /// The digest of these parts, as 64 hex digits.
    pub(crate) fn hex<const N: usize>(&self, parts: [&str; N]) -> String {
        hex(&self.digest(parts))
    }

    /// The first 16 hex digits of the digest.
    pub(crate) fn short<const N: usize>(&self, parts: [&str; N]) -> String {
        hex(&self.digest(parts)[..8])
    }

    fn digest<const N: usize>(&self, parts: [&str; N]) -> [u8; 32] {
        let mut mac = HMAC::new(self.0);
        for part in parts {
            mac.update((part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize()
    }
}

/// Lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// The eight bytes that [`hex`] writes as this text, if any.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 8]> {
    let bytes = u64::from_str_radix(text, 16).ok()?.to_be_bytes();
    (hex(&bytes) == text).then_some(bytes)
}

/// Builds an agent's fingerprint from named parts. The values are hashed, as they may contain a key.
#[derive(Clone, Default)]
pub(crate) struct Fingerprint(Hasher);

impl Fingerprint {
    pub(crate) fn of(agent: &str) -> Self {
        Self(Hasher::default().part(agent))
    }

    pub(crate) fn part(self, name: &str, value: impl Display) -> Self {
        Self(self.0.part(name).part(value.to_string()))
    }

    pub(crate) fn hex(self) -> String {
        self.0.hex()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let key = MaskKey::of(Hasher::default().part("all questions and answers"));
        assert_eq!(MaskKey::from_hex(&key.to_hex()), Some(key.clone()));
        for broken in ["", "00", &"0".repeat(63), &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(MaskKey::from_hex(broken), None, "{broken}");
        }
        assert_ne!(key.derived("a"), key.derived("b"));
        assert_ne!(key.short(["ab", "c"]), key.short(["a", "bc"]));
    }

    #[test]
    fn line_ends_do_not_count_wherever_the_pieces_end() {
        let hash = |text: &[u8], size: usize| {
            let mut hasher = LineHasher::default();
            text.chunks(size).for_each(|piece| hasher.bytes(piece));
            hasher.bytes(b"");
            hasher.hex()
        };
        for (text, same) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("\r\n\r\r\n\r", "\n\r\n\r"),
            ("a\rb", "a\rb"),
            ("\n\r", "\n\r"),
            ("", ""),
        ] {
            let mut plain = Hasher::default();
            plain.bytes(same.as_bytes());
            let plain = plain.hex();
            for size in 1..=8 {
                assert_eq!(hash(text.as_bytes(), size), plain, "{text:?}, {size}");
            }
            let [hasher, other] = [(); 2].map(|()| Hasher::default());
            assert_eq!(hasher.text(text).hex(), other.part(same).hex());
        }
        assert_ne!(hash(b"a\rb", 8), hash(b"a\nb", 8));
    }

    /// Python: `hmac.new(bytes(32), (1).to_bytes(8, "little") + b"a", "sha256").hexdigest()`.
    #[test]
    fn digests_are_those_of_hmac_sha_256() {
        let key = MaskKey([0; 32]);
        assert_eq!(
            key.hex(["a"]),
            "e53cc5d96e1639c02813e32a1a7c3c3963d7600a88112c389aabb0b67405d6c6"
        );
    }
}
