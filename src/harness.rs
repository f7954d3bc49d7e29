//! The test harness: samples and gates as libtest cases. The only file that uses libtest-mimic.
//!
//! Trials are named `<eval>::<slice>::<sample id>`, gates `<eval>::gate::<metric>[<slice>]`, and come last. A trial
//! sends no requests, it only waits. A separate worker pool processes the selected samples of an eval and then checks
//! the gates; the first trial of the eval starts it. So a sample that depends on a gate can wait for it, and nothing
//! can deadlock, with any number of threads, order or filter.
//!
//! Nothing starts on `--list` or if all trials are filtered out: the first trial creates the run directory.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::process::{ExitCode, Termination};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::eval::plan::{BaselineUse, Plan};
use crate::exit::{Caller, Exit};
use crate::report::terminal;
use crate::run::drive;
use crate::run::drive::Drive;
use crate::snapshot;
use crate::store::cache;
use crate::system::cancel::Cancel;
use crate::system::lock;
use crate::system::project::display;
use crate::text::{clean, clean_lines};
use client::RunEnd;
use registry::TestRegistry;
use verdict::{Note, TestVerdict};

mod client;
mod flip;
mod libtest;
mod message;
mod parts;
mod pool;
mod registry;
mod verdict;

/// The result of a test binary. Return it from `main`.
#[derive(Clone, Copy, Debug)]
#[must_use = "return it from `main`, or the exit code is lost"]
#[non_exhaustive]
pub struct Conclusion {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that were ignored, such as gates if only some samples are selected.
    pub ignored: u64,
    exit: Exit,
    caller: Caller,
}

impl Conclusion {
    fn without_tests(exit: Exit, caller: Caller) -> Self {
        Self {
            passed: 0,
            failed: 0,
            ignored: 0,
            exit,
            caller,
        }
    }

    /// The exit status of the evals.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// The exit code: that of [`exit`](Self::exit), but libtest's 101 for failures.
    pub fn code(&self) -> u8 {
        self.caller.code(self.exit)
    }
}

impl Termination for Conclusion {
    fn report(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

/// Runs evals as tests, with the process's arguments. Call it as the whole of `main` in a test with `harness = false`.
///
/// # Errors
/// If an eval or its dataset is invalid; nothing was requested then.
pub fn run(evals: impl IntoIterator<Item = Eval>) -> Result<Conclusion> {
    crate::system::panics::quiet();
    let mut evals: Vec<Eval> = evals.into_iter().collect();
    check_names(&evals)?;
    if let Some(drive) = Drive::from_env()? {
        return driven(&drive, evals);
    }
    if let Some(usage) = cache::of_environment()? {
        for eval in &mut evals {
            eval.cache.usage = usage;
        }
    }
    let args = match libtest::parse(
        std::env::args().skip(1),
        std::env::var("RUST_TEST_THREADS").ok(),
    ) {
        Ok(args) => args,
        Err(message) => return Ok(refused(&message)),
    };
    let mut arguments = Arguments::from_iter(
        std::iter::once("evaltest".to_owned()).chain(args.rest.iter().cloned()),
    );
    arguments.test_threads = args.threads.or(arguments.test_threads);
    if arguments.test_threads == Some(0) {
        return Ok(refused("`--test-threads` must be at least 1"));
    }
    let per_process = parts::run_id().filter(|_| !arguments.list);
    let baseline = if arguments.list || per_process.is_some() {
        BaselineUse::Ignore
    } else {
        BaselineUse::Compare
    };
    let plans = evals
        .iter()
        .map(|eval| Plan::load(eval, baseline).map(Plan::without_default_comparison))
        .collect::<Result<Vec<_>>>()?;
    if !arguments.list {
        for plan in &plans {
            let folder = &plan.eval.snapshot.folder;
            snapshot::reference(
                plan.items
                    .iter()
                    .map(|item| snapshot::path(folder, &item.id)),
            );
        }
    }
    match per_process {
        Some(run_id) => per_process_run(&arguments, &args, plans, &run_id),
        None => in_process_run(arguments, &args, plans),
    }
}

fn check_names(evals: &[Eval]) -> Result<()> {
    let mut seen = HashSet::new();
    match evals.iter().find(|eval| !seen.insert(eval.name())) {
        None => Ok(()),
        Some(eval) => Err(
            Error::usage(format!("two evals are called `{}`", eval.name()))
                .hint("give one of them another name: `.named(\"…\")` or `name:` in its spec"),
        ),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a test binary tells its user why it does not start"
)]
fn refused(message: &str) -> Conclusion {
    eprintln!("error: {}", clean_lines(message));
    Conclusion::without_tests(Exit::Usage, Caller::Harness)
}

fn driven(drive: &Drive, evals: Vec<Eval>) -> Result<Conclusion> {
    let cancel = Cancel::new();
    let signals = crate::system::process::signal::cancel_on_signals(&cancel);
    signals.map_err(|error| Error::refused("handle signals", &error))?;
    let served = drive::serve(drive, evals, &cancel, &mut std::io::stdout());
    let exit = served.unwrap_or_else(|error| {
        // Print it here: returning it from `main` would exit with 1.
        let _ = writeln!(std::io::stderr(), "error: {error}");
        error.exit()
    });
    Ok(Conclusion::without_tests(exit, Caller::Command))
}

/// The usual case: runs all trials in this process.
fn in_process_run(
    mut arguments: Arguments,
    args: &libtest::Args,
    plans: Vec<Plan>,
) -> Result<Conclusion> {
    let explicit = arguments.test_threads;
    let concurrency = plans
        .iter()
        .map(|plan| plan.eval.limits.concurrency)
        .max()
        .unwrap_or(1);
    let threads = explicit.unwrap_or(concurrency);
    arguments.test_threads = Some(threads);
    let cancel = Cancel::new();
    let in_flight = Arc::new(InFlight::new(threads));
    let registries: Vec<Arc<TestRegistry>> = plans
        .into_iter()
        .map(|plan| Arc::new(TestRegistry::new(plan, &cancel, explicit, &in_flight)))
        .collect();
    let notes = Arc::new(Notes::default());
    let mut trials = Vec::new();
    for registry in &registries {
        for (place, name) in registry.names() {
            let (registry, notes) = (Arc::clone(registry), Arc::clone(&notes));
            trials.push(Trial::ignorable_test(name.clone(), move || {
                completion(registry.sample(place), |note| {
                    notes.add(registry.eval(), note);
                })
            }));
        }
    }
    for registry in &registries {
        for (place, name) in registry.gate_names().iter().enumerate() {
            let registry = Arc::clone(registry);
            trials.push(Trial::ignorable_test(name, move || {
                completion(registry.gate(place), |_| {})
            }));
        }
    }
    let trials = args.apply(&mut arguments, trials);
    let runs = |trial: &&Trial| !arguments.is_filtered_out(trial) && !arguments.is_ignored(trial);
    let selected: HashSet<&str> = trials.iter().filter(runs).map(Trial::name).collect();
    for registry in &registries {
        registry.select(&selected);
    }
    let interrupt = if arguments.list || selected.is_empty() {
        None
    } else {
        let signals = crate::system::process::signal::cancel_on_signals(&cancel);
        Some(signals.map_err(|error| Error::refused("handle signals", &error))?)
    };
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Not to stdout, which may be read by a program.
    notes.print_notes(&mut std::io::stderr());
    let mut is_broken = false;
    for registry in &registries {
        if let Some(end) = registry.finish() {
            is_broken |= !print_notes(end, &registry.notices());
        }
    }
    let interrupted = interrupt.is_some_and(|interrupt| interrupt.is_set());
    let mut concluded = concluded(&conclusion, interrupted);
    if is_broken {
        // No gate covers it, and a run that could not be written must not pass.
        concluded.exit = concluded.exit.max(Exit::Failed);
    }
    Ok(concluded)
}

/// Prints the remarks of a finished run that no test shows; returns whether there is a run.
fn print_notes(end: RunEnd, notices: &[String]) -> bool {
    let mut stderr = std::io::stderr();
    let run = match end {
        Ok(run) => run,
        Err(message) => {
            let _ = writeln!(stderr, "error: {}", clean_lines(&message));
            return false;
        }
    };
    for notice in notices {
        let _ = writeln!(stderr, "{}: note: {}", run.eval, clean(notice));
    }
    // A passing gate shows nothing by itself.
    let gates = run.summary.gates.iter();
    let comparisons = gates.filter_map(|gate| gate.regression.as_ref());
    for warning in comparisons.filter_map(|comparison| comparison.warning.as_ref()) {
        let _ = writeln!(stderr, "{}: warning: {}", run.eval, clean(warning));
    }
    let _ = terminal::account(&run.summary, &mut stderr);
    let _ = writeln!(stderr, "{}: run directory: {}", run.eval, display(&run.dir));
    true
}

/// Notes on samples that passed: ids by eval and text.
#[derive(Default)]
struct Notes(Mutex<BTreeMap<(String, String), Vec<String>>>);

impl Notes {
    fn add(&self, eval: &str, Note { id, what }: Note) {
        let mut notes = lock(&self.0);
        notes.entry((eval.to_owned(), what)).or_default().push(id);
    }

    fn print_notes(&self, out: &mut dyn Write) {
        for ((eval, what), ids) in &mut *lock(&self.0) {
            ids.sort();
            let _ = writeln!(out, "{eval}: {what}: {}", clean(&ids.join(", ")));
        }
    }
}

/// Under nextest: runs one trial in this process.
fn per_process_run(
    arguments: &Arguments,
    args: &libtest::Args,
    plans: Vec<Plan>,
    run_id: &str,
) -> Result<Conclusion> {
    let cancel = Cancel::new();
    let signals = crate::system::process::signal::cancel_on_signals(&cancel);
    let interrupt = signals.map_err(|error| Error::refused("handle signals", &error))?;
    let mut samples = Vec::new();
    let mut gates = Vec::new();
    for plan in plans {
        let names = plan.trial_names();
        let gate_names = plan.gate_names();
        let part = Arc::new(parts::TrialRun::new(plan, run_id, &cancel));
        for (place, name) in names.into_iter().enumerate() {
            let part = Arc::clone(&part);
            samples.push(Trial::ignorable_test(name, move || {
                let notes = Notes::default();
                let done = completion(part.sample(place), |note| notes.add(part.eval(), note));
                notes.print_notes(&mut std::io::stderr());
                done
            }));
        }
        for (number, name) in gate_names.into_iter().enumerate() {
            let part = Arc::clone(&part);
            gates.push(Trial::ignorable_test(name, move || {
                completion(part.gate(number), |_| {})
            }));
        }
    }
    samples.extend(gates);
    let mut arguments = arguments.clone();
    let trials = args.apply(&mut arguments, samples);
    Ok(concluded(
        &libtest_mimic::run(&arguments, trials),
        interrupt.is_set(),
    ))
}

fn concluded(conclusion: &libtest_mimic::Conclusion, interrupted: bool) -> Conclusion {
    let causes = [
        interrupted.then_some(Exit::Interrupted),
        conclusion.has_failed().then_some(Exit::Failed),
    ];
    Conclusion {
        passed: conclusion.num_passed,
        failed: conclusion.num_failed,
        ignored: conclusion.num_ignored,
        exit: Exit::worst(causes.into_iter().flatten()),
        caller: Caller::Harness,
    }
}

fn completion(
    verdict: TestVerdict,
    note: impl FnOnce(Note),
) -> std::result::Result<Completion, Failed> {
    match verdict {
        TestVerdict::Passed => Ok(Completion::Completed),
        TestVerdict::PassedWithNote(noted) => {
            note(noted);
            Ok(Completion::Completed)
        }
        TestVerdict::Ignored(reason) => Ok(Completion::ignored_with(reason)),
        TestVerdict::Failed(message) => Err(message.into()),
    }
}

impl libtest::Args {
    /// Implements several filters, any of which selects a test, which libtest-mimic does not support.
    fn apply(&self, arguments: &mut Arguments, trials: Vec<Trial>) -> Vec<Trial> {
        /// No test kind contains this text, so it hides exactly the trials with it.
        const HIDDEN: &str = "\u{1}hidden";
        if self.filters.len() < 2 {
            arguments.filter = self.filters.first().cloned();
            return trials;
        }
        let exact = arguments.exact;
        let skip = std::mem::replace(&mut arguments.skip, vec![HIDDEN.to_owned()]);
        arguments.exact = false;
        let matches = |name: &str, filter: &String| {
            if exact {
                name == filter
            } else {
                name.contains(filter.as_str())
            }
        };
        let keep = |name: &str| {
            self.filters.iter().any(|filter| matches(name, filter))
                && !skip.iter().any(|filter| matches(name, filter))
        };
        let hide = |trial: Trial| {
            if keep(trial.name()) {
                trial
            } else {
                trial.with_kind(HIDDEN)
            }
        };
        trials.into_iter().map(hide).collect()
    }
}

/// How often a waiter checks whether its run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// As many slots as `--test-threads` says.
struct InFlight {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A taken slot, released on drop.
#[must_use]
struct InFlightGuard<'a>(&'a InFlight);

impl InFlight {
    fn new(permits: usize) -> Self {
        Self {
            free: Mutex::new(permits),
            freed: Condvar::new(),
        }
    }

    /// Waits for a slot; `None` if the caller's run is stopped.
    fn take(&self, is_stopped: impl Fn() -> bool) -> Option<InFlightGuard<'_>> {
        let mut free = lock(&self.free);
        loop {
            if is_stopped() {
                return None;
            }
            if *free > 0 {
                *free -= 1;
                return Some(InFlightGuard(self));
            }
            let waited = self.freed.wait_timeout(free, POLL_INTERVAL);
            free = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::tests::wait::until;

    #[test]
    fn no_more_are_taken_than_there_are() {
        let permits = InFlight::new(2);
        let (taken, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let _guard = permits.take(|| false);
                    let now = taken.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    until("both are taken", || most.load(Ordering::SeqCst) >= 2);
                    std::thread::sleep(Duration::from_millis(5));
                    taken.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 2);
        assert_eq!(*lock(&permits.free), 2);
    }

    #[test]
    fn who_is_stopped_waits_no_longer() {
        let permits = InFlight::new(1);
        let held = permits.take(|| false);
        let stopped = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| permits.take(|| stopped.load(Ordering::SeqCst)).is_none());
            stopped.store(true, Ordering::SeqCst);
            assert!(waits.join().unwrap());
        });
        drop(held);
    }
}
