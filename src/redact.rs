//! Secret redaction, applied on the way into the run directory and to what is shown live.
//!
//! Two rules. *Value patterns* (well-known token shapes, patterns of the user's own, and the values of
//! secret variables that were passed to an agent) apply to every text. The *key-name rule* (`key`,
//! `token`, `secret`, … as a whole word of a key) applies to configuration, headers, environment and
//! error bodies only: in prompts, predictions, tool calls or metadata it would destroy real answers.
//! Redaction never changes a verdict, because scoring happens before it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::agent::{AgentError, Output};
use crate::error::{Error, Result};
use crate::run::{Outcome, Record};
use crate::scorer::{Normalized, Score};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[REDACTED]";

/// Values of passed variables shorter than this are not secrets worth the damage.
const MIN_SECRET: usize = 8;

/// How much of an agent's stderr is kept, in bytes, after redaction.
const STDERR_TAIL: usize = 4096;

/// Token shapes. The second group, where there is one, must look random: [`looks_random`].
static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        r"\b(?:sk|pk|rk)-(?P<sk>[A-Za-z0-9_-]{8,})",
        r"\b(?:hf|jina|api_org)_(?P<hf>[A-Za-z0-9_-]{8,})",
        r"\bpplx-(?P<pplx>[A-Za-z0-9_-]{8,})",
        r"\bAIza[A-Za-z0-9_-]{16,}",
        r"\b(?i:bearer)\s+(?P<bearer>[A-Za-z0-9._~+/=-]{8,})",
        r"\bgh[pousr]_[A-Za-z0-9]{16,}",
        r"\bgithub_pat_[A-Za-z0-9_]{16,}",
        r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b",
        r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    ];
    Regex::new(&shapes.join("|")).expect("the patterns are constant")
});

/// Whether a candidate is a token rather than words: `sk-learn-estimators` is a library's name.
fn looks_random(candidate: &str) -> bool {
    candidate.len() >= 20 && !candidate.contains(['-', '_', '.'])
        || candidate.bytes().any(|byte| byte.is_ascii_digit())
}

/// Blanks secrets. Cheap to ask about texts that hold none.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    custom: Vec<Regex>,
    secrets: Vec<String>,
}

impl Redactor {
    /// A redactor with the default patterns, `patterns` (regular expressions) and literal `secrets`.
    pub fn new(patterns: &[String], mut secrets: Vec<String>) -> Result<Self> {
        let compile = |pattern: &String| {
            Regex::new(pattern).map_err(|error| {
                let reason = error
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .to_owned();
                Error::usage(format!(
                    "redact pattern `{pattern}` is not a regular expression: {reason}"
                ))
                .hint("use the syntax of the `regex` crate, such as `corp-[0-9]+`")
            })
        };
        let custom = patterns.iter().map(compile).collect::<Result<Vec<_>>>()?;
        secrets.retain(|secret| secret.len() >= MIN_SECRET);
        // The longest first, so that a secret that contains another goes whole.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Ok(Self { custom, secrets })
    }

    /// `text` without secrets; `count` grows by the number of places.
    pub fn text<'a>(&self, text: &'a str, count: &mut u32) -> Cow<'a, str> {
        let mut result = Cow::Borrowed(text);
        for secret in &self.secrets {
            if result.contains(secret.as_str()) {
                *count +=
                    u32::try_from(result.matches(secret.as_str()).count()).unwrap_or(u32::MAX);
                result = Cow::Owned(result.replace(secret.as_str(), REDACTED));
            }
        }
        if SHAPES.is_match(&result) {
            let blank = |found: &Captures<'_>| {
                let random = found
                    .iter()
                    .skip(1)
                    .flatten()
                    .all(|part| looks_random(part.as_str()));
                *count += u32::from(random);
                if random {
                    REDACTED.to_owned()
                } else {
                    found[0].to_owned()
                }
            };
            result = Cow::Owned(SHAPES.replace_all(&result, blank).into_owned());
        }
        for pattern in &self.custom {
            if pattern.is_match(&result) {
                let blank = |found: &Captures<'_>| {
                    // A pattern that matches nothing would otherwise fill the text with marks.
                    *count += u32::from(!found[0].is_empty());
                    if found[0].is_empty() {
                        String::new()
                    } else {
                        REDACTED.to_owned()
                    }
                };
                result = Cow::Owned(pattern.replace_all(&result, blank).into_owned());
            }
        }
        result
    }

    /// Applies [`Redactor::text`] in place.
    pub fn string(&self, text: &mut String, count: &mut u32) {
        if let Cow::Owned(clean) = self.text(text, count) {
            *text = clean;
        }
    }

    /// Applies the value patterns to every string in `value`, keys of objects included.
    pub fn value(&self, value: &mut Value, count: &mut u32) {
        self.walk(value, false, count);
    }

    /// Applies the value patterns and the key-name rule: for configuration and error bodies.
    pub fn config(&self, value: &mut Value) {
        self.walk(value, true, &mut 0);
    }

    fn walk(&self, value: &mut Value, by_key: bool, count: &mut u32) {
        match value {
            Value::String(text) => self.string(text, count),
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.walk(item, by_key, count)),
            Value::Object(map) => {
                for (key, item) in map.iter_mut() {
                    if by_key && item.is_string() && is_secret_name(key) {
                        *item = REDACTED.into();
                    } else {
                        self.walk(item, by_key, count);
                    }
                }
                let secret_key = |key: &&String| matches!(self.text(key, &mut 0), Cow::Owned(_));
                if map.keys().any(|key| secret_key(&key)) {
                    let clean =
                        |(key, item): (String, Value)| (self.text(&key, count).into_owned(), item);
                    *map = std::mem::take(map).into_iter().map(clean).collect();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Blanks what an agent said.
    pub fn output(&self, output: &mut Output, count: &mut u32) {
        if let Some(text) = &mut output.text {
            self.string(text, count);
        }
        for value in output.messages.iter_mut().chain(&mut output.tool_calls) {
            self.value(value, count);
        }
    }

    /// Blanks an agent's failure and cuts its stderr to the last bytes.
    ///
    /// The cut comes second: cutting first could leave the unrecognisable half of a token.
    pub fn agent_error(&self, error: &mut AgentError, count: &mut u32) {
        self.string(&mut error.message, count);
        if let Some(tail) = &mut error.stderr_tail {
            self.string(tail, count);
            let excess = tail.len().saturating_sub(STDERR_TAIL);
            *tail = tail.split_off(tail.ceil_char_boundary(excess));
        }
    }

    /// Blanks a whole record and notes how many places were blanked.
    pub fn record(&self, record: &mut Record) {
        let mut count = record.result.redacted;
        if let Cow::Owned(clean) = self.text(&record.prompt, &mut count) {
            record.prompt = clean.into();
        }
        self.value(&mut record.ground_truth, &mut count);
        for value in record.metadata.values_mut() {
            self.value(value, &mut count);
        }
        self.outcome(&mut record.result, &mut count);
        record.result.redacted = count;
    }

    fn outcome(&self, outcome: &mut Outcome, count: &mut u32) {
        if let Some(output) = &mut outcome.output {
            self.output(output, count);
        }
        let before = *count;
        if let Some(prediction) = &mut outcome.prediction {
            self.string(prediction, count);
        }
        // Normalising (lower case, no punctuation) hides a secret from the patterns but not from people.
        let lost = *count > before;
        if let Some(score) = &mut outcome.score {
            self.score(score, lost, count);
        }
        for value in outcome.scores.values_mut() {
            if lost && let Some(normalized) = value.get_mut("normalized_prediction") {
                *normalized = REDACTED.into();
            }
            self.value(value, count);
        }
        if let Some(error) = &mut outcome.error {
            self.agent_error(error, count);
        }
    }

    fn score(&self, score: &mut Score, lost: bool, count: &mut u32) {
        if lost {
            score.normalized_prediction = Normalized::Text(REDACTED.to_owned());
        }
        for side in [
            &mut score.normalized_prediction,
            &mut score.normalized_ground_truth,
        ] {
            match side {
                Normalized::None => {}
                Normalized::Text(text) => self.string(text, count),
                Normalized::List(items) => {
                    for item in items {
                        self.string(item, count);
                    }
                }
            }
        }
        for value in score.details.values_mut() {
            self.value(value, count);
        }
    }
}

/// Whether a key names a secret: one of the words stands in it whole. `max_tokens` does not.
pub fn is_secret_name(key: &str) -> bool {
    words(key).any(|word| {
        matches!(
            word.as_str(),
            "key"
                | "token"
                | "secret"
                | "password"
                | "passwd"
                | "authorization"
                | "apikey"
                | "credential"
        )
    })
}

/// The words of `api_key`, `api-key`, `apiKey`, `API_KEY`.
fn words(key: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut previous_lower = false;
    for c in key.chars() {
        let boundary = !c.is_alphanumeric() || (c.is_uppercase() && previous_lower);
        if boundary {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        previous_lower = c.is_lowercase() || c.is_numeric();
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expect: &str) {
        let redactor = Redactor::new(
            &["corp-[0-9]+".into()],
            vec!["hunter2hunter2".into(), "short".into()],
        );
        assert_eq!(redactor.unwrap().text(text, &mut 0), expect);
    }

    #[test]
    fn blanks_tokens_and_leaves_words() {
        check("key sk-proj-abc123DEF456ghi789 end", "key [REDACTED] end");
        check("hf_AbCdEfGh1234567890", "[REDACTED]");
        check("jina_0123456789abcdef", "[REDACTED]");
        check("pplx-0123456789abcdef", "[REDACTED]");
        check("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[REDACTED]");
        check(
            "Authorization: Bearer abc.def-123456",
            "Authorization: [REDACTED]",
        );
        check("ghp_0123456789abcdefABCDEF", "[REDACTED]");
        check("AKIAIOSFODNN7EXAMPLE", "[REDACTED]");
        check(
            "corp-42, hunter2hunter2, short",
            "[REDACTED], [REDACTED], short",
        );
        check(
            "sk-learn-estimators and risk-adjusted-1234",
            "sk-learn-estimators and risk-adjusted-1234",
        );
        check("bearer certificates", "bearer certificates");
        check("hf_hub_download", "hf_hub_download");
    }

    #[test]
    fn key_names_count_as_whole_words_and_numbers_survive() {
        let mut config = json!({"api_key": "x", "apiKey": "y", "max_tokens": 5, "tokens": "12",
            "nested": [{"Authorization": "z", "monkey": "m", "token": 7}]});
        Redactor::default().config(&mut config);
        assert_eq!(
            config,
            json!({"api_key": REDACTED, "apiKey": REDACTED, "max_tokens": 5, "tokens": "12",
                "nested": [{"Authorization": REDACTED, "monkey": "m", "token": 7}]})
        );
    }

    #[test]
    fn a_bad_pattern_is_named() {
        let error = Redactor::new(&["a(".into()], vec![]).unwrap_err();
        assert!(error.message().contains("`a(`"), "{error}");
        // A pattern that matches the empty string blanks nothing.
        let lax = Redactor::new(&["x*".into()], vec![]).unwrap();
        assert_eq!(lax.text("abc", &mut 0), "abc");
    }
}
