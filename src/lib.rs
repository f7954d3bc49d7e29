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
//! | room | what |
//! |---|---|
//! | [`text`], [`stats`] | texts and figures; pure |
//! | [`system`] | the machine: files, threads, processes, sandboxes, signals, requests |
//! | [`data`] | what flows: samples, what agents say, scores, records; datasets |
//! | [`store`] | what lies on disk: run directories, the cache |
//! | [`agent`] | the trait, and what answers |
//! | `calls` | from text to calls of tools (feature `bfcl`) |
//! | [`scorer`] | extraction, rules, compositions, scorers that ask |
//! | [`benchmark`] | the trait, prompts, the benchmarks |
//! | [`verdict`] | gates, summary, baseline, what came of it; pure |
//! | [`snapshot`] | insta |
//! | [`report`] | events, and one file a format |
//! | `bfcl` | the Berkeley Function Calling Leaderboard (feature `bfcl`) |
//! | [`eval`] | what is asked: builder, limits, registry, spec, plan |
//! | [`mod@run`] | session, asking, ledger, judge, finish; rescoring |
//! | `harness` | libtest-mimic |
//! | [`engine`] | what `cargo evaltest` builds on |
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

pub mod text;

pub mod stats;

pub mod system;

pub mod data;

pub mod store;

pub mod agent;

#[cfg(feature = "bfcl")]
pub mod calls;

pub mod scorer;

pub mod benchmark;

pub mod verdict;

pub mod snapshot;

pub mod report;

#[cfg(feature = "bfcl")]
pub mod bfcl;

pub mod eval;

pub mod run;

mod harness;

pub mod engine;

#[cfg(test)]
mod tests;

pub use agent::Agent;
pub use benchmark::Benchmark;
pub use benchmark::aime::Aime;
pub use benchmark::custom::Custom;
pub use benchmark::gaia::Gaia;
pub use benchmark::gsm8k::Gsm8k;
pub use benchmark::prompt::Prompt;
pub use benchmark::qa::Qa;
#[cfg(feature = "bfcl")]
pub use bfcl::benchmark::Bfcl;
pub use data::{AgentError, FailureKind, Output, Usage};
pub use data::{Attachment, Sample, Target, Task, TaskFile};
pub use data::{Normalized, Score};
pub use data::{Outcome, Record, Status};
pub use error::{Error, Result};
pub use eval::registry::{Options, Registry};
pub use eval::{Answers, Assert, Eval, KeepScratch};
pub use exit::Exit;
pub use harness::{Conclusion, run};
pub use scorer::extract::{Extract, Extraction};
pub use scorer::{Answer, Scorer};
pub use system::cancel::Cancel;
pub use verdict::baseline::{Baseline, BaselineSample, Flip};
pub use verdict::gate::Gate;
pub use verdict::result::{GateResult, Verdict};
pub use verdict::run::Run;
pub use verdict::summary::Summary;
