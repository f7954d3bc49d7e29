//! What creating an agent returns.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::agent::{Agent, Worker};
#[cfg(not(all(feature = "demo", feature = "http")))]
use crate::error::Error;
use crate::eval::KeepScratch;

/// An agent, and settings from its keys.
pub(crate) struct MadeAgent {
    pub(crate) agent: Arc<dyn Agent>,
    /// Added to every task.
    pub(crate) options: Map<String, Value>,
    /// Values that must not be recorded.
    pub(crate) secrets: Vec<String>,
    pub(crate) keep_scratch: Option<KeepScratch>,
    /// The same agent, if it is a `worker`, which can be an environment.
    pub(crate) worker: Option<Arc<Worker>>,
    /// How many samples it answers at once; `limits.concurrency` overrides it.
    pub(crate) concurrency: Option<usize>,
}

impl MadeAgent {
    /// An agent without secrets or folders.
    pub(super) fn new(agent: impl Agent + 'static, options: Map<String, Value>) -> Self {
        Self::of(Arc::new(agent), options)
    }

    pub(super) fn of(agent: Arc<dyn Agent>, options: Map<String, Value>) -> Self {
        Self {
            agent,
            options,
            secrets: Vec::new(),
            keep_scratch: None,
            worker: None,
            concurrency: None,
        }
    }
}

/// The error for an agent that this build of the library lacks.
#[cfg(not(all(feature = "demo", feature = "http")))]
pub(super) fn without(name: &str, feature: &str) -> Error {
    let message =
        format!("agent `{name}` in a spec needs the feature `{feature}` of the crate `evaltest`");
    let error = Error::usage(message).hint(format!(
        "write `evaltest = {{ version = \"…\", features = [\"{feature}\"] }}` into `Cargo.toml`, or run it with \
         `cargo evaltest`, which has the feature",
    ));
    error.under("type")
}
