//! Waiting for programs, on however busy a machine.
//!
//! A test waits for an event and not for a time. What only a hang could make last is given [`LONG`]; a run whose
//! samples have something to do before their time is over is given more of it until they could.

use std::time::{Duration, Instant};

use crate::project::Project;

/// Far longer than anything takes that does not hang. What hangs lasts longer.
pub(crate) const LONG: Duration = Duration::from_mins(5);

/// Waits for something.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Tries with so many seconds and, where they were too few for what has to happen first, with twice as many.
#[track_caller]
pub(crate) fn given_time<T>(first: f64, mut attempt: impl FnMut(f64) -> Option<T>) -> T {
    let mut seconds = first;
    loop {
        if let Some(done) = attempt(seconds) {
            return done;
        }
        assert!(seconds < 100.0, "not even {seconds} s are enough");
        seconds *= 2.0;
    }
}

/// The samples of the last run that ran out of time, in dataset order.
pub(crate) fn late(project: &Project) -> Vec<String> {
    let records = project.last_lines("samples.jsonl");
    let late = records.iter().filter(|record| {
        let result = &record["result"];
        result["error"]["kind"] == "timed_out"
    });
    late.map(|record| record["sample_id"].as_str().unwrap().to_owned())
        .collect()
}

/// A `sleep` of this test process, the only one of its number, that outlasts [`LONG`].
pub(crate) fn nap(number: u32) -> String {
    format!("988.{:07}{number:02}", std::process::id())
}
