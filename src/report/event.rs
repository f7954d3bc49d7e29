//! `Event`: the interface between the runner and reporters.
//!
//! The runner emits events and never prints. All texts in an event are redacted.

use std::path::Path;
use std::time::Duration;

use crate::data::RefusedAnswer;
use crate::data::{AgentError, Record};
use crate::verdict::conclude::Run;

/// An event in a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The dataset is loaded and the run directory exists; nothing was requested yet.
    RunStarted {
        /// The eval's name.
        eval: &'a str,
        /// Number of samples of the run.
        samples: usize,
        /// Number of answers to each sample: epochs, and perturbed ones.
        epochs: u32,
        /// Number of answers finished in an earlier, interrupted part of the run.
        resumed: usize,
        /// The run directory.
        dir: &'a Path,
        /// One line: the agent, the questions, the limits and the maximum cost. Empty if already shown.
        opening: &'a str,
        /// Notes on the dataset.
        notices: &'a [String],
    },
    /// A note while the run is in progress, such as that the cache cannot be written.
    Notice {
        /// The eval's name.
        eval: &'a str,
        /// The note.
        notice: &'a str,
    },
    /// A sample is about to be requested.
    SampleStarted {
        /// The sample's id.
        id: &'a str,
        /// The epoch, from 0.
        epoch: u32,
    },
    /// An attempt failed.
    AttemptFailed {
        /// The sample's id.
        id: &'a str,
        /// The epoch, from 0.
        epoch: u32,
        /// The attempt, from 1.
        attempt: u32,
        /// The error.
        error: &'a AgentError,
        /// Whether the attempt is retried.
        retry: bool,
    },
    /// An answer was refused, and the request is repeated.
    AnswerRefused {
        /// The sample's id.
        id: &'a str,
        /// The epoch, from 0.
        epoch: u32,
        /// The refused answer.
        refused: &'a RefusedAnswer,
    },
    /// All requests are paused, because the agent or judge cannot be reached. Sent again for each longer pause.
    Waiting {
        /// The eval's name.
        eval: &'a str,
        /// The agent, or a judge.
        who: &'a str,
        /// The reason, such as `does not answer`.
        why: &'a str,
        /// Its last message; may be empty.
        last_message: &'a str,
        /// Time until the next attempt.
        pause: Duration,
        /// Whether it is the first pause since the last answer.
        first: bool,
    },
    /// It answers again.
    WentOn {
        /// The eval's name.
        eval: &'a str,
        /// The agent, or a judge.
        who: &'a str,
        /// Duration of the pause.
        waited: Duration,
    },
    /// A line printed by a running agent (only when streaming).
    AgentOutput {
        /// The sample's id.
        id: &'a str,
        /// The line, without its line break.
        line: &'a str,
    },
    /// A sample finished in one epoch.
    SampleFinished {
        /// The sample with its outcome.
        record: &'a Record,
    },
    /// All samples finished, or the run stopped.
    RunFinished {
        /// The run.
        run: &'a Run,
    },
}

/// Consumes events; called from many threads at once.
pub(crate) type Observer<'a> = dyn Fn(&Event<'_>) + Sync + Send + 'a;
