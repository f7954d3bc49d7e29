//! `ValueSpool`: long values of a parquet file, in a temporary file, and what stands for them meanwhile.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Mutex;

use super::unpack::BUFFER;
use crate::system::lock::lock;

/// The longest value that stays where it is: a reference is not much shorter.
const SHORT: u32 = 64;

/// Long values in a file that has no name, made when the first one comes.
pub(super) struct ValueSpool {
    /// What each reference begins with. It is another one each time, so that no file can have a reference as a value.
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

    /// Forgets all values: no reference to one is left.
    pub(super) fn clear(&self) {
        *lock(&self.written) = SpooledValues::default();
    }

    /// Copies values, each behind its length, and takes a reference instead of each long one.
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
            let cut = |_| io::Error::from(io::ErrorKind::InvalidData);
            let length = u32::from_le_bytes(head.as_slice().try_into().map_err(cut)?);
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

    /// The value that this is a reference to, if it is one.
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
