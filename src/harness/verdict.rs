//! From a record to the verdict of its test.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::data::{Normalized, Record, Status};
use crate::eval::Assert;
use crate::run::Session;
use crate::snapshot::update::Policy;
use crate::snapshot::{self, Content};
use crate::system::project::shown;
use crate::text::{clean, excerpt, shell_word};
use crate::verdict::poll;
use crate::verdict::result::{self, GateResult};

/// How a test ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TestVerdict {
    Passed,
    /// With the reason.
    Ignored(String),
    /// With the message.
    Failed(String),
}

/// The verdict on a gate.
pub(super) fn of_gate(gate: &GateResult, dir: &Path) -> TestVerdict {
    let message = format!("{}\nrun directory: {}", gate.message, shown(dir));
    match gate.verdict {
        result::Verdict::Passed => TestVerdict::Passed,
        result::Verdict::Ignored => TestVerdict::Ignored(clean(&gate.message)),
        result::Verdict::Failed => TestVerdict::Failed(message),
        result::Verdict::Inconclusive => TestVerdict::Failed(format!("inconclusive: {message}")),
    }
}

/// The verdict on a sample, all of whose epochs these are; it may ask a flipped one again.
pub(super) fn of_sample(
    session: &Session,
    place: usize,
    records: &[Record],
    policy: Policy,
) -> TestVerdict {
    let status = |record: &&Record| record.result.status;
    let mut all = records.iter();
    if all.any(|record| status(&record) == Status::Skipped) {
        if let Some(mistake) = session.untold_mistake() {
            return TestVerdict::Failed(mistake);
        }
        return TestVerdict::Ignored("not asked: the run stopped".to_owned());
    }
    if let Some(record) = records.iter().find(|record| status(record).is_error()) {
        return TestVerdict::Failed(infrastructure(session, record));
    }
    let Some(sample) = Asked::of(session, place, records) else {
        return TestVerdict::Ignored("not asked".to_owned());
    };
    let judged =
        match session.plan().eval.snapshot.assert {
            Assert::Correct if sample.content.correct == Some(false) => Ok(TestVerdict::Failed(
                wrong(session, sample.record, "is wrong"),
            )),
            Assert::Correct | Assert::Off => Ok(TestVerdict::Passed),
            Assert::Exact => exact(session, sample, policy),
            Assert::Baseline => baseline(session, sample, policy),
        };
    judged.unwrap_or_else(|error| TestVerdict::Failed(error.to_string()))
}

/// A sample that was answered in every epoch.
struct Asked<'a> {
    place: usize,
    /// The record of the first epoch that gave the majority's answer.
    record: &'a Record,
    /// Where its snapshot is, and what that would say now.
    path: PathBuf,
    content: Content,
    /// Epochs, and those that are correct.
    epochs: u32,
    correct: u64,
}

impl<'a> Asked<'a> {
    fn of(session: &Session, place: usize, records: &'a [Record]) -> Option<Self> {
        let eval = &session.plan().eval;
        let record = poll::representative(records)?;
        let content = |record: &Record| (record.epoch, Content::of(record, eval.masks_answers()));
        Some(Self {
            place,
            record,
            path: snapshot::path(&eval.snapshot.folder, &record.sample_id),
            content: Content::majority(records.iter().map(content).collect())?,
            epochs: eval.epochs,
            correct: poll::Poll::of(records).correct(),
        })
    }
}

fn exact(session: &Session, sample: Asked<'_>, policy: Policy) -> crate::Result<TestVerdict> {
    let Asked {
        record,
        path,
        content: new,
        ..
    } = sample;
    let old = Content::read(&path)?;
    if old.as_ref() == Some(&new) {
        return Ok(TestVerdict::Passed);
    }
    if policy.settle(&path, &record.sample_id, old.is_some(), &new)? {
        return Ok(TestVerdict::Passed);
    }
    let mut message = wrong(session, record, "differs from its snapshot");
    let _ = match old {
        Some(old) => write!(
            message,
            "\n  snapshot:\n{}\n  now:\n{}",
            old.text(),
            new.text()
        ),
        None => write!(message, "\n  there is no snapshot\n  now:\n{}", new.text()),
    };
    message.push_str("\n  accept it: cargo insta review, or a whole run: cargo evaltest accept");
    Ok(TestVerdict::Failed(message))
}

fn baseline(session: &Session, sample: Asked<'_>, policy: Policy) -> crate::Result<TestVerdict> {
    let Asked {
        record,
        path,
        content: new,
        ..
    } = sample;
    let old = Content::read(&path)?;
    let exists = old.is_some();
    // A snapshot of another question or of another ground truth says nothing about this one.
    let comparable = old
        .as_ref()
        .filter(|old| old.input_hash == new.input_hash && old.target_hash == new.target_hash);
    let is_wrong = new.correct == Some(false);
    let title = match comparable {
        Some(old) if old.correct == Some(true) && is_wrong => {
            "was correct in the baseline and is wrong now"
        }
        None if is_wrong && exists => {
            "is wrong, and its question or ground truth changed since the baseline"
        }
        None if is_wrong => "is wrong, and has no snapshot to compare with",
        _ => {
            if policy.writes(exists) && old.as_ref() != Some(&new) {
                new.write(&path, &record.sample_id)?;
            }
            return Ok(TestVerdict::Passed);
        }
    };
    // Each epoch has confirmed the others already.
    let mut answers = sample.epochs;
    let mut outages = Vec::new();
    if comparable.is_some() {
        if sample.correct > 0 {
            return Ok(TestVerdict::Passed);
        }
        for _ in sample.epochs..=confirmations(session) {
            if session.is_stopped() {
                break;
            }
            match session.confirm(sample.place) {
                Ok(again) if again.result.is_correct() => return Ok(TestVerdict::Passed),
                Ok(again) if again.result.status == Status::Scored => answers += 1,
                // An outage confirms nothing.
                Ok(again) => outages.push(again.result.status.as_str().to_owned()),
                Err(error) => outages.push(error.message),
            }
        }
    }
    if answers == 1
        && let Some(outage) = outages.first()
    {
        let reason = format!(
            "infrastructure: {title}, which could not be confirmed: {}",
            excerpt(outage)
        );
        return Ok(TestVerdict::Failed(reason + &more(session, record)));
    }
    if policy.settle(&path, &record.sample_id, exists, &new)? {
        return Ok(TestVerdict::Passed);
    }
    let mut message = wrong(session, record, title);
    if answers > 1 {
        let _ = write!(message, "\n  asked {answers} times, wrong each time");
    }
    if comparable.is_none() {
        message.push_str("\n  make this run the baseline: cargo evaltest accept");
    }
    Ok(TestVerdict::Failed(message))
}

/// How often a flip is asked again.
fn confirmations(session: &Session) -> u32 {
    let eval = &session.plan().eval;
    if eval.agent.is_deterministic() {
        0
    } else {
        eval.snapshot.confirm
    }
}

fn infrastructure(session: &Session, record: &Record) -> String {
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

fn wrong(session: &Session, record: &Record, title: &str) -> String {
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
        if let Normalized::Text(text) = &score.normalized_prediction {
            let _ = write!(message, "\n  compared: {}", excerpt(text));
        }
        let _ = write!(message, "\n  reason: {}", clean(&score.reason));
    }
    message + &more(session, record)
}

fn more(session: &Session, record: &Record) -> String {
    let id = shell_word(&record.sample_id);
    if session.is_part() {
        // This sample's own folder is gone once the gates have put all of them together.
        let root = shown(&session.plan().eval.output_folder());
        return format!("\n  more: cargo evaltest show RUN_DIR {id}, the newest in {root}");
    }
    let dir = shell_word(&shown(session.dir().path()));
    format!("\n  more: cargo evaltest show {dir} {id}")
}
