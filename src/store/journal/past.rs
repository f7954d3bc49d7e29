//! `Past`: what an earlier part of a run knows of a question, folded from the journal.

use serde_json::Value;

use super::{Kind, StoredEvent};
use crate::data::RefusedAnswer;
use crate::data::conversation::{AppendMessage as _, TurnMessage};
use crate::data::{JudgeCall, Outcome, Output};
use crate::store::Carried;

/// What an earlier, interrupted part of a run knows of a sample in one epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Completed attempts, with or without an answer.
    pub(crate) attempts: u32,
    /// The last answer.
    pub(crate) answer: Option<Answered>,
    /// Refused answers, after which it was asked again.
    pub(crate) refused: Vec<RefusedAnswer>,
    /// The replies of judges.
    pub(crate) judged: Vec<JudgeCall>,
    /// The outcome, if the sample ended with an answer.
    pub(crate) outcome: Option<Outcome>,
    /// What was said in a conversation that has no answer yet.
    pub(crate) messages: Vec<TurnMessage>,
    /// Whether a message of it is redacted.
    is_redacted: bool,
    /// The raw texts of both, if another version wrote them.
    pub(crate) foreign: Foreign,
}

/// Texts from another version, which may have unknown members; empty for what this version writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreign {
    output: Option<Box<str>>,
    result: Option<Box<str>>,
}

impl Foreign {
    /// The texts, redacted with `redact`, which returns whether it changed a value.
    #[must_use]
    pub(crate) fn redacted(self, redact: impl Fn(&mut Value) -> bool) -> Self {
        let redacted = |text: Box<str>| {
            let mut value = serde_json::from_str(&text).ok()?;
            Some(if redact(&mut value) {
                value.to_string().into()
            } else {
                text
            })
        };
        Self {
            output: self.output.and_then(redacted),
            result: self.result.and_then(redacted),
        }
    }

    /// Partial records, as JSON, built from the texts.
    pub(crate) fn records(&self) -> impl Iterator<Item = String> {
        let result = self.result.as_ref();
        let output = self.output.as_ref();
        let result = result.map(|text| format!("{{\"result\":{text}}}"));
        let output = output.map(|text| format!("{{\"result\":{{\"output\":{text}}}}}"));
        result.into_iter().chain(output)
    }
}

/// An answer of an agent, now or in an earlier part of the run.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) output: Output,
    pub(crate) latency_s: f64,
    /// The number of attempts until this answer.
    pub(crate) attempts: u32,
    /// How many secrets are redacted in `output`: none while it is the agent's own.
    pub(crate) redacted: u32,
    /// It is from the cache.
    pub(crate) cached: bool,
    /// The run it is from, if the cache knows it.
    pub(crate) cached_from: Option<String>,
    /// A call of a model was replayed for it.
    pub(crate) recorded: bool,
}

impl Past {
    /// Folds the events of a question. A sample that ended without an answer is to be asked again, unless that counts
    /// as a wrong answer (which no retry makes right) or `failures_count`. An answer without a judge's reply is to be
    /// judged again.
    pub(crate) fn of(
        events: impl IntoIterator<Item = Carried<StoredEvent>>,
        failures_count: bool,
    ) -> Self {
        let mut past = Self::default();
        for event in events {
            past.add(event, failures_count);
        }
        past
    }

    fn add(&mut self, carried: Carried<StoredEvent>, failures_count: bool) {
        let of = |name| carried.member(name);
        let texts = match carried.known.kind {
            Kind::Answered => (of("output"), None),
            Kind::Scored | Kind::Ended => (None, of("result")),
            Kind::Started
            | Kind::Progress
            | Kind::Turn
            | Kind::Failed
            | Kind::Judged
            | Kind::JudgeFailed
            | Kind::Refused
            | Kind::Confirmed => (None, None),
        };
        let event = carried.known;
        match event.kind {
            // An attempt that was cut off by the end of the process is not the agent's failure.
            Kind::Started | Kind::Progress | Kind::Confirmed => {}
            Kind::Turn => {
                let is_first = event.turn == Some(1) && event.step.is_none();
                // What follows a redacted message cannot be said again either.
                self.is_redacted = event.redacted > 0 || self.is_redacted && !is_first;
                if is_first {
                    self.messages.clear();
                }
                if let Some(message) = event.into_turn_message().filter(|_| !self.is_redacted) {
                    self.messages.append_message(message);
                }
            }
            Kind::Judged | Kind::JudgeFailed => self.judged.extend(event.into_judge_call()),
            Kind::Failed => self.attempts = self.attempts.max(event.attempt),
            Kind::Answered => {
                self.attempts = self.attempts.max(event.attempt);
                self.answer = event.output.map(|output| Answered {
                    output,
                    latency_s: event.latency_s.unwrap_or_default(),
                    attempts: event.attempt,
                    redacted: event.redacted,
                    cached: event.cached,
                    cached_from: event.cached_from,
                    recorded: event.recorded,
                });
                self.outcome = None;
                self.foreign = Foreign {
                    output: texts.0,
                    result: None,
                };
            }
            Kind::Refused => {
                self.attempts = self.attempts.max(event.attempt);
                let judged = &self.judged;
                self.refused.extend(event.result.map(|outcome| {
                    RefusedAnswer::of(Outcome {
                        judged: filled(outcome.judged, judged),
                        ..outcome
                    })
                }));
                (self.answer, self.outcome) = (None, None);
                self.foreign = Foreign::default();
            }
            Kind::Scored | Kind::Ended => {
                let result = event.result.as_ref();
                let is_wrong = result.is_some_and(Outcome::is_failure_as_wrong);
                if !failures_count && needs_verdict(self, result) {
                    return;
                }
                if self.answer.is_some() || failures_count || is_wrong {
                    let output = self.answer.as_ref().map(|answer| answer.output.clone());
                    let judged = &self.judged;
                    self.outcome = event.result.map(|outcome| Outcome {
                        output,
                        judged: filled(outcome.judged, judged),
                        ..outcome
                    });
                    self.foreign.result = texts.1;
                }
            }
        }
    }
}

/// The kind of a [`Past`], known without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EarlierState {
    /// Neither answer nor end.
    #[default]
    Nothing,
    /// An answer, whatever followed.
    Answer,
    /// An end without an answer.
    End,
}

impl EarlierState {
    /// Adds one event, folded as [`Past::of`] does.
    pub(crate) fn with(self, event: &StoredEvent, failures_count: bool) -> Self {
        match event.kind {
            Kind::Answered if event.output.is_some() => Self::Answer,
            Kind::Answered | Kind::Refused => Self::Nothing,
            Kind::Scored | Kind::Ended if self != Self::Answer => match &event.result {
                Some(result) if failures_count || result.is_failure_as_wrong() => Self::End,
                None if failures_count => Self::Nothing,
                _ => self,
            },
            _ => self,
        }
    }
}

impl Kind {
    /// Whether events of this kind are part of a [`Past`].
    pub(crate) fn is_of_past(self) -> bool {
        !matches!(self, Self::Started | Self::Progress | Self::Confirmed)
    }
}

/// Whether a judge never replied about an answer, so that it must be judged again. An answer redacted on disk keeps its
/// verdict.
fn needs_verdict(past: &Past, result: Option<&Outcome>) -> bool {
    let is_whole = past.answer.as_ref().is_some_and(|it| it.redacted == 0);
    let mut calls = result.iter().flat_map(|outcome| &outcome.judged);
    is_whole && calls.any(JudgeCall::is_unanswered)
}

/// The calls of an outcome with their replies, which are on lines of their own.
fn filled(calls: Vec<JudgeCall>, recorded: &[JudgeCall]) -> Vec<JudgeCall> {
    let output = |call: &JudgeCall| {
        let recorded = recorded
            .iter()
            .rev()
            .find(|recorded| recorded.key == call.key);
        recorded.and_then(|recorded| recorded.output.clone())
    };
    let filled = |call: JudgeCall| JudgeCall {
        output: call.output.clone().or_else(|| output(&call)),
        ..call
    };
    calls.into_iter().map(filled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::redact::Redactor;

    #[test]
    fn judge_calls_of_a_confirmation_are_not_of_the_first_answer() {
        let recorded = |attempts: u32, text: &str| {
            let call = JudgeCall {
                key: "k".to_owned(),
                attempts,
                ..JudgeCall::default()
            };
            let mut event = StoredEvent::of_judge("a", 0, &call, Kind::Judged);
            event.output = Some(Output::text(text));
            event
        };
        let cached = StoredEvent {
            cached: true,
            ..recorded(0, "cached")
        };
        let events = [recorded(1, "first"), recorded(0, "look"), cached];
        let past = Past::of(events.map(Carried::from), false);
        let texts = past
            .judged
            .iter()
            .map(|call| call.output.as_ref()?.text.clone());
        let texts: Option<Vec<_>> = texts.collect();
        assert_eq!(texts.unwrap(), ["first", "cached"]);
    }

    #[test]
    fn members_that_nobody_knows_keep_no_secret() {
        let texts = Foreign {
            output: Some("{ \"later\": [\"sk-abcdefgh12345678\"]}".into()),
            result: Some("{ \"later\": 1.50}".into()),
        };
        let redactor = Redactor::default();
        let texts = texts.redacted(|value| {
            let mut count = 0;
            redactor.value(value, &mut count);
            count > 0
        });
        let records: Vec<_> = texts.records().collect();
        assert_eq!(
            records,
            [
                "{\"result\":{ \"later\": 1.50}}",
                "{\"result\":{\"output\":{\"later\":[\"[REDACTED]\"]}}}"
            ]
        );
    }
}
