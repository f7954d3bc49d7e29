//! The file of a log: a zip of JSON files (`.eval`), or one JSON file.
//!
//! Inspect compresses with zstandard; older versions and other programs with deflate. Unpacked sizes are limited, per
//! file and in total, whatever the zip declares.

use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::DeflateDecoder;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use zip::{CompressionMethod, ZipArchive};

use super::header::LogHeader;
use crate::error::{Error, Result};
use crate::system::file::open_plain;

/// The largest unpacked sample.
const MOST_OF_SAMPLE: u64 = 256 << 20;

/// The largest total unpacked size: this, plus a multiple of the zip.
const MOST_IN_ALL: u64 = 1 << 30;
const MOST_TIMES: u64 = 200;

/// The most files in a zip.
const MOST_FILES: usize = 2_000_000;

/// Called with each sample and the log's header.
pub(super) type TakeSample<'a> = dyn FnMut(&LogHeader, &str) -> Result<()> + 'a;

/// Reads a log, sample by sample.
pub(super) fn read(path: &Path, take: &mut TakeSample<'_>) -> Result<LogHeader> {
    let failed = |error: &std::io::Error| Error::io("read", path, error);
    let mut file = open_plain(path).map_err(|error| match error.kind() {
        // For example a folder.
        std::io::ErrorKind::Other => no_log(&error).at(path.display()),
        _ => failed(&error),
    })?;
    let mut begin = [0; 4];
    let read = file.read(&mut begin).map_err(|error| failed(&error))?;
    file.seek(SeekFrom::Start(0))
        .map_err(|error| failed(&error))?;
    let read = if begin[..read].starts_with(b"PK") {
        read_zip(file, take)
    } else {
        read_json(file, take)
    };
    read.map_err(|error| error.at(path.display()))
}

fn read_json(file: File, take: &mut TakeSample<'_>) -> Result<LogHeader> {
    let mut failed = None;
    let from = PythonNumbers::new(BufReader::with_capacity(1 << 16, file));
    let mut json = serde_json::Deserializer::from_reader(from);
    let whole = WholeLog {
        take,
        failed: &mut failed,
    };
    let header = whole.deserialize(&mut json);
    if let Some(error) = failed {
        return Err(error);
    }
    header.map_err(|error| no_log(&error))
}

fn no_log(why: &dyn std::fmt::Display) -> Error {
    Error::usage(format!("this is not an Inspect log: {why}"))
        .hint("name a file that `inspect view` opens: `logs/….eval`, or `.json`")
}

/// A log in one object, whose samples are read as a stream.
struct WholeLog<'a, 'b> {
    take: &'a mut TakeSample<'b>,
    /// Why a sample was refused.
    failed: &'a mut Option<Error>,
}

impl<'de> DeserializeSeed<'de> for WholeLog<'_, '_> {
    type Value = LogHeader;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        json: D,
    ) -> std::result::Result<LogHeader, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for WholeLog<'_, '_> {
    type Value = LogHeader;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with `eval` and `samples`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<LogHeader, A::Error> {
        let mut members = Map::new();
        let mut header = None;
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "samples" => {
                    // Members after the samples are not needed for them.
                    let header = header.get_or_insert_with(|| LogHeader::of(&members));
                    let header = header
                        .as_ref()
                        .map_err(|error| A::Error::custom(error.message()))?;
                    map.next_value_seed(SamplesOfLog {
                        header,
                        take: &mut *self.take,
                        failed: &mut *self.failed,
                    })?;
                }
                "version" | "status" | "eval" | "error" | "invalidated" => {
                    members.insert(key, map.next_value::<Value>()?);
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        LogHeader::of(&members).map_err(|error| A::Error::custom(error.message()))
    }
}

/// The samples of a log in one object.
struct SamplesOfLog<'a, 'b> {
    header: &'a LogHeader,
    take: &'a mut TakeSample<'b>,
    failed: &'a mut Option<Error>,
}

impl<'de> DeserializeSeed<'de> for SamplesOfLog<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        json: D,
    ) -> std::result::Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SamplesOfLog<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of samples")
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut samples: A) -> std::result::Result<(), A::Error> {
        while let Some(sample) = samples.next_element::<Box<RawValue>>()? {
            if let Err(error) = (self.take)(self.header, sample.get()) {
                *self.failed = Some(error);
                return Err(A::Error::custom("a sample cannot be read"));
            }
        }
        Ok(())
    }
}

fn read_zip(file: File, take: &mut TakeSample<'_>) -> Result<LogHeader> {
    let size = file.metadata().map(|about| about.len()).unwrap_or_default();
    let zip = ZipArchive::new(BufReader::new(file)).map_err(|error| no_log(&error))?;
    if zip.len() > MOST_FILES {
        return Err(no_log(&format!("it has {} files", zip.len())));
    }
    let mut zip = LogZip {
        zip,
        remaining: MOST_IN_ALL.saturating_add(size.saturating_mul(MOST_TIMES)),
    };
    let names: Vec<String> = zip
        .zip
        .file_names()
        .flatten()
        .map(std::borrow::Cow::into_owned)
        .collect();
    if names.iter().any(|name| name.ends_with("/skeleton.json")) {
        return Err(
            Error::usage("this is a chunked log, which this version cannot read").hint(
                "convert it with Inspect: inspect log convert --to eval --output-dir DIR LOG",
            ),
        );
    }
    // An unfinished log only has its start.
    let header = ["header.json", "_journal/start.json"];
    let header = header
        .into_iter()
        .find(|name| names.iter().any(|other| other == name));
    let header = header.ok_or_else(|| no_log(&"it has no `header.json`"))?;
    let header = zip.text(header)?;
    let members: Map<String, Value> =
        serde_json::from_str(&header).map_err(|error| no_log(&error))?;
    let header = LogHeader::of(&members)?;
    for name in &names {
        if is_sample(name) {
            let text = zip.text(name)?;
            take(&header, &text)
                .map_err(|error| error.at(format_args!("`{}`", name.escape_debug())))?;
        }
    }
    Ok(header)
}

/// Whether a file of the zip is a sample. Its name is not used as a path.
fn is_sample(name: &str) -> bool {
    let name = name.strip_prefix("samples/").unwrap_or_default();
    let name = name.strip_suffix(".json").unwrap_or_default();
    let epoch = name.rsplit_once("_epoch_").map(|(_, epoch)| epoch);
    epoch.is_some_and(|epoch| !epoch.is_empty() && epoch.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A zip with limits against zip bombs.
struct LogZip {
    zip: ZipArchive<BufReader<File>>,
    /// How many bytes may still be unpacked.
    remaining: u64,
}

impl LogZip {
    /// A file as text.
    fn text(&mut self, name: &str) -> Result<String> {
        let most = MOST_OF_SAMPLE.min(self.remaining);
        let broken = |why: &dyn std::fmt::Display| {
            Error::usage(format!(
                "`{}` cannot be unpacked: {why}",
                name.escape_debug()
            ))
        };
        let index = self.zip.index_for_name(name);
        let index = index.ok_or_else(|| broken(&"it is not there"))?;
        let packed = self
            .zip
            .by_index_raw(index)
            .map_err(|error| broken(&error))?;
        let method = packed.compression();
        let packed = BufReader::new(packed);
        let mut text = String::new();
        let mut read = |from: &mut dyn Read| {
            let from = PythonNumbers::new(BufReader::new(from.take(most + 1)));
            let mut from = from.take(most + 1);
            from.read_to_string(&mut text)
        };
        let done = match method {
            CompressionMethod::Stored => read(&mut { packed }),
            CompressionMethod::Deflated => read(&mut DeflateDecoder::new(packed)),
            #[expect(
                deprecated,
                reason = "the number of zstandard, which the crate need not unpack"
            )]
            CompressionMethod::Unsupported(93) => {
                zstd::Decoder::with_buffer(packed).and_then(|mut from| read(&mut from))
            }
            other => return Err(broken(&format!("it is compressed with {other}"))),
        };
        done.map_err(|error| broken(&error))?;
        if text.len() as u64 > most {
            let error = if most < MOST_OF_SAMPLE {
                let times = format!("unpacked, it is more than {MOST_TIMES} times its size");
                broken(&format!("{times} and {} MiB", MOST_IN_ALL >> 20))
            } else {
                broken(&format!("it is more than {} MiB", most >> 20))
            };
            return Err(error.hint("check that the file is a log: no sample should be that large"));
        }
        self.remaining -= text.len() as u64;
        Ok(text)
    }
}

/// Passes JSON through, with null for invalid numbers.
pub(super) struct PythonNumbers<R> {
    from: R,
    state: PythonState,
    /// Output that is pending.
    ready: &'static [u8],
}

#[derive(Clone, Copy, PartialEq)]
enum PythonState {
    Json,
    /// A minus, of a number or of `-Infinity`.
    Minus,
    /// The letters of `NaN` or `Infinity`, replaced by null.
    Word,
    Text,
    /// After a backslash.
    Escape,
}

impl<R: BufRead> PythonNumbers<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            state: PythonState::Json,
            ready: b"",
        }
    }

    /// Handles a byte: what to output in its place, if not itself.
    fn next(&mut self, byte: u8) -> Option<&'static [u8]> {
        if self.state == PythonState::Word && byte.is_ascii_alphabetic() {
            return Some(b"");
        }
        let was_minus = self.state == PythonState::Minus;
        let (state, instead): (_, Option<&'static [u8]>) = match (self.state, byte) {
            (PythonState::Text, b'\\') => (PythonState::Escape, None),
            (PythonState::Text, b'"') => (PythonState::Json, None),
            (PythonState::Escape | PythonState::Text, _) | (_, b'"') => (PythonState::Text, None),
            (_, b'-') if !was_minus => (PythonState::Minus, Some(b"")),
            (_, b'N' | b'I') => (PythonState::Word, Some(b"null")),
            (_, _) => (PythonState::Json, None),
        };
        let is_number = was_minus && state != PythonState::Word;
        self.state = state;
        match (is_number, instead) {
            // The minus was held back.
            (true, _) => match DIGITS.get(usize::from(byte.wrapping_sub(b'0'))) {
                Some(digit) => Some(digit),
                None => Some(b"-"),
            },
            (false, instead) => instead,
        }
    }
}

/// A minus with the following digit.
const DIGITS: [&[u8]; 10] = [
    b"-0", b"-1", b"-2", b"-3", b"-4", b"-5", b"-6", b"-7", b"-8", b"-9",
];

impl<R: BufRead> Read for PythonNumbers<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < into.len() {
            if let Some((first, rest)) = self.ready.split_first() {
                into[written] = *first;
                self.ready = rest;
                written += 1;
                continue;
            }
            let available = self.from.fill_buf()?;
            let Some(&byte) = available.first() else {
                break;
            };
            // Strings are most of the input.
            if self.state == PythonState::Text {
                let room = &available[..available.len().min(into.len() - written)];
                let plain = memchr::memchr2(b'"', b'\\', room).unwrap_or(room.len());
                if plain > 0 {
                    into[written..written + plain].copy_from_slice(&room[..plain]);
                    self.from.consume(plain);
                    written += plain;
                    continue;
                }
            }
            self.from.consume(1);
            if let Some(instead) = self.next(byte) {
                self.ready = instead;
            } else {
                into[written] = byte;
                written += 1;
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    fn zip_of(files: &[(&str, &[u8])]) -> File {
        let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
        let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for (name, content) in files {
            zip.start_file(*name, packed).unwrap();
            zip.write_all(content).unwrap();
        }
        zip.finish().unwrap()
    }

    #[test]
    fn no_more_is_unpacked_than_is_allowed() {
        let text = format!("{{\"id\": \"{}\"}}", "a".repeat(10_000));
        let file = zip_of(&[("one.json", text.as_bytes()), ("two.json", text.as_bytes())]);
        let zip = ZipArchive::new(BufReader::new(file)).unwrap();
        let mut zip = LogZip {
            zip,
            remaining: 15_000,
        };
        assert_eq!(zip.text("one.json").unwrap(), text);
        let error = zip.text("two.json").unwrap_err();
        assert!(
            error
                .message()
                .contains("cannot be unpacked: unpacked, it is more than"),
            "{error}"
        );
        assert!(
            zip.text("three.json")
                .unwrap_err()
                .message()
                .contains("not there")
        );
    }

    #[test]
    fn only_sample_names_are_samples() {
        let check = |name: &str, expect: bool| assert_eq!(is_sample(name), expect, "{name}");
        check("samples/a_epoch_1.json", true);
        check("samples/../../etc/a_epoch_12.json", true);
        check("samples/a_epoch_.json", false);
        check("samples/a_epoch_1/sample.json", false);
        check("summaries.json", false);
        check("_journal/summaries/1.json", false);
    }
}

#[cfg(test)]
mod python_tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn what_is_no_number_is_null_outside_of_texts() {
        fn check(text: &str, expect: &str) {
            // Split by buffers of any size.
            for size in 1..=text.len().max(1) {
                let from = BufReader::with_capacity(size, text.as_bytes());
                let mut read = String::new();
                PythonNumbers::new(from).read_to_string(&mut read).unwrap();
                assert_eq!(read, expect, "{size}");
            }
        }
        check("", "");
        check(
            r#"{"a":NaN,"b":[Infinity, -Infinity]}"#,
            r#"{"a":null,"b":[null, null]}"#,
        );
        check(
            r#"{"NaN":"NaN \" -Infinity \\","n":-1.5e-3}"#,
            r#"{"NaN":"NaN \" -Infinity \\","n":-1.5e-3}"#,
        );
        check("[-0,-9,true,null]", "[-0,-9,true,null]");
    }
}
