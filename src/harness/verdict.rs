//! The verdicts of tests, from records and from gates.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::flip::{Change, FlipWatch, SampleVerdict};
use super::message;
use crate::data::{Record, Status};
use crate::error::Result;
use crate::eval::Assert;
use crate::run::Session;
use crate::snapshot::{self, Content, EpochContent, SampleContent, SnapshotHeader, assertion};
use crate::system::project::display;
use crate::text::{clean, excerpt};
use crate::verdict::baseline::flipped;
use crate::verdict::conclude::Run;
use crate::verdict::poll;
use crate::verdict::result::{self, GateResult};

/// How a test ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TestVerdict {
    Passed,
    /// It passed, with a notice.
    PassedWithNote(Note),
    /// With the reason.
    Ignored(String),
    /// With the message.
    Failed(String),
}

/// A notice about a sample that passed. libtest has no place for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) id: String,
    /// Equal for samples with the same notice.
    pub(super) what: String,
}

/// The verdict on a gate.
pub(super) fn of_gate(gate: &GateResult, dir: &Path) -> TestVerdict {
    let message = format!("{}\nrun directory: {}", gate.message, display(dir));
    match gate.verdict {
        result::Verdict::Passed => TestVerdict::Passed,
        result::Verdict::Ignored => TestVerdict::Ignored(clean(&gate.message)),
        result::Verdict::Failed => TestVerdict::Failed(message),
        result::Verdict::Inconclusive => TestVerdict::Failed(format!("inconclusive: {message}")),
    }
}

/// The verdict on a gate of a finished run. It does not cover a run that stopped.
pub(super) fn of_gate_in(run: &Run, place: usize) -> TestVerdict {
    let Some(gate) = run.summary.gates.get(place) else {
        return TestVerdict::Failed("infrastructure: the run lacks the gate".to_owned());
    };
    match (interruption(run), of_gate(gate, &run.dir)) {
        (Some(reason), TestVerdict::Passed) => {
            TestVerdict::Failed(format!("infrastructure: the run stopped: {reason}"))
        }
        (Some(reason), TestVerdict::Failed(message)) => TestVerdict::Failed(format!(
            "infrastructure: the run stopped: {reason}\n{message}"
        )),
        (_, verdict) => verdict,
    }
}

/// Why a run did not ask everything it should have.
pub(super) fn interruption(run: &Run) -> Option<String> {
    let reason = run.stop_reason.as_deref()?;
    (run.summary.skipped > 0).then(|| excerpt(reason))
}

/// A sample that was answered in every epoch.
pub(super) struct SampleAnswers<'a> {
    pub(super) place: usize,
    /// The record of the first epoch with the majority's answer.
    pub(super) record: &'a Record,
    /// The path of its snapshot, and the content it would have now.
    path: PathBuf,
    content: SampleContent,
    /// The verdict on each answer, in the order of epochs.
    answers: Vec<Option<bool>>,
    /// The number of epochs, and of correct ones.
    pub(super) epochs: u32,
    pub(super) correct: u64,
}

impl<'a> SampleAnswers<'a> {
    pub(super) fn of(session: &Session, place: usize, records: &'a [Record]) -> Option<Self> {
        let eval = &session.plan().eval;
        let record = poll::representative(records)?;
        let content = |record: &Record| EpochContent::of(record, session.plan().stored_parts());
        let verdict = |record: &Record| {
            let outcome = &record.result;
            (outcome.status == Status::Scored).then(|| outcome.is_correct())
        };
        Some(Self {
            place,
            record,
            path: snapshot::path(&eval.snapshot.folder, &record.sample_id),
            content: SampleContent::majority(records.iter().map(content).collect())?,
            answers: records.iter().map(verdict).collect(),
            epochs: eval.epochs,
            correct: poll::Poll::of(records).correct(),
        })
    }

    /// The header of its snapshot. The record's prompt is only on disk.
    fn header(&self, session: &Session) -> Result<SnapshotHeader> {
        let plan = session.plan();
        let question = plan.items[self.place].sample()?.prompt;
        let question = plan.redactor.text(&question, &mut 0);
        let is_masked = plan.eval.masks_answers();
        Ok(SnapshotHeader::with_question(
            self.record,
            &question,
            is_masked,
        ))
    }
}

/// The verdict on a sample whose calls of models were replayed: the baseline is of other answers of the models.
fn not_compared(sample: &SampleAnswers<'_>) -> TestVerdict {
    if sample.content.content.correct != Some(false) {
        return TestVerdict::Passed;
    }
    TestVerdict::PassedWithNote(Note {
        id: sample.record.sample_id.clone(),
        what: "wrong and not compared, because model calls were replayed".to_owned(),
    })
}

impl FlipWatch<'_> {
    /// The verdict on a sample with all of its epochs; may ask a flipped one again.
    pub(super) fn of_sample(&self, place: usize, records: &[Record]) -> SampleVerdict {
        let session = self.session;
        let status = |record: &&Record| record.result.status;
        let mut all = records.iter();
        if all.any(|record| status(&record) == Status::Skipped) {
            let mistake = session.unreported_mistake().map(TestVerdict::Failed);
            let verdict = mistake.unwrap_or_else(|| message::not_run(session));
            return verdict.into();
        }
        if let Some(record) = records.iter().find(|record| status(record).is_error()) {
            return TestVerdict::Failed(message::infrastructure(session, record)).into();
        }
        let Some(sample) = SampleAnswers::of(session, place, records) else {
            return TestVerdict::Ignored("not asked".to_owned()).into();
        };
        let judged = match session.plan().eval.snapshot.assert {
            Assert::Correct if sample.content.content.correct == Some(false) => {
                let message = message::wrong(session, sample.record, "is wrong");
                return TestVerdict::Failed(message).into();
            }
            Assert::Correct | Assert::Off => return TestVerdict::Passed.into(),
            Assert::Exact => self.exact(&sample).map(Into::into),
            Assert::Baseline if records.iter().any(|record| record.result.recorded) => {
                return not_compared(&sample).into();
            }
            Assert::Baseline => self.baseline(&sample),
        };
        judged.unwrap_or_else(|error| TestVerdict::Failed(error.to_string()).into())
    }

    fn exact(&self, sample: &SampleAnswers<'_>) -> Result<TestVerdict> {
        let header = sample.header(self.session)?;
        let Some(difference) = assertion::exact(&sample.path, &sample.content, &header)? else {
            return Ok(TestVerdict::Passed);
        };
        let mut message = message::wrong(self.session, sample.record, difference.title());
        for line in difference.display.lines() {
            let _ = write!(message, "\n  {}", clean(line));
        }
        let _ = write!(message, "\n  accept it: {}", assertion::ACCEPT);
        Ok(TestVerdict::Failed(message))
    }

    fn baseline(&self, sample: &SampleAnswers<'_>) -> Result<SampleVerdict> {
        if self.is_as_good(sample) {
            return Ok(TestVerdict::Passed.into());
        }
        let old = Content::read(&sample.path)?;
        let exists = old.is_some();
        let is_same = old
            .as_ref()
            .is_some_and(|old| sample.content.asserted(old) == *old);
        // A snapshot of another question or ground truth says nothing about this one.
        let comparable = old.filter(|old| old.is_of(sample.record));
        let Some(before) = comparable.map(Content::into_sample) else {
            return Ok(self.without_snapshot(sample, exists)?.into());
        };
        if flipped(&before.answers, &sample.answers) == Some(true) {
            return self.of_flip(sample, &before.answers, self.change(sample, exists)?);
        }
        if is_same {
            return Ok(TestVerdict::Passed.into());
        }
        let change = self.change(sample, exists)?;
        Ok(change.pass(TestVerdict::Passed)?.into())
    }

    /// Whether the baseline, which was read when the run began, has the sample and it is no worse now. Then its snapshot
    /// need not be opened again, unless it may have to be written.
    fn is_as_good(&self, sample: &SampleAnswers<'_>) -> bool {
        let baseline = self.session.plan().baseline.as_ref();
        let before = baseline.and_then(|baseline| baseline.sample_of(sample.record));
        let is_worse = |before: &[Option<bool>]| flipped(before, &sample.answers) == Some(true);
        !self.policy.writes(false) && before.is_some_and(|before| !is_worse(before.answers()))
    }

    /// The verdict on a sample that cannot be compared. With a baseline it is a new one. Without a baseline, an eval's
    /// own gates decide; an eval without gates must still be able to fail.
    fn without_snapshot(&self, sample: &SampleAnswers<'_>, exists: bool) -> Result<TestVerdict> {
        let change = self.change(sample, exists)?;
        if sample.content.content.correct != Some(false) {
            return change.pass(TestVerdict::Passed);
        }
        if self.has_baseline {
            let what = if exists {
                "wrong and not compared, because question or ground truth changed since the baseline"
            } else {
                "wrong and not compared, because the baseline lacks it"
            };
            let id = change.header.id.clone();
            return change.pass(TestVerdict::PassedWithNote(Note {
                id,
                what: what.to_owned(),
            }));
        }
        if self.session.plan().eval.has_own_gates() {
            return change.pass(TestVerdict::Passed);
        }
        let title = "is wrong and has no snapshot to compare with";
        let message = message::wrong(self.session, sample.record, title);
        change.fail(message + "\n  make this run the baseline: cargo evaltest accept")
    }

    fn change(&self, sample: &SampleAnswers<'_>, exists: bool) -> Result<Change> {
        Ok(Change {
            header: sample.header(self.session)?,
            path: sample.path.clone(),
            exists,
            now: sample.content.content.clone(),
            policy: self.policy,
        })
    }
}
