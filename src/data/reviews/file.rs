//! `Verifications`: a file of reviews, keyed by item id.

use std::io::{self, ErrorKind};
use std::path::Path;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{REVIEW_VERSION, Verification};
use crate::error::{Error, Result};
use crate::system::file::{read_plain, write_atomically_by};
use crate::system::project::display;

/// The entries of a file, each with its first line.
#[derive(Debug, Default)]
pub(crate) struct Verifications(pub(crate) Vec<(u64, Verification)>);

impl Verifications {
    /// Reads a file; `None` if it does not exist.
    ///
    /// # Errors
    /// With the line of an invalid verification, or of one with another version.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let text = match read_plain(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", path, &error)),
        };
        let text = String::from_utf8(text).map_err(|_| {
            Error::usage(format!("{}:1: it is not UTF-8 text", display(path))).hint(MOVE)
        })?;
        Self::of(&text, path).map(Some)
    }

    fn of(text: &str, path: &Path) -> Result<Self> {
        let wrong = |line: u64, why: String| {
            Error::usage(format!("{}:{line}: {why}", display(path))).hint(MOVE)
        };
        let entries: RawEntries<'_> = serde_json::from_str(text).map_err(|error| {
            let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
            wrong(line, format!("it is not a file of verifications: {error}"))
        })?;
        let mut found = Vec::with_capacity(entries.0.len());
        for (id, raw) in entries.0 {
            let start = raw.get().as_ptr().addr() - text.as_ptr().addr();
            let line = text[..start].matches('\n').count() + 1;
            let line = u64::try_from(line).unwrap_or(u64::MAX);
            let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
            if value.get("format_version") != Some(&REVIEW_VERSION.into()) {
                let version = value.get("format_version").map(Value::to_string);
                let version = version.unwrap_or_else(|| "none".to_owned());
                let why = format!(
                    "`{id}` has the `format_version` {version}, but this evaltest writes {REVIEW_VERSION}"
                );
                return Err(wrong(line, why));
            }
            let entry: Verification = serde_json::from_value(value)
                .map_err(|error| wrong(line, format!("`{id}` is not a verification: {error}")))?;
            if entry.problem_id != id {
                let why = format!(
                    "`{id}` has the `problem_id` of another, `{}`",
                    entry.problem_id
                );
                return Err(wrong(line, why));
            }
            if let Some(why) = entry.fault() {
                return Err(wrong(line, format!("`{id}` is not a verification: {why}")));
            }
            found.push((line, entry));
        }
        Ok(Self(found))
    }

    /// Writes a file with these entries, in their order.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write<'a>(
        path: &Path,
        entries: impl Iterator<Item = &'a Verification>,
    ) -> Result<()> {
        let mut all = Map::new();
        for entry in entries {
            let value = serde_json::to_value(entry).unwrap_or_default();
            all.insert(entry.problem_id.clone(), value);
        }
        write_atomically_by(path, |out| {
            serde_json::to_writer_pretty(&mut *out, &all).map_err(io::Error::from)?;
            out.write_all(b"\n")
        })
    }
}

/// Hint for a file that must not be overwritten.
const MOVE: &str =
    "it was not overwritten: move it away, and it is rebuilt from the journals next to it";

/// The entries of an object, including duplicate keys.
struct RawEntries<'a>(Vec<(String, &'a RawValue)>);

impl<'a> serde::Deserialize<'a> for RawEntries<'a> {
    fn deserialize<D: serde::Deserializer<'a>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Each;
        impl<'a> serde::de::Visitor<'a> for Each {
            type Value = RawEntries<'a>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of verifications by the ids of items")
            }

            fn visit_map<A: serde::de::MapAccess<'a>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut found = Vec::new();
                let mut seen = std::collections::HashSet::new();
                while let Some((id, entry)) = map.next_entry::<String, &'a RawValue>()? {
                    if !seen.insert(id.clone()) {
                        let why = format!("`{id}` is listed twice");
                        return Err(serde::de::Error::custom(why));
                    }
                    found.push((id, entry));
                }
                Ok(RawEntries(found))
            }
        }
        from.deserialize_map(Each)
    }
}
