//! Lists the built-in scorers, or explains one.

use evaltest::engine::report::document::{Block, Document};
use evaltest::engine::scorers::{Context, entries};
use evaltest::engine::scorers::{Entry, Example};
use evaltest::engine::text::Override;
use evaltest::engine::text::clean;
use evaltest::{Exit, Result, Score};
use serde_json::{Map, Value, json};

use crate::console;
use evaltest::engine::scorers;

/// Prints one line per scorer with its name and rule.
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
    let facts = entries().iter();
    let facts = facts.map(|entry| (entry.name.to_owned(), entry.summary.into()));
    console::print_blocks(&[Block::Facts(facts.collect())])?;
    Ok(Exit::Passed)
}

fn options(entry: &Entry) -> Map<String, Value> {
    let options = entry.options.iter();
    options
        .map(|(name, meaning)| ((*name).to_owned(), (*meaning).into()))
        .collect()
}

/// Example specs of the scorer.
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

/// Prints the rule, the options, the specs and the examples with their current verdicts.
pub(super) fn explain(name: &str, as_json: bool) -> Result<Exit> {
    let Some(entry) = scorers::entry(name) else {
        // The error lists the available names.
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
        console::print_blocks(&whole(entry, &judged))?;
    }
    Ok(Exit::Passed)
}

fn judge(entry: &Entry, example: &Example) -> Result<Score> {
    let options = Override::value(example.options)?;
    let options = options.as_object().cloned().unwrap_or_default();
    example.judge(&*scorers::by_name(entry.name, &options, &Context::here())?)
}

fn whole(entry: &Entry, judged: &[(&Example, Score)]) -> Vec<Block> {
    let (name, summary, rule) = (entry.name, entry.summary, entry.rule.trim_end());
    let mut text = Document::default();
    text.blocks
        .push(Block::Verbatim(format!("{name}: {summary}\n\n{rule}")));
    if entry.options.is_empty() {
        text.section("options: none");
    } else {
        text.section("options:");
        let options = entry.options.iter();
        let options = options.map(|(name, meaning)| format!("  {name}: {meaning}\n"));
        text.blocks.push(Block::Verbatim(options.collect()));
    }
    let specs = scorers::small_specs(entry);
    if !specs.is_empty() {
        text.section("specs, each a whole file below `evals/`; choose by what is judged:");
    }
    for spec in &specs {
        text.section(format!("# {}: {}", spec.name, spec.summary));
        let file = spec
            .file
            .as_ref()
            .map(|(name, text)| format!("# with `{name}`: {}\n", text.trim_end()));
        text.blocks
            .push(Block::Verbatim(file.unwrap_or_default() + &spec.text));
    }
    text.section("examples, a prediction for a ground truth:");
    text.blocks.extend(judged.iter().map(|(example, score)| {
        let verdict = if score.correct { "correct" } else { "wrong" };
        let with = match example.options {
            "" => String::new(),
            options => format!(" with {options}"),
        };
        let line = format!(
            "  \"{}\" for \"{}\"{with}: {verdict} ({}), {:.3}",
            clean(example.prediction),
            clean(example.ground_truth),
            score.reason,
            score.value
        );
        Block::Verbatim(format!("{line}\n      {}", example.note))
    }));
    text.blocks
}
