//! Reads the same files with and without rewritten pages: the rows must be equal.

use std::fs::{self, File};
use std::path::Path;

use parquet::basic::{BrotliLevel, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;
use serde_json::{Map, Value};

use super::*;
use crate::data::dataset::tests::file;
use crate::system::panics;

const NEVER: u64 = u64::MAX;
/// Smaller than most pages here.
const SOME: u64 = 400;

/// Rows per group.
const ROWS: usize = 25;

const SCHEMA: &str = "message m {
    required binary id (UTF8);
    optional binary text (UTF8);
    required binary bytes;
    optional group list (LIST) { repeated group list { optional binary element (UTF8); } }
    optional group map (MAP) { repeated group key_value { required binary key (UTF8); optional binary value (JSON); } }
    required binary money (DECIMAL(9, 2));
}";

/// Deterministic pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// A text with a length near one of the limits, sometimes a repeated one.
    fn text(&mut self) -> ByteArray {
        let lengths = [0, 1, 63, 64, 65, 300, 2_000];
        let length = match self.below(100) {
            0 => 70_000,
            n => lengths[usize::try_from(n).unwrap() % lengths.len()],
        };
        let mut same = Chance(self.below(30));
        let source = if self.below(2) == 0 { self } else { &mut same };
        let alphabet = if source.below(2) == 0 { 2 } else { 26 };
        let letter = |_| char::from(b'a' + u8::try_from(source.below(alphabet)).unwrap());
        let text: String = (0..length).map(letter).collect();
        ByteArray::from(text.as_str())
    }
}

/// Definition levels up to a column's maximum, and repetition levels.
fn levels(chance: &mut Chance, highest: i16) -> (Vec<i16>, Vec<i16>) {
    let mut levels = Vec::new();
    for _ in 0..ROWS {
        let elements = if highest > 1 { chance.below(4) } else { 0 };
        let mut some = |least: i16| (least + i16::from(chance.below(4) > 0)).min(highest);
        if elements == 0 {
            levels.push((some(0), 0));
        }
        levels.extend((0..elements).map(|element| (some(2), i16::from(element > 0))));
    }
    levels.into_iter().unzip()
}

/// Two row groups written in small batches, so that pages end at arbitrary points.
fn written(seed: u64, properties: WriterPropertiesBuilder) -> Vec<u8> {
    let chance = &mut Chance(seed);
    let properties = properties
        .set_write_batch_size(7)
        .set_data_page_size_limit(3_000)
        .set_dictionary_page_size_limit(20_000)
        .build();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for _ in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        let keys = levels(chance, 2);
        let mut of_keys = keys.clone();
        for level in of_keys.0.iter_mut().filter(|level| **level == 2) {
            *level += i16::from(chance.below(4) > 0);
        }
        let [list, flat] = [3, 1].map(|highest| levels(chance, highest));
        let none = levels(chance, 0);
        let columns = [none.clone(), flat, none.clone(), list, keys, of_keys, none];
        for ((definitions, repetitions), highest) in columns.iter().zip([0, 1, 0, 3, 2, 3, 0]) {
            let some = definitions.iter().filter(|level| **level == highest);
            let mut values: Vec<_> = some.map(|_| chance.text()).collect();
            let mut column = group.next_column().unwrap().unwrap();
            let typed = column.typed::<ByteArrayType>();
            if typed.get_descriptor().name() == "money" {
                // Long numbers are slow to print.
                for value in &mut values {
                    *value = value.slice(0, value.len().min(65));
                }
            }
            let definitions = (highest > 0).then_some(definitions.as_slice());
            let repetitions = (highest > 1).then_some(repetitions.as_slice());
            typed
                .write_batch(&values, definitions, repetitions)
                .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// The rows, if the file is valid.
fn rows(path: &Path, large: u64) -> Option<Vec<Map<String, Value>>> {
    let mut rows = Vec::new();
    let mut take = |row| {
        rows.push(row);
        true
    };
    let file = File::open(path).unwrap();
    let read = panics::catch(|| super::super::read(file, large, &mut take));
    matches!(read, Ok(Ok(()))).then_some(rows)
}

/// Number of texts in the column `text` that became references.
fn references(path: &Path) -> usize {
    let spool = Arc::new(ValueSpool::new());
    let reader = LongPages::new(File::open(path).unwrap(), &spool, SOME).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let texts = rows.filter_map(|row| match row.unwrap().into_columns().swap_remove(1).1 {
        Field::Str(text) => Some(text),
        _ => None,
    });
    texts
        .filter(|text| spool.long(text.as_bytes()).unwrap().is_some())
        .count()
}

#[test]
fn rows_are_those_of_the_crate_in_every_compression_encoding_and_version() {
    let mut seed = 0;
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            // `None` is a dictionary, with the writer's fallback when it is full.
            for encoding in [
                None,
                Some(Encoding::PLAIN),
                Some(Encoding::DELTA_LENGTH_BYTE_ARRAY),
                Some(Encoding::DELTA_BYTE_ARRAY),
            ] {
                seed += 1;
                let properties = WriterProperties::builder()
                    .set_compression(compression)
                    .set_writer_version(version)
                    .set_dictionary_enabled(encoding.is_none());
                let properties = match encoding {
                    Some(encoding) => properties.set_encoding(encoding),
                    None => properties,
                };
                let (_folder, path) = file("rows.parquet", written(seed, properties));
                let what = format!("{compression:?} {version:?} {encoding:?}");
                let expect = rows(&path, NEVER);
                assert_eq!(expect.as_ref().map(Vec::len), Some(2 * ROWS), "{what}");
                assert!(rows(&path, SOME) == expect, "{what}");
                // A version 2 page that would not shrink is left uncompressed.
                let is_lz4 = matches!(compression, Compression::LZ4 | Compression::LZ4_RAW);
                let is_plain = matches!(encoding, None | Some(Encoding::PLAIN));
                if !is_lz4 {
                    assert_eq!(references(&path) > 0, is_plain, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_damaged_file_is_what_it_is_to_the_crate() {
    for (seed, compression) in [
        (1, Compression::UNCOMPRESSED),
        (2, Compression::SNAPPY),
        (3, Compression::ZSTD(ZstdLevel::default())),
    ] {
        let properties = WriterProperties::builder().set_compression(compression);
        let whole = written(seed, properties);
        let (folder, _) = file("rows.jsonl", "");
        // Insert before the footer, which the crate reads for both.
        let footer = whole.len() - 8;
        let length: [u8; 4] = whole[footer..footer + 4].try_into().unwrap();
        let end = footer - u32::from_le_bytes(length) as usize;
        for place in (0..end).step_by(end / 40) {
            let mut bytes = whole.clone();
            bytes[place] ^= [0x01, 0x80, 0xff][place % 3];
            let path = folder.path().join(format!("{place}.parquet"));
            fs::write(&path, bytes).unwrap();
            assert!(
                rows(&path, SOME) == rows(&path, NEVER),
                "{compression:?} {place}"
            );
            fs::remove_file(path).unwrap();
        }
    }
}
