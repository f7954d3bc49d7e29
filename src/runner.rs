//! The runner: one sample through agent, journal and scorer; retries, timeouts, stopping.
//!
//! A [`Session`] is one run of one eval. [`Session::run_sample`] can be called from any thread, in any
//! order: `cargo evaltest` drives it from its own pool ([`Session::run`]), `cargo test` from the threads
//! of libtest-mimic. The runner emits events and never prints.
//!
//! A sample has as many records as the eval has epochs, side by side: the record of epoch `e` of the sample at `place`
//! has the slot `place * epochs + e`. A record that is on disk leaves the memory; what a run amounts to is worked out
//! when it ends, from the records as they are put into order.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::data::{AgentError, Output, Record};
use crate::error::Result;
use crate::eval::{Eval, KeepScratch};
use crate::event::{Event, Observer};
use crate::limits::budget::spent;
use crate::plan::{BaselineUse, Item, Plan};
use crate::snapshot;
use crate::store::events::{EventLog, Past, StoredEvent, fold};
use crate::store::records::Spool;
use crate::store::{Manifest, RunDir, RunStatus, random_run_id};
use crate::system::cancel::Cancel;
use crate::system::lock::lock;
use crate::verdict::run::Run;

mod ask;
mod attempt;
mod cached;
mod files;
mod finish;
pub(crate) mod judge;
mod keep;
mod outcome;
mod retry;
mod seen;
mod select;
mod siblings;
mod stop;
mod throttle;

use attempt::Bench;
use cached::Cached;
use outcome::{record, skipped};
use select::{check_resumable, select};
use stop::Stop;
use throttle::Throttle;

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
    /// How many questions may be in flight, where that is not for the eval to say.
    pub(crate) concurrency: Option<usize>,
    /// Whether this is CI, where a missing baseline fails `no_regression`.
    pub(crate) ci: bool,
    /// Which records the finished run has.
    pub(crate) keep: Keep,
}

/// Which records a finished run has in memory.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All of them, abridged.
    #[default]
    All,
    /// Those that its report names.
    Notable,
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
    /// How often questions were asked without coming to an end, by slot.
    unfinished: Mutex<HashMap<usize, u32>>,
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
    throttle: Throttle,
    /// How many answers each model gave, as far as agents tell.
    models: Mutex<BTreeMap<String, usize>>,
    started: Instant,
    /// Answers that were given before, if they may be taken or kept.
    cache: Option<Cached>,
    /// What came up while the run went on.
    noticed: Mutex<Vec<String>>,
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
        let mut plan = plan;
        // Before the agent starts anything: what it is now is what answers.
        let cache = Cached::open(&mut plan);
        let selected = select(&plan, options.only.as_ref())?;
        let is_selected = |place: &usize| selected.binary_search(place).is_ok();
        let queue = plan.order.iter().copied().filter(is_selected).collect();
        if !matches!(options.home, Home::Merged(_)) {
            let check = plan.eval.agent.check();
            check.map_err(|error| error.at(format_args!("eval `{}`", plan.eval.name)))?;
        }
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
        if let Some(cache) = &cache {
            cache.prepare();
        }
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
        let limits = &plan.eval.limits;
        let so_far = match &options.home {
            Home::Part(part) => siblings::so_far(part, limits),
            _ => (spent(&past), Duration::ZERO),
        };
        let throttle = Throttle::new(limits, options.concurrency, so_far);
        let session = Self {
            bench: Bench::new(Arc::clone(&plan.eval.agent)),
            unfinished: Mutex::default(),
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
            throttle,
            models: Mutex::default(),
            started: Instant::now(),
            cache,
            noticed: Mutex::default(),
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
                    self.ask_slot(place * epochs + turn % epochs);
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
            record.forget();
            record
        };
        slots.map(ask).collect()
    }

    /// How many records a sample has.
    fn epochs(&self) -> usize {
        self.plan.eval.epochs as usize
    }

    /// The sample of a slot, and its epoch.
    fn question(&self, slot: usize) -> (Item, u32) {
        let epoch = u32::try_from(slot % self.epochs()).unwrap_or_default();
        (self.plan.items[slot / self.epochs()].unpack(), epoch)
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
                cached,
                ..
            } => {
                let mut outcome = self.judge(&item, output, latency, attempts);
                if redacted > 0 {
                    judge::doubt(&mut outcome);
                }
                outcome.redacted = redacted;
                outcome.cached = cached;
                outcome
            }
            Past { attempts, .. } => {
                self.emit(&Event::SampleStarted {
                    id: &item.sample.id,
                    epoch,
                });
                self.ask((&item, epoch), attempts)
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

    /// Writes an event; a run that cannot do so stops.
    fn journal(&self, event: &StoredEvent) -> bool {
        let written = self.events.append(event);
        if let Err(error) = &written {
            self.stop_for(error);
        }
        written.is_ok()
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

/// What an attempt gave, and the seconds it took.
type Attempted = (std::result::Result<Output, AgentError>, f64);
