//! `Verbosity`: how verbose a command, or a test binary that it drives, is about each run.

use std::io::Write;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::report::event::Event;
use crate::report::render::terminal::Paint;
use crate::report::terminal;
use crate::report::terminal::failures::FailureTracker;
use crate::system::lock;

/// How verbose to be about a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verbosity {
    /// The result with all that its verdicts rest on.
    Verbose,
    /// The result on one screen.
    #[default]
    Whole,
    /// Problems only: a table has the rest.
    Brief,
    /// Nothing: a machine reads the results.
    Nothing,
}

impl Verbosity {
    /// Prints events to standard error at once, for watching with `--stream`. Standard output is for results.
    pub(in crate::run) fn observer(self, paint: Paint) -> impl Fn(&Event<'_>) + Send + Sync {
        let failures = Mutex::new(FailureTracker::default());
        move |event| {
            if self == Self::Nothing {
                return;
            }
            let mut text = Vec::new();
            if lock(&failures).event(event, &mut text).is_ok() && !text.is_empty() {
                // If standard error is closed, the run goes on.
                let _ = std::io::stderr().write_all(&text);
            }
            let Event::RunFinished { run } = event else {
                return;
            };
            let mut text = Vec::new();
            let written = match self {
                Self::Brief => terminal::brief(run, paint, &mut text),
                Self::Verbose => terminal::verbose(run, paint, &mut text),
                _ => terminal::painted(run, paint, &mut text),
            };
            if written.is_ok() {
                let _ = std::io::stdout().write_all(&text);
            }
        }
    }
}
