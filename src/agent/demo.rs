//! The agent `demo`: a small, deterministic solver of easy questions, so that a fresh clone runs a live agent with nothing
//! installed.
//!
//! It does arithmetic, counts and reorders letters and words of a quoted text, and looks one thing up in an attached
//! table, JSON document or text. All are general rules over English words, without knowledge of the world, and sometimes
//! wrong. It never panics on any input, and reads at most `MAX_FILE_BYTES` of a file and `MAX_QUESTION_CHARS` of a
//! question.

mod arithmetic;
mod table;
mod words;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::Agent;
use crate::data::{AgentError, Output, Task};

/// Answers easy questions with built-in tools: arithmetic, words, one look-up in a table, JSON or text. Otherwise it
/// answers that it does not know, which is a wrong answer, not a failure.
///
/// Needs the feature `demo`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demo;

impl Agent for Demo {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let question: String = task.question().chars().take(MAX_QUESTION_CHARS).collect();
        let answer = if task.files().is_empty() {
            words::solve(&question).or_else(|| arithmetic::solve(&question))
        } else {
            let mut files = task.files().iter();
            files.find_map(|file| from_file(&question, &file.name, &file.path))
        };
        Ok(Output::text(match answer {
            Some(answer) => format!("I worked this out with my own tools.\nFINAL ANSWER: {answer}"),
            None => "None of my tools fits this question.\nFINAL ANSWER: unknown".to_owned(),
        }))
    }

    fn fingerprint(&self) -> Option<String> {
        Some(concat!("demo ", env!("CARGO_PKG_VERSION")).to_owned())
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn keeps_deadline(&self) -> bool {
        true
    }

    fn takes_base_urls(&self) -> bool {
        false
    }
}

/// Larger attachments are not read.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// The part of a question that is read.
const MAX_QUESTION_CHARS: usize = 20_000;

/// Answers the question with the tool for the file's kind.
fn from_file(question: &str, name: &str, path: &Path) -> Option<String> {
    let kind = Path::new(name).extension()?.to_str()?;
    let question = table::TableQuestion::new(question);
    match kind {
        "csv" => question.of_table(&table::Table::parse(&read_text(path)?, b',')?),
        "tsv" => question.of_table(&table::Table::parse(&read_text(path)?, b'\t')?),
        "json" => question.of_json(&serde_json::from_str(&read_text(path)?).ok()?),
        "txt" | "md" => question.of_text(&read_text(path)?),
        _ => None,
    }
}

/// The text of a regular file that is not too large.
fn read_text(path: &Path) -> Option<String> {
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A number for people: no exponent, up to ten decimals.
fn format_number(number: f64) -> Option<String> {
    let is_exact = number.abs() < 1e15;
    let text = format!("{number:.10}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    is_exact.then(|| if text == "-0" { "0" } else { text }.to_owned())
}

#[cfg(test)]
mod tests;
