//! What creating an agent returns.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::agent::{Agent, Worker};
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
