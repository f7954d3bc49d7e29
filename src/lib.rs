//! evaltest
mod cancel;
mod error;

pub mod agent;
pub mod sample;
pub mod scorer;

pub use agent::{Agent, AgentError, FailureKind, Output, Usage};
pub use cancel::Cancel;
pub use error::{Error, Result};
pub use sample::{Attachment, Sample, Target, Task, TaskFile};
pub use scorer::{Answer, Normalized, Score, Scorer};
