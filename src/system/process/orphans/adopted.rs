//! Orphans of a program that adopts them.
//!
//! Orphans become children of this program instead of the init process, so they are found without searching all
//! processes. Orphans of finished attempts are killed; [`kill_all`] kills the rest.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use super::MARK;
use crate::system::lock;
use crate::system::process::{escapees, group, watch};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, pidfd_open,
    pidfd_send_signal, set_child_subreaper, waitid,
};

/// Maximum number of pauses while waiting for killed processes. A count rather than a duration, because on a busy
/// machine everything is slower, including pauses.
const MAX_PAUSES: u32 = 10_000;
const PAUSE: Duration = Duration::from_millis(1);

static ADOPTS: AtomicBool = AtomicBool::new(false);
/// Marks of attempts in progress.
static LIVING: LazyLock<Mutex<HashSet<OsString>>> = LazyLock::new(Mutex::default);

/// The mark of this program, if another one runs it as an agent. Its child processes also have it until they call
/// `exec`.
static OWN: LazyLock<Option<OsString>> = LazyLock::new(|| std::env::var_os(MARK));

/// Makes this process the parent of orphaned descendants for its whole life. For programs that only start agents and
/// wait for everything they start.
pub(super) fn adopt() {
    let adopts = set_child_subreaper(Some(getpid())).is_ok();
    ADOPTS.store(adopts, Ordering::Relaxed);
}

/// Undoes [`adopt`], for programs that start processes that should outlive them, such as a browser.
pub(super) fn leave() {
    let _ = set_child_subreaper(None);
    ADOPTS.store(false, Ordering::Relaxed);
}

/// Kills every adopted process before the program ends.
pub(super) fn kill_all() {
    watch::dismiss();
    if ADOPTS.load(Ordering::Relaxed) {
        kill_while(|_| true);
    }
}

/// Starts to watch an attempt with this mark, if orphans are adopted.
pub(super) fn begin(mark: &OsStr) -> bool {
    let adopts = ADOPTS.load(Ordering::Relaxed);
    if adopts {
        living(|marks| marks.insert(mark.to_owned()));
    }
    adopts
}

/// Kills the orphans of an attempt.
pub(super) fn end(mark: &OsStr) {
    living(|marks| marks.remove(mark));
    for child in kill_while(is_orphaned) {
        if is_dead_orphan(child.pid) {
            child.has_ended();
        }
    }
}

fn living<T>(work: impl FnOnce(&mut HashSet<OsString>) -> T) -> T {
    work(&mut lock(&LIVING))
}

/// Kills selected adopted processes. Their children are then adopted, so it repeats, and returns the remaining
/// children.
fn kill_while(is_match: impl Fn(Pid) -> bool) -> Vec<Adopted> {
    let mut pauses = 0;
    loop {
        let (orphans, others): (Vec<_>, Vec<_>) =
            adopted().into_iter().partition(|child| is_match(child.pid));
        if orphans.is_empty() {
            return others;
        }
        for orphan in &orphans {
            orphan.kill();
        }
        for orphan in orphans {
            while !orphan.has_ended() {
                if pauses >= MAX_PAUSES {
                    return others;
                }
                std::thread::sleep(PAUSE);
                pauses += 1;
            }
        }
    }
}

/// A child of this process, which may also be an agent.
///
/// Other threads reap children concurrently, so its pid may be reused by an agent at any time: use the pidfd, which is
/// opened before anything is checked.
struct Adopted {
    pid: Pid,
    /// `None` if the system supports no pidfds or has no descriptor left.
    pidfd: Option<OwnedFd>,
}

impl Adopted {
    /// `None` if it is already gone: then its pid may belong to an agent.
    fn of(pid: Pid) -> Option<Self> {
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(Errno::SRCH | Errno::INVAL) => return None,
            pidfd => pidfd.ok(),
        };
        Some(Self { pid, pidfd })
    }

    fn kill(&self) {
        let _ = match &self.pidfd {
            Some(pidfd) => pidfd_send_signal(pidfd, Signal::KILL),
            None => kill_process(self.pid, Signal::KILL),
        };
    }

    /// Reaps it if it has ended; returns whether it has.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let id = match &self.pidfd {
            Some(pidfd) => WaitId::PidFd(pidfd.as_fd()),
            None => WaitId::Pid(self.pid),
        };
        !matches!(waitid(id, options), Ok(None))
    }
}

/// The children of the main thread, which adopts orphans and starts few agents; without the watchdog, whose environment
/// would be read after each attempt.
fn adopted() -> Vec<Adopted> {
    // The list may be incomplete if processes end while it is read.
    let (mut before, mut children) = (listed(), listed());
    while before != children {
        (before, children) = (children, listed());
    }
    let pids = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok());
    let others = pids.filter(|pid| !watch::is_watchdog(*pid));
    let pids = others.filter_map(|pid| i32::try_from(pid).ok());
    pids.filter_map(Pid::from_raw)
        .filter_map(Adopted::of)
        .collect()
}

fn listed() -> String {
    let own = std::process::id();
    fs::read_to_string(format!("/proc/self/task/{own}/children")).unwrap_or_default()
}

/// Whether a process has the mark of a finished attempt.
fn is_orphaned(pid: Pid) -> bool {
    let mark = escapees::value_of(pid, MARK);
    mark.is_some_and(|mark| {
        let mark = OsStr::from_bytes(&mark);
        OWN.as_deref() != Some(mark) && living(|marks| !marks.contains(mark))
    })
}

/// Whether a process was adopted and has ended, so that only we can reap it. It is in the group of an agent, whose
/// leader is another process; all other children lead their own group or are in ours.
fn is_dead_orphan(pid: Pid) -> bool {
    let own = pid.as_raw_pid();
    // The number is 0 for groups of another pid namespace, which may be ours.
    let is_strange = |group: i32| {
        let ours = || state_of("self").map(|(_, group)| group);
        group != own && group != 0 && Some(group) != ours()
    };
    let found = state_of(&own.to_string());
    // An agent may have changed its group.
    found.is_some_and(|(state, group)| state == "Z" && is_strange(group)) && !group::is_living(pid)
}

/// The state and group of a process.
fn state_of(process: &str) -> Option<(String, i32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The process name may contain any character.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?.to_owned();
    Some((state, fields.nth(1)?.parse().ok()?))
}
