//! How much of the limits the other parts of a nextest run have used. Each is a process, which finds the others by
//! their files in the folder of parts. Variants of a spec, which share its budget, do the same.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use crate::eval::Eval;
use crate::eval::limits::budget::UsedUp;
use crate::eval::limits::{Budget, Limits};
use crate::run::session::options::RunOrigin;
use crate::store::files::JOURNAL;
use crate::store::{RunDir, journal, runs_in};
use crate::text;

/// A file next to the parts, made by the first of them: its age is that of the run. No part has such a name.
pub(in crate::run) const STARTED: &str = "begun~";

/// What all other parts have used up so far, and how long ago the first started, as far as there are limits to check.
/// Unreadable parts count as zero.
pub(in crate::run) fn so_far(part: &Path, limits: &Limits) -> (UsedUp, Duration) {
    let Some(folder) = part.parent() else {
        return (UsedUp::default(), Duration::ZERO);
    };
    let ago = limits.deadline.and_then(|_| age(folder));
    let mut spent = UsedUp::default();
    if limits.budget != Budget::default() {
        add_parts(folder, &mut spent);
    }
    (spent, ago.unwrap_or_default())
}

/// Reports what other variants of a spec used up outside this program: in their parts of the same test run, and in the
/// runs of the resumed command.
pub(in crate::run) fn report(eval: &Eval, origin: &RunOrigin, dir: &RunDir) {
    let has_budget = eval.limits.budget != Budget::default();
    let Some(shared_budget) = eval.shared_budget.as_ref().filter(|_| has_budget) else {
        return;
    };
    for other in shared_budget.others_of(&eval.name) {
        let mut spent = UsedUp::default();
        match origin {
            RunOrigin::Part(part) => {
                let Some(folder) = part.parent() else { return };
                add_parts(&folder.with_file_name(text::file_name(other)), &mut spent);
            }
            RunOrigin::Resume { .. } => add_runs(dir, other, &mut spent),
            _ => return,
        }
        shared_budget.report(other, spent.total());
    }
}

/// Adds what the parts in a folder used up.
fn add_parts(folder: &Path, spent: &mut UsedUp) {
    let parts = fs::read_dir(folder).into_iter().flatten().flatten();
    let journals = parts.map(|part| part.path().join(JOURNAL));
    for path in journals.filter(|path| path.is_file()) {
        add(&path, spent);
    }
}

/// Adds what an eval's other runs of the same command used up.
fn add_runs(dir: &RunDir, eval: &str, spent: &mut UsedUp) {
    let (Ok(own), Some(root)) = (dir.manifest(), dir.path().parent()) else {
        return;
    };
    for run in runs_in(root) {
        let is_sibling = run
            .manifest()
            .is_ok_and(|it| it.eval == eval && it.invocation == own.invocation);
        if is_sibling {
            add(&run.file(JOURNAL), spent);
        }
    }
}

/// Adds what a journal records, unless it cannot be read.
fn add(journal: &Path, spent: &mut UsedUp) {
    let mut with_it = spent.clone();
    let read = journal::each(journal, &mut |line| {
        with_it.add(&line.event);
        Ok(())
    });
    if read.is_ok() {
        *spent = with_it;
    }
}

fn age(folder: &Path) -> Option<Duration> {
    let path = folder.join(STARTED);
    // Only the first process creates it; opening it changes nothing.
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
        // A part killed in the middle of a line.
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
