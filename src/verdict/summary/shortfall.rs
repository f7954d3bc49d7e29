//! How many answers ended at the limit of tokens, and how many are refusals.

use serde::{Deserialize, Serialize};

use super::Summary;
use crate::data::{Record, Shortfall, Unread};
use crate::text::shell_word;

/// Answers that are less than the agent could say. They are scored as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShortfallFigures {
    /// Answers that ended at the limit of tokens.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub truncated: u64,
    /// Those among them without a text or a call.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub truncated_empty: u64,
    /// The first sample with such an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_truncated: Option<String>,
    /// Answers that the model or a filter refused, also without a text, where the sample is an error.
    #[serde(default, skip_serializing_if = "super::no_samples")]
    pub refused: u64,
    /// The first sample with such an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_refused: Option<String>,
}

impl ShortfallFigures {
    pub(super) fn add(&mut self, record: &Record) {
        let outcome = &record.result;
        // An error has no answer, but may be a refusal.
        let error = outcome.error.as_ref().filter(|_| !outcome.is_answered());
        let of_error = error.and_then(Unread::of_failure);
        let is_refused = of_error == Some(Unread::Refusal);
        let id = || Some(record.sample_id.clone());
        match outcome.shortfall {
            Some(Shortfall::Truncated | Shortfall::TruncatedEmpty) => {
                self.truncated += 1;
                self.truncated_empty +=
                    u64::from(outcome.shortfall == Some(Shortfall::TruncatedEmpty));
                self.first_truncated = self.first_truncated.take().or_else(id);
            }
            Some(Shortfall::Refused) => self.add_refused(id),
            None if is_refused => self.add_refused(id),
            None => {}
        }
    }

    fn add_refused(&mut self, id: impl FnOnce() -> Option<String>) {
        self.refused += 1;
        self.first_refused = self.first_refused.take().or_else(id);
    }
}

/// Notices about such answers, each with what helps. `run` is its name in commands.
pub(super) fn notices(summary: &Summary, run: &str) -> Vec<String> {
    let Some(figures) = &summary.shortfall else {
        return Vec::new();
    };
    let see = |first: &Option<String>| {
        let id = first.as_deref().map(shell_word).unwrap_or_default();
        format!("see one: `cargo evaltest show {run} {id}`")
    };
    let answers = |count: u64| match count {
        1 => "1 answer was".to_owned(),
        count => format!("{count} answers were"),
    };
    let mut notices = Vec::new();
    if figures.truncated > 0 {
        let empty = match figures.truncated_empty {
            0 => String::new(),
            empty if empty == figures.truncated => ", before any text of the answer".to_owned(),
            empty => format!(", {empty} of them before any text of the answer"),
        };
        notices.push(format!(
            "{} cut off at the token limit{empty}: raise `max_tokens` of the agent, or have it reason less; {}",
            answers(figures.truncated),
            see(&figures.first_truncated)
        ));
    }
    if figures.refused > 0 {
        notices.push(format!(
            "{} refused by the model or its content filter; {}",
            answers(figures.refused),
            see(&figures.first_refused)
        ));
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AgentError, FailureKind, Score, Status};
    use crate::verdict::summary::reading_notices;

    #[test]
    fn answers_that_ended_early_are_counted_with_a_hint() {
        let record = |id: &str, shortfall: Option<Shortfall>| {
            let mut record = Record::scored(id, Score::binary(false));
            record.result.shortfall = shortfall;
            record
        };
        let mut filtered = record("f", None);
        filtered.result.status = Status::AgentFailed;
        filtered.result.score = None;
        filtered.result.error = Some(AgentError::of(FailureKind::Refused, "withheld its answer"));
        let plain = Summary::of("e", &[record("a", None)]);
        assert_eq!(plain.shortfall, None);
        let records = [
            record("a", None),
            record("b", Some(Shortfall::Truncated)),
            record("c", Some(Shortfall::TruncatedEmpty)),
            record("d", Some(Shortfall::Refused)),
            filtered,
        ];
        let summary = Summary::of("e", &records);
        assert_eq!(
            reading_notices(&summary, "DIR"),
            [
                "2 answers were cut off at the token limit, 1 of them before any text of the answer: raise `max_tokens` \
                 of the agent, or have it reason less; see one: `cargo evaltest show DIR b`",
                "2 answers were refused by the model or its content filter; see one: `cargo evaltest show DIR d`",
            ]
        );
        let written = serde_json::to_value(&summary).unwrap();
        assert_eq!(written["shortfall"]["truncated"], 2);
        assert_eq!(serde_json::from_value::<Summary>(written).unwrap(), summary);
    }
}
