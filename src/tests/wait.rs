//! Waiting for programs, on however busy a machine.
//!
//! A test waits for an event and not for a time. What only a hang could make last is given [`LONG`]; a program that
//! has something to do before its time is over is given more of it until it could.

use std::path::Path;
use std::time::{Duration, Instant};

/// Far longer than anything takes that does not hang.
pub(crate) const LONG: Duration = Duration::from_mins(5);
/// How often to look.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let give_up = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < give_up, "waited in vain: {what}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Tries with this much time and, where that was too little for what has to happen first, with twice as much.
#[track_caller]
pub(crate) fn given_time<T>(first: Duration, mut attempt: impl FnMut(Duration) -> Option<T>) -> T {
    let mut time = first;
    loop {
        if let Some(done) = attempt(time) {
            return done;
        }
        assert!(time < LONG, "not even {time:?} is enough");
        time *= 2;
    }
}

/// Waits until the process is dead whose pid a file holds, and which runs in the file's folder. A zombie that nobody
/// reaps is in no folder any more, and a process that has its pid by now is in another.
#[track_caller]
pub(crate) fn until_dead(pid_file: &Path) {
    let pid = std::fs::read_to_string(pid_file).unwrap_or_default();
    assert!(!pid.is_empty(), "no pid in {}", pid_file.display());
    let folder = pid_file.parent().unwrap().canonicalize().unwrap();
    let place = Path::new("/proc").join(pid.trim()).join("cwd");
    until("the process is dead", || {
        std::fs::read_link(&place).map_or(true, |place| place != folder)
    });
}
