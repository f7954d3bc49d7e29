//! Memory of a run over a large dataset of long texts, in each format and by each benchmark that reads a file.
//!
//! `cargo bench --bench datasets`, or some of them: `cargo bench --bench datasets -- csv bfcl`. A minute and 5 GiB of
//! disk each.

mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use figure::{Figure, is_bench, report};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Bytes of a question.
const LONG: usize = 64 << 10;

/// The name, the benchmark as the spec has it, and the file.
const KINDS: [(&str, &str, &str); 8] = [
    ("jsonl", "{ type: qa, path: a.jsonl }", "a.jsonl"),
    ("csv", "{ type: qa, path: a.csv }", "a.csv"),
    ("parquet", "{ type: qa, path: a.parquet }", "a.parquet"),
    // As pyarrow writes it: pages of 1,024 rows, and a dictionary of as many.
    (
        "pyarrow",
        "{ type: qa, path: pyarrow.parquet }",
        "pyarrow.parquet",
    ),
    (
        "gaia",
        "{ type: gaia, path: data }",
        "data/2023/validation/metadata.jsonl",
    ),
    ("gsm8k", "{ type: gsm8k, path: b.jsonl }", "b.jsonl"),
    ("aime", "{ type: aime, path: b.csv }", "b.csv"),
    (
        "bfcl",
        "{ type: bfcl, path: data }",
        "data/BFCL_v4_simple_python.json",
    ),
];

fn main() -> io::Result<ExitCode> {
    let rows = if is_bench() { 16 << 10 } else { 300 };
    let names: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<_> = names.iter().filter(|name| !name.starts_with('-')).collect();
    let mut figures = Vec::new();
    for (name, benchmark, file) in KINDS {
        if names.is_empty() || names.iter().any(|wanted| *wanted == name) {
            figures.extend(measure(rows, name, benchmark, file)?);
        }
    }
    report(&figures)
}

fn measure(rows: usize, name: &str, benchmark: &str, file: &str) -> io::Result<[Figure; 2]> {
    // Not where temporary files may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let home = folder.path();
    let data = home.join(file);
    fs::create_dir_all(data.parent().unwrap_or(home))?;
    write(&data, rows)?;
    let spec = format!(
        "name: long\nbenchmark: {benchmark}\nagent: {{ type: echo, text: \"FINAL ANSWER: 7\" }}\nshuffle: {{ seed: 7 }}\n\
         cache: false\noutput_root: runs\ngates:\n  - error_rate <= 0.0\n"
    );
    fs::write(home.join("long.yaml"), spec)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command
        .current_dir(home)
        .args(["evaltest", "run", "long.yaml"])
        .env_remove("CI");
    let used = program::used(&mut command, &home.join("runs"))?;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let [bytes, own] = [rows * LONG, rows * 512].map(|bytes| bytes as f64 / f64::from(1 << 20));
    let what = format!("{name}, {bytes:.0} MiB in {rows} samples");
    let figure = |label: &str, measured, unit, limit: f64| Figure {
        what: format!("{what}, {label}"),
        measured,
        unit,
        target: if limit < f64::INFINITY { 0.0 } else { -limit }..=limit,
        decides: true,
    };
    Ok([
        figure("peak memory", used.peak_mib, "MiB", 64.0 + own),
        figure("CPU", used.cpu_s, "s", f64::INFINITY),
    ])
}

/// Writes questions that no two are alike, of such names of columns as the benchmark of the file looks for.
fn write(path: &Path, rows: usize) -> io::Result<()> {
    let file = BufWriter::new(File::create(path)?);
    let texts = (0..rows).map(|row| {
        let mut text = format!("{row}: ");
        while text.len() < LONG {
            text.push_str("In what year were all the rooms counted, ");
            text.push_str(&(row * 7_919 + text.len()).to_string());
            text.push_str(" of them? ");
        }
        text
    });
    match path.extension().and_then(|end| end.to_str()) {
        Some("parquet") => {
            let is_pyarrow = path.file_stem().is_some_and(|name| name == "pyarrow");
            let batch = if is_pyarrow { 1_024 } else { 16 };
            parquet_of(file, texts, batch).map_err(io::Error::other)
        }
        Some("csv") => csv_of(file, texts),
        _ => json_of(path, file, texts),
    }
}

fn json_of(
    path: &Path,
    mut file: impl Write,
    mut texts: impl Iterator<Item = String>,
) -> io::Result<()> {
    let is_bfcl = path.extension().is_some_and(|end| end == "json");
    let more = if is_bfcl {
        r#""function": [{"name": "f", "parameters": {"type": "dict", "properties": {}, "required": []}}], "ground_truth": [{"f": {}}]"#
    } else {
        r#""level": 1, "answer": "7""#
    };
    let mut row = 0;
    texts.try_for_each(|text| {
        row += 1;
        writeln!(file, r#"{{"id": "s{row}", "question": "{text}", {more}}}"#)
    })?;
    file.flush()
}

fn csv_of(mut file: impl Write, mut texts: impl Iterator<Item = String>) -> io::Result<()> {
    writeln!(file, "id,question,answer")?;
    let mut row = 0;
    texts.try_for_each(|text| {
        row += 1;
        writeln!(file, "s{row},\"{text}\n\",7")
    })?;
    file.flush()
}

/// In groups of rows as large as other programs write them; the size of a page is looked at after each `batch`.
fn parquet_of(
    file: impl Write + Send,
    texts: impl Iterator<Item = String>,
    batch: usize,
) -> parquet::errors::Result<()> {
    let schema = "message m { required binary id (UTF8); required binary question (UTF8); \
                  required binary answer (UTF8); }";
    let schema = Arc::new(parse_message_type(schema)?);
    let properties = WriterProperties::builder()
        .set_write_batch_size(batch)
        .set_compression(Compression::SNAPPY);
    let properties = Arc::new(properties.build());
    let mut writer = SerializedFileWriter::new(file, schema, properties)?;
    let mut rows = (1..).zip(texts).peekable();
    while rows.peek().is_some() {
        let (ids, texts): (Vec<_>, Vec<_>) = rows
            .by_ref()
            .take(4096)
            .map(|(row, text)| {
                (
                    ByteArray::from(format!("s{row}").as_str()),
                    ByteArray::from(text.into_bytes()),
                )
            })
            .unzip();
        let answers = vec![ByteArray::from("7"); ids.len()];
        let mut group = writer.next_row_group()?;
        for values in [ids, texts, answers] {
            if let Some(mut column) = group.next_column()? {
                let column_writer = column.typed::<ByteArrayType>();
                column_writer.write_batch(&values, None, None)?;
                column.close()?;
            }
        }
        group.close()?;
    }
    writer.close().map(drop)
}
