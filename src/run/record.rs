//! `Ledger`: the state of a run, on disk and in memory.
//!
//! An answer is in the journal before anything that depends on it happens. Results go into the spool, from which the
//! records are written in dataset order at the end. Memory holds the positions of what an earlier part of the run left
//! in the journal, and a little of each open question. A record on disk is dropped from memory.
//!
//! There are two main locks: one for the journal, as a line may be a system call, and one for what changes with each
//! record.
//! Threads build the lines in parallel before locking; snapshots are read without a lock.

pub(crate) mod collected;
pub(crate) mod earlier;
pub(crate) mod files;
pub(crate) mod gathered;
pub(crate) mod readable;
pub(crate) mod reload;
pub(crate) mod repaired;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use super::ask::progress::{LONGEST_LINE, ProgressEntry, ProgressLog};
use super::judge::judges::{JudgeJournal, Subject};
use super::session::emitter::Emitter;
use super::session::options::RunOrigin;
use super::session::question::{CONFIRM, Question};
use super::session::stop::Stopper;
use crate::data::conversation::{AppendMessage as _, TalkJournal, TurnMessage};
use crate::data::{
    AgentError, FailureKind, JudgeCall, Outcome, Output, Record, RefusedAnswer, Status,
};
use crate::error::Result;
use crate::eval::Assert;
use crate::eval::limits::budget::UsedUp;
use crate::eval::plan::Plan;
use crate::report::event::Event;
use crate::scorer::{Reads, Scorer};
use crate::snapshot::{EpochContent, SampleContent};
use crate::store::files::{JOURNAL, SPOOL};
use crate::store::journal::past::{Answered, EarlierState, Foreign, Past};
use crate::store::journal::{EventLog, FoundJournal, Kind, StoredEvent};
use crate::store::records::{Spool, Spooled};
use crate::store::{Manifest, RunDir, RunStatus, journal};
use crate::system::lock;
use crate::system::process::excerpt::at_most;
use crate::system::project::display;
use crate::text::redact::Redactor;
use collected::Collected;
use earlier::{Earlier, EarlierLines, EarlierPart};

/// Stores answers and their results. A run whose ledger cannot be written stops.
pub(super) struct Ledger {
    plan: Arc<Plan>,
    stopper: Arc<Stopper>,
    emitter: Arc<Emitter>,
    journal: EventLog,
    earlier: EarlierLines,
    inner: Mutex<LedgerInner>,
    /// Places of samples that differ from their snapshots, under `exact`. Read while `inner` is locked.
    differing: Mutex<HashSet<usize>>,
    /// How many answers an earlier part of the run gave.
    resumed: usize,
    /// Unreadable lines of the journal, from 1.
    skipped_lines: Vec<u64>,
    /// The SHA-256 of the journal when it was opened.
    found: String,
}

/// The state outside the journal; by slot, unless noted.
struct LedgerInner {
    /// The finished records.
    spool: Spool,
    /// What an earlier part of the run left and was not taken yet; empty for a new run.
    state: Vec<EarlierState>,
    /// Questions whose answer is on disk but which have no record yet.
    answered: HashSet<usize>,
    /// Attempts at questions that did not end.
    unfinished: HashMap<usize, u32>,
    /// The snapshot contents of the epochs so far, by place, under `exact`.
    contents: HashMap<usize, Vec<EpochContent>>,
    /// Answers per model, as far as agents report it.
    models: BTreeMap<String, usize>,
}

impl Ledger {
    /// Opens the files of a run and reads what an earlier part left: returns the ledger and the used budget.
    pub(super) fn open(
        plan: Arc<Plan>,
        dir: &RunDir,
        origin: &mut RunOrigin,
        stopper: Arc<Stopper>,
        emitter: Arc<Emitter>,
    ) -> Result<(Self, UsedUp)> {
        let path = dir.file(JOURNAL);
        let failures_count = !origin.asks();
        let mut earlier = EarlierPart::new(&plan, failures_count);
        let (journal, found) = EventLog::open(&path, &mut |line| {
            earlier.add(&line.event, line.place);
            Ok(())
        })?;
        if let RunOrigin::Merged(parts) = origin {
            for part in std::mem::take(parts) {
                journal::each(&part, &mut |line| {
                    let event = line.carried();
                    let place = journal.copy(&event)?;
                    earlier.add(&event.known, place);
                    Ok(())
                })?;
            }
        }
        let Earlier {
            state,
            spent,
            lines: earlier,
        } = earlier.open(&path)?;
        let FoundJournal { skipped, hash } = found;
        let slots = plan.items.len() * plan.trials();
        let spool = Spool::create(dir.file(SPOOL), slots)?;
        let is_answered = |state: &&EarlierState| **state == EarlierState::Answer;
        let ledger = Self {
            plan,
            stopper,
            emitter,
            journal,
            skipped_lines: skipped,
            found: hash,
            differing: Mutex::default(),
            resumed: state.iter().filter(is_answered).count(),
            earlier,
            inner: Mutex::new(LedgerInner {
                spool,
                state,
                answered: HashSet::new(),
                unfinished: HashMap::new(),
                contents: HashMap::new(),
                models: BTreeMap::new(),
            }),
        };
        Ok((ledger, spent))
    }

    /// How many answers an earlier part of the run gave.
    pub(super) fn resumed(&self) -> usize {
        self.resumed
    }

    /// The manifest of a continued run, with the unreadable lines of its journal. Gives notices of changes since the
    /// run wrote it.
    pub(super) fn notify_damage(&self, manifest: Manifest, dir: &RunDir) -> Manifest {
        if let Some(message) = dir.foreign_manifest(&manifest) {
            self.emitter.note(&message);
        }
        let expect = manifest.artifacts.get(JOURNAL);
        let was_over = manifest.status != RunStatus::Running;
        if was_over && expect.is_some_and(|expect| *expect != self.found) {
            self.emitter.note(&format!(
                "{}: it changed after the run; lost answers are asked again",
                display(&dir.file(JOURNAL))
            ));
        }
        let lines = &self.skipped_lines;
        if lines.is_empty() {
            return manifest;
        }
        let named: Vec<_> = lines.iter().take(10).map(u64::to_string).collect();
        let more = match lines.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        self.emitter.note(&format!(
            "{}: damaged lines are skipped: {}{more}; answers found only there are asked again",
            display(&dir.file(JOURNAL)),
            named.join(", ")
        ));
        Manifest {
            journal_lines_skipped: lines.clone(),
            ..manifest
        }
    }

    /// What an earlier part of the run knows of a question; can be read once. The run stops if it cannot be read, so
    /// that nothing is asked twice.
    pub(super) fn past(&self, slot: usize) -> Past {
        let past = self.earlier.past(slot).unwrap_or_else(|error| {
            self.stopper.unwritten(&error);
            Past::default()
        });
        let mut inner = self.inner();
        if inner.take_state(slot) == EarlierState::Answer {
            inner.answered.insert(slot);
        }
        past
    }

    /// Whether an earlier part of the run left an answer to a question, or its end.
    pub(super) fn has_answer(&self, slot: usize) -> bool {
        self.inner().state(slot) != EarlierState::Nothing
    }

    /// Records the start of an attempt.
    pub(super) fn started(&self, question: &Question, attempt: u32) {
        self.write(&question.event(attempt, Kind::Started));
    }

    /// Takes back the start of an attempt for which this machine had no room, as the run ends. `attempts` is the number
    /// before it.
    pub(super) fn not_started(&self, question: &Question, attempts: u32) {
        let mut event = question.event(attempts, Kind::Failed);
        let message = "not asked: this machine had no resources for it, and the run ended";
        event.error = Some(AgentError::of(FailureKind::Shortage, message));
        self.write(&event);
    }

    /// Records an answer, redacted; the scorer sees the original. Returns how many secrets were redacted; `None` if the
    /// write failed, as an answer that is not on disk does not count.
    pub(super) fn answered(&self, question: &Question, answer: &Answered) -> Option<u32> {
        let redacted = self.logged(question.event(answer.attempts, Kind::Answered), answer)?;
        self.inner().answered.insert(question.slot);
        Some(redacted)
    }

    /// Records an answer that was requested to confirm a flip.
    pub(super) fn answered_again(&self, question: &Question, answer: &Answered) {
        self.logged(question.event(CONFIRM, Kind::Confirmed), answer);
    }

    /// Records an attempt without an answer; returns its error, redacted.
    pub(super) fn failed(
        &self,
        question: &Question,
        attempt: u32,
        error: &AgentError,
        latency_s: f64,
    ) -> AgentError {
        let mut clean = error.clone();
        self.plan.redactor.agent_error(&mut clean, &mut 0);
        let mut event = question.event(attempt, Kind::Failed);
        event.error = Some(clean.clone());
        event.latency_s = Some(latency_s);
        self.write(&event);
        clean
    }

    /// The log that records an agent's progress in an attempt, redacted.
    pub(super) fn progress(self: &Arc<Self>, question: &Question, attempt: u32) -> ProgressLog {
        let (ledger, id, epoch) = (Arc::clone(self), question.id().to_owned(), question.epoch);
        ProgressLog::new(move |logged| {
            let mut event = StoredEvent::new(&id, epoch, attempt, Kind::Progress);
            match logged {
                ProgressEntry::Line(text) => {
                    // Redacted before truncation, which could leave half a secret.
                    let clean = ledger.plan.redactor.line(text);
                    event.redacted = u32::from(clean != text);
                    event.progress = Some(at_most(clean, LONGEST_LINE));
                }
                ProgressEntry::Omitted(lines) => event.omitted = lines,
            }
            ledger.write(&event);
        })
    }

    /// Where a conversation is recorded, message by message; its attempts share what was said. The journal has it
    /// redacted, and `said` as it was.
    pub(super) fn talk(
        self: &Arc<Self>,
        question: &Question,
        attempt: u32,
        messages: &Arc<Mutex<Vec<TurnMessage>>>,
    ) -> TalkJournal {
        let (ledger, id, epoch) = (Arc::clone(self), question.id().to_owned(), question.epoch);
        let messages = Arc::clone(messages);
        TalkJournal(Arc::new(move |message| {
            let mut event = StoredEvent::of_message(&id, epoch, attempt, message.clone());
            if let Some(message) = &mut event.message {
                ledger.plan.redactor.value(message, &mut event.redacted);
            }
            ledger
                .plan
                .redactor
                .map(&mut event.metadata, &mut event.redacted);
            let is_written = ledger.write(&event);
            lock(&messages).append_message(message);
            is_written
        }))
    }

    /// Records how a question ended. The answer is in the journal already.
    pub(super) fn ended(&self, record: &mut Record) {
        let kind = match record.result.status {
            Status::Skipped => return,
            Status::Scored => Kind::Scored,
            _ => Kind::Ended,
        };
        self.judged(record, kind, record.result.attempts);
    }

    /// Records the refusal of an answer that is in the journal already, and returns it, redacted; `None` if the write
    /// failed.
    pub(super) fn refused(
        &self,
        question: &Question,
        mut outcome: Outcome,
    ) -> Option<RefusedAnswer> {
        self.plan.redactor.verdicts(&mut outcome, &mut 0);
        let mut event = question.event(outcome.attempts, Kind::Refused);
        let refused = RefusedAnswer::of(outcome.clone());
        outcome.output = None;
        outcome.prediction = None;
        outcome
            .judged
            .iter_mut()
            .for_each(|call| call.output = None);
        event.result = Some(outcome);
        self.inner().answered.remove(&question.slot);
        self.write(&event).then_some(refused)
    }

    /// Records the verdict on an answer that was to confirm a flip.
    pub(super) fn confirmed(&self, record: &mut Record) {
        self.judged(record, Kind::Confirmed, CONFIRM);
    }

    /// Stores the record of a finished question, with what an earlier part of the run has of it.
    pub(super) fn keep(&self, slot: usize, record: &Record, foreign: Foreign) {
        // Before the answer is redacted.
        let is_asserted =
            self.plan.eval.snapshot.assert == Assert::Exact && record.perturb.is_none();
        let differs = is_asserted && self.differs(slot, record);
        let model = record.result.output.as_ref().and_then(Output::answered_by);
        let foreign = foreign.redacted(|value| {
            let mut count = 0;
            self.plan.redactor.value(value, &mut count);
            count > 0
        });
        let spooled = Spooled::of(record).map(|spooled| spooled.with_unknown(&foreign));
        if differs {
            lock(&self.differing).insert(slot / self.plan.trials());
        }
        let mut inner = self.inner();
        inner.answered.remove(&slot);
        let added = spooled.and_then(|spooled| inner.spool.add(slot, &spooled));
        if let Some(model) = model {
            *inner.models.entry(model).or_default() += 1;
        }
        drop(inner);
        if let Err(error) = added {
            self.stopper.unwritten(&error);
        }
    }

    /// Leaves an unfinished question open. Its record is made when the run ends.
    pub(super) fn leave_open(&self, slot: usize, attempts: u32) {
        if attempts > 0 {
            self.inner().unfinished.insert(slot, attempts);
        }
    }

    /// Adds `skipped` records for questions that were never asked, or not to the end. Returns how many of them were
    /// answered but not judged.
    pub(super) fn fill_in(&self, slots: impl Iterator<Item = usize>) -> Result<u64> {
        let mut not_judged = 0;
        for slot in slots {
            let mut inner = self.inner();
            if inner.spool.has(slot) {
                continue;
            }
            let attempts = inner.unfinished.remove(&slot).unwrap_or_default();
            let is_answered = inner.state(slot) == EarlierState::Answer;
            not_judged += u64::from(is_answered || inner.answered.contains(&slot));
            let question = Question::of(&self.plan, slot);
            let record = question.into_record(&self.plan, skipped(attempts));
            inner.spool.add(slot, &Spooled::of(&record)?)?;
        }
        Ok(not_judged)
    }

    /// Visits the records that the run would have if it ended now, abridged, in slot order.
    pub(super) fn so_far(
        &self,
        slots: impl Iterator<Item = usize>,
        see: &mut dyn FnMut(&Record),
    ) -> Result<()> {
        let mut slots = slots.peekable();
        let mut fill_up_to = |end: usize, see: &mut dyn FnMut(&Record)| {
            while let Some(slot) = slots.next_if(|slot| *slot < end) {
                see(&Question::of(&self.plan, slot).into_record(&self.plan, skipped(0)));
            }
            // The slot itself has a record.
            slots.next_if_eq(&end);
        };
        self.inner().spool.so_far(&mut |slot, record| {
            fill_up_to(slot, see);
            see(&record);
        })?;
        fill_up_to(usize::MAX, see);
        Ok(())
    }

    /// Whether the record of a finished question is stored.
    pub(super) fn has_record(&self, slot: usize) -> bool {
        self.inner().spool.has(slot)
    }

    /// Whether the sample at this place differs from its snapshot, under `exact`.
    pub(super) fn differs_from_snapshot(&self, place: usize) -> bool {
        lock(&self.differing).contains(&place)
    }

    /// Takes the number of answers per model; empty after the first call.
    pub(super) fn models(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.inner().models)
    }

    /// Writes the records in dataset order and returns the files' names and SHA-256. Adds those to `collected` that are
    /// not in it.
    pub(super) fn sort(
        &self,
        dir: &RunDir,
        collected: &mut Collected<'_>,
    ) -> Result<[(String, String); 2]> {
        let from = collected.end;
        let spool = &mut self.inner().spool;
        spool.finish(dir.path(), from, &mut |slot, record| {
            collected.add(slot, record);
        })
    }

    /// Syncs the journal and gives its SHA-256.
    pub(super) fn close(&self) -> Result<String> {
        self.journal.close()
    }

    /// Records an answer.
    fn logged(&self, mut event: StoredEvent, answer: &Answered) -> Option<u32> {
        let mut clean = answer.output.clone();
        self.plan.redactor.output(&mut clean, &mut event.redacted);
        event.output = Some(clean);
        event.latency_s = Some(answer.latency_s);
        event.cached = answer.cached;
        event.cached_from.clone_from(&answer.cached_from);
        event.recorded = answer.recorded;
        self.write(&event).then_some(event.redacted)
    }

    /// Records a verdict.
    fn judged(&self, record: &mut Record, kind: Kind, attempt: u32) {
        let mut event = StoredEvent::new(&record.sample_id, record.epoch, attempt, kind);
        // Borrowed for the write, to avoid a copy of every outcome.
        let mut outcome = std::mem::replace(&mut record.result, skipped(0));
        let output = outcome.output.take();
        // The judges' replies are in the journal already, too.
        let mut take = |call: &mut JudgeCall| call.output.take();
        let logged: Vec<_> = outcome.judged.iter_mut().map(&mut take).collect();
        event.result = Some(outcome);
        // A scorer that reads more may be a program of the user: its verdict, too, may have cost something.
        let is_rule = |scorer: &Arc<dyn Scorer>| {
            scorer.reads() < Reads::Everything && scorer.agents().is_empty()
        };
        self.check_written(&if self.plan.scorers.iter().all(is_rule) {
            self.journal.append_verdict(&event)
        } else {
            self.journal.append(&event)
        });
        if let Some(mut outcome) = event.result {
            for (call, logged) in outcome.judged.iter_mut().zip(logged) {
                call.output = logged;
            }
            record.result = Outcome { output, ..outcome };
        }
    }

    /// Appends an event; a run that cannot do so stops.
    fn write(&self, event: &StoredEvent) -> bool {
        self.check_written(&self.journal.append(event))
    }

    /// Stops the run if an event was not written; returns whether it was.
    fn check_written(&self, written: &Result<u64>) -> bool {
        if let Err(error) = written {
            self.stopper.unwritten(error);
        }
        written.is_ok()
    }

    /// Whether a sample whose last epoch this is differs from its snapshot.
    fn differs(&self, slot: usize, record: &Record) -> bool {
        let place = slot / self.plan.trials();
        let content = EpochContent::of(record, self.plan.stored_parts());
        let mut inner = self.inner();
        let so_far = inner.contents.entry(place).or_default();
        so_far.push(content);
        if so_far.len() < self.epochs() {
            return false;
        }
        let all = inner.contents.remove(&place).unwrap_or_default();
        drop(inner);
        let content = SampleContent::majority(all);
        content.is_some_and(|content| {
            !content.is_current(&self.plan.eval.snapshot.folder, &record.sample_id)
        })
    }

    fn epochs(&self) -> usize {
        self.plan.eval.epochs as usize
    }

    fn inner(&self) -> MutexGuard<'_, LedgerInner> {
        lock(&self.inner)
    }
}

impl LedgerInner {
    fn state(&self, slot: usize) -> EarlierState {
        self.state.get(slot).copied().unwrap_or_default()
    }

    fn take_state(&mut self, slot: usize) -> EarlierState {
        self.state
            .get_mut(slot)
            .map(std::mem::take)
            .unwrap_or_default()
    }
}

impl JudgeJournal for Ledger {
    fn redactor(&self) -> &Redactor {
        &self.plan.redactor
    }

    fn append(&self, event: &StoredEvent) -> bool {
        self.write(event)
    }

    fn notify_failed(
        &self,
        subject: &Subject<'_>,
        call: &JudgeCall,
        error: &AgentError,
        again: bool,
    ) {
        self.emitter.emit(&Event::AttemptFailed {
            id: subject.id,
            epoch: subject.epoch,
            attempt: call.attempts,
            error: &AgentError {
                message: format!("judge `{}`: {}", call.scorer, error.message),
                ..error.clone()
            },
            retry: again,
        });
    }

    fn notice(&self, notice: &str) {
        self.emitter.notice(notice);
    }
}

/// The outcome of a sample whose agent gave no answer.
pub(super) fn failed(error: AgentError, latency: f64, attempts: u32) -> Outcome {
    Outcome {
        status: Status::of_failure(&error),
        error: Some(error),
        latency_s: latency,
        ..skipped(attempts)
    }
}

/// The outcome of a sample that was not completed.
pub(super) fn skipped(attempts: u32) -> Outcome {
    Outcome {
        attempts,
        ..Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;
    use crate::benchmark::custom::Custom;
    use crate::data::{Score, Task};
    use crate::eval::Eval;
    use crate::run::{RunOptions, Session};
    use crate::scorer::{All, Answer, GaiaScorer};

    #[test]
    fn the_verdict_of_a_users_scorer_is_written_at_once() {
        let own = || ("own", |_: &Answer<'_>| Ok(Score::binary(true)));
        let both: [Arc<dyn Scorer>; 2] = [Arc::new(GaiaScorer), Arc::new(own())];
        let scorers: [Arc<dyn Scorer>; 2] = [Arc::new(own()), Arc::new(All::new(both))];
        for scorer in scorers {
            let folder = tempfile::tempdir().unwrap();
            let sample = Sample::new("a", "?").target("4");
            let eval = Eval::new(Custom::new([sample]), |_: &Task| Ok("4".into()))
                .scorer(scorer)
                .output_root(folder.path());
            let options = RunOptions::default();
            let session = Session::start(&eval, options, Arc::new(|_| {})).unwrap();
            session.run_sample(0);
            let journal = std::fs::read_to_string(session.dir().file(JOURNAL)).unwrap();
            assert!(journal.contains("\"kind\":\"scored\""), "{journal}");
        }
    }
}
