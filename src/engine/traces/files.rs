//! Reads files of traces: JSON lines, one object, an array, also packed by gzip.
//!
//! A line is read as a whole and a broken one is skipped with its number. A file that is one large value is read as a
//! stream, span by span: its size does not matter.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::span::id;
use crate::error::{Error, Result};
use crate::system::file::{open_plain, refuse_other};
use crate::system::project::display;

/// Lines up to this size are read as a whole; a longer one makes the rest of the file a stream.
const LONGEST_LINE: usize = 8 << 20;

/// Bytes per read.
const BUFFER: usize = 1 << 16;

/// The first bytes of gzip.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// A part of a file that belongs to one trace.
pub(super) enum TracePart<'a> {
    /// A span or log record of OTLP, as JSON, with the name of its resource.
    Otlp {
        resource: &'a str,
        json: &'a str,
        is_log: bool,
    },
    /// An object of any other form.
    Row(Map<String, Value>),
}

/// Takes the parts of a file in order. An error with a text is about the part alone.
pub(super) type TakePart<'a> = dyn FnMut(TracePart<'_>) -> Result<(), PartError> + 'a;

/// Why a part was not taken.
pub(super) enum PartError {
    /// It cannot be read; the others are.
    Bad(String),
    /// Nothing can be read any more.
    Fatal(Error),
}

impl From<Error> for PartError {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

/// The parts that could not be read.
#[derive(Debug, Default)]
pub struct BadParts {
    /// How many.
    pub count: u64,
    /// The first ones, with file and line.
    pub first: Vec<String>,
}

/// The most bad parts that are named.
const NAMED: usize = 3;

impl BadParts {
    fn add(&mut self, path: &Path, line: u64, why: &str) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(format!("{}:{line}: {why}", display(path)));
        }
    }
}

/// The files that paths name: a folder stands for the files of traces in it and below it, in the order of their names.
pub(super) fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            refuse_other(path).map_err(|error| Error::io("read", path, &error))?;
            found.push(path.clone());
            continue;
        }
        let before = found.len();
        let mut folders = vec![path.clone()];
        while let Some(folder) = folders.pop() {
            let failed = |error: std::io::Error| Error::io("read", &folder, &error);
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let kind = entry.file_type().map_err(failed)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let name = name.strip_suffix(".gz").unwrap_or(&name);
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if [".json", ".jsonl", ".ndjson"]
                    .iter()
                    .any(|end| name.ends_with(end))
                {
                    found.push(entry.path());
                }
            }
        }
        found[before..].sort();
        if found.len() == before {
            let error = Error::usage(format!("`{}` has no trace files", path.display()));
            return Err(error.hint("a folder is searched for `.json`, `.jsonl` and `.ndjson`, also with the suffix `.gz`"));
        }
    }
    Ok(found)
}

/// Passes on all parts of a file.
pub(super) fn read(path: &Path, bad: &mut BadParts, take: &mut TakePart<'_>) -> Result<()> {
    let failed = |error: &std::io::Error| Error::io("read", path, error);
    let file: File = open_plain(path).map_err(|error| failed(&error))?;
    let mut file = BufReader::with_capacity(BUFFER, file);
    let is_packed = file
        .fill_buf()
        .map_err(|error| failed(&error))?
        .starts_with(GZIP);
    let plain: Box<dyn Read> = if is_packed {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut text = BufReader::with_capacity(BUFFER, plain);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = Read::by_ref(&mut text).take(LONGEST_LINE as u64);
        let read = limited.read_until(b'\n', &mut line);
        read.map_err(|error| failed(&error))?;
        if line.is_empty() {
            break;
        }
        let content = if number == 1 {
            line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line)
        } else {
            &line
        };
        if content.trim_ascii().is_empty() {
            continue;
        }
        let is_whole = content.ends_with(b"\n") || line.len() < LONGEST_LINE;
        if !is_whole || number == 1 && is_opened(content) {
            let rest = content.chain(text);
            return stream(path, rest, number, bad, take);
        }
        let mut fatal = None;
        let mut sink = Sink {
            path,
            line: number,
            bad: &mut *bad,
            take: &mut *take,
            fatal: &mut fatal,
        };
        let mut json = serde_json::Deserializer::from_slice(content);
        let read = PartSeed(&mut sink)
            .deserialize(&mut json)
            .and_then(|()| json.end());
        if let Some(error) = fatal {
            return Err(error);
        }
        if let Err(error) = read {
            bad.add(path, number, &reason(&error));
        }
    }
    Ok(())
}

/// Whether the first line of a file begins a value that goes on in the next ones.
fn is_opened(line: &[u8]) -> bool {
    let is_open = |error: serde_json::Error| error.is_eof();
    let ends = matches!(line.trim_ascii().last(), Some(b'{' | b'[' | b',' | b':'));
    ends && serde_json::from_slice::<IgnoredAny>(line).is_err_and(is_open)
}

/// Reads values as a stream.
fn stream(
    path: &Path,
    text: impl Read,
    first: u64,
    bad: &mut BadParts,
    take: &mut TakePart<'_>,
) -> Result<()> {
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER, text));
    let mut fatal = None;
    loop {
        let mut sink = Sink {
            path,
            line: first,
            bad: &mut *bad,
            take: &mut *take,
            fatal: &mut fatal,
        };
        let read = PartSeed(&mut sink).deserialize(&mut json);
        if let Some(error) = fatal {
            return Err(error);
        }
        if let Err(error) = read {
            if error.is_io() {
                let source = std::io::Error::from(error);
                return Err(Error::io("read", path, &source));
            }
            let line = first + error.line().saturating_sub(1) as u64;
            bad.add(
                path,
                line,
                &format!("{}; the rest is not read", reason(&error)),
            );
            return Ok(());
        }
        // Another value may follow.
        if json.end().is_ok() {
            return Ok(());
        }
    }
}

/// The message of a broken line without the place, which is that within the line.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    format!("broken JSON: {text}")
}

/// Where parts go to.
struct Sink<'a, 'b> {
    path: &'a Path,
    line: u64,
    bad: &'a mut BadParts,
    take: &'a mut TakePart<'b>,
    fatal: &'a mut Option<Error>,
}

impl Sink<'_, '_> {
    fn give<E: serde::de::Error>(&mut self, part: TracePart<'_>) -> std::result::Result<(), E> {
        match (self.take)(part) {
            Ok(()) => Ok(()),
            Err(PartError::Bad(why)) => {
                self.bad.add(self.path, self.line, &why);
                Ok(())
            }
            Err(PartError::Fatal(error)) => {
                *self.fatal = Some(error);
                Err(E::custom("stopped"))
            }
        }
    }
}

/// A value: rows, an envelope of OTLP, or a row.
struct PartSeed<'a, 'b, 'c>(&'a mut Sink<'b, 'c>);

impl<'de> DeserializeSeed<'de> for PartSeed<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PartSeed<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object or an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        while seq.next_element_seed(PartSeed(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let mut row = Map::new();
        let mut is_envelope = false;
        while let Some(key) = map.next_key::<String>()? {
            let is_log = matches!(&*key, "resourceLogs" | "resource_logs");
            if is_log || matches!(&*key, "resourceSpans" | "resource_spans") {
                is_envelope = true;
                let mut resource = String::new();
                map.next_value_seed(Nested {
                    sink: &mut *self.0,
                    resource: &mut resource,
                    is_log,
                })?;
            } else if key == "data"
                && row
                    .keys()
                    .all(|key| matches!(&**key, "next_cursor" | "meta"))
            {
                // A page of an interface.
                is_envelope = true;
                map.next_value_seed(PartSeed(&mut *self.0))?;
            } else if is_envelope {
                map.next_value::<IgnoredAny>()?;
            } else {
                row.insert(key, map.next_value()?);
            }
        }
        if is_envelope {
            return Ok(());
        }
        self.0.give(TracePart::Row(row))
    }
}

/// The name of the service that a resource is of.
fn service(resource: &Value) -> String {
    let list = resource.get("attributes").and_then(Value::as_array);
    let mut list = list.into_iter().flatten();
    let name = list.find(|attribute| attribute["key"] == "service.name");
    let name = name.and_then(|name| name["value"]["stringValue"].as_str());
    name.unwrap_or_default().to_owned()
}

/// The id of the trace that a span is of, which usually stands first: the rest is not read.
pub(super) fn trace_id(json: &str) -> Option<String> {
    struct Search<'a>(&'a mut Option<String>);

    impl<'de> Visitor<'de> for Search<'_> {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a span")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                if matches!(&*key, "traceId" | "trace_id") {
                    *self.0 = id(Some(&map.next_value()?));
                    return Err(serde::de::Error::custom("found"));
                }
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }

    let mut found = None;
    let mut json = serde_json::Deserializer::from_str(json);
    // It ends with an error where it was found.
    let _ = json.deserialize_map(Search(&mut found));
    found
}

/// Resources, scopes and spans of OTLP, which are lists of objects in one another.
struct Nested<'a, 'b, 'c> {
    sink: &'a mut Sink<'b, 'c>,
    resource: &'a mut String,
    is_log: bool,
}

impl<'de> DeserializeSeed<'de> for Nested<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of objects as in OTLP")
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        let Self {
            sink,
            resource,
            is_log,
        } = self;
        while seq
            .next_element_seed(Nested {
                sink,
                resource,
                is_log,
            })?
            .is_some()
        {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let Self {
            sink,
            resource,
            is_log,
        } = self;
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "resource" => *resource = service(&map.next_value::<Value>()?),
                "scopeSpans"
                | "scope_spans"
                | "instrumentationLibrarySpans"
                | "scopeLogs"
                | "scope_logs" => {
                    map.next_value_seed(Nested {
                        sink,
                        resource,
                        is_log,
                    })?;
                }
                "spans" | "logRecords" | "log_records" => {
                    map.next_value_seed(Leaves {
                        sink,
                        resource,
                        is_log,
                    })?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// A list of spans or log records.
struct Leaves<'a, 'b, 'c> {
    sink: &'a mut Sink<'b, 'c>,
    resource: &'a str,
    is_log: bool,
}

impl<'de> DeserializeSeed<'de> for Leaves<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Leaves<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of spans")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        while let Some(json) = seq.next_element::<Box<RawValue>>()? {
            let part = TracePart::Otlp {
                resource: self.resource,
                json: json.get(),
                is_log: self.is_log,
            };
            self.sink.give::<A::Error>(part)?;
        }
        Ok(())
    }
}
