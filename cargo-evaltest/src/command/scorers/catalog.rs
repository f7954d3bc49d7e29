//! The built-in scorers: all in a line each, and one in full.

use std::io::{self, Write};

use evaltest::engine::scorers::{Context, entries};
use evaltest::engine::scorers::{Entry, Example};
use evaltest::engine::text::Override;
use evaltest::engine::text::clean;
use evaltest::{Exit, Result, Score};
use serde_json::{Map, Value, json};

use crate::console;
use evaltest::engine::scorers;

/// Prints the name and the rule in a line of each scorer.
pub(super) fn list(as_json: bool) -> Result<Exit> {
    if as_json {
        let entries: Vec<Value> = entries()
            .iter()
            .map(|entry| {
                let options = options(entry);
                json!({"name": entry.name, "summary": entry.summary, "options": options, "specs": specs(entry)})
            })
            .collect();
        console::print_json(&entries)?;
        return Ok(Exit::Passed);
    }
    console::print(|out| {
        let width = entries().iter().map(|entry| entry.name.len()).max();
        let width = width.unwrap_or_default();
        for Entry { name, summary, .. } in entries() {
            writeln!(out, "{name:<width$}  {summary}")?;
        }
        Ok(())
    })?;
    Ok(Exit::Passed)
}

fn options(entry: &Entry) -> Map<String, Value> {
    let options = entry.options.iter();
    options
        .map(|(name, meaning)| ((*name).to_owned(), (*meaning).into()))
        .collect()
}

/// The specs that show it.
fn specs(entry: &Entry) -> Vec<Value> {
    let specs = scorers::small_specs(entry).into_iter();
    specs
        .map(|spec| {
            let file = spec
                .file
                .map(|(name, text)| json!({ "name": name, "text": text }));
            json!({"name": spec.name, "summary": spec.summary, "spec": spec.text, "file": file})
        })
        .collect()
}

/// Prints the rule, the options, the specs and the examples with the verdicts that they get now.
pub(super) fn explain(name: &str, as_json: bool) -> Result<Exit> {
    let Some(entry) = scorers::entry(name) else {
        // The error lists the names that there are.
        scorers::by_name(name, &Map::new(), &Context::here())?;
        return Ok(Exit::Passed);
    };
    let examples = entry.examples.iter();
    let judged = examples
        .map(|example| judge(entry, example).map(|score| (example, score)))
        .collect::<Result<Vec<_>>>()?;
    if as_json {
        let examples: Vec<Value> = judged
            .iter()
            .map(|(example, score)| {
                json!({
                    "options": Override::value(example.options).unwrap_or_default(),
                    "prediction": example.prediction,
                    "ground_truth": example.target().0,
                    "score": score,
                    "note": example.note,
                })
            })
            .collect();
        console::print_json(&json!({
            "name": entry.name,
            "summary": entry.summary,
            "rule": entry.rule,
            "options": options(entry),
            "specs": specs(entry),
            "examples": examples,
        }))?;
    } else {
        console::print(|out| whole(entry, &judged, out))?;
    }
    Ok(Exit::Passed)
}

fn judge(entry: &Entry, example: &Example) -> Result<Score> {
    let options = Override::value(example.options)?;
    let options = options.as_object().cloned().unwrap_or_default();
    example.judge(&*scorers::by_name(entry.name, &options, &Context::here())?)
}

fn whole(entry: &Entry, judged: &[(&Example, Score)], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}\n", entry.name, entry.summary)?;
    writeln!(out, "{}", entry.rule.trim_end())?;
    if entry.options.is_empty() {
        writeln!(out, "\noptions: none")?;
    } else {
        writeln!(out, "\noptions:")?;
        for (name, meaning) in entry.options {
            writeln!(out, "  {name}: {meaning}")?;
        }
    }
    let specs = scorers::small_specs(entry);
    if !specs.is_empty() {
        writeln!(
            out,
            "\nspecs, each a whole file below `evals/`; choose by what is judged:"
        )?;
    }
    for spec in &specs {
        writeln!(out, "\n# {}: {}", spec.name, spec.summary)?;
        if let Some((name, text)) = spec.file {
            writeln!(out, "# with `{name}`: {}", text.trim_end())?;
        }
        write!(out, "{}", spec.text)?;
    }
    writeln!(out, "\nexamples, a prediction for a ground truth:")?;
    for (example, score) in judged {
        let verdict = if score.correct { "correct" } else { "wrong" };
        let with = match example.options {
            "" => String::new(),
            options => format!(" with {options}"),
        };
        writeln!(
            out,
            "  \"{}\" for \"{}\"{with}: {verdict} ({}), {:.3}",
            clean(example.prediction),
            clean(example.ground_truth),
            clean(&score.reason),
            score.value
        )?;
        writeln!(out, "      {}", example.note)?;
    }
    Ok(())
}
