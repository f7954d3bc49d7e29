//! The conversation with one process, from its start to its end.
//!
//! One thread, one `poll` loop: writes requests, reads lines, drains stderr, and times each request. However it ends,
//! the process and its group are gone afterwards.

mod receive;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::fallen::{Fallen, Refused, ended};
use super::message::PROTOCOL;
use super::orders::{Inbox, Orders};
use super::pool::WorkerRefusal;
use super::{Open, WorkerReply, WorkerRequest, message};
use crate::agent::command;
use crate::agent::command::lines::LiveLines;
use crate::agent::command::{StreamKind, in_seconds};
use crate::data::task::Live;
use crate::data::{AgentError, FailureKind, Output, Usage};
use crate::system::process::group::was_killed;
use crate::system::process::worker::WorkerProcess;
use crate::system::{clock, lock};

/// How long to wait for the end of a program that closed its stdout.
const END: Duration = Duration::from_millis(200);

/// Settings common to every process of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) in_flight: usize,
    /// The time for the program's greeting; `None` if there is none.
    pub(super) handshake: Option<Duration>,
    /// The longest line, and the most output of a request before its answer.
    pub(super) max_output_bytes: usize,
    /// How long a program may take to end after its stdin is closed.
    pub(super) close_grace: Duration,
    /// How long it may take to give up a cancelled request, and to end after SIGTERM.
    pub(super) term_grace: Duration,
}

/// Why the conversation is over.
enum End {
    /// We closed it.
    Closed,
    /// It ended, or closed its stdout.
    Ended,
    /// It did not greet in time.
    Silent,
    /// It speaks another protocol version.
    Foreign(u64),
    /// A request ran out of time, and it did not give it up.
    Hung,
    /// It sent an invalid line.
    Faulty(AgentError),
    /// It answered a request that it does not have, or no longer has.
    Stray(AgentError),
    /// The system did not let us follow it.
    Lost(io::Error),
}

pub(super) struct Talk<'a> {
    worker: WorkerProcess,
    orders: &'a Orders,
    setup: Setup,
    incoming: Incoming,
    /// Unsent lines, and how much of the first one is sent.
    outgoing: VecDeque<Arc<Vec<u8>>>,
    written: usize,
    /// Requests that are not sent yet.
    waiting: VecDeque<WorkerRequest>,
    open: Vec<Open>,
    /// Requests that are abandoned because the run is over.
    forgotten: HashSet<String>,
    probes: Vec<Sender<WorkerReply>>,
    /// The deadline for its greeting; `None` once it is ready.
    starting: Option<Instant>,
    has_greeted: bool,
    has_answered: bool,
    closes: bool,
    /// Bytes that belong to no request, since the last answer.
    noise: usize,
    totals: Totals,
    /// Where lines of stderr are shown.
    live_output: Arc<Mutex<Option<Live>>>,
}

impl<'a> Talk<'a> {
    pub(super) fn new(worker: WorkerProcess, orders: &'a Orders, setup: Setup) -> Self {
        let mut outgoing = VecDeque::new();
        let starting = setup.handshake.map(|timeout| clock::now() + timeout);
        if starting.is_some() {
            outgoing.push_back(Arc::new(message::hello(setup.in_flight)));
        }
        Self {
            worker,
            orders,
            setup,
            incoming: Incoming::default(),
            outgoing,
            written: 0,
            waiting: VecDeque::new(),
            open: Vec::new(),
            forgotten: HashSet::new(),
            probes: Vec::new(),
            starting,
            has_greeted: false,
            has_answered: false,
            closes: false,
            noise: 0,
            totals: Totals::default(),
            live_output: Arc::default(),
        }
    }

    /// Runs the conversation. Afterwards the process is gone.
    pub(super) fn run(mut self) -> Fallen {
        let live_output = Arc::clone(&self.live_output);
        let live = Live(Arc::new(move |line: &str| {
            let live = lock(&live_output).clone();
            if let Some(live) = live {
                (live.0)(line);
            }
        }));
        let lines = LiveLines::new(live);
        let end = loop {
            if let Err(end) = self.turn(&lines) {
                break end;
            }
        };
        drop(lines);
        self.fall(end)
    }

    /// Does what can be done now and sleeps until there is more.
    fn turn(&mut self, stderr: &LiveLines) -> Result<(), End> {
        self.take_orders();
        self.start_waiting();
        self.send();
        let is_open = self
            .worker
            .read(self.incoming.buffer())
            .map_err(End::Lost)?;
        self.show_to_whom();
        self.worker
            .show_stderr(|piece| stderr.piece(StreamKind::Stderr, piece));
        while let Some(line) = self.incoming.next_line() {
            self.receive(&line)?;
        }
        if self.incoming.pending() > self.setup.max_output_bytes {
            let begins = self.incoming.rest();
            return Err(End::Faulty(self.too_large(&begins)));
        }
        if !is_open {
            // A final line may lack its line end.
            let line = self.incoming.rest();
            self.receive(&line)?;
            return Err(End::Ended);
        }
        self.enforce(clock::now())?;
        if !self.waiting.is_empty() && self.can_start_waiting() {
            return Ok(());
        }
        self.sleep().map_err(End::Lost)
    }

    fn take_orders(&mut self) {
        let Inbox {
            requests,
            lines,
            probes,
            close,
            ..
        } = self.orders.take();
        self.waiting.extend(requests);
        self.outgoing.extend(lines.into_iter().map(Arc::new));
        self.probes.extend(probes);
        self.closes |= close;
        if self.starting.is_none() {
            self.notify_ready();
        }
    }

    fn notify_ready(&mut self) {
        for probe in self.probes.drain(..) {
            let _ = probe.send(Ok(Output::default()));
        }
    }

    /// Whether one of the waiting requests may be sent.
    fn can_start_waiting(&self) -> bool {
        let is_free = |request: &WorkerRequest| !self.has(&request.id);
        self.starting.is_none() && self.waiting.iter().any(is_free)
    }

    /// Whether the process has a request with this id: two could not be told apart.
    fn has(&self, id: &str) -> bool {
        self.forgotten.contains(id) || self.open.iter().any(|open| open.request.id == id)
    }

    fn start_waiting(&mut self) {
        if self.starting.is_some() {
            return;
        }
        for _ in 0..self.waiting.len() {
            let Some(request) = self.waiting.pop_front() else {
                return;
            };
            if self.has(&request.id) {
                self.waiting.push_back(request);
                continue;
            }
            self.outgoing.push_back(Arc::clone(&request.line));
            let stderr = if self.has_answered || !self.open.is_empty() {
                self.worker.stderr().pushed()
            } else {
                // Its output during the start may explain why it fails.
                0
            };
            self.open.push(Open::new(request, stderr));
        }
    }

    fn send(&mut self) {
        while let Some(line) = self.outgoing.front() {
            let mut unsent = &line[self.written..];
            self.worker.feed(&mut unsent);
            self.written = line.len() - unsent.len();
            if self.written < line.len() {
                return;
            }
            self.outgoing.pop_front();
            self.written = 0;
        }
    }

    fn show_to_whom(&self) {
        // Lines on stderr have no id; with one request at a time the sender is clear.
        let live = self.open.iter().find_map(|open| open.request.live.clone());
        *lock(&self.live_output) = live;
    }

    /// Enforces the timeouts of the greeting and of every request, and checks whether the run is over.
    fn enforce(&mut self, now: Instant) -> Result<(), End> {
        if self.starting.is_some_and(|until| now >= until) {
            return Err(End::Silent);
        }
        let cancelled = |request: &WorkerRequest| request.cancel.is_cancelled();
        self.waiting.retain(|request| {
            let is_over = cancelled(request);
            if is_over {
                let _ = request
                    .reply
                    .send(Err(WorkerRefusal::Own(command::cancelled())));
            }
            !is_over
        });
        let mut place = 0;
        while place < self.open.len() {
            let open = &mut self.open[place];
            if cancelled(&open.request) {
                let open = self.open.swap_remove(place);
                if self.has_greeted {
                    self.outgoing
                        .push_back(Arc::new(message::cancel(&open.request.id)));
                }
                self.forgotten.insert(open.request.id.clone());
                open.end(Err(WorkerRefusal::Own(command::cancelled())));
                continue;
            }
            match open.overdue {
                None if open.deadline.is_some_and(|deadline| now >= deadline) => {
                    open.overdue = Some(now);
                    if !self.has_greeted {
                        // It would not understand a cancel message.
                        return Err(End::Hung);
                    }
                    self.outgoing
                        .push_back(Arc::new(message::cancel(&open.request.id)));
                }
                Some(since) if now >= since + self.setup.term_grace => return Err(End::Hung),
                _ => {}
            }
            place += 1;
        }
        self.send();
        if self.closes && self.open.is_empty() && self.waiting.is_empty() {
            return Err(End::Closed);
        }
        Ok(())
    }

    fn sleep(&self) -> io::Result<()> {
        let grace = self.setup.term_grace;
        let of_open = |open: &Open| match open.overdue {
            Some(since) => Some(since + grace),
            None => open.deadline,
        };
        let until = self
            .open
            .iter()
            .filter_map(of_open)
            .chain(self.starting)
            .min();
        let mut others = vec![self.orders.bell().wake_fd()];
        let requests = self
            .open
            .iter()
            .map(|open| &open.request)
            .chain(&self.waiting);
        others.extend(requests.filter_map(|request| request.cancel.wake_fd()));
        self.worker.wait(!self.outgoing.is_empty(), until, others)
    }

    /// Ends the process, and collects its requests.
    fn fall(mut self, end: End) -> Fallen {
        let (mut is_own, mut is_killed) = (false, false);
        let is_foreign = matches!(end, End::Foreign(_));
        let by_itself = matches!(end, End::Ended);
        let open_reply = match end {
            End::Closed => {
                self.worker.dismiss();
                if !self.forgotten.is_empty() || !self.worker.ends_in(self.setup.close_grace) {
                    self.stop();
                }
                self.worker.kill();
                AgentError::of(FailureKind::Cancelled, "the run was stopped")
            }
            End::Ended => {
                self.worker.dismiss();
                let has_ended = self.worker.ends_closed(END);
                let status = self.worker.kill().filter(|_| has_ended);
                is_killed = status.is_some_and(was_killed);
                ended(status)
            }
            End::Silent => {
                self.stop();
                let timeout = self.setup.handshake.unwrap_or_default();
                let message = format!(
                    "did not print its hello in {} (does it flush its stdout?)",
                    in_seconds(timeout)
                );
                AgentError::of(FailureKind::NotStarted, message)
            }
            End::Foreign(other) => {
                self.stop();
                let message = format!(
                    "speaks version {other} of the protocol, but this evaltest speaks version {PROTOCOL}"
                );
                AgentError::of(FailureKind::NotStarted, message)
            }
            End::Hung => {
                self.stop();
                AgentError::of(
                    FailureKind::Lost,
                    "was stopped because it did not answer another sample in time",
                )
            }
            End::Faulty(failure) => {
                self.worker.kill();
                is_own = true;
                failure
            }
            End::Stray(failure) => {
                self.worker.kill();
                failure
            }
            End::Lost(reason) => {
                self.worker.kill();
                let message = format!("lost track of the process: {reason}");
                AgentError::of(FailureKind::Failed, message)
            }
        };
        let never_ready = self.starting.is_some() || is_foreign;
        Fallen {
            is_killed,
            is_own: is_own && self.open.len() == 1 && self.forgotten.is_empty(),
            not_ready: never_ready.then(|| Refused {
                error: AgentError {
                    kind: FailureKind::NotStarted,
                    message: if by_itself {
                        format!("{} before it said hello", open_reply.message)
                    } else {
                        open_reply.message.clone()
                    },
                    stderr_tail: self.worker.stderr().since(0),
                    ..open_reply.clone()
                },
                is_foreign,
            }),
            stderr: self.worker.take_stderr(),
            open: self.open,
            waiting: self.waiting.into(),
            probes: self.probes,
            open_reply,
        }
        // Dropping the worker ends processes that left its group.
    }

    /// Ends it, by SIGTERM if it obeys.
    fn stop(&mut self) {
        self.worker.terminate();
        self.worker.ends_in(self.setup.term_grace);
        self.worker.kill();
    }
}

/// Data that is not a whole line yet.
#[derive(Default)]
pub(in crate::agent) struct Incoming {
    bytes: Vec<u8>,
    /// The start of the next line.
    start: usize,
    /// No line ends before this position.
    searched: usize,
}

impl Incoming {
    /// The buffer to append pieces to.
    pub(in crate::agent) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The next whole line, without its end.
    pub(in crate::agent) fn next_line(&mut self) -> Option<Vec<u8>> {
        let rest = &self.bytes[self.searched..];
        let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
            // Moved once per piece, not once per line.
            self.bytes.drain(..self.start);
            self.start = 0;
            self.searched = self.bytes.len();
            return None;
        };
        let end = self.searched + length;
        let line = self.bytes[self.start..end].to_vec();
        self.start = end + 1;
        self.searched = self.start;
        Some(line)
    }

    /// The length of the unfinished line.
    pub(in crate::agent) fn pending(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The unfinished line, at the end of the input.
    pub(in crate::agent) fn rest(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(..self.start);
        (self.start, self.searched) = (0, 0);
        bytes
    }
}

/// The last reported totals of a process.
#[derive(Default)]
pub(super) struct Totals(Usage);

impl Totals {
    /// The usage since the last totals. A total below the last one was reset.
    pub(super) fn difference(&mut self, now: Usage) -> Usage {
        let before = self.0;
        let tokens = |now: Option<u64>, before: Option<u64>| {
            now.map(|now| now.checked_sub(before.unwrap_or(0)).unwrap_or(now))
        };
        let cost_usd = now.cost_usd.map(|cost| {
            let more = cost - before.cost_usd.unwrap_or(0.0);
            if more < 0.0 { cost } else { more }
        });
        self.0 = Usage {
            input_tokens: now.input_tokens.or(before.input_tokens),
            output_tokens: now.output_tokens.or(before.output_tokens),
            cost_usd: now.cost_usd.or(before.cost_usd),
            cached_tokens: now.cached_tokens.or(before.cached_tokens),
        };
        Usage {
            input_tokens: tokens(now.input_tokens, before.input_tokens),
            output_tokens: tokens(now.output_tokens, before.output_tokens),
            cost_usd,
            cached_tokens: tokens(now.cached_tokens, before.cached_tokens),
        }
    }
}

#[cfg(test)]
mod incoming_tests {
    use super::*;

    #[test]
    fn lines_are_reassembled_from_any_chunks() {
        let text = b"one\n\ntwo\nthree";
        for size in 1..=text.len() {
            let mut incoming = Incoming::default();
            let mut lines = Vec::new();
            for piece in text.chunks(size) {
                incoming.buffer().extend_from_slice(piece);
                while let Some(line) = incoming.next_line() {
                    lines.push(line);
                }
            }
            assert_eq!(lines, [&b"one"[..], b"", b"two"], "{size}");
            assert_eq!(incoming.pending(), 5);
            assert_eq!(incoming.rest(), b"three");
        }
    }
}

#[cfg(test)]
mod totals_tests {
    use super::*;

    fn usage(input: u64, output: Option<u64>, cost: f64) -> Usage {
        Usage {
            cached_tokens: None,
            input_tokens: Some(input),
            output_tokens: output,
            cost_usd: Some(cost),
        }
    }

    #[test]
    fn totals_are_differenced() {
        let mut totals = Totals::default();
        for (now, expect) in [
            (usage(10, Some(2), 0.5), usage(10, Some(2), 0.5)),
            (usage(15, None, 0.75), usage(5, None, 0.25)),
            (usage(15, Some(5), 0.75), usage(0, Some(3), 0.0)),
            // Reset.
            (usage(4, Some(5), 0.25), usage(4, Some(0), 0.25)),
        ] {
            assert_eq!(totals.difference(now), expect);
        }
    }
}
