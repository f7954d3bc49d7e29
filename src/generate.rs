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
mod gathered;
mod item;
mod report;
mod statistics;
mod topics;

pub use files::{GeneratedFiles, check_writable, write_generated};
pub use item::{GENERATED_FORMAT, GeneratedItem, generated_schema};
pub use report::generation_report;
pub use statistics::{
    CheckFigures, GenerationStatistics, ItemFigures, NearestReference, NeverPassed, RefusedExample,
    ReplyFigures, SolverFigures,
};
use std::sync::Arc;
pub use topics::{TopicFigures, TopicShare};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::report::event::Event;
use crate::run::drive::{Drive, Prepared};
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
