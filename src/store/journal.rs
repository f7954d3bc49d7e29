//! `events.jsonl`: the journal of a run, from which a resumed run is restored.
//!
//! One line per event, written before anything that depends on it: an `answered` line is complete before the answer is
//! scored, so `kill -9` loses no answer. A rule's verdict, which can be made again, is written with the next line, or
//! within a second. A thread syncs the file within a second, so power loss costs at most that second. A torn last line is
//! cut off when a run is resumed. Each line ends with the number of its journal and a checksum; damaged or foreign lines
//! are left out and reported.

mod joined;
mod lines;
pub(crate) mod past;
pub(crate) mod places;
mod sealed;

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Carried;
use super::line_index::LineIndexWriter;
use crate::data::conversation::{Speaker, TurnMessage, is_zero};
use crate::data::{AgentError, JudgeCall, Outcome, Output, Usage};
use crate::error::{Error, Result, remedy};
use crate::system::file::{has_name, open_plain, refuse_other};
use crate::system::lock;
use crate::text::hash::Hasher;
use crate::text::json_line;
use crate::text::splice::{Members, place};
use lines::{Broken, ReadLines};
use sealed::{JournalNumber, seal};

pub(crate) use joined::JoinedJournal;
pub(crate) use lines::JournalLine;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// An attempt started.
    Started,
    /// An attempt gave an answer, which is in `output`.
    Answered,
    /// The agent reported progress, which is in `progress`, or the number of further messages, in `omitted`.
    Progress,
    /// An attempt has no answer; `error` says why.
    Failed,
    /// A judge replied, in `output`; `judge` has the request.
    Judged,
    /// A request to a judge has no reply; `error` says why.
    JudgeFailed,
    /// The answer was refused and the sample is asked again; `result` has the verdict.
    Refused,
    /// Somebody said something in a conversation: `by` in `turn`, and in which `step` of it, has `message`.
    Turn,
    /// The sample ended with a verdict, in `result`.
    Scored,
    /// The sample ended without a verdict; `result` says how.
    Ended,
    /// A flipped sample was asked again; `result` has that verdict, which counts in no metric.
    Confirmed,
}

/// A line of `events.jsonl`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredEvent {
    pub(crate) sample_id: String,
    pub(crate) event_index: u64,
    pub(crate) epoch: u32,
    pub(crate) attempt: u32,
    pub(crate) kind: Kind,
    pub(crate) time: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) latency_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Output>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<AgentError>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Outcome>,
    /// The agent's progress message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<String>,
    /// How many progress messages of an attempt were not stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "left_out")]
    pub(crate) omitted: u64,
    /// The turn of a conversation, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<u32>,
    /// The agent's reply in that turn, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<u32>,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<Speaker>,
    /// What was said, in the form of Chat Completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Value>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    /// What else is known of an agent's reply.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) metadata: Map<String, Value>,
    /// The request to a judge, without the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) judge: Option<Box<JudgeCall>>,
    /// How many secrets were redacted in `output`.
    #[serde(default)]
    pub(crate) redacted: u32,
    /// The answer is from the cache; the agent was not asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cached: bool,
    /// The run it is from, if the cache knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cached_from: Option<String>,
    /// A call of a model was replayed for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) recorded: bool,
}

impl StoredEvent {
    /// An event with the current time; its index is set when it is written.
    pub(crate) fn new(sample_id: &str, epoch: u32, attempt: u32, kind: Kind) -> Self {
        Self {
            sample_id: sample_id.to_owned(),
            event_index: 0,
            epoch,
            attempt,
            kind,
            time: format!("{:.3}", crate::system::clock::timestamp()),
            latency_s: None,
            output: None,
            error: None,
            result: None,
            progress: None,
            omitted: 0,
            turn: None,
            step: None,
            by: None,
            message: None,
            usage: None,
            metadata: Map::new(),
            judge: None,
            redacted: 0,
            cached: false,
            cached_from: None,
            recorded: false,
        }
    }
}

impl StoredEvent {
    /// The event of a message.
    pub(crate) fn of_message(
        sample_id: &str,
        epoch: u32,
        attempt: u32,
        entry: TurnMessage,
    ) -> Self {
        Self {
            turn: Some(entry.turn),
            step: entry.step,
            by: Some(entry.by),
            message: Some(entry.message),
            usage: entry.usage,
            metadata: entry.metadata,
            latency_s: Some(entry.latency_s),
            ..Self::new(sample_id, epoch, attempt, Kind::Turn)
        }
    }

    /// Whether this is a verdict on an answer that the journal has as it was, by rule alone.
    fn is_repeatable(&self) -> bool {
        let is_of_rule = |outcome: &Outcome| {
            outcome.redacted == 0 && outcome.judged.is_empty() && !outcome.is_failure_as_wrong()
        };
        self.kind == Kind::Scored && self.result.as_ref().is_some_and(is_of_rule)
    }

    /// The message of the event, if it is one.
    pub(crate) fn into_turn_message(self) -> Option<TurnMessage> {
        Some(TurnMessage {
            turn: self.turn?,
            step: self.step,
            by: self.by?,
            message: self.message?,
            usage: self.usage,
            metadata: self.metadata,
            latency_s: self.latency_s.unwrap_or_default(),
        })
    }

    /// The event of a request to a judge, without the reply.
    pub(crate) fn of_judge(sample_id: &str, epoch: u32, call: &JudgeCall, kind: Kind) -> Self {
        Self {
            latency_s: Some(call.latency_s),
            cached: call.cached,
            judge: Some(Box::new(JudgeCall {
                output: None,
                error: None,
                ..call.clone()
            })),
            ..Self::new(sample_id, epoch, call.attempts, kind)
        }
    }

    /// A judge's reply, including a refusal; `None` if the event is something else, or only confirms a flip.
    pub(crate) fn into_judge_call(self) -> Option<JudgeCall> {
        // The agent was asked at least once.
        if self.attempt == 0 && !self.cached {
            return None;
        }
        let call = JudgeCall {
            output: self.output,
            error: self.error,
            ..*self.judge?
        };
        let is_reply = match self.kind {
            Kind::Judged => true,
            Kind::JudgeFailed => call.error.is_some() && !call.is_unanswered(),
            _ => false,
        };
        is_reply.then_some(call)
    }
}

/// Appends events.
pub(crate) struct EventLog {
    state: Arc<Mutex<State>>,
    syncer: Option<(Sender<()>, JoinHandle<()>)>,
}

struct State {
    file: File,
    path: PathBuf,
    /// Of the file.
    length: u64,
    /// Lines that follow it, but are not written yet.
    waiting: Vec<u8>,
    /// Whether something was written since the file was synced.
    is_dirty: bool,
    next_index: u64,
    journal: JournalNumber,
    hash: Hasher,
    index: LineIndexWriter,
    /// When the file's existence was last checked.
    checked: Instant,
}

/// How often the file's existence is checked, as writes to a removed file are lost.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

impl EventLog {
    /// Opens the journal for appending and locks it; `see` is called with its events.
    pub(crate) fn open(path: &Path, see: &mut SeeEvent<'_>) -> Result<(Self, FoundJournal)> {
        let options = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .clone();
        let file = refuse_other(path).and_then(|()| options.open(path));
        let file = file.map_err(|error| Error::io("open", path, &error))?;
        file.try_lock().map_err(|_| {
            Error::usage(format!("another process is writing `{}`", path.display()))
                .hint("wait until it ends, or stop it")
        })?;
        let mut index = LineIndexWriter::new(path);
        let (read, hash) = recover(path, &file, &mut index, see)?;
        let found = FoundJournal {
            skipped: read.skipped,
            hash: hash.clone().hex(),
        };
        let synced = file.try_clone().ok();
        let state = State {
            file,
            path: path.to_owned(),
            length: read.length,
            waiting: Vec::new(),
            is_dirty: false,
            next_index: read.next_index,
            journal: read.journal.unwrap_or_else(JournalNumber::random),
            hash,
            index,
            checked: Instant::now(),
        };
        let state = Arc::new(Mutex::new(state));
        let syncer = synced.and_then(|file| spawn_syncer(file, Arc::clone(&state)));
        Ok((Self { state, syncer }, found))
    }

    /// Writes one event and returns its offset. After an error the file is unchanged.
    pub(crate) fn append(&self, event: &StoredEvent) -> Result<u64> {
        self.write(Unnumbered::new(event)?, false)
    }

    /// The same for the verdict of a rule, which is written with the next line or within a second if a resumed run can
    /// make it again.
    pub(crate) fn append_verdict(&self, event: &StoredEvent) -> Result<u64> {
        let may_wait = event.is_repeatable() && self.syncer.is_some();
        self.write(Unnumbered::new(event)?, may_wait)
    }

    /// Copies an event of another journal unchanged except for its index, and returns its offset.
    pub(crate) fn copy(&self, event: &Carried<StoredEvent>) -> Result<u64> {
        let copy = event.line().and_then(Unnumbered::copy);
        self.write(
            copy.map_or_else(|| Unnumbered::new(&event.known), Ok)?,
            false,
        )
    }

    fn write(&self, unnumbered: Unnumbered, may_wait: bool) -> Result<u64> {
        let mut state = lock(&self.state);
        let line = unnumbered.number(state.next_index, state.journal);
        let before = state.waiting.len();
        let place = state.length + before as u64;
        state.waiting.extend_from_slice(&line);
        if !may_wait && let Err(error) = state.flush() {
            state.waiting.truncate(before);
            return Err(error);
        }
        state.next_index += 1;
        state.hash.bytes(&line);
        state.index.add(&line);
        Ok(place)
    }

    /// Syncs the file and gives its SHA-256.
    pub(crate) fn close(&self) -> Result<String> {
        let mut state = lock(&self.state);
        if !has_name(&state.file) || !state.path.exists() {
            return Err(state.gone());
        }
        state.flush()?;
        let synced = state.file.sync_data();
        synced.map_err(|error| Error::io("sync", &state.path, &error))?;
        let hash = state.hash.clone().hex();
        state.index.finish(&hash);
        Ok(hash)
    }
}

impl State {
    /// Writes what waits. After an error the file is unchanged.
    fn flush(&mut self) -> Result<()> {
        if self.checked.elapsed() > CHECK_INTERVAL {
            self.checked = Instant::now();
            if !has_name(&self.file) {
                return Err(self.gone());
            }
        }
        if let Err(error) = self.file.write_all(&self.waiting) {
            let _ = self.file.set_len(self.length);
            let path = self.path.display();
            let hint = remedy(&error);
            return Err(
                Error::infrastructure(format!("cannot write `{path}`: {error}"))
                    .hint(hint.unwrap_or("free some space, then continue the run with `--resume`")),
            );
        }
        self.length += self.waiting.len() as u64;
        self.is_dirty |= !self.waiting.is_empty();
        self.waiting.clear();
        Ok(())
    }

    /// The error for a run directory that was removed during the run.
    fn gone(&self) -> Error {
        gone(self.path.parent().unwrap_or(&self.path))
    }
}

/// The line of an event without its index, which only the holder of the lock knows. Threads prepare everything else in
/// parallel.
struct Unnumbered {
    line: Vec<u8>,
    /// Where to put the digits of the index.
    place: Range<usize>,
}

impl Unnumbered {
    fn new(event: &StoredEvent) -> Result<Self> {
        /// No text of an event can contain this: JSON would escape its quotes.
        const KEY: &[u8] = br#","event_index":"#;
        let mut line = json_line(event).map_err(|error| {
            Error::infrastructure(format!("an event cannot be written: {error}"))
        })?;
        line.push(b'\n');
        let start = line.windows(KEY.len()).position(|part| part == KEY);
        let start = start.map_or(0, |start| start + KEY.len());
        let digits = line[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let place = start..start + digits.count();
        Ok(Self { line, place })
    }

    /// The same from a line of another journal.
    fn copy(line: &str) -> Option<Self> {
        let members: Members<'_> = serde_json::from_str(line).ok()?;
        let place = place(line.as_bytes(), members.get("event_index")?);
        let mut line = line.as_bytes().to_owned();
        line.push(b'\n');
        Some(Self { line, place })
    }

    fn number(mut self, index: u64, journal: JournalNumber) -> Vec<u8> {
        self.line.splice(self.place, index.to_string().bytes());
        seal(self.line, journal)
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.syncer.take() {
            drop(stop);
            let _ = thread.join();
        }
        let mut state = lock(&self.state);
        let _ = state.flush();
        // A program that another thread is starting has the file open, too, until its exec.
        let _ = state.file.unlock();
    }
}

/// Writes what waits and syncs the file every second, if a thread can be started.
fn spawn_syncer(file: File, state: Arc<Mutex<State>>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = channel::<()>();
    let sync = move || {
        while stopped.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
            let is_dirty = {
                let mut state = lock(&state);
                // The next line to be written gets the error.
                let _ = state.flush();
                std::mem::take(&mut state.is_dirty)
            };
            if is_dirty {
                let _ = file.sync_data();
            }
        }
    };
    let thread = std::thread::Builder::new().spawn(sync).ok()?;
    Some((stop, thread))
}

/// Called with each event of a journal.
pub(crate) type SeeEvent<'a> = dyn FnMut(JournalLine<'_>) -> Result<()> + 'a;

/// What is known of an existing journal besides its events.
pub(crate) struct FoundJournal {
    /// Line numbers, from 1, that are unreadable, damaged or duplicate.
    pub(crate) skipped: Vec<u64>,
    /// The SHA-256 of its whole lines.
    pub(crate) hash: String,
}

/// Reads the journal and cuts off a torn last line.
fn recover(
    path: &Path,
    file: &File,
    index: &mut LineIndexWriter,
    see: &mut SeeEvent<'_>,
) -> Result<(ReadLines, Hasher)> {
    let mut hash = Hasher::default();
    let pass = |line: &[u8]| {
        hash.bytes(line);
        index.add(line);
    };
    let read = lines::each(file, pass, see);
    let read = read.map_err(|broken| broken.at(path))?;
    if !read.skipped.is_empty() {
        index.give_up();
    }
    if read.is_torn {
        file.set_len(read.length)
            .map_err(|error| Error::io("repair", path, &error))?;
    }
    Ok((read, hash))
}

/// The error for a run directory that was removed during the run.
pub(super) fn gone(dir: &Path) -> Error {
    Error::infrastructure(format!(
        "the run directory `{}` was removed or moved during the run",
        dir.display()
    ))
    .hint("move it back and continue with `--resume`, or run again")
}

/// Whether a journal is being written right now.
pub(crate) fn is_held(path: &Path) -> bool {
    let file = refuse_other(path).and_then(|()| OpenOptions::new().append(true).open(path));
    file.is_ok_and(|file| file.try_lock().is_err())
}

/// Visits the readable events of a journal; none if it does not exist.
///
/// # Errors
/// When it exists but cannot be read, and errors of `see`.
pub(crate) fn each(path: &Path, see: &mut SeeEvent<'_>) -> Result<()> {
    let file = match open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", path, &error)),
    };
    let read = lines::each(file, |_| {}, see);
    read.map(drop).map_err(|broken| broken.at(path))
}

/// Visits the readable events among these whole lines of a journal, which are without their breaks.
///
/// # Errors
/// See [`each`].
pub(crate) fn each_of(path: &Path, lines: &[Vec<u8>], see: &mut SeeEvent<'_>) -> Result<()> {
    let file = open_plain(path).map_err(|error| Error::io("read", path, &error))?;
    // Its first lines say which journal it is.
    let mut beginning = Vec::new();
    let first = BufReader::new(file).take(lines::BUFFER as u64);
    let first = first.split(b'\n').take(3);
    for line in first.chain(lines.iter().cloned().map(Ok)) {
        beginning.extend(line.map_err(|error| Error::io("read", path, &error))?);
        beginning.push(b'\n');
    }
    let read = lines::each(&*beginning, |_| {}, see);
    read.map(drop).map_err(|broken| broken.at(path))
}

/// Whether a journal contains an answer.
pub(crate) fn holds_answers(path: &Path) -> bool {
    let mut holds = false;
    let _ = each(path, &mut |line| {
        holds |= line.event.kind == Kind::Answered;
        Ok(())
    });
    holds
}

impl Broken {
    fn at(self, path: &Path) -> Error {
        match self {
            Self::Read(error) => Error::io("read", path, &error),
            Self::Seen(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Status;

    #[test]
    fn a_journal_that_is_closed_is_free_though_a_program_is_just_starting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let open = || EventLog::open(&path, &mut |_| Ok(()));
        let (log, _) = open().unwrap();
        assert!(open().is_err() && is_held(&path));
        // As a process has it between its fork and its exec.
        let _started = lock(&log.state).file.try_clone().unwrap();
        drop(log);
        assert!(!is_held(&path));
        assert!(open().is_ok());
    }

    #[test]
    fn a_verdict_by_rule_is_written_with_the_next_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let (mut log, _) = EventLog::open(&path, &mut |_| Ok(())).unwrap();
        // Without the thread that writes within a second.
        log.syncer = Some((channel().0, std::thread::spawn(|| {})));
        let scored = |outcome: Outcome| StoredEvent {
            result: Some(outcome),
            ..StoredEvent::new("a", 0, 1, Kind::Scored)
        };
        let lines = || {
            let text = std::fs::read_to_string(&path).unwrap();
            text.lines().count()
        };
        let started = StoredEvent::new("a", 0, 1, Kind::Started);
        log.append(&started).unwrap();
        let place = log.append_verdict(&scored(Outcome::default())).unwrap();
        assert_eq!(lines(), 1);
        log.append(&started).unwrap();
        assert_eq!(lines(), 3);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text[usize::try_from(place).unwrap()..].contains("\"kind\":\"scored\""));
        // These verdicts cannot be made again, or not for nothing.
        let redacted = Outcome {
            redacted: 1,
            ..Outcome::default()
        };
        let by_model = Outcome {
            judged: vec![JudgeCall::default()],
            ..Outcome::default()
        };
        let failure_as_wrong = Outcome {
            status: Status::Scored,
            error: Some(AgentError::new("timed out")),
            ..Outcome::default()
        };
        for (outcome, count) in [redacted, by_model, failure_as_wrong].into_iter().zip(4..) {
            log.append_verdict(&scored(outcome)).unwrap();
            assert_eq!(lines(), count);
        }
        log.append_verdict(&scored(Outcome::default())).unwrap();
        let hash = log.close().unwrap();
        assert_eq!(
            (lines(), hash),
            (7, crate::system::file::hash(&path).unwrap())
        );
        log.append_verdict(&scored(Outcome::default())).unwrap();
        drop(log);
        assert_eq!(lines(), 8);
    }
}
