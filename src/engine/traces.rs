//! Imports traces of production: as questions that a person completes, or as a run.
//!
//! ```text
//! files -> spans, in files of OTLP or rows -> grouped by trace on disk -> Trace -> filtered -> in order of time
//!                                                                            -> lines of a file of questions
//!                                                                            -> samples with answers, replayed
//! ```
//!
//! Spans of many traces lie interleaved in files of any size: memory has one trace at a time. What production answered is
//! a reference and never a ground truth. Texts are redacted before anything is written.

mod atif;
mod content;
mod evaluations;
mod files;
mod filter;
mod langfuse;
mod message;
mod questions;
mod replayed;
mod row;
mod span;
mod spans;
mod trace;

use std::collections::HashSet;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use self::files::{PartError, TracePart};
use self::langfuse::LangfuseRows;
use self::row::SpanRow;
use self::span::{Span, SpanEvent};
use self::trace::Trace;
use crate::error::{Error, Result};
use crate::system::file::spill::SortedRows;

pub use files::BadParts;
pub use filter::TraceFilter;
pub use questions::{QuestionsWritten, redact_of_spec};
pub use replayed::{ImportedTraces, TraceScorers};

/// The most bytes of one trace.
const MOST_OF_TRACE: usize = 64 << 20;

/// The most ids of traces without content that are named.
const NAMED: usize = 3;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// OpenTelemetry's conventions for generative AI.
    Otel,
    /// `OpenInference`, as Phoenix has it.
    OpenInference,
    /// Langfuse.
    Langfuse,
    /// Trajectories of Harbor.
    Atif,
}

impl TraceFormat {
    /// All of them, by name.
    const ALL: [(&str, Self); 4] = [
        ("otel", Self::Otel),
        ("openinference", Self::OpenInference),
        ("langfuse", Self::Langfuse),
        ("atif", Self::Atif),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(_, format)| *format == self)
            .map_or("", |(name, _)| name)
    }

    /// How to have content recorded.
    fn switch(self) -> &'static str {
        match self {
            Self::Otel => {
                "OpenTelemetry records content only if enabled: set \
                 OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only \
                 (older instrumentations: true) where the agent runs"
            }
            Self::OpenInference => {
                "unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and OPENINFERENCE_HIDE_INPUT_MESSAGES where the agent runs"
            }
            Self::Langfuse => {
                "set input and output of the root observation, and check the `mask` of the client"
            }
            Self::Atif => "a trajectory needs a step with `source: user` and a `message`",
        }
    }

    /// The key of the trace that a row belongs to, or why there is none.
    fn key(self, row: &Map<String, Value>) -> Result<String, PartError> {
        let (key, wanted) = match self {
            Self::Otel | Self::OpenInference => (
                span::trace_id(row),
                "this is not a span: it has no `traceId`",
            ),
            Self::Langfuse => (
                langfuse::trace_id(row),
                "this is not a trace, observation or score of Langfuse: it has no `traceId`",
            ),
            Self::Atif => {
                let fault = atif::fault(row).filter(|_| row.contains_key("steps"));
                if let Some(why) = fault {
                    return Err(PartError::Bad(why));
                }
                (
                    atif::trace_id(row),
                    "this is not a trajectory: it has no `session_id` with `steps`",
                )
            }
        };
        key.ok_or_else(|| PartError::Bad(wanted.to_owned()))
    }
}

/// Traces in files, and which of them are wanted.
#[derive(Clone, Debug)]
pub struct TraceFiles {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Their format.
    pub format: TraceFormat,
    /// Which traces are wanted; all when `None`.
    pub filter: Option<TraceFilter>,
}

/// What was found in files of traces.
#[derive(Debug, Default)]
pub struct TraceCounts {
    /// All traces.
    pub read: u64,
    /// Those that the filter left out.
    pub filtered: u64,
    /// Those without content.
    pub without_content: u64,
    /// The first ids of them.
    pub without_content_ids: Vec<String>,
    /// What could not be read.
    pub bad: BadParts,
}

impl TraceCounts {
    /// One line each for people, about what is not imported.
    pub fn notices(&self, format: TraceFormat) -> Vec<String> {
        let mut notices = Vec::new();
        if self.without_content > 0 {
            let ids = self.without_content_ids.join("`, `");
            let more = if self.without_content > NAMED as u64 {
                ", …"
            } else {
                ""
            };
            notices.push(format!(
                "the content of {} was not recorded: `{ids}`{more}; {}",
                counted(self.without_content, "trace"),
                format.switch()
            ));
        }
        if self.bad.count > 0 {
            notices.push(format!(
                "{} could not be read:",
                counted(self.bad.count, "line or span")
            ));
            notices.extend(self.bad.first.iter().cloned());
        }
        notices
    }
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count if what == "line or span" => format!("{count} lines or spans"),
        count => format!("{count} {what}s"),
    }
}

impl TraceFiles {
    /// Passes on the traces that are wanted, sorted by time, each in the form that `make` gives it: `None` is one without
    /// content.
    fn each(
        &self,
        make: &mut dyn FnMut(&Trace) -> Result<Option<Vec<u8>>>,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<TraceCounts> {
        let mut counts = TraceCounts::default();
        let files = files::files_of(&self.paths)?;
        let mut spans = SortedRows::default();
        for (number, path) in files.iter().enumerate() {
            let number = u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
            files::read(path, &mut counts.bad, &mut |part| {
                self.spill(&part, number, &mut spans)
            })?;
        }
        // Not where it lies: the line is committed.
        let name = |path: &PathBuf| {
            path.file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned()
        };
        let names: Vec<String> = files.iter().map(name).collect();
        let mut found = SortedRows::default();
        let mut group = Group::default();
        let mut finish = |group: &mut Group, counts: &mut TraceCounts| {
            let Some(trace) = group.trace(self.format, &names, counts) else {
                return Ok(());
            };
            counts.read += 1;
            if self
                .filter
                .as_ref()
                .is_some_and(|filter| !filter.passes(&trace))
            {
                counts.filtered += 1;
                return Ok(());
            }
            let Some(row) = make(&trace)? else {
                counts.without_content += 1;
                if counts.without_content_ids.len() < NAMED {
                    counts
                        .without_content_ids
                        .push(trace.id.escape_debug().to_string());
                }
                return Ok(());
            };
            // Times before 1970 come first.
            let mut key = (trace.times[0].cast_unsigned() ^ 1 << 127)
                .to_be_bytes()
                .to_vec();
            key.extend_from_slice(trace.id.as_bytes());
            found.push(&key, &[&row])
        };
        spans.each(|key, row| {
            if group.key != key {
                finish(&mut group, &mut counts)?;
                group = Group {
                    key: key.to_vec(),
                    ..Group::default()
                };
            }
            group.add(row);
            Ok(())
        })?;
        finish(&mut group, &mut counts)?;
        if counts.read == 0 {
            return Err(self.nothing(&names, &counts));
        }
        found.each(|_, row| take(row))?;
        Ok(counts)
    }

    /// Stores a part under the id of its trace: the number of its file, its kind, and itself.
    fn spill(
        &self,
        part: &TracePart<'_>,
        file: [u8; 4],
        spans: &mut SortedRows,
    ) -> Result<(), PartError> {
        let is_otlp = matches!(self.format, TraceFormat::Otel | TraceFormat::OpenInference);
        match part {
            TracePart::Otlp { .. } if !is_otlp => {
                let why =
                    "this is OTLP: import it with `--format otel` or `--format openinference`";
                Err(PartError::Bad(why.to_owned()))
            }
            TracePart::Otlp {
                resource,
                json,
                is_log,
            } => {
                let id = files::trace_id(json);
                let is_none = |id: &String| id.bytes().all(|byte| byte == b'0');
                if *is_log && id.as_ref().is_none_or(is_none) {
                    // Most log records belong to no trace.
                    return Ok(());
                }
                let id = id.ok_or_else(|| PartError::Bad("a span has no `traceId`".to_owned()))?;
                let service = resource;
                let length = u32::try_from(service.len())
                    .unwrap_or_default()
                    .to_le_bytes();
                let kind: &[u8] = if *is_log { b"l" } else { b"s" };
                spans.push(
                    id.as_bytes(),
                    &[&file, kind, &length, service.as_bytes(), json.as_bytes()],
                )?;
                Ok(())
            }
            TracePart::Row(row) => {
                let key = self.format.key(row)?;
                let json =
                    serde_json::to_vec(row).map_err(|error| PartError::Bad(error.to_string()))?;
                let is_log = is_otlp && row.contains_key("body");
                let kind: &[u8] = if is_log { b"l" } else { b"s" };
                spans.push(key.as_bytes(), &[&file, kind, &[0; 4], &json])?;
                Ok(())
            }
        }
    }

    /// The error that there is no trace.
    fn nothing(&self, names: &[String], counts: &TraceCounts) -> Error {
        let name = self.format.name();
        let files = names
            .iter()
            .take(NAMED)
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let error = match counts.bad.first.first() {
            Some(first) => Error::usage(first),
            None => Error::usage(format!("no traces in {files}")),
        };
        let formats = TraceFormat::ALL.map(|(name, _)| name).join("|");
        error.hint(format!(
            "`--format {name}` finds no trace there: name another file, or another format: \
        `--format {formats}`"
        ))
    }
}

/// The spans of one trace.
#[derive(Default)]
struct Group {
    key: Vec<u8>,
    rows: Vec<Vec<u8>>,
    bytes: usize,
}

impl Group {
    fn add(&mut self, row: &[u8]) {
        self.bytes += row.len();
        if self.bytes <= MOST_OF_TRACE {
            self.rows.push(row.to_vec());
        }
    }

    /// The trace; `None` where there is none, or it is too large.
    fn trace(
        &mut self,
        format: TraceFormat,
        names: &[String],
        counts: &mut TraceCounts,
    ) -> Option<Trace> {
        let first = self.rows.first()?;
        let id = String::from_utf8_lossy(&self.key).into_owned();
        let number = first
            .first_chunk::<4>()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
        let source = names.get(number).cloned().unwrap_or_default();
        if self.bytes > MOST_OF_TRACE {
            counts.bad.count += 1;
            let mib = MOST_OF_TRACE >> 20;
            counts.bad.first.push(format!(
                "{source}: trace `{}` has more than {mib} MiB",
                id.escape_debug()
            ));
            return None;
        }
        let rows = std::mem::take(&mut self.rows);
        let rows = rows
            .iter()
            .filter_map(|row| Some((row.get(4) == Some(&b'l'), parsed(row)?)));
        let mut trace = match format {
            TraceFormat::Otel | TraceFormat::OpenInference => {
                let (mut found, mut logs) = (Vec::new(), Vec::new());
                let mut ids = HashSet::new();
                for (is_log, row) in rows {
                    if is_log {
                        logs.push(SpanEvent::of(&row.members, row.attributes));
                        continue;
                    }
                    let span = Span::of(row);
                    // The same trace twice is one.
                    if span.id.is_empty() || ids.insert(span.id.clone()) {
                        found.push(span);
                    }
                }
                spans::trace(id, found, logs)
            }
            TraceFormat::Langfuse => {
                let mut all = LangfuseRows::default();
                rows.for_each(|(_, row)| all.add(row.members));
                all.trace(id)
            }
            TraceFormat::Atif => atif::trace(id, &atif::joined(rows.map(|(_, row)| row.members))?),
        };
        trace
            .metadata
            .shift_insert(0, "source".to_owned(), json!(source));
        Some(trace)
    }
}

/// The row as it was read, with the service of its resource.
fn parsed(row: &[u8]) -> Option<SpanRow> {
    let length = u32::from_le_bytes(*row.get(5..9)?.first_chunk()?) as usize;
    let (service, json) = row.get(9..)?.split_at_checked(length)?;
    let mut parsed = SpanRow::read(json)?;
    if !service.is_empty() {
        let service = String::from_utf8_lossy(service);
        parsed
            .attributes
            .insert("service.name".to_owned(), service.into());
    }
    Some(parsed)
}

#[cfg(test)]
mod tests;
