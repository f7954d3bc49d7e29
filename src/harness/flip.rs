//! What happens to a sample that was correct in the baseline and is wrong now: `snapshot.flips`.
//!
//! A flaky agent has such samples in every run, as many as became right. Failing each of them makes an unchanged agent
//! red in nearly every run, and asking again does so in most (see [`Flips`]). Only a gate, which sees both directions,
//! can tell whether there are too many; so `no_regression` gates decide about the samples of their slice. Two cases
//! fail without a gate: an agent that declares itself deterministic, and a sample that was right in every answer of a
//! baseline of [`MANY`] or more, and is wrong now and each time that it is asked again.

use std::fmt::Write;
use std::path::PathBuf;

use super::message;
use super::verdict::{Note, SampleAnswers, TestVerdict, interruption};
use crate::data::{Record, Status};
use crate::error::Result;
use crate::eval::Flips;
use crate::run::Session;
use crate::snapshot::Policy;
use crate::snapshot::{Content, SnapshotHeader};
use crate::text::{clean, excerpt};
use crate::verdict::check::ServedJudges;
use crate::verdict::conclude::Run;
use crate::verdict::result::{GateResult, Verdict};

/// This many answers, all of them right, are more than luck.
const MANY: usize = 5;

/// How often a flip is asked again before it fails, by default.
const CONFIRM: u32 = 2;
/// The same for a sample that was always right, if otherwise the gates would decide.
const CONFIRM_ALONE: u32 = 10;

const TITLE: &str = "was correct in the baseline and is wrong now";

/// The verdict on a sample after it was asked.
pub(super) enum SampleVerdict {
    /// The test's final result.
    Closed(TestVerdict),
    /// The gates decide.
    Open(Box<OpenFlip>),
}

impl From<TestVerdict> for SampleVerdict {
    fn from(verdict: TestVerdict) -> Self {
        Self::Closed(verdict)
    }
}

/// What a verdict on a sample depends on besides its records.
pub(super) struct FlipWatch<'a> {
    pub(super) session: &'a Session,
    pub(super) policy: Policy,
    /// Whether there is a baseline, which may lack the sample.
    pub(super) has_baseline: bool,
    /// Why no gate is asked, if known.
    pub(super) no_gate: Option<String>,
}

/// A flip that waits for the gates.
pub(super) struct OpenFlip {
    /// The places of its gates in the eval.
    gates: Vec<usize>,
    /// The message if its test fails, without the gate's part.
    message: String,
    change: Change,
}

/// A snapshot whose content would change.
pub(super) struct Change {
    /// Its header, with the sample's id.
    pub(super) header: SnapshotHeader,
    pub(super) path: PathBuf,
    /// Whether the snapshot exists.
    pub(super) exists: bool,
    pub(super) now: Content,
    pub(super) policy: Policy,
}

impl Change {
    /// Fails with this message, unless insta's variables say otherwise.
    pub(super) fn fail(&self, message: String) -> Result<TestVerdict> {
        let Self {
            path, now, header, ..
        } = self;
        if self.policy.resolve(path, self.exists, now, header)? {
            return Ok(TestVerdict::Passed);
        }
        Ok(TestVerdict::Failed(message))
    }

    /// Passes; rewrites the snapshot if insta's variables say so.
    pub(super) fn pass(&self, verdict: TestVerdict) -> Result<TestVerdict> {
        if self.policy.writes(self.exists) {
            self.now.write_alone(&self.path, &self.header)?;
        }
        Ok(verdict)
    }
}

impl OpenFlip {
    /// The verdict once the run is over.
    pub(super) fn close(&self, run: &Run) -> TestVerdict {
        if let Some(reason) = interruption(run) {
            return TestVerdict::Failed(format!(
                "infrastructure: the run stopped before a gate could decide whether this is chance: {reason}\n{}",
                self.message
            ));
        }
        let gates = self.gates.iter();
        let gates: Vec<_> = gates
            .filter_map(|place| run.summary.gates.get(*place))
            .collect();
        let failed = gates.iter().find(|gate| gate.verdict == Verdict::Failed);
        let verdict = if let Some(gate) = failed {
            let line = line(gate);
            let message = format!("{}\n  gate: {line}", self.message);
            self.change.fail(message)
        } else {
            let lines: Vec<_> = gates.into_iter().map(line).collect();
            self.noted(&lines.join("; "))
        };
        verdict.unwrap_or_else(|error| TestVerdict::Failed(error.to_string()))
    }

    /// The verdict if the test cannot wait for the end of the run.
    pub(super) fn leave_to_gates(&self) -> TestVerdict {
        let noted = self.noted("the gate decides, and it is not among the selected tests");
        noted.unwrap_or_else(|error| TestVerdict::Failed(error.to_string()))
    }

    fn noted(&self, why: &str) -> Result<TestVerdict> {
        self.change.pass(TestVerdict::PassedWithNote(Note {
            id: self.change.header.id.clone(),
            what: format!("correct in the baseline and wrong now, passed: {why}"),
        }))
    }
}

/// A gate's result, in one line.
fn line(gate: &GateResult) -> String {
    let first = gate.message.lines().next().unwrap_or_default();
    clean(&format!("{}: {first}", gate.gate.name()))
}

/// The result of asking again.
struct Confirmation {
    /// Whether an answer was right, which ends the asking.
    was_right: bool,
    /// Wrong answers, including those of the run.
    wrong: u32,
    /// Why one request has no answer.
    outage: Option<String>,
}

impl FlipWatch<'_> {
    /// The verdict on a sample that became wrong since the baseline.
    pub(super) fn of_flip(
        &self,
        sample: &SampleAnswers<'_>,
        before: &[Option<bool>],
        change: Change,
    ) -> Result<SampleVerdict> {
        let eval = &self.session.plan().eval;
        let gates = self.gates_of(sample.record);
        let says = |why: &str| {
            let message = message::wrong(self.session, sample.record, TITLE);
            message + &why.replace('\n', "\n  ")
        };
        match eval.snapshot.flips {
            Flips::Fail => return Ok(change.fail(says(""))?.into()),
            Flips::Gate if !gates.is_empty() && self.no_gate.is_none() => {}
            Flips::Gate | Flips::Confirm => {
                let gated = self.no_gate.as_ref().filter(|_| !gates.is_empty());
                return Ok(self.confirmed(sample, &change, says, gated)?.into());
            }
        }
        let is_own = !self.has_judge_changed(sample.record);
        if eval.agent.is_deterministic() && is_own {
            let message = says("\nthe agent is declared deterministic, so this is not chance");
            return Ok(change.fail(message)?.into());
        }
        if sample.correct == 0
            && is_own
            && let Some(right) = always_right(before)
        {
            let times = eval.snapshot.confirm.unwrap_or(CONFIRM_ALONE);
            let again = self.ask_again(sample, times);
            if !again.was_right && again.wrong > times {
                let message = says(&format!(
                    "\ncorrect in all {right} answers of the baseline; asked {} times, wrong each time",
                    again.wrong
                ));
                return Ok(change.fail(message)?.into());
            }
        }
        Ok(SampleVerdict::Open(Box::new(OpenFlip {
            gates,
            message: says(""),
            change,
        })))
    }

    /// Whether the deciding judge is served by another model than in the baseline: then the judge may be what changed.
    fn has_judge_changed(&self, record: &Record) -> bool {
        let plan = self.session.plan();
        let is_secondary = plan.scorers.iter().skip(1);
        let is_secondary = |name: &str| is_secondary.clone().any(|scorer| scorer.name() == name);
        let served = ServedJudges::of_calls(&record.result.judged);
        let baseline = plan.baseline.as_ref();
        baseline.is_some_and(|baseline| served.other_than(baseline, is_secondary).is_some())
    }

    /// The places of the `no_regression` gates whose slice contains the sample.
    fn gates_of(&self, record: &Record) -> Vec<usize> {
        let gates = self.session.plan().eval.gates.iter().enumerate();
        let gates = gates.filter(|(_, gate)| gate.needs_baseline() && gate.covers(record));
        gates.map(|(place, _)| place).collect()
    }

    /// Fails unless a repeated answer is right. `no_gate` is why the deciding gates were not asked.
    fn confirmed(
        &self,
        sample: &SampleAnswers<'_>,
        change: &Change,
        says: impl Fn(&str) -> String,
        no_gate: Option<&String>,
    ) -> Result<TestVerdict> {
        let eval = &self.session.plan().eval;
        let no_gate = no_gate.map(|why| format!("no gate was evaluated: {why}"));
        let flaky = |how: &str| {
            change.pass(match &no_gate {
                None => TestVerdict::Passed,
                Some(no_gate) => TestVerdict::PassedWithNote(Note {
                    id: change.header.id.clone(),
                    what: format!("correct in the baseline and wrong now, but {how}; {no_gate}"),
                }),
            })
        };
        // The epochs have confirmed each other already.
        if sample.correct > 0 {
            return flaky("not in every epoch");
        }
        let times = if eval.agent.is_deterministic() {
            0
        } else {
            eval.snapshot.confirm.unwrap_or(CONFIRM)
        };
        let again = self.ask_again(sample, times);
        if again.was_right {
            return flaky("correct when asked again");
        }
        if again.wrong == 1
            && let Some(outage) = again.outage
        {
            let reason = format!(
                "infrastructure: {TITLE}, which could not be confirmed: {}",
                excerpt(&outage)
            );
            return Ok(TestVerdict::Failed(
                reason + &message::more(self.session, sample.record),
            ));
        }
        let mut why = String::new();
        if again.wrong > 1 {
            let _ = write!(why, "\nasked {} times, wrong each time", again.wrong);
        }
        if let Some(no_gate) = no_gate {
            let _ = write!(why, "\n{no_gate}");
        }
        change.fail(says(&why))
    }

    /// Asks a sample whose epochs are all wrong again, until there are `times + 1` wrong answers, or a right one.
    fn ask_again(&self, sample: &SampleAnswers<'_>, times: u32) -> Confirmation {
        let mut again = Confirmation {
            was_right: false,
            wrong: sample.epochs,
            outage: None,
        };
        for _ in sample.epochs..=times {
            if self.session.is_stopped() {
                break;
            }
            match self.session.confirm(sample.place) {
                Ok(record) if record.result.is_correct() => {
                    again.was_right = true;
                    break;
                }
                Ok(record) if record.result.status == Status::Scored => again.wrong += 1,
                // An outage confirms nothing.
                Ok(record) => again.outage = Some(record.result.status.as_str().to_owned()),
                Err(error) => again.outage = Some(error.message),
            }
        }
        again
    }
}

/// The number of answers, if there are many and all are right.
fn always_right(answers: &[Option<bool>]) -> Option<usize> {
    let mut verdicts = answers.iter().flatten();
    let count = verdicts.clone().count();
    (count >= MANY && verdicts.all(|right| *right)).then_some(count)
}

#[cfg(test)]
mod tests;
