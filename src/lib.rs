//! Evaluating an LLM agent as a `cargo test`.
//!
//! Each sample of a benchmark becomes a libtest case; the agent under test is asked, a scorer judges, and
//! the normalised answer is compared with a snapshot. Gates over the whole run are test cases too. The
//! same evals run under `cargo evaltest`, which needs no Rust code: a spec in YAML is enough.
//!
//! ```no_run
//! // tests/gaia.rs, with `harness = false`
//! use evaltest::Eval;
//!
//! fn main() -> evaltest::Result<evaltest::Conclusion> {
//!     evaltest::run([Eval::from_yaml("evals/gaia.yaml")?])
//! }
//! ```
//!
//! # Code map, in the order in which a run passes through
//!
//! | module | what |
//! |---|---|
//! | [`spec`], [`registry`], [`eval`] | an [`Eval`] from YAML or a builder |
//! | [`dataset`], [`benchmark`], [`sample`] | rows become [`Sample`]s; a [`Task`] is what an agent may see of one |
//! | `plan` | everything that is checked before an agent starts |
//! | `runner`, [`event`] | one sample through agent, journal and scorer |
//! | [`cache`] | answers that were given before |
//! | [`agent`], [`extract`], [`scorer`], [`text`] | answers, predictions, verdicts |
//! | `http`, `hub` | requests to endpoints that answer, judge or hold datasets (feature `http`) |
//! | `process`, [`sandbox`], [`orphans`] | programs that answer or judge: started, confined, asked, killed with all their children |
//! | [`redact`], [`artifact`] | what is written, and where |
//! | [`mod@run`], [`summary`], [`stats`], [`gate`], [`baseline`] | records become figures and verdicts; pure |
//! | [`snapshot`], `harness` | insta and libtest-mimic |
//! | `official` | the function-calling leaderboard's own program judges a run (feature `bfcl`) |
//! | [`doctor`] | what is wrong with an agent |
//! | [`report`], [`drive`], [`mod@rescore`], [`agreement`], [`listing`] | what `cargo evaltest` builds on |
//!
//! # Invariants
//!
//! * The ground truth cannot reach an agent: [`Task`] has no field for it.
//! * An answer is on disk before it is scored.
//! * Secrets are blanked on the way into the run directory, after scoring.
//! * Summary, statistics and gates know no clock, no environment and no file. Nor do scorers, but for two that ask
//!   others: `command` a program, `semantic` an endpoint (and the folder of its cache).
//! * The library prints nothing, except as a test harness.

#![warn(missing_docs)]
// docs.rs says at each item which feature it needs; it sets `docsrs` and builds with a nightly compiler.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod exit;
#[cfg(test)]
mod fuzz;
mod harness;
mod limits;
#[cfg(test)]
mod parity;
mod plan;
mod runner;

pub mod agent;
pub mod benchmark;
#[cfg(feature = "bfcl")]
pub mod bfcl;
pub mod data;
pub mod doctor;
pub mod drive;
pub mod eval;
pub mod event;
pub mod extract;
pub mod listing;
#[cfg(feature = "bfcl")]
pub mod official;
pub mod prompt;
pub mod registry;
pub mod report;
pub mod rescore;
pub mod scorer;
pub mod snapshot;
pub mod spec;
pub mod stats;
pub mod store;
pub mod system;
pub mod text;
pub mod verdict;

pub use agent::Agent;
pub use benchmark::Benchmark;
pub use benchmark::aime::Aime;
#[cfg(feature = "bfcl")]
pub use benchmark::bfcl::Bfcl;
pub use benchmark::custom::Custom;
pub use benchmark::gaia::Gaia;
pub use benchmark::gsm8k::Gsm8k;
pub use benchmark::qa::Qa;
pub use data::{AgentError, FailureKind, Output, Usage};
pub use data::{Attachment, Sample, Target, Task, TaskFile};
pub use data::{Normalized, Score};
pub use data::{Outcome, Record, Status};
pub use error::{Error, Result};
pub use eval::{Answers, Assert, Eval, KeepScratch};
pub use exit::Exit;
pub use extract::{Extract, Extraction};
pub use harness::{Conclusion, run};
pub use prompt::Prompt;
pub use registry::{Options, Registry};
pub use scorer::{Answer, Scorer};
pub use system::cancel::Cancel;
pub use verdict::baseline::{Baseline, BaselineSample};
pub use verdict::gate::{Gate, GateResult, Verdict};
pub use verdict::run::{Flip, Run};
pub use verdict::summary::Summary;
