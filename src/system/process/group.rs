//! A started program and its process group.
//!
//! The program leads a group of its own, so its pid names the group. A pid can be used again as soon as
//! its process is reaped; therefore signals go out only before [`ProcessGroup::reap`], while the leader, dead or
//! alive, still holds the number.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::native;
use crate::system::lock::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How often to look when a descriptor to wait on is missing.
pub(crate) const TICK: Duration = Duration::from_millis(10);
/// How long a process may take to end by SIGKILL before it is left behind.
pub(crate) const KILL_PATIENCE: Duration = Duration::from_secs(20);

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

/// Kills every group, for a program that ends at once.
pub(crate) fn kill_all() {
    for &pid in living().iter() {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// The leader and everything that stayed in its group.
///
/// Dropping it kills and reaps, which only matters when a live-output callback panics or `poll` fails:
/// every other way goes through [`ProcessGroup::reap`] or [`ProcessGroup::abandon`].
pub(crate) struct ProcessGroup {
    child: Child,
    /// Readable once the leader has ended. `None` where the system has no descriptor left.
    pidfd: Option<OwnedFd>,
    /// Whether the pid is no longer ours to signal.
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
            // It fails when nobody is left, or when the group belongs to another user (`sudo`), which
            // the wait that follows every signal bounds.
            let _ = kill_process_group(self.pid(), signal);
        }
    }

    /// Whether the leader has ended. It stays a zombie, so that its pid still names the group.
    pub(crate) fn leader_ended(&mut self) -> bool {
        if self.gone {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Ok(status) = waitid(WaitId::Pid(self.pid()), options) else {
            // Somebody else reaped it, as the kernel does while SIGCHLD is ignored.
            self.abandon();
            return true;
        };
        status.is_some()
    }

    /// Waits for the leader to end and says whether it has.
    pub(crate) fn wait(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            if self.leader_ended() {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            match &self.pidfd {
                None => std::thread::sleep(left.min(TICK)),
                Some(pidfd) => {
                    let timeout = Timespec::try_from(left).ok();
                    // Whatever it says, the leader is looked at again.
                    let _ = poll(&mut [PollFd::new(pidfd, PollFlags::IN)], timeout.as_ref());
                }
            }
        }
    }

    /// The same for a leader whose pipes are closed: one that is on its way out is waited for even on a busy machine.
    pub(crate) fn wait_for_end(&mut self, patience: Duration) -> bool {
        self.wait(patience) || (native::is_exiting(self.pid()) && self.wait(KILL_PATIENCE))
    }

    /// Kills all that is left of the group and takes the leader's exit status; `None` where there is none to
    /// take.
    pub(crate) fn kill(&mut self) -> Option<ExitStatus> {
        self.signal(Signal::KILL);
        if !self.gone && !self.wait(KILL_PATIENCE) {
            self.abandon();
        }
        self.reap().ok()
    }

    /// Takes the exit status of a leader that has ended; afterwards nothing can be signalled.
    pub(crate) fn reap(&mut self) -> io::Result<ExitStatus> {
        if self.gone {
            let reason = "its exit status was taken by somebody else; is SIGCHLD ignored?";
            return Err(io::Error::other(reason));
        }
        self.abandon();
        self.child.wait()
    }

    /// Signals it no more: from now on its pid may be another's, or it is left behind because it does not even end by
    /// SIGKILL (a hung file system).
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

/// How a process ended, for messages.
pub(crate) fn how_it_ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exited with code {code}"),
        // The standard library's form: `signal: 9 (SIGKILL)`.
        None => format!("was ended by {status}"),
    }
}

/// Whether a process was ended by a signal that programs hardly ever send themselves.
pub(crate) fn was_killed(status: ExitStatus) -> bool {
    status.signal().is_some_and(is_from_outside)
}

/// Whether programs hardly ever send themselves this signal: that of a person, or of a system without memory.
pub(crate) fn is_from_outside(signal: i32) -> bool {
    let killing = [Signal::KILL, Signal::TERM, Signal::HUP, Signal::INT];
    killing.iter().any(|killing| killing.as_raw() == signal)
}

/// Whether a program ended as one that was asked to end: by such a signal, or with the exit code by which a shell passes
/// it on. Whoever ends a whole job asks each of its processes, those of the agent and then evaltest or the other way round.
pub(crate) fn was_asked_to_end(signal: Option<i32>, exit_code: Option<i32>) -> bool {
    let signal = signal.or_else(|| Some(exit_code? - 128));
    let asking = [Signal::TERM, Signal::HUP, Signal::INT];
    signal.is_some_and(|signal| asking.iter().any(|asking| asking.as_raw() == signal))
}

/// The signal that ended a process, if one did.
pub(crate) fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}
