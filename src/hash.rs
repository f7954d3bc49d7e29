//! Content hashes, as hex.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

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
        let mut text = String::with_capacity(64);
        for byte in self.0.finalize() {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// The first 16 hex digits: enough to tell versions of a sample apart, short enough to read.
    pub(crate) fn short(self) -> String {
        let mut text = self.hex();
        text.truncate(16);
        text
    }
}

/// SHA-256 of a file's content.
pub(crate) fn file(path: &Path) -> std::io::Result<String> {
    let mut reader = std::fs::File::open(path)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hasher.hex()),
            n => hasher.bytes(&buffer[..n]),
        }
    }
}
