//! `KeyRules`: which requests are equal, and how two of them differ.
//!
//! The key is a hash of the method, the path, and the body as canonical JSON: members sorted, numbers as written, without
//! what `ignore` names, and with texts redacted and rewritten. Headers are no part of it, nor are secret parameters of the
//! query. Redaction comes first, for an answer that held a secret is replayed without it, and agents repeat answers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use regex::Regex;
use serde_json::Value;
use serde_json::value::RawValue;

use super::RecordedCalls;
use crate::system::process::excerpt::at_most;
use crate::text::hash::Hasher;
use crate::text::redact::{Redactor, is_secret_parameter};

/// Deeper JSON is compared byte by byte.
const DEPTH: usize = 100;
/// The longest part of a value in a message.
const SHOWN: usize = 60;
/// The most differences in a message.
const DIFFERENCES: usize = 4;

/// What is left out of a request, or replaced in it, before it is compared.
#[derive(Debug)]
pub(super) struct KeyRules {
    ignore: Vec<String>,
    rewrite: Vec<(Regex, String)>,
    redactor: Redactor,
}

impl KeyRules {
    /// The rules of checked settings.
    pub(super) fn of(calls: &RecordedCalls, redactor: Redactor) -> Self {
        let rewrite = calls.rewrite.iter();
        let rewrite = rewrite.filter_map(|[pattern, with]| {
            let pattern = Regex::new(pattern).ok()?;
            Some((pattern, with.clone()))
        });
        Self {
            ignore: calls.ignore.clone(),
            rewrite: rewrite.collect(),
            redactor,
        }
    }

    /// The key of a request. `path` begins with the provider and has the query; `boundary` separates the parts of a form,
    /// by a text that clients draw at random.
    pub(super) fn key(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
        boundary: Option<&str>,
    ) -> String {
        let body = match boundary {
            Some(boundary) => Cow::Owned(without(body, boundary.as_bytes())),
            None => Cow::Borrowed(body),
        };
        let hasher = Hasher::default().part(method);
        let hasher = hasher.part(self.rewritten(&without_secrets(path, "")).as_bytes());
        hasher.part(self.canonical(&body)).hex()
    }

    /// The body of a request in the form that is compared.
    pub(super) fn canonical(&self, body: &[u8]) -> Vec<u8> {
        let mut text = String::new();
        let json = serde_json::from_slice::<&RawValue>(body).ok();
        let is_written =
            json.is_some_and(|json| self.write(json, &mut String::new(), 0, &mut text).is_some());
        if is_written {
            return text.into_bytes();
        }
        match std::str::from_utf8(body) {
            Ok(text) => self.rewritten(text).into_owned().into_bytes(),
            Err(_) => body.to_vec(),
        }
    }

    /// Adds a value; `None` if it is too deep.
    fn write(
        &self,
        json: &RawValue,
        at: &mut String,
        depth: usize,
        out: &mut String,
    ) -> Option<()> {
        if depth > DEPTH {
            return None;
        }
        let text = json.get().trim();
        let length = at.len();
        match text.as_bytes().first()? {
            b'{' => {
                let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
                let mut separator = '{';
                for (name, value) in members {
                    let _ = write!(at, "/{}", name.replace('~', "~0").replace('/', "~1"));
                    if !self.ignore.contains(at) {
                        let _ = write!(out, "{separator}{}:", Value::from(name));
                        separator = ',';
                        self.write(value, at, depth + 1, out)?;
                    }
                    at.truncate(length);
                }
                out.push_str(if separator == '{' { "{}" } else { "}" });
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                let mut separator = '[';
                for (number, value) in items.into_iter().enumerate() {
                    let _ = write!(at, "/{number}");
                    if !self.ignore.contains(at) {
                        out.push(separator);
                        separator = ',';
                        self.write(value, at, depth + 1, out)?;
                    }
                    at.truncate(length);
                }
                out.push_str(if separator == '[' { "[]" } else { "]" });
            }
            b'"' => {
                let value: String = serde_json::from_str(text).ok()?;
                let _ = write!(out, "{}", Value::from(&*self.rewritten(&value)));
            }
            _ => out.push_str(text),
        }
        Some(())
    }

    fn rewritten<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let rewrite = self.rewrite.iter();
        let clean = self.redactor.text(text, &mut 0);
        rewrite.fold(clean, |text, (pattern, with)| {
            match pattern.replace_all(&text, &**with) {
                Cow::Owned(changed) => Cow::Owned(changed),
                Cow::Borrowed(_) => text,
            }
        })
    }

    /// Where two bodies differ: how often, and the first places as text.
    pub(super) fn differences(&self, recorded: &[u8], now: &[u8]) -> (usize, String) {
        let read = |body: &[u8]| {
            let body = self.canonical(body);
            serde_json::from_slice(&body)
                .unwrap_or_else(|_| String::from_utf8_lossy(&body).into_owned().into())
        };
        let mut found = Vec::new();
        differ(&read(recorded), &read(now), &mut String::new(), &mut found);
        let more = found.len().saturating_sub(DIFFERENCES);
        let mut text = found[..found.len() - more].join(", ");
        if more > 0 {
            let _ = write!(text, " and {more} more");
        }
        (found.len(), text)
    }
}

/// A path whose secret parameters have another value; without them if that is empty.
pub(super) fn without_secrets(path: &str, with: &str) -> String {
    let Some((path, query)) = path.split_once('?') else {
        return path.to_owned();
    };
    let pairs = query.split('&').filter_map(|pair| {
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        if !is_secret_parameter(name) {
            return Some(Cow::Borrowed(pair));
        }
        (!with.is_empty()).then(|| format!("{name}={with}").into())
    });
    match pairs.collect::<Vec<_>>().join("&") {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// The bytes without each occurrence of a text.
fn without(bytes: &[u8], text: &[u8]) -> Vec<u8> {
    let mut rest = bytes;
    let mut left = Vec::with_capacity(bytes.len());
    while let Some(place) = memchr::memmem::find(rest, text).filter(|_| !text.is_empty()) {
        left.extend_from_slice(&rest[..place]);
        rest = &rest[place + text.len()..];
    }
    left.extend_from_slice(rest);
    left
}

/// Collects the places at which two values differ, by JSON pointer.
fn differ(recorded: &Value, now: &Value, at: &mut String, found: &mut Vec<String>) {
    let length = at.len();
    let pairs: Vec<(String, Option<&Value>, Option<&Value>)> = match (recorded, now) {
        _ if recorded == now => return,
        (Value::Object(recorded), Value::Object(now)) => {
            let added = now.keys().filter(|name| !recorded.contains_key(*name));
            let names = recorded.keys().chain(added);
            names
                .map(|name| {
                    let escaped = name.replace('~', "~0").replace('/', "~1");
                    (escaped, recorded.get(name), now.get(name))
                })
                .collect()
        }
        (Value::Array(recorded), Value::Array(now)) => (0..recorded.len().max(now.len()))
            .map(|item| (item.to_string(), recorded.get(item), now.get(item)))
            .collect(),
        _ => {
            found.push(difference(at, Some(recorded), Some(now)));
            return;
        }
    };
    for (step, recorded, now) in pairs {
        at.push('/');
        at.push_str(&step);
        match (recorded, now) {
            (Some(recorded), Some(now)) => differ(recorded, now, at, found),
            (recorded, now) => found.push(difference(at, recorded, now)),
        }
        at.truncate(length);
    }
}

/// One difference: texts from a little before the place at which they part.
fn difference(at: &str, recorded: Option<&Value>, now: Option<&Value>) -> String {
    let [recorded, now] = [recorded, now].map(|value| match value {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(value) => Some(value.to_string()),
    });
    let common = match (&recorded, &now) {
        (Some(one), Some(other)) => {
            let pairs = one.char_indices().zip(other.chars());
            let mut common = pairs.take_while(|((_, one), other)| one == other);
            common.by_ref().last().map_or(0, |((at, _), _)| at)
        }
        _ => 0,
    };
    let shown = |text: Option<String>| match text {
        None => "nothing".to_owned(),
        Some(text) => {
            let start = text.floor_char_boundary(common.saturating_sub(SHOWN / 3));
            let ellipsis = if start > 0 { "…" } else { "" };
            let rest = at_most(text[start..].replace(['\n', '`'], " "), SHOWN);
            format!("`{ellipsis}{rest}`")
        }
    };
    let at = if at.is_empty() { "/" } else { at };
    format!("`{at}` (recorded {}, now {})", shown(recorded), shown(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> KeyRules {
        KeyRules::of(
            &RecordedCalls::new()
                .ignore("/metadata")
                .ignore("/messages/0/id")
                .rewrite(r"\d{4}-\d\d-\d\d", "DATE"),
            Redactor::new(&[], &["a-secret-value".to_owned()]).unwrap(),
        )
    }

    fn key(path: &str, body: &str) -> String {
        rules().key("POST", path, body.as_bytes(), None)
    }

    #[test]
    fn equal_requests_have_one_key() {
        let check = |one: &str, other: &str, are_equal: bool| {
            assert_eq!(
                key("/p", one) == key("/p", other),
                are_equal,
                "{one} {other}"
            );
        };
        check(
            r#"{"a":1,"b":[1,{"c":2,"d":3}]}"#,
            r#" {"b": [1, {"d":3,"c":2}], "a":1}"#,
            true,
        );
        check(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false);
        check(r#"{"a":1}"#, r#"{"a":1.0}"#, false);
        check(
            r#"{"a":100000000000000000001}"#,
            r#"{"a":100000000000000000002}"#,
            false,
        );
        check(r#"{"a":"\u0041"}"#, r#"{"a":"A"}"#, true);
        check(r#"{"a":1,"metadata":{"x":1}}"#, r#"{"a":1}"#, true);
        check(
            r#"{"messages":[{"id":"x","t":1}]}"#,
            r#"{"messages":[{"id":"y","t":1}]}"#,
            true,
        );
        check(r#"{"b":{"metadata":1}}"#, r#"{"b":{"metadata":2}}"#, false);
        check(r#"{"a":"on 2026-01-02"}"#, r#"{"a":"on 2027-11-12"}"#, true);
        check("on 2026-01-02", "on 2027-11-12", true);
        check(
            r#"{"a":"is a-secret-value"}"#,
            r#"{"a":"is [REDACTED]"}"#,
            true,
        );
        check("", "{}", false);
        let deep = |end: &str| format!("{}{end}{}", "[".repeat(5000), "]".repeat(5000));
        check(&deep("1"), &deep("2"), false);
    }

    #[test]
    fn secrets_of_a_query_and_boundaries_of_forms_are_no_part_of_it() {
        assert_eq!(key("/p?alt=sse&key=k1", ""), key("/p?key=k2&alt=sse", ""));
        assert_ne!(key("/p?alt=sse", ""), key("/p", ""));
        let form = |boundary: &str| {
            let body = format!("--{boundary}\r\nfile\r\n--{boundary}--");
            rules().key("POST", "/p", body.as_bytes(), Some(boundary))
        };
        assert_eq!(form("a1"), form("b22"));
        assert_eq!(without_secrets("/p?key=k&a=1", "X"), "/p?key=X&a=1");
    }

    #[test]
    fn differences_are_named_by_pointer() {
        let check = |recorded: &str, now: &str, expect: &str| {
            let (_, found) = rules().differences(recorded.as_bytes(), now.as_bytes());
            assert_eq!(found, expect);
        };
        check(
            r#"{"a/b":[1,{"c":"one"}],"d":1}"#,
            r#"{"a/b":[1,{"c":"two"}],"e":null}"#,
            "`/a~1b/1/c` (recorded `one`, now `two`), `/d` (recorded `1`, now nothing), `/e` (recorded nothing, now `null`)",
        );
        let long = |end: &str| format!("{{\"t\":\"{}{end}\"}}", "word ".repeat(40));
        check(
            &long("x"),
            &long("y"),
            "`/t` (recorded `… word word word word x`, now `… word word word word y`)",
        );
        check("plain", "other", "`/` (recorded `plain`, now `other`)");
    }
}
