//! Orphans of a program that adopts them.
//!
//! It becomes their parent in place of the system's first process, and so finds them without a search through all
//! processes. What belongs to an attempt that is over is killed; [`kill_all`] ends the rest.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use super::MARK;
use crate::system::lock::lock;
use crate::system::process::{escapees, group, watch};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, pidfd_open,
    pidfd_send_signal, set_child_subreaper, waitid,
};

/// So many pauses are made until processes that were killed are gone. They are counted: on a busy machine everything
/// takes longer, and so do they.
const PATIENCE: u32 = 10_000;
const PAUSE: Duration = Duration::from_millis(1);

static ADOPTS: AtomicBool = AtomicBool::new(false);
/// Marks of attempts that go on.
static LIVING: LazyLock<Mutex<HashSet<OsString>>> = LazyLock::new(Mutex::default);

/// The mark of this program itself, where another has it run as an agent. What it starts bears it, too, until that has
/// become another program.
static OWN: LazyLock<Option<OsString>> = LazyLock::new(|| std::env::var_os(MARK));

/// Makes this process the parent of orphans among its descendants, for its whole life. For programs that start nothing
/// but agents and wait for all that they start.
pub(super) fn adopt() {
    let adopts = set_child_subreaper(Some(getpid())).is_ok();
    ADOPTS.store(adopts, Ordering::Relaxed);
}

/// Takes [`adopt`] back, for programs that start what is to outlive them, such as a browser.
pub(super) fn leave() {
    let _ = set_child_subreaper(None);
    ADOPTS.store(false, Ordering::Relaxed);
}

/// Kills every process that was adopted, before the program ends.
pub(super) fn kill_all() {
    watch::dismiss();
    if ADOPTS.load(Ordering::Relaxed) {
        kill_while(|_| true);
    }
}

/// Whether an attempt with this mark is watched: where orphans are adopted.
pub(super) fn begin(mark: &OsStr) -> bool {
    let adopts = ADOPTS.load(Ordering::Relaxed);
    if adopts {
        living(|marks| marks.insert(mark.to_owned()));
    }
    adopts
}

/// Ends what an attempt left behind.
pub(super) fn end(mark: &OsStr) {
    living(|marks| marks.remove(mark));
    for child in kill_while(is_left_behind) {
        if is_dead_orphan(child.pid) {
            child.has_ended();
        }
    }
}

fn living<T>(work: impl FnOnce(&mut HashSet<OsString>) -> T) -> T {
    work(&mut lock(&LIVING))
}

/// Kills adopted processes that are meant. Their own children are then adopted, so it looks again, and gives the children
/// that are there in the end.
fn kill_while(is_meant: impl Fn(Pid) -> bool) -> Vec<Adopted> {
    let mut pauses = 0;
    loop {
        let (orphans, others): (Vec<_>, Vec<_>) =
            adopted().into_iter().partition(|child| is_meant(child.pid));
        if orphans.is_empty() {
            return others;
        }
        for orphan in &orphans {
            orphan.kill();
        }
        for orphan in orphans {
            while !orphan.has_ended() {
                if pauses >= PATIENCE {
                    return others;
                }
                std::thread::sleep(PAUSE);
                pauses += 1;
            }
        }
    }
}

/// A child of this process, which may be an agent as well.
///
/// Others take the ends of children at the same time, so that its number may be an agent's a moment later: what is done
/// to it goes by the descriptor, which is taken before anything is found out about it.
struct Adopted {
    pid: Pid,
    /// `None` where the system has no more, or none at all.
    pidfd: Option<OwnedFd>,
}

impl Adopted {
    /// `None` if it is gone already: then its number may be an agent's at any moment.
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

    /// Takes its end, and says whether it has come.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let id = match &self.pidfd {
            Some(pidfd) => WaitId::PidFd(pidfd.as_fd()),
            None => WaitId::Pid(self.pid),
        };
        !matches!(waitid(id, options), Ok(None))
    }
}

/// The children of the main thread: orphans come to it, and few agents are started by it.
fn adopted() -> Vec<Adopted> {
    // The list leaves some out when others end while it is read.
    let (mut before, mut children) = (listed(), listed());
    while before != children {
        (before, children) = (children, listed());
    }
    let pids = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok());
    pids.filter_map(Pid::from_raw)
        .filter_map(Adopted::of)
        .collect()
}

fn listed() -> String {
    let own = std::process::id();
    fs::read_to_string(format!("/proc/self/task/{own}/children")).unwrap_or_default()
}

/// Whether a process bears the mark of an attempt that is over.
fn is_left_behind(pid: Pid) -> bool {
    let mark = escapees::value_of(pid, MARK);
    mark.is_some_and(|mark| {
        let mark = OsStr::from_bytes(&mark);
        OWN.as_deref() != Some(mark) && living(|marks| !marks.contains(mark))
    })
}

/// Whether a process was adopted and has ended, so that nobody else waits for it. It is in the group of an agent, which
/// leads that; whoever else this program starts leads a group of its own or is in ours.
fn is_dead_orphan(pid: Pid) -> bool {
    let own = pid.as_raw_pid();
    // Of another namespace's groups, as ours may be, the number is 0.
    let is_strange = |group: i32| {
        let ours = || state_of("self").map(|(_, group)| group);
        group != own && group != 0 && Some(group) != ours()
    };
    let found = state_of(&own.to_string());
    // An agent may have changed its group.
    found.is_some_and(|(state, group)| state == "Z" && is_strange(group)) && !group::is_living(pid)
}

/// The state of a process and its group.
fn state_of(process: &str) -> Option<(String, i32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?.to_owned();
    Some((state, fields.nth(1)?.parse().ok()?))
}
