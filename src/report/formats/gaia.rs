//! The submission file of the GAIA leaderboard: JSONL with `task_id`, `model_answer` and `reasoning_trace`; its name,
//! a guide to submitting it, and a check of its ids.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::data::Record;
use crate::error::{Error, Result};
use crate::figure::counted;
use crate::report::document::{Document, Line};
use crate::store::Manifest;
use crate::text::redact::is_blanked;
use crate::text::{json_line, shell_word};

/// Whether to export the agent's text before its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traces {
    /// The whole raw answer as `reasoning_trace`.
    #[default]
    Written,
    /// No `reasoning_trace`.
    Excluded,
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GaiaExport {
    /// Number of lines, one per sample.
    pub lines: usize,
    /// Number of samples without an answer, whose line has an empty one.
    pub empty: usize,
    /// Number of redacted answers.
    pub redacted: usize,
    /// The level of the samples, if it is the same for all.
    pub level: Option<String>,
}

/// A line of the file.
#[derive(Serialize)]
struct GaiaLine<'a> {
    task_id: &'a str,
    model_answer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_trace: Option<&'a str>,
}

/// Writes a line for every sample, in order. A missing answer becomes empty, because the leaderboard requires every
/// id. Only one `epoch` is written.
pub fn write(
    records: impl Iterator<Item = Result<Record>>,
    epoch: u32,
    traces: Traces,
    out: &mut dyn Write,
) -> Result<GaiaExport> {
    let mut exported = GaiaExport::default();
    let mut levels: Option<Option<String>> = None;
    for record in records {
        let record = record?;
        if record.epoch != epoch {
            continue;
        }
        let level = record.slices.get("level");
        let level = level.map(|level| level.as_str().map_or(level.to_string(), str::to_owned));
        match &levels {
            None => levels = Some(level),
            Some(known) if *known != level => levels = Some(None),
            Some(_) => {}
        }
        let answer = record.result.prediction.as_deref().unwrap_or_default();
        let raw = record
            .result
            .output
            .as_ref()
            .and_then(|output| output.text.as_deref());
        exported.lines += 1;
        exported.empty += usize::from(answer.trim().is_empty());
        exported.redacted += usize::from(record.result.redacted > 0 && is_blanked(answer));
        let line = GaiaLine {
            task_id: &record.sample_id,
            model_answer: answer,
            reasoning_trace: (traces == Traces::Written).then_some(raw.unwrap_or(answer)),
        };
        let written = json_line(&line).map_err(std::io::Error::from);
        written
            .and_then(|line| out.write_all(&line))
            .and_then(|()| out.write_all(b"\n"))
            .map_err(|error| {
                Error::infrastructure(format!("the export cannot be written: {error}"))
            })?;
    }
    exported.level = levels.flatten();
    Ok(exported)
}

/// The name of the file: `gaia_level<N|all>_result_<time>.jsonl`.
pub fn file_name(level: Option<&str>, time: &str) -> String {
    let plain = |c: char| {
        if c.is_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let level: String = level.unwrap_or("all").chars().map(plain).collect();
    format!("gaia_level{level}_result_{time}.jsonl")
}

/// The faults of a file; all lists are empty if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Number of samples in the dataset.
    pub samples: usize,
    /// Number of non-blank lines in the file.
    pub lines: usize,
    /// Ids of the dataset that are missing in the file.
    pub missing: Vec<String>,
    /// Duplicate ids.
    pub duplicate: Vec<String>,
    /// Ids that are not in the dataset.
    pub unknown: Vec<String>,
    /// Ids whose answer is empty.
    pub empty: Vec<String>,
    /// Lines that are not an object with texts `task_id` and `model_answer`, with the reason.
    pub malformed: Vec<(usize, String)>,
}

impl Checked {
    /// Whether there are no faults.
    pub fn is_clean(&self) -> bool {
        let ids = [&self.missing, &self.duplicate, &self.unknown, &self.empty];
        self.malformed.is_empty() && ids.iter().all(|ids| ids.is_empty())
    }
}

/// Checks a file against the ids of a dataset.
///
/// # Errors
/// If the file cannot be read.
pub fn check<'a>(path: &Path, ids: impl IntoIterator<Item = &'a str>) -> Result<Checked> {
    let text = fs::read(path).map_err(|error| Error::io("read", path, &error))?;
    Ok(of_text(&text, ids))
}

fn of_text<'a>(text: &[u8], ids: impl IntoIterator<Item = &'a str>) -> Checked {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut checked = Checked {
        samples: ids.len(),
        ..Checked::default()
    };
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (line, number) in text.split(|&byte| byte == b'\n').zip(1..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        checked.lines += 1;
        match parse(line) {
            Err(why) => checked.malformed.push((number, why)),
            Ok((id, answer)) => {
                if answer.trim().is_empty() {
                    checked.empty.push(id.clone());
                }
                *seen.entry(id).or_default() += 1;
            }
        }
    }
    let missing = ids.iter().filter(|id| !seen.contains_key(**id));
    checked.missing = missing.map(|id| (*id).to_owned()).collect();
    for (id, times) in seen {
        if times > 1 {
            checked.duplicate.push(id.clone());
        }
        if !ids.contains(id.as_str()) {
            checked.unknown.push(id);
        }
    }
    checked
}

/// The id and the answer on a line.
fn parse(line: &[u8]) -> Result<(String, String), String> {
    let mut value: Value = serde_json::from_slice(line).map_err(|_| "no JSON".to_owned())?;
    let mut text = |key: &str| match value.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{key}` is not text")),
        None => Err(format!("no `{key}`")),
    };
    Ok((text("task_id")?, text("model_answer")?))
}

/// The leaderboard's space on Hugging Face.
const SPACE: &str = "gaia-benchmark/leaderboard";

/// The guide to a file exported from a run, with their paths.
pub fn guide(
    manifest: &Manifest,
    exported: &GaiaExport,
    (file, run_dir): (&str, &str),
) -> Document {
    let mut guide = Document::new(format!("Submitting {file}"));
    let line = Line::default;
    let about = line()
        .plain(format!(
            "{} of eval ",
            counted(exported.lines as u64, "answer")
        ))
        .code(&manifest.eval)
        .plain(", run ")
        .code(&manifest.run_id);
    guide.paragraph(match &manifest.git_sha {
        Some(sha) => about
            .plain(", commit ")
            .code(sha)
            .plain(match manifest.git_dirty {
                Some(true) => " with changes.",
                _ => ".",
            }),
        None => about.plain("."),
    });
    guide.section("What the leaderboard requires");
    let wants = [
        "One JSON object per line: `task_id`, `model_answer` and, if you like, `reasoning_trace`.",
        "Every question of one split, once. A question that is missing, or whose answer is empty, can only count as wrong.",
        "The bare answer, as the question asks for it: a number without unit or thousands separators, as few words as \
         possible, or a list with commas. No `FINAL ANSWER:` before it.",
    ];
    guide.list(wants.map(|it| line().marked(it)));
    guide.section("Before you upload");
    let (run, name) = (shell_word(run_dir), shell_word(file));
    let check = format!("cargo evaltest export --format gaia {run} --check {name}");
    let mut tasks = vec![line().plain("Check the ids: ").code(check)];
    let mut task = |text: &str| tasks.push(line().marked(text));
    if let Some(level) = &exported.level {
        task(&format!(
            "All answers are of level {level}: add the other levels"
        ));
    }
    if !manifest.whole {
        task("The run covered only part of its eval: run the whole eval.");
    }
    if exported.empty > 0 {
        task(&format!(
            "{}: see `errors.jsonl`, and ask again with `cargo evaltest run --resume {run}`",
            counted(exported.empty as u64, "empty answer")
        ));
    }
    if exported.redacted > 0 {
        task(&format!(
            "{} with a blanked secret: write it by hand if it belongs there.",
            counted(exported.redacted as u64, "answer")
        ));
    }
    task(
        "Read a few traces: they may contain more than you want to publish. `--no-trace` leaves them out.",
    );
    task("Do not publish questions and answers of the benchmark: its authors ask for this.");
    guide.list(tasks);
    guide.section("Where");
    guide.paragraph(line().marked(&format!(
        "The leaderboard is the Hugging Face space `{SPACE}`. Log in there, choose the split that this file answers, upload \
         the file, and fill in what its form asks for. Its own rules hold where they differ from this page."
    )));
    guide
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{Output, Status};
    use crate::verdict::summary::tests::record;

    fn answered(id: &str, level: &str, text: &str, prediction: Option<&str>) -> Record {
        let mut record = record(id, Status::Scored, true, level);
        record.result.output = Some(Output::text(text));
        record.result.prediction = prediction.map(str::to_owned);
        record
    }

    fn written(records: Vec<Record>, traces: Traces) -> (GaiaExport, Vec<serde_json::Value>) {
        let mut out = Vec::new();
        let exported = write(records.into_iter().map(Ok), 0, traces, &mut out).unwrap();
        let lines = std::str::from_utf8(&out).unwrap().lines();
        let lines = lines.map(|line| serde_json::from_str(line).unwrap());
        (exported, lines.collect())
    }

    #[test]
    fn every_sample_has_a_line() {
        let mut again = answered("a", "1", "x", Some("x"));
        again.epoch = 1;
        let mut blanked = answered("c", "1", "FINAL ANSWER: [REDACTED]", Some("REDACTED"));
        blanked.result.redacted = 1;
        let records = vec![
            answered("a", "1", "So: FINAL ANSWER: 17", Some("17")),
            again,
            record("b", Status::AgentFailed, false, "1"),
            blanked,
        ];
        let (exported, lines) = written(records.clone(), Traces::Written);
        let expect = GaiaExport {
            lines: 3,
            empty: 1,
            redacted: 1,
            level: Some("1".to_owned()),
        };
        assert_eq!(exported, expect);
        assert_eq!(
            lines[0],
            json!({"task_id": "a", "model_answer": "17", "reasoning_trace": "So: FINAL ANSWER: 17"})
        );
        let empty = json!({"task_id": "b", "model_answer": "", "reasoning_trace": ""});
        assert_eq!(lines[1], empty);
        let (_, lines) = written(records, Traces::Excluded);
        assert_eq!(lines[0], json!({"task_id": "a", "model_answer": "17"}));
    }

    #[test]
    fn the_name_tells_the_level() {
        let check = |levels: &[&str], expect: &str| {
            let records = levels.iter().map(|level| answered("a", level, "x", None));
            let (exported, _) = written(records.collect(), Traces::Excluded);
            assert_eq!(file_name(exported.level.as_deref(), "T"), expect);
        };
        check(&["2", "2"], "gaia_level2_result_T.jsonl");
        check(&["1", "2", "1"], "gaia_levelall_result_T.jsonl");
        check(&[], "gaia_levelall_result_T.jsonl");
        check(&["../x"], "gaia_level___x_result_T.jsonl");
    }
}

#[cfg(test)]
mod check_tests {
    use super::*;

    #[test]
    fn tells_what_is_wrong() {
        let text = "\u{feff}{\"task_id\":\"a\",\"model_answer\":\"1\"}\r\n\n\
                    {\"task_id\":\"b\",\"model_answer\":\" \",\"x\":1}\n\
                    {\"task_id\":\"a\",\"model_answer\":\"2\"}\n\
                    {\"task_id\":\"z\",\"model_answer\":\"3\"}\n\
                    [1]\n{\"task_id\":7,\"model_answer\":\"\"}\n{\"task_id\":\"c\"}\nx";
        let checked = of_text(text.as_bytes(), ["a", "b", "c", "d"]);
        let ids = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        let wrong = [
            (6, "no `task_id`"),
            (7, "`task_id` is not text"),
            (8, "no `model_answer`"),
            (9, "no JSON"),
        ];
        let expect = Checked {
            samples: 4,
            lines: 8,
            missing: ids(&["c", "d"]),
            duplicate: ids(&["a"]),
            unknown: ids(&["z"]),
            empty: ids(&["b"]),
            malformed: wrong.map(|(line, why)| (line, why.to_owned())).to_vec(),
        };
        assert_eq!(checked, expect);
        assert!(!checked.is_clean());
    }

    #[test]
    fn nothing_is_wrong_with_every_id_once() {
        let text = "{\"model_answer\":\"\u{1F600}\",\"task_id\":\"b\"}\n{\"task_id\":\"a\",\"model_answer\":\"0\"}";
        let checked = of_text(text.as_bytes(), ["a", "b"]);
        assert!(checked.is_clean(), "{checked:?}");
        assert_eq!((checked.samples, checked.lines), (2, 2));
        assert!(!of_text(b"", ["a"]).is_clean());
    }
}
