//! A program that stays: it reads lines from stdin and answers each with a line on stdout.
//!
//! One thread at a time asks, in one `poll` loop that feeds stdin, reads the reply, empties stderr and
//! watches for the end of the program and the deadline. What the program prints without being asked is a
//! fault: taken for the next reply, it would be the verdict on another answer.
//!
//! Dropping a worker closes its stdin, which ends a well-made program, waits a moment, and kills what is left
//! of its group and who left the group.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};

use super::escapees;
use super::group::{Group, TICK, how_it_ended};
use super::launch::{Launch, NotStarted};
use super::tail::Tail;

/// The variable in the environment of every worker, with a value that no other worker has.
const MARK: &str = "EVALTEST_WORKER";
/// How long a program may take to end when its stdin is closed.
const GRACE: Duration = Duration::from_secs(1);
/// How long the end of a program that closed its stdout is waited for.
const END: Duration = Duration::from_millis(200);
/// How much of stderr is kept.
const STDERR_BYTES: usize = 8 * 1024;
/// How much is read at once.
const PIECE_BYTES: usize = 16 * 1024;

/// Why there is no reply. After any fault the worker is of no use any more.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It ended, or closed its stdout.
    Ended(String),
    /// There was no reply in time.
    TimedOut,
    /// The line is too long; this is its beginning.
    TooLong(Vec<u8>),
    /// It printed this without being asked.
    Unasked(Vec<u8>),
    /// The system did not let us follow it.
    Lost(io::Error),
}

/// A program that was started.
pub(crate) struct Worker {
    group: Group,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    tail: Tail,
    mark: OsString,
    grace: Duration,
}

impl Worker {
    /// Starts a program that is named by `args` and runs in `folder`.
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
        let mut group = Group::new(launch.start(true)?);
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
            stderr,
            tail: Tail::new(STDERR_BYTES),
            mark,
            grace: GRACE,
        };
        let cannot = |error| NotStarted::new(format!("its pipes cannot be set up: {error}"));
        worker.set_up().map_err(cannot)?;
        Ok(worker)
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

    /// Whether it ended while nobody asked.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.stdin.is_none() || self.group.leader_ended()
    }

    /// Sends a line and waits for one, which is given without its end and has at most `longest` bytes.
    pub(crate) fn ask(
        &mut self,
        line: &[u8],
        deadline: Instant,
        longest: usize,
    ) -> Result<Vec<u8>, Fault> {
        let asked = self.converse(line, deadline, longest);
        if asked.is_err() {
            // It is out of step, so there is nothing to wait for.
            self.grace = Duration::ZERO;
        }
        asked
    }

    fn converse(
        &mut self,
        line: &[u8],
        deadline: Instant,
        longest: usize,
    ) -> Result<Vec<u8>, Fault> {
        let mut reply = Vec::new();
        match self.read(&mut reply) {
            Ok(true) if reply.is_empty() => {}
            Ok(true) => return Err(Fault::Unasked(reply)),
            Ok(false) => return Err(self.ended()),
            Err(error) => return Err(Fault::Lost(error)),
        }
        let mut unsent = line;
        loop {
            self.feed(&mut unsent);
            let is_open = self.read(&mut reply).map_err(Fault::Lost)?;
            self.read_stderr();
            if let Some(end) = reply.iter().position(|&byte| byte == b'\n') {
                let more = reply.split_off(end + 1);
                reply.pop();
                if reply.len() > longest {
                    return Err(Fault::TooLong(reply));
                }
                if !more.is_empty() {
                    return Err(Fault::Unasked(more));
                }
                if !unsent.is_empty() {
                    // It answered before it had read all, and would take the rest for the next line.
                    self.stdin = None;
                }
                return Ok(reply);
            }
            if reply.len() > longest {
                return Err(Fault::TooLong(reply));
            }
            if !is_open {
                // The last line of a program that ends with it may lack its line ending.
                self.stdin = None;
                return if reply.trim_ascii().is_empty() {
                    Err(self.ended())
                } else {
                    Ok(reply)
                };
            }
            if Instant::now() >= deadline {
                return Err(Fault::TimedOut);
            }
            self.wait(!unsent.is_empty(), deadline)
                .map_err(Fault::Lost)?;
        }
    }

    /// Sleeps until something can be done.
    fn wait(&self, feeds: bool, deadline: Instant) -> io::Result<()> {
        let mut fds = vec![PollFd::new(&self.stdout, PollFlags::IN)];
        if let Some(stderr) = &self.stderr {
            fds.push(PollFd::new(stderr, PollFlags::IN));
        }
        if let Some(stdin) = self.stdin.as_ref().filter(|_| feeds) {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        let mut left = deadline.saturating_duration_since(Instant::now());
        match self.group.pidfd() {
            Some(pidfd) => fds.push(PollFd::from_borrowed_fd(pidfd, PollFlags::IN)),
            None => left = left.min(TICK),
        }
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes as much as the pipe takes.
    fn feed(&mut self, unsent: &mut &[u8]) {
        let Some(stdin) = &self.stdin else { return };
        while !unsent.is_empty() {
            match rustix::io::write(stdin, unsent) {
                Ok(written) => *unsent = &unsent[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // It does not read on; what it says or how it ends tells more.
                Err(_) => {
                    self.stdin = None;
                    return;
                }
            }
        }
    }

    /// Reads one piece of stdout and says whether more may come. A program that ended leaves nothing behind
    /// but what is in the pipe now: a process that it started may keep the pipe open for ever.
    fn read(&mut self, reply: &mut Vec<u8>) -> io::Result<bool> {
        let ended = self.group.leader_ended();
        let mut piece = [0; PIECE_BYTES];
        match rustix::io::read(&self.stdout, &mut piece) {
            Ok(length) => {
                reply.extend_from_slice(&piece[..length]);
                Ok(length > 0)
            }
            Err(Errno::AGAIN) => Ok(!ended),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn read_stderr(&mut self) {
        let Some(stderr) = &self.stderr else { return };
        let mut piece = [0; PIECE_BYTES];
        match rustix::io::read(stderr, &mut piece) {
            Ok(length) if length > 0 => self.tail.push(&piece[..length]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.stderr = None,
        }
    }

    /// How it ended. One that merely closed its stdout is killed.
    fn ended(&mut self) -> Fault {
        self.stdin = None;
        if !self.group.wait(END) {
            return Fault::Ended("closed its stdout".to_owned());
        }
        let status = self.group.kill();
        Fault::Ended(status.map_or_else(|| "ended".to_owned(), how_it_ended))
    }

    /// Kills it and gives the end of what it wrote to stderr.
    pub(crate) fn end(mut self) -> Option<String> {
        self.grace = Duration::ZERO;
        self.group.kill();
        // What is in the pipe now, and no more: who left the group may write to it for ever.
        let waiting = self.stderr.as_ref().map_or(0, waiting);
        for _ in 0..waiting.div_ceil(PIECE_BYTES as u64) {
            self.read_stderr();
        }
        std::mem::replace(&mut self.tail, Tail::new(0)).text()
    }

    /// Closes stdin, so that it ends by itself; for several, before they are waited for one by one.
    pub(crate) fn dismiss(&mut self) {
        self.stdin = None;
    }
}

/// How many bytes wait in a pipe.
fn waiting(pipe: &impl AsFd) -> u64 {
    rustix::io::ioctl_fionread(pipe).unwrap_or(0)
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stdin = None;
        self.group.wait(self.grace);
        self.group.kill();
        escapees::kill(MARK, &self.mark);
    }
}
