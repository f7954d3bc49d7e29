//! The data of a run: samples, agent outputs, scores and records; and the sources of samples: [`dataset`], `hub`.

pub(crate) mod calibration;
pub(crate) mod conversation;
pub(crate) mod history;
pub(crate) mod judged;
pub(crate) mod labels;
pub(crate) mod output;
pub(crate) mod record;
pub(crate) mod reviews;
pub(crate) mod sample;
pub(crate) mod score;
pub(crate) mod shard;
pub(crate) mod task;

mod attachment;

pub(crate) mod dataset;
pub(crate) mod hub;

pub(crate) mod yaml_places;

pub use conversation::{ConversationEnd, ConversationOutcome, TurnOutcome};
pub use judged::{JudgeCall, JurorVote, ReplyForm, Unread};
pub(crate) use output::finish::Finish;
pub use output::finish::Shortfall;
pub use output::{AgentError, EndedBy, FailureKind, Output, Party, Usage};
pub use record::reading::{FoundBy, Missed, MissedPart};
pub use record::{Outcome, Record, RefusedAnswer, Status};
pub use sample::{Attachment, Sample, Target};
pub(crate) use score::DetailBounds;
pub use score::{Details, Normalized, Score, display_prediction};
pub use shard::Shard;
pub(crate) use shard::shard_hash;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
pub use task::{Task, TaskFile};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

// The parts of an item of data, and their text.
//
// An item is a sample that is evaluated itself; no agent answers it. Its text contains the answer, so it is built
// from the sample and never from a task.

/// Usual column names of a worked solution.
pub(crate) const SOLUTION: [&str; 4] = ["solution", "Solution", "reasoning", "Reasoning"];

/// A part of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ItemPart {
    /// What is asked.
    Problem,
    /// The right answer.
    Answer,
    /// How it is found.
    Solution,
}

impl ItemPart {
    /// All parts, in display order.
    pub(crate) const ALL: [Self; 3] = [Self::Problem, Self::Answer, Self::Solution];

    /// Its name in a spec.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Answer => "answer",
            Self::Solution => "solution",
        }
    }

    /// The part with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// The content of an item's part; `None` if it has none.
    fn of(self, sample: &Sample) -> Option<Cow<'_, str>> {
        let text = match self {
            Self::Problem => Cow::Borrowed(&*sample.prompt),
            Self::Answer => text(&sample.target.as_ref()?.0)?,
            Self::Solution => SOLUTION
                .iter()
                .find_map(|name| text(sample.metadata.get(*name)?))?,
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// The text of an item with its existing parts; `None` if it has none of them.
    pub(crate) fn rendered(parts: &[Self], sample: &Sample) -> Option<String> {
        let parts = parts.iter().filter_map(|part| {
            let text = part.of(sample)?;
            Some(match part {
                Self::Problem => format!("Problem:\n{text}"),
                Self::Answer => format!("Answer: {text}"),
                Self::Solution => format!("Solution:\n{text}"),
            })
        });
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

/// A string as it is, other values as JSON.
fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.into()),
        other => Some(other.to_string().into()),
    }
}

/// How a judge computes figures from its findings, so that human labels can be converted to the same figures. Figures
/// without a rule are not computed from labels either.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct JudgeRule {
    /// Minimum total (or, with choices, value) of a correct answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
    /// Weights of the dimensions; the total is their weighted mean.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    /// The possible verdicts with their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<String, f64>,
}

impl JudgeRule {
    /// The weighted mean of all dimensions; `None` if one is missing or there are none.
    pub(crate) fn total(&self, points: &BTreeMap<String, f64>) -> Option<f64> {
        let weights: f64 = self.weights.values().sum();
        let parts = self.weights.iter();
        let parts = parts.map(|(name, weight)| Some(points.get(name)? * weight / weights));
        let total: f64 = parts.sum::<Option<f64>>()?;
        // Rounded as in rubrics, so that 3.5 on paper is not below 3.5.
        (weights > 0.0).then(|| (total * 1e12).round() / 1e12)
    }

    /// Whether people who label answers give this figure, or it follows from their labels. Unknown, and assumed true,
    /// without dimensions and choices.
    pub(crate) fn is_labelled(&self, figure: &str) -> bool {
        let is_whole = match (self.weights.is_empty(), self.choices.is_empty()) {
            (true, true) => return true,
            (true, false) => figure == "value",
            (false, _) => figure == "total",
        };
        is_whole
            || figure == "correct"
            || self.weights.contains_key(figure)
            || self.choices.contains_key(figure)
    }

    /// Whether this total or value is that of a correct answer, if the rule defines it.
    pub(crate) fn is_correct(&self, points: f64) -> Option<bool> {
        self.pass.map(|pass| points >= pass)
    }
}

/// The way an attempt failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailureManner {
    kind: FailureKind,
    exit_code: Option<i32>,
    signal: Option<i32>,
    /// The message, if it is evaltest's own; otherwise empty.
    message: String,
    /// The last line of the agent's output without digits, because process ids, times and addresses change.
    output: String,
}

impl FailureManner {
    /// The manner of a failure.
    pub(crate) fn of(error: &AgentError) -> Self {
        let is_own = matches!(error.kind, FailureKind::Failed | FailureKind::Panicked);
        let output = match &error.stderr_tail {
            Some(tail) => tail,
            None if is_own => &error.message,
            None => "",
        };
        let last = output.lines().rfind(|line| !line.trim().is_empty());
        let last = last.unwrap_or_default().trim().chars();
        Self {
            kind: error.kind,
            exit_code: error.exit_code,
            signal: error.signal,
            message: if is_own {
                String::new()
            } else {
                error.message.clone()
            },
            output: last.filter(|c| !c.is_numeric()).collect(),
        }
    }

    /// Whether another failure is the same, ignoring evaltest's message.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let own = (self.kind, self.exit_code, self.signal, &self.output);
        own == (other.kind, other.exit_code, other.signal, &other.output)
    }
}

/// Metadata key of the number of steps that people needed.
const ANNOTATED: &str = "annotated_steps";

impl Output {
    /// Number of steps to the answer: as reported by the agent, or else the number of assistant messages with tool
    /// calls; `None` if neither is known.
    pub fn steps_taken(&self) -> Option<u64> {
        if self.steps.is_some() || self.messages.is_empty() {
            return self.steps;
        }
        let calls = self.messages.iter().filter(|message| calls_tools(message));
        u64::try_from(calls.count()).ok()
    }
}

impl Output {
    /// The names of the tools that the answer took, in their order; `None` if the agent does not tell: it gave neither
    /// messages, nor calls, nor steps.
    pub fn tools_taken(&self) -> Option<Vec<String>> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let name = |call: &Value| {
            let nested = text(call.pointer("/function/name"));
            nested.or_else(|| text(call.get("name")))
        };
        let mut named: Vec<String> = Vec::new();
        for message in &self.messages {
            let calls = message.get("tool_calls").and_then(Value::as_array);
            named.extend(calls.into_iter().flatten().filter_map(name));
            // Messages of Anthropic have blocks, those of OpenAI's responses are items.
            let blocks = message.get("content").and_then(Value::as_array);
            let items = blocks.into_iter().flatten().chain([message]);
            let is_call = |item: &&Value| {
                let kind = item.get("type").and_then(Value::as_str);
                matches!(kind, Some("tool_use" | "function_call"))
            };
            named.extend(items.filter(is_call).filter_map(name));
        }
        if named.is_empty() {
            named.extend(self.tool_calls.iter().filter_map(name));
        }
        let is_known = !self.messages.is_empty() || self.steps.is_some() || !named.is_empty();
        is_known.then_some(named)
    }

    /// The characters of the text.
    pub(crate) fn length(&self) -> Option<u64> {
        let text = self.text.as_ref()?;
        u64::try_from(text.chars().count()).ok()
    }
}

fn calls_tools(message: &Value) -> bool {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let is_one = message.get("function_call").is_some_and(Value::is_object);
    let role = message.get("role").and_then(Value::as_str);
    role == Some("assistant") && (is_one || calls.is_some_and(|calls| !calls.is_empty()))
}

/// Number of steps that people needed, if the dataset has it: in `annotated_steps`, or in GAIA's format.
pub(crate) fn annotated_steps(metadata: &Map<String, Value>) -> Option<u64> {
    let of_gaia = || metadata.get("Annotator Metadata")?.get("Number of steps");
    let annotated = metadata.get(ANNOTATED).or_else(of_gaia)?;
    let of_text = || annotated.as_str()?.trim().parse().ok();
    annotated
        .as_u64()
        .or_else(of_text)
        .filter(|steps| *steps > 0)
}

/// The agent and prompt of an eval. As a text it is the suffix of the spec's name: `@small+short`.
///
/// Names cannot contain these two characters, so the suffix is unambiguous; it is also valid in file names, test names
/// and command lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Variant {
    /// The key in `agents:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The key in `prompts:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

impl Variant {
    /// Prefix of an agent's name.
    pub(crate) const AGENT: char = '@';
    /// Prefix of a prompt's name.
    pub(crate) const PROMPT: char = '+';

    /// The spec's name in the name of an eval; the whole name without a variant.
    pub fn family_of(eval: &str) -> &str {
        let end = eval.find([Self::AGENT, Self::PROMPT]);
        end.map_or(eval, |end| &eval[..end])
    }

    /// The names without prefixes: `small, short`.
    pub fn names(&self) -> String {
        let names: Vec<&str> = [&self.agent, &self.prompt]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        names.join(", ")
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sign, name) in [(Self::AGENT, &self.agent), (Self::PROMPT, &self.prompt)] {
            if let Some(name) = name {
                write!(f, "{sign}{name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod item_part_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn item_renders_present_parts() {
        let mut sample = Sample::new("a", "6 * 7?").target("42");
        let rendered = |parts: &[ItemPart], sample: &Sample| ItemPart::rendered(parts, sample);
        let whole = |sample: &Sample| rendered(&ItemPart::ALL, sample).unwrap();
        assert_eq!(whole(&sample), "Problem:\n6 * 7?\n\nAnswer: 42");
        sample.metadata.insert("solution".to_owned(), json!(" "));
        assert_eq!(whole(&sample), "Problem:\n6 * 7?\n\nAnswer: 42");
        sample
            .metadata
            .insert("reasoning".to_owned(), json!("Count."));
        sample.metadata.shift_remove("solution");
        assert_eq!(
            whole(&sample),
            "Problem:\n6 * 7?\n\nAnswer: 42\n\nSolution:\nCount."
        );
        let one = rendered(&[ItemPart::Solution], &sample);
        assert_eq!(one.as_deref(), Some("Solution:\nCount."));
        assert_eq!(rendered(&[ItemPart::Answer], &Sample::new("b", "x")), None);
        assert_eq!(ItemPart::named("answer"), Some(ItemPart::Answer));
        assert_eq!(ItemPart::named("topic"), None);
    }
}

#[cfg(test)]
mod steps_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_are_reported_or_counted_from_tool_calls() {
        let check = |steps: Option<u64>, messages: Value, expect: Option<u64>| {
            let output = json!({"steps": steps, "messages": messages});
            let output: Output = serde_json::from_value(output).unwrap();
            assert_eq!(output.steps_taken(), expect, "{output:?}");
        };
        let call = json!({"role": "assistant", "tool_calls": [{"id": "1"}, {"id": "2"}]});
        let messages = json!([
            {"role": "user", "content": "?"},
            call,
            {"role": "tool", "tool_calls": [{}]},
            {"role": "assistant", "function_call": {"name": "f"}},
            {"role": "assistant", "content": "4", "tool_calls": []},
            "no message",
        ]);
        check(None, messages.clone(), Some(2));
        check(Some(7), messages, Some(7));
        check(None, json!([{"role": "user"}]), Some(0));
        check(None, json!([]), None);
        check(Some(0), json!([]), Some(0));
    }

    #[test]
    fn people_took_at_least_one() {
        let check = |metadata: Value, expect: Option<u64>| {
            let Value::Object(metadata) = metadata else {
                panic!("{metadata}");
            };
            assert_eq!(annotated_steps(&metadata), expect, "{metadata:?}");
        };
        let of_gaia = |steps: Value| json!({"Annotator Metadata": {"Number of steps": steps}});
        check(of_gaia(json!("5")), Some(5));
        check(of_gaia(json!(" 12 ")), Some(12));
        check(of_gaia(json!(3)), Some(3));
        check(of_gaia(json!("some")), None);
        check(of_gaia(json!(0)), None);
        check(json!({"annotated_steps": 4}), Some(4));
        check(json!({}), None);
    }
}

#[cfg(test)]
mod variant_tests {
    use super::*;

    #[test]
    fn its_text_says_which_it_is() {
        fn check(agent: Option<&str>, prompt: Option<&str>, expect: &str, names: &str) {
            let variant = Variant {
                agent: agent.map(str::to_owned),
                prompt: prompt.map(str::to_owned),
            };
            assert_eq!((&*variant.to_string(), &*variant.names()), (expect, names));
            assert_eq!(Variant::family_of(&format!("e{variant}")), "e");
        }
        check(
            Some("gpt-4.1"),
            Some("short"),
            "@gpt-4.1+short",
            "gpt-4.1, short",
        );
        check(Some("small"), None, "@small", "small");
        check(None, Some("short"), "+short", "short");
        check(None, None, "", "");
    }
}
