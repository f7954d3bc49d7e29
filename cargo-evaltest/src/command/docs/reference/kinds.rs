//! Pages of scorers, agents and benchmarks, with the type of each key.

use std::fmt::Write;

use evaltest::engine::eval::spec::{OwnKinds, schema};
use evaltest::engine::eval::{BuiltIn, agents, benchmarks};
use evaltest::engine::scorers::{Entry, GUIDE, entries, small_specs};
use serde_json::Value;

use super::table;

pub(super) fn agents() -> String {
    let about = "\
# Agents

An agent answers the questions. `agent: { type: NAME, … }` names one; `type` may stand anywhere in its map.

";
    kinds(about, agents::BUILT_IN, "agent")
}

pub(super) fn benchmarks() -> String {
    let about = "\
# Benchmarks

A benchmark has the questions, and a default scorer. `benchmark: { type: NAME, … }` names one;
`type` may stand anywhere in its map. Relative paths count from the spec's folder; `hf://datasets/ORG/NAME/file.jsonl` is a file of
the Hub.

";
    kinds(about, benchmarks::BUILT_IN, "benchmark")
}

fn kinds(about: &str, kinds: &[BuiltIn], definition: &str) -> String {
    let schema = schema(&OwnKinds::default());
    let mut text = about.to_owned();
    let rows: Vec<_> = kinds
        .iter()
        .map(|kind| vec![format!("[`{0}`](#{0})", kind.name), kind.summary.to_owned()])
        .collect();
    text += &table::markdown(&["type", "what"], &rows);
    for kind in kinds {
        let keys = keys(&schema, definition, kind.name);
        let page = demoted(kind.page);
        let _ = write!(
            text,
            "\n## {}\n\n{}\n",
            kind.name,
            with_types(&page, &keys).trim_end()
        );
    }
    text
}

/// Replaces the key table of a page by `keys`.
fn with_types(page: &str, keys: &str) -> String {
    let mut lines = page.lines().peekable();
    let mut text = String::new();
    while let Some(line) = lines.next() {
        if line == "| key | meaning |" {
            while lines.next_if(|line| line.starts_with('|')).is_some() {}
            text += keys;
        } else {
            text += line;
            text.push('\n');
        }
    }
    text
}

/// The keys of a kind.
fn keys(schema: &Value, definition: &str, name: &str) -> String {
    let kinds = schema["$defs"][definition]["anyOf"].as_array();
    let kind = kinds
        .into_iter()
        .flatten()
        .find(|kind| kind["properties"]["type"]["const"] == name);
    let Some(kind) = kind else {
        return String::new();
    };
    let rows = table::rows(&kind["properties"], "").into_iter();
    let rows = rows.map(|row| vec![format!("`{}`", row.key), row.kind, row.meaning]);
    table::markdown(&["key", "type", "meaning"], &rows.collect::<Vec<_>>())
}

pub(super) fn scorers() -> String {
    let schema = schema(&OwnKinds::default());
    let mut text = "\
# Scorers

A scorer judges the prediction extracted from an answer. `scorer: NAME`, `scorer: { type: NAME, … }`, or a list of them in
`scorers`, of which the first decides. `cargo evaltest scorers --explain NAME` prints a rule with examples judged live.

"
    .to_owned();
    let rows: Vec<_> = entries()
        .iter()
        .map(|entry| {
            vec![
                format!("[`{0}`](#{0})", entry.name),
                entry.summary.to_owned(),
            ]
        })
        .collect();
    text += &table::markdown(&["type", "what"], &rows);
    text += "\n";
    text += &demoted(GUIDE);
    for entry in entries() {
        let _ = write!(
            text,
            "\n## {}\n\n{}\n\n",
            entry.name,
            demoted(entry.rule).trim_end()
        );
        text += &keys(&schema, "scorer", entry.name);
        text += &specs(entry);
        text += &examples(entry);
    }
    text
}

fn specs(entry: &Entry) -> String {
    let specs = small_specs(entry);
    if specs.is_empty() {
        return String::new();
    }
    let mut text =
        "\nSmall specs, each a whole file below `evals/`; choose by what is judged:\n".to_owned();
    for spec in specs {
        let _ = write!(text, "\n**{}**: {}", spec.name, spec.summary);
        if let Some((name, content)) = spec.file {
            let _ = write!(text, "; here `{name}` is `{}`", content.trim_end());
        }
        let _ = write!(text, "\n\n```yaml\n{}```\n", spec.text);
    }
    text
}

fn examples(entry: &Entry) -> String {
    let code = |text: &str| match text {
        "" => String::new(),
        text => format!("`` {} ``", text.replace('\n', "\\n")),
    };
    let rows = entry.examples.iter().map(|example| {
        let verdict = if example.correct { "correct" } else { "wrong" };
        vec![
            code(example.options),
            code(example.prediction),
            code(example.ground_truth),
            verdict.to_owned(),
            example.note.to_owned(),
        ]
    });
    let titles = ["options", "prediction", "ground truth", "verdict", "why"];
    format!("\n{}", table::markdown(&titles, &rows.collect::<Vec<_>>()))
}

/// Moves headings one level down, below those of the page.
fn demoted(page: &str) -> String {
    let mut is_code = false;
    let lines = page.lines().map(|line| {
        is_code ^= line.starts_with("```");
        if line.starts_with('#') && !is_code {
            format!("#{line}\n")
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}
