//! `Ledger`: what is known of a run, on disk and in memory.
//!
//! What was said is in the journal before anything that depends on it happens; what became of it is in the spool, from
//! which the records are put into dataset order when the run ends. In memory there is where the journal has what an
//! earlier part of the run left, and a little of each question that is open. A record that is on disk leaves the memory.
//!
//! There are two locks: the journal has its own, for each of its lines is a call of the system; one holds all else. The
//! lines are made before, by the threads side by side, and snapshots are read without it.

pub(crate) mod collected;
pub(crate) mod earlier;
pub(crate) mod files;
pub(crate) mod gathered;
pub(crate) mod outcome;
pub(crate) mod readable;
pub(crate) mod repaired;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use super::ask::progress::{LONGEST_LINE, ProgressLog, SaidProgress};
use super::judge::judges::{JudgeBooks, Subject};
use super::session::emitter::Emitter;
use super::session::options::Home;
use super::session::question::{CONFIRM, Question};
use super::session::stop::Stopper;
use crate::data::RefusedAnswer;
use crate::data::{AgentError, FailureKind, JudgeCall, Outcome, Output, Record, Status};
use crate::error::Result;
use crate::eval::Assert;
use crate::eval::limits::budget::UsedUp;
use crate::eval::plan::Plan;
use crate::report::event::Event;
use crate::snapshot::{EpochContent, SampleContent};
use crate::store::events::past::{Answered, Foreign, Left, Past};
use crate::store::events::{self, EventLog, FoundJournal, Kind, StoredEvent};
use crate::store::files::{JOURNAL, SPOOL};
use crate::store::records::{Spool, Spooled};
use crate::store::{Manifest, RunDir, RunStatus};
use crate::system::lock::lock;
use crate::system::process::excerpt::at_most;
use crate::system::project::shown;
use crate::text::redact::Redactor;
use earlier::{Earlier, EarlierLines, EarlierPart};
use outcome::skipped;

/// Knows what was said, and what became of it. A run whose ledger cannot be written stops.
pub(super) struct Ledger {
    plan: Arc<Plan>,
    stopper: Arc<Stopper>,
    emitter: Arc<Emitter>,
    journal: EventLog,
    earlier: EarlierLines,
    books: Mutex<Books>,
    /// How many answers an earlier part of the run gave.
    resumed: usize,
    /// Lines of the journal, from 1, that could not be read.
    skipped_lines: Vec<u64>,
    /// The SHA-256 of the journal when it was opened.
    found: String,
}

/// What is known apart from the journal. By slot, where nothing else is said.
struct Books {
    /// The records that are there.
    spool: Spool,
    /// What an earlier part of the run left, unless it was asked for; nothing at all of a new run.
    left: Vec<Left>,
    /// Questions whose answers are on disk, as long as there is no record of them.
    answered: HashSet<usize>,
    /// How often questions were asked without coming to an end.
    unfinished: HashMap<usize, u32>,
    /// What snapshots would say of the epochs so far, by place, under `exact`.
    contents: HashMap<usize, Vec<EpochContent>>,
    /// Places of samples that differ from their snapshots, under `exact`.
    differing: HashSet<usize>,
    /// How many answers each model gave, as far as agents tell.
    models: BTreeMap<String, usize>,
}

impl Ledger {
    /// Opens the files of a run, and reads what an earlier part of it left: the ledger, and what was used up.
    pub(super) fn open(
        plan: Arc<Plan>,
        dir: &RunDir,
        home: &mut Home,
        stopper: Arc<Stopper>,
        emitter: Arc<Emitter>,
    ) -> Result<(Self, UsedUp)> {
        let path = dir.file(JOURNAL);
        let failures_count = matches!(home, Home::Merged(_) | Home::Restored(_));
        let mut earlier = EarlierPart::new(&plan, failures_count);
        let (journal, found) = EventLog::open(&path, &mut |line| {
            earlier.add(&line.event, line.place);
            Ok(())
        })?;
        if let Home::Merged(parts) = home {
            for part in std::mem::take(parts) {
                events::each(&part, &mut |line| {
                    let event = line.carried();
                    let place = journal.copy(&event)?;
                    earlier.add(&event.known, place);
                    Ok(())
                })?;
            }
        }
        let Earlier {
            left,
            spent,
            lines: earlier,
        } = earlier.open(&path)?;
        let FoundJournal { skipped, hash } = found;
        let slots = plan.items.len() * plan.eval.epochs as usize;
        let spool = Spool::create(dir.file(SPOOL), slots)?;
        let is_answered = |left: &&Left| **left == Left::Answer;
        let ledger = Self {
            plan,
            stopper,
            emitter,
            journal,
            skipped_lines: skipped,
            found: hash,
            resumed: left.iter().filter(is_answered).count(),
            earlier,
            books: Mutex::new(Books {
                spool,
                left,
                answered: HashSet::new(),
                unfinished: HashMap::new(),
                contents: HashMap::new(),
                differing: HashSet::new(),
                models: BTreeMap::new(),
            }),
        };
        Ok((ledger, spent))
    }

    /// How many answers an earlier part of the run gave.
    pub(super) fn resumed(&self) -> usize {
        self.resumed
    }

    /// The manifest of a run that goes on, with the lines of its journal that cannot be read. People are told of what is
    /// not as the run wrote it.
    pub(super) fn tell_damage(&self, manifest: Manifest, dir: &RunDir) -> Manifest {
        if let Some(told) = dir.changed_manifest() {
            self.emitter.note(&told);
        }
        let expect = manifest.artifacts.get(JOURNAL);
        let was_over = manifest.status != RunStatus::Running;
        if was_over && expect.is_some_and(|expect| *expect != self.found) {
            self.emitter.note(&format!(
                "{}: it is not what the run wrote; answers that it has lost are asked again",
                shown(&dir.file(JOURNAL))
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
            "{}: lines that are not as they were written are left out: {}{more}; what they alone told is asked again",
            shown(&dir.file(JOURNAL)),
            named.join(", ")
        ));
        Manifest {
            journal_lines_skipped: lines.clone(),
            ..manifest
        }
    }

    /// What an earlier part of the run knew of a question; it is told once. If it cannot be read again the run stops: who
    /// answered is not asked once more.
    pub(super) fn past(&self, slot: usize) -> Past {
        let past = self.earlier.past(slot).unwrap_or_else(|error| {
            self.stopper.unwritten(&error);
            Past::default()
        });
        let mut books = self.books();
        if books.take_left(slot) == Left::Answer {
            books.answered.insert(slot);
        }
        past
    }

    /// Whether an earlier part of the run left an answer to a question, or its end.
    pub(super) fn has_answer(&self, slot: usize) -> bool {
        self.books().left(slot) != Left::Nothing
    }

    /// An attempt begins.
    pub(super) fn started(&self, question: &Question, attempt: u32) {
        self.write(&question.event(attempt, Kind::Started));
    }

    /// The attempt that began after so many was none: this machine had no room for it, and the run ends.
    pub(super) fn not_started(&self, question: &Question, attempts: u32) {
        let mut event = question.event(attempts, Kind::Failed);
        let message = "not asked: this machine had no room for it, and the run ended";
        event.error = Some(AgentError::of(FailureKind::Shortage, message));
        self.write(&event);
    }

    /// Writes down what was said, redacted, while the scorer sees the real answer. Gives how many secrets were blanked;
    /// `None` if it could not be written. What is not on disk was not said.
    pub(super) fn answered(&self, question: &Question, answer: &Answered) -> Option<u32> {
        let redacted = self.said(question.event(answer.attempts, Kind::Answered), answer)?;
        self.books().answered.insert(question.slot);
        Some(redacted)
    }

    /// Writes down what was said when a flip was asked again.
    pub(super) fn answered_again(&self, question: &Question, answer: &Answered) {
        self.said(question.event(CONFIRM, Kind::Confirmed), answer);
    }

    /// Writes down an attempt without an answer; gives its error, redacted.
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

    /// Where what the agent says in an attempt is written down, redacted.
    pub(super) fn progress(self: &Arc<Self>, question: &Question, attempt: u32) -> ProgressLog {
        let (ledger, id, epoch) = (Arc::clone(self), question.id().to_owned(), question.epoch);
        ProgressLog::new(move |said| {
            let mut event = StoredEvent::new(&id, epoch, attempt, Kind::Progress);
            match said {
                SaidProgress::Line(text) => {
                    // Whole, for what is cut could be half a secret.
                    let clean = ledger.plan.redactor.line(text);
                    event.redacted = u32::from(clean != text);
                    event.progress = Some(at_most(clean, LONGEST_LINE));
                }
                SaidProgress::LeftOut(lines) => event.left_out = lines,
            }
            ledger.write(&event);
        })
    }

    /// Writes down how a question ended. The answer stands in the journal already.
    pub(super) fn ended(&self, record: &mut Record) {
        let kind = match record.result.status {
            Status::Skipped => return,
            Status::Scored => Kind::Scored,
            _ => Kind::Ended,
        };
        self.judged(record, kind, record.result.attempts);
    }

    /// Writes down that an answer is refused, which stands in the journal already, and gives it, redacted; `None` if it could
    /// not be written.
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
        self.books().answered.remove(&question.slot);
        self.write(&event).then_some(refused)
    }

    /// Writes down the verdict on an answer that confirms a flip or does not.
    pub(super) fn confirmed(&self, record: &mut Record) {
        self.judged(record, Kind::Confirmed, CONFIRM);
    }

    /// Keeps the record of a question that came to its end, with what an earlier part of the run has of it.
    pub(super) fn keep(&self, slot: usize, record: &Record, foreign: Foreign) {
        // While the answer is whole.
        let differs = self.plan.eval.snapshot.assert == Assert::Exact && self.differs(slot, record);
        let model = record.result.output.as_ref().and_then(Output::answered_by);
        let foreign = foreign.redacted(|value| {
            let mut count = 0;
            self.plan.redactor.value(value, &mut count);
            count > 0
        });
        let spooled = Spooled::of(record).map(|spooled| spooled.with_unknown(&foreign));
        let mut books = self.books();
        books.answered.remove(&slot);
        if differs {
            let place = slot / self.epochs();
            books.differing.insert(place);
        }
        let added = spooled.and_then(|spooled| books.spool.add(slot, &spooled));
        if let Some(model) = model {
            *books.models.entry(model).or_default() += 1;
        }
        drop(books);
        if let Err(error) = added {
            self.stopper.unwritten(&error);
        }
    }

    /// Leaves a question open that did not come to its end. Its record is made when the run ends.
    pub(super) fn leave_open(&self, slot: usize, attempts: u32) {
        if attempts > 0 {
            self.books().unfinished.insert(slot, attempts);
        }
    }

    /// Makes the records of questions that were never asked, or not to the end: they are `skipped`.
    /// Gives how many of them were answered, and not judged.
    pub(super) fn fill_in(&self, slots: impl Iterator<Item = usize>) -> Result<u64> {
        let mut not_judged = 0;
        for slot in slots {
            let mut books = self.books();
            if books.spool.has(slot) {
                continue;
            }
            let attempts = books.unfinished.remove(&slot).unwrap_or_default();
            let is_answered = books.left(slot) == Left::Answer;
            not_judged += u64::from(is_answered || books.answered.contains(&slot));
            let question = Question::of(&self.plan, slot);
            let record = question.into_record(&self.plan, skipped(attempts));
            books.spool.add(slot, &Spooled::of(&record)?)?;
        }
        Ok(not_judged)
    }

    /// Shows the records that the run would have if it ended now, abridged, in the order of the slots.
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
        self.books().spool.so_far(&mut |slot, record| {
            fill_up_to(slot, see);
            see(&record);
        })?;
        fill_up_to(usize::MAX, see);
        Ok(())
    }

    /// Places of samples that differ from their snapshots, under `exact`.
    pub(super) fn differing(&self) -> HashSet<usize> {
        self.books().differing.clone()
    }

    /// How many answers each model gave; it is told once.
    pub(super) fn models(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.books().models)
    }

    /// Writes the records in dataset order and gives the files' names and SHA-256. `see` sees each record, abridged.
    pub(super) fn sort(
        &self,
        dir: &RunDir,
        see: &mut dyn FnMut(usize, Record),
    ) -> Result<[(String, String); 2]> {
        self.books().spool.finish(dir.path(), see)
    }

    /// Syncs the journal and gives its SHA-256.
    pub(super) fn close(&self) -> Result<String> {
        self.journal.close()
    }

    /// Writes down an answer.
    fn said(&self, mut event: StoredEvent, answer: &Answered) -> Option<u32> {
        let mut clean = answer.output.clone();
        self.plan.redactor.output(&mut clean, &mut event.redacted);
        event.output = Some(clean);
        event.latency_s = Some(answer.latency_s);
        event.cached = answer.cached;
        event.cached_from.clone_from(&answer.cached_from);
        self.write(&event).then_some(event.redacted)
    }

    /// Writes down a verdict.
    fn judged(&self, record: &mut Record, kind: Kind, attempt: u32) {
        let mut event = StoredEvent::new(&record.sample_id, record.epoch, attempt, kind);
        // Lent, for a copy of every outcome would be for nothing.
        let mut outcome = std::mem::replace(&mut record.result, skipped(0));
        let output = outcome.output.take();
        // What judges said stands in the journal already, too.
        let mut take = |call: &mut JudgeCall| call.output.take();
        let said: Vec<_> = outcome.judged.iter_mut().map(&mut take).collect();
        event.result = Some(outcome);
        self.write(&event);
        if let Some(mut outcome) = event.result {
            for (call, said) in outcome.judged.iter_mut().zip(said) {
                call.output = said;
            }
            record.result = Outcome { output, ..outcome };
        }
    }

    /// Writes an event; a run that cannot do so stops.
    fn write(&self, event: &StoredEvent) -> bool {
        let written = self.journal.append(event);
        if let Err(error) = &written {
            self.stopper.unwritten(error);
        }
        written.is_ok()
    }

    /// Whether a sample, all of whose epochs are there with this one, differs from its snapshot.
    fn differs(&self, slot: usize, record: &Record) -> bool {
        let place = slot / self.epochs();
        let content = EpochContent::of(record, self.plan.eval.masks_answers());
        let mut books = self.books();
        let so_far = books.contents.entry(place).or_default();
        so_far.push(content);
        if so_far.len() < self.epochs() {
            return false;
        }
        let all = books.contents.remove(&place).unwrap_or_default();
        drop(books);
        let content = SampleContent::majority(all);
        content.is_some_and(|content| {
            !content.is_current(&self.plan.eval.snapshot.folder, &record.sample_id)
        })
    }

    fn epochs(&self) -> usize {
        self.plan.eval.epochs as usize
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }
}

impl Books {
    fn left(&self, slot: usize) -> Left {
        self.left.get(slot).copied().unwrap_or_default()
    }

    fn take_left(&mut self, slot: usize) -> Left {
        self.left
            .get_mut(slot)
            .map(std::mem::take)
            .unwrap_or_default()
    }
}

impl JudgeBooks for Ledger {
    fn redactor(&self) -> &Redactor {
        &self.plan.redactor
    }

    fn append(&self, event: &StoredEvent) -> bool {
        self.write(event)
    }

    fn tell_failed(
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
