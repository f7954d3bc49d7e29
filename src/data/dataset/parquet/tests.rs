//! Uses small files written with the parquet crate.

use std::fmt::Write;
use std::sync::Arc;

use ::parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;
use serde_json::json;

use super::super::Rows;
use super::super::tests::{check_error, file, read};

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// The bytes of a file with this schema; `write` writes its columns.
fn parquet(schema: &str, write: impl FnOnce(&mut Group<'_>)) -> Vec<u8> {
    compressed(Compression::SNAPPY, schema, write)
}

fn compressed(
    compression: Compression,
    schema: &str,
    write: impl FnOnce(&mut Group<'_>),
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    write(&mut group);
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// Writes the next column, with its definition and repetition levels if any.
fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], defined: &[i16], repeated: &[i16]) {
    let some = |levels: &[i16]| !levels.is_empty();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<T>()
        .write_batch(
            values,
            some(defined).then_some(defined),
            some(repeated).then_some(repeated),
        )
        .unwrap();
    column.close().unwrap();
}

fn texts(texts: &[&str]) -> Vec<ByteArray> {
    texts.iter().map(|&text| ByteArray::from(text)).collect()
}

/// A file of text columns; the first element of each is its name.
pub(crate) fn of_texts(columns: &[&[&str]]) -> Vec<u8> {
    let mut schema = "message m {".to_owned();
    for column in columns {
        let _ = write!(schema, " required binary {} (UTF8);", column[0]);
    }
    parquet(&(schema + " }"), |group| {
        for cells in columns {
            column::<ByteArrayType>(group, &texts(&cells[1..]), &[], &[]);
        }
    })
}

/// Two rows like a benchmark's metadata: numbers, nulls, a struct, a list.
fn nested() -> Vec<u8> {
    let schema = "message m {
        required binary task_id (UTF8);
        optional int64 Level;
        optional binary answer (UTF8);
        required group annotator { required binary Steps (UTF8); required int32 Number; }
        required group tools (LIST) { repeated group list { required binary element (UTF8); } }
    }";
    parquet(schema, |group| {
        column::<ByteArrayType>(group, &texts(&["a", "b"]), &[], &[]);
        column::<Int64Type>(group, &[1], &[1, 0], &[]);
        column::<ByteArrayType>(group, &texts(&["Zürich"]), &[0, 1], &[]);
        column::<ByteArrayType>(group, &texts(&["1. look", "1. add"]), &[], &[]);
        column::<Int32Type>(group, &[1, 2], &[], &[]);
        column::<ByteArrayType>(group, &texts(&["x", "y"]), &[1, 1, 0], &[0, 1, 0]);
    })
}

#[test]
fn reads_structs_lists_and_nulls_in_order() {
    let rows = read("rows.parquet", nested()).unwrap();
    let fields: Vec<_> = rows.rows.iter().map(|row| json!(row.fields)).collect();
    assert_eq!(
        fields,
        [
            json!({"task_id": "a", "Level": 1, "answer": null,
                "annotator": {"Steps": "1. look", "Number": 1}, "tools": ["x", "y"]}),
            json!({"task_id": "b", "Level": null, "answer": "Zürich",
                "annotator": {"Steps": "1. add", "Number": 2}, "tools": []}),
        ]
    );
    let columns = ["task_id", "Level", "answer", "annotator", "tools"];
    assert_eq!(rows.columns(), columns);
    assert!(rows.place(1).to_string().ends_with("rows.parquet: row 2"));
}

#[test]
fn reads_every_kind_of_scalar() {
    let schema = "message m {
        required boolean bool;
        required float float;
        required double double;
        required binary bytes;
        required binary image;
        required int32 date (DATE);
        required int64 time (TIMESTAMP_MICROS);
        required int32 money (DECIMAL(9, 2));
        required int32 small (UINT_8);
    }";
    let bytes = parquet(schema, |group| {
        column::<BoolType>(group, &[true], &[], &[]);
        column::<FloatType>(group, &[0.1], &[], &[]);
        column::<DoubleType>(group, &[f64::NAN], &[], &[]);
        column::<ByteArrayType>(group, &texts(&["text"]), &[], &[]);
        column::<ByteArrayType>(group, &[ByteArray::from(vec![0xff, 0x00])], &[], &[]);
        column::<Int32Type>(group, &[14_611], &[], &[]);
        column::<Int64Type>(group, &[1_541_186_529_153_123], &[], &[]);
        column::<Int32Type>(group, &[1_250], &[], &[]);
        column::<Int32Type>(group, &[200], &[], &[]);
    });
    let rows = read("rows.parquet", bytes).unwrap();
    assert_eq!(
        json!(rows.rows[0].fields),
        json!({"bool": true, "float": 0.1, "double": null, "bytes": "text", "image": "ff00",
            "date": "2010-01-02", "time": "2018-11-02 19:22:09.153123 +00:00",
            "money": "12.50", "small": 200})
    );
}

#[test]
fn no_rows_are_an_error() {
    let bytes = of_texts(&[&["task_id"]]);
    check_error("rows.parquet", bytes, "`{path}`: the dataset is empty");
}

#[test]
fn a_damaged_file_is_one_clear_error() {
    let whole = nested();
    let footer = whole.len() - 12..whole.len();
    for length in (0..whole.len()).step_by(16).chain(footer) {
        let (_folder, path) = file("rows.parquet", &whole[..length]);
        let error = Rows::read(&path).unwrap_err();
        let expect = format!("`{}`: damaged or unreadable parquet: ", path.display());
        assert!(error.message().starts_with(&expect), "{length}: {error}");
        assert!(!error.message().contains('\n'), "{length}: {error}");
    }
    let (_folder, path) = file("rows.parquet", "not parquet at all");
    assert!(Rows::read(&path).is_err());
}

#[test]
fn no_changed_byte_panics() {
    let whole = nested();
    let (folder, _) = file("rows.jsonl", "");
    let mut damaged = 0;
    for place in (0..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[place] ^= [0x01, 0x80, 0xff][place % 9 / 3];
        // Use a new file each time: on some file systems overwriting is slow.
        let path = folder.path().join(format!("{place}.parquet"));
        std::fs::write(&path, bytes).unwrap();
        damaged += u32::from(Rows::read(&path).is_err());
    }
    assert!(
        damaged > 0,
        "a changed letter is no error, but not all are letters"
    );
}

#[test]
fn every_usual_compression_is_read() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let long = "x".repeat(500);
        let bytes = compressed(
            compression,
            "message m { required binary a (UTF8); }",
            |group| {
                column::<ByteArrayType>(group, &texts(&["Zürich", &long]), &[], &[]);
            },
        );
        let rows = read("rows.parquet", bytes).unwrap();
        assert_eq!(rows.rows[0].fields["a"], json!("Zürich"), "{compression:?}");
        assert_eq!(rows.rows[1].fields["a"], json!(long), "{compression:?}");
    }
}
