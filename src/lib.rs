//! evaltest
mod attachment;
mod cancel;
mod error;
#[cfg(test)]
mod parity;

pub mod agent;
pub mod baseline;
pub mod benchmark;
pub mod dataset;
pub mod extract;
pub mod gate;
pub mod report;
pub mod run;
pub mod sample;
pub mod scorer;
pub mod stats;
pub mod summary;
pub mod text;

pub use agent::{Agent, AgentError, FailureKind, Output, Usage};
pub use baseline::{Baseline, BaselineSample, CurrentSample};
pub use benchmark::Benchmark;
pub use cancel::Cancel;
pub use error::{Error, Result};
pub use extract::Extract;
pub use gate::{Evidence, Gate, GateResult, Verdict};
pub use run::{Outcome, Record, Status};
pub use sample::{Attachment, Sample, Target, Task, TaskFile};
pub use scorer::{Answer, Normalized, Score, Scorer};
pub use summary::{Summary, SummaryBuilder};
