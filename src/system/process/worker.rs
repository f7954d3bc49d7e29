//! A long-running program that reads lines from stdin and answers with lines on stdout.
//!
//! This module handles the process and its pipes; callers communicate in one `poll` loop on one thread. [`ask`]
//! handles one line at a time; the agent `worker` has several in flight.
//!
//! Dropping a worker closes its stdin, which ends a well-behaved program, waits a moment, and kills the rest of its
//! group and processes that left the group.

pub(crate) mod ask;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::Signal;

use super::Tail;
use super::escapees;
use super::group::{ProcessGroup, TICK};
use super::launch::{Launch, NotStarted};
use super::{PIECE_BYTES, buffered, read_piece};
use crate::system::clock;

/// The variable with a unique value in the environment of every worker.
const MARK: &str = "EVALTEST_WORKER";
/// How long a program may take to end after its stdin is closed.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
/// Bytes of stderr to store.
const STDERR_BYTES: usize = 8 * 1024;

/// A running program.
pub(crate) struct WorkerProcess {
    group: ProcessGroup,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// Do not poll a pipe whose other end is closed: it would always be readable.
    stdout_is_open: bool,
    stderr: Option<ChildStderr>,
    tail: Tail,
    mark: OsString,
    grace: Duration,
}

impl WorkerProcess {
    /// Starts the program `args` in `folder`.
    pub(crate) fn start(
        args: &[String],
        folder: &Path,
        mut env: BTreeMap<&OsStr, OsString>,
    ) -> Result<Self, NotStarted> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = OsString::from(format!("{}-{count}", std::process::id()));
        env.insert(OsStr::new(MARK), mark.clone());
        let launch = Launch {
            args,
            cwd: folder,
            folder,
            env,
        };
        let mut group = ProcessGroup::new(launch.start(true)?);
        let leader = group.leader();
        let pipes = (leader.stdin.take(), leader.stdout.take());
        let stderr = leader.stderr.take();
        let (Some(stdin), Some(stdout)) = pipes else {
            return Err(NotStarted::new("it has no pipes".to_owned()));
        };
        let worker = Self {
            group,
            stdin: Some(stdin),
            stdout,
            stdout_is_open: true,
            stderr,
            tail: Tail::new(STDERR_BYTES),
            mark,
            grace: GRACE,
        };
        let cannot = |error| NotStarted::new(format!("its pipes cannot be set up: {error}"));
        worker.set_up().map_err(cannot)?;
        Ok(worker)
    }

    /// Sets the time to end after stdin is closed, instead of [`GRACE`].
    pub(crate) fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    fn set_up(&self) -> io::Result<()> {
        if let Some(stdin) = &self.stdin {
            ioctl_fionbio(stdin, true)?;
        }
        if let Some(stderr) = &self.stderr {
            ioctl_fionbio(stderr, true)?;
        }
        Ok(ioctl_fionbio(&self.stdout, true)?)
    }

    /// Whether it ended between requests.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.stdin.is_none() || self.group.leader_ended()
    }

    /// Waits for an event: output, space for unsent input, the end of the program, one of `others` readable, or a
    /// timeout.
    pub(crate) fn wait(
        &self,
        feeds: bool,
        until: Option<Instant>,
        mut others: Vec<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        // Usually all are the same.
        others.dedup_by_key(|fd| fd.as_raw_fd());
        let mut fds = Vec::with_capacity(4 + others.len());
        if self.stdout_is_open {
            fds.push(PollFd::new(&self.stdout, PollFlags::IN));
        }
        if let Some(stderr) = &self.stderr {
            fds.push(PollFd::new(stderr, PollFlags::IN));
        }
        if let Some(stdin) = self.stdin.as_ref().filter(|_| feeds) {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        let others = others.into_iter();
        fds.extend(others.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let mut remaining = until.map(|until| until.saturating_duration_since(clock::now()));
        match self.group.pidfd() {
            Some(pidfd) => fds.push(PollFd::from_borrowed_fd(pidfd, PollFlags::IN)),
            None => remaining = Some(remaining.map_or(TICK, |remaining| remaining.min(TICK))),
        }
        let timeout = remaining.and_then(|remaining| Timespec::try_from(remaining).ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes as much as the pipe takes.
    pub(crate) fn feed(&mut self, unsent: &mut &[u8]) {
        let Some(stdin) = &self.stdin else { return };
        while !unsent.is_empty() {
            match rustix::io::write(stdin, unsent) {
                Ok(written) => *unsent = &unsent[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // It stopped reading; its output or exit status says more.
                Err(_) => {
                    self.stdin = None;
                    return;
                }
            }
        }
    }

    /// Reads one piece of stdout and returns whether more may come. After the program ended only the pipe's current
    /// content counts, because its child processes may keep the pipe open forever.
    pub(crate) fn read(&mut self, reply: &mut Vec<u8>) -> io::Result<bool> {
        let ended = self.group.leader_ended();
        let mut piece = [0; PIECE_BYTES];
        match rustix::io::read(&self.stdout, &mut piece) {
            Ok(length) => {
                reply.extend_from_slice(&piece[..length]);
                self.stdout_is_open = length > 0;
                Ok(length > 0)
            }
            Err(Errno::AGAIN) => Ok(!ended),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads one piece of stderr.
    pub(crate) fn read_stderr(&mut self) {
        self.show_stderr(|_| {});
    }

    /// Reads one piece of stderr and passes it to `show`.
    pub(crate) fn show_stderr(&mut self, show: impl FnOnce(&[u8])) {
        let mut piece = [0; PIECE_BYTES];
        let piece = read_piece(&mut self.stderr, &mut piece);
        if !piece.is_empty() {
            self.tail.push(piece);
            show(piece);
        }
    }

    /// Kills it and returns the end of its stderr.
    pub(crate) fn end(mut self) -> Option<String> {
        self.kill();
        self.take_stderr().text()
    }

    /// Kills the rest of its group and returns its exit status. Then stderr is read to its end.
    pub(crate) fn kill(&mut self) -> Option<ExitStatus> {
        self.stdin = None;
        self.grace = Duration::ZERO;
        let status = self.group.kill();
        // Only what is in the pipe now: processes that left the group may write forever.
        let waiting = self.stderr.as_ref().map_or(0, buffered);
        for _ in 0..waiting.div_ceil(PIECE_BYTES as u64) {
            self.read_stderr();
        }
        status
    }

    /// Sends SIGTERM to its group.
    pub(crate) fn terminate(&mut self) {
        self.stdin = None;
        self.group.signal(Signal::TERM);
    }

    /// Waits for it to end by itself; returns whether it has.
    pub(crate) fn ends_in(&mut self, timeout: Duration) -> bool {
        self.group.wait(timeout)
    }

    /// The same after it closed its stdout, for example because it is exiting.
    pub(crate) fn ends_closed(&mut self, timeout: Duration) -> bool {
        self.group.wait_for_end(timeout)
    }

    /// The end of its stderr, with the total size.
    pub(crate) fn stderr(&self) -> &Tail {
        &self.tail
    }

    /// The same for a worker that is no longer needed.
    pub(crate) fn take_stderr(&mut self) -> Tail {
        std::mem::replace(&mut self.tail, Tail::new(0))
    }

    /// Closes stdin so that it ends by itself; call it for several workers before waiting for each.
    pub(crate) fn dismiss(&mut self) {
        self.stdin = None;
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.stdin = None;
        self.group.wait(self.grace);
        self.group.kill();
        escapees::kill(MARK, &self.mark);
    }
}
