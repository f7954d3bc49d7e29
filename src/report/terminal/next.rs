//! What to type after a run.

use crate::data::{Record, Status};
use crate::store::RunDir;
use crate::system::project::shown;
use crate::text::shell_word;
use crate::verdict::result::Verdict;
use crate::verdict::run::{MEND, Run};

/// The one command to type next: for what is worst, or to make a first baseline.
pub(super) fn next(run: &Run) -> Option<String> {
    let dir = shell_word(&shown(&run.dir));
    let show = |id: &str| format!("cargo evaltest show {dir} {}", shell_word(id));
    let show_record = |record: &Record| {
        let epoch = match record.epoch {
            0 => String::new(),
            epoch => format!(" --epoch {epoch}"),
        };
        show(&record.sample_id) + &epoch
    };
    if let Some(reason) = &run.stop_reason {
        // Whom a judge is asked about was answered.
        let has_answers = run.summary.has_answers() || reason.starts_with("judge `");
        // Nothing would be saved, and an agent that is mended is another one.
        if reason.contains(MEND) || !has_answers {
            let manifest = RunDir::open(&run.dir).and_then(|dir| dir.manifest()).ok();
            let again = manifest.map(|manifest| manifest.run_again());
            return Some(again.unwrap_or_else(|| "cargo evaltest run".to_owned()));
        }
        return Some(format!("cargo evaltest run --resume {dir}"));
    }
    let error = run
        .records
        .iter()
        .find(|record| record.result.status.is_error());
    if let Some(record) = error {
        return Some(show_record(record));
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
    let wrong = run.records.iter().find(wrong);
    let unread = |record: &&Record| record.result.unjudged_beside().next().is_some();
    let unread = || run.records.iter().find(unread);
    let wrong = failed.then_some(wrong).flatten();
    wrong.or_else(unread).map(show_record)
}
