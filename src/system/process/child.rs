//! One child process, run to its end by one thread and one `poll` loop.
//!
//! The loop feeds stdin, collects stdout and stderr, and watches the leader, the deadline and the cancel flag. When a
//! limit is exceeded it stops the group: `SIGTERM`, a grace period, `SIGKILL`. When the leader ends, the rest of its
//! group is killed while the leader's zombie still holds the group id, and the pipes are drained of their current
//! content; processes that escaped from the group may keep the pipes open.

use std::io;
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::Signal;

use super::Tail;
use super::group::{KILL_TIMEOUT, ProcessGroup, TICK};
use super::{PIECE_BYTES, buffered, read_piece};
use crate::system::cancel::Cancel;
use crate::system::clock;

/// The stream of a piece of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamKind {
    /// Standard output: the answer.
    Stdout,
    /// Standard error: progress and errors.
    Stderr,
}

/// Bytes of stderr to store. Records store less, so that a secret is redacted before it can be split.
const STDERR_BYTES: usize = 8 * 1024;
/// Maximum grace period; avoids overflow in sums.
const MAX_GRACE: Duration = Duration::from_hours(1);

/// The limits after which a process is stopped.
pub(crate) struct ProcessLimits<'a> {
    pub(crate) deadline: Option<Instant>,
    pub(crate) cancel: &'a Cancel,
    pub(crate) max_output_bytes: u64,
    pub(crate) term_grace: Duration,
}

/// How a process ended.
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
    TooLarge,
    /// The process could not be monitored.
    Lost(io::Error),
}

/// How a process ended, and its output.
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Tail,
}

/// Called with each piece of output.
pub(crate) type Watcher<'a> = dyn Fn(StreamKind, &[u8]) + 'a;

/// Runs a started child to its end. Afterwards its process group has no living members.
pub(crate) fn run(
    child: Child,
    input: &[u8],
    limits: &ProcessLimits<'_>,
    watcher: Option<&Watcher<'_>>,
) -> Finished {
    let mut group = ProcessGroup::new(child);
    let leader = group.leader();
    let mut process = Process {
        stdin: leader.stdin.take(),
        stdout: leader.stdout.take(),
        stderr: leader.stderr.take(),
        group,
        unsent: input,
        output: Vec::new(),
        tail: Tail::new(STDERR_BYTES),
        stop: None,
        ended: false,
        limits,
        watcher,
    };
    let end = match process.drive() {
        Ok(()) => process.finish(),
        Err(error) => End::Lost(error),
    };
    Finished {
        end,
        stdout: process.output,
        stderr: process.tail,
    }
}

struct Process<'a> {
    group: ProcessGroup,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    unsent: &'a [u8],
    output: Vec<u8>,
    tail: Tail,
    stop: Option<Stop>,
    /// Whether the leader has ended.
    ended: bool,
    limits: &'a ProcessLimits<'a>,
    watcher: Option<&'a Watcher<'a>>,
}

/// A stop in progress.
struct Stop {
    cause: Cause,
    /// When to send SIGKILL or, after that, when to give up.
    until: Instant,
    killed: bool,
}

#[derive(Clone, Copy)]
enum Cause {
    TimedOut,
    Cancelled,
    TooLarge,
}

/// The descriptors to poll.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Leader,
    Stdout,
    Stderr,
    Stdin,
    Cancel,
}

impl Process<'_> {
    /// Returns when the leader has ended and there is nothing more to wait for.
    fn drive(&mut self) -> io::Result<()> {
        if let Some(stdin) = &self.stdin {
            ioctl_fionbio(stdin, true)?;
        }
        if let Some(stdout) = &self.stdout {
            ioctl_fionbio(stdout, true)?;
        }
        if let Some(stderr) = &self.stderr {
            ioctl_fionbio(stderr, true)?;
        }
        // Most prompts fit into the pipe, so that stdin is closed before the first wait.
        self.feed();
        let mut ready = Vec::with_capacity(5);
        loop {
            self.enforce(clock::now());
            if self.is_over() {
                return Ok(());
            }
            self.wait(&mut ready)?;
            for source in &ready {
                match source {
                    Source::Stdout => _ = self.read_stdout(),
                    Source::Stderr => _ = self.read_stderr(),
                    Source::Stdin => self.feed(),
                    Source::Leader | Source::Cancel => {}
                }
            }
            let may_have_ended = ready.contains(&Source::Leader) || self.group.pidfd().is_none();
            if !self.ended && may_have_ended {
                self.ended = self.group.leader_ended();
            }
        }
    }

    /// Checks the deadline and the cancel flag, and advances a stop.
    fn enforce(&mut self, now: Instant) {
        // A leader that ended in time has answered, even if the deadline passes now.
        if self.stop.is_none() && !self.ended {
            if self.limits.cancel.is_cancelled() {
                self.begin_stop(Cause::Cancelled, now);
            } else if self.limits.deadline.is_some_and(|deadline| now >= deadline) {
                self.begin_stop(Cause::TimedOut, now);
            }
        }
        if let Some(stop) = &mut self.stop
            && now >= stop.until
        {
            if stop.killed && !self.ended {
                self.group.abandon();
                self.ended = true;
            } else if !stop.killed {
                self.group.signal(Signal::KILL);
                stop.killed = true;
                stop.until = now + KILL_TIMEOUT;
            }
        }
    }

    fn begin_stop(&mut self, cause: Cause, now: Instant) {
        let grace = match cause {
            Cause::TooLarge => Duration::ZERO,
            Cause::TimedOut | Cause::Cancelled => {
                self.group.signal(Signal::TERM);
                self.limits.term_grace.min(MAX_GRACE)
            }
        };
        self.stdin = None;
        self.stop = Some(Stop {
            cause,
            until: now + grace,
            killed: false,
        });
    }

    fn is_over(&self) -> bool {
        let Some(stop) = &self.stop else {
            return self.ended;
        };
        // A wrapper such as `sh -c` ends immediately on SIGTERM. The grace period is also for the agent it started,
        // which still holds the pipes open.
        self.ended && (stop.killed || (self.stdout.is_none() && self.stderr.is_none()))
    }

    /// Waits until something is ready, and returns what.
    fn wait(&self, ready: &mut Vec<Source>) -> io::Result<()> {
        ready.clear();
        let mut sources = Vec::with_capacity(5);
        let mut fds = Vec::with_capacity(5);
        let mut tick = None;
        let mut watch = |source, fd, flags| {
            sources.push(source);
            fds.push(PollFd::from_borrowed_fd(fd, flags));
        };
        if !self.ended {
            match self.group.pidfd() {
                Some(fd) => watch(Source::Leader, fd, PollFlags::IN),
                None => tick = Some(TICK),
            }
        }
        if self.stop.is_none() {
            match self.limits.cancel.wake_fd() {
                Some(fd) => watch(Source::Cancel, fd, PollFlags::IN),
                None => tick = Some(TICK),
            }
        }
        if let Some(stdout) = &self.stdout {
            watch(Source::Stdout, stdout.as_fd(), PollFlags::IN);
        }
        if let Some(stderr) = &self.stderr {
            watch(Source::Stderr, stderr.as_fd(), PollFlags::IN);
        }
        if let Some(stdin) = &self.stdin {
            watch(Source::Stdin, stdin.as_fd(), PollFlags::OUT);
        }

        let until = match &self.stop {
            Some(stop) => Some(stop.until),
            None => self.limits.deadline,
        };
        let remaining = until.map(|until| until.saturating_duration_since(clock::now()));
        let timeout = remaining.into_iter().chain(tick).min();
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let awake = fds.iter().map(|fd| !fd.revents().is_empty());
        let awake = sources.into_iter().zip(awake).filter(|(_, awake)| *awake);
        ready.extend(awake.map(|(source, _)| source));
        Ok(())
    }

    /// Writes as much input as the pipe takes, and closes it after the last byte.
    fn feed(&mut self) {
        let Some(stdin) = &self.stdin else { return };
        while !self.unsent.is_empty() {
            match rustix::io::write(stdin, self.unsent) {
                Ok(written) => self.unsent = &self.unsent[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // EPIPE: the agent need not read everything.
                Err(_) => break,
            }
        }
        self.stdin = None;
    }

    /// Reads one piece of stdout and returns its length.
    fn read_stdout(&mut self) -> usize {
        let mut piece = [0; PIECE_BYTES];
        let piece = read_piece(&mut self.stdout, &mut piece);
        if piece.is_empty() {
            return 0;
        }
        self.show(StreamKind::Stdout, piece);
        // Discard output after the deadline, but read it so that the agent can end.
        if self.stop.is_none() {
            self.output.extend_from_slice(piece);
            if self.output.len() as u64 > self.limits.max_output_bytes {
                self.output = Vec::new();
                self.stdout = None;
                self.begin_stop(Cause::TooLarge, clock::now());
            }
        }
        piece.len()
    }

    /// Reads one piece of stderr and returns its length.
    fn read_stderr(&mut self) -> usize {
        let mut piece = [0; PIECE_BYTES];
        let piece = read_piece(&mut self.stderr, &mut piece);
        if !piece.is_empty() {
            self.show(StreamKind::Stderr, piece);
            self.tail.push(piece);
        }
        piece.len()
    }

    fn show(&self, kind: StreamKind, piece: &[u8]) {
        if let Some(watcher) = self.watcher {
            watcher(kind, piece);
        }
    }

    /// Kills the rest of the group, drains the pipes and reaps the leader.
    fn finish(&mut self) -> End {
        self.group.signal(Signal::KILL);
        // Only what is in the pipes now: an escaped process could refill them forever.
        let mut remaining = self.stdout.as_ref().map_or(0, buffered);
        while remaining > 0 && self.stdout.is_some() {
            match self.read_stdout() {
                0 => break,
                length => remaining = remaining.saturating_sub(length as u64),
            }
        }
        let mut remaining = self.stderr.as_ref().map_or(0, buffered);
        while remaining > 0 && self.stderr.is_some() {
            match self.read_stderr() {
                0 => break,
                length => remaining = remaining.saturating_sub(length as u64),
            }
        }
        let cause = self.stop.as_ref().map(|stop| stop.cause);
        let status = self.group.reap();
        match (cause, status) {
            (Some(Cause::TimedOut), _) => End::TimedOut,
            (Some(Cause::Cancelled), _) => End::Cancelled,
            (Some(Cause::TooLarge), _) => End::TooLarge,
            (None, Ok(status)) => End::Exited(status),
            (None, Err(error)) => End::Lost(error),
        }
    }
}
