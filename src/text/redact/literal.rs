//! Finds keys written literally in a configuration: in the query of an address, in a header, in a command.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use super::{MIN_SECRET, REDACTED};
use super::{holds_secret, is_secret_name, is_secret_parameter};

/// Matches `?name=value`, and the password before a host.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    let query = r#"(?P<start>[?&;#])(?P<name>[A-Za-z0-9_.%-]+)=(?P<value>[^&;#\s"'`<>]+)"#;
    let password =
        r#"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://[^/\s"'`<>@:]*:)(?P<password>[^/\s"'`<>@]+)@"#;
    Regex::new(&format!("{query}|{password}")).expect("the pattern is constant")
});

/// Match `--name value` and `--name=value`; `NAME=value`; `name: value`, as a header in quotes; `"name": "value"`, as
/// in JSON, also in JSON inside a quoted string.
static COMMAND: LazyLock<[Regex; 7]> = LazyLock::new(|| {
    let value = r#"(?P<value>"[^"]*"|'[^']*'|[^\s"';|&]+)"#;
    let start = r#"(?:^|[\s;&|("'])"#;
    let option =
        format!(r"(?P<before>{start}(?P<name>--?[A-Za-z][A-Za-z0-9_.-]*)(?:=|\s+)){value}");
    let variable = format!(r"(?P<before>{start}(?P<name>[A-Za-z_][A-Za-z0-9_]*)=){value}");
    let header = r#"(?P<before>(?P<name>[A-Za-z][A-Za-z0-9-]*):\s+)(?P<value>[^"'\n]+)"#;
    let name = r"(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)";
    let member = format!(r#"(?P<before>"{name}"\s*:\s*")(?P<value>(?:[^"\\]|\\.)+)"#);
    let number = format!(r#"(?P<before>"{name}"\s*:\s*)(?P<value>-?[0-9]{{{MIN_SECRET},}})"#);
    let quoted = format!(r#"(?P<before>\\+"{name}\\+"\s*:\s*\\+")(?P<value>[^"\\]+)"#);
    let single = format!(r"(?P<before>'{name}'\s*:\s*')(?P<value>(?:[^'\\]|\\.)+)");
    let compile = |pattern: &str| Regex::new(pattern).expect("the patterns are constant");
    [
        option.as_str(),
        &variable,
        header,
        &member,
        &number,
        &quoted,
        &single,
    ]
    .map(compile)
});

/// Matches `-u user:password`, as for curl and similar programs.
static USER: LazyLock<Regex> = LazyLock::new(|| {
    let option = r#"(?P<before>(?:^|[\s;&|("'])(?:(?:-u|-U|--user|--proxy-user)(?:=|\s+)|(?P<close>-u))["']?)"#;
    let value = r#"(?P<value>[^\s"':=/]+:[^\s"';|&]*)"#;
    Regex::new(&format!("{option}{value}")).expect("the pattern is constant")
});

/// Headers that never hold keys.
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

/// Authentication schemes that may precede a key.
const SCHEMES: [&str; 5] = ["basic", "bearer", "digest", "key", "token"];

/// Blanks the keys in the addresses of a text.
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

/// Blanks the keys in a shell command line.
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
    let clean = USER.replace_all(&line, |found: &Captures<'_>| {
        let value = &found["value"];
        let has_digit = value.contains(|c: char| c.is_ascii_digit());
        if is_user(value) && (found.name("close").is_none() || has_digit) {
            format!("{}{REDACTED}", &found["before"])
        } else {
            found[0].to_owned()
        }
    });
    match clean {
        Cow::Owned(clean) => Cow::Owned(clean),
        Cow::Borrowed(_) => line,
    }
}

/// Whether a text is a user and a password: not an address, variables, or numeric ids of a user and a group.
fn is_user(text: &str) -> bool {
    let Some((name, password)) = text.split_once(':') else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_address = name.contains(['/', '=']) || password.starts_with(['/', '\\']);
    let is_variable = password.starts_with(['$', '{']);
    let are_ids = is_number(name) && is_number(password);
    is_literal(name) && !(is_address || is_variable || are_ids)
}

/// Blanks the keys in a program's arguments.
pub(super) fn command(arguments: &mut [Value]) {
    let (mut follows_key, mut is_login) = (false, false);
    for argument in arguments {
        let Value::String(text) = argument else {
            continue;
        };
        let names_login = ["-u", "-U", "--user", "--proxy-user"].contains(&text.as_str());
        let names_key = text.starts_with('-') && !text.contains('=') && holds_secret(text);
        let is_key = follows_key && is_literal(text) && !text.starts_with("--");
        if is_key || is_login && is_user(text) {
            REDACTED.clone_into(text);
        } else if let Cow::Owned(clean) = line(text) {
            *text = clean;
        }
        (follows_key, is_login) = (names_key, names_login);
    }
}

/// The keys in a program's arguments, also in the forms in which a program may print them.
pub(crate) fn keys_of_command(arguments: &[String]) -> Vec<String> {
    let mut clean: Vec<Value> = arguments.iter().map(|text| text.as_str().into()).collect();
    command(&mut clean);
    let pairs = arguments.iter().zip(&clean);
    let mut keys: Vec<String> = pairs
        .flat_map(|(text, clean)| taken(text, &addresses(clean.as_str().unwrap_or_default())))
        .collect();
    let read: Vec<String> = keys.iter().flat_map(|key| readings(key)).collect();
    for key in read {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// A key without its escapes or prefix: `a%2Fb`, `a\"b`, `Bearer abc`, `user:abc`.
fn readings(key: &str) -> Vec<String> {
    let mut readings = Vec::new();
    super::views::each(key, &mut |view| {
        readings.extend(String::from_utf8(view.bytes.clone()));
    });
    if let Some((scheme, word)) = key.split_once(' ')
        && SCHEMES.contains(&&*scheme.to_ascii_lowercase())
    {
        readings.push(word.trim().to_owned());
    }
    if let Some((name, password)) = key.split_once(':').filter(|_| is_user(key)) {
        let secret = if password.is_empty() { name } else { password };
        readings.push(secret.to_owned());
    }
    readings
}

/// The parts of a text that were blanked.
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

/// Blanks the keys in a shell command line of a configuration.
pub(super) fn shell(text: &mut String) {
    if let Cow::Owned(clean) = line(text) {
        *text = clean;
    }
}

/// Blanks the literal parts of a header's value that may be keys.
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

/// Whether a value is literal: not a variable or a placeholder.
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
    }

    #[test]
    fn commands_lose_keys_in_json_and_of_users() {
        let check = |given: Value, expect: Value| {
            let mut given = given;
            command(given.as_array_mut().unwrap());
            assert_eq!(given, expect);
        };
        let body = r#"{"api_key": "Ex1ra\"B0dy", "max_tokens": 5, "n": {"password":"p w"}, "pin_token":12345678}"#;
        let clean = r#"{"api_key": "[REDACTED]", "max_tokens": 5, "n": {"password":"[REDACTED]"}, "pin_token":[REDACTED]}"#;
        check(
            json!([
                "curl",
                "--data",
                body,
                "-u",
                "user:Pr0xyPw0rd88",
                "--user",
                "me:x"
            ]),
            json!(["curl", "--data", clean, "-u", REDACTED, "--user", REDACTED]),
        );
        check(
            json!([
                "sh",
                "-c",
                r#"curl -d "{\"token\": \"abc\"}" -u 'me:pass' --user=a:b -uab:c1 | jq"#
            ]),
            json!([
                "sh",
                "-c",
                r#"curl -d "{\"token\": \"[REDACTED]\"}" -u '[REDACTED]' --user=[REDACTED] -u[REDACTED] | jq"#
            ]),
        );
        check(
            json!([
                "python",
                "-c",
                "ask({'api_key': 'abc', 'model': 'm'})",
                "-u",
                "sk_live:"
            ]),
            json!([
                "python",
                "-c",
                "ask({'api_key': '[REDACTED]', 'model': 'm'})",
                "-u",
                REDACTED
            ]),
        );
        let plain = json!([
            "docker",
            "-u",
            "1000:1000",
            "--user",
            "me",
            "-u",
            "$ME:$PASS",
            "-u",
            "http://h/x",
            "-u",
            "me:$PASS",
            "python -u a.py; sort -u x/y -unix:b",
            "{\"key_file\": \"f\", \"api_key\": \"$KEY\", \"key\": 5}"
        ]);
        check(plain.clone(), plain);
        let arguments = [
            "curl",
            "-u",
            "user:Pr0xyPw0rd88",
            "https://h/?X-Amz-Signature=ab%2Fcd&v=1",
            "-H",
            "Authorization: Bearer abc",
            r#"{"api_key": "a\"b"}"#,
        ];
        let keys = keys_of_command(&arguments.map(str::to_owned));
        for key in ["Pr0xyPw0rd88", "ab%2Fcd", "ab/cd", "abc", "a\"b"] {
            assert!(keys.iter().any(|found| found == key), "{key}: {keys:?}");
        }
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
