//! `Reply`: the reply of a judge within an agent's output, and whether it can be a reply at all.

use super::reading::{self, Reading};
use super::rubric::Grading;

use crate::data::{Finish, Output, Unread};
use crate::system::process::excerpt::beginning;
use crate::text::unquoted;

/// How much of an unreadable reply is shown.
const EXCERPT_BYTES: usize = 160;

/// The reply of a judge.
pub(in crate::scorer::ask) struct Reply {
    text: String,
    /// Why it is no reply, whatever the text is.
    spoilt: Option<Unread>,
}

impl Reply {
    pub(in crate::scorer::ask) fn of(output: &Output) -> Self {
        let spoilt = match output.finish() {
            Finish::Truncated => Some(Unread::Truncated),
            Finish::Refused => Some(Unread::Refusal),
            Finish::Answer | Finish::Outage => None,
        };
        Self {
            text: text(output),
            spoilt,
        }
    }

    /// Reads the reply.
    pub(in crate::scorer::ask) fn read(&self, grading: &Grading) -> Reading {
        if let Some(reason) = self.spoilt {
            return Reading::unreadable(reason);
        }
        match grading {
            Grading::Rubric(rubric) => {
                let dimensions = rubric.dimensions.iter();
                let dimensions = dimensions.map(|one| (one.name.as_str(), one.scale));
                reading::rubric(&self.text, &dimensions.collect::<Vec<_>>())
            }
            Grading::Choices(choices) => {
                let names = choices.offered.iter().map(|choice| choice.name.as_str());
                reading::choices(&self.text, &names.collect::<Vec<_>>())
            }
        }
    }

    /// The start of the reply, for display.
    pub(in crate::scorer::ask) fn excerpt(&self) -> String {
        beginning(self.text.trim_start().as_bytes(), EXCERPT_BYTES)
    }
}

/// The arguments of tool calls, if there are any; otherwise the text.
fn text(output: &Output) -> String {
    let arguments = output.tool_calls.iter().filter_map(|call| {
        let arguments = call
            .pointer("/function/arguments")
            .or(call.get("arguments"))?;
        Some(unquoted(arguments))
    });
    let arguments: Vec<String> = arguments.collect();
    if arguments.is_empty() {
        output.text.clone().unwrap_or_default()
    } else {
        // Two calls are two verdicts, which the reader compares.
        arguments.join("\n")
    }
}
