//! `Cassette`: the recorded calls of a sample, as a file: a line a call.
//!
//! A file has all epochs of its sample, and is replaced as a whole. An entry is redacted when it is made.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::file_of;
use super::key::without_secrets;
use crate::system::project::display;
use crate::system::{file, lock};
use crate::text::json_line;
use crate::text::redact::{REDACTED, Redactor};

/// The version of the format.
///
/// * 1: the first.
const FORMAT_VERSION: u32 = 1;
/// The only header that is kept of a response.
pub(super) const CONTENT_TYPE: &str = "content-type";

/// A recorded call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    format_version: u32,
    pub(super) epoch: u32,
    /// Its place among the calls of the epoch, from 0.
    pub(super) n: usize,
    /// Equal requests have the same.
    pub(super) key: String,
    pub(super) request: StoredRequest,
    pub(super) response: StoredResponse,
    at: String,
}

/// A request: JSON as such, another body as text, and what is no text as `{"base64": …}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredRequest {
    pub(super) method: String,
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) body: Value,
}

/// A response: a whole body, or a stream in its pieces with their times in milliseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredResponse {
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) chunks: Option<Vec<(u64, Value)>>,
    /// Whether the stream broke off, and at whose end: `upstream` or `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) broken_off: Option<String>,
}

impl StoredResponse {
    /// Whether a call is worth keeping: one that succeeds, or fails alike when it is repeated.
    pub(super) fn is_lasting(&self) -> bool {
        matches!(self.status, 200..=299 | 400..=428 | 430..=499)
    }
}

/// Bytes as a value.
pub(super) fn stored(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({"base64": STANDARD.encode(bytes)}),
    }
}

/// The bytes of a value.
pub(super) fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.clone().into_bytes(),
        Value::Null => Vec::new(),
        Value::Object(packed) => {
            let text = packed.get("base64").and_then(Value::as_str);
            STANDARD
                .decode(text.unwrap_or_default())
                .unwrap_or_default()
        }
        other => other.to_string().into_bytes(),
    }
}

/// The bytes of a request's body, which is JSON where it can be.
pub(super) fn request_bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Object(map) if !(map.len() == 1 && map.contains_key("base64")) => {
            value.to_string().into_bytes()
        }
        other => bytes(other),
    }
}

impl Entry {
    /// A call that ends now, without secrets.
    pub(super) fn new(
        epoch: u32,
        key: String,
        (method, path, body): (&str, &str, &[u8]),
        response: StoredResponse,
        redactor: &Redactor,
    ) -> Self {
        let body = match serde_json::from_slice(body) {
            Ok(json @ (Value::Object(_) | Value::Array(_))) => json,
            _ if body.is_empty() => Value::Null,
            _ => stored(body),
        };
        let mut entry = Self {
            format_version: FORMAT_VERSION,
            epoch,
            n: 0,
            key,
            request: StoredRequest {
                method: method.to_owned(),
                path: without_secrets(path, REDACTED),
                body,
            },
            response,
            at: crate::system::clock::timestamp().to_string(),
        };
        entry.redact(redactor);
        entry
    }

    fn redact(&mut self, redactor: &Redactor) {
        redactor.string(&mut self.request.path, &mut 0);
        redact(&mut self.request.body, redactor);
        if let Some(body) = &mut self.response.body {
            redact(body, redactor);
        }
        if let Some(chunks) = &mut self.response.chunks {
            for (_, chunk) in chunks.iter_mut() {
                redact(chunk, redactor);
            }
            // A secret may lie across a cut.
            let whole: Vec<u8> = chunks.iter().flat_map(|(_, chunk)| bytes(chunk)).collect();
            let mut whole = stored(&whole);
            let before = whole.clone();
            redact(&mut whole, redactor);
            if whole != before {
                let ms = chunks.first().map_or(0, |(ms, _)| *ms);
                *chunks = vec![(ms, whole)];
            }
        }
    }
}

/// Redacts what was stored; bytes that hold a secret are dropped.
fn redact(value: &mut Value, redactor: &Redactor) {
    if value.is_object() && value.get("base64").is_some() {
        let bytes = bytes(value);
        let text = String::from_utf8_lossy(&bytes);
        if *redactor.text(&text, &mut 0) != *text {
            *value = REDACTED.into();
        }
        return;
    }
    redactor.value(value, &mut 0);
}

/// The recordings of an eval: a file a sample.
#[derive(Debug)]
pub(super) struct Cassettes {
    folder: PathBuf,
    /// Epochs of a sample run at once, and share its file.
    writing: Mutex<()>,
}

/// Which lines of a file are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// All must be readable.
    Valid,
    /// The readable ones, of a file that is made anew.
    Readable,
}

impl Cassettes {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            writing: Mutex::default(),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of a sample.
    pub(super) fn path(&self, id: &str) -> PathBuf {
        file_of(&self.folder, id)
    }

    /// The calls of a sample in all epochs; none if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is no recorded call.
    pub(super) fn read(&self, id: &str, lines: Lines) -> Result<Vec<Arc<Entry>>, String> {
        let path = self.path(id);
        let text = match file::read_given(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(format!("cannot read `{}`: {error}", display(&path))),
        };
        let mut entries = Vec::new();
        for (line, number) in text
            .lines()
            .zip(1..)
            .filter(|(line, _)| !line.trim().is_empty())
        {
            let read = serde_json::from_str::<Entry>(line).map_err(|error| error.to_string());
            let read = read.and_then(|entry| match entry.format_version {
                FORMAT_VERSION => Ok(entry),
                other => Err(format!(
                    "its `format_version` is {other}, not {FORMAT_VERSION}"
                )),
            });
            match read {
                Ok(entry) => entries.push(Arc::new(entry)),
                Err(_) if lines == Lines::Readable => {}
                Err(reason) => {
                    let path = display(&path);
                    return Err(format!("{path}:{number}: not a recorded call: {reason}"));
                }
            }
        }
        Ok(entries)
    }

    /// Replaces the calls of a sample in one epoch.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write(&self, id: &str, epoch: u32, calls: &[Arc<Entry>]) -> Result<(), String> {
        let _writing = lock(&self.writing);
        let mut all = self.read(id, Lines::Readable)?;
        all.retain(|entry| entry.epoch != epoch);
        all.extend(calls.iter().cloned());
        all.sort_by_key(|entry| entry.epoch);
        let path = self.path(id);
        if all.is_empty() && !path.exists() {
            return Ok(());
        }
        let mut text = Vec::new();
        for entry in all {
            text.extend(json_line(&*entry).map_err(|error| error.to_string())?);
            text.push(b'\n');
        }
        let folder = path.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {error}", display(folder)))?;
        file::write_atomically(&path, &text).map_err(|error| error.to_string())
    }
}
