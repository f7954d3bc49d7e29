//! `Board`: one eval while its trials run on libtest's threads.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use once_cell::sync::OnceCell;

use super::verdict::{self, TestVerdict};
use crate::error::Error;
use crate::eval::plan::Plan;
use crate::run::{Keep, RunOptions, Scope, Session};
use crate::snapshot::update::Policy;
use crate::system::cancel::Cancel;
use crate::system::lock::lock;
use crate::system::project;
use crate::verdict::run::Run;

/// One eval, its session and the latch on which its gates wait.
pub(super) struct Board {
    eval: String,
    names: Vec<String>,
    gates: Vec<String>,
    /// Places of gates that are also asked where only some of the samples are selected.
    always: HashSet<usize>,
    ids: Vec<Box<str>>,
    order: Vec<usize>,
    plan: Mutex<Option<Plan>>,
    threads: Option<usize>,
    cancel: Cancel,
    policy: Policy,
    selected: OnceLock<HashSet<usize>>,
    session: OnceCell<Session>,
    broken: OnceLock<String>,
    /// How the run ended; ending it twice would lose records.
    run: OnceLock<Result<Run, String>>,
    latch: Latch,
    /// Free places, when the harness may not use more than `limits.concurrency`.
    slots: Option<(Mutex<usize>, Condvar)>,
}

/// Opens when every selected sample is through.
#[derive(Default)]
struct Latch {
    left: Mutex<usize>,
    opened: Condvar,
}

/// Counts a sample as through, also when its trial panics.
struct Release<'a>(&'a Board);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        let mut left = lock(&self.0.latch.left);
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.0.latch.opened.notify_all();
        }
        drop(left);
        if let Some((free, freed)) = &self.0.slots {
            *lock(free) += 1;
            freed.notify_one();
        }
    }
}

impl Board {
    /// `threads` is how many the user asked for; else no more than `limits.concurrency` may be in flight.
    pub(super) fn new(plan: Plan, cancel: &Cancel, threads: Option<usize>) -> Self {
        Self {
            eval: plan.eval.name.clone(),
            names: plan.trial_names(),
            gates: plan.gate_names(),
            always: {
                let gates = plan.gates.iter().enumerate();
                let always = gates.filter(|(_, gate)| gate.is_default());
                always.map(|(number, _)| number).collect()
            },
            ids: plan.items.iter().map(|item| item.id.clone()).collect(),
            order: plan.order.clone(),
            slots: threads
                .is_none()
                .then(|| (Mutex::new(plan.eval.limits.concurrency), Condvar::new())),
            plan: Mutex::new(Some(plan)),
            threads,
            cancel: cancel.clone(),
            policy: Policy::from_env(),
            selected: OnceLock::new(),
            session: OnceCell::new(),
            broken: OnceLock::new(),
            run: OnceLock::new(),
            latch: Latch::default(),
        }
    }

    /// The samples' places and names, in the order in which they are asked.
    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &String)> {
        self.order.iter().map(|&place| (place, &self.names[place]))
    }

    pub(super) fn gate_names(&self) -> Vec<String> {
        self.gates.clone()
    }

    /// Tells which of the trials will run.
    pub(super) fn select(&self, trials: &HashSet<&str>) {
        let places =
            (0..self.names.len()).filter(|&place| trials.contains(self.names[place].as_str()));
        let places: HashSet<usize> = places.collect();
        *lock(&self.latch.left) = places.len();
        let _ = self.selected.set(places);
    }

    /// Runs one sample's trial.
    pub(super) fn sample(&self, place: usize) -> TestVerdict {
        if let Some((free, freed)) = &self.slots {
            let free = lock(free);
            let waited = freed.wait_while(free, |free| *free == 0);
            *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        }
        let _release = Release(self);
        match self.session() {
            Err(message) => TestVerdict::Failed(message),
            Ok(session) => {
                let records = session.run_sample(place);
                verdict::of_sample(session, place, &records, self.policy)
            }
        }
    }

    /// Waits for the samples and gives a gate's verdict.
    pub(super) fn gate(&self, number: usize) -> TestVerdict {
        let total = self.names.len();
        let selected = self.selected.get().map_or(0, HashSet::len);
        let is_asked = selected == total || selected > 0 && self.always.contains(&number);
        if !is_asked {
            return TestVerdict::Ignored(format!("{selected} of {total} samples selected"));
        }
        let left = lock(&self.latch.left);
        drop(self.latch.opened.wait_while(left, |left| *left > 0));
        match self.finish() {
            Ok(run) => verdict::of_gate(&run.summary.gates[number], &run.dir),
            Err(message) => TestVerdict::Failed(message),
        }
    }

    /// Ends the run if a sample started it.
    pub(super) fn finish_if_started(&self) -> Option<Result<&Run, Error>> {
        self.session.get()?;
        Some(self.finish().map_err(Error::infrastructure))
    }

    fn finish(&self) -> Result<&Run, String> {
        let session = self.session()?;
        let run = self
            .run
            .get_or_init(|| session.finish().map_err(|error| error.to_string()));
        run.as_ref().map_err(Clone::clone)
    }

    /// The session, started by the first sample.
    fn session(&self) -> Result<&Session, String> {
        if let Some(message) = self.broken.get() {
            return Err(message.clone());
        }
        self.session
            .get_or_try_init(|| {
                let plan = lock(&self.plan).take();
                let plan =
                    plan.ok_or_else(|| Error::infrastructure("the run could not be started"))?;
                let options = RunOptions {
                    scope: Scope {
                        only: self.only(),
                        partial: false,
                    },
                    concurrency: self.threads,
                    cancel: self.cancel.clone(),
                    ci: project::is_ci(),
                    keep: Keep::Notable,
                    ..RunOptions::default()
                };
                Session::with_plan(plan, options, Arc::new(|_| {}))
            })
            .map_err(|error| {
                let message = format!("infrastructure: eval `{}`: {error}", self.eval);
                self.broken.get_or_init(|| message).clone()
            })
    }

    fn only(&self) -> Option<HashSet<String>> {
        let selected = self
            .selected
            .get()
            .filter(|selected| selected.len() < self.ids.len())?;
        Some(
            selected
                .iter()
                .map(|&place| self.ids[place].to_string())
                .collect(),
        )
    }
}
