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

use crate::error::{Error, Result};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[REDACTED]";

/// Whether a secret was blanked in what was extracted from an answer; extraction takes brackets off.
pub(crate) fn is_blanked(prediction: &str) -> bool {
    prediction.contains(REDACTED.trim_matches(['[', ']']))
}

/// Values of passed variables shorter than this are not secrets worth the damage.
pub(crate) const MIN_SECRET: usize = 8;

/// Token shapes. The second group, where there is one, must look random: [`looks_random`].
static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    // A token may follow a colour (`\x1b[31m`), an escape in a text that is JSON itself (`\n`), or `_`:
    // for `\b` alone, the letter that these end with would be the beginning of the word.
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

/// What every shape holds. Most texts hold none of it, which is found out a hundred times as fast.
static MARKS: LazyLock<Regex> = LazyLock::new(|| {
    let marks = "[spr]k-|hf_|jina_|api_org_|pplx-|AIza|[bB][eE][aA][rR][eE][rR]|gh[pousr]_|github_pat_|\
                 AKIA|ASIA|AROA|AIDA|(?i-u:aws_)|xox[abeprs]-";
    Regex::new(marks).expect("the pattern is constant")
});

/// Whether a candidate is a token rather than words: `sk-learn-estimators` is a library's name.
fn looks_random(candidate: &str) -> bool {
    candidate
        .split(['-', '_', '.'])
        .any(|part| part.len() >= 20)
        || candidate.bytes().any(|byte| byte.is_ascii_digit())
}

/// Blanks secrets. Cheap to ask about texts that hold none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redactor {
    custom: Vec<Regex>,
    secrets: Vec<String>,
}

impl Redactor {
    /// A redactor with the default patterns, `patterns` (regular expressions) and literal `secrets`.
    pub(crate) fn new(patterns: &[String], secrets: &[String]) -> Result<Self> {
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
        let mut secrets: Vec<String> = secrets.iter().flat_map(|secret| forms(secret)).collect();
        secrets.retain(|secret| secret.len() >= MIN_SECRET);
        // The longest first, so that a secret that contains another goes whole.
        secrets.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        secrets.dedup();
        Ok(Self { custom, secrets })
    }

    /// `text` without secrets; `count` grows by the number of places.
    pub(crate) fn text<'a>(&self, text: &'a str, count: &mut u32) -> Cow<'a, str> {
        let mut result = Cow::Borrowed(text);
        for secret in &self.secrets {
            if result.contains(secret.as_str()) {
                *count +=
                    u32::try_from(result.matches(secret.as_str()).count()).unwrap_or(u32::MAX);
                result = Cow::Owned(result.replace(secret.as_str(), REDACTED));
            }
        }
        if result.contains(CUT) {
            result = self.without_begun(result, count);
        }
        if MARKS.is_match(&result) && SHAPES.is_match(&result) {
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

    /// Blanks the beginning of a secret that ends in the mark of a text that was cut.
    fn without_begun<'a>(&self, text: Cow<'a, str>, count: &mut u32) -> Cow<'a, str> {
        let Some((head, tail)) = text.rsplit_once(CUT) else {
            return text;
        };
        let begun = self.secrets.iter().filter_map(|secret| {
            let ends = secret.char_indices().map(|(end, _)| end).rev();
            ends.take_while(|&end| end >= MIN_BEGUN)
                .find(|&end| head.ends_with(&secret[..end]))
        });
        let Some(length) = begun.max() else {
            return text;
        };
        *count += 1;
        let kept = &head[..head.len() - length];
        Cow::Owned(format!("{kept}{REDACTED}{CUT}{tail}"))
    }

    /// Applies [`Redactor::text`] in place.
    pub(crate) fn string(&self, text: &mut String, count: &mut u32) {
        if let Cow::Owned(clean) = self.text(text, count) {
            *text = clean;
        }
    }

    /// Applies the value patterns to every string in `value`, keys of objects included.
    pub(crate) fn value(&self, value: &mut Value, count: &mut u32) {
        self.walk(value, false, count);
    }

    /// Applies the value patterns and the key-name rule: for configuration and error bodies.
    pub(crate) fn config(&self, value: &mut Value) {
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
                    let text = item.as_str();
                    if by_key && text.is_some_and(|text| is_secret_member(key, text)) {
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
}

/// What marks the place where a text was cut.
const CUT: char = '…';

/// Shorter beginnings of a secret, in bytes, say nothing.
const MIN_BEGUN: usize = 4;

/// A secret as it may be met: whole, line by line (a log is shown and cut by lines), and each of these as
/// it stands inside of JSON.
fn forms(secret: &str) -> Vec<String> {
    let whole = secret.trim();
    let mut forms = vec![whole.to_owned()];
    if whole.contains('\n') {
        forms.extend(whole.lines().map(|line| line.trim().to_owned()));
    }
    // JSON may hold JSON, as the arguments of a tool call do, in the reply of an agent.
    for form in forms.clone() {
        let mut form = form;
        for _ in 0..3 {
            let quoted = Value::from(form.as_str()).to_string();
            quoted[1..quoted.len() - 1].clone_into(&mut form);
            forms.push(form.clone());
        }
    }
    forms
}

/// Whether a key names a secret: one of the words stands in it whole. `max_tokens` does not.
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
                | "credential"
                | "credentials"
        )
    })
}

/// Whether a member of a configuration holds a secret. `api_key_env: MY_KEY` names the variable that holds it, which
/// whoever scores a run again with the same judge needs to know.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expect: &str) {
        let redactor = Redactor::new(
            &["corp-[0-9]+".into()],
            &["hunter2hunter2".into(), "short".into()],
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
        check("\x1b[31msk-abc12345\x1b[0m", "[REDACTED]\x1b[0m");
        check(r#"{"a": "\nsk-abc12345"}"#, r#"{"a": "[REDACTED]"}"#);
        check("MY_sk-abc12345", "MY[REDACTED]");
        check("sk-proj-AbCdEfGhIjKlMnOpQrStUvWx", "[REDACTED]");
        check(
            "aws_secret_access_key = wJalrXUtnFEMIKMDENGbPxRfiCYEXAMPLEKEY",
            "[REDACTED]",
        );
        check("said hunter2hun…", "said [REDACTED]…");
        check("said hunter…, hun…", "said hunter…, hun…");
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
    fn a_variable_is_named_and_no_value() {
        let mut config = json!({"api_key_env": "MY_KEY_2", "token_env": "s3cr3t", "key_env": "AKIAIOSFODNN7EXAMPLE",
            "api_key": "MY_KEY"});
        Redactor::default().config(&mut config);
        assert_eq!(
            config,
            json!({"api_key_env": "MY_KEY_2", "token_env": REDACTED, "key_env": REDACTED, "api_key": REDACTED})
        );
    }

    #[test]
    fn a_secret_is_met_in_lines_and_inside_of_json() {
        let secret = "-----BEGIN KEY-----\nMIIE\"abcdefg\nend\n".to_owned();
        let redactor = Redactor::new(&[], std::slice::from_ref(&secret)).unwrap();
        let clean = |text: &str| redactor.text(text, &mut 0).into_owned();
        assert_eq!(clean(&secret), "[REDACTED]\n");
        assert_eq!(clean("MIIE\"abcdefg"), REDACTED);
        assert_eq!(clean(&json!(secret).to_string()), "\"[REDACTED]\\n\"");
        assert_eq!(clean("the end"), "the end");
    }

    #[test]
    fn a_bad_pattern_is_named() {
        let error = Redactor::new(&["a(".into()], &[]).unwrap_err();
        assert!(error.message().contains("`a(`"), "{error}");
        // A pattern that matches the empty string blanks nothing.
        let lax = Redactor::new(&["x*".into()], &[]).unwrap();
        assert_eq!(lax.text("abc", &mut 0), "abc");
    }
}
