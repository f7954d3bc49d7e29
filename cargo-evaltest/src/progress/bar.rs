//! `Bar`: a progress bar at the bottom of the terminal, and a second one for several evals. Other output appears above
//! it.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evaltest::engine::report::Event;
use evaltest::engine::report::render::terminal::{truncate, truncate_middle};
use evaltest::engine::report::terminal::failures::FailureTracker;
use evaltest::engine::system::lock::lock;
use evaltest::engine::system::terminal::columns;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::{Ahead, CommandTally};
use crate::console;

/// Default terminal width.
const USUAL: usize = 80;
/// Maximum length of an eval's name.
const NAME: usize = 24;
const CELLS: usize = 20;

/// Draws a command's progress.
pub(crate) struct Bar {
    drawn: ProgressBar,
    tally: Arc<Mutex<CommandTally>>,
    failures: Mutex<FailureTracker>,
}

impl Bar {
    pub(super) fn new(ahead: Ahead) -> Self {
        let drawn = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        let tally = Arc::new(Mutex::new(CommandTally::new(ahead)));
        let template = if ahead.evals > 1 {
            "{run}\n{all}"
        } else {
            "{run}"
        };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let (of_run, of_all) = (Arc::clone(&tally), Arc::clone(&tally));
        let style = style
            .with_key("run", move |_: &ProgressState, out: &mut dyn fmt::Write| {
                let line = line(&lock(&of_run), width(), Instant::now());
                // Ignore write errors of the bar.
                let _ = out.write_str(&line);
            })
            .with_key("all", move |_: &ProgressState, out: &mut dyn fmt::Write| {
                let all = lock(&of_all).all().unwrap_or_default();
                let _ = out.write_str(&truncate(&format!("  {all}"), width()));
            });
        drawn.set_style(style);
        Self {
            drawn,
            tally,
            failures: Mutex::default(),
        }
    }

    pub(super) fn event(&self, event: &Event<'_>) {
        // The drawing thread locks it, too.
        lock(&self.tally).event(event);
        match event {
            Event::RunStarted { .. } => {
                // The previous eval finished it.
                self.drawn.reset();
                self.drawn.enable_steady_tick(Duration::from_millis(200));
            }
            Event::SampleFinished { .. } => self.drawn.tick(),
            Event::RunFinished { .. } => {
                self.drawn.disable_steady_tick();
                self.drawn.finish_and_clear();
            }
            _ => {}
        }
        if !lock(&self.tally).ahead.tells(event) {
            return;
        }
        let mut text = Vec::new();
        let written = lock(&self.failures).event(event, &mut text);
        if written.is_ok() && !text.is_empty() {
            let text = console::for_people(&String::from_utf8_lossy(&text));
            self.drawn
                .suspend(|| std::io::stderr().write_all(text.as_bytes()))
                .unwrap_or_default();
        }
    }
}

fn width() -> usize {
    // A terminal wraps after the last column.
    let columns = columns(&std::io::stderr()).unwrap_or(USUAL);
    columns.saturating_sub(1).max(1)
}

/// `sums ████░░░░ 30/100 20 correct, 0 errors, 33 s left`, truncated to the width.
fn line(tally: &CommandTally, width: usize, now: Instant) -> String {
    let run = &tally.run;
    let name = truncate_middle(&run.eval, NAME.min(width / 3));
    let (done, total) = (run.done, run.total.max(run.done));
    let full = |cells: usize| {
        let cells = cells as u64;
        let full = (cells * done).checked_div(total).unwrap_or(cells);
        let open = usize::try_from(cells - full).unwrap_or_default();
        let full = usize::try_from(full).unwrap_or_default();
        format!("{}{} ", "█".repeat(full), "░".repeat(open))
    };
    let parts = run.parts(now);
    for cells in [CELLS, CELLS / 2, 0] {
        let bar = if cells == 0 {
            String::new()
        } else {
            full(cells)
        };
        // The most important parts come first, and the rest is dropped if there is no room; shorten the bar to half if
        // that makes everything fit.
        let enough = if cells == CELLS {
            parts.len()
        } else {
            parts.len().min(3)
        };
        for visible in (enough..=parts.len()).rev() {
            let line = format!("{name} {bar}{done}/{total} {}", parts[..visible].join(", "));
            if line.chars().count() <= width {
                return line;
            }
        }
    }
    let few = parts.first().cloned().unwrap_or_default();
    truncate(&format!("{done}/{total} {few}"), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_no_wider_than_the_terminal() {
        let mut tally = CommandTally::new(Ahead::default());
        tally.run.eval = "a name that is long enough to be cut".to_owned();
        (tally.run.total, tally.run.done) = (100, 30);
        let now = Instant::now();
        for width in 1..120 {
            let line = line(&tally, width, now);
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        assert_eq!(
            line(&tally, 100, now),
            "a name that …h to be cut ██████░░░░░░░░░░░░░░ 30/100 0 correct, 0 errors"
        );
    }
}
