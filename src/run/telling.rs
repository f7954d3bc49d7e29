//! `Telling`: how much a command says of each of its runs, and a test binary that it drives.

use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::report::event::Event;
use crate::report::terminal;
use crate::report::terminal::paint::Paint;

/// How much is said of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Telling {
    /// All.
    #[default]
    Whole,
    /// What is not as it should be: a table tells the rest.
    Brief,
    /// Nothing: a machine reads the results.
    Nothing,
}

impl Telling {
    /// Writes an event at once: `--stream` is for watching. Results are what standard output is for.
    pub(super) fn tell(self, event: &Event<'_>, paint: Paint) {
        let mut text = Vec::new();
        let (written, is_result) = match (event, self) {
            (_, Self::Nothing) => return,
            (Event::RunFinished { run }, Self::Whole) => {
                (terminal::painted(run, paint, &mut text), true)
            }
            (Event::RunFinished { run }, Self::Brief) => {
                (terminal::brief(run, paint, &mut text), true)
            }
            (event, _) => (terminal::event(event, &mut text), false),
        };
        if written.is_err() || text.is_empty() {
            return;
        }
        // With nobody there to read it, the run goes on.
        let _ = if is_result {
            std::io::stdout().write_all(&text)
        } else {
            std::io::stderr().write_all(&text)
        };
    }
}
