//! A trace from its spans: the conventions of OpenTelemetry for generative AI, new and old, and those of `OpenInference`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::content::{input, output};
use super::evaluations::{evaluation, evaluations};
use super::message::{calls, text_of, tool_call, tool_reply};
use super::span::{Span, SpanEvent};
use super::trace::{Trace, TraceScore};
use crate::data::Usage;

/// The event with the content of a request.
const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// The spans of a trace by their place, in order of time.
struct SpanTree {
    spans: Vec<Span>,
    parents: Vec<Option<usize>>,
    root: usize,
}

impl SpanTree {
    fn new(mut spans: Vec<Span>) -> Self {
        spans.sort_by_key(|span| {
            (
                span.times[0],
                span.parent.is_some(),
                std::cmp::Reverse(span.times[1]),
            )
        });
        let places: HashMap<String, usize> = spans
            .iter()
            .enumerate()
            .map(|(place, span)| (span.id.clone(), place))
            .collect();
        let parent = |(place, span): (usize, &Span)| {
            let parent = places.get(span.parent.as_ref()?).copied();
            parent.filter(|parent| *parent != place)
        };
        let parents = spans.iter().enumerate().map(parent).collect();
        let mut tree = Self {
            spans,
            parents,
            root: 0,
        };
        // The outermost agent, else a span without a parent, else one whose parent is missing.
        let all = 0..tree.spans.len();
        let agent = all.clone().find(|place| {
            tree.spans[*place].operation() == "invoke_agent" && tree.agent_of(*place).is_none()
        });
        let is_evaluation = |place: &usize| tree.spans[*place].operation() == "evaluate";
        let tops = || {
            all.clone()
                .filter(|place| tree.parents[*place].is_none() && !is_evaluation(place))
        };
        let top = tops().find(|place| tree.spans[*place].parent.is_none());
        tree.root = agent.or(top).or_else(|| tops().next()).unwrap_or(0);
        tree
    }

    /// The agents around a span, from the inside. A chain that runs in a circle ends.
    fn agent_of(&self, place: usize) -> Option<usize> {
        let mut at = place;
        for _ in 0..self.spans.len() {
            at = self.parents[at]?;
            if self.spans[at].operation() == "invoke_agent" {
                return Some(at);
            }
        }
        None
    }

    fn root(&self) -> &Span {
        &self.spans[self.root]
    }

    /// Whether a span belongs to the outermost agent itself, and not to one that this called.
    fn is_own(&self, place: usize) -> bool {
        let agent = self.agent_of(place);
        self.root().operation() != "invoke_agent" || agent.is_none_or(|agent| agent == self.root)
    }

    /// The spans of the outermost agent that a condition holds for.
    fn own(&self, is_wanted: impl Fn(&Span) -> bool) -> impl DoubleEndedIterator<Item = &Span> {
        let places = (0..self.spans.len()).filter(move |place| self.is_own(*place));
        places
            .map(|place| &self.spans[place])
            .filter(move |span| is_wanted(span))
    }
}

/// The trace of these spans and log records.
pub(super) fn trace(id: String, mut spans: Vec<Span>, logs: Vec<SpanEvent>) -> Trace {
    let mut trace = Trace {
        id,
        ..Trace::default()
    };
    let mut loose = Vec::new();
    for log in logs {
        if let Some(sample) = log
            .attributes
            .get("evaltest.sample.id")
            .and_then(Value::as_str)
        {
            sample.clone_into(&mut trace.id);
            trace.is_ours = true;
            let epoch = log.attributes.get("evaltest.epoch").and_then(Value::as_u64);
            trace.epoch = epoch
                .and_then(|epoch| u32::try_from(epoch).ok())
                .unwrap_or_default();
        }
        match spans
            .iter_mut()
            .find(|span| log.span.as_ref() == Some(&span.id))
        {
            Some(span) => span.events.push(log),
            None => loose.push(log),
        }
    }
    let events = spans.iter().flat_map(|span| &span.events).chain(&loose);
    let mut scores: Vec<TraceScore> = events.filter_map(evaluation).collect();
    // Of an answer without a verdict evaltest says why there is none.
    let first = loose
        .first()
        .filter(|log| log.attributes.contains_key("evaltest.sample.id"));
    if let Some(score) = scores
        .first()
        .filter(|score| first.is_some() && score.value.is_none())
    {
        let kind = score
            .error
            .as_deref()
            .and_then(|kind| serde_json::from_value(kind.into()).ok());
        if let Some(kind) = kind {
            trace.answer.kind = Some(kind);
            trace.answer.error = score.explanation.clone().or_else(|| score.error.clone());
            scores.clear();
        }
    }
    for span in &mut spans {
        span.events.sort_by_key(|event| event.time);
        scores.extend(evaluations(span));
        for event in span.events.iter().filter(|event| event.name == DETAILS) {
            for (key, value) in &event.attributes {
                span.attributes.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
    trace.scores = scores;
    if spans.is_empty() {
        let first = loose.first().map_or(0, |log| log.time);
        trace.times = [first; 2];
        let model = loose
            .iter()
            .find_map(|log| log.attributes.get("gen_ai.response.model"));
        trace
            .metadata
            .insert("model".to_owned(), model.cloned().unwrap_or_default());
        return trace;
    }
    let tree = SpanTree::new(spans);
    say(&mut trace, &tree);
    describe(&mut trace, &tree);
    trace
}

/// What was asked and answered.
fn say(trace: &mut Trace, tree: &SpanTree) {
    let root = tree.root();
    // A chat repeats the history in its input, so the last one has all of it.
    let mut chats = tree.own(Span::is_chat).rev();
    let chat =
        chats.find_map(|chat| Some((chat, input(chat))).filter(|(_, asked)| !asked.is_empty()));
    let (chat, mut transcript) = chat.unwrap_or_else(|| (root, input(root)));
    transcript.extend(output(chat));
    if !std::ptr::eq(chat, root) {
        let asked = input(root);
        let users = |messages: &[Value]| {
            messages
                .iter()
                .filter(|message| message["role"] == "user")
                .count()
        };
        let last = asked
            .iter()
            .rfind(|message| message["role"] == "user")
            .and_then(text_of);
        if users(&asked) > users(&transcript) {
            transcript.splice(..0, asked);
        } else if users(&transcript) <= 1 {
            // The program's own question, without what it adds for the model.
            trace.question = last.filter(|text| !text.trim().is_empty());
        }
        let answered = output(root);
        let text = answered
            .iter()
            .rev()
            .filter(|message| message["role"] == "assistant")
            .find_map(text_of);
        trace.answer.text = text.filter(|text| !text.is_empty());
    }
    trace.messages = transcript;
    add_tools(trace, tree);
}

/// Calls and replies of tools that have spans: a reply that no message has stands behind its call, and calls that no
/// message has before the answer.
fn add_tools(trace: &mut Trace, tree: &SpanTree) {
    let mut missing = Vec::new();
    for span in tree.own(|span| span.operation() == "execute_tool") {
        let attribute = |names: &[&str]| names.iter().find_map(|name| span.attributes.get(*name));
        let id = attribute(&["gen_ai.tool.call.id", "tool_call.id", "tool.id"])
            .cloned()
            .unwrap_or_default();
        let name = attribute(&["gen_ai.tool.name", "tool.name", "tool_call.function.name"])
            .and_then(Value::as_str);
        let arguments = attribute(&[
            "gen_ai.tool.call.arguments",
            "tool_call.function.arguments",
            "input.value",
            "tool.parameters",
        ]);
        let call = tool_call(
            &json!({ "id": id, "name": name.unwrap_or(&span.name), "arguments": arguments }),
        );
        let result = attribute(&["gen_ai.tool.call.result", "output.value"]);
        let place = trace
            .messages
            .iter()
            .position(|message| calls_it(message, &call));
        let Some(place) = place else {
            missing.push((call, tool_reply(Some(&id), result)));
            continue;
        };
        let is_answered =
            |message: &Value| message["role"] == "tool" && message["tool_call_id"] == id;
        if result.is_some() && !id.is_null() && !trace.messages.iter().any(is_answered) {
            trace
                .messages
                .insert(place + 1, tool_reply(Some(&id), result));
        }
    }
    let Some(asked) = trace.place_of_calls() else {
        trace.answer.more_calls = calls(
            &missing
                .into_iter()
                .map(|(call, _)| json!({ "tool_calls": [call] }))
                .collect::<Vec<_>>(),
        );
        return;
    };
    let steps = missing.into_iter().flat_map(|(call, reply)| {
        [
            json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
            reply,
        ]
    });
    let steps: Vec<Value> = steps.collect();
    trace.messages.splice(asked..asked, steps);
}

/// Whether a message has this call: by its id, else by name and arguments.
fn calls_it(message: &Value, call: &Value) -> bool {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls.into_iter().flatten().any(|one| {
        if !one["id"].is_null() && !call["id"].is_null() {
            return one["id"] == call["id"];
        }
        one["function"] == call["function"]
    })
}

/// What is known of the whole trace.
fn describe(trace: &mut Trace, tree: &SpanTree) {
    let root = tree.root();
    let spans = &tree.spans;
    let start = spans
        .iter()
        .map(|span| span.times[0])
        .filter(|time| *time > 0)
        .min();
    let end = spans.iter().map(|span| span.times[1]).max();
    trace.times = [start.unwrap_or_default(), end.unwrap_or_default()];
    let first = |names: &[&str]| {
        let mut of = std::iter::once(root).chain(spans);
        of.find_map(|span| names.iter().find_map(|name| span.attributes.get(*name)))
            .cloned()
    };
    let last_chat = tree.own(Span::is_chat).next_back();
    let model = [
        "gen_ai.response.model",
        "gen_ai.request.model",
        "llm.model_name",
        "llm.response.model_name",
    ];
    let own_model =
        last_chat.and_then(|chat| model.iter().find_map(|name| chat.attributes.get(*name)));
    let found = [
        ("model", own_model.cloned().or_else(|| first(&model))),
        (
            "provider",
            first(&[
                "gen_ai.provider.name",
                "gen_ai.system",
                "llm.provider",
                "llm.system",
            ]),
        ),
        ("tags", first(&["tag.tags", "langfuse.trace.tags", "tags"])),
        ("session", first(&["gen_ai.conversation.id", "session.id"])),
        ("service", first(&["service.name"])),
    ];
    for (name, value) in found {
        if let Some(value) = value {
            trace.metadata.insert(name.to_owned(), value);
        }
    }
    if let Some(reason) = last_chat.and_then(finish_reason) {
        trace.answer.more.insert("finish_reason".to_owned(), reason);
    }
    trace.attributes.clone_from(&root.attributes);
    trace.answer.usage = usage(spans);
    trace.answer.error.clone_from(&root.error);
}

fn finish_reason(chat: &Span) -> Option<Value> {
    let given = chat
        .attributes
        .get("gen_ai.response.finish_reasons")
        .or_else(|| chat.attributes.get("llm.finish_reason"))?;
    match given {
        Value::Array(reasons) => reasons.first().cloned(),
        other => Some(other.clone()),
    }
}

/// The sums over all answers of models; those of the agent where they have none.
fn usage(spans: &[Span]) -> Option<Usage> {
    let of = |is_wanted: &dyn Fn(&Span) -> bool| {
        let sum = |names: &[&str]| {
            let numbers: Vec<f64> = spans
                .iter()
                .filter(|span| is_wanted(span))
                .filter_map(|span| span.number(names))
                .collect();
            let sum: f64 = numbers.iter().filter(|number| **number >= 0.0).sum();
            (!numbers.is_empty()).then_some(sum)
        };
        let input = [
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
        ];
        let output = [
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
        ];
        let cached = [
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
        ];
        usage_of([
            sum(&input),
            sum(&output),
            sum(&cached),
            sum(&["llm.cost.total"]),
        ])
    };
    of(&Span::is_chat)
        .or_else(|| of(&|span| span.operation() == "invoke_agent"))
        .or_else(|| of(&|span| !span.is_chat() && span.operation() != "embeddings"))
}

/// Usage of input, output, cached tokens and cost, as far as they are known.
pub(super) fn usage_of([input, output, cached, cost]: [Option<f64>; 4]) -> Option<Usage> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of tokens"
    )]
    let tokens = |number: Option<f64>| {
        number
            .filter(|number| *number >= 0.0)
            .map(|number| number as u64)
    };
    let usage = Usage {
        input_tokens: tokens(input),
        output_tokens: tokens(output),
        cost_usd: cost.filter(|cost| *cost >= 0.0),
        cached_tokens: tokens(cached),
    };
    (usage != Usage::default()).then_some(usage)
}
