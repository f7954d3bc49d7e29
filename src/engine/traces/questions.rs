//! Writes traces as questions into a file, whose answers a person fills in.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{TraceCounts, TraceFiles};
use crate::error::{Error, Result};
use crate::system::file::spill::SpilledRows;
use crate::system::file::{open_plain, write_atomically_by};
use crate::system::project::display;
use crate::text::json_line;
use crate::text::redact::Redactor;
use crate::text::yaml;

/// What came of an import.
#[derive(Debug, Default)]
pub struct QuestionsWritten {
    /// What was found.
    pub counts: TraceCounts,
    /// New lines.
    pub written: u64,
    /// Traces of which the file has a line.
    pub already_there: u64,
    /// Places that were blanked.
    pub redacted: u32,
}

impl TraceFiles {
    /// Appends a line for each new trace to `output`, without what matches `patterns` or looks like a secret. The file is
    /// replaced as a whole, so it never has half a line.
    ///
    /// # Errors
    /// When files cannot be read, none of them has a trace, or `output` is no file of questions.
    pub fn write_questions(&self, output: &Path, patterns: &[String]) -> Result<QuestionsWritten> {
        let redactor = Redactor::new(patterns, &[])?;
        let (ids, ends_open) = known_ids(output)?;
        let mut written = QuestionsWritten::default();
        let mut lines = SpilledRows::default();
        let (mut new, mut already_there, mut redacted) = (0, 0, 0);
        let counts = self.each(
            &mut |trace| {
                let Some(question) = trace.question() else {
                    return Ok(None);
                };
                let mut line = trace.line(question);
                redactor.value(&mut line, &mut redacted);
                let id = line["id"].as_str().unwrap_or_default();
                if ids.contains(id) {
                    already_there += 1;
                    // It has content, and nothing of it is written.
                    return Ok(Some(Vec::new()));
                }
                let mut line =
                    json_line(&line).map_err(|error| Error::infrastructure(error.to_string()))?;
                line.push(b'\n');
                Ok(Some(line))
            },
            &mut |line| {
                new += u64::from(!line.is_empty());
                lines.push(&[line])
            },
        )?;
        written.counts = counts;
        (written.written, written.already_there, written.redacted) = (new, already_there, redacted);
        if new == 0 && output.exists() {
            return Ok(written);
        }
        if let Some(folder) = output
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        }
        write_atomically_by(output, |out| {
            if output.exists() {
                io::copy(&mut open_plain(output)?, out)?;
            }
            if ends_open {
                out.write_all(b"\n")?;
            }
            let mut rows = lines
                .rows()
                .map_err(|error| io::Error::other(error.message().to_owned()))?;
            let mut line = Vec::new();
            while rows
                .next_into(&mut line)
                .map_err(|error| io::Error::other(error.message().to_owned()))?
            {
                out.write_all(&line)?;
            }
            Ok(())
        })?;
        Ok(written)
    }
}

/// The patterns of `redact` in a spec, whose dataset may be the file that is about to be written.
///
/// # Errors
/// When the spec is no YAML, or `redact` no list of texts.
pub fn redact_of_spec(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    let spec = yaml::read_json(&text)
        .map_err(|error| Error::usage(format!("{}: {error}", display(path))))?;
    let Some(patterns) = spec.get("redact").filter(|patterns| !patterns.is_null()) else {
        return Ok(Vec::new());
    };
    Vec::deserialize(patterns).map_err(|_| {
        let error = Error::usage(format!(
            "{}: `redact` is not a list of regular expressions",
            display(path)
        ));
        error.hint("write `redact: ['corp-[0-9]+']`")
    })
}

/// The ids that a file has, and whether its last line lacks its end.
fn known_ids(path: &Path) -> Result<(HashSet<String>, bool)> {
    let mut ids = HashSet::new();
    let failed = |error: &io::Error| Error::io("read", path, error);
    let file: File = match open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((ids, false)),
        Err(error) => return Err(failed(&error)),
    };
    let mut file = BufReader::new(file);
    let (mut line, mut ends_open) = (Vec::new(), false);
    for number in 1_u64.. {
        line.clear();
        if file
            .read_until(b'\n', &mut line)
            .map_err(|error| failed(&error))?
            == 0
        {
            break;
        }
        ends_open = !line.ends_with(b"\n");
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let row: Option<Map<String, Value>> = serde_json::from_slice(text).ok();
        let id = row.as_ref().and_then(|row| row.get("id"));
        let id = match id {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => {
                let message = format!(
                    "{}:{number}: this is not a question: it has no `id`",
                    display(path)
                );
                return Err(Error::usage(message).hint(
                    "nothing was written: fix the line, or name another file with `--output`",
                ));
            }
        };
        ids.insert(id);
    }
    Ok((ids, ends_open))
}
