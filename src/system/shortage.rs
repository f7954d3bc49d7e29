//! `Shortage`: exhausted descriptors, processes or memory of this machine; and a budget for descriptors.
//!
//! A run near the limits of its machine must still be able to write its results. So before opening something for an
//! agent (pipes, a connection), callers request [`room`], which reserves some descriptors for the run's own files.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

use crate::error::{self, Error as Fault};

/// Descriptors reserved for the run's own files, if there are enough.
const OWN: usize = 64;
/// Limit for systems that report none: macOS rejects more than its `OPEN_MAX`.
const MODEST: u64 = 10_240;

/// Descriptors open before the first attempt: the three standard ones, those woken by signals and cancellation,
/// journal and records, and the watchdog's pipe.
const RUN: usize = 14;
/// The folder that lists a program's descriptors.
const OPEN: &str = if cfg!(target_os = "linux") {
    "/proc/self/fd"
} else {
    "/dev/fd"
};
/// Hint for a lack of socket buffers.
const NO_BUFFERS: &str = "free some memory, or lower `limits.concurrency`";
/// With this few descriptors a run works, one request at a time.
const FEW: usize = 256;
/// The threads of a run, its watchdog, and one agent.
const LEAST_PROCESSES: u64 = 6;
/// Processes per question in flight: its thread, its program, and two started by that.
const PROCESSES: u64 = 4;

/// An exhausted resource, with a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    what: String,
    remedy: String,
}

/// The descriptor limits before and after they were raised.
struct Limits {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "there no process can change another's limits")
    )]
    before: Rlimit,
    most: Option<usize>,
}

static LIMITS: LazyLock<Limits> = LazyLock::new(raised);
/// Descriptors about to be opened.
static CLAIMED: AtomicUsize = AtomicUsize::new(0);
/// Number of open descriptors at the last count; initially a value that forces a count.
static SEEN: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Number of descriptors claimed since then.
static SINCE: AtomicUsize = AtomicUsize::new(0);
/// With this much room, claims are granted without counting.
const AMPLE: usize = 512;
/// Claims may use this fraction of the counted room before the next count.
const TRUSTED_PART: usize = 4;

/// A reservation of descriptors about to be opened. Drop it once they are open.
#[derive(Debug)]
pub(crate) struct Room(usize);

impl Shortage {
    /// The shortage that an error indicates, if any.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        let remedy = match error::remedy(error) {
            Some(remedy) => remedy,
            None if Errno::from_io_error(error) == Some(Errno::NOBUFS) => NO_BUFFERS,
            None => return None,
        };
        let remedy = remedy.to_owned();
        let what = error.to_string();
        Some(Self { what, remedy })
    }

    /// A shortage of descriptors, with their limit.
    fn of_descriptors(most: usize, why: &str) -> Self {
        let enough = most.saturating_mul(2).next_power_of_two().max(FEW);
        Self {
            what: format!("{most} files may be open at the same time (`ulimit -n`), {why}"),
            remedy: format!("allow more open files: `ulimit -n {enough}`"),
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; hint: {}", self.what, self.remedy)
    }
}

impl Error for Shortage {}

impl Drop for Room {
    fn drop(&mut self) {
        CLAIMED.fetch_sub(self.0, Ordering::SeqCst);
    }
}

/// Raises the soft limit of descriptors to the hard one, once, and returns it; `None` if unlimited.
pub(crate) fn most_descriptors() -> Option<usize> {
    LIMITS.most
}

/// The maximum number of threads that can each open a file or two and run a program; and the limiting resource.
pub(crate) fn most_threads() -> (usize, &'static str) {
    let files = most_descriptors().map_or(usize::MAX, |most| ((most - own(most)) / 2).max(1));
    let processes = most_processes(geteuid().is_root(), getrlimit(Resource::Nproc).current);
    if processes < files {
        let why = "too few processes may run at the same time here (`ulimit -u`)";
        (processes, why)
    } else {
        let why = "too few files may be open at the same time here (`ulimit -n`)";
        (files, why)
    }
}

/// The number of threads to use if no more could be spawned: leaves room for programs.
pub(crate) fn threads_to_keep(made: usize) -> usize {
    (made / 4).max(1)
}

/// The maximum number of questions in flight for a limit on processes and threads, which does not apply to root.
fn most_processes(is_root: bool, limit: Option<u64>) -> usize {
    match limit {
        Some(limit) if !is_root => usize::try_from(limit / PROCESSES)
            .unwrap_or(usize::MAX)
            .max(1),
        _ => usize::MAX,
    }
}

/// Returns an error for limits too low for the run and one program, which needs `count` descriptors.
///
/// # Errors
/// With the limit and a hint.
pub(crate) fn check_limits(count: usize) -> Result<(), Fault> {
    let processes = getrlimit(Resource::Nproc).current;
    let short = short_limit(most_descriptors(), count)
        .or_else(|| short_processes(geteuid().is_root(), processes));
    match short {
        Some(Shortage { what, remedy }) => Err(Fault::infrastructure(what).hint(remedy)),
        None => Ok(()),
    }
}

fn short_limit(most: Option<usize>, count: usize) -> Option<Shortage> {
    let most = most.filter(|most| RUN + count + own(*most) > *most)?;
    let why = "too few for a run and one program that it asks";
    Some(Shortage::of_descriptors(most, why))
}

fn short_processes(is_root: bool, limit: Option<u64>) -> Option<Shortage> {
    let limit = limit.filter(|limit| !is_root && *limit < LEAST_PROCESSES)?;
    let what = format!(
        "{limit} processes and threads may run at the same time (`ulimit -u`), too few for a run and one program that it asks"
    );
    let remedy = "let more run: `ulimit -u 256`".to_owned();
    Some(Shortage { what, remedy })
}

/// Reserves descriptors that will stay open for an unknown time.
pub(crate) fn room(count: usize) -> Result<Room, Shortage> {
    claim(count, own)
}

/// Reserves descriptors for files that are closed soon; possible even if [`room`] fails.
pub(crate) fn room_for_files(count: usize) -> Result<Room, Shortage> {
    claim(count, |most| own(most) / 2)
}

/// Claims descriptors, unless fewer than `reserved` would remain.
fn claim(count: usize, reserved: impl Fn(usize) -> usize) -> Result<Room, Shortage> {
    let most = most_descriptors();
    let claimed = CLAIMED.fetch_add(count, Ordering::SeqCst) + count;
    let room = Room(count);
    let Some(most) = most else { return Ok(room) };
    let since = SINCE.fetch_add(count, Ordering::Relaxed) + count;
    let seen = SEEN.load(Ordering::Relaxed);
    if is_trusted(most - reserved(most), seen, claimed, since) {
        return Ok(room);
    }
    let none = || Shortage::of_descriptors(most, "and too few are left");
    let open = match open_now() {
        Ok(open) => open,
        Err(error) if Shortage::of(&error).is_some() => return Err(none()),
        // Without a list, opening fails by itself.
        Err(_) => return Ok(room),
    };
    SEEN.store(open, Ordering::Relaxed);
    SINCE.store(0, Ordering::Relaxed);
    if open.saturating_add(claimed) > most - reserved(most) {
        return Err(none());
    }
    Ok(room)
}

/// Whether there is certainly enough room without counting, which is slower than an attempt of a fast agent. Bounds
/// the open descriptors by the last count plus the claims since, with a margin for descriptors that agents open
/// without a claim.
fn is_trusted(most: usize, seen: usize, claimed: usize, since: usize) -> bool {
    let remaining = most.saturating_sub(seen.saturating_add(claimed));
    remaining > AMPLE && since <= remaining / TRUSTED_PART
}

/// The number of open descriptors. The lowest free number is no indication, because any may have been closed.
fn open_now() -> io::Result<usize> {
    let listed = std::fs::read_dir(OPEN)?.count();
    // The list itself was open.
    Ok(listed.saturating_sub(1))
}

/// Restores the original limit for a child process, because some programs iterate over all possible descriptors.
#[cfg(target_os = "linux")]
pub(crate) fn pass_on(child: u32) {
    use rustix::process::{Pid, prlimit};

    let before = LIMITS.before;
    let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|_| before != getrlimit(Resource::Nofile)) {
        // It may have ended already.
        let _ = prlimit(Some(pid), Resource::Nofile, before);
    }
}

/// Not supported here: the child has the raised limit.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pass_on(_: u32) {}

fn raised() -> Limits {
    let before = getrlimit(Resource::Nofile);
    let maximum = before.maximum;
    for current in [maximum, Some(MODEST)] {
        let is_more = match (before.current, current) {
            (Some(now), Some(then)) => then > now,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_more && setrlimit(Resource::Nofile, Rlimit { current, maximum }).is_ok() {
            break;
        }
    }
    let now = getrlimit(Resource::Nofile).current;
    Limits {
        before,
        most: now.map(|now| usize::try_from(now).unwrap_or(usize::MAX)),
    }
}

/// The number of descriptors reserved for the run's own files.
fn own(most: usize) -> usize {
    OWN.min(most / 4)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn too_much_is_refused_and_given_back_and_a_gap_among_open_files_is_no_room() {
        let Some(most) = most_descriptors() else {
            return;
        };
        let mut files: Vec<_> = (0..50).map(|_| File::open("/dev/null").unwrap()).collect();
        files.remove(0);
        let open = open_now().unwrap();
        assert!(open >= 49, "{open}");
        let wanted = most - own(most) - 48;
        assert!(room(wanted).is_err(), "49 are open");
        // In the same test, because two of them would see each other's claims.
        assert!(room(most).is_err());
        assert!(room(most).is_err(), "what was refused is not kept");
        assert!(room(4).is_ok());
    }

    #[test]
    fn a_limit_that_holds_no_attempt_is_refused_with_what_to_type() {
        for most in [1, 16, 20, 28, 30] {
            let Shortage { what, remedy } = short_limit(Some(most), 10).unwrap();
            assert!(what.contains(&format!("{most} files")), "{what}");
            assert!(remedy.contains("`ulimit -n 256`"), "{remedy}");
        }
        for most in [Some(32), Some(64), Some(1024), None] {
            assert_eq!(short_limit(most, 10), None, "{most:?}");
        }
        for (is_root, limit, is_short) in [
            (false, Some(3), true),
            (false, Some(6), false),
            (false, None, false),
            (true, Some(3), false),
        ] {
            let short = short_processes(is_root, limit);
            assert_eq!(short.is_some(), is_short, "{limit:?}");
        }
        let remedy = Shortage::of_descriptors(300, "").remedy;
        assert!(remedy.contains("`ulimit -n 1024`"), "{remedy}");
    }

    #[test]
    fn threads_leave_room_for_the_programs_that_they_ask() {
        assert_eq!(most_processes(false, Some(30)), 7);
        assert_eq!(most_processes(false, Some(1)), 1);
        assert_eq!(most_processes(true, Some(30)), usize::MAX);
        assert_eq!(most_processes(false, None), usize::MAX);
    }

    #[test]
    fn usage_is_measured_before_the_first_claim_when_low_and_after_many() {
        assert!(!is_trusted(1_000_000, usize::MAX, 2, 2), "nobody looked");
        assert!(is_trusted(1_000_000, 20, 2, 200_000));
        assert!(!is_trusted(1_000_000, 20, 2, 300_000));
        assert!(is_trusted(960, 20, 2, 200));
        assert!(!is_trusted(960, 20, 2, 250));
        assert!(!is_trusted(960, 500, 2, 2));
        assert!(!is_trusted(192, 20, 2, 2));
    }

    #[test]
    fn machine_errors_are_distinguished() {
        let check = |errno: Errno, expect: bool| {
            assert_eq!(Shortage::of(&errno.into()).is_some(), expect, "{errno:?}");
        };
        for errno in [
            Errno::MFILE,
            Errno::NFILE,
            Errno::AGAIN,
            Errno::NOMEM,
            Errno::NOBUFS,
        ] {
            check(errno, true);
        }
        check(Errno::CONNREFUSED, false);
        check(Errno::NOENT, false);
        assert!(Shortage::of(&io::Error::other("no")).is_none());
    }
}
