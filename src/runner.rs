//! The runner: one sample through agent, journal and scorer; retries, timeouts, stopping.
//!
//! A [`Session`] is one run of one eval. [`Session::run_sample`] can be called from any thread, in any
//! order: `cargo evaltest` drives it from its own pool ([`Session::run`]), `cargo test` from the threads
//! of libtest-mimic. The runner emits events and never prints.
//!
//! A sample has as many records as the eval has epochs. They are kept side by side: the record of epoch `e`
//! of the sample at `place` has the slot `place * epochs + e`.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::agent::{AgentError, FailureKind, Output};
use crate::artifact::events::{EventLog, Kind, Past, StoredEvent, fold};
use crate::artifact::records::Spool;
use crate::artifact::{Manifest, RunDir, RunStatus, random_run_id};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::eval::{Assert, Eval, KeepScratch};
use crate::event::{Event, Observer};
use crate::plan::{BaselineUse, Item, Plan};
use crate::run::{Outcome, Record, Run, Status};
use crate::snapshot;

mod attempt;
mod finish;
pub(crate) mod judge;
mod outcome;
mod retry;
mod select;

use attempt::{Bench, CONFIRM};
use outcome::{failed, record, skipped};
use select::{check_resumable, select};

/// How one run is done, apart from what its eval says.
#[derive(Default)]
pub(crate) struct RunOptions {
    /// The run's id; `<eval>-<6 hex>` unless given.
    pub(crate) run_id: Option<String>,
    /// Shared by all runs of one command.
    pub(crate) invocation: Option<String>,
    /// Where the run is recorded.
    pub(crate) home: Home,
    /// Ask only the samples with these ids. Gates are then ignored.
    pub(crate) only: Option<HashSet<String>>,
    /// The run does not cover the eval as its spec defines it, so that it cannot become a baseline.
    pub(crate) partial: bool,
    /// Patterns that the command line added to those of the eval, for the manifest.
    pub(crate) redact: Vec<String>,
    /// Emit what agents print.
    pub(crate) stream: bool,
    /// Stops the run.
    pub(crate) cancel: Cancel,
    /// Whether this is CI, where a missing baseline fails `no_regression`.
    pub(crate) ci: bool,
}

/// Where a run is recorded, and what is known already.
#[derive(Default)]
pub(crate) enum Home {
    /// A new run directory.
    #[default]
    New,
    /// An existing one, to be continued.
    Resume(PathBuf),
    /// Exactly this folder, for one sample under nextest.
    Part(PathBuf),
    /// A new run directory that begins with these events, failures included; nothing is asked again.
    Merged(Vec<StoredEvent>),
}

/// One run of one eval.
pub(crate) struct Session {
    plan: Plan,
    dir: RunDir,
    manifest: Mutex<Manifest>,
    events: EventLog,
    spool: Spool,
    pasts: Mutex<HashMap<(String, u32), Past>>,
    /// By slot.
    records: Mutex<Vec<Option<Record>>>,
    /// Places of samples that differ from their snapshots, under `exact`.
    differing: Mutex<HashSet<usize>>,
    /// What snapshots would say of the epochs so far, by place, under `exact`.
    contents: Mutex<HashMap<usize, Vec<(u32, snapshot::Content)>>>,
    /// Places to ask, in dataset order.
    selected: Vec<usize>,
    /// The same in the order in which they are asked.
    queue: Vec<usize>,
    bench: Bench,
    observer: Arc<Observer<'static>>,
    options: RunOptions,
    stop: Mutex<Option<Stop>>,
    started: Instant,
}

/// Why a run stops early.
#[derive(Clone, Debug)]
struct Stop {
    reason: String,
    /// Whether a person or the system asked for it.
    interrupted: bool,
}

impl Session {
    /// Loads the dataset, checks everything, and makes the run directory. No agent starts yet.
    pub(crate) fn start(
        eval: &Eval,
        options: RunOptions,
        observer: Arc<Observer<'static>>,
    ) -> Result<Self> {
        Self::with_plan(Plan::load(eval, BaselineUse::Compare)?, options, observer)
    }

    pub(crate) fn with_plan(
        plan: Plan,
        options: RunOptions,
        observer: Arc<Observer<'static>>,
    ) -> Result<Self> {
        let selected = select(&plan, options.only.as_ref())?;
        let is_selected = |place: &usize| selected.binary_search(place).is_ok();
        let queue = plan.order.iter().copied().filter(is_selected).collect();
        let (dir, resumed) = match &options.home {
            Home::Resume(path) => {
                let dir = RunDir::open(path)?;
                let manifest = dir.manifest()?;
                check_resumable(&plan, &manifest, &dir)?;
                (dir, Some(manifest))
            }
            Home::Part(path) => (RunDir::create_at(path)?, None),
            Home::New | Home::Merged(_) => {
                let id = options
                    .run_id
                    .clone()
                    .unwrap_or_else(|| random_run_id(&plan.eval.name));
                (RunDir::create(&plan.eval.output_folder(), &id)?, None)
            }
        };
        let (events, mut past) = EventLog::open(&dir.file("events.jsonl"))?;
        let mut options = options;
        // What stops this run alone, such as `fail_fast`, must not stop the next one.
        options.cancel = options.cancel.child();
        let merged = if let Home::Merged(journal) = &mut options.home {
            past = std::mem::take(journal);
            past.iter().try_for_each(|event| events.append(event))?;
            true
        } else {
            false
        };
        let manifest = match resumed {
            Some(manifest) => Manifest {
                status: RunStatus::Running,
                stop_reason: None,
                selected: selected.len(),
                // A part stays a part: the run goes on as it began.
                whole: manifest.whole && selected.len() == plan.items.len(),
                ..manifest
            },
            None => finish::new_manifest(&plan, &dir, &options, selected.len())?,
        };
        if matches!(options.home, Home::Resume(_)) && plan.eval.keep_scratch == KeepScratch::Never {
            // What a killed run could not tidy up.
            let _ = std::fs::remove_dir_all(dir.file("scratch"));
        }
        let slots = plan.items.len() * plan.eval.epochs as usize;
        let spool = Spool::create(dir.file("samples.jsonl.part"), slots)?;
        let session = Self {
            bench: Bench::new(Arc::clone(&plan.eval.agent)),
            records: Mutex::new(vec![None; slots]),
            pasts: Mutex::new(fold(past, merged)),
            manifest: Mutex::new(manifest),
            plan,
            dir,
            events,
            spool,
            differing: Mutex::default(),
            contents: Mutex::default(),
            selected,
            queue,
            observer,
            options,
            stop: Mutex::new(None),
            started: Instant::now(),
        };
        session.write_manifest()?;
        let notices = session.notices();
        session.emit(&Event::RunStarted {
            eval: &session.plan.eval.name,
            samples: session.selected.len(),
            epochs: session.plan.eval.epochs,
            resumed: session.resumed(),
            dir: session.dir.path(),
            notices: &notices,
        });
        Ok(session)
    }

    /// Asks every selected sample in all its epochs, `limits.concurrency` questions at a time, and ends the run.
    pub(crate) fn run(self) -> Result<Run> {
        let next = AtomicUsize::new(0);
        let epochs = self.epochs();
        let questions = self.queue.len() * epochs;
        let threads = self.plan.eval.limits.concurrency;
        let threads = threads.clamp(1, questions.max(1));
        std::thread::scope(|scope| {
            let work = || {
                loop {
                    // The epochs of a sample one after the other: a run that stops early has whole samples.
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&place) = self.queue.get(turn / epochs) else {
                        return;
                    };
                    if self.is_stopped() {
                        return;
                    }
                    let slot = place * epochs + turn % epochs;
                    let record = self.ask_slot(slot);
                    self.keep(slot, record);
                }
            };
            // One of the workers is this thread.
            for number in 1..threads {
                let builder = std::thread::Builder::new().name(format!("evaltest-{number}"));
                if builder.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        self.finish()
    }

    /// Asks the sample with this place in the dataset in each epoch, unless an earlier part of the run did, and
    /// gives its records, redacted, without what only the disk needs.
    pub(crate) fn run_sample(&self, place: usize) -> Vec<Record> {
        let slots = place * self.epochs()..(place + 1) * self.epochs();
        let ask = |slot| {
            let mut record = self.ask_slot(slot);
            if record.result.status != Status::Skipped {
                record.forget();
            }
            self.keep(slot, record.clone());
            record
        };
        slots.map(ask).collect()
    }

    /// How many records a sample has.
    fn epochs(&self) -> usize {
        self.plan.eval.epochs as usize
    }

    /// The sample of a slot, and its epoch.
    fn question(&self, slot: usize) -> (&Item, u32) {
        let epoch = u32::try_from(slot % self.epochs()).unwrap_or_default();
        (&self.plan.items[slot / self.epochs()], epoch)
    }

    /// Asks a sample in one epoch, unless an earlier part of the run did, and puts its redacted record onto disk.
    fn ask_slot(&self, slot: usize) -> Record {
        let (item, epoch) = self.question(slot);
        let past = lock(&self.pasts)
            .remove(&(item.sample.id.clone(), epoch))
            .unwrap_or_default();
        let mut counted = None;
        let outcome = match past {
            Past {
                outcome: Some(outcome),
                ..
            } => {
                counted = Some(outcome.redacted);
                outcome
            }
            Past {
                answer: Some((output, latency, redacted)),
                attempts,
                ..
            } => {
                let mut outcome = self.judge(item, output, latency, attempts);
                if redacted > 0 {
                    judge::doubt(&mut outcome);
                }
                outcome.redacted = redacted;
                outcome
            }
            Past { attempts, .. } => {
                self.emit(&Event::SampleStarted {
                    id: &item.sample.id,
                    epoch,
                });
                self.ask((item, epoch), attempts)
            }
        };
        let mut record = record(&self.plan, item, epoch, outcome);
        self.plan.redactor.record(&mut record);
        match counted {
            // The count in the journal is that of the whole record.
            Some(counted) => record.result.redacted = counted,
            None => self.end(&mut record),
        }
        self.write(slot, &record);
        record
    }

    /// Journals how a sample ended. The answer stands in the journal already.
    fn end(&self, record: &mut Record) {
        let kind = match record.result.status {
            Status::Skipped => return,
            Status::Scored => Kind::Scored,
            _ => Kind::Ended,
        };
        let mut event = StoredEvent::new(
            &record.sample_id,
            record.epoch,
            record.result.attempts,
            kind,
        );
        // Lent, for a copy of every outcome would be for nothing.
        let mut outcome = std::mem::replace(&mut record.result, skipped(0));
        let output = outcome.output.take();
        event.result = Some(outcome);
        self.journal(&event);
        if let Some(outcome) = event.result {
            record.result = Outcome { output, ..outcome };
        }
    }

    /// Puts a record onto disk and tells of it.
    fn write(&self, slot: usize, record: &Record) {
        if record.result.status == Status::Skipped {
            return;
        }
        if self.plan.eval.snapshot.assert == Assert::Exact {
            // Now, while the answer is whole.
            self.compare(slot / self.epochs(), record);
        }
        if let Err(error) = self.spool.add(slot, record) {
            self.stop_for(&error);
        }
        self.emit(&Event::SampleFinished { record });
        if record.result.status.is_error() && self.plan.eval.limits.fail_fast {
            let id = &record.sample_id;
            let reason = format!("sample `{id}` failed and `fail_fast` is set");
            self.stop(&reason, false);
        }
    }

    /// Compares a sample with its snapshot once all its epochs are there.
    fn compare(&self, place: usize, record: &Record) {
        let content = snapshot::Content::of(record, self.plan.eval.masks_answers());
        let mut contents = lock(&self.contents);
        let so_far = contents.entry(place).or_default();
        so_far.push((record.epoch, content));
        if so_far.len() < self.epochs() {
            return;
        }
        let all = contents.remove(&place).unwrap_or_default();
        drop(contents);
        let content = snapshot::Content::majority(all);
        if content.is_some_and(|content| !content.is_current(&self.plan, &record.sample_id)) {
            lock(&self.differing).insert(place);
        }
    }

    /// Keeps the abridged form of a record in memory.
    fn keep(&self, slot: usize, mut record: Record) {
        if record.result.status != Status::Skipped {
            // What was not asked is written when the run ends, and must be whole until then.
            record.abridge();
        }
        lock(&self.records)[slot] = Some(record);
    }

    /// Asks until there is an answer or no attempt is left.
    fn ask(&self, question: (&Item, u32), earlier: u32) -> Outcome {
        let (item, epoch) = question;
        let limits = &self.plan.eval.limits;
        let id = &item.sample.id;
        let mut attempt = earlier;
        loop {
            if self.is_stopped() {
                return skipped(attempt);
            }
            attempt += 1;
            self.journal(&StoredEvent::new(id, epoch, attempt, Kind::Started));
            let (answer, latency) = self.attempt(question, attempt);
            match answer {
                Ok(output) => {
                    // On disk before it is scored; redacted, while the scorer sees the real answer.
                    let mut event = StoredEvent::new(id, epoch, attempt, Kind::Answered);
                    let mut clean = output.clone();
                    self.plan.redactor.output(&mut clean, &mut event.redacted);
                    event.output = Some(clean);
                    event.latency_s = Some(latency);
                    if !self.journal(&event) {
                        // The disk is full. What is not on disk was not said, and is asked again.
                        return skipped(attempt);
                    }
                    return self.judge(item, output, latency, attempt);
                }
                Err(error) if error.kind == FailureKind::Cancelled => return skipped(attempt),
                Err(error) => {
                    let retry = error.is_transient() && attempt - earlier <= limits.retries;
                    let mut clean = error.clone();
                    self.plan.redactor.agent_error(&mut clean, &mut 0);
                    let mut event = StoredEvent::new(id, epoch, attempt, Kind::Failed);
                    event.error = Some(clean.clone());
                    event.latency_s = Some(latency);
                    self.journal(&event);
                    self.emit(&Event::AttemptFailed {
                        id,
                        epoch,
                        attempt,
                        error: &clean,
                        retry,
                    });
                    if !retry {
                        return failed(error, latency, attempt);
                    }
                    let failures = attempt - earlier;
                    self.pause(retry::backoff(limits.backoff, failures, id, epoch));
                }
            }
        }
    }

    /// Asks a sample once more, to tell a flip from flakiness. The answer counts in no metric.
    pub(crate) fn confirm(&self, place: usize) -> std::result::Result<Record, AgentError> {
        let item = &self.plan.items[place];
        let id = &item.sample.id;
        let (answer, latency) = self.attempt((item, 0), CONFIRM);
        let mut output = answer.map_err(|mut error| {
            self.plan.redactor.agent_error(&mut error, &mut 0);
            error
        })?;
        let mut event = StoredEvent::new(id, 0, CONFIRM, Kind::Confirmed);
        let raw = output.clone();
        self.plan.redactor.output(&mut output, &mut event.redacted);
        event.output = Some(output);
        event.latency_s = Some(latency);
        self.journal(&event);
        let mut record = record(&self.plan, item, 0, self.judge(item, raw, latency, 1));
        self.plan.redactor.record(&mut record);
        let mut event = StoredEvent::new(id, 0, CONFIRM, Kind::Confirmed);
        event.result = Some(Outcome {
            output: None,
            ..record.result.clone()
        });
        self.journal(&event);
        Ok(record)
    }

    /// Writes an event; a run that cannot do so stops.
    fn journal(&self, event: &StoredEvent) -> bool {
        let written = self.events.append(event);
        if let Err(error) = &written {
            self.stop_for(error);
        }
        written.is_ok()
    }

    /// Waits, unless the run stops.
    fn pause(&self, pause: Duration) {
        let end = Instant::now() + pause;
        while !self.is_stopped() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    /// Stops the run: no sample starts any more, running agents are killed.
    fn stop(&self, reason: &str, interrupted: bool) {
        let mut stop = lock(&self.stop);
        stop.get_or_insert_with(|| Stop {
            reason: reason.to_owned(),
            interrupted,
        });
        drop(stop);
        self.options.cancel.cancel();
    }

    fn stop_for(&self, error: &Error) {
        self.stop(error.message(), false);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.options.cancel.is_cancelled()
    }

    /// Whether this is one sample of a run that is put together later.
    pub(crate) fn is_part(&self) -> bool {
        matches!(self.options.home, Home::Part(_))
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn dir(&self) -> &RunDir {
        &self.dir
    }

    /// How many samples an earlier part of the run answered.
    fn resumed(&self) -> usize {
        lock(&self.pasts)
            .values()
            .filter(|past| past.answer.is_some())
            .count()
    }

    fn emit(&self, event: &Event<'_>) {
        // A reporter that panics must not take a paid answer with it.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.observer)(event)));
    }
}

/// Locks; a thread that panicked elsewhere left nothing half done that matters here.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an attempt gave, and the seconds it took.
type Attempted = (std::result::Result<Output, AgentError>, f64);
