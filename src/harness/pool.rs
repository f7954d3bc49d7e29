//! `EvalPool`: the threads that ask the samples of one eval and end its run, while its trials wait.
//!
//! It neither needs nor waits for a trial, so trials may wait for the gates in any order and with any number of test
//! threads.

use std::collections::HashSet;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread::Builder;
use std::time::Duration;

use super::InFlight;
use super::client::{Close, RunEnd, TrialClient};
use super::flip::{FlipWatch, SampleVerdict};
use super::message;
use super::verdict::TestVerdict;
use crate::eval::plan::Plan;
use crate::run::{Caller, CiPolicy, RunOptions, Scope, Session};
use crate::snapshot::Policy;
use crate::store::random_run_id;
use crate::system::cancel::Cancel;
use crate::system::panics;
use crate::system::shortage;
use crate::verdict::check::selected_part;

/// Shared by the runs of all evals of a test binary, which `cargo evaltest accept` accepts together.
static INVOCATION: LazyLock<String> = LazyLock::new(|| random_run_id("test"));

/// After which times the pool reports its progress while trials wait; the last one repeats.
const TELLS: [Duration; 3] = [
    Duration::from_secs(2),
    Duration::from_secs(10),
    Duration::from_secs(30),
];

/// The input of an eval's pool.
pub(super) struct EvalPool {
    pub(super) plan: Plan,
    /// The places of the selected samples, in asking order.
    pub(super) places: Vec<usize>,
    /// How many may be in flight, if the eval does not decide that.
    pub(super) threads: Option<usize>,
    /// The slots of all evals.
    pub(super) in_flight: Arc<InFlight>,
    pub(super) cancel: Cancel,
    pub(super) client: Arc<TrialClient>,
}

impl EvalPool {
    /// Asks all samples and ends the run, on this thread and its own.
    pub(super) fn run(self) {
        let client = Arc::clone(&self.client);
        let _close = Close(&client);
        let run = panics::catch(|| self.ask());
        client.end(run.unwrap_or_else(|panic| Err(format!("infrastructure: the run {panic}"))));
    }

    fn ask(self) -> RunEnd {
        let eval = self.plan.eval.name.clone();
        let broken = |error| format!("infrastructure: eval `{eval}`: {error}");
        if self.cancel.is_cancelled() {
            // Interrupted while another eval ran: there is nothing to record.
            return Err("infrastructure: not asked: interrupted".to_owned());
        }
        let total = self.plan.items.len();
        let is_part = self.places.len() < total;
        let ids = self.places.iter().map(|&place| &self.plan.items[place].id);
        let only = is_part.then(|| ids.map(ToString::to_string).collect::<HashSet<_>>());
        let options = RunOptions {
            scope: Scope {
                only,
                ..Scope::default()
            },
            concurrency: self.threads,
            cancel: self.cancel,
            ci: CiPolicy::from_env(),
            caller: Caller::Harness,
            invocation: Some(INVOCATION.clone()),
            ..RunOptions::default()
        };
        let threads = self.threads.unwrap_or(self.plan.eval.limits.concurrency);
        let session = Session::with_plan(self.plan, options, Arc::new(|_| {})).map_err(broken)?;
        let selected = self.places.len();
        let queue = TrialQueue {
            judging: FlipWatch {
                session: &session,
                policy: Policy::from_env(),
                has_baseline: session.plan().baseline.is_some(),
                no_gate: is_part.then(|| selected_part(selected as u64, total as u64)),
            },
            places: session.queue(),
            next: AtomicUsize::new(0),
            in_flight: &self.in_flight,
            client: &self.client,
        };
        queue.all(session.threads(threads), &eval);
        let run = session.finish();
        run.map(Arc::new)
            .map_err(|error| format!("infrastructure: {error}"))
    }
}

/// Shared by the threads of a pool.
struct TrialQueue<'a> {
    judging: FlipWatch<'a>,
    places: &'a [usize],
    /// The next position.
    next: AtomicUsize,
    in_flight: &'a InFlight,
    client: &'a TrialClient,
}

impl TrialQueue<'_> {
    /// Asks every sample, `threads` at a time, and stores a verdict on each.
    fn all(&self, threads: usize, eval: &str) {
        let threads = threads.clamp(1, self.places.len().max(1));
        // How many threads work, set once it is known how many can be started.
        let thread_limit = OnceLock::new();
        std::thread::scope(|scope| {
            // Nothing is sent: the channel closes when no thread works any more.
            let (working, watched) = channel::<()>();
            let thread_limit = &thread_limit;
            let started = (0..threads).find(|&number| {
                let working = working.clone();
                let builder = Builder::new().name(format!("evaltest-{}", number + 1));
                let work = move || {
                    if number < *thread_limit.wait() {
                        self.work(&working);
                    }
                };
                builder.spawn_scoped(scope, work).is_err()
            });
            let _ = thread_limit.set(started.map_or(threads, shortage::threads_to_keep));
            if started == Some(0) {
                self.work(&working);
            }
            drop(working);
            self.watch(&watched, eval);
        });
        // Samples that were not asked because the run ended.
        while let Some((_, place)) = self.turn() {
            self.leave_unasked(place);
        }
    }

    /// The next position with its place.
    fn turn(&self) -> Option<(usize, usize)> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        Some((turn, *self.places.get(turn)?))
    }

    fn leave_unasked(&self, place: usize) {
        let verdict = message::not_run(self.judging.session);
        self.client.leave(place, SampleVerdict::Closed(verdict));
    }

    /// Asks one sample after another.
    fn work(&self, _working: &Sender<()>) {
        let session = self.judging.session;
        while let Some(_guard) = self.in_flight.take(|| session.is_stopped()) {
            let Some((turn, place)) = self.turn() else {
                return;
            };
            if !session.admits_sample(turn) {
                self.leave_unasked(place);
                continue;
            }
            let judged =
                panics::catch(|| self.judging.of_sample(place, &session.run_sample(place)));
            let verdict = judged.unwrap_or_else(|panic| {
                SampleVerdict::Closed(TestVerdict::Failed(format!("infrastructure: {panic}")))
            });
            self.client.leave(place, verdict);
        }
    }

    /// Reports progress while trials wait, until no thread works any more.
    fn watch(&self, watched: &Receiver<()>, eval: &str) {
        let mut tells = TELLS.into_iter();
        let mut pause = tells.next().unwrap_or_default();
        while watched.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            if let Some(done) = self.client.waited_for() {
                let all = self.places.len();
                let _ = writeln!(
                    std::io::stderr(),
                    "{eval}: {done} of {all} samples are done"
                );
            }
            pause = tells.next().unwrap_or(pause);
        }
    }
}
