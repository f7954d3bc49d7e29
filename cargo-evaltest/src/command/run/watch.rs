//! `run --watch`: an eval runs again when its spec, its dataset or its agent changes, and says what flipped.
//!
//! Files are looked at from time to time. A change while an eval runs ends that run, for it is of a state that is no more;
//! what was answered by then comes from the cache, if it is still true.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evaltest::engine::report::Event;
use evaltest::engine::run::drive::Drive;
use evaltest::engine::system::lock::lock;
use evaltest::engine::system::project::shown;
use evaltest::engine::system::signal::{self, Interrupt};
use evaltest::{CacheUse, Cancel, Error, Eval, Exit, Result};

use super::RunArgs;
use super::sources::{SourceState, Sources};
use super::watched::{FlipsSince, Verdicts, report};
use crate::console;
use crate::progress::{Ahead, Progress};

/// How often files are looked at, at most.
const PAUSE: Duration = Duration::from_millis(300);
/// How soon an interrupt is seen.
const GLANCE: Duration = Duration::from_millis(30);
/// So many files that changed are named.
const NAMED: usize = 4;

/// Runs evals, and again what changes, until it is interrupted.
pub(super) fn watch(args: &RunArgs) -> Result<Exit> {
    let cancel = Cancel::new();
    let mut watching = Watching {
        args,
        interrupt: signal::cancel_on_signals(&cancel)
            .map_err(|error| Error::refused("handle signals", &error))?,
        cancel,
        evals: BTreeMap::new(),
        has_begun: false,
    };
    // What is wrong from the beginning is no work in progress.
    let mut seen = watching.round()?;
    watching.has_begun = true;
    while !watching.interrupt.is_set() {
        let files = seen.files();
        console::note(&format!("watching {files} files; Ctrl-C ends"));
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
    /// Whether all ran once.
    has_begun: bool,
}

/// What is known of an eval.
#[derive(Default)]
struct WatchedEval {
    sources: Sources,
    /// What it was made of when it ran last.
    ran: Option<SourceState>,
    verdicts: Verdicts,
}

impl Watching<'_> {
    /// Runs what changed since it ran last. What the files were like when it began.
    fn round(&mut self) -> Result<SourceState> {
        let before = self.state();
        let mut drive = self.args.drive()?;
        drive.cache = Some(CacheUse::On);
        let work = self.args.work(&mut drive)?;
        if !work.tests.is_empty() {
            return Err(Error::usage(
                "`--watch` is for specs, and here are evals of a test target",
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
                // It is looked at anew, when its files rest.
                Ok(false) => return Ok(before),
                Err(error) if self.has_begun => console::complain(&error),
                Err(error) => return Err(error),
            }
        }
        Ok(seen)
    }

    /// Runs an eval that is in this state; `false` if that changed meanwhile.
    fn run(
        &mut self,
        drive: &Drive,
        eval: &Eval,
        state: SourceState,
        progress: &Arc<Progress>,
    ) -> Result<bool> {
        let watched = self.evals.entry(eval.name().to_owned()).or_default();
        let is_first = watched.ran.is_none();
        let ran = watched.ran.as_ref();
        let prepared = if ran.is_none_or(|ran| watched.sources.cache_knows(ran, &state)) {
            drive.prepare(eval)?
        } else {
            let drive = Drive {
                cache: Some(CacheUse::Refresh),
                ..drive.clone()
            };
            drive.prepare(&drive.adapt(eval.clone())?)?
        };
        let cancel = self.cancel.child();
        let verdicts = Arc::new(Mutex::new(Verdicts::default()));
        let observer = observer(Arc::clone(progress), Arc::clone(&verdicts), is_first);
        let (ended, sources) = (AtomicBool::new(false), &watched.sources);
        let (run, is_stale) = std::thread::scope(|scope| {
            let looks = || {
                let has_ended = || ended.load(Ordering::SeqCst);
                let is_stale = until(has_ended, || sources.state() != state);
                if is_stale {
                    cancel.cancel();
                }
                is_stale
            };
            // Where there is no thread to be had, the run comes to its end.
            let looking = std::thread::Builder::new().spawn_scoped(scope, looks).ok();
            let run = drive.run(prepared, &cancel, Arc::new(observer));
            ended.store(true, Ordering::SeqCst);
            let is_stale = looking.is_some_and(|looking| looking.join().unwrap_or_default());
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

    /// What the files are like now.
    fn state(&self) -> SourceState {
        let mut state = SourceState::default();
        for eval in self.evals.values() {
            state.extend(&eval.sources.state());
        }
        state
    }

    /// Waits until files are otherwise than they were seen, and rest; `None` when it is interrupted.
    fn change(&self, seen: &SourceState) -> Option<Vec<PathBuf>> {
        let mut last = None;
        let is_interrupted = || self.interrupt.is_set();
        let is_there = until(is_interrupted, || {
            let now = self.state();
            // An editor writes in several steps, and a checkout many files.
            let rests = last.as_ref() == Some(&now);
            let is_other = now != *seen;
            last = Some(now);
            is_other && rests
        });
        last.filter(|_| is_there).map(|now| now.others(seen))
    }
}

/// Keeps verdicts, and passes on what a person wants to know of a run that is one of many.
fn observer(
    progress: Arc<Progress>,
    verdicts: Arc<Mutex<Verdicts>>,
    is_first: bool,
) -> impl Fn(&Event<'_>) + Send + Sync {
    let is_terminal = std::io::stderr().is_terminal();
    move |event| match event {
        Event::SampleFinished { record } => {
            lock(&verdicts).add(record);
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
            // They were told.
            opening: "",
            notices: &[],
        }),
        event => progress.event(event),
    }
}

/// Waits until this is so, looking seldom enough to take no time of the machine; `false` if it `ended` first.
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
            std::thread::sleep(GLANCE);
        }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().take(NAMED).map(|path| shown(path)).collect();
    let names = names.join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
