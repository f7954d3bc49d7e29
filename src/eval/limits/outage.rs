//! `Outage`: pauses longer and longer for an unreachable agent, and finally gives it up.

use std::collections::BTreeSet;
use std::time::Duration;

/// Bounds for the number of consecutive unanswered samples that make an outage, which is otherwise the number asked at
/// once.
const FEWEST: usize = 4;
const SAMPLES: usize = 8;
/// Tries of an agent that never answered: half a minute with the usual backoff.
const MOST_AT_FIRST: u32 = 7;
/// Tries of an agent that has answered before: some minutes.
const MOST: u32 = 15;

/// Tracks failures for which no sample is at fault.
#[derive(Clone, Debug)]
pub(super) struct Outage {
    /// How many failed samples make an outage.
    samples: usize,
    /// Samples that failed this way since the last answer, while there is no outage.
    failed: BTreeSet<String>,
    /// The start of the outage, and the number of tries since then.
    out: Option<(Duration, u32)>,
    has_answered: bool,
}

impl Outage {
    pub(super) fn new(concurrency: usize) -> Self {
        Self {
            samples: concurrency.clamp(FEWEST, SAMPLES),
            failed: BTreeSet::new(),
            out: None,
            has_answered: false,
        }
    }

    /// Whether there is an outage.
    pub(super) fn is_on(&self) -> bool {
        self.out.is_some()
    }

    /// Whether it was tried often enough.
    pub(super) fn is_exhausted(&self) -> bool {
        let most = if self.has_answered {
            MOST
        } else {
            MOST_AT_FIRST
        };
        self.out.is_some_and(|(_, tries)| tries >= most)
    }

    /// The agent answered.
    pub(super) fn answered(&mut self) {
        self.has_answered = true;
        self.replied();
    }

    /// The agent is reachable, whatever it replied.
    pub(super) fn replied(&mut self) {
        self.failed.clear();
        self.out = None;
    }

    /// The agent was unreachable for a sample that was asked at `requested`. Returns the number of tries in the outage.
    pub(super) fn failed(&mut self, sample: &str, requested: Duration, now: Duration) -> u32 {
        match &mut self.out {
            // Ignore questions that were in flight when the outage began.
            Some((since, tries)) if requested >= *since => *tries += 1,
            Some(_) => {}
            None => {
                if !self.failed.contains(sample) {
                    self.failed.insert(sample.to_owned());
                }
                if self.failed.len() >= self.samples {
                    self.failed.clear();
                    self.out = Some((now, 1));
                }
            }
        }
        self.out.map_or(0, |(_, tries)| tries)
    }
}
