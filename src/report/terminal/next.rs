//! The next command after a run.

use std::path::Path;

use crate::data::{Record, Status};
use crate::exit::Exit;
use crate::store::{Manifest, RunDir};
use crate::system::project::display;
use crate::text::shell_word;
use crate::verdict::check::OTHER_JUDGE;
use crate::verdict::conclude::{FIX_HINT, Run};
use crate::verdict::result::Verdict;

/// The most useful next command: for the worst problem, or to create the first baseline.
pub(super) fn next(run: &Run) -> Option<String> {
    let dir = shell_word(&display(&run.dir));
    let show = |id: &str| format!("cargo evaltest show {dir} {}", shell_word(id));
    let show_record = |record: &Record| {
        let epoch = match record.epoch {
            0 => String::new(),
            epoch => format!(" --epoch {epoch}"),
        };
        show(&record.sample_id) + &epoch
    };
    let resume = || format!("cargo evaltest run --resume {dir}");
    if let Some(reason) = &run.stop_reason {
        // If a judge stopped the run, there are answers.
        let has_answers = run.summary.has_answers() || reason.starts_with("judge `");
        // Resuming would save nothing, or the agent will be changed first.
        if reason.contains(FIX_HINT) || !has_answers {
            let again = manifest(run).map(|manifest| manifest.run_again());
            return Some(again.unwrap_or_else(|| "cargo evaltest run".to_owned()));
        }
        return Some(resume());
    }
    if run.summary.part.is_some() && run.summary.exit_code == Exit::Passed {
        // Errors are reported by the merge, too.
        let root = run.dir.parent().map(display).unwrap_or_default();
        return Some(format!("cargo evaltest merge {}", shell_word(&root)));
    }
    let is_error = |record: &&Record| record.result.status.is_error();
    let mut errors = run.records.iter().filter(is_error).peekable();
    if let Some(first) = errors.peek().copied() {
        if errors.all(Record::waits_for_a_judge) && can_go_on(run) {
            return Some(resume());
        }
        return Some(show_record(first));
    }
    let mut gates = run.summary.gates.iter();
    if gates.any(|gate| gate.verdict == Verdict::Inconclusive && gate.message.contains(OTHER_JUDGE))
    {
        return Some(format!(
            "pin the version of the judge's model in the spec, or accept this run: cargo evaltest accept {dir}"
        ));
    }
    if let Some(flip) = run.flips.iter().find(|flip| flip.worse) {
        return Some(show(&flip.id));
    }
    if let Some(id) = run.failed_assertions.first() {
        return Some(show(id));
    }
    let failed = run
        .summary
        .gates
        .iter()
        .any(|gate| gate.verdict == Verdict::Failed);
    let wrong =
        |record: &&Record| record.result.status == Status::Scored && !record.result.is_correct();
    if let Some(wrong) = run.records.iter().find(wrong).filter(|_| failed) {
        return Some(show_record(wrong));
    }
    let mut perturbed = run.summary.perturb.values();
    let wrong = perturbed.find_map(|figures| figures.became_wrong.first());
    if let Some(id) = wrong.filter(|_| failed) {
        return Some(show(id));
    }
    let is_unread = |record: &&Record| record.result.unjudged_beside().next().is_some();
    let mut unread = run.records.iter().filter(is_unread).peekable();
    let first = unread.peek().copied()?;
    if unread.all(Record::waits_for_a_judge) && can_go_on(run) {
        return Some(resume());
    }
    Some(show_record(first))
}

/// Inserts the run directory into the commands of a message.
pub(super) fn in_run(message: &str, dir: &Path) -> String {
    let dir = shell_word(&display(dir));
    ["run --resume", "rescore", "show", "judge calibrate"]
        .into_iter()
        .fold(message.to_owned(), |message, command| {
            let general = format!("cargo evaltest {command} RUN_DIR");
            message.replace(&general, &format!("cargo evaltest {command} {dir}"))
        })
}

fn manifest(run: &Run) -> Option<Manifest> {
    RunDir::open(&run.dir).and_then(|dir| dir.manifest()).ok()
}

/// Whether it sent requests itself: a rescored run cannot be resumed.
fn can_go_on(run: &Run) -> bool {
    manifest(run).is_none_or(|manifest| manifest.parent.is_none())
}
