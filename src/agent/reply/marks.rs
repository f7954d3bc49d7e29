//! `Marks`: whether a reply is an answer, one that was truncated, a refusal, or an outage.
//!
//! One table for all APIs: where a mark stands, and what it says. A place that a body does not have says nothing, so
//! the marks of one API do not disturb another.

use serde_json::{Map, Value};

use crate::data::Finish;

/// A mark of an API.
#[derive(Debug)]
pub(crate) struct Mark {
    /// The APIs that use it.
    #[cfg_attr(
        not(all(feature = "command", feature = "http")),
        expect(dead_code, reason = "for the book")
    )]
    pub(crate) apis: &'static str,
    /// Where it stands, as a JSON pointer; `*` is any item of a list.
    pub(crate) place: &'static str,
    pub(crate) sign: Sign,
}

/// What stands there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sign {
    /// An error: an object, a text or `true`.
    Error,
    /// A word of [`FINISH_WORDS`](crate::data::output::finish::FINISH_WORDS).
    Word,
    /// One of these states of the Responses API. `status` is a common name, so it counts in its bodies only.
    State(&'static [&'static str]),
    /// One of these words.
    Is(&'static [&'static str], Finish),
    /// A text that is not empty.
    Text(Finish),
    /// A list without items.
    Empty,
    /// `true` or `false`.
    Bool(bool, Finish),
    /// A number that is not zero.
    Code,
}

/// All known marks.
pub(crate) const MARKS: &[Mark] = &[
    mark("all", "/error", Sign::Error),
    mark(
        "OpenRouter and other gateways",
        "/choices/0/error",
        Sign::Error,
    ),
    mark(
        "OpenAI and compatible",
        "/choices/0/finish_reason",
        Sign::Word,
    ),
    mark(
        "OpenAI",
        "/choices/0/message/refusal",
        Sign::Text(Finish::Refused),
    ),
    mark(
        "OpenAI",
        "/choices/0/message/content/*/refusal",
        Sign::Text(Finish::Refused),
    ),
    mark("OpenAI and compatible", "/choices", Sign::Empty),
    mark(
        "vLLM, FastChat",
        "/object",
        Sign::Is(&["error"], Finish::Outage),
    ),
    mark("MiniMax", "/base_resp/status_code", Sign::Code),
    mark("OpenAI Responses", "/response/error", Sign::Error),
    mark(
        "OpenAI Responses",
        "/status",
        Sign::State(&["failed", "cancelled", "in_progress", "queued"]),
    ),
    mark("OpenAI Responses", "/incomplete_details/reason", Sign::Word),
    mark(
        "OpenAI Responses",
        "/output/*/content/*/refusal",
        Sign::Text(Finish::Refused),
    ),
    mark("Anthropic", "/stop_reason", Sign::Word),
    mark("Anthropic", "/type", Sign::Is(&["error"], Finish::Outage)),
    mark("Bedrock", "/stopReason", Sign::Word),
    mark(
        "Gemini",
        "/promptFeedback/blockReason",
        Sign::Text(Finish::Refused),
    ),
    mark("Gemini", "/candidates/0/finishReason", Sign::Word),
    mark(
        "Gemini",
        "/candidates/0/finishReason",
        Sign::Is(&["OTHER"], Finish::Outage),
    ),
    mark("Gemini", "/candidates", Sign::Empty),
    mark("Ollama", "/done_reason", Sign::Word),
    mark("Ollama", "/done", Sign::Bool(false, Finish::Outage)),
    mark("llama.cpp", "/stop_type", Sign::Word),
    mark(
        "llama.cpp",
        "/stopped_limit",
        Sign::Bool(true, Finish::Truncated),
    ),
    mark("Cohere, agents", "/finish_reason", Sign::Word),
];

const fn mark(apis: &'static str, place: &'static str, sign: Sign) -> Mark {
    Mark { apis, place, sign }
}

/// What the marks of a reply say together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Marks<'a> {
    pub(crate) finish: Finish,
    /// The word by which the API says how it ended, if it does.
    pub(crate) word: Option<&'a str>,
    /// What decided, for the message on an outage.
    pub(crate) found: Option<Found<'a>>,
}

/// A mark that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found<'a> {
    pub(crate) place: &'static str,
    pub(crate) value: &'a Value,
}

impl<'a> Marks<'a> {
    /// The marks of a reply. The gravest one counts.
    pub(crate) fn of(reply: &'a Map<String, Value>) -> Self {
        let mut marks = Self::default();
        for mark in MARKS {
            let (name, rest) = mark.place[1..]
                .split_once('/')
                .unwrap_or((&mark.place[1..], ""));
            // A reply has few members: looking through them is faster than by their hashes.
            if let Some((_, value)) = reply.iter().find(|(member, _)| *member == name) {
                marks.at(mark, value, rest, reply);
            }
        }
        marks
    }

    /// The mark of an outage, if it is one.
    pub(crate) fn outage(&self) -> Option<Found<'a>> {
        self.found.filter(|_| self.finish == Finish::Outage)
    }

    /// Records in the metadata of an answer how it ended.
    pub(crate) fn note(&self, metadata: &mut Map<String, Value>) {
        if let Some(word) = self.word {
            metadata.insert("finish_reason".to_owned(), word.into());
        }
        let by_word = self.word.map(Finish::of).unwrap_or_default();
        if by_word == self.finish {
            return;
        }
        match self.finish {
            Finish::Refused => metadata.insert("refused".to_owned(), true.into()),
            Finish::Truncated => metadata.insert("finish_reason".to_owned(), "length".into()),
            Finish::Answer | Finish::Outage => None,
        };
    }

    /// Follows the rest of a place.
    fn at(&mut self, mark: &Mark, value: &'a Value, rest: &str, reply: &Map<String, Value>) {
        if rest.is_empty() {
            return self.read(mark, value, reply);
        }
        let (step, rest) = rest.split_once('/').unwrap_or((rest, ""));
        match value {
            Value::Array(items) if step == "*" => {
                for item in items {
                    self.at(mark, item, rest, reply);
                }
            }
            Value::Array(items) => {
                if let Some(item) = step.parse().ok().and_then(|place: usize| items.get(place)) {
                    self.at(mark, item, rest, reply);
                }
            }
            Value::Object(members) => {
                if let Some(member) = members.get(step) {
                    self.at(mark, member, rest, reply);
                }
            }
            _ => {}
        }
    }

    fn read(&mut self, mark: &Mark, value: &'a Value, reply: &Map<String, Value>) {
        let finish = match (mark.sign, value) {
            (Sign::Error, value) if is_error(value) => Finish::Outage,
            (Sign::Word, Value::String(word)) => {
                self.word = self.word.or(Some(word));
                Finish::of(word)
            }
            (Sign::State(words), Value::String(word)) if words.contains(&&**word) => {
                let is_response = reply.get("object").is_some_and(|it| it == "response");
                if is_response { Finish::Outage } else { return }
            }
            (Sign::Is(words, finish), Value::String(word)) if words.contains(&&**word) => finish,
            (Sign::Text(finish), Value::String(text)) if !text.is_empty() => finish,
            // A refusal, whose mark stands before it in the table, is why it is empty.
            (Sign::Empty, Value::Array(items))
                if items.is_empty() && self.finish != Finish::Refused =>
            {
                Finish::Outage
            }
            (Sign::Bool(wanted, finish), Value::Bool(is)) if wanted == *is => finish,
            (Sign::Code, Value::Number(code)) if code.as_f64() != Some(0.0) => Finish::Outage,
            _ => return,
        };
        // An agent's own reply may have members of these names, and an error as well as an answer.
        let is_common = !matches!(mark.sign, Sign::Word) && !mark.place[1..].contains('/');
        if finish > self.finish && !(is_common && has_answer(reply)) {
            self.finish = finish;
            self.found = Some(Found {
                place: mark.place,
                value,
            });
        }
    }
}

/// Whether a value is an error, and not the place for one.
pub(crate) fn is_error(value: &Value) -> bool {
    match value {
        Value::Null | Value::Number(_) => false,
        Value::Bool(is) => *is,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// Whether an agent answered in `answer`.
fn has_answer(reply: &Map<String, Value>) -> bool {
    match reply.get("answer") {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    }
}

impl Found<'_> {
    /// The error that it stands for, as APIs write one.
    pub(crate) fn error(&self) -> Value {
        match self.value {
            Value::String(text) if self.place.ends_with("error") => text.clone().into(),
            Value::Object(_) => self.value.clone(),
            value => serde_json::json!({"message": format!("its `{}` is {value}", self.place)}),
        }
    }
}

impl Sign {
    /// In words, for the book.
    #[cfg(all(feature = "command", feature = "http"))]
    pub(crate) fn words(self) -> String {
        match self {
            Self::Error => "an error: an object, a text, a list or `true`".to_owned(),
            Self::Word => "a word, below".to_owned(),
            Self::State(words) | Self::Is(words, _) => format!("`{}`", words.join("`, `")),
            Self::Text(_) => "a text".to_owned(),
            Self::Empty => "an empty list".to_owned(),
            Self::Bool(is, _) => format!("`{is}`"),
            Self::Code => "a number other than 0".to_owned(),
        }
    }

    /// What it says; `None` for a word, which says it itself.
    #[cfg(all(feature = "command", feature = "http"))]
    pub(crate) fn finish(self) -> Option<Finish> {
        match self {
            Self::Word => None,
            Self::Error | Self::State(_) | Self::Empty | Self::Code => Some(Finish::Outage),
            Self::Is(_, finish) | Self::Text(finish) | Self::Bool(_, finish) => Some(finish),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(reply: Value, finish: Finish, place: &str) {
        let marks = Marks::of(reply.as_object().unwrap());
        let found = marks.found.map_or("", |found| found.place);
        assert_eq!((marks.finish, found), (finish, place), "{reply}");
        drop(reply);
    }

    #[test]
    fn the_gravest_mark_counts() {
        let choice = |choice: Value| json!({"choices": [choice], "error": null});
        check(json!({}), Finish::Answer, "");
        check(
            json!({"choices": [], "error": {}}),
            Finish::Outage,
            "/choices",
        );
        check(
            json!({"choices": [], "error": {"code": 1}}),
            Finish::Outage,
            "/error",
        );
        let place = "/choices/0/finish_reason";
        check(
            choice(json!({"finish_reason": "stop", "error": null})),
            Finish::Answer,
            "",
        );
        check(
            choice(json!({"finish_reason": "length"})),
            Finish::Truncated,
            place,
        );
        check(
            choice(json!({"finish_reason": "content_filter"})),
            Finish::Refused,
            place,
        );
        check(
            choice(json!({"finish_reason": "error"})),
            Finish::Outage,
            place,
        );
        let both = json!({"finish_reason": "length", "error": {"code": 502}});
        check(choice(both), Finish::Outage, "/choices/0/error");
        let refusal = json!({"finish_reason": "stop", "message": {"refusal": "no"}});
        check(
            choice(refusal),
            Finish::Refused,
            "/choices/0/message/refusal",
        );
    }

    #[test]
    fn each_api_has_its_own_marks() {
        // The Responses API, Anthropic, Gemini, Ollama, llama.cpp.
        let response = |status: &str| json!({"object": "response", "status": status});
        check(response("completed"), Finish::Answer, "");
        check(response("failed"), Finish::Outage, "/status");
        check(
            json!({"answer": "4", "status": "failed"}),
            Finish::Answer,
            "",
        );
        let incomplete =
            json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}});
        check(incomplete, Finish::Truncated, "/incomplete_details/reason");
        let items = json!({"output": [{"type": "reasoning"}, {"content": [{"type": "refusal", "refusal": "no"}]}]});
        check(items, Finish::Refused, "/output/*/content/*/refusal");
        check(
            json!({"type": "error", "error": {"type": "overloaded_error"}}),
            Finish::Outage,
            "/error",
        );
        check(
            json!({"stop_reason": "refusal"}),
            Finish::Refused,
            "/stop_reason",
        );
        check(
            json!({"promptFeedback": {"blockReason": "SAFETY"}}),
            Finish::Refused,
            "/promptFeedback/blockReason",
        );
        check(json!({"candidates": []}), Finish::Outage, "/candidates");
        let blocked = json!({"candidates": [], "promptFeedback": {"blockReason": "OTHER"}});
        check(blocked, Finish::Refused, "/promptFeedback/blockReason");
        let candidate = |word: &str| json!({"candidates": [{"finishReason": word}]});
        check(candidate("STOP"), Finish::Answer, "");
        check(
            candidate("MAX_TOKENS"),
            Finish::Truncated,
            "/candidates/0/finishReason",
        );
        check(
            candidate("OTHER"),
            Finish::Outage,
            "/candidates/0/finishReason",
        );
        check(
            json!({"done": true, "done_reason": "length"}),
            Finish::Truncated,
            "/done_reason",
        );
        check(
            json!({"done": false, "response": "4"}),
            Finish::Outage,
            "/done",
        );
        check(
            json!({"stop_type": "limit"}),
            Finish::Truncated,
            "/stop_type",
        );
        check(
            json!({"base_resp": {"status_code": 1002}}),
            Finish::Outage,
            "/base_resp/status_code",
        );
        check(json!({"base_resp": {"status_code": 0}}), Finish::Answer, "");
        // Agents may report an error beside their answer.
        check(json!({"answer": "4", "error": "late"}), Finish::Answer, "");
        check(
            json!({"answer": "", "error": "late"}),
            Finish::Outage,
            "/error",
        );
        check(json!({"answer": null, "error": 0.5}), Finish::Answer, "");
    }
}
