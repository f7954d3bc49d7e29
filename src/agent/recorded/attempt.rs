//! `AttemptCalls`: the calls that one attempt makes of models.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::cassette::{CONTENT_TYPE, Entry, StoredResponse, request_bytes, stored};
use super::key::without_secrets;
use super::recorder::Recorder;
use super::request::{ApiRequest, BODY_BYTES};
use super::upstream::{Head, NOT_RECORDED, ask, chunk, refuse, replay};
use super::{CallsEnded, Provider, RecordMode};
use crate::data::task::BaseUrls;
use crate::data::{AgentError, FailureKind};
use crate::system::cancel::Cancel;
use crate::system::http::{Client, Failure, HttpReply, Url};
use crate::system::loopback::LoopbackConnection;
use crate::system::project::display;
use crate::system::{clock, lock};
use crate::text::quoted;
use crate::text::redact::REDACTED;

/// How long the end of a stream is waited for whose agent has its answer.
const LATE_END: Duration = Duration::from_secs(1);
/// The calls of one attempt.
pub(crate) struct AttemptCalls {
    pub(super) recorder: Arc<Recorder>,
    pub(super) token: String,
    pub(super) id: String,
    pub(super) epoch: u32,
    pub(super) deadline: Option<Instant>,
    pub(super) cancel: Cancel,
    pub(super) calls: Mutex<Calls>,
    /// Notified when a call ends.
    pub(super) ended: Condvar,
}

/// How often, and with what.
#[derive(Default)]
pub(super) struct Calls {
    /// What was recorded before, in its order.
    pub(super) recorded: Vec<Arc<Entry>>,
    /// Which of them answer a key and did not yet.
    pub(super) queues: HashMap<String, VecDeque<usize>>,
    /// What was called in this attempt.
    new: Vec<Arc<Entry>>,
    replayed: usize,
    /// Calls in progress; those that are streams have their pieces so far.
    open: usize,
    streams: Vec<Arc<Mutex<OpenStream>>>,
    is_over: bool,
    /// The first call that could not be made.
    missed: Option<String>,
    misses: usize,
    /// Why the provider did not answer, the last time.
    failure: Option<String>,
}

/// A stream in progress.
struct OpenStream {
    key: String,
    method: String,
    path: String,
    body: Vec<u8>,
    response: StoredResponse,
    chunks: Vec<(u64, Vec<u8>)>,
}

impl AttemptCalls {
    /// Where the agent calls its models in this attempt.
    pub(crate) fn urls(&self) -> Arc<BaseUrls> {
        let recorder = &self.recorder;
        let is_called = |provider: &Provider| {
            recorder.only_replays() || recorder.upstream.contains_key(provider)
        };
        let called = Provider::ALL.into_iter().filter(is_called);
        let urls = called.map(|provider| {
            let (name, port) = (provider.as_str(), recorder.port());
            let url = format!("http://127.0.0.1:{port}/{}/{name}", self.token);
            (name, url)
        });
        Arc::new(BaseUrls(urls.collect()))
    }

    /// Answers a call; `false` if the connection has to end.
    pub(super) fn answer(
        &self,
        provider: Provider,
        path: &str,
        request: &ApiRequest,
        to: &mut LoopbackConnection,
    ) -> io::Result<bool> {
        let Some(_open) = OpenCall::begin(self) else {
            refuse(to, 404, "the attempt is over")?;
            return Ok(false);
        };
        let recorder = &self.recorder;
        let name = provider.as_str();
        let stored_path = format!("/{name}{path}");
        let boundary = request
            .header(CONTENT_TYPE)
            .and_then(|value| Some(value.split_once("boundary=")?.1.trim_matches('"')));
        let key = recorder
            .rules
            .key(&request.method, &stored_path, &request.body, boundary);
        if let Some(entry) = self.take(&key) {
            return replay(&entry.response, request, to);
        }
        let upstream = recorder
            .client
            .as_ref()
            .zip(recorder.upstream.get(&provider));
        let Some((client, upstream)) = upstream else {
            self.missed(|calls| match &recorder.client {
                None => self.why_missing(calls, &key, &stored_path, request),
                Some(_) => format!(
                    "called `{name}`, which is not recorded, and `record.upstream.{name}` is missing; hint: write \
                     `upstream: {{ {name}: \"{}\" }}`",
                    provider.example()
                ),
            });
            refuse(to, NOT_RECORDED, "not recorded")?;
            return Ok(false);
        };
        let call = OpenStream {
            key,
            method: request.method.clone(),
            path: stored_path,
            body: request.body.clone(),
            response: StoredResponse::default(),
            chunks: Vec::new(),
        };
        self.forward((client, upstream, path), request, call, to)
    }

    /// The next recorded answer to a request.
    fn take(&self, key: &str) -> Option<Arc<Entry>> {
        let mut calls = lock(&self.calls);
        let place = calls.queues.get_mut(key)?.pop_front()?;
        calls.replayed += 1;
        Some(Arc::clone(&calls.recorded[place]))
    }

    /// Notes a call that could not be made.
    fn missed(&self, why: impl FnOnce(&Calls) -> String) {
        let mut calls = lock(&self.calls);
        calls.misses += 1;
        if calls.missed.is_none() {
            let why = why(&calls);
            calls.missed = Some(why);
        }
    }

    /// Why nothing answers a request: what is recorded that is nearest to it.
    fn why_missing(&self, calls: &Calls, key: &str, path: &str, request: &ApiRequest) -> String {
        let rules = &self.recorder.rules;
        let method = &request.method;
        let asked = format!("{method} {}", without_secrets(path, REDACTED));
        let times = calls.recorded.iter().filter(|entry| entry.key == key);
        let why = match times.count() {
            0 => {
                let of_path = |entry: &&Arc<Entry>| {
                    entry.request.method == *method
                        && entry.request.path == without_secrets(path, REDACTED)
                };
                let known = calls.recorded.iter().filter(of_path).map(|entry| {
                    let recorded = request_bytes(&entry.request.body);
                    let (count, text) = rules.differences(&recorded, &request.body);
                    (count, entry.n, text)
                });
                match known.min() {
                    Some((_, n, text)) if !text.is_empty() => {
                        format!("the nearest recorded request, number {n}, differs at {text}")
                    }
                    Some(_) => {
                        "the nearest recorded request differs only in redacted text".to_owned()
                    }
                    None if calls.recorded.is_empty() => {
                        let file = self.recorder.cassettes.path(&self.id);
                        format!("`{}` has no call of epoch {}", display(&file), self.epoch)
                    }
                    None => {
                        let known = calls.recorded.iter();
                        let known = known.map(|entry| {
                            format!("{} {}", entry.request.method, entry.request.path)
                        });
                        let mut known: Vec<_> = known.collect();
                        known.sort_unstable();
                        known.dedup();
                        format!(
                            "the recording has calls of {}",
                            quoted(known.iter().map(|it| &**it))
                        )
                    }
                }
            }
            1 => "its only recorded answer is already used".to_owned(),
            times => format!("its {times} recorded answers are already used"),
        };
        format!(
            "call not recorded: {asked}; {why}; hint: {}",
            self.recorder.command
        )
    }

    /// Passes a request on to the provider, and its answer back.
    fn forward(
        &self,
        (client, upstream, path): (&Client, &Url, &str),
        request: &ApiRequest,
        mut call: OpenStream,
        to: &mut LoopbackConnection,
    ) -> io::Result<bool> {
        let started = clock::now();
        let failed = |failure: Failure, to: &mut LoopbackConnection| {
            let why = format!("the upstream `{}` {}", upstream.as_str(), failure.message);
            refuse(to, 502, &why)?;
            lock(&self.calls).failure = Some(why);
            Ok(false)
        };
        let answered = ask(
            client,
            (upstream, path),
            request,
            self.deadline,
            &self.cancel,
        );
        let mut answered = match answered {
            Ok(answered) => answered,
            Err(failure) => return failed(failure, to),
        };
        let head = Head::of(&answered, request);
        call.response.status = head.status.as_u16();
        call.response.headers.extend(head.content_type.clone());
        if !head.is_stream {
            let limited = answered.body_mut().with_config().limit(BODY_BYTES as u64);
            let allowed = self.allowed(started);
            let body = match limited.read_to_vec() {
                Ok(body) => body,
                Err(error) => return failed(Failure::of(&error, allowed), to),
            };
            let headers = answered.headers().clone();
            let reply = HttpReply::of(head.status, headers, body, BODY_BYTES as u64);
            let body = match reply {
                Ok(reply) => reply.body,
                Err(failure) => return failed(failure, to),
            };
            call.response.body = Some(stored(&body));
            self.keep(call);
            return head.write_whole(&body, request, to).map(|()| true);
        }
        let call = Arc::new(Mutex::new(call));
        lock(&self.calls).streams.push(Arc::clone(&call));
        let mut gone = head.begin(to).err().map(|_| Instant::now());
        let mut body = answered.into_body().into_reader();
        let mut piece = vec![0; 64 << 10];
        let broken_off = loop {
            let count = match body.read(&mut piece) {
                Ok(0) => break None,
                Ok(count) => count,
                Err(_) => break Some("upstream"),
            };
            let ms = u64::try_from(clock::since(started).as_millis()).unwrap_or_default();
            lock(&call).chunks.push((ms, piece[..count].to_vec()));
            match gone {
                None => gone = chunk(&piece[..count], to).err().map(|_| Instant::now()),
                // The rest of a stream that is about to end costs nothing.
                Some(since) if since.elapsed() > LATE_END / 4 => break Some("agent"),
                Some(_) => {}
            }
        };
        self.close(&call, broken_off);
        if broken_off.is_some() || gone.is_some() {
            return Ok(false);
        }
        to.write_all(b"0\r\n\r\n")?;
        to.flush()?;
        Ok(true)
    }

    /// The time that a request was given.
    fn allowed(&self, started: Instant) -> Duration {
        let deadline = self.deadline.unwrap_or(started);
        deadline.saturating_duration_since(started)
    }

    /// Ends a stream, which may be cut off at one end; nothing if the attempt ended it.
    fn close(&self, call: &Arc<Mutex<OpenStream>>, broken_off: Option<&str>) {
        let mut calls = lock(&self.calls);
        let Some(place) = calls
            .streams
            .iter()
            .position(|known| Arc::ptr_eq(known, call))
        else {
            return;
        };
        calls.streams.remove(place);
        drop(calls);
        let mut call = lock(call);
        let whole = OpenStream {
            key: std::mem::take(&mut call.key),
            method: std::mem::take(&mut call.method),
            path: std::mem::take(&mut call.path),
            body: std::mem::take(&mut call.body),
            response: std::mem::take(&mut call.response),
            chunks: std::mem::take(&mut call.chunks),
        };
        drop(call);
        self.keep(whole.ended(broken_off));
    }

    /// Adds a call to the recording, if it is one to be kept.
    fn keep(&self, call: OpenStream) {
        if !call.response.is_lasting() {
            return;
        }
        let request = (&*call.method, &*call.path, &*call.body);
        let redactor = &self.recorder.redactor;
        let entry = Entry::new(self.epoch, call.key, request, call.response, redactor);
        lock(&self.calls).new.push(Arc::new(entry));
    }

    /// Ends the attempt, and writes its calls if it `is_stored`. `is_answered` if the agent gave an answer.
    pub(crate) fn end(&self, is_answered: bool, is_stored: bool) -> CallsEnded {
        lock(&self.recorder.attempts.0).remove(&self.token);
        let mut calls = lock(&self.calls);
        let end = Instant::now() + LATE_END;
        while is_answered && calls.open > 0 {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                break;
            };
            let waited = self.ended.wait_timeout(calls, left);
            calls = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        calls.is_over = true;
        let streams = calls.streams.clone();
        drop(calls);
        for stream in streams {
            self.close(&stream, Some("agent"));
        }
        // A request that comes late finds it over.
        let over = Calls {
            is_over: true,
            ..Calls::default()
        };
        let mut calls = std::mem::replace(&mut *lock(&self.calls), over);
        self.count_unused(&calls);
        let is_anew = self.recorder.mode == RecordMode::Record && is_answered;
        if is_stored && (is_anew || !calls.new.is_empty()) {
            let all = calls
                .recorded
                .into_iter()
                .chain(std::mem::take(&mut calls.new));
            let numbered = all.enumerate().map(|(n, mut entry)| {
                Arc::make_mut(&mut entry).n = n;
                entry
            });
            let all: Vec<_> = numbered.collect();
            let written = self.recorder.cassettes.write(&self.id, self.epoch, &all);
            if let Err(reason) = written {
                lock(&self.recorder.unwritten).get_or_insert(reason);
            }
        }
        let more = match calls.misses {
            0 | 1 => String::new(),
            misses => format!("{} more calls were not recorded: ", misses - 1),
        };
        CallsEnded {
            is_recorded: calls.replayed > 0 || (self.recorder.only_replays() && calls.misses > 0),
            failure: calls
                .missed
                .map(|why| AgentError::of(FailureKind::NotRecorded, format!("{more}{why}"))),
            note: calls.failure,
        }
    }

    /// Counts the recorded calls that were not made; those of the last attempt count.
    fn count_unused(&self, calls: &Calls) {
        if self.recorder.mode == RecordMode::Record {
            return;
        }
        let unused = calls.queues.values().map(VecDeque::len).sum();
        let of = (self.id.clone(), self.epoch);
        let mut all = lock(&self.recorder.unused);
        match unused {
            0 => drop(all.remove(&of)),
            unused => drop(all.insert(of, unused)),
        }
    }
}

impl OpenStream {
    /// The stream with its pieces, which ended, or was cut off at one end.
    fn ended(mut self, broken_off: Option<&str>) -> Self {
        let chunks = self.chunks.iter();
        let chunks = chunks.map(|(ms, chunk)| (*ms, stored(chunk)));
        self.response.chunks = Some(chunks.collect());
        self.response.broken_off = broken_off.map(str::to_owned);
        self
    }
}

/// A call in progress; counted while it lives.
struct OpenCall<'a>(&'a AttemptCalls);

impl<'a> OpenCall<'a> {
    fn begin(attempt: &'a AttemptCalls) -> Option<Self> {
        let mut calls = lock(&attempt.calls);
        if calls.is_over {
            return None;
        }
        calls.open += 1;
        Some(Self(attempt))
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        let mut calls = lock(&self.0.calls);
        calls.open = calls.open.saturating_sub(1);
        self.0.ended.notify_all();
    }
}
