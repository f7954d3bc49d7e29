//! The benchmark and the agent of an imported log: its questions and answers.

use std::sync::Arc;

use super::header::LogHeader;
use super::spool::LogSpool;
use crate::agent::Agent;
use crate::benchmark::{Benchmark, collected};
use crate::data::{AgentError, FailureKind, Output, Sample, Task};
use crate::error::Result;

/// The questions of a log.
pub(super) struct LogBenchmark(Arc<LogSpool>);

impl LogBenchmark {
    pub(super) fn new(spool: &Arc<LogSpool>) -> Self {
        Self(Arc::clone(spool))
    }
}

impl Benchmark for LogBenchmark {
    fn name(&self) -> &'static str {
        "inspect"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.0.each_sample(take)
    }
}

/// Replays the answers of a log.
pub(super) struct LogAnswers {
    spool: Arc<LogSpool>,
    model: String,
    recording: String,
}

impl LogAnswers {
    pub(super) fn new(spool: &Arc<LogSpool>, model: &str, header: &LogHeader) -> Self {
        Self {
            spool: Arc::clone(spool),
            model: model.to_owned(),
            recording: header.recording(),
        }
    }
}

impl Agent for LogAnswers {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let answer = self.spool.answer(task.id(), task.epoch());
        let answer = answer.map_err(AgentError::new)?.ok_or_else(|| {
            let message = format!("the log has no epoch {} of it", task.epoch() + 1);
            AgentError::of(FailureKind::NotFound, message)
        })?;
        match answer.error {
            Some(error) => Err(error),
            None => Ok(answer.output.unwrap_or_default()),
        }
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn varies_by_epoch(&self) -> bool {
        true
    }

    fn keeps_deadline(&self) -> bool {
        true
    }

    fn recorded_latency_s(&self, task: &Task) -> Option<f64> {
        let answer = self.spool.answer(task.id(), task.epoch());
        Some(answer.ok()??.latency_s)
    }

    fn model(&self) -> Option<&str> {
        Some(&self.model)
    }

    fn recordings(&self) -> Vec<String> {
        vec![self.recording.clone()]
    }
}
