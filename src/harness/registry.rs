//! `TestRegistry`: the trials of one eval while they wait on libtest's threads.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{Builder, JoinHandle};

use super::InFlight;
use super::client::{RunEnd, TrialClient};
use super::flip::SampleVerdict;
use super::pool::EvalPool;
use super::verdict::{self, TestVerdict};
use crate::agent::Agent;
use crate::eval::plan::Plan;
use crate::system::cancel::Cancel;
use crate::system::lock;
use crate::verdict::check::selected_part;

/// One eval: its trials by name, and the pool that they wait for.
pub(super) struct TestRegistry {
    eval: String,
    agent: Arc<dyn Agent>,
    names: Vec<String>,
    gates: Vec<String>,
    /// Places of gates that are also asked if only some samples are selected.
    always: HashSet<usize>,
    order: Vec<usize>,
    /// The places of the selected samples, in asking order.
    selected: OnceLock<Vec<usize>>,
    stage: Mutex<Stage>,
    client: Arc<TrialClient>,
}

/// The state of the pool.
enum Stage {
    /// Not started by any trial yet.
    Idle(Box<Idle>),
    /// Running, or ended.
    Started(JoinHandle<()>),
    /// Gone, or never existed.
    Over,
}

/// The parts of a pool to be started.
struct Idle {
    plan: Plan,
    cancel: Cancel,
    threads: Option<usize>,
    in_flight: Arc<InFlight>,
}

impl TestRegistry {
    /// `threads` is the number the user asked for; otherwise `limits.concurrency` applies. All evals share the slots of
    /// `in_flight`.
    pub(super) fn new(
        plan: Plan,
        cancel: &Cancel,
        threads: Option<usize>,
        in_flight: &Arc<InFlight>,
    ) -> Self {
        Self {
            eval: plan.eval.name.clone(),
            agent: Arc::clone(&plan.eval.agent),
            names: plan.trial_names(),
            gates: plan.gate_names(),
            always: {
                let gates = plan.gates.iter().enumerate();
                let always = gates.filter(|(_, gate)| gate.is_default());
                always.map(|(number, _)| number).collect()
            },
            order: plan.order.clone(),
            selected: OnceLock::new(),
            stage: Mutex::new(Stage::Idle(Box::new(Idle {
                plan,
                cancel: cancel.clone(),
                threads,
                in_flight: Arc::clone(in_flight),
            }))),
            client: Arc::default(),
        }
    }

    pub(super) fn eval(&self) -> &str {
        &self.eval
    }

    /// The samples' places and names, in asking order.
    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &String)> {
        self.order.iter().map(|&place| (place, &self.names[place]))
    }

    pub(super) fn gate_names(&self) -> &[String] {
        &self.gates
    }

    /// Sets which of the trials will run.
    pub(super) fn select(&self, trials: &HashSet<&str>) {
        let selected = self.names().filter(|(_, name)| trials.contains(&***name));
        let places = selected.map(|(place, _)| place).collect();
        let _ = self.selected.set(places);
    }

    /// Waits for a sample, and for the gates if they decide about it.
    pub(super) fn sample(&self, place: usize) -> TestVerdict {
        self.start();
        match self.client.sample(place) {
            Ok(SampleVerdict::Closed(verdict)) => verdict,
            Ok(SampleVerdict::Open(flip)) => match self.client.run() {
                Ok(run) => flip.close(&run),
                Err(message) => TestVerdict::Failed(message),
            },
            Err(message) => TestVerdict::Failed(message),
        }
    }

    /// Waits for the samples and returns a gate's verdict.
    pub(super) fn gate(&self, place: usize) -> TestVerdict {
        let total = self.names.len();
        let selected = self.selected.get().map_or(0, Vec::len);
        let is_requested = selected == total || selected > 0 && self.always.contains(&place);
        if !is_requested {
            return TestVerdict::Ignored(selected_part(selected as u64, total as u64));
        }
        self.start();
        match self.client.run() {
            Ok(run) => verdict::of_gate_in(&run, place),
            Err(message) => TestVerdict::Failed(message),
        }
    }

    /// Notices about how the agent ran here, such as what its sandbox lacks.
    pub(super) fn notices(&self) -> Vec<String> {
        self.agent.notices()
    }

    /// How the run ended, if a trial started it.
    pub(super) fn finish(&self) -> Option<RunEnd> {
        let stage = std::mem::replace(&mut *lock(&self.stage), Stage::Over);
        if let Stage::Started(pool) = stage {
            // Its result is stored, even if it panicked.
            let _ = pool.join();
        }
        self.client.ended()
    }

    /// Starts the pool, unless it is started.
    fn start(&self) {
        let mut stage = lock(&self.stage);
        let idle = match std::mem::replace(&mut *stage, Stage::Over) {
            Stage::Idle(idle) => *idle,
            other => {
                *stage = other;
                return;
            }
        };
        let pool = EvalPool {
            plan: idle.plan,
            places: self.selected.get().cloned().unwrap_or_default(),
            threads: idle.threads,
            in_flight: idle.in_flight,
            cancel: idle.cancel,
            client: Arc::clone(&self.client),
        };
        let builder = Builder::new().name("evaltest-pool".to_owned());
        match builder.spawn(move || pool.run()) {
            Ok(thread) => *stage = Stage::Started(thread),
            Err(error) => {
                let message = format!("infrastructure: cannot start a thread: {error}");
                self.client.end(Err(message));
            }
        }
    }
}

#[cfg(test)]
mod tests;
