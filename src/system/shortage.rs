//! `Shortage`: this machine has no descriptor, process or memory left; and how its descriptors are shared out.
//!
//! A run at the edge of what its machine gives must still write down what it was told. So whoever is about to open
//! something for an agent (pipes, a connection) asks for [`room`] first, which leaves some descriptors for the run's own
//! files.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::AsRawFd;

/// Descriptors that are kept for the run's own files, where there are enough.
const OWN: usize = 64;
/// What systems without a largest number take as one: macOS refuses more than it says in `OPEN_MAX`.
const MODEST: u64 = 10_240;

/// What this machine has no more of, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shortage(String);

/// The limits of descriptors before and after they were raised.
struct Limits {
    #[cfg_attr(
        not(all(target_os = "linux", not(evaltest_portable))),
        expect(dead_code, reason = "there no process can change another's limits")
    )]
    before: Rlimit,
    most: Option<usize>,
}

static LIMITS: LazyLock<Limits> = LazyLock::new(raised);
/// Descriptors that are about to be opened.
static CLAIMED: AtomicUsize = AtomicUsize::new(0);
/// How often there was a claim.
static CLAIMS: AtomicUsize = AtomicUsize::new(0);
/// How many descriptors were open when that was last looked at.
static SEEN: AtomicUsize = AtomicUsize::new(0);
/// Where there is room for so many more, each of so many claims is taken on trust.
const TRUSTED: (usize, usize) = (512, 32);

/// Room for descriptors that are about to be opened. Held until they are.
#[derive(Debug)]
pub(crate) struct Room(usize);

impl Shortage {
    /// What the error of a call says, if it is one of a shortage.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        let is_short = matches!(
            Errno::from_io_error(error)?,
            Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM | Errno::NOBUFS
        );
        is_short.then(|| Self(error.to_string()))
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Shortage {}

impl Drop for Room {
    fn drop(&mut self) {
        CLAIMED.fetch_sub(self.0, Ordering::SeqCst);
    }
}

/// Raises the soft limit of descriptors to the hard one, once, and gives how many this process may have; `None` where
/// there is no limit.
pub(crate) fn most_descriptors() -> Option<usize> {
    LIMITS.most
}

/// How many threads may each have a file or two open beside what is kept for the run.
pub(crate) fn most_threads() -> usize {
    most_descriptors().map_or(usize::MAX, |most| ((most - own(most)) / 2).max(1))
}

/// Room for so many descriptors more, which somebody else keeps for as long as he likes.
pub(crate) fn room(count: usize) -> Result<Room, Shortage> {
    claim(count, own)
}

/// Room for so many files that are closed in a moment. There is some when there is none for anything else.
pub(crate) fn room_for_files(count: usize) -> Result<Room, Shortage> {
    claim(count, |most| own(most) / 2)
}

/// Claims so many descriptors, unless fewer than `kept` of all would be left.
fn claim(count: usize, kept: impl Fn(usize) -> usize) -> Result<Room, Shortage> {
    let most = most_descriptors();
    let claimed = CLAIMED.fetch_add(count, Ordering::SeqCst) + count;
    let room = Room(count);
    let Some(most) = most else { return Ok(room) };
    let (ample, claims) = TRUSTED;
    let seen = SEEN.load(Ordering::Relaxed);
    let is_ample = seen.saturating_add(claimed + kept(most) + ample) < most;
    if !CLAIMS
        .fetch_add(1, Ordering::Relaxed)
        .is_multiple_of(claims)
        && is_ample
    {
        return Ok(room);
    }
    // The system gives the lowest number that is free, so at most so many are open.
    let open = fcntl_dupfd_cloexec(rustix::stdio::stderr(), 0);
    let open = open.map_err(|error| Shortage(io::Error::from(error).to_string()))?;
    let open = usize::try_from(open.as_raw_fd()).unwrap_or(usize::MAX);
    SEEN.store(open, Ordering::Relaxed);
    if open.saturating_add(claimed) > most - kept(most) {
        return Err(Shortage(format!(
            "{most} files may be open at once (`ulimit -n`), and too few are left"
        )));
    }
    Ok(room)
}

/// Gives a program that was started the limit that this one was given: some make lists of all descriptors that there
/// may be.
#[cfg(all(target_os = "linux", not(evaltest_portable)))]
pub(crate) fn pass_on(child: u32) {
    use rustix::process::{Pid, prlimit};

    let before = LIMITS.before;
    let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|_| before != getrlimit(Resource::Nofile)) {
        // It may be gone already.
        let _ = prlimit(Some(pid), Resource::Nofile, before);
    }
}

/// The same, where one process cannot change another: it keeps the raised limit.
#[cfg(not(all(target_os = "linux", not(evaltest_portable))))]
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

/// What is kept for the run's own files of so many.
fn own(most: usize) -> usize {
    OWN.min(most / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_claimed_is_given_back_and_too_much_is_refused() {
        let Some(most) = most_descriptors() else {
            return;
        };
        assert!(room(most).is_err());
        assert!(room(most).is_err(), "what was refused is not kept");
        assert!(room(4).is_ok());
    }

    #[test]
    fn errors_of_the_machine_are_told_from_others() {
        let check = |errno: Errno, expect: bool| {
            assert_eq!(Shortage::of(&errno.into()).is_some(), expect, "{errno:?}");
        };
        for errno in [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM] {
            check(errno, true);
        }
        check(Errno::CONNREFUSED, false);
        check(Errno::NOENT, false);
        assert!(Shortage::of(&io::Error::other("no")).is_none());
    }
}
