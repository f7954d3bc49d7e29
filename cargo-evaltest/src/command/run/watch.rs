//! `run --watch`: runs an eval again when its spec, dataset or agent changes, and reports flips.
//!
//! Files are polled. A change during a run cancels it because its inputs are outdated; answers so far are reused from
//! the cache if still valid.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evaltest::engine::report::Event;
use evaltest::engine::run::drive::Drive;
use evaltest::engine::system::lock::lock;
use evaltest::engine::system::project::display;
use evaltest::engine::system::signal::{self, Interrupt};
use evaltest::{CacheUse, Cancel, Error, Eval, Exit, Result};

use super::RunArgs;
use super::sources::{SourceState, Sources};
use super::watched::{FlipsSince, Verdicts, report};
use crate::console;
use crate::progress::{Ahead, Progress};

/// Maximum polling interval for files.
const PAUSE: Duration = Duration::from_millis(300);
/// Polling interval for interrupts.
const POLL_INTERVAL: Duration = Duration::from_millis(30);
/// Maximum number of changed files listed.
const NAMED: usize = 4;

/// Runs evals and reruns those that changed, until interrupted.
pub(super) fn watch(args: &RunArgs) -> Result<Exit> {
    let cancel = Cancel::new();
    let mut watching = Watching {
        args,
        interrupt: signal::cancel_on_signals(&cancel)
            .map_err(|error| Error::refused("handle signals", &error))?,
        cancel,
        evals: BTreeMap::new(),
        has_started: false,
    };
    // Errors in the first round are fatal; later ones may be edits in progress.
    let mut seen = watching.round()?;
    watching.has_started = true;
    while !watching.interrupt.is_set() {
        let files = seen.files();
        console::note(&format!("watching {files} files; Ctrl-C stops"));
        let Some(changed) = watching.change(&seen) else {
            break;
        };
        console::note(&format!("changed: {}", listed(&changed)));
        seen = match watching.round() {
            Ok(seen) => seen,
            Err(error) => {
                console::complain(&error);
                watching.state()
            }
        };
    }
    Ok(Exit::Interrupted)
}

struct Watching<'a> {
    args: &'a RunArgs,
    interrupt: Interrupt,
    cancel: Cancel,
    evals: BTreeMap<String, WatchedEval>,
    /// Whether all evals ran once.
    has_started: bool,
}

/// State of a watched eval.
#[derive(Default)]
struct WatchedEval {
    sources: Sources,
    /// State of its sources at the last run.
    ran: Option<SourceState>,
    verdicts: Verdicts,
}

impl Watching<'_> {
    /// Runs the evals that changed since their last run. Returns the state of the files at the start.
    fn round(&mut self) -> Result<SourceState> {
        let before = self.state();
        let mut drive = self.args.drive()?;
        drive.cache = Some(CacheUse::On);
        let work = self.args.work(&mut drive)?;
        if !work.tests.is_empty() {
            return Err(Error::usage(
                "`--watch` needs specs, but evals of a test target were found",
            )
            .hint("name the specs: cargo evaltest run --watch SPEC"));
        }
        let names: BTreeSet<_> = work.evals.iter().map(Eval::name).collect();
        self.evals.retain(|name, _| names.contains(&**name));
        let mut changed = Vec::new();
        for eval in &work.evals {
            let watched = self.evals.entry(eval.name().to_owned()).or_default();
            watched.sources = Sources::of(eval).and(std::mem::take(&mut watched.sources));
            let state = watched.sources.state();
            if watched.ran.as_ref() != Some(&state) {
                changed.push((eval, state));
            }
        }
        let seen = self.state();
        let progress = Arc::new(Progress::new(false, Ahead::default()));
        for (eval, state) in changed {
            if self.interrupt.is_set() {
                break;
            }
            match self.run(&drive, eval, state, &progress) {
                Ok(true) => {}
                // It runs again once its files stop changing.
                Ok(false) => return Ok(before),
                Err(error) if self.has_started => console::complain(&error),
                Err(error) => return Err(error),
            }
        }
        Ok(seen)
    }

    /// Runs an eval with its sources in `state`; returns false if they changed meanwhile.
    fn run(
        &mut self,
        drive: &Drive,
        eval: &Eval,
        state: SourceState,
        progress: &Arc<Progress>,
    ) -> Result<bool> {
        let watched = self.evals.entry(eval.name().to_owned()).or_default();
        let is_first = watched.ran.is_none();
        let prepared = drive.prepare(eval)?;
        let cancel = self.cancel.child();
        let verdicts = Arc::new(Mutex::new(Verdicts::default()));
        let observer = observer(Arc::clone(progress), Arc::clone(&verdicts), is_first);
        let (ended, sources) = (AtomicBool::new(false), &watched.sources);
        let (run, is_stale) = std::thread::scope(|scope| {
            let watch_sources = || {
                let has_ended = || ended.load(Ordering::SeqCst);
                let is_stale = until(has_ended, || sources.state() != state);
                if is_stale {
                    cancel.cancel();
                }
                is_stale
            };
            // If no thread can be spawned, the run is not cancelled on changes.
            let watcher = std::thread::Builder::new()
                .spawn_scoped(scope, watch_sources)
                .ok();
            let run = drive.run(prepared, &cancel, Arc::new(observer));
            ended.store(true, Ordering::SeqCst);
            let is_stale = watcher.is_some_and(|watcher| watcher.join().unwrap_or_default());
            (run, is_stale)
        });
        if self.interrupt.is_set() {
            return Ok(true);
        }
        if is_stale {
            return Ok(false);
        }
        watched.ran = Some(state);
        let run = run?;
        let flips = if is_first {
            FlipsSince::since_baseline(&run)
        } else {
            watched.verdicts.flips(&lock(&verdicts))
        };
        watched.verdicts.learn(&lock(&verdicts));
        report(self.args, &run, &flips)?;
        Ok(true)
    }

    /// The current state of all sources.
    fn state(&self) -> SourceState {
        let mut state = SourceState::default();
        for eval in self.evals.values() {
            state.extend(&eval.sources.state());
        }
        state
    }

    /// Waits until files changed since `seen` and then stopped changing; `None` if interrupted.
    fn change(&self, seen: &SourceState) -> Option<Vec<PathBuf>> {
        let mut last = None;
        let is_interrupted = || self.interrupt.is_set();
        let is_there = until(is_interrupted, || {
            let now = self.state();
            // Editors write in several steps, and a checkout changes many files.
            let rests = last.as_ref() == Some(&now);
            let is_other = now != *seen;
            last = Some(now);
            is_other && rests
        });
        last.filter(|_| is_there).map(|now| now.others(seen))
    }
}

/// Records verdicts, and forwards the events that matter in repeated runs.
fn observer(
    progress: Arc<Progress>,
    verdicts: Arc<Mutex<Verdicts>>,
    is_first: bool,
) -> impl Fn(&Event<'_>) + Send + Sync {
    let is_terminal = std::io::stderr().is_terminal();
    move |event| match event {
        Event::SampleFinished { record } => {
            if record.perturb.is_none() {
                lock(&verdicts).add(record);
            }
            if is_terminal {
                progress.event(event);
            }
        }
        Event::RunStarted {
            eval,
            samples,
            epochs,
            resumed,
            dir,
            ..
        } if !is_first => progress.event(&Event::RunStarted {
            eval,
            samples: *samples,
            epochs: *epochs,
            resumed: *resumed,
            dir,
            // Already shown for the first run.
            opening: "",
            notices: &[],
        }),
        event => progress.event(event),
    }
}

/// Polls until `is_so`, with pauses that keep the CPU load low; false if `ended` first.
fn until(ended: impl Fn() -> bool, mut is_so: impl FnMut() -> bool) -> bool {
    loop {
        let began = Instant::now();
        if is_so() {
            return true;
        }
        let next = Instant::now() + PAUSE.max(began.elapsed() * 20);
        while Instant::now() < next {
            if ended() {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().take(NAMED).map(|path| display(path)).collect();
    let names = names.join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
