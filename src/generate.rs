//! Generated data: the results of the benchmark `generate`, as a file of items, statistics and a report.
//!
//! ```text
//! a run directory ── gathered ──> items ─────────> <name>_generated_<time>.json
//!                        └──────> statistics ──┬─> generation.json, in the run directory
//!                                              └─> generation_report_<time>.md
//! ```
//!
//! All output is derived from the records and the journal, which are redacted: no requests are sent, and the same run
//! always gives the same files. A killed run is read like a finished one.

mod files;
mod item;
mod report;
mod statistics;

pub use files::{GeneratedFiles, check_writable, write_generated};
pub use item::{GENERATED_FORMAT, GeneratedItem, generated_schema};
pub use report::generation_report;
pub use statistics::{
    CheckFigures, GenerationStatistics, ItemFigures, NearestReference, NeverPassed, RefusedExample,
    ReplyFigures, SolverFigures,
};
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::report::event::Event;
use crate::run::drive::{Drive, Prepared};
use crate::stats::{as_f64, ratio, shares_test, wilson95};
use crate::store::{Manifest, RunDir};
use crate::system::cancel::Cancel;
use crate::verdict::conclude::Run;

/// The benchmark type that generates items.
pub const BENCHMARK: &str = "generate";

/// A run that generated items, and its files.
#[derive(Debug)]
pub struct Generation {
    /// The run.
    pub run: Run,
    /// Its files.
    pub files: GeneratedFiles,
}

/// Whether an eval generates items.
pub fn makes_items(eval: &Eval) -> bool {
    eval.benchmark_name() == BENCHMARK
}

/// Whether a run generated items.
pub fn made_items(manifest: &Manifest) -> bool {
    manifest.benchmark == BENCHMARK
}

/// Runs an eval that generates items and writes the results, even if the run stopped early.
///
/// # Errors
/// When the run directory or a file cannot be written.
pub fn generate(
    drive: &Drive,
    prepared: Prepared,
    cancel: &Cancel,
    observer: Arc<dyn Fn(&Event<'_>) + Send + Sync>,
) -> Result<Generation> {
    let run = drive.run(prepared, cancel, observer)?;
    let files = write_generated(&RunDir::open(&run.dir)?)?;
    Ok(Generation { run, files })
}

/// Requests per minute for a delay in seconds. 0 is null: no limit, even if the spec sets one.
///
/// # Errors
/// When the delay is negative or not finite.
pub fn per_minute(delay_s: f64) -> Result<Value> {
    if !delay_s.is_finite() || delay_s < 0.0 {
        return Err(Error::usage(format!(
            "`--delay-s` must be a number of seconds from 0 on, not {delay_s}"
        )));
    }
    Ok(if delay_s > 0.0 {
        (60.0 / delay_s).into()
    } else {
        Value::Null
    })
}

/// The topics of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicFigures {
    /// Requested topics in the order of their first request, followed by topics that were not requested.
    pub topics: Vec<TopicShare>,
    /// The probability of shares at least this far from the requested ones by chance; `None` with a single topic or no
    /// items.
    pub p: Option<f64>,
    /// The name of the exact test.
    pub test: Option<String>,
}

/// A topic: how often it was requested and reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicShare {
    /// Its name.
    pub topic: String,
    /// Items it was requested for.
    #[serde(rename = "asked")]
    pub requested: u64,
    /// `requested` as a share of all requests.
    #[serde(rename = "asked_share")]
    pub requested_share: Option<f64>,
    /// Accepted items with this topic.
    pub reached: u64,
    /// `reached` as a share of all accepted items.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// Counts topics.
#[derive(Debug, Default)]
struct TopicTally {
    places: HashMap<String, usize>,
    counts: Vec<(String, u64, u64)>,
}

impl TopicTally {
    /// Counts a request for the topic.
    fn requested(&mut self, topic: &str) {
        let place = self.place(topic);
        self.counts[place].1 += 1;
    }

    /// Counts an accepted item with the topic.
    fn reached(&mut self, topic: &str) {
        let place = self.place(topic);
        self.counts[place].2 += 1;
    }

    fn place(&mut self, topic: &str) -> usize {
        if let Some(place) = self.places.get(topic) {
            return *place;
        }
        self.counts.push((topic.to_owned(), 0, 0));
        self.places.insert(topic.to_owned(), self.counts.len() - 1);
        self.counts.len() - 1
    }

    fn figures(mut self) -> TopicFigures {
        // The sort is stable: requested topics keep their order.
        self.counts.sort_by_key(|(_, requested, _)| *requested == 0);
        let sum = |count: fn(&(String, u64, u64)) -> u64| self.counts.iter().map(count).sum();
        let requested: u64 = sum(|it| it.1);
        let reached: u64 = sum(|it| it.2);
        let share = |(topic, of_requested, of_reached): &(String, u64, u64)| TopicShare {
            topic: topic.clone(),
            requested: *of_requested,
            requested_share: ratio(*of_requested, requested),
            reached: *of_reached,
            share: ratio(*of_reached, reached),
            ci95: wilson95(*of_reached, reached),
        };
        let counts: Vec<u64> = self.counts.iter().map(|it| it.2).collect();
        let weights: Vec<f64> = self.counts.iter().map(|it| as_f64(it.1)).collect();
        let tested = shares_test(&counts, &weights);
        let tested = tested.filter(|_| counts.len() > 1 && reached > 0);
        TopicFigures {
            topics: self.counts.iter().map(share).collect(),
            p: tested.map(|tested| tested.p),
            test: tested.map(|tested| tested.kind.name().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unrequested_topics_come_last() {
        let mut tally = TopicTally::default();
        tally.reached("Other");
        for topic in ["Algebra", "Geometry", "Algebra"] {
            tally.requested(topic);
        }
        tally.reached("Algebra");
        let figures = tally.figures();
        let rows = figures.topics.iter();
        let rows: Vec<_> = rows
            .map(|it| (&*it.topic, it.requested, it.reached))
            .collect();
        assert_eq!(
            rows,
            [("Algebra", 2, 1), ("Geometry", 1, 0), ("Other", 0, 1)]
        );
        // A topic that was not requested has probability 0.
        assert_eq!(figures.p, Some(0.0));
        assert_eq!(figures.topics[0].share, Some(0.5));
        assert_eq!(figures.topics[1].ci95, wilson95(0, 2));
    }
}
