//! evaltest
mod cancel;
mod error;
#[cfg(test)]
mod parity;

pub mod agent;
pub mod benchmark;
pub mod extract;
pub mod run;
pub mod sample;
pub mod scorer;
pub mod text;

pub use agent::{Agent, AgentError, FailureKind, Output, Usage};
pub use benchmark::Benchmark;
pub use cancel::Cancel;
pub use error::{Error, Result};
pub use extract::Extract;
pub use run::{Outcome, Record, Status};
pub use sample::{Attachment, Sample, Target, Task, TaskFile};
pub use scorer::{Answer, Normalized, Score, Scorer};
