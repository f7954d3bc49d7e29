//! `init --data`: a spec over the user's own questions and program, and one question asked.

use std::path::{Path, PathBuf};

use evaltest::dataset::Rows;
use evaltest::engine::eval::spec;
use evaltest::engine::figure::counted;
use evaltest::engine::report::document::Line;
use evaltest::engine::report::figures::{ReportedSample, SampleOutcome};
use evaltest::engine::report::terminal::sample_rows;
use evaltest::engine::run::listing::Listing;
use evaltest::engine::text::clean;
use evaltest::engine::verdict::Subject;
use evaltest::{Error, Registry, Result};
use serde_json::json;

/// Columns that hold the question.
const QUESTIONS: [&str; 12] = [
    "prompt",
    "question",
    "input",
    "query",
    "problem",
    "task",
    "instruction",
    "user_input",
    "user",
    "text",
    "message",
    "q",
];
/// Columns that hold the right answer.
const ANSWERS: [&str; 18] = [
    "ground_truth",
    "answer",
    "answers",
    "target",
    "targets",
    "label",
    "expected",
    "expected_output",
    "expected_answer",
    "reference",
    "reference_answer",
    "correct_answer",
    "correct",
    "solution",
    "gold",
    "ideal",
    "output",
    "a",
];
/// Columns that hold the id.
const IDS: [&str; 7] = [
    "id",
    "task_id",
    "sample_id",
    "_id",
    "question_id",
    "key",
    "uid",
];
/// Names of a file of questions, and its formats.
const STEMS: [&str; 9] = [
    "questions",
    "dataset",
    "data",
    "qa",
    "eval",
    "evals",
    "test",
    "tests",
    "samples",
];
const FORMATS: [&str; 5] = ["csv", "tsv", "jsonl", "json", "parquet"];

/// A file of questions.
pub(super) struct OwnData {
    /// From the folder where `init` was typed.
    path: PathBuf,
    rows: usize,
    /// The columns with question, answer and id.
    columns: [Option<String>; 3],
}

/// The file of questions in a folder, if there is one.
pub(super) fn found_in(folder: &Path) -> Option<PathBuf> {
    let names = STEMS
        .iter()
        .flat_map(|stem| FORMATS.map(|format| format!("{stem}.{format}")));
    let mut names = names.filter(|name| folder.join(name).is_file());
    let only = names.next()?;
    // Of several nobody knows which is meant.
    names.next().is_none().then(|| only.into())
}

impl OwnData {
    /// Reads a file and finds its columns.
    ///
    /// # Errors
    /// If it cannot be read, or has no column that is known as the question or the answer.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let rows = Rows::read(path)?;
        let names: Vec<&String> = rows.rows.iter().flat_map(|row| row.fields.keys()).collect();
        let find = |known: &[&str]| {
            let is_one = |name: &&&String, known: &str| {
                name.to_lowercase().replace([' ', '-'], "_") == known
            };
            let mut found = known
                .iter()
                .filter_map(|known| names.iter().find(|name| is_one(name, known)));
            found.next().map(|name| (*name).clone())
        };
        let columns = [find(&QUESTIONS), find(&ANSWERS), find(&IDS)];
        let missing = columns.iter().zip(["question", "answer"]);
        let missing = missing.filter(|(column, _)| column.is_none());
        let missing: Vec<&str> = missing.map(|(_, what)| what).collect();
        if !missing.is_empty() {
            let mut listed: Vec<String> = Vec::new();
            for name in &names {
                let name = format!("`{}`", clean(name));
                if !listed.contains(&name) {
                    listed.push(name);
                }
            }
            let error = Error::usage(format!(
                "`{}`: no column is recognised as the {}; found {}",
                path.display(),
                missing.join(" or the "),
                listed.join(", ")
            ));
            let rename = |what: &&str| format!("the column with the {what} to `{what}`");
            let renamed: Vec<_> = missing.iter().map(rename).collect();
            return Err(error.hint(format!("rename {}", renamed.join(", and "))));
        }
        Ok(Self {
            path: path.to_owned(),
            rows: rows.rows.len(),
            columns,
        })
    }

    /// The name of an eval of these questions.
    pub(super) fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let legal = |c: char| match c.to_ascii_lowercase() {
            c if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' => c,
            _ => '-',
        };
        stem.chars().map(legal).collect()
    }

    /// What was read.
    pub(super) fn note(&self) -> String {
        let [question, answer, id] = self.columns.each_ref().map(|it| it.as_deref().map(clean));
        let id = id.map_or_else(
            || "no ids: rows are numbered".to_owned(),
            |id| format!("ids in `{id}`"),
        );
        format!(
            "read     {}: {}, in the column `{}`, answers in `{}`, {id}",
            self.path.display(),
            counted(self.rows as u64, "question"),
            question.unwrap_or_default(),
            answer.unwrap_or_default(),
        )
    }

    /// The spec of an eval of this name, whose agent is a program.
    pub(super) fn spec(&self, name: &str, program: &[String]) -> String {
        // An absolute path stays as it is.
        let path = Path::new("..").join(&self.path);
        let roles = ["prompt", "ground_truth", "id"].into_iter();
        let columns = roles.zip(&self.columns);
        let columns = columns.filter_map(|(role, column)| {
            let column = json!(column.as_deref()?);
            Some(format!("{role}: {column}"))
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let (path, program) = (json!(path.to_string_lossy()), json!(program));
        format!(
            "# Your questions and your program.\n\
             name: {name}\n\
             benchmark: {{ type: qa, path: {path}, columns: {{ {columns} }} }}\n\n\
             # The agent gets each question on stdin, as it is, and prints its answer. It runs in this file's folder.\n\
             prompt: none\n\
             agent: {{ type: command, command: {program} }}\n\n\
             limits: {{ concurrency: 4, timeout_s: 120 }}\n\n\
             # Commits answers as readable text; remove it if they must stay secret.\n\
             snapshot: {{ answers: plain }}\n\n\
             gates:\n  \
             - error_rate <= 0.05          # outages, not wrong answers\n  \
             - no_regression(alpha=0.05)   # worse than the accepted run, by more than chance\n"
        )
    }
}

/// What to correct if the program does not answer.
const PROGRAM: &str = "`agent.command`, which runs in `evals/`,";

/// What came back when one question was tried.
#[derive(Default)]
pub(super) struct Tried {
    /// Lines about the answer.
    pub(super) lines: Vec<Line>,
    /// What to correct, if there is no answer.
    pub(super) fix: Option<&'static str>,
}

/// Asks the first question of an eval, without leaving a run.
pub(super) fn ask_one(spec: &Path) -> Result<Tried> {
    let folder = tempfile::tempdir().map_err(|error| {
        Error::infrastructure(format!("there is no folder to try it in: {error}"))
    })?;
    let eval = spec::load(spec, &Registry::new(), &[])?;
    let eval = eval.limit(1).epochs(1).no_gates();
    let run = match eval.output_root(folder.path().join("runs")).run() {
        Ok(run) => run,
        // A program that cannot be started: the spec is written all the same.
        Err(error) => {
            let hint = error.hint_text().map(|hint| format!("hint: {hint}"));
            let eval = spec::load(spec, &Registry::new(), &[])?;
            let is_readable = Listing::of(&eval, 0).is_ok();
            let lines = [format!("no answer: {}", error.message())].into_iter();
            return Ok(Tried {
                lines: lines.chain(hint).map(Line::from).collect(),
                fix: Some(if is_readable {
                    PROGRAM
                } else {
                    "the data, or `benchmark.columns`"
                }),
            });
        }
    };
    let Some(record) = run.whole_records()?.next().transpose()? else {
        return Ok(Tried::default());
    };
    let sample = ReportedSample::of(&record);
    let mut lines: Vec<Line> = Vec::new();
    match sample.outcome {
        SampleOutcome::Error => {
            let error = record.result.error.as_ref();
            let message = error.map(|error| &*error.message).unwrap_or_default();
            let stderr = error.and_then(|error| error.stderr_tail.as_deref());
            let last = stderr.and_then(|tail| tail.lines().rfind(|line| !line.trim().is_empty()));
            lines.push(format!("{}: no answer: {message}", sample.id).into());
            lines.extend(last.map(|line| format!("stderr: {line}").into()));
        }
        outcome => {
            let word = match outcome {
                SampleOutcome::Correct => "correct",
                SampleOutcome::Wrong => "wrong",
                _ => "not scored",
            };
            let rows = sample_rows(&[&sample], Subject::Answers).into_iter();
            lines.extend(rows.map(|row| row.plain(format!("  ({word})"))));
        }
    }
    Ok(Tried {
        lines,
        fix: (sample.outcome == SampleOutcome::Error).then_some(PROGRAM),
    })
}
