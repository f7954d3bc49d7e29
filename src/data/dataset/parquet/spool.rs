//! `ValueSpool`: moves long values of a parquet file to a temporary file, leaving references.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Mutex;

use super::unpack::BUFFER;
use crate::system::lock;

/// Maximum length of a value that is left in place: a reference is not much shorter.
const SHORT: u32 = 64;

/// Long values in an unnamed file, created on first use.
pub(super) struct ValueSpool {
    /// Prefix of references. It is random, so that no value of a file can be mistaken for a reference.
    mark: String,
    written: Mutex<SpooledValues>,
}

#[derive(Default)]
struct SpooledValues {
    file: Option<File>,
    at: u64,
}

impl ValueSpool {
    pub(super) fn new() -> Self {
        Self {
            mark: format!("{:016x}", RandomState::new().hash_one(())),
            written: Mutex::default(),
        }
    }

    /// Drops all values; no references to them may be left.
    pub(super) fn clear(&self) {
        *lock(&self.written) = SpooledValues::default();
    }

    /// Copies length-prefixed values, replacing each long one by a reference.
    pub(super) fn shorten(&self, values: &mut impl Read, page: &mut Vec<u8>) -> io::Result<()> {
        let mut written = lock(&self.written);
        let mut at = written.at;
        let file = match &mut written.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(at))?;
        let mut out = BufWriter::with_capacity(BUFFER, file);
        let mut head = Vec::new();
        loop {
            head.clear();
            values.by_ref().take(4).read_to_end(&mut head)?;
            if head.is_empty() {
                break;
            }
            let truncated = |_| io::Error::from(io::ErrorKind::InvalidData);
            let length = u32::from_le_bytes(head.as_slice().try_into().map_err(truncated)?);
            let mut value = values.by_ref().take(length.into());
            if length <= SHORT {
                page.extend(&head);
                value.read_to_end(page)?;
            } else {
                let reference = format!("{}{at:016x}{length:08x}", self.mark);
                page.extend(u32::try_from(reference.len()).unwrap_or(0).to_le_bytes());
                page.extend(reference.as_bytes());
                at += io::copy(&mut value, &mut out)?;
            }
            if value.limit() > 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        out.flush()?;
        drop(out);
        written.at = at;
        Ok(())
    }

    /// The value behind a reference; `None` if `value` is not a reference.
    pub(super) fn long(&self, value: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let Some((at, length)) = self.place(value) else {
            return Ok(None);
        };
        let mut written = lock(&self.written);
        let file = written.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(at))?;
        let mut value = vec![0; length];
        file.read_exact(&mut value)?;
        Ok(Some(value))
    }

    fn place(&self, value: &[u8]) -> Option<(u64, usize)> {
        let place = value.strip_prefix(self.mark.as_bytes())?;
        let (at, length) = std::str::from_utf8(place).ok()?.split_at_checked(16)?;
        let at = u64::from_str_radix(at, 16).ok()?;
        Some((at, usize::from_str_radix(length, 16).ok()?))
    }
}
