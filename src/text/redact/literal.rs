//! Keys that stand in a configuration themselves: in the query of an address, in a header, in a command.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use super::names::{holds_secret, is_secret_name, is_secret_parameter};
use super::{MIN_SECRET, REDACTED};

/// `?name=value`, and the password before a host.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    let query = r#"(?P<start>[?&;#])(?P<name>[A-Za-z0-9_.%-]+)=(?P<value>[^&;#\s"'`<>]+)"#;
    let password =
        r#"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://[^/\s"'`<>@:]*:)(?P<password>[^/\s"'`<>@]+)@"#;
    Regex::new(&format!("{query}|{password}")).expect("the pattern is constant")
});

/// `--name value` and `--name=value`; `NAME=value`; `name: value`, as a header in quotes.
static COMMAND: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    let value = r#"(?P<value>"[^"]*"|'[^']*'|[^\s"';|&]+)"#;
    let start = r#"(?:^|[\s;&|("'])"#;
    let option =
        format!(r"(?P<before>{start}(?P<name>--?[A-Za-z][A-Za-z0-9_.-]*)(?:=|\s+)){value}");
    let variable = format!(r"(?P<before>{start}(?P<name>[A-Za-z_][A-Za-z0-9_]*)=){value}");
    let header = r#"(?P<before>(?P<name>[A-Za-z][A-Za-z0-9-]*):\s+)(?P<value>[^"'\n]+)"#;
    let compile = |pattern: &str| Regex::new(pattern).expect("the patterns are constant");
    [option.as_str(), &variable, header].map(compile)
});

/// Headers that hold no keys.
const PLAIN_HEADERS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "anthropic-version",
    "api-version",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "http-referer",
    "referer",
    "user-agent",
];

/// Words before a key.
const SCHEMES: [&str; 5] = ["basic", "bearer", "digest", "key", "token"];

/// A text without the keys in its addresses.
pub(crate) fn addresses(text: &str) -> Cow<'_, str> {
    if !text.contains(['?', '&', ';', '#', '@']) {
        return Cow::Borrowed(text);
    }
    ADDRESS.replace_all(text, |found: &Captures<'_>| {
        let named = (found.name("start"), found.name("name"), found.name("value"));
        if let (Some(start), Some(name), Some(value)) = named {
            return if is_secret_parameter(name.as_str()) && is_literal(value.as_str()) {
                format!("{}{}={REDACTED}", start.as_str(), name.as_str())
            } else {
                found[0].to_owned()
            };
        }
        let scheme = found.name("scheme").map_or("", |scheme| scheme.as_str());
        format!("{scheme}{REDACTED}@")
    })
}

/// A line of a shell without the keys in it.
fn line(text: &str) -> Cow<'_, str> {
    let mut line = Cow::Borrowed(text);
    for pattern in &*COMMAND {
        let clean = pattern.replace_all(&line, |found: &Captures<'_>| {
            let bare = found["value"].trim_matches(['"', '\'']);
            if holds_secret(&found["name"]) && is_literal(bare) {
                format!(
                    "{}{}",
                    &found["before"],
                    found["value"].replace(bare, REDACTED)
                )
            } else {
                found[0].to_owned()
            }
        });
        if clean != line {
            line = Cow::Owned(clean.into_owned());
        }
    }
    line
}

/// A program's arguments without the keys in them.
pub(super) fn command(arguments: &mut [Value]) {
    let mut is_key = false;
    for argument in arguments {
        let Value::String(text) = argument else {
            continue;
        };
        let names_key = text.starts_with('-') && !text.contains('=') && holds_secret(text);
        if is_key && is_literal(text) && !text.starts_with("--") {
            REDACTED.clone_into(text);
        } else if let Cow::Owned(clean) = line(text) {
            *text = clean;
        }
        is_key = names_key;
    }
}

/// The keys that stand in a program's arguments.
pub(crate) fn keys_of_command(arguments: &[String]) -> Vec<String> {
    let mut clean: Vec<Value> = arguments.iter().map(|text| text.as_str().into()).collect();
    command(&mut clean);
    let pairs = arguments.iter().zip(&clean);
    let keys = pairs.flat_map(|(text, clean)| taken(text, clean.as_str().unwrap_or_default()));
    keys.collect()
}

/// What was blanked of a text.
fn taken(text: &str, clean: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut rest = text;
    let mut parts = clean.split(REDACTED);
    rest = rest
        .strip_prefix(parts.next().unwrap_or_default())
        .unwrap_or_default();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let end = if is_last {
            rest.len().checked_sub(part.len())
        } else {
            rest.find(part)
        };
        let Some(end) = end.filter(|end| rest.is_char_boundary(*end)) else {
            break;
        };
        keys.push(rest[..end].to_owned());
        rest = rest.get(end + part.len()..).unwrap_or_default();
    }
    keys
}

/// A line of a shell in a configuration.
pub(super) fn shell(text: &mut String) {
    if let Cow::Owned(clean) = line(text) {
        *text = clean;
    }
}

/// A header's value without what stands there literally and may be a key.
pub(super) fn header(name: &str, value: &mut String) {
    if PLAIN_HEADERS.contains(&&*name.to_ascii_lowercase()) {
        return;
    }
    let mut literal = String::new();
    let mut rest = value.as_str();
    while let Some((before, after)) = rest.split_once("${") {
        literal.push_str(before);
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    literal.push_str(rest);
    let is_scheme = |word: &&str| SCHEMES.contains(&&*word.to_ascii_lowercase());
    let words = literal.split_whitespace().filter(|word| !is_scheme(word));
    let length: usize = words.map(str::len).sum();
    if length >= MIN_SECRET || (length > 0 && is_secret_name(name)) {
        REDACTED.clone_into(value);
    }
}

/// Whether a value is one, and no variable or placeholder that stands for one.
fn is_literal(value: &str) -> bool {
    !value.is_empty() && !value.starts_with(['$', '{']) && value != REDACTED
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_lose_keys_and_passwords() {
        let check = |text: &str, expect: &str| assert_eq!(addresses(text), expect);
        check(
            "see https://h/a?sig=ab%2Fc&v=1&code=x&token=y#access_token=z",
            "see https://h/a?sig=[REDACTED]&v=1&code=[REDACTED]&token=[REDACTED]#access_token=[REDACTED]",
        );
        check(
            "postgres://me:hunter2@db/x",
            "postgres://me:[REDACTED]@db/x",
        );
        check(
            "https://h/?max_tokens=5&encode=1",
            "https://h/?max_tokens=5&encode=1",
        );
        check(
            "https://h/?key=${MY_KEY}&token={id}",
            "https://h/?key=${MY_KEY}&token={id}",
        );
        check("a; b & c @ d", "a; b & c @ d");
    }

    #[test]
    fn commands_lose_keys() {
        let check = |given: Value, expect: Value| {
            let mut given = given;
            command(given.as_array_mut().unwrap());
            assert_eq!(given, expect);
        };
        check(
            json!(["agent", "--api-key", "abc", "--max-tokens", "5"]),
            json!(["agent", "--api-key", "[REDACTED]", "--max-tokens", "5"]),
        );
        check(
            json!([
                "agent",
                "--token=abc",
                "--token-file",
                "f",
                "--api-key",
                "$KEY"
            ]),
            json!([
                "agent",
                "--token=[REDACTED]",
                "--token-file",
                "f",
                "--api-key",
                "$KEY"
            ]),
        );
        check(
            json!([
                "sh",
                "-c",
                "API_KEY='a b' curl -H \"X-Api-Key: abc\" --password x; ls"
            ]),
            json!([
                "sh",
                "-c",
                "API_KEY='[REDACTED]' curl -H \"X-Api-Key: [REDACTED]\" --password [REDACTED]; ls"
            ]),
        );
        check(
            json!(["sh", "-c", "curl --token $TOKEN --keyboard x"]),
            json!(["sh", "-c", "curl --token $TOKEN --keyboard x"]),
        );
        let arguments = [
            "a",
            "--api-key",
            "k1",
            "--token=k2",
            "KEY=k3 b --secret 'k4' c",
        ];
        let keys = keys_of_command(&arguments.map(str::to_owned));
        assert_eq!(keys, ["k1", "k2", "k3", "k4"]);
    }

    #[test]
    fn headers_keep_variables_and_short_words() {
        let check = |name: &str, value: &str, expect: &str| {
            let mut value = value.to_owned();
            header(name, &mut value);
            assert_eq!(value, expect, "{name}");
        };
        check("Authorization", "Bearer ${MY_KEY}", "Bearer ${MY_KEY}");
        check("Authorization", "Bearer abc", REDACTED);
        check("X-Custom", "0123456789", REDACTED);
        check("X-Custom", "p-${MY_KEY}-0123456789", REDACTED);
        check("X-Team", "evals", "evals");
        check("Content-Type", "application/json", "application/json");
    }
}
