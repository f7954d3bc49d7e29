//! The messages of a sample's failed test.

use std::fmt::Write;

use super::verdict::TestVerdict;
use crate::data::{Normalized, Record, display_prediction};
use crate::run::Session;
use crate::system::project::display;
use crate::text::{clean, excerpt, shell_word};

/// For a sample without an answer.
pub(super) fn infrastructure(session: &Session, record: &Record) -> String {
    let error = record.result.error.as_ref();
    let reason = error.map_or("no reason given", |error| error.message.as_str());
    let mut message = format!(
        "infrastructure: {}: {}",
        record.result.status.as_str(),
        excerpt(reason)
    );
    if let Some(tail) = error.and_then(|error| error.stderr_tail.as_deref()) {
        let lines: Vec<_> = tail.lines().collect();
        for line in &lines[lines.len().saturating_sub(10)..] {
            let _ = write!(message, "\n  stderr: {}", clean(line));
        }
    }
    if session.plan().eval.epochs > 1 {
        let _ = write!(message, "\n  epoch: {}", record.epoch);
    }
    let _ = write!(message, "\n  attempts: {}", record.result.attempts);
    message + &more(session, record)
}

/// For a sample that was not asked because the run ended.
pub(super) fn not_run(session: &Session) -> TestVerdict {
    if let Some(reason) = session.is_sure() {
        return TestVerdict::Ignored(reason);
    }
    let reason = session.stop_reason();
    let reason = reason.unwrap_or_else(|| "the run stopped".to_owned());
    TestVerdict::Failed(format!("infrastructure: not asked: {}", excerpt(&reason)))
}

/// For a sample with a wrong answer.
pub(super) fn wrong(session: &Session, record: &Record, title: &str) -> String {
    let answered = record.result.prediction.as_deref().unwrap_or("(nothing)");
    let mut message = format!("{} {title}", clean(&record.sample_id));
    let _ = write!(message, "\n  answered: {}", excerpt(answered));
    if session.plan().eval.masks_answers() {
        message.push_str("\n  expected: (not shown: `snapshot.answers` is `masked`)");
    } else {
        let truth = record.ground_truth.as_str().map(str::to_owned);
        let truth = truth.unwrap_or_else(|| record.ground_truth.to_string());
        let _ = write!(message, "\n  expected: {}", excerpt(&truth));
    }
    if let Some(error) = &record.result.error {
        let _ = write!(message, "\n  failed: {}", excerpt(&error.message));
    }
    if let Some(score) = &record.result.score {
        if let Normalized::Text(text) = display_prediction(score) {
            let _ = write!(message, "\n  compared: {}", excerpt(&text));
        }
        let _ = write!(message, "\n  reason: {}", clean(&score.reason));
    }
    message + &more(session, record)
}

/// Where to see more of it.
pub(super) fn more(session: &Session, record: &Record) -> String {
    let id = shell_word(&record.sample_id);
    if session.is_part() {
        // The sample's folder is gone once the gates have put all parts together.
        let root = display(&session.plan().eval.output_folder());
        return format!("\n  more: cargo evaltest show RUN_DIR {id}, the newest in {root}");
    }
    let dir = shell_word(&display(session.dir().path()));
    format!("\n  more: cargo evaltest show {dir} {id}")
}
