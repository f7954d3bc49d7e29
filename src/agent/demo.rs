//! The `demo` agent: a small, deterministic question solver that really works
//! on a question with its own tools, so that a fresh clone runs a live agent
//! with nothing installed.
//!
//! Responsibility: decide which tool may look at a question. With attachments
//! only the attachment tools run (tables, JSON, plain text); without them the
//! word tools run first and arithmetic second. Where a task brings functions, the
//! answer is the calls that it asks for, written as text, if one of them fits.
//!
//! Limits: it understands English phrasing only, by general rules; it reads
//! csv, tsv, json, jsonl and plain text (no office files, pictures or PDFs); it
//! never reads more than `MAX_FILE_BYTES` of a file or `MAX_QUESTION_CHARS`
//! of a question; it never panics, whatever it is given. It can be wrong.

mod arithmetic;
mod calls;
mod condition;
mod lookup;
mod number;
mod phrases;
mod query;
mod table;
mod words;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use phrases::Phrases;
use table::TextTable;

use super::Agent;
use crate::data::{AgentError, Output, Task};

/// Works on questions with tools of its own: arithmetic, words, tables, lookups in JSON and text; and calls the
/// functions of a task where a question asks for one in simple words. What
/// none of them understands it says it does not know, which is a wrong answer, not a failure.
///
/// Needs the feature `demo`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demo;

impl Agent for Demo {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let asked: String = task.question().chars().take(MAX_QUESTION_CHARS).collect();
        if let Some(calls) = calls::solve(task, &asked) {
            return Ok(Output::text(calls));
        }
        let files: Vec<_> = task
            .files()
            .iter()
            .map(|file| (file.name.clone(), file.path.clone()))
            .collect();
        Ok(Output::text(match solve(task.question(), &files) {
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
}

/// Attachments larger than this are not read at all.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// The part of a question that is looked at.
const MAX_QUESTION_CHARS: usize = 20_000;

/// Answers `question` with the help of `files` (name, readable path), or
/// returns `None` when no tool understands it.
pub(crate) fn solve(question: &str, files: &[(String, PathBuf)]) -> Option<String> {
    let asked: String = question.chars().take(MAX_QUESTION_CHARS).collect();
    let answer = if files.is_empty() {
        words::solve(&asked).or_else(|| arithmetic::solve(&asked))
    } else {
        let phrases = Phrases::new(&asked);
        files
            .iter()
            .find_map(|(name, path)| from_file(&asked, &phrases, name, path))
    };
    answer
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

/// Lets the tool for the file's kind answer the question.
fn from_file(asked: &str, phrases: &Phrases, name: &str, path: &Path) -> Option<String> {
    let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    let content = || read_text(path);
    match extension.as_str() {
        "csv" => query::answer(asked, phrases, &TextTable::parse(&content()?, b',')?),
        "tsv" | "tab" => query::answer(asked, phrases, &TextTable::parse(&content()?, b'\t')?),
        "json" => lookup::in_json(asked, phrases, &serde_json::from_str(&content()?).ok()?),
        "jsonl" | "ndjson" => lookup::in_json(asked, phrases, &json_lines(&content()?)),
        "txt" | "text" | "md" | "log" => lookup::in_text(asked, phrases, &content()?),
        _ => None,
    }
}

/// One JSON array out of a file with one value per line; broken lines are left out.
fn json_lines(text: &str) -> serde_json::Value {
    text.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .collect()
}

/// The text of a regular file of at most `MAX_FILE_BYTES`, invalid UTF-8 replaced.
fn read_text(path: &Path) -> Option<String> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    if u64::try_from(bytes.len()).ok()? > MAX_FILE_BYTES {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `bytes` to a file called `name` and asks `question` about it.
    fn check(name: &str, bytes: &[u8], question: &str, expected: Option<&str>) {
        let unique = question
            .bytes()
            .chain(bytes.iter().copied())
            .fold(7_u64, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
        let folder = std::env::temp_dir().join(format!("demo-{}-{unique:x}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("a temporary file");
        let answer = solve(question, &[(name.to_owned(), path)]);
        std::fs::remove_dir_all(&folder).expect("the folder goes away");
        assert_eq!(answer.as_deref(), expected, "{name}: {question}");
    }

    #[test]
    fn picks_the_tool_by_the_kind_of_file() {
        check(
            "a.csv",
            b"kind,n\nx,1\ny,2\n",
            "What is the sum of the n column?",
            Some("3"),
        );
        check(
            "a.TSV",
            b"kind\tweight\nx\t1\ny\t4\n",
            "average weight?",
            Some("2.5"),
        );
        check(
            "a.json",
            br#"{"a":{"b":[5,6]}}"#,
            "What is at a.b[1]?",
            Some("6"),
        );
        check(
            "a.jsonl",
            b"{\"id\":\"k1\",\"hue\":\"red\"}\nbroken\n",
            "The hue of k1?",
            Some("red"),
        );
        check(
            "a.txt",
            b"\xef\xbb\xbfGate: 9C\n",
            "Which gate is it?",
            Some("9C"),
        );
        check("a.png", b"\x89PNG", "What is 1 + 1?", None);
    }

    #[test]
    fn survives_bad_files() {
        let junk: Vec<u8> = (0..=255).cycle().take(5_000).collect();
        for name in ["a.csv", "a.tsv", "a.json", "a.jsonl", "a.txt", "a", ".csv"] {
            for bytes in [
                &b""[..],
                b"\n\n\n",
                b"\"",
                b"[[[[",
                b",,,\n,,\n",
                b"{\"a\":1e999}",
            ] {
                check(name, bytes, "What is the sum of the zebra column?", None);
            }
            check(name, &junk, "Which zebra has the largest girth?", None);
        }
        let huge = vec![b'a'; 4 * 1024 * 1024 + 1];
        check("a.txt", &huge, "How many words are in the file?", None);
    }

    #[test]
    fn missing_files_folders_and_plain_questions() {
        let gone = PathBuf::from("/nonexistent/a.csv");
        assert_eq!(solve("sum of n", &[("a.csv".to_owned(), gone)]), None);
        assert_eq!(
            solve("sum of n", &[("a.csv".to_owned(), std::env::temp_dir())]),
            None
        );
        assert_eq!(solve("What is 2 + 2?", &[]).as_deref(), Some("4"));
        assert_eq!(solve("Who painted the moon?", &[]), None);
        assert_eq!(solve(&"(".repeat(100_000), &[]), None);
        assert_eq!(solve(&"\"a".repeat(50_000), &[]), None);
    }
}
