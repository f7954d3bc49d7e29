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
static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("`([^`]*)`").expect("the pattern is constant"));

/// A mistake that serde found in the file.
pub(super) fn explain(path: &Path, text: &str, error: &serde_yaml::Error) -> Error {
    let message = error.to_string();
    // serde_yaml ends its messages with the place, which we put first.
    let bare = message
        .rfind(" at line ")
        .map_or(message.as_str(), |end| &message[..end]);
    let place = if let Some(line) = gate_line(text, bare) {
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

fn rephrase(message: &str) -> Error {
    let Some(found) = UNKNOWN.captures(message) else {
        let error = Error::usage(message.replace("missing field", "missing key"));
        return if message.contains("duplicate field") {
            Error::usage(message.replace("duplicate field", "duplicate key"))
        } else {
            error
        };
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

/// serde places a bad gate at the start of the list; the gate's text leads to its own line.
fn gate_line(text: &str, message: &str) -> Option<usize> {
    let gate = message.strip_prefix("gates")?.split_once("gate `")?.1;
    let gate = gate.rsplit_once('`').map_or(gate, |(gate, _)| gate);
    let gate = gate.split('`').next()?;
    line_of(text, gate)
}

/// The line on which `needle` stands first, from 1. Comments do not count.
pub(super) fn line_of(text: &str, needle: &str) -> Option<usize> {
    if needle.is_empty() {
        return None;
    }
    let holds = |line: &str| {
        line.split(" #")
            .next()
            .is_some_and(|line| line.contains(needle))
    };
    let mut lines = text.lines();
    lines
        .position(|line| !line.trim_start().starts_with('#') && holds(line))
        .map(|line| line + 1)
}
