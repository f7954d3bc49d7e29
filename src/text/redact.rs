//! Secret redaction, applied when a message is created, before it reaches the run directory or a progress display.
//!
//! Two rules. *Value patterns* (well-known token shapes, custom patterns, and [known values](known::KnownSecrets), such
//! as those of variables passed to an agent) apply to every text. The *key-name rule* (`key`, `token`, `secret`, … as a
//! whole word of a key) applies to configuration, headers, environment and error bodies only: in prompts, predictions,
//! tool calls or metadata it would destroy real answers. Redaction never changes a verdict, because scoring happens
//! before it.
//!
//! A known value is found verbatim, in hex (also with separators: `73:33:63`), in base64, also twice, with escapes of JSON,
//! addresses, HTML or in octal, broken into lines or by colours, and truncated with `…`. It is not found if it was truncated without a mark, reversed, changed in
//! case, or encoded in UTF-16, in base32 or with a cipher.

mod known;
pub(crate) mod literal;
#[cfg(test)]
mod tests;
mod views;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Captures, Regex};
use serde_json::Value;

use crate::error::{Error, Result};
use known::KnownSecrets;

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
        if may_have_token(&result) && SHAPES.is_match(&result) {
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

/// Token shapes. The second group, if there is one, must look random: [`is_random`].
static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    // A token may follow a colour (`\x1b[31m`), an escape in JSON text (`\n`), or `_`. With `\b` alone, the last letter
    // of these would count as the start of the word.
    let start = r"(?:\b|_|\x1b\[[0-9;]*[A-Za-z]|\\u\{1b\}\[[0-9;]*[A-Za-z]|\\u00[0-9A-Fa-f]{2}(?:\[[0-9;]*[A-Za-z])?|\\[bfnrt])";
    let shapes = [
        format!(r"{start}(?:sk|pk|rk)-(?P<sk>[A-Za-z0-9_-]{{8,}})"),
        r"(?:hf|jina|api_org)_(?P<hf>[A-Za-z0-9_-]{8,})".to_owned(),
        r"pplx-(?P<pplx>[A-Za-z0-9_-]{8,})".to_owned(),
        r"AIza[A-Za-z0-9_-]{16,}".to_owned(),
        format!(r"{start}(?i:bearer)(?:\s|\\[nrt])+(?P<bearer>[A-Za-z0-9._~+/=-]{{8,}})"),
        r"gh[pousr]_[A-Za-z0-9]{16,}".to_owned(),
        r"github_pat_[A-Za-z0-9_]{16,}".to_owned(),
        format!(r"{start}(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{{12,}}\b"),
        r#"(?i:aws_(?:secret_access_key|session_token))[\\"']*\s*[:=]\s*[\\"']*[A-Za-z0-9/+=]{16,}"#
            .to_owned(),
        r"xox[abeprs]-[A-Za-z0-9-]{10,}".to_owned(),
    ];
    Regex::new(&shapes.join("|")).expect("the patterns are constant")
});

/// A token truncated to this many bytes, or a few fewer, still has its shape.
const HALF: usize = 80;

/// Whether a text may match a shape. Most texts do not, and finding that out is a hundred times faster.
fn may_have_token(text: &str) -> bool {
    /// A search in a shorter text takes less time than a regular expression needs to begin.
    const SHORT: usize = 100;
    if text.len() < SHORT {
        BEGINNINGS.is_match(text)
    } else {
        MARKS.is_match(text)
    }
}

/// What tokens begin with, in lower case.
const TOKENS: [&str; 26] = [
    "sk-",
    "pk-",
    "rk-",
    "hf_",
    "jina_",
    "api_org_",
    "pplx-",
    "aiza",
    "bearer",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "akia",
    "asia",
    "aroa",
    "aida",
    "aws_",
    "xoxa",
    "xoxb",
    "xoxe",
    "xoxp",
    "xoxr",
    "xoxs",
];

/// Finds [`TOKENS`] in upper or lower case.
static BEGINNINGS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    let builder = builder.ascii_case_insensitive(true);
    let built = builder.kind(Some(AhoCorasickKind::DFA)).build(TOKENS);
    built.expect("the words are constant")
});

/// The beginning of a token, exactly: every shape contains a match.
static MARKS: LazyLock<Regex> = LazyLock::new(|| {
    let marks = "[spr]k-|hf_|jina_|api_org_|pplx-|AIza|[bB][eE][aA][rR][eE][rR]|gh[pousr]_|github_pat_|\
                 AKIA|ASIA|AROA|AIDA|(?i-u:aws_)|xox[abeprs]-";
    Regex::new(marks).expect("the pattern is constant")
});

/// Where a token may begin at the end of a truncated text, with too little left to match its shape.
pub(crate) fn half_token(text: &str) -> Option<usize> {
    let start = text.ceil_char_boundary(text.len().saturating_sub(HALF));
    MARKS.find(&text[start..]).map(|mark| start + mark.start())
}

/// Whether a candidate is a token rather than words: `sk-learn-estimators` is the name of a library.
fn is_random(candidate: &str) -> bool {
    candidate
        .split(['-', '_', '.'])
        .any(|part| part.len() >= 20)
        || candidate.bytes().any(|byte| byte.is_ascii_digit())
}

/// Receives each blanked place.
pub(crate) trait BlankCount {
    /// Adds `places`; `variable` is the index of the value that was there, if it is that of a variable.
    fn add(&mut self, places: u32, variable: Option<usize>);
}

/// Counts places only.
impl BlankCount for u32 {
    fn add(&mut self, places: u32, _: Option<usize>) {
        *self = self.saturating_add(places);
    }
}

/// Counts places, and which values were there.
#[derive(Debug, Default)]
pub(crate) struct Blanked {
    pub(crate) places: u32,
    variables: BTreeSet<usize>,
}

impl Blanked {
    /// Continues from a number of places.
    pub(crate) fn from(places: u32) -> Self {
        Self {
            places,
            ..Self::default()
        }
    }
}

impl BlankCount for Blanked {
    fn add(&mut self, places: u32, variable: Option<usize>) {
        self.places = self.places.saturating_add(places);
        self.variables.extend(variable);
    }
}

/// For each value of a variable, the sample in which it was found; `None` for several samples.
#[derive(Debug, Default)]
struct Samples(Mutex<BTreeMap<usize, Option<String>>>);

impl Samples {
    /// Records what was blanked in a sample.
    fn note(&self, sample: &str, blanked: &Blanked) {
        if blanked.variables.is_empty() {
            return;
        }
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for variable in &blanked.variables {
            samples
                .entry(*variable)
                .and_modify(|first| {
                    if first.as_deref() != Some(sample) {
                        *first = None;
                    }
                })
                .or_insert_with(|| Some(sample.to_owned()));
        }
    }

    /// The values that were found in more than one sample.
    fn in_several(&self) -> Vec<usize> {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let several = samples.iter().filter(|(_, first)| first.is_none());
        several.map(|(variable, _)| *variable).collect()
    }
}

/// Whether a key names a secret: it contains one of the words as a whole. `max_tokens` does not.
pub(crate) fn is_secret_name(key: &str) -> bool {
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
                | "cookie"
                | "passphrase"
                | "signature"
                | "credential"
                | "credentials"
        )
    })
}

/// Whether a query parameter of an address is secret: by the rule for keys, or one of the usual short names.
pub(crate) fn is_secret_parameter(name: &str) -> bool {
    let is_short = |word: String| {
        matches!(
            word.as_str(),
            "sig" | "code" | "auth" | "jwt" | "pass" | "pwd" | "sas"
        )
    };
    is_secret_name(name) || words(name).any(is_short)
}

/// Whether a header or an option holds a secret itself, and not its location: `--token-file` does not.
pub(crate) fn holds_secret(name: &str) -> bool {
    let last = words(name).last();
    let names_place = last.is_some_and(|word| {
        matches!(
            word.as_str(),
            "env" | "file" | "path" | "name" | "id" | "variable" | "var" | "dir" | "url" | "type"
        )
    });
    !names_place && is_secret_name(name)
}

/// Whether a member of a configuration holds a secret. `api_key_env: MY_KEY` names the variable that holds it, which is
/// needed to rescore a run with the same judge.
fn is_secret_member(key: &str, text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let names_variable = key.ends_with("_env")
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.bytes().all(is_part);
    is_secret_name(key) && !names_variable
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
