//! Turns serde's messages into ours: file, line, column, key, and what was probably meant.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::broken;
use crate::benchmark::prompt::Prompt;
use crate::data::yaml_places::{Position, YamlPlaces};
use crate::error::{Error, nearest, split_inside};
use crate::text::yaml::YamlError;

/// For example: agent: unknown field `comand`, expected one of `command`, `input`
static UNKNOWN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "^(?:(?P<path>[^ :`]+): )?unknown (?:field|variant) `(?P<given>[^`]*)`,? (?P<rest>.*)$",
    )
    .expect("the pattern is constant")
});
/// For example: limits.concurrency: invalid type: string "many", expected usize
static WRONG_TYPE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "^(?P<place>(?:[^ :`]+: )?)invalid (?:type|value): (?P<given>.*), expected (?P<expected>.*)$",
    )
    .expect("the pattern is constant")
});
/// For example: gates: gate `accuracy`: no operator and threshold
static TRUNCATED_GATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^gates[^ ]*: gate `(?P<gate>[\w@^]+(?:\([^)]*\))?)`: ")
        .expect("the pattern is constant")
});
/// For example: string "accuracy >= 0.5"
static ONE_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^string "(?P<text>[^"']+)"$"#).expect("the pattern is constant")
});
static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("`([^`]*)`").expect("the pattern is constant"));

/// A mistake that serde found in the file.
pub(crate) fn explain(path: &Path, text: &str, error: &YamlError) -> Error {
    let message = error.to_string();
    // The parser ends its messages with the position, which we put first.
    let bare = message
        .rfind(" at line ")
        .map_or(message.as_str(), |end| &message[..end]);
    let (bare, inside) = split_inside(bare);
    let place = place(text, bare, inside, error);
    let error = truncated_gate(bare, text, place).or_else(|| rephrase(bare));
    let error = error.unwrap_or_else(|| broken::error(bare, text, place));
    error.at(format_args!("{}:{place}", path.display()))
}

/// The error for a gate that YAML reduced to its name, as the rest has brackets.
fn truncated_gate(message: &str, text: &str, place: Position) -> Option<Error> {
    let name = TRUNCATED_GATE.captures(message)?;
    let line = text.lines().nth(place.line - 1)?;
    let error = broken::sliced_gate(line)?;
    let begins = format!("`{}[", &name["gate"]);
    error.message().starts_with(&begins).then_some(error)
}

/// The position of a mistake that serde found. serde gives that of the value being read, and for an alias, that of the
/// anchor.
fn place(text: &str, bare: &str, inside: Option<&str>, error: &YamlError) -> Position {
    let given = error.place.map(|(line, column)| Position { line, column });
    let places = YamlPlaces::of(text);
    // The path to the value precedes the message, unless it is the whole spec.
    let mut ends = bare.match_indices(": ");
    let named = ends.find_map(|(end, _)| places.named(&bare[..end]));
    let named = named.unwrap_or_else(|| places.top());
    let Some(given) = given else {
        let found = places.second_document().or_else(|| named.inside(""));
        return found.unwrap_or(Position::START);
    };
    let found = if let Some(inside) = inside {
        named.inside(inside)
    } else if let Some(key) = duplicate(bare) {
        // A mistake in the second value hides its key from the parser.
        let names = names_of(key);
        named.second(&names).or_else(|| {
            let at_top = bare.starts_with("duplicate field");
            at_top.then(|| second_line_of(text, &names)).flatten()
        })
    } else {
        named.alias_of(given)
    };
    found.unwrap_or(given)
}

/// The duplicate key that a message names.
fn duplicate(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("duplicate field `")?;
    rest.split('`').next()
}

/// The second line of a text that begins with one of these keys.
fn second_line_of(text: &str, keys: &[&str]) -> Option<Position> {
    let is_key = |line: &str| {
        let rest = keys.iter().find_map(|key| line.strip_prefix(key));
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    let mut lines = text.lines().zip(1..).filter(|(line, _)| is_key(line));
    let (_, line) = lines.nth(1)?;
    Some(Position { line, column: 1 })
}

/// The alternative names of a key.
fn names_of(key: &str) -> Vec<&str> {
    match key {
        "ground_truth" => vec![key, "target", "targets"],
        _ => vec![key],
    }
}

/// A mistake that serde found after overrides were applied.
pub(super) fn explain_override(place: &str, message: &str) -> Error {
    let (message, _) = split_inside(message);
    rephrase(message)
        .unwrap_or_else(|| Error::usage(message).hint("check the values of the flags"))
        .at(place)
}

/// A value of the wrong type: what is needed, in words, with an example.
fn wrong_type(message: &str) -> Option<Error> {
    let found = WRONG_TYPE.captures(message)?;
    let (needed, example) = match &found["expected"] {
        "usize" | "u64" | "u32" | "u16" | "i64" => ("a whole number", "such as `4`"),
        "f64" => ("a number", "such as `0.5`"),
        "a boolean" => ("a boolean", "`true` or `false`"),
        "a sequence" => ("a list", "such as `[a, b]`"),
        "a string" | "path string" => ("a text", "in quotes if need be"),
        "field identifier" => ("a key that is a word", "such as `name: gaia`"),
        "any valid JSON value" => ("a plain value", "without a `!` before it"),
        other if other == "a map" || other.starts_with("struct ") => {
            ("a map", "such as `{ key: value }`")
        }
        other => (other, "as the message says"),
    };
    let (place, given) = (&found["place"], &found["given"]);
    let message = format!("{place}{needed} is needed, found {given}");
    let text = ONE_TEXT.captures(given);
    Some(Error::usage(message).hint(match text {
        Some(text) if place == "gates: " => {
            format!("write {needed}: `gates: ['{}']`", &text["text"])
        }
        _ => format!("write {needed}, {example}"),
    }))
}

/// The error for a message of serde; `None` for one about the text itself.
fn rephrase(message: &str) -> Option<Error> {
    // An error of ours that went through serde.
    if let Some((message, hint)) = message.split_once("\n\nhint: ") {
        return Some(Error::usage(message).hint(hint));
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
    let mut list = format!("`{}`", legal.join("`, `"));
    if legal == Prompt::PRESETS {
        list += ", or a template: `prompt: { template: \"… {prompt}\" }`";
    }
    let error = Error::usage(named);
    let near = nearest(given, legal.iter().copied());
    let misplaced = match &*place {
        "" => hint(given),
        place if place == "agent." || place.starts_with("agents.") => of_limits(given),
        _ => None,
    };
    if let Some(hint) = misplaced.filter(|_| !is_value) {
        // Perhaps only the plural `s` is missing.
        let is_plural = |near: &&str| near.strip_suffix('s') == Some(given);
        return Some(error.hint(match near.filter(is_plural) {
            Some(near) => format!("did you mean `{near}`? or {hint}"),
            None => hint,
        }));
    }
    Some(match near {
        Some(near) => error.hint(format!("did you mean `{near}`? legal {what}s: {list}")),
        None => error.hint(format!("legal {what}s: {list}")),
    })
}

fn rephrase_other(message: &str) -> Option<Error> {
    if let Some(error) = wrong_type(message) {
        return Some(error);
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
        return Some(Error::usage(message.replace("missing field", "missing key")).hint(hint));
    }
    message.contains("duplicate field").then(|| {
        Error::usage(message.replace("duplicate field", "duplicate key"))
            .hint("keep one of the two")
    })
}

/// Flags of a single run, by the keys written by mistake.
const FLAGS: &[(&str, &str)] = &[
    ("run_id", "--run-id ID"),
    ("resume", "--resume RUN_DIR"),
    ("allow_changed_agent", "--allow-changed-agent"),
    ("failed", "--failed RUN_DIR"),
    ("filter", "--filter TEXT"),
    ("dry_run", "--dry-run"),
    ("stream", "--stream"),
    ("json", "--json"),
    ("no_cache", "--no-cache"),
    ("refresh", "--refresh"),
    ("allow_ignored", "--allow-ignored"),
    ("allow_cached", "--allow-cached"),
    ("ignore_baseline", "--ignore-baseline"),
    ("export", "--export FORMAT"),
    ("official", "--official"),
    ("model_name", "--model-name NAME"),
    ("set", "--set KEY=VALUE"),
];

/// Keys of maps in the spec, by the names tried at the top level.
const ELSEWHERE: &[(&str, &str)] = &[
    ("limit", "limits: { limit: 10 }"),
    ("concurrency", "limits: { concurrency: 4 }"),
    ("timeout", "limits: { timeout_s: 60 }"),
    ("timeout_s", "limits: { timeout_s: 60 }"),
    (
        "conversation_timeout_s",
        "limits: { conversation_timeout_s: 600 }",
    ),
    ("sample_timeout_s", "limits: { sample_timeout_s: 300 }"),
    ("deadline_s", "limits: { deadline_s: 3600 }"),
    ("retries", "limits: { retries: 2 }"),
    ("rate_limit_wait_s", "limits: { rate_limit_wait_s: 60 }"),
    ("backoff_s", "limits: { backoff_s: 1 }"),
    ("budget", "limits: { budget: { cost_usd: 5 } }"),
    ("requests_per_minute", "limits: { requests_per_minute: 60 }"),
    ("tokens_per_minute", "limits: { tokens_per_minute: 90000 }"),
    ("ramp_up_s", "limits: { ramp_up_s: 10 }"),
    ("max_output_bytes", "limits: { max_output_bytes: 1000000 }"),
    ("fail_fast", "limits: { fail_fast: true }"),
    ("keep_going", "limits: { keep_going: true }"),
    ("seed", "shuffle: { seed: 7 }"),
    ("path", "benchmark: { type: qa, path: data.csv }"),
    ("dataset", "benchmark: { type: qa, path: data.csv }"),
    ("data", "benchmark: { type: qa, path: data.csv }"),
    ("split", "benchmark: { type: gaia, split: validation }"),
    ("levels", "benchmark: { type: gaia, levels: [1] }"),
    (
        "slices",
        "benchmark: { type: qa, path: data.csv, slices: [topic] }",
    ),
    (
        "visible",
        "benchmark: { type: qa, path: data.csv, visible: [topic] }",
    ),
    (
        "columns",
        "benchmark: { type: qa, path: data.csv, columns: { prompt: question } }",
    ),
    ("command", "agent: { type: command, command: [./agent] }"),
    (
        "model",
        "agent: { type: openai, base_url: URL, model: NAME }",
    ),
    (
        "options",
        "agent: { type: command, command: [./agent], input: json, options: { key: value } }",
    ),
    ("redact_pattern", "redact: ['corp-[0-9]+']"),
    ("gate", "gates: ['accuracy >= 0.6']"),
    ("baseline", "snapshot: { path: snapshots/NAME }"),
    ("flips", "snapshot: { flips: confirm }"),
];

/// A hint for an unknown key at the top of a spec.
pub(super) fn hint(key: &str) -> Option<String> {
    let plain = key.replace('-', "_");
    let find = |list: &[(&str, &'static str)]| {
        let entry = list.iter().find(|(name, _)| *name == plain);
        entry.map(|(_, written)| *written)
    };
    if let Some(flag) = find(FLAGS) {
        return Some(format!(
            "it belongs to one run: leave it out here, and type `cargo evaltest run SPEC {flag}`"
        ));
    }
    find(ELSEWHERE).map(|written| format!("write `{written}`"))
}

/// A hint for a key of `limits` in the map of an agent.
fn of_limits(key: &str) -> Option<String> {
    let mut entries = ELSEWHERE.iter();
    let (_, written) = entries.find(|(name, written)| {
        *name == key && written.starts_with(&format!("limits: {{ {key}:"))
    })?;
    Some(format!("write `{written}` next to `agent`"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::eval::registry::Registry;
    use crate::eval::spec::parse;

    /// The error for a spec with this line.
    fn error_of(line: &str) -> String {
        let text = format!("benchmark: {{ type: custom, samples: [] }}\nagent: echo\n{line}\n");
        match parse(&text, Path::new("e.yaml"), &Registry::new(), &[]) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        }
    }

    #[test]
    fn every_one_is_no_key_of_a_spec() {
        for (key, written) in FLAGS.iter().chain(ELSEWHERE) {
            let error = error_of(&format!("{key}: x"));
            assert!(
                error.starts_with(&format!("e.yaml:3:1: unknown key `{key}`")),
                "{error}"
            );
            assert!(error.contains(written), "{error}");
        }
    }

    #[test]
    fn a_missing_plural_s_is_suggested() {
        for (line, expect) in [
            (
                "limit: { retries: 1 }",
                "did you mean `limits`? or write `limits: { limit: 10 }`",
            ),
            (
                "gate: [x]",
                "did you mean `gates`? or write `gates: ['accuracy >= 0.6']`",
            ),
        ] {
            let error = error_of(line);
            assert!(error.ends_with(expect), "{error}");
        }
    }

    #[test]
    fn keys_of_other_tools_have_a_counterpart() {
        for (key, own) in [
            ("providers", "agents"),
            ("tests", "benchmark"),
            ("assert", "scorers"),
            ("repeat", "epochs"),
        ] {
            let error = error_of(&format!("{key}: x"));
            assert!(error.contains(&format!("did you mean `{own}`?")), "{error}");
        }
    }

    #[test]
    fn a_template_is_a_legal_prompt() {
        let error = error_of("prompt: 'Say {{question}}'");
        let form = "or a template: `prompt: { template: \"… {prompt}\" }`";
        assert!(error.ends_with(form), "{error}");
    }

    #[test]
    fn a_second_key_is_placed_before_a_tab() {
        let error = error_of("gates: [accuracy >= 0.5]\ngates:\n\t- accuracy >= 0.6");
        let expect = "e.yaml:4:1: duplicate key `gates`";
        assert!(error.starts_with(expect), "{error}");
    }

    #[test]
    fn what_is_to_be_written_is_known() {
        for (key, written) in ELSEWHERE {
            if written.starts_with("benchmark") || written.starts_with("agent") {
                continue;
            }
            let error = error_of(written);
            let is_read = !error.contains("unknown key") && !error.contains("YAML");
            assert!(is_read, "{key}: {error}");
        }
    }
}
