//! Orphans of a program that adopts them.
//!
//! It becomes their parent in place of the system's first process, and so finds them without a search through all
//! processes. What belongs to an attempt that is over is killed; [`kill_all`] ends the rest.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use super::MARK;
use crate::system::lock::lock;
use crate::system::process::{escapees, watch};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
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
pub fn adopt() {
    let adopts = set_child_subreaper(Some(getpid())).is_ok();
    ADOPTS.store(adopts, Ordering::Relaxed);
}

/// Kills every process that was adopted, before the program ends.
pub fn kill_all() {
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
    kill_while(is_left_behind);
}

fn living<T>(work: impl FnOnce(&mut HashSet<OsString>) -> T) -> T {
    work(&mut lock(&LIVING))
}

/// Kills adopted processes that are meant. Their own children are then adopted, so it looks again.
fn kill_while(is_meant: impl Fn(Pid) -> bool) {
    let mut pauses = 0;
    loop {
        let orphans: Vec<Pid> = adopted().into_iter().filter(|&pid| is_meant(pid)).collect();
        if orphans.is_empty() {
            return;
        }
        for &pid in &orphans {
            let _ = kill_process(pid, Signal::KILL);
        }
        for pid in orphans {
            while !has_ended(pid) {
                if pauses >= PATIENCE {
                    return;
                }
                std::thread::sleep(PAUSE);
                pauses += 1;
            }
        }
    }
}

/// Takes the end of a child, and says whether it has come.
fn has_ended(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

/// The children of the main thread: orphans come to it, and few agents are started by it.
fn adopted() -> Vec<Pid> {
    // The list leaves some out when others end while it is read.
    let (mut before, mut children) = (listed(), listed());
    while before != children {
        (before, children) = (children, listed());
    }
    let pids = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok());
    pids.filter_map(Pid::from_raw).collect()
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
