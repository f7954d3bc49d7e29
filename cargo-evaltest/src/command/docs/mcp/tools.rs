//! The tools: what each takes, and the command that it is.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evaltest::engine::system::lock::lock;
use evaltest::engine::system::signal::{interrupt, shield};
use evaltest::engine::text::clean_lines;
use evaltest::{Error, Result};
use serde_json::{Map, Value, json};

use super::McpArgs;
use super::bounded::bounded;
use super::schema::{self, Wrong, check, integer, named};

/// The most lines that are scored at once.
const MOST_LINES: usize = 1000;
/// The time between two looks whether a cancelled run has ended.
const AFTER_CANCEL: Duration = Duration::from_millis(20);
/// The most bytes of an error.
const ERROR_BYTES: usize = 2000;
/// The members of a summary that tell how a run went.
const SUMMARY_KEYS: [&str; 19] = [
    "eval",
    "samples",
    "scored",
    "correct",
    "errors",
    "unscored",
    "skipped",
    "accuracy",
    "accuracy_bounds",
    "accuracy_ci95",
    "error_rate",
    "failures",
    "means",
    "slices",
    "usage",
    "change",
    "gates",
    "notices",
    "exit_code",
];
/// What a ground truth, or a hint at one, is called in any result.
const TRUTHS: [&str; 11] = [
    "ground_truth",
    "target_hash",
    "normalized_ground_truth",
    "target",
    "expected_state",
    "metadata",
    "details",
    "judged",
    "refused",
    "scorer",
    "against",
];

/// The tools, and what runs.
pub(super) struct Tools {
    program: PathBuf,
    max_samples: u64,
    max_cost_usd: Option<f64>,
    show_truth: bool,
    /// Whether a run is under way.
    is_running: AtomicBool,
    /// The open calls by the id of their request.
    calls: Mutex<HashMap<String, OpenCall>>,
    /// Whether the server ends.
    is_over: AtomicBool,
}

/// A call without an answer yet.
#[derive(Default)]
struct OpenCall {
    process: Option<u32>,
    is_cancelled: bool,
}

/// What a call gave.
pub(super) struct Called {
    pub(super) text: String,
    pub(super) structured: Option<Value>,
    pub(super) is_error: bool,
}

/// What a command printed.
struct Printed {
    stdout: Vec<u8>,
    stderr: String,
    exit_code: Option<i32>,
}

/// Marks that no run is under way any more.
struct Running<'a>(&'a AtomicBool);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl Tools {
    pub(super) fn new(args: &McpArgs) -> Result<Self> {
        let program = std::env::current_exe()
            .map_err(|error| Error::infrastructure(format!("cannot find this program: {error}")))?;
        Ok(Self {
            program,
            max_samples: args.max_samples,
            max_cost_usd: args.max_cost_usd,
            show_truth: args.show_truth,
            is_running: AtomicBool::new(false),
            calls: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    /// Notes a call, which may be cancelled from now on.
    pub(super) fn open(&self, id: &Value) {
        lock(&self.calls).insert(id.to_string(), OpenCall::default());
    }

    /// Forgets a call; whether it was cancelled.
    pub(super) fn close(&self, id: &Value) -> bool {
        let call = lock(&self.calls).remove(&id.to_string());
        call.is_some_and(|call| call.is_cancelled)
    }

    /// Calls a tool; `None` if there is none of this name.
    pub(super) fn call(
        &self,
        id: &Value,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Option<Called> {
        let listed = schema::tools(self.max_samples);
        let tool = listed.iter().find(|tool| tool["name"] == name)?;
        let done = check(&tool["inputSchema"], arguments).and_then(|()| match name {
            "list_evals" => self.list_evals(id),
            "run_eval" => self.run_eval(id, arguments),
            "summary" => self.summary(id, arguments),
            "show" => self.show(id, arguments),
            "score" => self.score(id, arguments),
            _ => self.compare(id, arguments),
        });
        Some(match done {
            Ok(value) => {
                let value = bounded(value);
                Called {
                    text: value.to_string(),
                    structured: Some(value),
                    is_error: false,
                }
            }
            Err(message) => Called {
                text: message,
                structured: None,
                is_error: true,
            },
        })
    }

    /// Ends a call.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(call) = lock(&self.calls).get_mut(&id.to_string()) {
            call.is_cancelled = true;
            if let Some(process) = call.process {
                interrupt(process);
            }
        }
    }

    /// Ends all calls.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        for process in lock(&self.calls).values().filter_map(|call| call.process) {
            interrupt(process);
        }
    }

    fn list_evals(&self, id: &Value) -> std::result::Result<Value, Wrong> {
        let listed = self.json(id, &["list", "--json"], &[])?;
        let evals = listed.as_array().into_iter().flatten().map(|eval| {
            let samples = eval["samples"].as_array().map_or(0, Vec::len);
            json!({"eval": eval["eval"], "benchmark": eval["benchmark"], "samples": samples, "gates": eval["gates"]})
        });
        Ok(json!({"evals": evals.collect::<Vec<_>>()}))
    }

    fn run_eval(
        &self,
        id: &Value,
        arguments: &Map<String, Value>,
    ) -> std::result::Result<Value, Wrong> {
        let number = |key: &str| arguments.get(key).and_then(integer);
        let (limit, epochs) = (number("limit").unwrap_or(1), number("epochs"));
        let eval = named(arguments, "eval")?;
        let asked = limit.saturating_mul(epochs.unwrap_or(1));
        if asked > self.max_samples {
            return Err(format!(
                "{asked} samples exceed the maximum of {}; hint: lower `limit`, or start the server with \
                 `--max-samples {asked}`",
                self.max_samples
            ));
        }
        while self.is_running.swap(true, Ordering::SeqCst) {
            let is_ending = lock(&self.calls).values().any(|call| call.is_cancelled);
            if !is_ending {
                return Err(
                    "a run is in progress; hint: wait for its result, or cancel it".to_owned(),
                );
            }
            std::thread::sleep(AFTER_CANCEL);
        }
        let _running = Running(&self.is_running);
        let counted = self.json(
            id,
            &[
                "run",
                eval,
                "--dry-run",
                "--json",
                "--limit",
                &limit.to_string(),
            ],
            &[],
        )?;
        let found = counted.as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<&str> = found
            .iter()
            .filter_map(|eval| eval["eval"].as_str())
            .collect();
        if names.len() != 1 {
            return Err(format!(
                "`{eval}` names {} evals; hint: name one: `{}`",
                names.len(),
                names.join("`, `")
            ));
        }
        let own = found[0]["epochs"].as_u64().unwrap_or(1);
        let forms = 1 + found[0]["perturbed"].as_u64().unwrap_or_default();
        let own = epochs.unwrap_or(own).saturating_mul(forms);
        let asked = limit.saturating_mul(own);
        if asked > self.max_samples {
            return Err(format!(
                "the eval runs each sample {own} times, {asked} in total, but the maximum is {}; hint: \
                 give `epochs: 1`, or a lower `limit`",
                self.max_samples
            ));
        }
        let mut words = vec![
            "run".to_owned(),
            eval.to_owned(),
            "--json".into(),
            "--no-github".into(),
            "--limit".into(),
            limit.to_string(),
        ];
        if let Some(epochs) = epochs {
            words.extend(["--epochs".into(), epochs.to_string()]);
        }
        if let Some(usd) = self.max_cost_usd {
            words.push(format!("--at-most-usd={usd}"));
        }
        let options = arguments.get("agent_option").and_then(Value::as_object);
        for (key, value) in options.into_iter().flatten() {
            words.push(format!("--agent-option={key}={value}"));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let printed = self.print(id, &words, &[])?;
        let report: Value = serde_json::from_slice(&printed.stdout).unwrap_or_default();
        let Some(run) = report["runs"].as_array().and_then(|runs| runs.first()) else {
            return Err(printed.error());
        };
        let summary = run["summary"].as_object();
        let summary = summary.into_iter().flatten();
        let summary = summary.filter(|(key, _)| SUMMARY_KEYS.contains(&key.as_str()));
        let summary: Map<String, Value> = summary
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let summary = Value::Object(summary);
        Ok(
            json!({"run": run["run_dir"], "exit_code": printed.exit_code, "summary": self.without_truths(summary)}),
        )
    }

    fn summary(
        &self,
        id: &Value,
        arguments: &Map<String, Value>,
    ) -> std::result::Result<Value, Wrong> {
        let run = named(arguments, "run")?;
        let summary = self.json(id, &["summarize", run, "--json"], &[])?;
        Ok(self.without_truths(summary))
    }

    fn show(
        &self,
        id: &Value,
        arguments: &Map<String, Value>,
    ) -> std::result::Result<Value, Wrong> {
        let run = named(arguments, "run")?;
        if !arguments.contains_key("id") {
            let failures = self.json(id, &["show", run, "--failures", "--json"], &[])?;
            return Ok(self.without_truths(failures));
        }
        let sample = named(arguments, "id")?;
        let record = self.json(id, &["show", run, sample, "--json"], &[])?;
        Ok(self.without_truths(record))
    }

    fn score(
        &self,
        id: &Value,
        arguments: &Map<String, Value>,
    ) -> std::result::Result<Value, Wrong> {
        let scorer = named(arguments, "scorer")?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !scorer.chars().all(is_name) {
            return Err(format!(
                "`{scorer}` is not a scorer's name; hint: write one such as `exact`"
            ));
        }
        let lines = arguments.get("lines").and_then(Value::as_array);
        let lines = lines.map(Vec::as_slice).unwrap_or_default();
        if lines.len() > MOST_LINES {
            return Err(format!(
                "{} lines exceed the maximum of {MOST_LINES}; hint: send fewer",
                lines.len()
            ));
        }
        if let Some(place) = lines.iter().position(|line| !line.is_object()) {
            let hint = "write `{\"prediction\": \"4\", \"ground_truth\": \"4\"}`";
            return Err(format!("`lines[{place}]` must be an object; hint: {hint}"));
        }
        let input: Vec<u8> = lines
            .iter()
            .flat_map(|line| format!("{line}\n").into_bytes())
            .collect();
        let printed = self.print(id, &["score", "--scorer", scorer, "-"], &input)?;
        if printed.exit_code != Some(0) {
            return Err(printed.error());
        }
        let scored = printed.stdout.split(|&byte| byte == b'\n');
        let scored = scored.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        let scores: Vec<Value> = scored.map(|mut line| line["score"].take()).collect();
        Ok(json!({"scores": scores}))
    }

    fn compare(
        &self,
        id: &Value,
        arguments: &Map<String, Value>,
    ) -> std::result::Result<Value, Wrong> {
        let (a, b) = (named(arguments, "a")?, named(arguments, "b")?);
        let compared = self.json(id, &["compare", a, b, "--json"], &[])?;
        Ok(self.without_truths(compared))
    }

    /// A result without ground truths, and without what scorers write about them.
    fn without_truths(&self, value: Value) -> Value {
        if self.show_truth {
            return value;
        }
        match value {
            Value::Object(members) => {
                // What a scorer complains of may be the ground truth.
                let is_scorers = members.values().any(|value| value == "scorer_failed");
                let is_complaint = |key: &str| matches!(key, "error" | "example" | "message");
                let members = members.into_iter();
                let members = members.filter(|(key, _)| !(is_scorers && is_complaint(key)));
                let members = members.filter(|(key, value)| {
                    let is_word = |text: &str| !text.contains(char::is_whitespace);
                    let is_reason = key == "reason" && !value.as_str().is_none_or(is_word);
                    // The name of a scorer is no truth, its options may be.
                    let is_name = key == "scorer" && value.is_string();
                    is_name || !(is_reason || TRUTHS.contains(&key.as_str()))
                });
                let members = members.map(|(key, value)| (key, self.without_truths(value)));
                Value::Object(members.collect())
            }
            Value::Array(items) => items
                .into_iter()
                .map(|item| self.without_truths(item))
                .collect(),
            other => other,
        }
    }

    /// The JSON that a command prints.
    fn json(&self, id: &Value, words: &[&str], input: &[u8]) -> std::result::Result<Value, Wrong> {
        let printed = self.print(id, words, input)?;
        let value = serde_json::from_slice(&printed.stdout);
        match value {
            Ok(value) if printed.exit_code == Some(0) => Ok(value),
            _ => Err(printed.error()),
        }
    }

    /// Runs a command of this program.
    fn print(
        &self,
        id: &Value,
        words: &[&str],
        input: &[u8],
    ) -> std::result::Result<Printed, Wrong> {
        let cannot =
            |error: std::io::Error| format!("cannot run `cargo evaltest {}`: {error}", words[0]);
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = shield(&mut command).spawn().map_err(cannot)?;
        let track = |process| {
            let mut calls = lock(&self.calls);
            let call = calls.entry(id.to_string()).or_default();
            call.process = process;
            call.is_cancelled
        };
        if track(Some(child.id())) || self.is_over.load(Ordering::SeqCst) {
            interrupt(child.id());
        }
        let printed = communicate(&mut child, input);
        let status = child.wait();
        track(None);
        let (stdout, stderr) = printed.map_err(cannot)?;
        Ok(Printed {
            stdout,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            exit_code: status.map_err(cannot)?.code(),
        })
    }
}

/// Writes all input, and reads all output.
fn communicate(child: &mut Child, input: &[u8]) -> std::io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut stdin, mut stderr) = (child.stdin.take(), child.stderr.take());
    let mut stdout = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // One that does not read it all says why.
            let _ = stdin.take().map(|mut stdin| stdin.write_all(input));
        });
        let errors = scope.spawn(|| {
            let mut text = Vec::new();
            let read = stderr.as_mut().map(|stderr| stderr.read_to_end(&mut text));
            read.transpose().map(|_| text)
        });
        if let Some(out) = &mut child.stdout {
            out.read_to_end(&mut stdout)?;
        }
        let errors = errors.join().unwrap_or_else(|_| Ok(Vec::new()))?;
        Ok((stdout, errors))
    })
}

impl Printed {
    /// What went wrong, as the command says it.
    fn error(&self) -> Wrong {
        let place = self.stderr.rfind("error: ").unwrap_or_default();
        let text = clean_lines(self.stderr[place..].trim());
        let end = text.floor_char_boundary(ERROR_BYTES);
        match (text[..end].trim(), self.exit_code) {
            ("", code) => format!("ended with exit code {}", code.unwrap_or(130)),
            (text, _) => text.to_owned(),
        }
    }
}
