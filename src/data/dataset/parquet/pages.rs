//! `LongPages`: reads a parquet file without loading any large page into memory as a whole.
//!
//! The parquet crate decodes whole pages, and some writers check the size of a page only every 1,024 rows. A large
//! page of texts is decompressed as a stream; its long texts go to a [`ValueSpool`], and the crate gets a page with
//! references to them. That is an ordinary page, so the crate handles levels, nulls, dictionaries and nesting; the
//! references in its rows are then replaced by the texts. Any unexpected layout is also left to the crate.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, Encoding, Type as PhysicalType};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{
    ChunkReader, FileReader, Length, RowGroupReader, SerializedFileReader, SerializedPageReader,
};
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use super::ValueSpool;
use super::unpack::{BUFFER, read, unpack, varint};
use crate::system::lock;

/// A file whose large pages are rewritten before the crate decodes them.
pub(super) struct LongPages {
    reader: SerializedFileReader<File>,
    file: Arc<File>,
    spool: Arc<ValueSpool>,
    large: u64,
}

impl LongPages {
    /// Opens a file; pages of `large` bytes or more are rewritten. Its rows contain references into the spool.
    pub(super) fn new(file: File, spool: &Arc<ValueSpool>, large: u64) -> Result<Self> {
        Ok(Self {
            file: Arc::new(file.try_clone()?),
            reader: SerializedFileReader::new(file)?,
            spool: Arc::clone(spool),
            large,
        })
    }
}

impl FileReader for LongPages {
    fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    fn num_row_groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    fn get_row_group(&self, i: usize) -> Result<Box<dyn RowGroupReader + '_>> {
        // The rows of the previous group have all been passed on.
        self.spool.clear();
        Ok(Box::new(RowGroup {
            reader: self.reader.get_row_group(i)?,
            file: self,
        }))
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_file(projection, self)
    }
}

struct RowGroup<'a> {
    reader: Box<dyn RowGroupReader + 'a>,
    file: &'a LongPages,
}

impl RowGroupReader for RowGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.reader.metadata()
    }

    fn num_columns(&self) -> usize {
        self.reader.num_columns()
    }

    fn get_column_page_reader(&self, i: usize) -> Result<Box<dyn PageReader>> {
        let column = self.metadata().column(i);
        let size = u64::try_from(column.uncompressed_size()).unwrap_or(0);
        if size < self.file.large || !holds_texts(column) {
            return self.reader.get_column_page_reader(i);
        }
        Ok(Box::new(ColumnPages::new(self.file, column.clone())?))
    }

    fn get_column_bloom_filter(&self, i: usize) -> Option<&Sbbf> {
        self.reader.get_column_bloom_filter(i)
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// Whether values are used verbatim: in a decimal number a reference would be misread.
fn holds_texts(column: &ColumnChunkMetaData) -> bool {
    column.column_type() == PhysicalType::BYTE_ARRAY
        && column.column_descr().converted_type() != ConvertedType::DECIMAL
}

/// The pages of a column.
struct ColumnPages {
    file: Arc<File>,
    column: ColumnChunkMetaData,
    headers: SerializedPageReader<Headers>,
    places: Arc<Headers>,
    /// A page header that was peeked at.
    next: Option<(Page, PagePlace)>,
    spool: Arc<ValueSpool>,
    large: u64,
}

/// Position and size of a page.
#[derive(Clone, Copy, Default)]
struct PagePlace {
    header: u64,
    body: u64,
    length: usize,
    unpacked: u64,
}

impl ColumnPages {
    fn new(file: &LongPages, column: ColumnChunkMetaData) -> Result<Self> {
        let places = Arc::new(Headers {
            file: Arc::clone(&file.file),
            last: Mutex::default(),
        });
        // Pretend that it is not compressed, so that the crate does not decompress it.
        let plain = column.clone().into_builder();
        let plain = plain.set_compression(Compression::UNCOMPRESSED).build()?;
        Ok(Self {
            file: Arc::clone(&file.file),
            column,
            headers: SerializedPageReader::new(Arc::clone(&places), &plain, 0, None)?,
            places,
            next: None,
            spool: Arc::clone(&file.spool),
            large: file.large,
        })
    }

    fn peek(&mut self) -> Result<Option<&Page>> {
        if self.next.is_none() {
            let page = self.headers.get_next_page()?;
            self.next = page.map(|page| (page, *lock(&self.places.last)));
        }
        Ok(self.next.as_ref().map(|(page, _)| page))
    }

    /// The page as the crate reads it.
    fn whole(&self, place: PagePlace) -> Result<Option<Page>> {
        let end = place.body + place.length as u64;
        let [start, length] = [place.header, end - place.header].map(u64::cast_signed);
        let column = self.column.clone().into_builder();
        let column = column
            .set_dictionary_page_offset(None)
            .set_data_page_offset(start)
            .set_total_compressed_size(length)
            .build()?;
        SerializedPageReader::new(Arc::clone(&self.file), &column, 0, None)?.get_next_page()
    }

    /// The page with references in place of long texts.
    fn shortened(&self, page: &Page, place: PagePlace) -> io::Result<Page> {
        let body = self.file.get_read(place.body)?.take(place.length as u64);
        let mut body = BufReader::with_capacity(BUFFER, body);
        let mut short = Vec::new();
        let mut compression = self.column.compression();
        // Levels precede the values: each after its length, or, in version 2 pages, uncompressed.
        let mut packed_levels = 0;
        match page {
            Page::DictionaryPage {
                encoding: Encoding::PLAIN | Encoding::PLAIN_DICTIONARY,
                ..
            } => (),
            Page::DataPage {
                encoding: Encoding::PLAIN,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                ..
            } => {
                let column = self.column.column_descr();
                let levels = [column.max_rep_level(), column.max_def_level()];
                packed_levels = levels.iter().filter(|level| **level > 0).count();
            }
            Page::DataPageV2 {
                encoding: Encoding::PLAIN,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                body.by_ref().take(levels).read_to_end(&mut short)?;
                if !is_compressed {
                    compression = Compression::UNCOMPRESSED;
                }
            }
            _ => return Err(io::ErrorKind::Unsupported.into()),
        }
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        // One byte more than expected, to detect excess data.
        let size = place.unpacked.checked_sub(short.len() as u64);
        let size = size.ok_or_else(invalid)? + 1;
        let unpacked = BufReader::with_capacity(BUFFER, unpack(body, compression)?);
        let mut unpacked = unpacked.take(size);
        for _ in 0..packed_levels {
            let length: [u8; 4] = read(&mut unpacked)?;
            short.extend(length);
            let length = u32::from_le_bytes(length).into();
            unpacked.by_ref().take(length).read_to_end(&mut short)?;
        }
        self.spool.shorten(&mut unpacked, &mut short)?;
        if unpacked.limit() != 1 {
            return Err(invalid());
        }
        let mut page = page.clone();
        let (Page::DataPage { buf, .. }
        | Page::DataPageV2 { buf, .. }
        | Page::DictionaryPage { buf, .. }) = &mut page;
        *buf = short.into();
        Ok(page)
    }
}

impl PageReader for ColumnPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.peek()?;
        let Some((page, place)) = self.next.take() else {
            return Ok(None);
        };
        if place.unpacked >= self.large
            && let Ok(page) = self.shortened(&page, place)
        {
            return Ok(Some(page));
        }
        self.whole(place)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(self.peek()?.map(|page| PageMetadata {
            num_rows: match page {
                Page::DataPageV2 { num_rows, .. } => Some(*num_rows as usize),
                _ => None,
            },
            num_levels: page.is_data_page().then_some(page.num_values() as usize),
            is_dict: page.is_dictionary_page(),
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.peek()?;
        self.next = None;
        Ok(())
    }
}

impl Iterator for ColumnPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Provides page headers to the crate, and records the positions of page bodies instead of reading them.
struct Headers {
    file: Arc<File>,
    last: Mutex<PagePlace>,
}

impl Length for Headers {
    fn len(&self) -> u64 {
        Length::len(&*self.file)
    }
}

impl ChunkReader for Headers {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut read = self.file.get_read(start)?;
        *lock(&self.last) = PagePlace {
            header: start,
            // A header that starts differently is not of a large page.
            unpacked: unpacked_size(read.fill_buf()?).unwrap_or(0),
            ..PagePlace::default()
        };
        Ok(read)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut last = lock(&self.last);
        last.body = start;
        last.length = length;
        Ok(Bytes::new())
    }
}

/// The decompressed size of a page, which the crate does not expose. A header starts with fields 1 (the page type) and
/// 2, in Thrift's compact encoding.
fn unpacked_size(mut header: &[u8]) -> io::Result<u64> {
    let mut number = || match read(&mut header)? {
        [0x15] => varint(&mut header),
        _ => Err(io::ErrorKind::InvalidData.into()),
    };
    number()?;
    // Zigzag encoding: the lowest bit is the sign.
    number().map(|size| if size & 1 == 0 { size / 2 } else { 0 })
}

#[cfg(test)]
mod tests;
