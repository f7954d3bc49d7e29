//! Handles the lines of the program.

use serde_json::{Map, Value};

use super::{End, Talk};
use crate::agent::command::reply;
use crate::agent::reply::ReportedFigures;
use crate::agent::worker::Open;
use crate::agent::worker::fallen::timed_out;
use crate::agent::worker::message::{self, Message, PROTOCOL};
use crate::agent::worker::pool::WorkerRefusal;
use crate::data::{AgentError, FailureKind, Output};
use crate::system::process::excerpt::beginning;

/// How many bytes of an unreadable line are shown.
const EXCERPT_BYTES: usize = 200;
/// How many bytes of a progress message are shown live.
const PROGRESS_BYTES: usize = 1000;

impl Talk<'_> {
    /// Handles a line.
    pub(super) fn receive(&mut self, line: &[u8]) -> Result<(), End> {
        if line.len() > self.setup.max_output_bytes {
            return Err(End::Faulty(self.too_large(line)));
        }
        if line.trim_ascii().is_empty() {
            return self.count_noise(line);
        }
        let message = message::read(line).map_err(|reason| {
            let printed = beginning(line, EXCERPT_BYTES);
            End::Faulty(AgentError::of(FailureKind::BadOutput,
                format!(
                    "printed `{printed}` to stdout, {reason}; hint: print only answers to stdout, everything else to \
                     stderr"
                ),
            ))
        })?;
        match message {
            Message::Hello(PROTOCOL) => {
                self.has_greeted = true;
                self.starting = None;
                self.notify_ready();
                self.count_noise(line)
            }
            Message::Hello(other) => Err(End::Foreign(other)),
            Message::Progress(id, text) => self.progress(id.as_deref(), &text, line),
            Message::Reply(id, reply) => self.answer(&id, reply, line),
        }
    }

    fn progress(&mut self, id: Option<&str>, text: &str, line: &[u8]) -> Result<(), End> {
        let found = id.and_then(|id| self.open.iter_mut().find(|open| open.request.id == id));
        let Some(open) = found else {
            // Of a cancelled request, or of none.
            return self.count_noise(line);
        };
        open.chatter += line.len() + 1;
        if let Some(live) = &open.request.live {
            (live.0)(&beginning(text.as_bytes(), PROGRESS_BYTES));
        }
        if let Some(progress) = &open.request.progress {
            (progress.0)(text);
        }
        if open.chatter > self.setup.max_output_bytes {
            return Err(End::Faulty(self.too_large(line)));
        }
        Ok(())
    }

    fn count_noise(&mut self, line: &[u8]) -> Result<(), End> {
        self.noise += line.len() + 1;
        if self.noise > self.setup.max_output_bytes {
            return Err(End::Faulty(self.too_large(line)));
        }
        Ok(())
    }

    fn answer(&mut self, id: &str, mut reply: Map<String, Value>, line: &[u8]) -> Result<(), End> {
        if self.forgotten.remove(id) {
            return Ok(());
        }
        let Some(place) = self.open.iter().position(|open| open.request.id == id) else {
            let printed = beginning(line, EXCERPT_BYTES);
            let message = format!(
                "printed `{printed}`, a reply to `{}`, which was not asked or is already answered",
                beginning(id.as_bytes(), EXCERPT_BYTES)
            );
            // The current request may well be innocent.
            return Err(End::Stray(AgentError::of(FailureKind::BadOutput, message)));
        };
        let open = self.open.swap_remove(place);
        self.has_answered = true;
        self.noise = 0;
        if open.overdue.is_some() {
            let allowed = open.request.allowed.unwrap_or_default();
            let refusal = WorkerRefusal::Own(self.with_stderr(timed_out(allowed), &open));
            open.end(Err(refusal));
            return Ok(());
        }
        if open.request.takes_members {
            let output = Output {
                metadata: reply,
                ..Output::default()
            };
            open.end(Ok(output));
            return Ok(());
        }
        let bad = |reason: String| {
            let printed = beginning(line, EXCERPT_BYTES);
            AgentError::of(
                FailureKind::BadOutput,
                format!("{reason}; the line begins with `{printed}`"),
            )
        };
        let total = reply.remove("total_usage").map(|total| {
            let wrapped = Map::from_iter([("usage".to_owned(), total)]);
            ReportedFigures::of(&wrapped)
        });
        let used = total
            .as_ref()
            .and_then(ReportedFigures::reported)
            .map(|total| self.totals.difference(total));
        let answer = reply::object(reply, bad)
            .map(|mut output| {
                output.usage = output.usage.or(used);
                if let Some(total) = total.filter(ReportedFigures::is_short) {
                    total.note(&mut output.metadata);
                }
                output
            })
            .map_err(|failure| WorkerRefusal::Own(self.with_stderr(failure, &open)));
        open.end(answer);
        Ok(())
    }

    pub(super) fn too_large(&self, begins: &[u8]) -> AgentError {
        let message = format!(
            "printed more than {} bytes for one answer; the output begins with `{}`; hint: raise \
             `limits.max_output_bytes`",
            self.setup.max_output_bytes,
            beginning(begins, EXCERPT_BYTES)
        );
        AgentError::of(FailureKind::OutputTooLarge, message)
    }

    fn with_stderr(&self, failure: AgentError, open: &Open) -> AgentError {
        AgentError {
            stderr_tail: self.worker.stderr().since(open.stderr_before),
            ..failure
        }
    }
}
