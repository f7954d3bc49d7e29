//! The hashes of a sample: of the agent's input, of the ground truth, and of the question.

use std::sync::Arc;

use serde_json::Value;

use super::item::Hashes;
use crate::data::ItemPart;
use crate::data::conversation::Script;
use crate::data::{Sample, Target};
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::scorer::Scorer;
use crate::system::file;
use crate::text::hash::{Hasher, MaskKey};
use crate::verdict::baseline::older_ids::{rounded, rounded_id};

/// The hashes of the agent's input, of the ground truth, and of the question. The last two do not depend on the line
/// ends of a checkout. Errors name the sample, and the position of the scorer that raised them.
pub(super) fn hashes<'a>(
    eval: &'a Eval,
    sample: &Sample,
    scorers: &[Arc<dyn Scorer>],
) -> std::result::Result<Hashes, (Error, Option<&'a str>)> {
    let prompt = eval.prompt.render(&*eval.benchmark, sample);
    let mut input = Hasher::default().part(&prompt);
    if let Some(parts) = eval.agent.item_parts() {
        // The whole item is judged.
        input = input.part(ItemPart::rendered(parts, sample).unwrap_or_default());
    }
    let mut question = Hasher::default().part("question").text(&sample.prompt);
    for file in &sample.files {
        // An unreadable file fails its sample when that is asked; here it counts as empty.
        let path = file.resolve().ok();
        let content = path.and_then(|path| file::hashes(&path).ok());
        let [whole, lines] = content.unwrap_or_default();
        input = input.part(&file.name).part(whole);
        question = question.part(&file.name).part(lines);
    }
    if let Some(script) = Script::of(sample) {
        let surroundings = script.surroundings();
        input = input.part(&surroundings);
        question = question.part(surroundings);
    }
    for tool in &sample.tools {
        let tool = tool.to_string();
        input = input.part(&tool);
        question = question.part(tool);
    }
    let target = truth_hash(eval, sample, scorers)?;
    let older = older(sample).map(|older| truth_hash(eval, &older, scorers));
    Ok(Hashes {
        input: input.first_bytes(),
        target,
        older_target: older.transpose()?.unwrap_or(target),
        question: question.first_bytes(),
    })
}

/// The hash of the ground truth, and of all else that decides whether an answer is right.
fn truth_hash<'a>(
    eval: &'a Eval,
    sample: &Sample,
    scorers: &[Arc<dyn Scorer>],
) -> std::result::Result<[u8; 8], (Error, Option<&'a str>)> {
    // The id is included, so that equal answers have different hashes.
    let mut truth = Hasher::default().part(&sample.id);
    truth = truth.part(truth_text(sample));
    for (item, scorer) in scorers.iter().enumerate() {
        let criterion = (**scorer).criterion(sample).map_err(|error| {
            let is_of_sees = error.key_path().is_some();
            let sees = eval.sees_places.get(item).filter(|_| is_of_sees);
            let place = eval.scorer_places.get(item);
            let place = [sees, place]
                .into_iter()
                .flatten()
                .find_map(Option::as_deref);
            (error.at(format_args!("sample `{}`", sample.id)), place)
        })?;
        if let Some(criterion) = criterion {
            truth = truth.part(criterion);
        }
    }
    Ok(truth.first_bytes())
}

/// A sample as versions read it that rounded the numbers of JSON files; `None` if that is the same.
fn older(sample: &Sample) -> Option<Sample> {
    fn truth(value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => rounded(text).map(Value::from),
            Value::Array(values) if values.iter().any(|value| truth(value).is_some()) => {
                let values = values.iter();
                Some(
                    values
                        .map(|value| truth(value).unwrap_or(value.clone()))
                        .collect(),
                )
            }
            _ => None,
        }
    }
    let id = rounded_id(&sample.id);
    let target = sample.target.as_ref().and_then(|target| truth(&target.0));
    (id.is_some() || target.is_some()).then(|| Sample {
        id: id.unwrap_or_else(|| sample.id.clone()),
        target: target.map(Target).or_else(|| sample.target.clone()),
        ..sample.clone()
    })
}

/// The ground truth as it is hashed.
fn truth_text(sample: &Sample) -> String {
    fn lines(value: &Value) -> Value {
        match value {
            Value::String(text) => text.replace("\r\n", "\n").into(),
            Value::Array(values) => values.iter().map(lines).collect(),
            Value::Object(map) => {
                let members = map.iter();
                let members = members.map(|(key, value)| (key.clone(), lines(value)));
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }
    let Some(Target(target)) = &sample.target else {
        return "hidden".to_owned();
    };
    let text = target.to_string();
    if text.contains("\\r\\n") {
        return lines(target).to_string();
    }
    text
}

/// The key of masked snapshots: a digest of all questions and answers of the dataset, independent of order and of the
/// part that is asked. Without all of them the key cannot be made, so answers cannot be guessed one by one. Also returns
/// the key that versions had which rounded numbers, if it differs.
pub(super) fn keys(eval: &Eval) -> Result<(MaskKey, Option<MaskKey>)> {
    let digest = |sample: &Sample| {
        let hash = Hasher::default().part(&sample.id).text(&sample.prompt);
        hash.part(truth_text(sample)).hex()
    };
    let (mut samples, mut differing) = (Vec::new(), Vec::new());
    let loaded = eval.benchmark.each_unfiltered(&mut |sample| {
        if let Some(older) = older(&sample) {
            differing.push((samples.len(), digest(&older)));
        }
        samples.push(digest(&sample));
        Ok(())
    });
    loaded.map_err(|error| error.at(format_args!("eval `{}`", eval.name)))?;
    let key = |mut samples: Vec<String>| {
        samples.sort_unstable();
        let all = Hasher::default().part("evaltest mask 1");
        MaskKey::of(samples.iter().fold(all, Hasher::part))
    };
    let older = (!differing.is_empty()).then(|| {
        let mut samples = samples.clone();
        for (place, digest) in differing {
            samples[place] = digest;
        }
        key(samples)
    });
    Ok((key(samples), older))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_older_version_rounded_numbers() {
        let check = |id: &str, target: Value, expect: Option<(&str, Value)>| {
            let older = older(&Sample::new(id, "?").target(target));
            let older = older.map(|older| (older.id, older.target.unwrap().0));
            let expect = expect.map(|(id, target)| (id.to_owned(), target));
            assert_eq!(older, expect);
        };
        check("a", json!("1.10"), Some(("a", json!("1.1"))));
        check("a", json!("1e6"), Some(("a", json!("1000000.0"))));
        check("a", json!(["1.50", "x"]), Some(("a", json!(["1.5", "x"]))));
        let id = "123456789012345678901234567890";
        check(
            id,
            json!("5.0"),
            Some(("1.2345678901234568e+29", json!("5.0"))),
        );
        check("1.10", json!("7"), None);
        check("a", json!("Oslo"), None);
        // Numbers in objects are arguments, and were never texts.
        check("a", json!([{"f": "1.10"}]), None);
    }
}
