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
mod generation;
mod item;
mod report;
mod statistics;
mod topics;

pub use files::{GeneratedFiles, check_writable, write_generated};
pub use generation::{BENCHMARK, Generation, generate, made_items, makes_items, per_minute};
pub use item::{GENERATED_FORMAT, GeneratedItem, generated_schema};
pub use report::generation_report;
pub use statistics::{
    CheckFigures, GenerationStatistics, ItemFigures, NearestReference, NeverPassed, RefusedExample,
    ReplyFigures, SolverFigures,
};
pub use topics::{TopicFigures, TopicShare};
