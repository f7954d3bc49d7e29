//! External programs: shared by agents and scorers that are programs.
//!
//! [`launch`] finds and starts a program with the variables of an [`Environment`]. A program leads its own process
//! [`group`], with which its children are killed; `escapees` finds processes that left it, `watch` those that this
//! program could not kill. [`Tail`] stores the end of stderr, and `excerpt` formats output for messages. A [`child`]
//! runs to its end; a [`worker`] is a long-running program that answers a line with a line.

pub(crate) mod child;
mod environment;
pub(crate) mod escapees;
pub(crate) mod excerpt;
pub(crate) mod group;
pub(crate) mod launch;
mod named;
pub(crate) mod native;
pub(crate) mod orphans;
pub(crate) mod signal;
pub(crate) mod watch;
pub(crate) mod worker;

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::{fmt, io};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionread};
use rustix::process::{Pid, getppid, test_kill_process};

use native::start_time;

pub(crate) use environment::Environment;
pub(crate) use named::{FileHashes, files_in};

/// A process of this machine: its pid and start time, because pids are reused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMark {
    pid: Pid,
    start_time: Option<String>,
}

impl ProcessMark {
    /// The parent process; `None` if it has ended.
    pub(crate) fn of_parent() -> Option<Self> {
        // Orphans are children of the init process.
        let pid = getppid().filter(|pid| pid.as_raw_pid() > 1)?;
        Some(Self {
            pid,
            start_time: start_time(pid),
        })
    }

    /// Parses the output of [`fmt::Display`].
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (pid, start_time) = text.trim().split_once(' ')?;
        Some(Self {
            pid: Pid::from_raw(pid.parse().ok().filter(|pid| *pid > 0)?)?,
            start_time: (start_time != "-").then(|| start_time.to_owned()),
        })
    }

    /// Whether the process still exists.
    pub(crate) fn is_alive(&self) -> bool {
        let is_there = match test_kill_process(self.pid) {
            Ok(()) | Err(Errno::PERM) => true,
            Err(_) => false,
        };
        is_there && (self.start_time.is_none() || start_time(self.pid) == self.start_time)
    }
}

impl fmt::Display for ProcessMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start_time = self.start_time.as_deref().unwrap_or("-");
        write!(f, "{} {start_time}", self.pid.as_raw_pid())
    }
}

/// Whether no process of this machine has this id.
pub(crate) fn is_dead(pid: &str) -> bool {
    let pid = pid.parse().ok().filter(|pid| *pid > 0);
    let pid = pid.and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Maximum bytes per read.
const PIECE_BYTES: usize = 16 * 1024;

/// Reads what is available from a pipe, limited to the size of `piece`; closes the pipe at its end. Must not block.
fn read_piece<'p>(pipe: &mut Option<impl AsFd>, piece: &'p mut [u8]) -> &'p [u8] {
    let Some(open) = pipe else { return &[] };
    match rustix::io::read(open, &mut *piece) {
        Ok(length) if length > 0 => &piece[..length],
        Err(Errno::AGAIN | Errno::INTR) => &[],
        Ok(_) | Err(_) => {
            *pipe = None;
            &[]
        }
    }
}

/// Number of bytes waiting in a pipe.
fn buffered(pipe: &impl AsFd) -> u64 {
    ioctl_fionread(pipe).unwrap_or(0)
}

/// The last bytes pushed.
pub(crate) struct Tail {
    bytes: Vec<u8>,
    /// Total number of bytes pushed.
    pushed: u64,
    limit: usize,
    /// Whether the beginning was dropped.
    is_truncated: bool,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            pushed: 0,
            limit,
            is_truncated: false,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.pushed += bytes.len() as u64;
        let surplus = bytes.len().saturating_sub(self.limit);
        self.is_truncated |= surplus > 0;
        let bytes = &bytes[surplus..];
        // Truncating at twice the limit moves each byte at most once, for pieces of any size.
        if self.bytes.len() + bytes.len() > 2 * self.limit {
            self.truncate_to(self.limit - bytes.len());
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Total number of bytes pushed.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// The tail of what was pushed after this many bytes.
    pub(crate) fn since(&self, pushed: u64) -> Option<String> {
        let wanted = usize::try_from(self.pushed.saturating_sub(pushed)).unwrap_or(usize::MAX);
        let from = self.bytes.len().saturating_sub(wanted);
        let tail = Self {
            bytes: self.bytes[from..].to_vec(),
            pushed: self.pushed,
            limit: self.limit,
            is_truncated: self.is_truncated && from == 0,
        };
        tail.text()
    }

    /// The tail as text; `None` if nothing was pushed.
    pub(crate) fn text(mut self) -> Option<String> {
        self.truncate_to(self.limit);
        if self.is_truncated {
            // Truncation may have split a character; drop its rest.
            let rest = self.bytes.iter().take(3);
            let rest = rest.take_while(|byte| **byte & 0xC0 == 0x80).count();
            self.bytes.drain(..rest);
        }
        (!self.bytes.is_empty()).then(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }

    fn truncate_to(&mut self, length: usize) {
        let surplus = self.bytes.len().saturating_sub(length);
        self.is_truncated |= surplus > 0;
        self.bytes.drain(..surplus);
    }
}

/// Readable from `ring` until `silence`.
#[derive(Debug)]
pub(crate) struct Bell {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Bell {
    /// A silent bell; an error if no descriptor is available.
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self { reader, writer })
    }

    /// Makes it readable. Must not be called while it rings: the pipe then holds at most one byte, so that writing
    /// neither blocks nor fails.
    pub(crate) fn ring(&self) {
        let _ = (&self.writer).write(&[1]);
    }

    /// Undoes one `ring`, which must have happened.
    pub(crate) fn silence(&self) {
        let _ = (&self.reader).read(&mut [0]);
    }

    /// Blocks until it rings.
    pub(crate) fn wait(&self) {
        while let Err(Errno::INTR) = poll(&mut [PollFd::new(&self.reader, PollFlags::IN)], None) {}
    }

    /// The descriptor to poll together with others.
    pub(crate) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

#[cfg(test)]
mod mark_tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_known_until_it_ends() {
        let parent = ProcessMark::of_parent().unwrap();
        assert!(parent.is_alive());
        let again = ProcessMark::parse(&format!("{parent}\n")).unwrap();
        assert_eq!(again, parent);
        for text in ["", "1", "x -", "0 -", "-4 -"] {
            assert_eq!(ProcessMark::parse(text), None, "{text}");
        }
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mark = ProcessMark {
            pid,
            start_time: start_time(pid),
        };
        assert!(mark.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!mark.is_alive());
        // The pid belongs to another process now.
        let other = ProcessMark {
            start_time: parent
                .start_time
                .as_ref()
                .map(|start_time| format!("{start_time}0")),
            ..parent
        };
        assert_eq!(other.is_alive(), other.start_time.is_none());
    }
}

#[cfg(test)]
mod tail_tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: Option<&str>) {
        let mut tail = Tail::new(8);
        for piece in pieces {
            tail.push(piece.as_bytes());
        }
        assert_eq!(tail.text().as_deref(), expected);
    }

    #[test]
    fn keeps_the_end() {
        check(&[], None);
        check(&["short"], Some("short"));
        check(&["0123456789"], Some("23456789"));
        check(&["abcdefgh", "ijklmnop", "qr"], Some("klmnopqr"));
        check(&["a"; 100], Some("aaaaaaaa"));
    }

    #[test]
    fn split_character_is_dropped() {
        check(&["ab€1234", "567"], Some("1234567"));
        check(&["ab€1234567"], Some("1234567"));
        // Bytes that are invalid UTF-8 are shown as such.
        let mut tail = Tail::new(8);
        tail.push(b"\x82ab");
        assert_eq!(tail.text().as_deref(), Some("\u{FFFD}ab"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rings_until_it_is_silenced() {
        let bell = Bell::new().unwrap();
        let rings = || {
            let now = rustix::event::Timespec::default();
            poll(
                &mut [PollFd::from_borrowed_fd(bell.wake_fd(), PollFlags::IN)],
                Some(&now),
            )
            .unwrap()
                > 0
        };
        assert!(!rings());
        bell.ring();
        bell.wait();
        assert!(rings());
        bell.silence();
        assert!(!rings());
    }
}
