//! From serde's messages to ours: file, line, key, and what was probably meant.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::error::{Error, nearest};

/// Such as: agent: unknown field `comand`, expected one of `command`, `input`
static UNKNOWN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "^(?:(?P<path>[^ :`]+): )?unknown (?:field|variant) `(?P<given>[^`]*)`,? (?P<rest>.*)$",
    )
    .expect("the pattern is constant")
});
/// Such as: limits.concurrency: invalid type: string "many", expected usize
static WRONG_TYPE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "^(?P<place>(?:[^ :`]+: )?)invalid (?:type|value): (?P<given>.*), expected (?P<expected>.*)$",
    )
    .expect("the pattern is constant")
});
static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("`([^`]*)`").expect("the pattern is constant"));

/// A mistake that serde found in the file.
pub(super) fn explain(path: &Path, text: &str, error: &serde_yaml::Error) -> Error {
    let message = error.to_string();
    // serde_yaml ends its messages with the place, which we put first.
    let bare = message
        .rfind(" at line ")
        .map_or(message.as_str(), |end| &message[..end]);
    let place = if let Some(line) = gate_line(text, bare).or_else(|| second_line(text, bare)) {
        format!("{}:{line}", path.display())
    } else if let Some(place) = error.location() {
        format!("{}:{}:{}", path.display(), place.line(), place.column())
    } else {
        path.display().to_string()
    };
    rephrase(bare).at(place)
}

/// A mistake that serde found after overrides were applied.
pub(super) fn explain_override(path: &Path, given: &str, message: &str) -> Error {
    rephrase(message).at(format!("{} with `{given}`", path.display()))
}

/// What a mistake in the YAML itself, found by nobody's rule, is answered with.
const CHECK_YAML: &str = "check the indentation, quotes and brackets there";

/// A value of another type: what is needed, in words, and an example.
fn wrong_type(message: &str) -> Option<Error> {
    let found = WRONG_TYPE.captures(message)?;
    let (needed, example) = match &found["expected"] {
        "usize" | "u64" | "u32" | "u16" | "i64" => ("a whole number", "such as `4`"),
        "f64" => ("a number", "such as `0.5`"),
        "a boolean" => ("a boolean", "`true` or `false`"),
        "a sequence" => ("a list", "such as `[a, b]`"),
        "a string" | "path string" => ("a text", "in quotes if need be"),
        other if other == "a map" || other.starts_with("struct ") => {
            ("a map", "such as `{ key: value }`")
        }
        other => (other, "as the message says"),
    };
    let (place, given) = (&found["place"], &found["given"]);
    let message = format!("{place}{needed} is needed, found {given}");
    Some(Error::usage(message).hint(format!("write {needed}, {example}")))
}

fn rephrase(message: &str) -> Error {
    // An error of ours that went through serde.
    if let Some((message, hint)) = message.split_once("\n\nhint: ") {
        return Error::usage(message).hint(hint);
    }
    let Some(found) = UNKNOWN.captures(message) else {
        return rephrase_other(message);
    };
    let (given, rest) = (&found["given"], &found["rest"]);
    let legal: Vec<&str> = NAME
        .captures_iter(rest)
        .filter_map(|name| name.get(1))
        .map(|name| name.as_str())
        .collect();
    let is_value = message.contains("unknown variant");
    let what = if is_value { "value" } else { "key" };
    let place = found.name("path").map_or(String::new(), |path| {
        if is_value {
            format!("{}: ", path.as_str())
        } else {
            format!("{}.", path.as_str())
        }
    });
    let named = if is_value {
        format!("{place}unknown {what} `{given}`")
    } else {
        format!("unknown {what} `{place}{given}`")
    };
    let list = legal.join("`, `");
    let error = Error::usage(named);
    match nearest(given, legal.iter().copied()) {
        Some(near) => error.hint(format!("did you mean `{near}`? legal {what}s: `{list}`")),
        None => error.hint(format!("legal {what}s: `{list}`")),
    }
}

fn rephrase_other(message: &str) -> Error {
    if let Some(error) = wrong_type(message) {
        return error;
    }
    let named = || NAME.captures(message).map(|name| name[1].to_owned());
    if let Some(key) = named().filter(|_| message.contains("missing field")) {
        let example = match key.as_str() {
            "benchmark" => "benchmark: { type: gaia, path: data.jsonl }",
            "agent" => "agent: { type: command, command: [./agent] }",
            _ => "",
        };
        let hint = if example.is_empty() {
            format!("add the key `{key}`")
        } else {
            format!("add `{example}`")
        };
        return Error::usage(message.replace("missing field", "missing key")).hint(hint);
    }
    if message.contains("duplicate field") {
        return Error::usage(message.replace("duplicate field", "duplicate key"))
            .hint("keep one of the two");
    }
    if message.contains("must be the first key") {
        return Error::usage(message).hint("write `{ type: NAME, … }`, the other keys behind it");
    }
    Error::usage(message).hint(CHECK_YAML)
}

/// serde places a duplicate key at the start of its map; here it is where the key stands again.
fn second_line(text: &str, message: &str) -> Option<usize> {
    let key = &NAME.captures(message.split_once("duplicate field ")?.1)?[1];
    let is_key = |line: &str| {
        line.trim_start()
            .strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(':'))
    };
    let mut lines = text.lines().zip(1..).filter(|(line, _)| is_key(line));
    lines.nth(1).map(|(_, number)| number)
}

/// serde places a bad gate at the start of the list; the gate's text leads to its own line.
fn gate_line(text: &str, message: &str) -> Option<usize> {
    let gate = message.strip_prefix("gates")?.split_once("gate `")?.1;
    let gate = gate.rsplit_once('`').map_or(gate, |(gate, _)| gate);
    let gate = gate.split('`').next()?;
    line_of(text, gate)
}

/// The line on which `needles` stand first, from 1. Of several, one per line, each is looked for from the line
/// of the one before, and the last that is found counts. An empty one stands for the end of a line.
pub(super) fn line_of(text: &str, needles: &str) -> Option<usize> {
    let mut found = None;
    let mut start = 1;
    for needle in needles.lines() {
        if needle.is_empty() {
            start += 1;
            continue;
        }
        found = line_from(text, start, needle).or(found);
        start = found.unwrap_or(start);
    }
    found
}

/// The line, counted from 1 and not before `start`, on which `needle` stands as a word. Comments do not count,
/// nor do quotes that the needle does not have.
fn line_from(text: &str, start: usize, needle: &str) -> Option<usize> {
    if needle.is_empty() {
        return None;
    }
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let whole = |line: &str| {
        line.match_indices(needle).any(|(start, found)| {
            let (before, after) = (&line[..start], &line[start + found.len()..]);
            !(is_word(before.chars().next_back()) && is_word(needle.chars().next())
                || is_word(after.chars().next()) && is_word(needle.chars().next_back()))
        })
    };
    let quotes = ['"', '\''];
    let holds = |line: &str| {
        let line = line.split(" #").next().unwrap_or_default();
        whole(line) || (!needle.contains(quotes) && whole(&line.replace(quotes, "")))
    };
    let mut lines = text.lines().zip(1..).skip(start - 1);
    lines
        .find(|(line, _)| !line.trim_start().starts_with('#') && holds(line))
        .map(|(_, line)| line)
}
