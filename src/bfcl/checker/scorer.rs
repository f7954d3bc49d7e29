//! The checker as a scorer. It reads its data from the sample's metadata, so that records can be rescored.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{AnswerKey, CheckRequest, ModelAnswer, Report, check, official};
use crate::bfcl::data::{Category, simple};
use crate::bfcl::form::{FORM, ORIGINAL, PromptForm};
use crate::bfcl::multi_turn::MultiTurnScorer;
use crate::calls::{CallFormat, Dict, JsonValue as _, Value};
use crate::data::{Sample, Score};
use crate::error::{Error, Result};
use crate::scorer::options::fingerprint;
use crate::scorer::{self, Answer, Example, OptionReader, Scorer};

pub(crate) const ENTRY: scorer::Entry = scorer::Entry {
    name: "bfcl",
    summary: "tool calls, as the Berkeley Function Calling Leaderboard checks them",
    rule: include_str!("../checker.md"),
    options: &[
        (
            "underscore_to_dot",
            "whether `a_b` is right for a function `a.b`; true for native calls, whose names have no dots, and \
             false for texts",
        ),
        (
            "return_format",
            "how texts are written: `python`, `java`, `javascript`, `json`, `verbose_xml` or `concise_xml`; by \
             default as the language of the category",
        ),
        (
            "has_tool_call_tag",
            "whether the calls of a text are between `<TOOLCALL>` and `</TOOLCALL>`; false",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "[math.add(b=3, a=2*2)]",
            ground_truth: r#"[{"math.add": {"a": [4], "b": [3, ""]}}]"#,
            correct: true,
            note: "the order of arguments is free, arithmetic of constants is evaluated",
        },
        Example {
            options: "",
            prediction: "math.add(a=4)",
            ground_truth: r#"[{"math.add": {"a": [4], "b": [3, ""]}}]"#,
            correct: false,
            note: "without documents of the functions, every argument of a single call is required",
        },
        Example {
            options: "",
            prediction: "book(city='new york')",
            ground_truth: r#"[{"name": "book", "arguments": {"city": "New York"}}]"#,
            correct: true,
            note: "the simple form of a ground truth; texts are compared without case and spaces",
        },
        Example {
            options: "",
            prediction: "I would call book(city='Rome').",
            ground_truth: r#"[{"book": {"city": ["Rome"]}}]"#,
            correct: false,
            note: "text around the calls cannot be decoded",
        },
    ],
    make: |options| Ok(Arc::new(BfclScorer::from_options(options)?)),
};

/// The scorer `bfcl`.
#[derive(Clone, Debug, Default)]
pub(crate) struct BfclScorer {
    underscore_to_dot: Option<bool>,
    format: Option<(&'static str, CallFormat)>,
    has_tool_call_tag: bool,
    /// What judges conversations.
    multi_turn: Option<MultiTurnScorer>,
}

const FORMATS: [&str; 6] = [
    "python",
    "java",
    "javascript",
    "json",
    "verbose_xml",
    "concise_xml",
];

impl BfclScorer {
    fn from_options(options: &OptionReader<'_>) -> Result<Self> {
        let format = options.word("return_format", &FORMATS)?;
        Ok(Self {
            underscore_to_dot: options.read("underscore_to_dot", "true or false", Json::as_bool)?,
            format: FORMATS
                .into_iter()
                .find(|name| Some(*name) == format)
                .and_then(|name| Some((name, CallFormat::by_name(name)?))),
            has_tool_call_tag: options.flag("has_tool_call_tag")?,
            multi_turn: None,
        })
    }

    /// Sets what judges conversations.
    pub(crate) fn multi_turn(self, multi_turn: Option<MultiTurnScorer>) -> Self {
        Self { multi_turn, ..self }
    }

    /// What judges an answer, if it is a conversation.
    fn conversations(&self, answer: &Answer<'_>) -> Option<&MultiTurnScorer> {
        let scorer = self.multi_turn.as_ref()?;
        let category = answer.metadata.get("category").and_then(Json::as_str)?;
        Category::named(category).is_multi_turn().then_some(scorer)
    }
}

impl Scorer for BfclScorer {
    fn name(&self) -> &'static str {
        "bfcl"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        if let Some(recorded) = official::of(answer.metadata) {
            return Ok(recorded.score());
        }
        if let Some(scorer) = self.conversations(answer) {
            return scorer.score(answer);
        }
        if official::is_needed(answer.metadata) {
            return Err(
                Error::usage("only the official program judges this category")
                    .hint("cargo evaltest bfcl official RUN_DIR --model-name NAME"),
            );
        }
        let ground_truth = match &answer.target.0 {
            Json::Null => None,
            calls => Some(simple::ground_truth(Value::from_serde(calls))?),
        };
        let functions = match answer.metadata.get("function") {
            None | Some(Json::Null) => {
                simple::functions(ground_truth.as_ref()).unwrap_or_else(|| Value::List(Vec::new()))
            }
            Some(functions) => Value::from_serde(functions),
        };
        let category = match answer.metadata.get("category").and_then(Json::as_str) {
            Some(name) => Category::named(name),
            None => simple::category(&functions, ground_truth.as_ref()),
        };
        if category.has_ground_truth() && ground_truth.is_none() {
            return Err(Error::usage(format!(
                "category `{}` needs a ground truth, but there is none",
                category.name
            )));
        }
        let recorded = |key| answer.metadata.get(key).and_then(Json::as_str);
        let form = recorded(FORM).and_then(PromptForm::named);
        // For `format_sensitivity` the original entry determines the check.
        let category = match (form, recorded(ORIGINAL)) {
            (Some(_), Some(original)) => original,
            _ => &category.name,
        };
        let entry = AnswerKey::new(&functions, ground_truth.as_ref()).map_err(Error::usage)?;
        let has_calls = !answer.output.tool_calls.is_empty();
        let is_native = match answer.metadata.get("mode").and_then(Json::as_str) {
            Some("fc") => true,
            Some("prompt") => false,
            _ => has_calls,
        };
        let output = match answer.prediction {
            _ if is_native && has_calls => native_calls(&answer.output.tool_calls),
            None if is_native => Value::List(Vec::new()),
            text => Value::from(text.unwrap_or_default()),
        };
        let underscore_to_dot = answer.metadata.get("underscore_to_dot");
        let underscore_to_dot = underscore_to_dot.and_then(Json::as_bool);
        let request = CheckRequest {
            underscore_to_dot: self
                .underscore_to_dot
                .or(underscore_to_dot)
                .unwrap_or(is_native),
            format: self
                .format
                .map(|(_, format)| format)
                .or(form.map(PromptForm::call_format)),
            has_tool_call_tag: self.has_tool_call_tag
                || form.is_some_and(PromptForm::has_tool_call_tag),
            ..CheckRequest::new(
                &entry,
                category,
                if is_native {
                    ModelAnswer::Native(&output)
                } else {
                    ModelAnswer::Prompt(&output)
                },
            )
        };
        let verdict = check(&request);
        Ok(Report::new(&request, &verdict).score())
    }

    /// If only the official program can score an answer, its verdict may be in the metadata.
    fn judges(&self, answer: &Answer<'_>) -> bool {
        !official::is_needed(answer.metadata)
            || official::of(answer.metadata).is_some()
            || self.conversations(answer).is_some()
    }

    /// Irrelevance and relevance have no ground truth.
    fn needs_target(&self) -> bool {
        false
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let part = |key| sample.metadata.get(key).unwrap_or(&Json::Null);
        Ok(Some(format!("{} {}", part("category"), part("function"))))
    }

    fn fingerprint(&self) -> String {
        let format = self.format.map(|(name, _)| name);
        let own = fingerprint(
            "bfcl 2026.3.23",
            &(self.underscore_to_dot, format, self.has_tool_call_tag),
        );
        let conversations = self.multi_turn.as_ref().map(Scorer::fingerprint);
        [Some(own), conversations]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Native calls in the format of official result files: `[{name: arguments as JSON text}]`.
pub(crate) fn native_calls(calls: &[Json]) -> Value {
    let call = |call: &Json| {
        let function = call.get("function").filter(|inner| inner.is_object());
        let function = function.unwrap_or(call);
        let name = function.get("name").and_then(Json::as_str);
        let arguments = match function.get("arguments") {
            None | Some(Json::Null) => "{}".to_owned(),
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        Value::Dict(Dict::of(
            Value::text(name.unwrap_or_default()),
            Value::text(arguments),
        ))
    };
    Value::List(calls.iter().map(call).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{Output, Target};

    #[test]
    fn native_calls_are_scored_before_the_text() {
        let target = Target(json!([{"math.add": {"a": [1], "b": ["", 2]}}]));
        let metadata = json!({"category": "simple_python", "function": [{"name": "math.add", "parameters": {
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"],
        }}]});
        let metadata = metadata.as_object().unwrap();
        let check = |tool_calls: Json, expect: &str| {
            let output = Output {
                tool_calls: serde_json::from_value(tool_calls.clone()).unwrap(),
                ..Output::text("math.add(a=1)")
            };
            let answer = Answer::new("math.add(a=1)", &target)
                .output(&output)
                .metadata(metadata);
            let score = BfclScorer::default().score(&answer).unwrap();
            assert_eq!(score.reason, expect, "{tool_calls}");
        };
        check(json!([]), "exact_match");
        check(
            json!([{"type": "function", "function": {"name": "math_add", "arguments": "{\"a\": 1}"}}]),
            "exact_match",
        );
        check(
            json!([{"name": "math_add", "arguments": {"a": 1, "b": 2}}]),
            "exact_match",
        );
        check(
            json!([{"name": "math_add", "arguments": {"b": 2}}]),
            "simple_function_checker:missing_required",
        );
        check(
            json!([{"name": "math.add", "arguments": {"a": 1}}]),
            "simple_function_checker:wrong_func_name",
        );
        check(json!([7]), "simple_function_checker:wrong_func_name");
    }

    #[test]
    fn categories_without_expected_calls() {
        let check = |category: &str, prediction: Option<&str>, expect: bool| {
            let (target, metadata) = (Target(Json::Null), json!({"category": category}));
            let answer = Answer::new(prediction, &target).metadata(metadata.as_object().unwrap());
            let score = BfclScorer::default().score(&answer).unwrap();
            assert_eq!(score.correct, expect, "{category} {prediction:?}");
        };
        check("irrelevance", Some("None of them fits."), true);
        check("live_irrelevance", Some("f(a=1)"), false);
        check("live_irrelevance", None, true);
        check("live_relevance", Some("f(a=1)"), true);
        check("live_relevance", None, false);
        let target = Target(Json::Null);
        let metadata = json!({"category": "multiple"});
        let answer = Answer::new("f()", &target).metadata(metadata.as_object().unwrap());
        assert!(BfclScorer::default().score(&answer).is_err());
    }
}
