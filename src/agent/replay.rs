//! The `replay` agent: replays recorded answers.

mod same_ids;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde_json::{Map, Value};

use super::Agent;
use crate::data::conversation::content_text;
use crate::data::task::JudgeTurn;
use crate::data::{AgentError, FailureKind, JudgeCall, Output, ReplyForm, Task, Unread};
use crate::error::{Error, Result};
use crate::store;
use crate::store::RunDir;
use crate::store::files::RECORDS;
use crate::text::hash::Hasher;
use crate::text::{unquoted, unquoted_if_any};
use same_ids::SameIds;

const IDS: [&str; 3] = ["task_id", "id", "sample_id"];
const ANSWERS: [&str; 6] = [
    "model_answer",
    "answer",
    "prediction",
    "response",
    "output",
    "text",
];
/// The field of a transcript.
const MESSAGES: &str = "messages";
/// Recorded fields about how an answer came about.
const METADATA_KEYS: [&str; 4] = ["model", "system_fingerprint", "finish_reason", "recorded"];

/// Replays the recorded answer of a sample's id. A sample without one is `agent_failed`. The ids `1`, `1.0` and `"1"`
/// are one, unless the recording has several of them.
///
/// A recording may have several epochs of a sample; each then answers only that epoch. A single answer counts for every
/// epoch. A recording of a judge may also have, as `"again": 1`, its reply to a repeated request, and as `"repeat": 1`
/// its second verdict, including that for a pair in the other order. From a run directory, a judge replays the replies
/// of the judge with the same name.
#[derive(Clone, Debug)]
pub struct Replay {
    answers: HashMap<String, Recorded>,
    /// For ids that are written otherwise than the sample's.
    same_ids: SameIds,
    /// The replies of a run's judges; a file is of one agent or of one judge.
    judged: Option<JudgeReplies>,
    /// Whether some sample has several epochs.
    has_epochs: bool,
    source: String,
    /// A hash of a file's answers; for a run directory, the runs that asked.
    recordings: BTreeSet<String>,
}

/// Prefix of the hash that identifies a file of answers.
pub(crate) const RECORDING: &str = "recording ";

/// The answers to one sample, by epoch.
type Recorded = BTreeMap<u32, Replies>;
/// The answers of one epoch: the first one, those to repeated requests, and the same for repeated verdicts.
type Replies = BTreeMap<ReplyTurn, Output>;
/// The number of the repeated verdict, and of the repeated request.
type ReplyTurn = (u32, u32);

impl Replay {
    /// Reads answers from a JSONL file or from a run directory. Field names are guessed (`task_id`, `id`, `sample_id`;
    /// `model_answer`, `answer`, `prediction`, `response`, `output`, `text`) unless given. Also reads `messages`,
    /// `tool_calls`, `usage`, `model`, `system_fingerprint`, `finish_reason` and `recorded` (a date), and the `form`
    /// (`schema`, `tool`, `text`) of a judge's reply. Of a transcript, `messages` without an answer, the last reply is the
    /// answer.
    ///
    /// # Errors
    /// With file and line when the file is no JSONL, lacks a field, or has a duplicate id.
    pub fn open(path: &Path, id_field: Option<&str>, answer_field: Option<&str>) -> Result<Self> {
        let source = path.display().to_string();
        let (answers, recordings, judged) = if path.is_dir() {
            let dir = RunDir::open(path)?;
            dir.check()?;
            let (answers, runs, judged) = from_run(&dir)?;
            (answers, runs, Some(judged))
        } else {
            let answers = from_jsonl(path, id_field, answer_field)?;
            let hash = format!("{RECORDING}{}", hash(&answers));
            (answers, BTreeSet::from([hash]), None)
        };
        if answers.is_empty() {
            return Err(Error::usage(format!("`{source}` holds no answers")));
        }
        Ok(Self {
            has_epochs: answers.values().any(|recorded| recorded.len() > 1),
            same_ids: SameIds::of(answers.keys()),
            answers,
            judged,
            source,
            recordings,
        })
    }
}

impl Agent for Replay {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        if let (Some(turn), Some(judged)) = (&task.judge, &self.judged) {
            return judged.reply(turn, task, &self.source);
        }
        let recorded = self.answers.get(task.id());
        let recorded = recorded.or_else(|| self.answers.get(self.same_ids.find(task.id())?));
        let answer = recorded.and_then(|recorded| match recorded.len() {
            1 => recorded.values().next(),
            _ => recorded.get(&task.epoch()),
        });
        let repeat = task.judge.as_ref().map_or(0, |turn| turn.repeat);
        let answer = answer.and_then(|replies| {
            let exact = replies.get(&(repeat, task.again));
            let of_repeat = || replies.range((repeat, 0)..=(repeat, u32::MAX)).next();
            // A single recorded reply counts for every repeat.
            let of_first = || replies.get(&(0, task.again));
            let exact = exact.or_else(|| of_repeat().map(|(_, reply)| reply));
            exact.or_else(of_first).or_else(|| replies.values().next())
        });
        answer.cloned().ok_or_else(|| {
            let epoch = recorded.map(|_| format!(" in epoch {}", task.epoch()));
            let message = format!(
                "no recorded answer for `{}`{} in `{}`",
                task.id(),
                epoch.unwrap_or_default(),
                self.source
            );
            AgentError::of(FailureKind::NotFound, message)
        })
    }

    fn answers_conversations(&self) -> bool {
        true
    }

    fn varies_by_epoch(&self) -> bool {
        self.has_epochs
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn keeps_deadline(&self) -> bool {
        true
    }

    fn recordings(&self) -> Vec<String> {
        self.recordings.iter().cloned().collect()
    }

    fn takes_base_urls(&self) -> bool {
        false
    }
}

fn hash(answers: &HashMap<String, Recorded>) -> String {
    let sorted: BTreeMap<_, _> = answers.iter().collect();
    let mut hash = Hasher::default();
    for (id, recorded) in sorted {
        for (epoch, replies) in recorded {
            for ((repeat, again), output) in replies {
                let reply = serde_json::to_string(output).unwrap_or_default();
                hash = hash.part(id).part(epoch.to_le_bytes()).part(reply);
                for (name, number) in [("again", again), ("repeat", repeat)] {
                    if *number > 0 {
                        hash = hash.part(name).part(number.to_le_bytes());
                    }
                }
            }
        }
    }
    hash.short()
}

/// The answers, the runs that asked, and the judges' replies.
type OfRun = (HashMap<String, Recorded>, BTreeSet<String>, JudgeReplies);

fn from_run(dir: &RunDir) -> Result<OfRun> {
    let mut judged = JudgeReplies::default();
    let mut answers: HashMap<_, Recorded> = HashMap::new();
    // A run without a readable manifest is identified by its path.
    let mut runs = dir.manifest().map_or_else(
        |_| BTreeSet::from([dir.path().display().to_string()]),
        |manifest| manifest.answers_from(),
    );
    for record in store::read_records(&dir.file(RECORDS))? {
        let record = record?;
        let conversation = record.result.conversation();
        runs.extend(record.result.cached_from);
        judged.add(&record.sample_id, record.epoch, record.result.judged);
        if let Some(mut output) = record.result.output {
            output.conversation = conversation.map(Box::new);
            let recorded = answers.entry(record.sample_id).or_default();
            recorded.insert(record.epoch, Replies::from([((0, 0), output)]));
        }
    }
    Ok((answers, runs, judged))
}

/// The form of a judge's recorded reply, if it is a known word.
fn form(fields: &Map<String, Value>) -> Option<(String, Value)> {
    let form = fields.get(ReplyForm::KEY)?;
    ReplyForm::of(form.as_str()?).map(|_| (ReplyForm::KEY.to_owned(), form.clone()))
}

/// A list, also as JSON in a text. What else may hold calls is not passed over: scorers see one that they cannot read.
fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        Value::Object(_) => vec![value.clone()],
        Value::String(text) if !text.trim().is_empty() => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => items,
            Ok(Value::Null) => Vec::new(),
            _ => vec![value.clone()],
        },
        _ => Vec::new(),
    }
}

fn from_jsonl(
    path: &Path,
    id: Option<&str>,
    answer: Option<&str>,
) -> Result<HashMap<String, Recorded>> {
    let rows = crate::data::dataset::Rows::read(path)?;
    let mut answers: HashMap<_, Recorded> = HashMap::new();
    for row in rows.rows {
        let place = format!("{}:{}", path.display(), row.line.unwrap_or_default());
        let id = field(&row.fields, id, &IDS).map_err(|error| error.at(&place))?;
        let id = unquoted(&row.fields[id]);
        let list = |name: &str| row.fields.get(name).map(list).unwrap_or_default();
        let text = match field(&row.fields, answer, &ANSWERS) {
            Ok(MESSAGES) => last_reply(&list(MESSAGES)),
            Ok(answer) => unquoted_if_any(&row.fields[answer]),
            // A transcript: its last reply is the answer.
            Err(_) if answer.is_none() && row.fields.contains_key(MESSAGES) => {
                last_reply(&list(MESSAGES))
            }
            Err(error) => return Err(error.at(&place)),
        };
        let usage = row
            .fields
            .get("usage")
            .cloned()
            .and_then(|usage| serde_json::from_value(usage).ok());
        let output = Output {
            text,
            messages: list(MESSAGES),
            tool_calls: list("tool_calls"),
            usage,
            steps: row.fields.get("steps").and_then(Value::as_u64),
            metadata: METADATA_KEYS
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), row.fields.get(*key)?.clone())))
                .chain(form(&row.fields))
                .collect(),
            conversation: None,
        };
        let number = |key: &str| {
            let number = row.fields.get(key).and_then(Value::as_u64);
            u32::try_from(number.unwrap_or(0)).unwrap_or(u32::MAX)
        };
        let recorded = answers.entry(id.clone()).or_default();
        let replies = recorded.entry(number("epoch")).or_default();
        let turn = (number("repeat"), number("again"));
        if replies.insert(turn, output).is_some() {
            return Err(Error::usage(format!("{place}: a second answer for `{id}`"))
                .hint("keep one answer for each id, or number them with a field `epoch` from 0"));
        }
    }
    Ok(answers)
}

/// The text of the last reply, if the last message is one.
fn last_reply(messages: &[Value]) -> Option<String> {
    let last = messages.last();
    let last = last.filter(|message| message["role"] == "assistant")?;
    content_text(&last["content"])
}

/// The name of the field: the given one, else the first of `usual` that exists.
fn field<'a>(
    fields: &Map<String, Value>,
    given: Option<&'a str>,
    usual: &[&'a str],
) -> Result<&'a str> {
    let found = match given {
        Some(name) => fields.contains_key(name).then_some(name),
        None => usual
            .iter()
            .copied()
            .find(|name| fields.contains_key(*name)),
    };
    found.ok_or_else(|| {
        let wanted = given.map_or_else(|| usual.join("`, `"), str::to_owned);
        let there: Vec<_> = fields.keys().map(String::as_str).collect();
        Error::usage(format!(
            "no field `{wanted}`; found `{}`",
            there.join("`, `")
        ))
        .hint("name the fields: `fields: { id: task_id, answer: model_answer }`")
    })
}

/// The reply, or the error if there is none.
type JudgeReply = Result<Output, AgentError>;
/// The replies on one answer, the first and those to repeated requests; by epoch and repeat.
type OnSample = BTreeMap<(u32, u32), BTreeMap<u32, JudgeReply>>;

/// By the name of the scorer that asked, and by sample.
#[derive(Clone, Debug, Default)]
struct JudgeReplies(BTreeMap<String, HashMap<String, OnSample>>);

impl JudgeReplies {
    /// Adds the replies on a sample's answer. Failed requests are skipped.
    fn add(&mut self, id: &str, epoch: u32, calls: Vec<JudgeCall>) {
        for call in calls {
            let reply = match (call.output, call.error) {
                (Some(output), _) => Ok(output),
                (None, Some(error)) if Unread::of_failure(&error).is_some() => Err(error),
                (None, _) => continue,
            };
            let of = self.0.entry(call.scorer).or_default();
            let turns = of.entry(id.to_owned()).or_default();
            let replies = turns.entry((epoch, call.repeat)).or_default();
            replies.insert(call.again, reply);
        }
    }

    /// The reply to the scorer of the same name. A single recorded reply counts for every epoch and repeat.
    fn reply(&self, turn: &JudgeTurn, task: &Task, source: &str) -> JudgeReply {
        let Some(samples) = self.0.get(&*turn.scorer) else {
            return Err(self.nobody(&turn.scorer, source));
        };
        let turns = samples.get(task.id());
        let replies = turns.and_then(|turns| match turns.len() {
            1 => turns.values().next(),
            _ => turns.get(&(turn.epoch, turn.repeat)),
        });
        let reply = replies.and_then(|replies| {
            let again = replies.get(&task.again);
            again.or_else(|| replies.values().next())
        });
        reply.cloned().unwrap_or_else(|| {
            let message = format!(
                "no recorded reply of judge `{}` on `{}` in epoch {}, repeat {} in `{source}`",
                turn.scorer,
                task.id(),
                turn.epoch,
                turn.repeat,
            );
            Err(AgentError::of(FailureKind::NotFound, message))
        })
    }

    /// The error if no judge of this name was asked.
    fn nobody(&self, scorer: &str, source: &str) -> AgentError {
        let names: Vec<_> = self.0.keys().map(|name| format!("`{name}`")).collect();
        let message = if names.is_empty() {
            format!(
                "no judge was called in `{source}`; hint: name a run with a judge, or a file of its replies, such as \
                 `path: verdicts.jsonl`"
            )
        } else {
            format!(
                "no judge `{scorer}` was called in `{source}`, but {}; hint: name the scorer as there",
                names.join(", ")
            )
        };
        AgentError::of(FailureKind::Unusable, message)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::data::task::JudgeTurn;

    fn check(line: &str, expect: Result<&str, &str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.jsonl");
        let first = r#"{"id": "a", "answer": "1"}"#;
        fs::write(&path, format!("{first}\n\n{line}\n")).unwrap();
        let read = Replay::open(&path, None, None);
        let answer = read.as_ref().map(|replay| {
            let answers = replay.answers["b"].values();
            answers
                .flat_map(BTreeMap::values)
                .filter_map(|answer| answer.text.as_deref())
                .collect::<String>()
        });
        let error = answer.as_ref().err().map(ToString::to_string);
        match expect {
            Ok(expect) => assert_eq!(answer.ok().as_deref(), Some(expect)),
            Err(expect) => {
                let error = error.unwrap();
                assert!(error.contains(expect), "{error}");
                assert!(error.contains("recording.jsonl:3:"), "{error}");
            }
        }
    }

    /// A judge's reply to a repeated request; a recording without one gives the first reply again.
    #[test]
    fn a_recording_may_have_what_was_replied_once_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.jsonl");
        let lines = [
            r#"{"id": "sample-1", "answer": "second", "again": 1}"#,
            r#"{"id": "sample-1", "answer": "first"}"#,
        ];
        let reply = |lines: &[&str], again| {
            fs::write(&path, lines.join("\n")).unwrap();
            let replay = Replay::open(&path, None, None).unwrap();
            assert!(!replay.varies_by_epoch());
            let task = Task {
                again,
                epoch: 3,
                ..Task::for_test("?")
            };
            (
                replay.answer(&task).unwrap().text.unwrap(),
                replay.recordings(),
            )
        };
        let (first, recordings) = reply(&lines, 0);
        assert_eq!(first, "first");
        assert_eq!(reply(&lines, 1).0, "second");
        let (again, alone) = reply(&lines[1..], 1);
        assert_eq!(again, "first");
        assert_ne!(alone, recordings);
    }

    #[test]
    fn a_recording_may_have_what_was_replied_to_each_repeat() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.jsonl");
        let lines = [
            r#"{"id": "sample-1", "answer": "other order", "repeat": 1}"#,
            r#"{"id": "sample-1", "answer": "first"}"#,
            r#"{"id": "sample-1", "answer": "once more", "again": 1}"#,
        ];
        let reply = |lines: &[&str], repeat, again| {
            fs::write(&path, lines.join("\n")).unwrap();
            let replay = Replay::open(&path, None, None).unwrap();
            let turn = JudgeTurn {
                scorer: "judge".into(),
                epoch: 0,
                repeat,
            };
            let task = Task {
                again,
                judge: Some(turn),
                ..Task::for_test("?")
            };
            replay.answer(&task).unwrap().text.unwrap()
        };
        assert_eq!(reply(&lines, 0, 0), "first");
        assert_eq!(reply(&lines, 0, 1), "once more");
        assert_eq!(reply(&lines, 1, 0), "other order");
        assert_eq!(reply(&lines, 1, 1), "other order");
        // A single recorded reply counts for all.
        assert_eq!(reply(&lines[1..], 1, 0), "first");
        assert_eq!(reply(&lines[1..], 2, 1), "once more");
    }

    #[test]
    fn lists_may_be_json_in_a_text() {
        let check = |value: Value, expect: Value| {
            assert_eq!(Value::from(list(&value)), expect, "{value}");
        };
        let call = json!({"name": "f"});
        check(json!([call]), json!([call]));
        check(json!("[{\"name\": \"f\"}]"), json!([call]));
        check(call.clone(), json!([call]));
        check(json!("f()"), json!(["f()"]));
        for nothing in [json!(null), json!(""), json!(3), json!("null"), json!([])] {
            check(nothing, json!([]));
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
        let deep = format!("{open}{close}");
        check(&format!(r#"{{"id": "b", "answer": "{deep}"}}"#), Ok(&deep));
        let objects = format!("{}1{}", r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
        for value in [&deep, &objects] {
            for field in ["tool_calls", "messages", "other"] {
                let line = format!(r#"{{"id": "b", "answer": "x", "{field}": {value}}}"#);
                check(&line, Err("broken JSON: recursion limit exceeded"));
            }
        }
        check(r#"{"id": "b", "answer": "x"#, Err("broken JSON"));
        check(r#"{"id": "b", "answer": "\ud800"}"#, Err("broken JSON"));
        check(r#"{"id": "b"}"#, Err("answer"));
        check(r#"["b"]"#, Err("a row is an object"));
        check(
            r#"{"id": "a", "answer": "2"}"#,
            Err("a second answer for `a`"),
        );
    }
}

#[cfg(test)]
mod judged_tests {
    use super::*;

    fn call(repeat: u32, again: u32, text: &str) -> JudgeCall {
        JudgeCall {
            scorer: "judge".to_owned(),
            repeat,
            again,
            output: Some(Output::text(text)),
            ..JudgeCall::default()
        }
    }

    fn reply(replies: &JudgeReplies, scorer: &str, turn: [u32; 3]) -> Result<String, AgentError> {
        let [epoch, repeat, again] = turn;
        let task = Task {
            again,
            ..Task::for_test("?")
        };
        let turn = JudgeTurn {
            scorer: scorer.into(),
            epoch,
            repeat,
        };
        let reply = replies.reply(&turn, &task, "runs/1");
        reply.map(|output| output.text.unwrap())
    }

    #[test]
    fn each_repeat_and_each_epoch_has_its_own() {
        let mut replies = JudgeReplies::default();
        let first = vec![
            call(0, 0, "unreadable"),
            call(0, 1, "again"),
            call(1, 0, "b"),
        ];
        replies.add("sample-1", 0, first);
        replies.add("sample-1", 1, vec![call(0, 0, "c")]);
        let reply_text = |turn| reply(&replies, "judge", turn).unwrap();
        assert_eq!(reply_text([0, 0, 0]), "unreadable");
        assert_eq!(reply_text([0, 0, 1]), "again");
        assert_eq!(reply_text([0, 1, 0]), "b");
        assert_eq!(reply_text([1, 0, 1]), "c");
        let error = reply(&replies, "judge", [1, 1, 0]).unwrap_err();
        assert_eq!(error.kind, FailureKind::NotFound);
        assert!(
            error.message.contains("`sample-1` in epoch 1, repeat 1"),
            "{}",
            error.message
        );
    }

    #[test]
    fn a_refusal_is_one_again_and_an_outage_is_none() {
        let failed = |kind, scorer: &str| JudgeCall {
            scorer: scorer.to_owned(),
            error: Some(AgentError::of(kind, "why")),
            ..JudgeCall::default()
        };
        let mut replies = JudgeReplies::default();
        let calls = vec![
            failed(FailureKind::Refused, "refuses"),
            failed(FailureKind::Busy, "busy"),
        ];
        replies.add("sample-1", 0, calls);
        let kind = |scorer| reply(&replies, scorer, [0; 3]).unwrap_err().kind;
        assert_eq!(kind("refuses"), FailureKind::Refused);
        assert_eq!(kind("busy"), FailureKind::Unusable);
    }

    #[test]
    fn missing_recording_lists_recorded_models() {
        let mut replies = JudgeReplies::default();
        let says = |replies: &JudgeReplies, says: &str| {
            let error = reply(replies, "points", [0; 3]).unwrap_err();
            assert_eq!(error.kind, FailureKind::Unusable);
            assert!(error.message.contains(says), "{}", error.message);
        };
        says(
            &replies,
            "no judge was called in `runs/1`; hint: name a run",
        );
        replies.add("sample-1", 0, vec![call(0, 0, "x")]);
        says(
            &replies,
            "no judge `points` was called in `runs/1`, but `judge`; hint: name the scorer as there",
        );
    }
}
