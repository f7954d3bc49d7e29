//! `TrialClient`: passes results from an eval's pool to the waiting trials.
//!
//! A trial waits for its own sample; a gate, or a sample that a gate decides about, for the end of the run. The pool
//! waits for no trial, so there is no deadlock: whatever happens to the pool, its [`Close`] ends the waiting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};

use super::flip::SampleVerdict;
use crate::system::lock;
use crate::verdict::conclude::Run;

/// How a run ended: the run, or why there is none, starting with `infrastructure: `.
pub(super) type RunEnd = Result<Arc<Run>, String>;

/// The results of one eval so far.
#[derive(Default)]
pub(super) struct TrialClient(Mutex<TrialState>);

#[derive(Default)]
struct TrialState {
    /// By place, until its trial takes it.
    samples: HashMap<usize, SampleVerdict>,
    /// How many results came, taken or not.
    done: usize,
    end: Option<RunEnd>,
    /// The thread waiting for each sample, by place.
    for_sample: HashMap<usize, Thread>,
    /// Threads waiting for the end of the run.
    for_end: Vec<Thread>,
}

impl TrialState {
    fn end(&mut self, end: impl FnOnce() -> RunEnd) {
        self.end.get_or_insert_with(end);
        let waiting = self.for_sample.drain().map(|(_, thread)| thread);
        waiting
            .chain(self.for_end.drain(..))
            .for_each(|thread| thread.unpark());
    }
}

impl TrialClient {
    /// Stores the verdict on the sample at this place.
    pub(super) fn leave(&self, place: usize, verdict: SampleVerdict) {
        let mut known = lock(&self.0);
        known.samples.insert(place, verdict);
        known.done += 1;
        if let Some(thread) = known.for_sample.remove(&place) {
            thread.unpark();
        }
    }

    /// Ends the run. The first end counts.
    pub(super) fn end(&self, end: RunEnd) {
        lock(&self.0).end(|| end);
    }

    /// Waits for and takes the verdict on the sample at this place. The error is why there is none.
    pub(super) fn sample(&self, place: usize) -> Result<SampleVerdict, String> {
        loop {
            let mut known = lock(&self.0);
            if let Some(verdict) = known.samples.remove(&place) {
                return Ok(verdict);
            }
            match &known.end {
                Some(Ok(_)) => return Err("infrastructure: it was not asked".to_owned()),
                Some(Err(message)) => return Err(message.clone()),
                None => {}
            }
            known.for_sample.insert(place, thread::current());
            drop(known);
            thread::park();
        }
    }

    /// Waits for the end of the run.
    pub(super) fn run(&self) -> RunEnd {
        loop {
            let mut known = lock(&self.0);
            if let Some(end) = &known.end {
                return end.clone();
            }
            known.for_end.push(thread::current());
            drop(known);
            thread::park();
        }
    }

    /// How the run ended, if it did.
    pub(super) fn ended(&self) -> Option<RunEnd> {
        lock(&self.0).end.clone()
    }

    /// How many samples are done, if any thread waits.
    pub(super) fn waited_for(&self) -> Option<usize> {
        let known = lock(&self.0);
        let is_waiting = !known.for_sample.is_empty() || !known.for_end.is_empty();
        is_waiting.then_some(known.done)
    }
}

/// Ends the waiting on drop, unless it has ended.
pub(super) struct Close<'a>(pub(super) &'a TrialClient);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        let broke = || Err("infrastructure: the run ended early".to_owned());
        lock(&self.0.0).end(broke);
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::TestVerdict;
    use super::*;
    use crate::system::panics;

    #[test]
    fn a_sample_is_waited_for_and_given_once() {
        let client = TrialClient::default();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| client.sample(1));
            while client.waited_for().is_none() {
                thread::yield_now();
            }
            client.leave(0, SampleVerdict::Closed(TestVerdict::Passed));
            assert_eq!(client.waited_for(), Some(1));
            client.leave(1, SampleVerdict::Closed(TestVerdict::Passed));
            assert!(waits.join().unwrap().is_ok());
        });
        client.end(Err("infrastructure: over".to_owned()));
        assert_eq!(
            client.sample(1).err().as_deref(),
            Some("infrastructure: over")
        );
        assert!(client.sample(0).is_ok(), "what was left is there");
    }

    #[test]
    fn a_pool_that_panics_releases_all_who_wait() {
        let client = TrialClient::default();
        std::thread::scope(|scope| {
            let sample = scope.spawn(|| client.sample(7).err());
            let gates = [(); 3].map(|()| scope.spawn(|| client.run().err()));
            let panicked = panics::catch(|| {
                let _close = Close(&client);
                panic!("as no pool should");
            });
            assert!(panicked.is_err());
            let expect = Some("infrastructure: the run ended early".to_owned());
            assert_eq!(sample.join().unwrap(), expect);
            for gate in gates {
                assert_eq!(gate.join().unwrap(), expect);
            }
        });
    }
}
