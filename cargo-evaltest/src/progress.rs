//! Progress on stderr: a bar on a terminal, plain lines otherwise, nothing when a machine reads along.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use evaltest::engine::report::Event;
use evaltest::engine::report::terminal;
use evaltest::engine::system::lock::lock;
use evaltest::engine::text::clean;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console;

/// Shows how far a run is.
pub(crate) enum Progress {
    Bar(ProgressBar, AtomicU64),
    Lines(Mutex<ProgressLines>),
    Quiet,
}

/// The state of plain lines: one for about every tenth of the samples.
#[derive(Default)]
pub(crate) struct ProgressLines {
    eval: String,
    /// What is counted.
    what: &'static str,
    total: u64,
    done: u64,
    correct: u64,
    errors: u64,
    next: u64,
    /// How often each failure was seen.
    troubles: HashMap<String, u32>,
}

impl Progress {
    /// Chooses by where stderr goes. `quiet`: standard output is data for a machine.
    pub(crate) fn new(quiet: bool) -> Self {
        if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let style =
                ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {msg} {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            Self::Bar(bar, AtomicU64::new(0))
        } else if quiet {
            Self::Quiet
        } else {
            Self::Lines(Mutex::default())
        }
    }

    /// Takes note of an event.
    pub(crate) fn event(&self, event: &Event<'_>) {
        match self {
            Self::Bar(bar, correct) => on_bar(bar, correct, event),
            Self::Lines(lines) => {
                let mut lines = lock(lines);
                // With stderr gone there is nobody to show progress to.
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

fn on_bar(bar: &ProgressBar, count: &AtomicU64, event: &Event<'_>) {
    match event {
        Event::RunStarted {
            eval,
            samples,
            epochs,
            ..
        } => {
            count.store(0, Ordering::Relaxed);
            // It was finished by the eval before.
            bar.reset();
            bar.set_prefix(clean(eval));
            bar.set_length(*samples as u64 * u64::from(*epochs));
            bar.set_message("");
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Event::SampleFinished { record } => {
            let correct = u64::from(record.result.is_correct());
            let correct = count.fetch_add(correct, Ordering::Relaxed) + correct;
            bar.set_message(format!("{correct} correct"));
            bar.inc(1);
        }
        Event::RunFinished { .. } => {
            bar.disable_steady_tick();
            bar.finish_and_clear();
            return;
        }
        _ => {}
    }
    let mut text = Vec::new();
    if terminal::event(event, &mut text).is_ok() && !text.is_empty() {
        let text = console::for_people(&String::from_utf8_lossy(&text));
        bar.suspend(|| std::io::stderr().write_all(text.as_bytes()))
            .unwrap_or_default();
    }
}

impl ProgressLines {
    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> std::io::Result<()> {
        match event {
            Event::RunStarted {
                eval,
                samples,
                epochs,
                ..
            } => {
                *self = Self {
                    eval: clean(eval),
                    what: if *epochs > 1 { "answers" } else { "samples" },
                    total: *samples as u64 * u64::from(*epochs),
                    ..Self::default()
                };
                self.next = self.step();
                terminal::event(event, out)
            }
            Event::SampleFinished { record } => {
                self.done += 1;
                self.correct += u64::from(record.result.is_correct());
                self.errors += u64::from(record.result.status.is_error());
                if self.done < self.next || self.done == self.total {
                    return Ok(());
                }
                self.next = self.done + self.step();
                let Self {
                    eval,
                    what,
                    done,
                    total,
                    correct,
                    errors,
                    ..
                } = self;
                let errors = terminal::errors_of(*errors);
                writeln!(
                    out,
                    "{eval}: {done} of {total} {what}, {correct} correct, {errors}"
                )
            }
            Event::RunFinished { .. } => Ok(()),
            Event::AttemptFailed { error, .. } => {
                // The same trouble of every sample is told in full at the end.
                let times = self.troubles.entry(error.message.clone()).or_default();
                *times += 1;
                match *times {
                    1..=3 => terminal::event(event, out),
                    4 => writeln!(out, "{}: more of the same is not shown", self.eval),
                    _ => Ok(()),
                }
            }
            _ => terminal::event(event, out),
        }
    }

    fn step(&self) -> u64 {
        (self.total / 10).max(10)
    }
}
