//! `against`: reads the texts that answers are compared with.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::references::{References, SampleText};
use crate::data::dataset::jsonl;
use crate::error::{Error, Result, nearest};
use crate::scorer::OptionReader;
use crate::store::RunDir;
use crate::system::project::display;
use crate::text::redact::is_blanked;

/// The name of the option.
pub(super) const KEY: &str = "against";
/// The accepted keys.
const KINDS: [&str; 3] = ["run", "path", "benchmark"];
/// An example of the option.
const HINT: &str = "write `against: { run: RUN_DIR }`, `against: { path: answers.jsonl }` or `against: { benchmark: { type: qa, path: … } }`";
/// An example of a line.
const LINE: &str = r#"write lines as `{"id": "q1", "answer": "…"}`"#;

/// Reads the references set in the options.
pub(super) fn references(options: &OptionReader<'_>) -> Result<References> {
    let Some(given) = options.value(KEY) else {
        return Err(options
            .missing(KEY, "what answers are compared with")
            .hint(HINT));
    };
    let read = |keys: &Map<String, Value>| of_keys(keys, options);
    let found = match given.as_object() {
        Some(keys) => read(keys),
        None => Err(Error::usage(format!("`{given}` is not a map"))),
    };
    found.map_err(|error| {
        let error = match error.hint_text() {
            Some(_) => error,
            None => error.hint(HINT),
        };
        options.of(KEY, error)
    })
}

fn of_keys(keys: &Map<String, Value>, options: &OptionReader<'_>) -> Result<References> {
    if let Some(other) = keys
        .keys()
        .find(|key| !KINDS.contains(&key.as_str()) && *key != "text")
    {
        let legal = KINDS.into_iter().chain(["text"]);
        let error = Error::usage(format!("unknown key `{other}`"));
        return Err(match nearest(other, legal) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        }
        .under(other.as_str()));
    }
    let mut named = KINDS.into_iter().filter(|kind| keys.contains_key(*kind));
    let (Some(kind), None) = (named.next(), named.next()) else {
        return Err(Error::usage(
            "it must name exactly one of `run`, `path` and `benchmark`",
        ));
    };
    let path = || match keys.get(kind).and_then(Value::as_str) {
        Some(path) if !path.is_empty() => Ok(options.folder().join(path)),
        _ => Err(Error::usage(format!("`{}` is not a path", keys[kind])).under(kind)),
    };
    let display = match keys.get("text") {
        None => None,
        Some(Value::String(name)) if kind == "benchmark" && !name.is_empty() => {
            Some(SampleText::of(name, options.maker().item_parts()))
        }
        Some(_) if kind != "benchmark" => {
            let error = Error::usage("`text` applies only to `benchmark`");
            return Err(error.hint("leave it out").under("text"));
        }
        Some(other) => {
            let error = Error::usage(format!("`{other}` is not the name of a text"));
            let error =
                error.hint("write `text: ground_truth`, `text: prompt`, `text: item` or a field");
            return Err(error.under("text"));
        }
    };
    let found = match kind {
        "run" => of_run(&path()?),
        "path" => of_file(&path()?),
        _ => options
            .maker()
            .samples(&keys[kind])
            .and_then(|samples| References::of_samples(samples, display.as_ref())),
    };
    let found = found.map_err(|error| error.under(kind))?;
    if found.items.is_empty() {
        return Err(Error::usage("it holds no item").under(kind));
    }
    Ok(found)
}

/// The parts of a record that are read.
#[derive(Deserialize)]
struct RecordLine {
    sample_id: String,
    #[serde(default)]
    epoch: u32,
    result: ResultPart,
}

#[derive(Deserialize)]
struct ResultPart {
    #[serde(default)]
    output: Option<OutputPart>,
    #[serde(default)]
    prediction: Option<String>,
}

#[derive(Deserialize)]
struct OutputPart {
    #[serde(default)]
    text: Option<String>,
}

/// The answers of a run, as the agent gave them.
pub(super) fn of_run(path: &Path) -> Result<References> {
    let dir = RunDir::open(path)?;
    dir.check()?;
    let manifest = dir.manifest()?;
    let mut all = References {
        runs: manifest.answers_from(),
        ..References::default()
    };
    let path = dir.file("samples.jsonl");
    lines(&path, |number, line| {
        let at = |error: Error| error.at(format_args!("{}:{number}", display(&path)));
        let record: RecordLine = serde_json::from_str(line)
            .map_err(|error| at(Error::usage(format!("not a record: {error}"))))?;
        let ResultPart { output, prediction } = record.result;
        let text = output.and_then(|output| output.text).or(prediction);
        // The original text is lost.
        let text = text.filter(|text| !is_blanked(text));
        all.add(record.sample_id, record.epoch, text).map_err(at)
    })?;
    Ok(all)
}

/// The answers in a file.
pub(super) fn of_file(path: &Path) -> Result<References> {
    if path.is_dir() {
        let error = Error::usage(format!("`{}` is a folder", display(path)));
        return Err(error.hint("a run directory is `against: { run: RUN_DIR }`"));
    }
    let mut all = References::default();
    lines(path, |number, line| {
        let at = |error: Error| {
            let error = error.at(format_args!("{}:{number}", display(path)));
            match error.hint_text() {
                Some(_) => error,
                None => error.hint(LINE),
            }
        };
        let fields = jsonl::fields(path, number, line)?;
        let member = |names: [&str; 2]| {
            let mut found = names.into_iter().filter_map(|name| fields.get(name));
            found.next()
        };
        let id = match member(["id", "sample_id"]) {
            Some(Value::String(id)) if !id.is_empty() => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            Some(other) => return Err(at(Error::usage(format!("`{other}` is not an id")))),
            None => return Err(at(Error::usage("the line has no `id`"))),
        };
        let answer = match member(["answer", "prediction"]) {
            Some(Value::String(answer)) => Some(answer.clone()),
            Some(Value::Null) => None,
            Some(other) => return Err(at(Error::usage(format!("`{other}` is not a text")))),
            None => {
                return Err(at(Error::usage(
                    "the line has neither `answer` nor `prediction`",
                )));
            }
        };
        let epoch = fields.get("epoch").and_then(Value::as_u64);
        let epoch = epoch.and_then(|epoch| u32::try_from(epoch).ok());
        all.add(id, epoch.unwrap_or_default(), answer).map_err(at)
    })?;
    Ok(all)
}

/// Passes the non-blank lines of a file to `see`, with their numbers.
fn lines(path: &Path, mut see: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let failed = |error: std::io::Error| Error::io("read", path, &error);
    let file = crate::system::file::open_plain(path).map_err(failed)?;
    let file: BufReader<File> = BufReader::with_capacity(1 << 17, file);
    for (number, line) in (1..).zip(file.lines()) {
        let line = line.map_err(failed)?;
        let line = match number {
            1 => line.trim_start_matches('\u{feff}'),
            _ => &line,
        };
        if !line.trim_ascii().is_empty() {
            see(number, line)?;
        }
    }
    Ok(())
}
