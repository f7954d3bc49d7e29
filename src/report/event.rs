//! `Event`: the interface between the runner and reporters.
//!
//! The runner emits events and never prints. Everything in an event is redacted.

use std::path::Path;
use std::time::Duration;

use crate::data::RefusedAnswer;
use crate::data::{AgentError, Record};
use crate::verdict::run::Run;

/// Something that happened in a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The dataset is loaded, the run directory exists, nothing was asked yet.
    RunStarted {
        /// The eval's name.
        eval: &'a str,
        /// How many samples the run will end,
        samples: usize,
        /// each in so many epochs.
        epochs: u32,
        /// How many answers an earlier, interrupted run had ended.
        resumed: usize,
        /// Where the run is recorded.
        dir: &'a Path,
        /// One line: who is asked what, within which limits, and what it may cost. Empty where that was told.
        opening: &'a str,
        /// Things about the dataset worth knowing.
        notices: &'a [String],
    },
    /// Something worth knowing came up while the run goes on, such as a cache that cannot be written.
    Notice {
        /// The eval's name.
        eval: &'a str,
        /// What it is.
        notice: &'a str,
    },
    /// A sample is about to be asked.
    SampleStarted {
        /// The sample's id.
        id: &'a str,
        /// Which repetition, from 0.
        epoch: u32,
    },
    /// An attempt has no answer.
    AttemptFailed {
        /// The sample's id.
        id: &'a str,
        /// Which repetition, from 0.
        epoch: u32,
        /// Which attempt, from 1.
        attempt: u32,
        /// Why.
        error: &'a AgentError,
        /// Whether the sample is asked again.
        retry: bool,
    },
    /// An answer is refused, and the sample is asked again.
    AnswerRefused {
        /// The sample's id.
        id: &'a str,
        /// Which repetition, from 0.
        epoch: u32,
        /// Why, and what it took.
        refused: &'a RefusedAnswer,
    },
    /// Nothing is asked for a while: who is asked has everybody wait. Told again with each longer pause.
    Waiting {
        /// The eval's name.
        eval: &'a str,
        /// The agent, or a judge.
        who: &'a str,
        /// What it does, such as `answers nobody`.
        why: &'a str,
        /// What was heard of it last; may be empty.
        said: &'a str,
        /// Until it is tried again.
        pause: Duration,
        /// Whether it is the first pause since the last answer.
        first: bool,
    },
    /// It answered again.
    WentOn {
        /// The eval's name.
        eval: &'a str,
        /// The agent, or a judge.
        who: &'a str,
        /// How long nothing was asked.
        waited: Duration,
    },
    /// A line that a running agent printed (only when streaming).
    AgentOutput {
        /// The sample's id.
        id: &'a str,
        /// The line, without its end.
        line: &'a str,
    },
    /// A sample ended, in one epoch.
    SampleFinished {
        /// The sample with its outcome.
        record: &'a Record,
    },
    /// All samples ended, or the run stopped.
    RunFinished {
        /// The whole run.
        run: &'a Run,
    },
}

/// Consumes events; called from many threads at once.
pub(crate) type Observer<'a> = dyn Fn(&Event<'_>) + Sync + Send + 'a;
