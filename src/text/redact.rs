//! Secret redaction, applied when a message is created, before it reaches the run directory or a progress display.
//!
//! Two rules. *Value patterns* (well-known token shapes, custom patterns, and [known values](known::KnownSecrets), such
//! as those of variables passed to an agent) apply to every text. The *key-name rule* (`key`, `token`, `secret`, … as a
//! whole word of a key) applies to configuration, headers, environment and error bodies only: in prompts, predictions,
//! tool calls or metadata it would destroy real answers. Redaction never changes a verdict, because scoring happens
//! before it.
//!
//! A known value is found verbatim, in hex (also with separators: `73:33:63`), in base64, with JSON or URL escapes,
//! broken into lines, and truncated with `…`. It is not found if it was truncated without a mark, reversed, changed in
//! case, or encoded in UTF-16, in base32 or with a cipher.

mod known;
pub(crate) mod literal;
mod names;
mod shapes;
pub(crate) mod tally;
#[cfg(test)]
mod tests;
mod views;

use std::borrow::Cow;
use std::sync::Arc;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::error::{Error, Result};
use known::KnownSecrets;
use names::is_secret_member;
#[cfg(feature = "http")]
pub(crate) use names::is_secret_parameter;
pub(crate) use names::{holds_secret, is_secret_name};
pub(crate) use shapes::half_token;
use shapes::{MARKS, SHAPES, is_random};
use tally::{BlankCount, Blanked, Samples};

/// Replaces a secret.
pub const REDACTED: &str = "[REDACTED]";

/// Whether an extracted prediction had a secret blanked; extraction removes the brackets.
pub(crate) fn is_blanked(prediction: &str) -> bool {
    prediction.contains(REDACTED.trim_matches(['[', ']']))
}

/// Shorter values of passed variables are not redacted: it would do more harm than good.
pub(crate) const MIN_SECRET: usize = 8;

/// Marks where a text was truncated.
const ELLIPSIS: char = '…';

/// Shorter parts of a secret, in bytes, are ignored: they reveal nothing.
const MIN_PARTIAL: usize = 4;

/// Blanks secrets. Cheap to clone, and cheap on texts without secrets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redactor {
    custom: Vec<Regex>,
    known: Option<Arc<KnownSecrets>>,
    /// The names of the variables with each known value, indexed by the number of the value.
    variables: Arc<[Vec<String>]>,
    samples: Arc<Samples>,
}

impl Redactor {
    /// A redactor with the default patterns, `patterns` (regular expressions) and literal `secrets`.
    pub(crate) fn new(patterns: &[String], secrets: &[String]) -> Result<Self> {
        Self::with_variables(patterns, secrets, &[])
    }

    /// As [`Redactor::new`], and also blanks the values of variables and records which variables they belong to.
    pub(crate) fn with_variables(
        patterns: &[String],
        secrets: &[String],
        variables: &[(String, String)],
    ) -> Result<Self> {
        let compile = |pattern: &String| {
            Regex::new(pattern).map_err(|error| {
                let reason = error
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .to_owned();
                Error::usage(format!(
                    "redact pattern `{pattern}` is not a regular expression: {reason}"
                ))
                .hint("use the syntax of the `regex` crate, such as `corp-[0-9]+`")
            })
        };
        let custom = patterns.iter().map(compile).collect::<Result<Vec<_>>>()?;
        let values = variables.iter().map(|(_, value)| value);
        let mut secrets: Vec<String> = secrets.iter().chain(values).cloned().collect();
        secrets.sort_unstable();
        secrets.dedup();
        let names = |secret: &String| {
            let named = variables.iter().filter(|(_, value)| value == secret);
            let mut names: Vec<String> = named.map(|(name, _)| name.clone()).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        Ok(Self {
            custom,
            known: KnownSecrets::new(&secrets).map(Arc::new),
            variables: secrets.iter().map(names).collect(),
            samples: Arc::default(),
        })
    }

    /// Records what was blanked in a sample.
    pub(crate) fn note(&self, sample: &str, blanked: &Blanked) {
        self.samples.note(sample, blanked);
    }

    /// The variables whose values were blanked in more than one sample: they may be real answers instead of secrets.
    pub(crate) fn often_blanked(&self) -> Vec<String> {
        let secrets = self.samples.in_several();
        let names = secrets.iter().flat_map(|secret| &self.variables[*secret]);
        let mut names: Vec<String> = names.cloned().collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Adds to `tally` the variables whose values were already removed from a text.
    pub(crate) fn hidden(&self, names: &[String], tally: &mut impl BlankCount) {
        for name in names {
            let mut all = self.variables.iter();
            let secret = all.position(|names| names.contains(name));
            tally.add(0, secret);
        }
    }

    /// `text` without secrets; adds each place to `tally`.
    pub(crate) fn text<'a>(&self, text: &'a str, tally: &mut impl BlankCount) -> Cow<'a, str> {
        let mut result = self.without_known(text, tally);
        if MARKS.is_match(&result) && SHAPES.is_match(&result) {
            let blank = |found: &Captures<'_>| {
                let random = found
                    .iter()
                    .skip(1)
                    .flatten()
                    .all(|part| is_random(part.as_str()));
                tally.add(u32::from(random), None);
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
                    // A pattern that matches the empty string would otherwise fill the text with marks.
                    tally.add(u32::from(!found[0].is_empty()), None);
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

    fn without_known<'a>(&self, text: &'a str, tally: &mut impl BlankCount) -> Cow<'a, str> {
        let places = self.known.as_ref().map(|known| known.find(text));
        let places = places.unwrap_or_default();
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut clean = String::with_capacity(text.len());
        let mut end = 0;
        for place in places {
            let is_named = self.variables.get(place.secret);
            let is_named = is_named.is_some_and(|names| !names.is_empty());
            tally.add(1, is_named.then_some(place.secret));
            clean.push_str(&text[end..place.start]);
            clean.push_str(REDACTED);
            end = place.end;
        }
        clean.push_str(&text[end..]);
        Cow::Owned(clean)
    }

    /// A line of a streamed text, which may hold the beginning, the middle or the end of a secret.
    pub(crate) fn line(&self, line: &str) -> String {
        if self.known.as_ref().is_some_and(|known| known.is_part(line)) {
            return REDACTED.to_owned();
        }
        let marked = format!("{ELLIPSIS}{line}{ELLIPSIS}");
        let clean = self.text(&marked, &mut 0);
        let clean = clean.strip_prefix(ELLIPSIS).unwrap_or(&clean);
        clean.strip_suffix(ELLIPSIS).unwrap_or(clean).to_owned()
    }

    /// The error with secrets removed from its message and hint.
    pub(crate) fn error(&self, error: Error) -> Error {
        error.map_text(|text| self.text(text, &mut 0).into_owned())
    }

    /// Applies [`Redactor::text`] in place.
    pub(crate) fn string(&self, text: &mut String, tally: &mut impl BlankCount) {
        if let Cow::Owned(clean) = self.text(text, tally) {
            *text = clean;
        }
    }

    /// Applies the value patterns to every string in `value`, including object keys.
    pub(crate) fn value(&self, value: &mut Value, tally: &mut impl BlankCount) {
        match value {
            Value::String(text) => self.string(text, tally),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, tally)),
            Value::Object(map) => self.map(map, tally),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Applies them to every member of a map.
    pub(crate) fn map(
        &self,
        map: &mut serde_json::Map<String, Value>,
        tally: &mut impl BlankCount,
    ) {
        map.values_mut().for_each(|item| self.value(item, tally));
        self.keys(map, tally);
    }

    fn keys(&self, map: &mut serde_json::Map<String, Value>, tally: &mut impl BlankCount) {
        let is_secret = |key: &String| matches!(self.text(key, &mut 0), Cow::Owned(_));
        if map.keys().any(is_secret) {
            let clean = |(key, item): (String, Value)| (self.text(&key, tally).into_owned(), item);
            *map = std::mem::take(map).into_iter().map(clean).collect();
        }
    }

    /// For configuration and error bodies: applies the value patterns and the key-name rule, and removes keys from
    /// addresses, headers and commands.
    pub(crate) fn config(&self, value: &mut Value) {
        self.config_at("", value);
    }

    /// The same for the value at a key, which may be a path such as `agent.headers`.
    fn config_at(&self, key: &str, value: &mut Value) {
        let is_at = |name: &str| key.split('.').any(|part| part == name);
        match value {
            Value::String(text) => {
                if is_at("shell") || is_at("command") {
                    literal::shell(text);
                }
                if let Cow::Owned(clean) = literal::addresses(text) {
                    *text = clean;
                }
                self.string(text, &mut 0);
            }
            Value::Array(items) => {
                if is_at("command") {
                    literal::command(items);
                }
                for item in items {
                    self.config_at("", item);
                }
            }
            Value::Object(map) => {
                for (name, item) in map.iter_mut() {
                    if let Value::String(text) = item {
                        if is_secret_member(name, text) {
                            REDACTED.clone_into(text);
                        }
                        let (path, last) = name.rsplit_once('.').unwrap_or((key, name));
                        if path.split('.').any(|part| part == "headers") {
                            literal::header(last, text);
                        }
                    }
                    self.config_at(name, item);
                }
                self.keys(map, &mut 0);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
