//! The metrics of conversations.

use super::figures::Figures;
use super::table::ENTRY;
use super::{Basis, Measured, MetricEntry, MetricForm, Takes, Unit};
use crate::stats;
use crate::verdict::gate::RATE;
use crate::verdict::summary::{AnswerMean, ConversationFigures};

/// A mean over conversations.
const OF_CONVERSATIONS: MetricEntry = MetricEntry {
    unit: Unit::Amount("of a conversation"),
    less_is_better: true,
    basis: Basis::SoFar,
    ..ENTRY
};

/// Why conversations end.
pub(super) const ENDED: MetricEntry = MetricEntry {
    name: RATE,
    takes: Takes::Name("name the end: `rate(ended=max_turns)`"),
    forms: &[MetricForm {
        form: "rate(ended=WHY)",
        meaning: "the share of conversations with this end: `script`, `user_stop`, `max_turns`, `max_steps`",
        example: "rate(ended=max_turns) <= 5%",
    }],
    less_is_better: true,
    basis: Basis::SoFar,
    measure: |figures, gate| figures.ended(gate.metric.argument()),
    ..ENTRY
};

/// Turns of a conversation.
pub(super) const TURNS: MetricEntry = MetricEntry {
    name: "turns",
    forms: &[MetricForm {
        form: "turns",
        meaning: "the mean number of turns of a conversation",
        example: "turns <= 6",
    }],
    measure: |figures, _| figures.of_conversations(|it| it.turns, "turns"),
    line: Some(|line, _| line.figures.get("turns").copied()),
    ..OF_CONVERSATIONS
};

/// Calls of tools of an answer.
pub(super) const TOOL_CALLS: MetricEntry = MetricEntry {
    name: "tool_calls",
    forms: &[MetricForm {
        form: "tool_calls",
        meaning: "the mean number of tool calls per answer, or over all turns of a conversation",
        example: "tool_calls <= 12",
    }],
    unit: Unit::Amount("calls"),
    less_is_better: true,
    basis: Basis::SoFar,
    measure: |figures, _| mean_of_answers(figures.group.tool_calls, "its tool calls"),
    line: Some(|line, _| line.figures.get("tool_calls").copied()),
    ..ENTRY
};

/// The length of an answer.
pub(super) const OUTPUT_LENGTH: MetricEntry = MetricEntry {
    name: "output_length",
    forms: &[MetricForm {
        form: "output_length",
        meaning: "the mean number of characters of an answer",
        example: "output_length <= 2000",
    }],
    unit: Unit::Amount("characters"),
    less_is_better: true,
    basis: Basis::SoFar,
    measure: |figures, _| mean_of_answers(figures.group.output_length, "its length"),
    line: Some(|line, _| line.figures.get("output_length").copied()),
    ..ENTRY
};

fn mean_of_answers(mean: Option<AnswerMean>, what: &str) -> Result<Measured, String> {
    let AnswerMean { mean, answers } = mean.ok_or_else(|| format!("no answer reports {what}"))?;
    Ok(Measured::certain(
        mean,
        format!("the mean of {answers} answers"),
    ))
}

/// Those that failed.
pub(super) const FAILED_CALLS: MetricEntry = MetricEntry {
    name: "failed_calls",
    forms: &[MetricForm {
        form: "failed_calls",
        meaning: "the mean number of failed tool calls per conversation",
        example: "failed_calls <= 0.5",
    }],
    measure: |figures, _| figures.of_conversations(|it| it.failed_calls, "failed calls"),
    line: Some(|line, _| line.figures.get("failed_calls").copied()),
    ..OF_CONVERSATIONS
};

/// Those that repeat another.
pub(super) const REPEATED_CALLS: MetricEntry = MetricEntry {
    name: "repeated_calls",
    forms: &[MetricForm {
        form: "repeated_calls",
        meaning: "the mean number of tool calls per conversation that repeat an earlier one: same name, same arguments",
        example: "repeated_calls <= 0.2",
    }],
    measure: |figures, _| figures.of_conversations(|it| it.repeated_calls, "repeated calls"),
    line: Some(|line, _| line.figures.get("repeated_calls").copied()),
    ..OF_CONVERSATIONS
};

/// Tokens of a turn.
pub(super) const TOKENS_PER_TURN: MetricEntry = MetricEntry {
    name: "tokens_per_turn",
    forms: &[MetricForm {
        form: "tokens_per_turn",
        meaning: "input and output tokens per turn, as the agent reports them",
        example: "tokens_per_turn <= 2000",
    }],
    unit: Unit::Amount("tokens"),
    measure: |figures, _| figures.tokens_per_turn(),
    line: Some(|line, _| line.figures.get("tokens_per_turn").copied()),
    ..OF_CONVERSATIONS
};

impl Figures<'_> {
    fn conversations(&self) -> Result<&ConversationFigures, String> {
        let found = self.group.conversations.as_ref();
        found.ok_or_else(|| "no conversation is finished".to_owned())
    }

    /// The share of conversations that ended in this way.
    fn ended(&self, argument: &str) -> Result<Measured, String> {
        let figures = self.conversations()?;
        let why = argument.strip_prefix("ended=").unwrap_or(argument).trim();
        let count = figures.ended.get(why).copied().unwrap_or_default();
        let share = figures.mean(count).unwrap_or_default();
        let from = format!("{count} of {} conversations", figures.count);
        Ok(Measured::certain(share, from))
    }

    /// The mean of a sum over conversations.
    fn of_conversations(
        &self,
        sum: fn(&ConversationFigures) -> u64,
        what: &str,
    ) -> Result<Measured, String> {
        let figures = self.conversations()?;
        let sum = sum(figures);
        let mean = figures.mean(sum).unwrap_or_default();
        let from = format!("{sum} {what} in {} conversations", figures.count);
        Ok(Measured::certain(mean, from))
    }

    /// Tokens by the number of turns.
    fn tokens_per_turn(&self) -> Result<Measured, String> {
        let figures = self.conversations()?;
        let tokens = self
            .usage()
            .tokens()
            .ok_or("no answer reports its tokens")?;
        let mean = stats::ratio(tokens, figures.turns).ok_or("no conversation has a turn")?;
        let from = format!("{tokens} tokens in {} turns", figures.turns);
        Ok(Measured::certain(mean, from))
    }
}
