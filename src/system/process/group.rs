//! A started program and its process group.
//!
//! The program leads its own group, so its pid is the group id. A pid can be reused once its process is reaped;
//! therefore signals are only sent before [`ProcessGroup::reap`], while the leader, alive or zombie, still holds the
//! pid.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::native;
use crate::system::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Polling interval if there is no descriptor to wait on.
pub(crate) const TICK: Duration = Duration::from_millis(10);
/// How long a process may take to end after SIGKILL before it is abandoned.
pub(crate) const KILL_TIMEOUT: Duration = Duration::from_secs(20);

/// The groups that may be signalled.
static LIVING: LazyLock<Mutex<HashSet<Pid>>> = LazyLock::new(Mutex::default);

fn living() -> MutexGuard<'static, HashSet<Pid>> {
    lock(&LIVING)
}

/// Whether a process leads a group that may be signalled.
#[cfg(target_os = "linux")]
pub(crate) fn is_living(pid: Pid) -> bool {
    living().contains(&pid)
}

/// Kills every group, for a program that exits immediately.
pub(crate) fn kill_all() {
    for &pid in living().iter() {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// The leader and the processes that stayed in its group.
///
/// Dropping it kills and reaps, which only happens if a live-output callback panics or `poll` fails: otherwise
/// [`ProcessGroup::reap`] or [`ProcessGroup::abandon`] is called.
pub(crate) struct ProcessGroup {
    child: Child,
    /// Readable once the leader has ended. `None` if no descriptor is available.
    pidfd: Option<OwnedFd>,
    /// Whether the pid must no longer be signalled.
    gone: bool,
}

impl ProcessGroup {
    pub(crate) fn new(child: Child) -> Self {
        let mut group = Self {
            child,
            pidfd: None,
            gone: false,
        };
        group.pidfd = native::end_of(group.pid());
        living().insert(group.pid());
        group
    }

    pub(crate) fn leader(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(crate) fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// Sends a signal to every process of the group.
    pub(crate) fn signal(&self, signal: Signal) {
        if !self.gone {
            // Fails if no process is left, or if the group belongs to another user (`sudo`); a bounded wait follows
            // every signal.
            let _ = kill_process_group(self.pid(), signal);
        }
    }

    /// Whether the leader has ended. It stays a zombie, so that its pid remains reserved.
    pub(crate) fn leader_ended(&mut self) -> bool {
        if self.gone {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Ok(status) = waitid(WaitId::Pid(self.pid()), options) else {
            // It was reaped elsewhere, for example by the kernel if SIGCHLD is ignored.
            self.abandon();
            return true;
        };
        status.is_some()
    }

    /// Waits for the leader to end; returns whether it has.
    pub(crate) fn wait(&mut self, timeout: Duration) -> bool {
        let until = Instant::now() + timeout;
        loop {
            if self.leader_ended() {
                return true;
            }
            let remaining = until.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return false;
            }
            match &self.pidfd {
                None => std::thread::sleep(remaining.min(TICK)),
                Some(pidfd) => {
                    let timeout = Timespec::try_from(remaining).ok();
                    // The leader is checked again in any case.
                    let _ = poll(&mut [PollFd::new(pidfd, PollFlags::IN)], timeout.as_ref());
                }
            }
        }
    }

    /// The same for a leader with closed pipes: while it is exiting, the wait is extended, for busy machines.
    pub(crate) fn wait_for_end(&mut self, timeout: Duration) -> bool {
        self.wait(timeout) || (native::is_exiting(self.pid()) && self.wait(KILL_TIMEOUT))
    }

    /// Kills the rest of the group and takes the leader's exit status; `None` if there is none.
    pub(crate) fn kill(&mut self) -> Option<ExitStatus> {
        self.signal(Signal::KILL);
        if !self.gone && !self.wait(KILL_TIMEOUT) {
            self.abandon();
        }
        self.reap().ok()
    }

    /// Takes the exit status of a leader that has ended; it must not be signalled afterwards.
    pub(crate) fn reap(&mut self) -> io::Result<ExitStatus> {
        if self.gone {
            let reason = "its exit status was taken by somebody else; is SIGCHLD ignored?";
            return Err(io::Error::other(reason));
        }
        self.abandon();
        self.child.wait()
    }

    /// Stops signalling it: its pid may be reused, or it does not even end after SIGKILL (a hung file system).
    pub(crate) fn abandon(&mut self) {
        self.gone = true;
        living().remove(&self.pid());
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.gone {
            self.signal(Signal::KILL);
            self.abandon();
            let _ = self.child.wait();
        }
    }
}

/// How a process ended, as text.
pub(crate) fn how_it_ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exited with code {code}"),
        // The standard library writes `signal: 9 (SIGKILL)`.
        None => format!("was ended by {status}"),
    }
}

/// Whether a process was killed by a signal that programs hardly ever send to themselves.
pub(crate) fn was_killed(status: ExitStatus) -> bool {
    status.signal().is_some_and(is_from_outside)
}

/// Whether a signal usually comes from outside: from a person, or from a system without memory.
pub(crate) fn is_from_outside(signal: i32) -> bool {
    let killing = [Signal::KILL, Signal::TERM, Signal::HUP, Signal::INT];
    killing.iter().any(|killing| killing.as_raw() == signal)
}

/// Whether a program ended as requested from outside: by such a signal, or with a shell's exit code for it. A job that
/// is stopped sends it to each process, to the agent before or after evaltest.
pub(crate) fn was_terminated(signal: Option<i32>, exit_code: Option<i32>) -> bool {
    let signal = signal.or_else(|| Some(exit_code? - 128));
    let terminating = [Signal::TERM, Signal::HUP, Signal::INT];
    signal.is_some_and(|signal| {
        terminating
            .iter()
            .any(|terminating| terminating.as_raw() == signal)
    })
}

/// The signal that killed a process, if any.
pub(crate) fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}
