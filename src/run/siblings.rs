//! What the other parts of a run under nextest have taken of its limits. Each is a process of its own, which knows the
//! others by what they left in the folder of parts.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use crate::eval::limits::budget::UsedUp;
use crate::eval::limits::{Budget, Limits};
use crate::store::events;
use crate::store::files::JOURNAL;

/// Beside the parts, made by the first of them: its age is that of the run. No part has such a name.
const BEGUN: &str = "begun~";

/// What all parts beside this one have used up so far, and how long ago the first began, as far as there are limits to
/// hold against it. What cannot be read has taken nothing.
pub(super) fn so_far(part: &Path, limits: &Limits) -> (UsedUp, Duration) {
    let Some(folder) = part.parent() else {
        return (UsedUp::default(), Duration::ZERO);
    };
    let ago = limits.deadline.and_then(|_| age(folder));
    let mut spent = UsedUp::default();
    if limits.budget != Budget::default() {
        let parts = fs::read_dir(folder).into_iter().flatten().flatten();
        let journals = parts.map(|part| part.path().join(JOURNAL));
        for path in journals.filter(|path| path.is_file()) {
            let mut with_part = spent.clone();
            let read = events::each(&path, &mut |line| {
                with_part.add(&line.event);
                Ok(())
            });
            if read.is_ok() {
                spent = with_part;
            }
        }
    }
    (spent, ago.unwrap_or_default())
}

fn age(folder: &Path) -> Option<Duration> {
    let path = folder.join(BEGUN);
    // Only the first makes it; whoever opens it changes nothing.
    let mut options = File::options();
    let file = options.create(true).append(true).open(path).ok()?;
    file.metadata().ok()?.modified().ok()?.elapsed().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_other_parts_took_counts() {
        let folder = tempfile::tempdir().unwrap();
        let part = |name: &str, lines: &str| {
            let part = folder.path().join(name);
            fs::create_dir_all(&part).unwrap();
            fs::write(part.join("events.jsonl"), lines).unwrap();
            part
        };
        let started = |id: &str, index: u32| {
            format!(
                "{{\"sample_id\":\"{id}\",\"event_index\":{index},\"epoch\":0,\"attempt\":1,\"kind\":\"started\",\"time\":\"\"}}\n"
            )
        };
        part("a", &(started("a", 0) + &started("a", 1)));
        // One that was killed in the middle of a line.
        part("b", &(started("b", 0) + "{\"sample"));
        let own = part("c", "");
        let limits = Limits {
            budget: Budget {
                requests: Some(5),
                ..Budget::default()
            },
            ..Limits::default()
        };
        let (spent, ago) = so_far(&own, &limits);
        assert_eq!((spent.agent.requests, ago), (3, Duration::ZERO));
        assert_eq!(
            so_far(&own, &Limits::default()).0.agent.requests,
            0,
            "no budget"
        );
        let hurried = Limits {
            deadline: Some(Duration::from_secs(9)),
            ..Limits::default()
        };
        so_far(&own, &hurried);
        std::thread::sleep(Duration::from_millis(20));
        assert!(so_far(&own, &hurried).1 >= Duration::from_millis(20));
    }
}
