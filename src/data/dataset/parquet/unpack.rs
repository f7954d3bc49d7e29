//! Streaming decompression of page bodies.

use std::io::{self, BufRead, Read};

use parquet::basic::Compression;

/// Bytes per read.
pub(super) const BUFFER: usize = 1 << 16;

/// A reader for this compression. LZ4 does not support streaming.
pub(super) fn unpack<'a>(
    packed: impl BufRead + 'a,
    compression: Compression,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::UNCOMPRESSED => Box::new(packed),
        Compression::SNAPPY => Box::new(Snappy::new(packed)?),
        Compression::ZSTD(_) => Box::new(zstd::stream::read::Decoder::with_buffer(packed)?),
        Compression::GZIP(_) => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        Compression::BROTLI(_) => Box::new(brotli::Decompressor::new(packed, BUFFER)),
        _ => return Err(io::ErrorKind::Unsupported.into()),
    })
}

/// Reads a varint: seven bits per byte, the lowest first.
pub(super) fn varint(bytes: &mut impl Read) -> io::Result<u64> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let [byte] = read(bytes)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

pub(super) fn read<const N: usize>(bytes: &mut impl Read) -> io::Result<[u8; N]> {
    let mut read = [0; N];
    bytes.read_exact(&mut read)?;
    Ok(read)
}

/// A Snappy block. Encoders compress each 64 KiB separately, and these are decompressed one by one; a block written
/// differently is valid, but an error here.
struct Snappy<R> {
    packed: R,
    remaining: u64,
    piece: Vec<u8>,
    unpacked: Vec<u8>,
    at: usize,
}

const PIECE: u64 = 64 << 10;

impl<R: BufRead> Snappy<R> {
    fn new(mut packed: R) -> io::Result<Self> {
        Ok(Self {
            remaining: varint(&mut packed)?,
            packed,
            piece: Vec::new(),
            unpacked: Vec::new(),
            at: 0,
        })
    }

    /// Decompresses the next 64 KiB, which consist of elements. Two bits of an element's tag give its type, the other
    /// bits or the following bytes its length.
    fn next_piece(&mut self) -> io::Result<()> {
        let size = self.remaining.min(PIECE);
        self.remaining -= size;
        // Preceded by its length, as at the start of a block.
        self.piece.clear();
        self.piece.extend([
            (size & 0x7f) as u8 | 0x80,
            ((size >> 7) & 0x7f) as u8 | 0x80,
            (size >> 14) as u8,
        ]);
        let mut found = 0;
        while found < size {
            let [tag] = read(&mut self.packed)?;
            self.piece.push(tag);
            let (kind, number) = (tag & 3, u64::from(tag >> 2));
            // The decompressed size, the number of bytes with the length or copy offset, and the number of literal
            // bytes.
            let more = match kind {
                0 => usize::try_from(number.saturating_sub(59)).unwrap_or(0),
                1 => 1,
                2 => 2,
                _ => 4,
            };
            let mut bytes = [0; 8];
            self.packed.read_exact(&mut bytes[..more])?;
            self.piece.extend(&bytes[..more]);
            let length = match kind {
                0 if more > 0 => u64::from_le_bytes(bytes) + 1,
                1 => (number & 7) + 4,
                _ => number + 1,
            };
            found += length;
            if found > size {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if kind == 0 {
                let literal = &mut self.packed.by_ref().take(length);
                literal.read_to_end(&mut self.piece)?;
            }
        }
        self.at = 0;
        self.unpacked.resize(usize::try_from(size).unwrap_or(0), 0);
        let mut decoder = snap::raw::Decoder::new();
        decoder.decompress(&self.piece, &mut self.unpacked)?;
        Ok(())
    }
}

impl<R: BufRead> Read for Snappy<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.at == self.unpacked.len() {
            if self.remaining > 0 {
                self.next_piece()?;
            } else if !self.packed.fill_buf()?.is_empty() {
                return Err(io::ErrorKind::InvalidData.into());
            } else {
                return Ok(0);
            }
        }
        let length = (&self.unpacked[self.at..]).read(bytes)?;
        self.at += length;
        Ok(length)
    }
}
