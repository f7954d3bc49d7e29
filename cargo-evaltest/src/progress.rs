//! Progress on stderr: a bar on a terminal, otherwise plain lines; nothing if stdout is for a machine.

mod bar;
mod tally;

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::Instant;

use evaltest::engine::figure::{Count, Seconds};
use evaltest::engine::report::Event;
use evaltest::engine::report::terminal::failures::FailureTracker;
use evaltest::engine::system::lock::lock;
use evaltest::engine::text::{clean, unquoted};
use evaltest::{Normalized, Record};
use serde_json::Value;

use crate::console;
use bar::Bar;
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

/// Maximum characters shown of a topic or an answer.
const MAX_CHARS: usize = 16;

/// Counts of generated items.
#[derive(Debug, Default)]
struct MadeItems {
    accepted: u64,
    refused: u64,
    /// Refused replies of items that are not finished, by item and epoch.
    open: HashMap<(String, u32), u64>,
    /// Text about the last item.
    last: Option<String>,
}

impl MadeItems {
    /// Records a refused reply, which is requested again.
    fn refused(&mut self, id: &str, epoch: u32) {
        self.refused += 1;
        *self.open.entry((id.to_owned(), epoch)).or_insert(0) += 1;
    }

    /// Records a finished item.
    fn ended(&mut self, record: &Record) {
        let outcome = &record.result;
        // Refusals in an earlier part of the run are unknown.
        let open = self.open.remove(&(record.sample_id.clone(), record.epoch));
        self.refused += (outcome.refused.len() as u64).saturating_sub(open.unwrap_or(0));
        if outcome.is_correct() {
            self.accepted += 1;
        } else if outcome.score.is_some() {
            self.refused += 1;
        }
        let topic = record.slices.get("topic").and_then(Value::as_str);
        let answer = answer(record);
        let parts = [topic.map(str::to_owned), answer];
        let parts = parts.into_iter().flatten().map(|part| short(&part));
        let parts: Vec<_> = parts.collect();
        let seconds = Seconds(outcome.latency_s);
        self.last = Some(if parts.is_empty() {
            format!("the last in {seconds}")
        } else {
            format!("the last: {} in {seconds}", parts.join(", "))
        });
    }

    /// The counts as texts, the most important first.
    fn parts(&self) -> impl Iterator<Item = String> {
        let counts = [
            format!("{} accepted", self.accepted),
            format!("{} refused", self.refused),
        ];
        counts.into_iter().chain(self.last.clone())
    }
}

/// The answer of the item.
fn answer(record: &Record) -> Option<String> {
    let score = record.result.score.as_ref()?;
    let Normalized::Text(item) = &score.normalized_prediction else {
        return None;
    };
    let item: Value = serde_json::from_str(item).ok()?;
    Some(unquoted(item.get("answer")?))
}

fn short(text: &str) -> String {
    let text = clean(text.trim());
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use evaltest::Score;

    use super::*;

    #[test]
    fn what_was_refused_is_counted_once() {
        let mut made = MadeItems::default();
        made.refused("a", 0);
        let parts = |made: &MadeItems| made.parts().collect::<Vec<_>>().join(", ");
        assert_eq!(parts(&made), "0 accepted, 1 refused");
        let item = r#"{"problem": "?", "answer": 42}"#.to_owned();
        let mut score = Score::binary(true);
        score.normalized_prediction = Normalized::Text(item);
        let mut record = Record::scored("a", score);
        record
            .slices
            .insert("topic".to_owned(), "Number Theory of old".into());
        record.result.latency_s = 3.2;
        let before =
            serde_json::json!([{ "attempt": 1, "reason": "x" }, { "attempt": 2, "reason": "x" }]);
        record.result.refused = serde_json::from_value(before).unwrap();
        made.ended(&record);
        // One of the two was refused in an earlier part of the run.
        assert_eq!(
            parts(&made),
            "1 accepted, 2 refused, the last: Number Theory of…, 42 in 3.2 s"
        );
        made.ended(&Record::scored("b", Score::binary(false)));
        assert_eq!(parts(&made), "1 accepted, 3 refused, the last in 0.0 ms");
    }
}
