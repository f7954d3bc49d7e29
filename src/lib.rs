//! Evaluates LLM agents as a `cargo test`.
//!
//! Each sample of a benchmark becomes a test: the agent under test is asked, a scorer checks the answer, and the
//! answer is compared with the accepted baseline. Gates on the whole run, such as a minimum accuracy or "no worse than
//! the baseline", are tests too. The same evals run under `cargo evaltest`, which needs no Rust code: a YAML spec is
//! enough. The book in `docs/` describes the command, the specs and the benchmarks; this page describes the library.
//!
//! An eval consists of a [`Benchmark`] (the questions), an [`Agent`] (which answers them), one or more [`Scorer`]s
//! (which check the answers) and [`Gate`]s (the requirements). [`Eval`] combines them, and [`run()`] runs evals as the
//! whole of a test binary.
//!
//! # An eval from a spec
//!
//! ```no_run
//! // tests/gaia.rs, with `harness = false` in Cargo.toml
//! use evaltest::Eval;
//!
//! fn main() -> evaltest::Result<evaltest::Conclusion> {
//!     evaltest::run([Eval::from_yaml("evals/gaia.yaml")?])
//! }
//! ```
//!
//! # A closure as the agent
//!
//! With `?` any error becomes an [`AgentError`]: an outage, which never counts as a wrong answer.
//!
//! ```no_run
//! use evaltest::{Eval, Gaia, Task};
//!
//! fn ask(prompt: &str) -> std::io::Result<String> {
//!     std::fs::read_to_string(prompt)
//! }
//!
//! fn main() -> evaltest::Result<evaltest::Conclusion> {
//!     let agent = |task: &Task| Ok(ask(task.prompt())?.into());
//!     evaltest::run([Eval::new(Gaia::open("data/gaia")?.levels([1]), agent).concurrency(8)])
//! }
//! ```
//!
//! # An async closure
//!
#![cfg_attr(feature = "tokio", doc = "```no_run")]
#![cfg_attr(not(feature = "tokio"), doc = "```ignore")]
//! // with the feature `tokio`
//! use evaltest::agent::asynchronous;
//! use evaltest::{Eval, Gsm8k, Task};
//!
//! fn main() -> evaltest::Result<evaltest::Conclusion> {
//!     let agent = asynchronous(async |task: &Task| {
//!         tokio::time::sleep(std::time::Duration::from_millis(5)).await;
//!         Ok(format!("the answer to {}", task.question()).into())
//!     });
//!     evaltest::run([Eval::new(Gsm8k::open("data/gsm8k.jsonl")?, agent)])
//! }
//! ```
//!
//! # Your own benchmark and scorer
//!
//! ```no_run
//! use evaltest::{Answer, Benchmark, Eval, Output, Result, Sample, Score, Target, Task};
//!
//! struct Riddles;
//!
//! impl Benchmark for Riddles {
//!     fn name(&self) -> &str {
//!         "riddles"
//!     }
//!
//!     fn samples(&self) -> Result<Vec<Sample>> {
//!         Ok(vec![Sample::new("egg", "A box without hinges, key or lid?").target("egg")])
//!     }
//!
//!     fn score(&self, sample: &Sample, output: &Output) -> Result<Score> {
//!         let truth = sample.target.as_ref().and_then(Target::as_text);
//!         Ok(Score::binary(output.text.as_deref() == truth))
//!     }
//! }
//!
//! fn main() -> Result<evaltest::Conclusion> {
//!     let agent = |task: &Task| Ok(task.id().to_owned().into());
//!     let brief = ("brief", |answer: &Answer<'_>| {
//!         Ok(Score::binary(answer.prediction.is_some_and(|text| text.len() < 80)))
//!     });
//!     // Without the last call the benchmark's own rule judges.
//!     evaltest::run([Eval::new(Riddles, agent).scorer(brief)])
//! }
//! ```
//!
//! # Gates and a baseline
//!
//! ```no_run
//! use evaltest::{Eval, Gate, Qa, Task};
//!
//! fn main() -> evaltest::Result<evaltest::Conclusion> {
//!     let agent = |task: &Task| Ok(task.question().to_uppercase().into());
//!     let eval = Eval::new(Qa::open("data/questions.jsonl")?, agent)
//!         .gate(Gate::accuracy(0.60))
//!         .gate(Gate::accuracy(0.75).slice("level", "1"))
//!         .gate(Gate::no_regression().alpha(0.05));
//!     // `cargo evaltest accept` makes the last run the baseline; commit the snapshots that it writes.
//!     evaltest::run([eval])
//! }
//! ```
//!
//! [`Eval::run`] does the same outside of a test and returns the [`Run`] with its [`Summary`].
//!
//! # Guarantees
//!
//! * The ground truth cannot reach an agent: [`Task`] has no field for it.
//! * An answer is on disk before it is scored, so that a crash loses nothing that was paid for.
//! * Secrets are redacted when written to the run directory, after scoring.
//! * The library prints nothing, except as a test harness.
//!
//! # Features
//!
//! | feature | what it brings |
//! |---|---|
//! | `tokio` | async closures as agents |
//! | `http` | the agents `openai` and `http`, datasets of the Hub |
//! | `judge` | the scorers that ask a model (`judge`, `jury`, `pairwise`, `solver`, `semantic` with `http`), and data that a model generates |
//! | `parquet` | datasets in `.parquet` files, the format of GAIA |
//! | `command` | the unstable interface for the command `cargo evaltest` |
//! | `bfcl` | the Berkeley Function Calling Leaderboard and the scorers `ast_match` and `trajectory` |
//! | `inspect` | logs of Inspect, for the command |
//! | `math` | TeX formulas as MathML in reviews, for the command |
//! | `demo` | the agent `demo`, for examples and tests |
//! | `schema` | the JSON schema of specs, for the command |

#![warn(missing_docs)]
// docs.rs shows the required feature of each item; it sets `docsrs` and uses a nightly compiler.
#![cfg_attr(docsrs, feature(doc_cfg))]
// Modules that only the command uses are left out without this feature; unused parts of other modules stay.
#![cfg_attr(
    not(feature = "command"),
    expect(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "the command uses more of these modules than a test does"
    )
)]

mod error;
mod exit;
mod printable;

mod text;

mod stats;

mod figure;

mod system;

#[cfg(feature = "command")]
mod serve;

mod data;

mod store;

pub mod agent;

#[cfg(feature = "bfcl")]
mod calls;
#[cfg(not(feature = "bfcl"))]
#[path = "calls/without.rs"]
mod calls;

pub mod scorer;

mod benchmark;

mod verdict;

mod snapshot;

mod report;

#[cfg(feature = "bfcl")]
mod bfcl;
#[cfg(not(feature = "bfcl"))]
#[path = "bfcl/without.rs"]
mod bfcl;

mod eval;

mod run;

#[cfg(feature = "command")]
mod generate;

#[cfg(feature = "command")]
mod review;

#[cfg(feature = "command")]
mod flow;

mod harness;

#[cfg(feature = "command")]
pub mod engine;

pub mod summary {
    //! The parts of a [`Summary`](crate::Summary): figures of all samples and of slices ([`Group`]), of scorers
    //! ([`ScorerSummary`]), of
    //! epochs ([`EpochFigures`]: [`Estimate`]s with their `standard_error` and `disagreement`, [`Majority`], [`Flaky`]
    //! samples), of perturbed questions ([`PerturbFigures`]), of labels ([`Labels`], [`LabelFigures`], [`Confusion`]), [`UsageTotal`] with its [`UnknownUsage`], answers
    //! that ended early ([`ShortfallFigures`], by the [`Shortfall`] of a record), of judges ([`JudgeSummary`])
    //! and juries ([`JurySummary`]: each [`JurorSummary`], a [`JurorVote`] of a call, their [`LabelAgreement`], a [`WorsePanel`], and by
    //! [`ScorerPair`]), [`Latency`] (`p50` to `p99`), samples recovered by retries ([`Recovered`]), refused answers of
    //! a [`Record`](crate::Record) ([`RefusedAnswer`]), reviews of items ([`ReviewedFigures`] with a
    //! [`ReviewedAgreement`]), alerts of the history ([`AlertResult`] with an [`AlertVerdict`]), steps of right
    //! answers ([`StepFigures`]), means over answers ([`AnswerMean`]), how conversations went ([`ConversationFigures`], and of a record each [`TurnOutcome`] and the [`ConversationEnd`];
    //! [`ConversationOutcome`] of an output), the drop of accuracy with difficulty ([`DifficultyDrop`], in `difficulty_drop`), and
    //! results of `no_regression` ([`Regression`]: `baseline_run`, `baseline_accuracy` with `baseline_ci95`,
    //! `became_correct`, the `assumption` of the smallest detectable drop).

    pub use crate::data::reviews::{ReviewedAgreement, ReviewedFigures};
    pub use crate::data::{ConversationEnd, ConversationOutcome, TurnOutcome};
    pub use crate::data::{FoundBy, JurorVote, Missed, MissedPart, RefusedAnswer, Shortfall};
    pub use crate::verdict::agreement::ScorerPair;
    pub use crate::verdict::alert::{AlertResult, AlertVerdict};
    pub use crate::verdict::judged::calibration::{
        CalibrationStatus, CorrectedFigure, JudgeCalibration,
    };
    pub use crate::verdict::result::Regression;
    pub use crate::verdict::summary::{
        AnswerMean, BaselineChange, Confusion, ConversationFigures, CountedShare, DifficultyDrop,
        DimensionPoints, EpochFigures, Estimate, Flaky, Group, JudgeSummary, JudgedPoints,
        JurorSummary, JurySummary, LabelAgreement, LabelFigures, Labels, Latency, Majority,
        MissedCount, PerturbFigures, PointMean, Range, ReadingFigures, Recovered, ScorerSummary,
        ShortfallFigures, StepFigures, UnknownUsage, UsageTotal, WorsePanel,
    };
}

pub mod dataset {
    //! Reads samples from files, for your own [benchmarks](crate::Benchmark), and [perturbs](Perturb) them.

    pub use crate::data::dataset::{Columns, Filter, Format, Place, Row, Rows};
    pub use crate::data::record::perturb::{Perturb, PerturbKind};
}

#[cfg(test)]
mod tests;

/// Compiles the Rust examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use agent::Agent;
pub use benchmark::aime::Aime;
pub use benchmark::conversations::Conversations;
pub use benchmark::custom::Custom;
pub use benchmark::gaia::Gaia;
pub use benchmark::gsm8k::Gsm8k;
pub use benchmark::prompt::Prompt;
pub use benchmark::qa::Qa;
pub use benchmark::{Benchmark, CategoryCount};
#[cfg(feature = "bfcl")]
pub use bfcl::benchmark::Bfcl;
pub use data::{AgentError, EndedBy, FailureKind, Output, Usage};
pub use data::{Attachment, Sample, Target, Task, TaskFile};
pub use data::{Details, Normalized, Score};
pub use data::{JudgeCall, ReplyForm, Unread};
pub use data::{Outcome, Record, Status};
pub use error::{Error, Result};
pub use eval::registry::{Options, Registry};
pub use eval::{Answers, Assert, Budget, Errors, Eval, Flips};
pub use exit::Exit;
pub use harness::{Conclusion, run};
pub use scorer::extract::{Extract, Extraction};
pub use scorer::{Answer, Scorer};
pub use store::cache::CacheUse;
pub use system::cancel::Cancel;
pub use verdict::baseline::Flip;
pub use verdict::conclude::Run;
pub use verdict::gate::Gate;
pub use verdict::result::{GateResult, Verdict};
pub use verdict::summary::Summary;
