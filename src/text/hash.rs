//! Content hashes, as hex.

use std::fmt::Display;

use sha2::{Digest, Sha256};

/// An incremental SHA-256.
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

    /// Adds raw bytes, for the hash of a file.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// 64 hex digits.
    pub(crate) fn hex(self) -> String {
        hex(&self.0.finalize())
    }

    /// The first 16 hex digits: enough to tell versions of a sample apart, short enough to read.
    pub(crate) fn short(self) -> String {
        hex(&self.first_bytes())
    }

    /// The bytes behind [`Hasher::short`].
    pub(crate) fn first_bytes(self) -> [u8; 8] {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0.finalize()[..8]);
        first
    }
}

/// Lower-case digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// Makes an agent's fingerprint of named parts. Values are hashed: a key may be among them.
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
