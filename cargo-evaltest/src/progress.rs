//! Progress on stderr: a bar on a terminal, otherwise plain lines; nothing if stdout is for a machine.

mod bar;
mod items;
mod tally;

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::Instant;

use evaltest::engine::figure::Count;
use evaltest::engine::report::Event;
use evaltest::engine::report::terminal::failures::FailureTracker;
use evaltest::engine::system::lock::lock;

use crate::console;
use bar::Bar;
use items::MadeItems;
use tally::{AnswerCosts, RunTally};

/// Shows the progress of a command.
pub(crate) enum Progress {
    Bar(Bar),
    Lines(Box<Mutex<ProgressLines>>),
    Quiet,
}

/// The work of a command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    /// Number of evals.
    pub(crate) evals: usize,
    /// Total number of requests, as far as known.
    pub(crate) questions: u64,
    /// Whether answers are generated items, which are not right or wrong.
    pub(crate) makes_items: bool,
}

impl Ahead {
    /// Whether an event is shown. Refused items are only counted; the report has the reasons.
    fn tells(self, event: &Event<'_>) -> bool {
        !(self.makes_items && matches!(event, Event::AnswerRefused { .. }))
    }
}

/// The progress of a command.
#[derive(Default)]
struct CommandTally {
    ahead: Ahead,
    /// Number of the current eval, from 1.
    place: usize,
    /// Answers of the runs before.
    done: u64,
    spent: AnswerCosts,
    run: RunTally,
}

impl CommandTally {
    fn new(ahead: Ahead) -> Self {
        let run = RunTally::new(ahead.makes_items.then(MadeItems::default));
        Self {
            ahead,
            run,
            ..Self::default()
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        if matches!(event, Event::RunStarted { .. }) {
            self.place += 1;
            self.done += self.run.done;
            self.spent.add(self.run.spent);
        }
        self.run.event(event, Instant::now());
    }

    /// Progress over all evals, if there are several.
    fn all(&self) -> Option<String> {
        let Ahead {
            evals, questions, ..
        } = self.ahead;
        if evals < 2 {
            return None;
        }
        let mut spent = self.spent;
        spent.add(self.run.spent);
        let done = self.done + self.run.done;
        let place = self.place;
        let mut parts = vec![
            format!("eval {place} of {evals}"),
            format!("{} of {} in all", Count(done), Count(questions.max(done))),
        ];
        parts.extend(spent.parts());
        Some(parts.join(", "))
    }
}

/// Prints plain lines: one for about every tenth of the samples.
#[derive(Default)]
pub(crate) struct ProgressLines {
    tally: CommandTally,
    failures: FailureTracker,
    next: u64,
}

impl Progress {
    /// Chooses by whether stderr is a terminal. `quiet`: standard output is data for a machine.
    pub(crate) fn new(quiet: bool, ahead: Ahead) -> Self {
        if std::io::stderr().is_terminal() {
            Self::Bar(Bar::new(ahead))
        } else if quiet {
            Self::Quiet
        } else {
            let tally = CommandTally::new(ahead);
            Self::Lines(Box::new(Mutex::new(ProgressLines {
                tally,
                ..ProgressLines::default()
            })))
        }
    }

    /// The same for generated items.
    pub(crate) fn generating(quiet: bool, ahead: Ahead) -> Self {
        let ahead = Ahead {
            makes_items: true,
            ..ahead
        };
        Self::new(quiet, ahead)
    }

    /// Updates the progress for an event.
    pub(crate) fn event(&self, event: &Event<'_>) {
        match self {
            Self::Bar(bar) => bar.event(event),
            Self::Lines(lines) => {
                let mut lines = lock(lines);
                // If stderr is closed, there is nowhere to show progress.
                let mut text = Vec::new();
                let _ = lines.event(event, &mut text);
                if !text.is_empty() {
                    let text = console::for_people(&String::from_utf8_lossy(&text));
                    let _ = std::io::stderr().write_all(text.as_bytes());
                }
            }
            Self::Quiet => {}
        }
    }
}

impl ProgressLines {
    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> std::io::Result<()> {
        self.tally.event(event);
        let run = &self.tally.run;
        match event {
            Event::RunStarted { .. } => self.next = step(run),
            Event::SampleFinished { .. } => {
                if run.done < self.next || run.done == run.total {
                    return Ok(());
                }
                self.next = run.done + step(run);
                let RunTally {
                    eval,
                    what,
                    done,
                    total,
                    ..
                } = run;
                let parts = run.parts(Instant::now()).join(", ");
                let all = self.tally.all();
                let all = all.map(|all| format!("; {all}")).unwrap_or_default();
                return writeln!(out, "{eval}: {done} of {total} {what}, {parts}{all}");
            }
            _ => {}
        }
        if self.tally.ahead.tells(event) {
            self.failures.event(event, out)?;
        }
        Ok(())
    }
}

/// Number of samples between two lines.
fn step(run: &RunTally) -> u64 {
    (run.total / 10).max(10)
}
