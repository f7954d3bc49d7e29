//! The next command after a run.

use std::fs::DirEntry;
use std::path::Path;

use crate::data::{Record, Status};
use crate::exit::Exit;
use crate::store::{DEFAULT_OUTPUT_ROOT, Manifest, RunDir};
use crate::system::project::display;
use crate::text::shell_word;
use crate::verdict::check::{NO_BASELINE_IN_CI, OTHER_JUDGE};
use crate::verdict::conclude::{FIX_HINT, Run};
use crate::verdict::result::{GateResult, Verdict};

/// The lines with the most useful next command.
pub(super) fn next(run: &Run) -> Vec<String> {
    let next = || command(run).map(|command| vec![format!("next: {command}")]);
    accept_for_ci(run).or_else(next).unwrap_or_default()
}

/// The most useful next command: for the worst problem, or to create the first baseline.
fn command(run: &Run) -> Option<String> {
    let dir = shell_word(&display(&run.dir));
    // Reads the folder of runs, so only if it is shown.
    let show = |id: &str| format!("cargo evaltest show {} {}", name(run), shell_word(id));
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
        let is_to_fix = reason.contains(FIX_HINT);
        let has_failed = |record: &&Record| {
            record.result.status.is_error() || record.result.is_failure_as_wrong()
        };
        if let Some(failed) = run.records.iter().find(has_failed).filter(|_| is_to_fix) {
            return Some(show_record(failed));
        }
        // Resuming would save nothing, or the agent will be changed first.
        if is_to_fix || !has_answers {
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
    // A baseline without a correct answer would never fail.
    let is_bad = failed || run.summary.correct == 0;
    if let Some(wrong) = run.records.iter().find(wrong).filter(|_| is_bad) {
        return Some(show_record(wrong));
    }
    let mut perturbed = run.summary.perturb.values();
    let wrong = perturbed.find_map(|figures| figures.became_wrong.first());
    if let Some(id) = wrong.filter(|_| failed) {
        return Some(show(id));
    }
    let is_unread = |record: &&Record| record.result.unjudged_beside().next().is_some();
    let mut unread = run.records.iter().filter(is_unread).peekable();
    let Some(first) = unread.peek().copied() else {
        let is_first =
            run.summary.gates.iter().any(GateResult::lacks_baseline) && !run.summary.partial;
        return is_first.then(|| match manifest(run) {
            // It cannot become a baseline.
            Some(manifest) if manifest.mixed => manifest.run_again(),
            _ => format!("cargo evaltest accept {}", name(run)),
        });
    };
    if unread.all(Record::waits_for_a_judge) && can_go_on(run) {
        return Some(resume());
    }
    Some(show_record(first))
}

/// To run the eval elsewhere, accept it there and commit its snapshots, if gates failed for the lack of them alone. The
/// directory of this run ends with the job.
fn accept_for_ci(run: &Run) -> Option<Vec<String>> {
    let mut records = run.records.iter();
    if run.stop_reason.is_some() || records.any(|record| record.result.status.is_error()) {
        return None;
    }
    let gates = run.summary.gates.iter();
    let mut failed = gates
        .filter(|gate| gate.verdict == Verdict::Failed)
        .peekable();
    failed.peek()?;
    let is_only_cause = failed.all(|gate| gate.message.starts_with(NO_BASELINE_IN_CI));
    let manifest =
        manifest(run).filter(|manifest| is_only_cause && manifest.whole && !manifest.mixed)?;
    let name = shell_word(&run.eval);
    let is_outside = manifest.spec.is_some() && manifest.spec_in_project.is_none();
    let again = if is_outside || is_path(&run.eval) {
        manifest.run_again_as(None)
    } else {
        format!("cargo evaltest run {name}")
    };
    Some(vec![
        format!("next, on your machine: {again} && cargo evaltest accept {name}"),
        format!("then commit {}", display(&manifest.snapshot_folder())),
    ])
}

/// The run as `show` takes it: the eval's name, if this is its last run in the usual folder, or else the run directory.
pub(super) fn name(run: &Run) -> String {
    let root = run.dir.parent();
    let own = run.dir.file_name().unwrap_or_default().to_string_lossy();
    let stamp = |name: &str| {
        name.split_once('_')
            .map_or("", |(stamp, _)| stamp)
            .to_owned()
    };
    let is_usual = root.is_some_and(|root| display(root) == DEFAULT_OUTPUT_ROOT);
    let of_eval = format!("_{}-", run.eval);
    let is_newer = |other: &DirEntry| {
        let name = other.file_name();
        let name = name.to_string_lossy();
        stamp(&name) > stamp(&own) && name.contains(&of_eval)
    };
    let others = root.into_iter().flat_map(std::fs::read_dir).flatten();
    let is_last = || !others.flatten().any(|other| is_newer(&other));
    if is_usual && !is_path(&run.eval) && is_last() {
        return shell_word(&run.eval);
    }
    shell_word(&display(&run.dir))
}

/// Whether a command would take the name of an eval for a path.
fn is_path(eval: &str) -> bool {
    eval.contains('/') || Path::new(eval).exists()
}

fn manifest(run: &Run) -> Option<Manifest> {
    RunDir::open(&run.dir).and_then(|dir| dir.manifest()).ok()
}

/// Whether it sent requests itself: a rescored run cannot be resumed.
fn can_go_on(run: &Run) -> bool {
    manifest(run).is_none_or(|manifest| manifest.parent.is_none())
}
