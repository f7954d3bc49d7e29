//! `Recorder`: stands between the agents of a run and their models.
//!
//! A call is looked up among the recorded ones of its sample and epoch, each of which answers once. What is not there goes
//! to the provider, and back to the agent while it arrives. An attempt begins with all that is recorded, or to be recorded
//! anew with nothing; its file is written when it ends.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use super::attempt::{AttemptCalls, Calls};
use super::cassette::{Cassettes, Entry, Lines};
use super::key::KeyRules;
use super::request::Incoming;
use super::upstream::refuse;
use super::{Provider, RecordMode, RecordedCalls};
use crate::data::{AgentError, FailureKind};
use crate::error::{Error, Result};
use crate::system::cancel::Cancel;
use crate::system::http::{Client, Url};
use crate::system::loopback::{Loopback, LoopbackConnection};
use crate::system::{lock, token};
use crate::text::quoted;
use crate::text::redact::Redactor;

/// How many samples a notice names.
const NAMED: usize = 3;

/// Records or replays the calls of a run.
pub(crate) struct Recorder {
    pub(super) loopback: Arc<Loopback>,
    pub(super) attempts: Arc<Attempts>,
    pub(super) cassettes: Cassettes,
    pub(super) rules: KeyRules,
    pub(super) mode: RecordMode,
    pub(super) upstream: BTreeMap<Provider, Url>,
    /// None in replay mode, so that no connection can be opened.
    pub(super) client: Option<Client>,
    pub(super) redactor: Redactor,
    /// What records anew.
    pub(super) command: String,
    /// How many recorded calls an attempt did not make, by sample and epoch.
    pub(super) unused: Mutex<BTreeMap<(String, u32), usize>>,
    /// Why the first recording was not written.
    pub(super) unwritten: Mutex<Option<String>>,
    pub(super) serving: Cancel,
}

/// The attempts that are open, by the random part of their path.
#[derive(Default)]
pub(super) struct Attempts(pub(super) Mutex<HashMap<String, Arc<AttemptCalls>>>);

impl Recorder {
    /// Listens for the calls of a run, with files in `folder`. `command` records anew.
    ///
    /// # Errors
    /// If there is no port, or the settings are wrong.
    pub(crate) fn start(
        calls: &RecordedCalls,
        folder: PathBuf,
        redactor: Redactor,
        command: String,
    ) -> Result<Arc<Self>> {
        let failed = |error: io::Error| {
            Error::infrastructure(format!("`record` needs a port of 127.0.0.1: {error}"))
        };
        let mode = calls.effective_mode();
        let upstream = calls.upstream.iter().map(|(provider, url)| {
            let url = Url::new(url.trim_end_matches('/'), provider.example())?;
            Ok((*provider, url))
        });
        let recorder = Arc::new(Self {
            loopback: Arc::new(Loopback::for_programs().map_err(failed)?),
            attempts: Arc::default(),
            cassettes: Cassettes::new(folder),
            rules: KeyRules::of(calls, redactor.clone()),
            mode,
            upstream: upstream.collect::<Result<_>>()?,
            client: match mode {
                RecordMode::Replay => None,
                RecordMode::Record | RecordMode::Missing => Some(Client::new()?),
            },
            redactor,
            command,
            unused: Mutex::default(),
            unwritten: Mutex::default(),
            serving: Cancel::new(),
        });
        let (loopback, attempts) = (
            Arc::clone(&recorder.loopback),
            Arc::clone(&recorder.attempts),
        );
        let serving = recorder.serving.clone();
        std::thread::Builder::new()
            .name("evaltest-record".to_owned())
            .spawn(move || {
                let _ = loopback.serve(&serving, move |connection| serve(&attempts, connection));
            })
            .map_err(failed)?;
        Ok(recorder)
    }

    /// The port that agents call.
    pub(crate) fn port(&self) -> u16 {
        self.loopback.port()
    }

    /// Whether every call is replayed.
    pub(crate) fn only_replays(&self) -> bool {
        self.mode == RecordMode::Replay
    }

    /// Begins an attempt at a sample.
    ///
    /// # Errors
    /// If its recording cannot be read.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: &str,
        epoch: u32,
        deadline: Option<Instant>,
        cancel: Cancel,
    ) -> std::result::Result<Arc<AttemptCalls>, AgentError> {
        let failed = |reason: String| AgentError::of(FailureKind::NotRecorded, reason);
        let mut calls = Calls::default();
        if self.mode != RecordMode::Record {
            let recorded = self.cassettes.read(id, Lines::Valid);
            let recorded =
                recorded.map_err(|reason| failed(format!("{reason}; hint: {}", self.command)))?;
            let is_wanted = |entry: &Arc<Entry>| {
                // A stream that the provider broke off is asked for again, where that is possible.
                let is_broken = entry.response.broken_off.as_deref() == Some("upstream");
                entry.epoch == epoch && !(is_broken && self.mode == RecordMode::Missing)
            };
            calls.recorded = recorded.into_iter().filter(is_wanted).collect();
            calls.recorded.sort_by_key(|entry| entry.n);
            for (place, entry) in calls.recorded.iter().enumerate() {
                let queue = calls.queues.entry(entry.key.clone()).or_default();
                queue.push_back(place);
            }
        }
        let token = token().map_err(|error| failed(format!("no random bits: {error}")))?;
        let attempt = Arc::new(AttemptCalls {
            recorder: Arc::clone(self),
            token: token.clone(),
            id: id.to_owned(),
            epoch,
            deadline,
            cancel,
            calls: Mutex::new(calls),
            ended: Condvar::new(),
        });
        lock(&self.attempts.0).insert(token, Arc::clone(&attempt));
        Ok(attempt)
    }

    /// What is worth knowing at the end of a run.
    pub(crate) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if let Some(reason) = &*lock(&self.unwritten) {
            notices.push(format!("a recording was not written: {reason}"));
        }
        let unused = lock(&self.unused);
        let count: usize = unused.values().sum();
        if count > 0 {
            let mut ids: Vec<&str> = unused.keys().map(|(id, _)| &**id).collect();
            ids.dedup();
            let mut named = quoted(ids.iter().take(NAMED).copied());
            if ids.len() > NAMED {
                let _ = write!(named, " and {} more", ids.len() - NAMED);
            }
            let calls = if count == 1 { "call was" } else { "calls were" };
            notices.push(format!(
                "{count} recorded {calls} not made in this replay, of {named}; to record again: {}",
                self.command
            ));
        }
        notices
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.serving.cancel();
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let folder = self.cassettes.folder();
        write!(f, "Recorder({:?}, {})", self.mode, folder.display())
    }
}

/// Answers the requests of one connection.
fn serve(attempts: &Attempts, connection: &mut LoopbackConnection) -> io::Result<()> {
    let mut incoming = Incoming::default();
    loop {
        connection.next_request();
        let request = match incoming.request(connection)? {
            None => return Ok(()),
            Some(Ok(request)) => request,
            Some(Err((status, why))) => return refuse(connection, status, why),
        };
        let mut parts = request.target[1..].splitn(3, '/');
        let token = parts.next().unwrap_or_default();
        let attempt = lock(&attempts.0).get(token).cloned();
        let provider = parts.next().unwrap_or_default();
        let known = Provider::ALL.into_iter();
        let provider = known.into_iter().find(|known| known.as_str() == provider);
        let (Some(attempt), Some(provider)) = (attempt, provider) else {
            let why = "this is not the base URL of a running attempt";
            return refuse(connection, 404, why);
        };
        let path = format!("/{}", parts.next().unwrap_or_default());
        let keeps = attempt.answer(provider, &path, &request, connection)?;
        if !(keeps && request.keeps) {
            return Ok(());
        }
    }
}
