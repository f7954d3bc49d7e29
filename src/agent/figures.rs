//! Usage figures of an answer: tokens and cost, as agents report them.
//!
//! An impossible figure is dropped, but the answer, which was paid for, stays: its metadata lists what was dropped.

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

/// The usage of an answer, and the dropped figures.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ReportedFigures {
    pub(crate) usage: Usage,
    pub(crate) steps: Option<u64>,
    dropped: Vec<String>,
}

impl ReportedFigures {
    /// `usage` with the names of either API generation, `cost_usd`, next to it or in it, and `steps`.
    pub(crate) fn of(reply: &Map<String, Value>) -> Self {
        let nothing = Map::new();
        let mut figures = Self::default();
        let given = match reply.get("usage") {
            None | Some(Value::Null) => &nothing,
            Some(Value::Object(given)) => given,
            Some(value) => {
                figures.drop("usage", value);
                &nothing
            }
        };
        figures.usage.input_tokens = figures.tokens(given, ["input_tokens", "prompt_tokens"]);
        figures.usage.output_tokens = figures.tokens(given, ["output_tokens", "completion_tokens"]);
        let top_level = reply.get("cost_usd").filter(|cost| !cost.is_null());
        figures.usage.cost_usd =
            figures.cost("cost_usd", top_level.or_else(|| given.get("cost_usd")));
        figures.steps = figures.steps(reply.get("steps"));
        figures
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

    /// The tokens under the first of these names that exists.
    pub(crate) fn tokens(&mut self, given: &Map<String, Value>, names: [&str; 2]) -> Option<u64> {
        let (name, value) = names
            .iter()
            .find_map(|name| Some((name, given.get(*name)?)))?;
        if value.is_null() {
            return None;
        }
        let tokens = whole(value).or_else(|| value.as_str()?.parse().ok());
        let tokens = tokens.filter(|tokens| *tokens <= MOST_TOKENS);
        if tokens.is_none() {
            self.drop(&format!("usage.{name}"), value);
        }
        tokens
    }

    /// The cost under this key.
    pub(crate) fn cost(&mut self, key: &str, value: Option<&Value>) -> Option<f64> {
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

/// Reads JSON, including `NaN`, `Infinity` and out-of-range numbers that some programs write: these become texts.
pub(crate) fn read(json: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(json).or_else(|error| {
        let fixed = quoted(json).ok_or(error)?;
        serde_json::from_slice(&fixed)
    })
}

/// The text with quotes around numbers that are invalid in JSON; `None` if there are none.
fn quoted(json: &[u8]) -> Option<Vec<u8>> {
    let mut fixed = Vec::with_capacity(json.len() + 16);
    let mut is_fixed = false;
    let mut rest = json;
    while let Some(&first) = rest.first() {
        let length = match first {
            b'"' => string_length(rest),
            b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => rest
                .iter()
                .position(|byte| !(byte.is_ascii_alphanumeric() || b"+-.".contains(byte)))
                .unwrap_or(rest.len()),
            _ => 1,
        };
        let (token, after) = rest.split_at(length);
        let is_foreign = match token {
            b"NaN" | b"-NaN" | b"Infinity" | b"-Infinity" => true,
            [b'-' | b'0'..=b'9', ..] => std::str::from_utf8(token)
                .is_ok_and(|text| text.parse().is_ok_and(f64::is_infinite)),
            _ => false,
        };
        if is_foreign {
            is_fixed = true;
            fixed.push(b'"');
            fixed.extend_from_slice(token);
            fixed.push(b'"');
        } else {
            fixed.extend_from_slice(token);
        }
        rest = after;
    }
    is_fixed.then_some(fixed)
}

/// The length of the string at the start of the text.
fn string_length(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().skip(1).position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
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
    fn numbers_that_json_does_not_know_are_texts_and_texts_stay() {
        let check = |json: &str, expect: Value| {
            assert_eq!(read(json.as_bytes()).unwrap(), expect, "{json}");
        };
        check(
            r#"{"answer": "NaN \" NaN", "b": NaN}"#,
            json!({"answer": "NaN \" NaN", "b": "NaN"}),
        );
        check(
            "[-Infinity,1,2.5e3,\"\\\\\",NaN]",
            json!(["-Infinity", 1, 2500.0, "\\", "NaN"]),
        );
        for json in ["", "{", "NaNs", "\"", "{\"a\": NaN", "nan", "[1e]"] {
            assert!(read(json.as_bytes()).is_err(), "{json}");
        }
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
