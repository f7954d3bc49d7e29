//! The hashes of a sample: of the agent's input, of the ground truth, and of the question.

use std::sync::Arc;

use serde_json::Value;

use super::item::Hashes;
use crate::data::ItemPart;
use crate::data::{Sample, Target};
use crate::error::Error;
use crate::eval::Eval;
use crate::scorer::Scorer;
use crate::system::file;
use crate::text::hash::Hasher;

/// The hashes of the agent's input, of the ground truth, and of the question. The last two do not depend on the line
/// ends of a checkout. Errors name the sample, and the position of the scorer that raised them.
pub(super) fn hashes<'a>(
    eval: &'a Eval,
    sample: &Sample,
    scorers: &[Arc<dyn Scorer>],
) -> Result<Hashes, (Error, Option<&'a str>)> {
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
    for tool in &sample.tools {
        let tool = tool.to_string();
        input = input.part(&tool);
        question = question.part(tool);
    }
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
    Ok(Hashes {
        input: input.first_bytes(),
        target: truth.first_bytes(),
        question: question.first_bytes(),
    })
}

/// The ground truth as it is hashed.
pub(super) fn truth_text(sample: &Sample) -> String {
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
