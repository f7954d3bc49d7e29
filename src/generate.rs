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

mod delay;
mod figures;
mod files;
mod gathered;
mod generation;
mod item;
mod report;
mod schema;
mod statistics;
mod topics;

pub use delay::per_minute;
pub use figures::{
    CheckFigures, ItemFigures, NearestReference, NeverPassed, RefusedExample, ReplyFigures,
    SolverFigures,
};
pub use files::{GeneratedFiles, check_writable, write_generated};
pub use generation::{BENCHMARK, Generation, generate, made_items, makes_items};
pub use item::GeneratedItem;
pub use report::generation_report;
pub use schema::{GENERATED_FORMAT, generated_schema};
pub use statistics::GenerationStatistics;
pub use topics::{TopicFigures, TopicShare};
