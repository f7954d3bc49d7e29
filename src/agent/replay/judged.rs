//! `JudgeReplies`: the replies of a run's judges, for replaying a judge.

use std::collections::{BTreeMap, HashMap};

use crate::data::task::JudgeTurn;
use crate::data::{AgentError, FailureKind, JudgeCall, Output, Task, Unread};

/// The reply, or the error if there is none.
type JudgeReply = Result<Output, AgentError>;
/// The replies on one answer, the first and those to repeated requests; by epoch and repeat.
type OnSample = BTreeMap<(u32, u32), BTreeMap<u32, JudgeReply>>;

/// By the name of the scorer that asked, and by sample.
#[derive(Clone, Debug, Default)]
pub(super) struct JudgeReplies(BTreeMap<String, HashMap<String, OnSample>>);

impl JudgeReplies {
    /// Adds the replies on a sample's answer. Failed requests are skipped.
    pub(super) fn add(&mut self, id: &str, epoch: u32, calls: Vec<JudgeCall>) {
        for call in calls {
            let reply = match (call.output, call.error) {
                (Some(output), _) => Ok(output),
                (None, Some(error)) if Unread::of_failure(&error).is_some() => Err(error),
                (None, _) => continue,
            };
            let of = self.0.entry(call.scorer).or_default();
            let turns = of.entry(id.to_owned()).or_default();
            let replies = turns.entry((epoch, call.repeat)).or_default();
            replies.insert(call.again, reply);
        }
    }

    /// The reply to the scorer of the same name. A single recorded reply counts for every epoch and repeat.
    pub(super) fn reply(&self, turn: &JudgeTurn, task: &Task, source: &str) -> JudgeReply {
        let Some(samples) = self.0.get(&*turn.scorer) else {
            return Err(self.nobody(&turn.scorer, source));
        };
        let turns = samples.get(task.id());
        let replies = turns.and_then(|turns| match turns.len() {
            1 => turns.values().next(),
            _ => turns.get(&(turn.epoch, turn.repeat)),
        });
        let reply = replies.and_then(|replies| {
            let again = replies.get(&task.again);
            again.or_else(|| replies.values().next())
        });
        reply.cloned().unwrap_or_else(|| {
            let message = format!(
                "no recorded reply of judge `{}` on `{}` in epoch {}, repeat {} in `{source}`",
                turn.scorer,
                task.id(),
                turn.epoch,
                turn.repeat,
            );
            Err(AgentError::of(FailureKind::NotFound, message))
        })
    }

    /// The error if no judge of this name was asked.
    fn nobody(&self, scorer: &str, source: &str) -> AgentError {
        let names: Vec<_> = self.0.keys().map(|name| format!("`{name}`")).collect();
        let message = if names.is_empty() {
            format!(
                "no judge was asked in `{source}`; hint: name a run that a judge judged, or a file of its replies, such as \
                 `path: verdicts.jsonl`"
            )
        } else {
            format!(
                "no judge `{scorer}` was asked in `{source}`, but {}; hint: name the scorer as there",
                names.join(", ")
            )
        };
        AgentError::of(FailureKind::Unusable, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(repeat: u32, again: u32, text: &str) -> JudgeCall {
        JudgeCall {
            scorer: "judge".to_owned(),
            repeat,
            again,
            output: Some(Output::text(text)),
            ..JudgeCall::default()
        }
    }

    fn reply(replies: &JudgeReplies, scorer: &str, turn: [u32; 3]) -> Result<String, AgentError> {
        let [epoch, repeat, again] = turn;
        let task = Task {
            again,
            ..Task::for_test("?")
        };
        let turn = JudgeTurn {
            scorer: scorer.into(),
            epoch,
            repeat,
        };
        let reply = replies.reply(&turn, &task, "runs/1");
        reply.map(|output| output.text.unwrap())
    }

    #[test]
    fn each_repeat_and_each_epoch_has_its_own() {
        let mut replies = JudgeReplies::default();
        let first = vec![
            call(0, 0, "unreadable"),
            call(0, 1, "again"),
            call(1, 0, "b"),
        ];
        replies.add("sample-1", 0, first);
        replies.add("sample-1", 1, vec![call(0, 0, "c")]);
        let reply_text = |turn| reply(&replies, "judge", turn).unwrap();
        assert_eq!(reply_text([0, 0, 0]), "unreadable");
        assert_eq!(reply_text([0, 0, 1]), "again");
        assert_eq!(reply_text([0, 1, 0]), "b");
        assert_eq!(reply_text([1, 0, 1]), "c");
        let error = reply(&replies, "judge", [1, 1, 0]).unwrap_err();
        assert_eq!(error.kind, FailureKind::NotFound);
        assert!(
            error.message.contains("`sample-1` in epoch 1, repeat 1"),
            "{}",
            error.message
        );
    }

    #[test]
    fn a_refusal_is_one_again_and_an_outage_is_none() {
        let failed = |kind, scorer: &str| JudgeCall {
            scorer: scorer.to_owned(),
            error: Some(AgentError::of(kind, "why")),
            ..JudgeCall::default()
        };
        let mut replies = JudgeReplies::default();
        let calls = vec![
            failed(FailureKind::Refused, "refuses"),
            failed(FailureKind::Busy, "busy"),
        ];
        replies.add("sample-1", 0, calls);
        let kind = |scorer| reply(&replies, scorer, [0; 3]).unwrap_err().kind;
        assert_eq!(kind("refuses"), FailureKind::Refused);
        assert_eq!(kind("busy"), FailureKind::Unusable);
    }

    #[test]
    fn missing_recording_lists_recorded_models() {
        let mut replies = JudgeReplies::default();
        let says = |replies: &JudgeReplies, says: &str| {
            let error = reply(replies, "points", [0; 3]).unwrap_err();
            assert_eq!(error.kind, FailureKind::Unusable);
            assert!(error.message.contains(says), "{}", error.message);
        };
        says(&replies, "no judge was asked in `runs/1`; hint: name a run");
        replies.add("sample-1", 0, vec![call(0, 0, "x")]);
        says(
            &replies,
            "no judge `points` was asked in `runs/1`, but `judge`; hint: name the scorer as there",
        );
    }
}
