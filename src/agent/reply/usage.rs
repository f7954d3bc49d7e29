//! Usage figures of an answer: tokens and cost, as agents and APIs report them.
//!
//! One table of dialects: where each figure stands, and what it includes. What nobody reports is unknown, which is not
//! zero. An impossible figure is dropped, but the answer, which was paid for, stays: its metadata lists what was dropped.

use serde_json::{Map, Value};

use crate::data::{Output, Usage};
use crate::system::process::excerpt::beginning;

/// The key of the metadata that lists what was dropped.
pub(crate) const DROPPED: &str = "figures_dropped";
/// How many bytes of a figure are shown.
const EXCERPT_BYTES: usize = 40;
/// The most tokens of an answer: a double is exact up to here.
const MOST_TOKENS: u64 = 1 << 53;
/// The most steps of an answer: the sum of millions of them is still exact.
const MOST_STEPS: u64 = 1 << 30;
/// The highest cost of an answer, in US dollars.
const MOST_COST: f64 = 1e9;

/// How the APIs of one kind report tokens.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The APIs.
    #[cfg_attr(
        not(all(feature = "command", feature = "http")),
        expect(dead_code, reason = "for the book")
    )]
    pub(crate) apis: &'static str,
    /// The member of the reply with the figures; empty for the reply itself.
    pub(crate) inside: &'static str,
    pub(crate) input: &'static str,
    pub(crate) output: &'static str,
    /// Cached input tokens, which are part of the input: the first of these counts.
    pub(crate) cached: &'static [&'static str],
    /// Input tokens that stand outside `input`: they are added to it, and the first of them are cached ones.
    pub(crate) outside: &'static [&'static str],
    /// Reasoning tokens.
    pub(crate) reasoning: &'static str,
    /// All tokens. Where they are input, output and reasoning, the last stands outside the output and is added to it.
    pub(crate) total: &'static str,
}

/// All known dialects. The first with a figure of the reply counts.
pub(crate) const DIALECTS: &[Dialect] = &[
    Dialect {
        apis: "OpenAI, Azure, vLLM, OpenRouter, DeepSeek, xAI, Mistral, llama.cpp, Ollama (`/v1`)",
        inside: "usage",
        input: "prompt_tokens",
        output: "completion_tokens",
        cached: &[
            "prompt_tokens_details/cached_tokens",
            "prompt_cache_hit_tokens",
            "cached_tokens",
        ],
        outside: &[],
        reasoning: "completion_tokens_details/reasoning_tokens",
        total: "total_tokens",
    },
    Dialect {
        apis: "Anthropic, OpenAI Responses, agents",
        inside: "usage",
        input: "input_tokens",
        output: "output_tokens",
        cached: &["input_tokens_details/cached_tokens"],
        outside: &["cache_read_input_tokens", "cache_creation_input_tokens"],
        reasoning: "output_tokens_details/reasoning_tokens",
        total: "total_tokens",
    },
    Dialect {
        apis: "Bedrock",
        inside: "usage",
        input: "inputTokens",
        output: "outputTokens",
        cached: &[],
        outside: &["cacheReadInputTokens", "cacheWriteInputTokens"],
        reasoning: "",
        total: "",
    },
    Dialect {
        apis: "Cohere",
        inside: "usage/tokens",
        input: "input_tokens",
        output: "output_tokens",
        cached: &[],
        outside: &[],
        reasoning: "",
        total: "",
    },
    Dialect {
        apis: "Gemini",
        inside: "usageMetadata",
        input: "promptTokenCount",
        output: "candidatesTokenCount",
        cached: &["cachedContentTokenCount"],
        outside: &[],
        reasoning: "thoughtsTokenCount",
        total: "totalTokenCount",
    },
    Dialect {
        apis: "Ollama",
        inside: "",
        input: "prompt_eval_count",
        output: "eval_count",
        cached: &[],
        outside: &[],
        reasoning: "",
        total: "",
    },
    Dialect {
        apis: "llama.cpp",
        inside: "",
        input: "tokens_evaluated",
        output: "tokens_predicted",
        cached: &[],
        outside: &[],
        reasoning: "",
        total: "",
    },
    Dialect {
        apis: "llama.cpp",
        inside: "timings",
        input: "prompt_n",
        output: "predicted_n",
        cached: &[],
        outside: &["cache_n"],
        reasoning: "",
        total: "",
    },
];

/// The usage of an answer, and the dropped figures.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ReportedFigures {
    pub(crate) usage: Usage,
    /// How many of the input tokens were cached.
    pub(crate) cached_tokens: u64,
    pub(crate) steps: Option<u64>,
    dropped: Vec<String>,
}

impl ReportedFigures {
    /// The tokens of any dialect, `cost_usd`, next to them or among them, or the `cost` among them, and `steps`.
    pub(crate) fn of(reply: &Map<String, Value>) -> Self {
        Self::with(reply, reply.get("usage"))
    }

    /// The same with another `usage`.
    pub(crate) fn with(reply: &Map<String, Value>, usage: Option<&Value>) -> Self {
        let mut figures = Self::default();
        let given = match usage {
            None | Some(Value::Null) => None,
            Some(Value::Object(given)) => Some(given),
            Some(value) => {
                figures.drop("usage", value);
                None
            }
        };
        for dialect in DIALECTS {
            let usage = &figures.usage;
            if usage.input_tokens.is_some() && usage.output_tokens.is_some() {
                break;
            }
            let found = match dialect.inside.split_once('/') {
                _ if dialect.inside.is_empty() => Some(reply),
                Some(("usage", path)) => given.and_then(|given| place(given, path)?.as_object()),
                _ if dialect.inside == "usage" => given,
                _ => place(reply, dialect.inside).and_then(Value::as_object),
            };
            if let Some(found) = found {
                figures.read(dialect, found);
            }
        }
        let is_there = |cost: &&Value| !cost.is_null();
        let top_level = reply.get("cost_usd").filter(is_there);
        let own = top_level.or_else(|| given?.get("cost_usd").filter(is_there));
        figures.usage.cost_usd = match own {
            Some(cost) => figures.cost("cost_usd", Some(cost)),
            None => figures.cost("usage.cost", given.and_then(|given| given.get("cost"))),
        };
        figures.steps = figures.steps(reply.get("steps"));
        figures
    }

    /// The tokens of a dialect that are not known yet.
    fn read(&mut self, dialect: &Dialect, given: &Map<String, Value>) {
        let path = |name: &str| match dialect.inside {
            "" => name.to_owned(),
            inside => format!("{}.{name}", inside.replace('/', ".")),
        };
        let named = |figures: &mut Self, name: &str| {
            let value = given.get(name)?;
            figures.tokens(value, || path(name))
        };
        let count = |name: &str| whole(place(given, name)?).filter(|tokens| *tokens <= MOST_TOKENS);
        let input = match self.usage.input_tokens {
            None => named(self, dialect.input),
            Some(_) => None,
        };
        let output = match self.usage.output_tokens {
            None => named(self, dialect.output),
            Some(_) => None,
        };
        if let Some(input) = input {
            let mut outside = dialect.outside.iter().map(|name| count(name));
            let read = outside.next().flatten().unwrap_or_default();
            let cached = dialect.cached.iter().find_map(|name| count(name));
            self.cached_tokens = cached.unwrap_or(read);
            self.usage.cached_tokens = Some(self.cached_tokens).filter(|cached| *cached > 0);
            let outside = read + outside.flatten().sum::<u64>();
            self.usage.input_tokens = Some(input.saturating_add(outside));
        }
        if let Some(output) = output {
            let reasoning = count(dialect.reasoning).unwrap_or_default();
            let sum = self
                .usage
                .input_tokens
                .map(|input| input + output + reasoning);
            let is_outside = reasoning > 0 && sum.is_some() && count(dialect.total) == sum;
            let more = if is_outside { reasoning } else { 0 };
            self.usage.output_tokens = Some(output + more);
        }
    }

    /// How many steps led to the answer.
    fn steps(&mut self, value: Option<&Value>) -> Option<u64> {
        let value = value.filter(|value| !value.is_null())?;
        let steps = whole(value).filter(|steps| *steps <= MOST_STEPS);
        if steps.is_none() {
            self.drop("steps", value);
        }
        steps
    }

    /// A number of tokens.
    fn tokens(&mut self, value: &Value, name: impl Fn() -> String) -> Option<u64> {
        if value.is_null() {
            return None;
        }
        let tokens = whole(value).or_else(|| value.as_str()?.parse().ok());
        let tokens = tokens.filter(|tokens| *tokens <= MOST_TOKENS);
        if tokens.is_none() {
            self.drop(&name(), value);
        }
        tokens
    }

    /// The cost under this key.
    fn cost(&mut self, key: &str, value: Option<&Value>) -> Option<f64> {
        let value = value.filter(|value| !value.is_null())?;
        let cost = value.as_f64().filter(|cost| is_cost(*cost));
        if cost.is_none() {
            self.drop(key, value);
        }
        cost
    }

    /// Whether something was dropped.
    pub(crate) fn is_short(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// An output with these figures.
    pub(crate) fn output(
        self,
        text: Option<String>,
        messages: Vec<Value>,
        tool_calls: Vec<Value>,
        mut metadata: Map<String, Value>,
    ) -> Output {
        let (usage, steps) = (self.reported(), self.steps);
        self.note(&mut metadata);
        Output {
            text,
            messages,
            tool_calls,
            usage,
            steps,
            conversation: None,
            metadata,
        }
    }

    /// The usage, if any was reported.
    pub(crate) fn reported(&self) -> Option<Usage> {
        (self.usage != Usage::default()).then_some(self.usage)
    }

    /// Lists the dropped figures in the metadata of the answer.
    pub(crate) fn note(self, metadata: &mut Map<String, Value>) {
        if !self.dropped.is_empty() {
            metadata.insert(DROPPED.to_owned(), self.dropped.into());
        }
    }

    fn drop(&mut self, key: &str, value: &Value) {
        let value = beginning(value.to_string().as_bytes(), EXCERPT_BYTES);
        self.dropped.push(format!("`{key}` is {value}"));
    }
}

/// The output of a Rust agent, without impossible cost or steps.
pub(crate) fn checked(mut output: Output) -> Output {
    let mut dropped = Vec::new();
    if let Some(steps) = output.steps.filter(|steps| *steps > MOST_STEPS) {
        output.steps = None;
        dropped.push(format!("`steps` is {steps}"));
    }
    let cost = output.usage.and_then(|usage| usage.cost_usd);
    if let (Some(usage), Some(cost)) = (&mut output.usage, cost)
        && !is_cost(cost)
    {
        usage.cost_usd = None;
        dropped.push(format!("`cost_usd` is {cost}"));
    }
    if !dropped.is_empty() {
        output.metadata.insert(DROPPED.to_owned(), dropped.into());
    }
    output
}

/// A value by the names of its members.
fn place<'a>(given: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut names = path.split('/');
    let first = given.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

fn is_cost(cost: f64) -> bool {
    (0.0..=MOST_COST).contains(&cost)
}

/// An integer, also one that is written as `10.0`.
fn whole(value: &Value) -> Option<u64> {
    const MOST: f64 = 9_007_199_254_740_992.0;
    let of_float = |float: f64| {
        let is_whole = (0.0..=MOST).contains(&float) && float.fract() == 0.0;
        is_whole.then(|| format!("{float:.0}").parse().ok())?
    };
    value.as_u64().or_else(|| of_float(value.as_f64()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::reply::read;

    #[track_caller]
    fn check(reply: &str, usage: Usage, dropped: &[&str]) {
        let Value::Object(reply) = read(reply.as_bytes()).unwrap() else {
            panic!("no object: {reply}");
        };
        let figures = ReportedFigures::of(&reply);
        assert_eq!(figures.usage, usage, "{reply:?}");
        assert_eq!(figures.dropped, dropped, "{reply:?}");
    }

    #[test]
    fn a_figure_that_cannot_be_is_dropped_and_the_others_stay() {
        let none = Usage::default();
        let input = Usage {
            input_tokens: Some(7),
            ..none
        };
        check(
            r#"{"usage": {"input_tokens": 7, "output_tokens": -1}}"#,
            input,
            &["`usage.output_tokens` is -1"],
        );
        check(
            r#"{"usage": {"prompt_tokens": "7", "completion_tokens": 1.5}}"#,
            input,
            &["`usage.completion_tokens` is 1.5"],
        );
        check(r#"{"usage": 3}"#, none, &["`usage` is 3"]);
        for cost in ["-1", "1e+30", "true", "[]", "\"free\""] {
            let reported = format!("`cost_usd` is {cost}");
            check(&format!("{{\"cost_usd\": {cost}}}"), none, &[&reported]);
        }
        for cost in ["NaN", "Infinity", "-Infinity", "1e999"] {
            let reported = format!("`cost_usd` is \"{cost}\"");
            check(&format!("{{\"cost_usd\": {cost}}}"), none, &[&reported]);
        }
        for steps in ["-1", "1.5", "\"7\"", "[]", "1e+30"] {
            let reported = format!("`steps` is {steps}");
            check(&format!("{{\"steps\": {steps}}}"), none, &[&reported]);
        }
        check(r#"{"steps": null}"#, none, &[]);
        check(
            r#"{"usage": {"input_tokens": 1e30}, "cost_usd": null}"#,
            none,
            &["`usage.input_tokens` is 1e+30"],
        );
        check(
            r#"{"usage": {"input_tokens": 18446744073709551615}}"#,
            none,
            &["`usage.input_tokens` is 18446744073709551615"],
        );
    }

    #[test]
    fn each_dialect_has_its_own_names() {
        let check = |reply: Value, expect: [Option<u64>; 2], cached: u64| {
            let figures = ReportedFigures::of(reply.as_object().unwrap());
            let usage = figures.usage;
            assert_eq!([usage.input_tokens, usage.output_tokens], expect, "{reply}");
            assert_eq!(figures.cached_tokens, cached, "{reply}");
        };
        let openai = |more: Value| {
            let mut usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
            let members = usage.as_object_mut().unwrap();
            members.extend(more.as_object().unwrap().clone());
            json!({"usage": usage})
        };
        let both = |input, output| [Some(input), Some(output)];
        check(openai(json!({})), both(100, 10), 0);
        let cached = json!({"prompt_tokens_details": {"cached_tokens": 90}});
        check(openai(cached), both(100, 10), 90);
        let deepseek = json!({"prompt_cache_hit_tokens": 90, "prompt_cache_miss_tokens": 10});
        check(openai(deepseek), both(100, 10), 90);
        // The total says whether reasoning stands outside.
        let reasoning = |total: u64| json!({"total_tokens": total, "completion_tokens_details": {"reasoning_tokens": 8}});
        check(openai(reasoning(118)), both(100, 18), 0);
        check(openai(reasoning(110)), both(100, 10), 0);
        check(openai(reasoning(117)), both(100, 10), 0);
        check(
            openai(json!({"completion_tokens_details": {"reasoning_tokens": 8}})),
            both(100, 10),
            0,
        );
        // A proxy that also has the names of Anthropic counts cached tokens in `prompt_tokens`.
        check(
            openai(json!({"cache_read_input_tokens": 90})),
            both(100, 10),
            0,
        );
        let anthropic = json!({"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10,
            "output_tokens": 5});
        check(json!({"usage": anthropic}), both(100, 5), 80);
        let responses = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 109});
        check(json!({"usage": responses}), both(100, 9), 60);
        check(
            json!({"usage": {"inputTokens": 3, "cacheReadInputTokens": 2, "outputTokens": 4}}),
            both(5, 4),
            2,
        );
        check(
            json!({"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 5,
                "totalTokenCount": 12}}),
            both(3, 9),
            0,
        );
        check(
            json!({"prompt_eval_count": 3, "eval_count": 4}),
            both(3, 4),
            0,
        );
        check(
            json!({"tokens_evaluated": 3, "tokens_predicted": 4}),
            both(3, 4),
            0,
        );
        check(
            json!({"timings": {"prompt_n": 3, "cache_n": 7, "predicted_n": 4}}),
            both(10, 4),
            7,
        );
        check(json!({"usage": {"prompt_tokens": 3}}), [Some(3), None], 0);
        check(json!({"usage": {"prompt_tokens": null}}), [None, None], 0);
        check(json!({}), [None, None], 0);
        let cost = |usage: Value| {
            ReportedFigures::of(usage.as_object().unwrap())
                .usage
                .cost_usd
        };
        assert_eq!(cost(json!({"usage": {"cost": 0.5}})), Some(0.5));
        assert_eq!(
            cost(json!({"usage": {"cost": 0.5, "cost_usd": 0.1}})),
            Some(0.1)
        );
        assert_eq!(cost(json!({"usage": {"cost": -1}})), None);
    }

    #[test]
    fn what_an_agent_in_rust_says_is_checked_too() {
        let output = Output::text("4").usage(Usage::tokens(1, 2).cost_usd(f64::NAN));
        let checked = checked(output);
        assert_eq!(checked.usage, Some(Usage::tokens(1, 2)));
        assert_eq!(checked.metadata[DROPPED], json!(["`cost_usd` is NaN"]));
        let output = super::checked(Output::text("4").steps(u64::MAX));
        assert_eq!(output.steps, None);
        let reported = json!(["`steps` is 18446744073709551615"]);
        assert_eq!(output.metadata[DROPPED], reported);
        let output = super::checked(Output::text("4").steps(3));
        assert_eq!(output, Output::text("4").steps(3));
    }
}
