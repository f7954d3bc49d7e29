//! Generated data: what a run of the benchmark `generate` made, as a file of items, figures and a report.
//!
//! ```text
//! a run directory ── gathered ──> items ─────────> <name>_generated_<time>.json
//!                        └──────> statistics ──┬─> generation.json, in the run directory
//!                                              └─> generation_report_<time>.md
//! ```
//!
//! All of it is made of the records and the journal, which are redacted: nothing is asked here, and the same run makes the
//! same files, whenever and however often that is. A run that was killed is read like one that ended.

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
