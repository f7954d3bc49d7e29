//! `Outage`: an agent that answers nobody is left alone for ever longer, and in the end given up.

use std::collections::BTreeSet;
use std::time::Duration;

/// So many samples in a row that were not answered, because the agent was not there, are not to blame for it: as many
/// as are asked at once, within these bounds.
const FEWEST: usize = 4;
const SAMPLES: usize = 8;
/// So often an agent that never answered is tried when it is out: with the usual backoff for half a minute.
const MOST_AT_FIRST: u32 = 7;
/// So often one that has answered before: for some minutes.
const MOST: u32 = 15;

/// What is known of failures for which no sample is to blame.
#[derive(Clone, Debug)]
pub(super) struct Outage {
    /// How many samples it takes.
    samples: usize,
    /// Samples that failed so since the last answer, as long as they are few.
    failed: BTreeSet<String>,
    /// Since when the agent is out, and how often it has been tried since then.
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

    /// Whether the agent answers nobody.
    pub(super) fn is_on(&self) -> bool {
        self.out.is_some()
    }

    /// Whether it was tried often enough.
    pub(super) fn is_hopeless(&self) -> bool {
        let most = if self.has_answered {
            MOST
        } else {
            MOST_AT_FIRST
        };
        self.out.is_some_and(|(_, tries)| tries >= most)
    }

    /// It answered.
    pub(super) fn answered(&mut self) {
        self.has_answered = true;
        self.replied();
    }

    /// It is there, whatever it said.
    pub(super) fn replied(&mut self) {
        self.failed.clear();
        self.out = None;
    }

    /// It was not there for a sample, which it was asked at `asked`. Gives the number of tries since it is out.
    pub(super) fn failed(&mut self, sample: &str, asked: Duration, now: Duration) -> u32 {
        match &mut self.out {
            // Whatever was in flight when it went out is no news.
            Some((since, tries)) if asked >= *since => *tries += 1,
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
