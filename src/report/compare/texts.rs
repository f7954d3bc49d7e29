//! What was asked and said where two runs differ: of a few samples, read from the run directories.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::Record;
use crate::error::Result;
use crate::store::files::RECORDS;
use crate::store::{RunDir, read_records_where};

/// A sample that changed sides, with both answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlipTexts {
    /// Its id.
    pub id: String,
    /// Whether it became wrong.
    pub worse: bool,
    /// What B was asked: the question where the prompt is more than that.
    pub prompt: String,
    /// What would have been right, as text.
    pub ground_truth: Option<String>,
    /// What A said.
    pub a: FlipAnswer,
    /// What B said.
    pub b: FlipAnswer,
}

/// An answer that stands for a run: the first on the side that the run is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlipAnswer {
    /// What was extracted, or else the whole answer.
    pub answer: Option<String>,
    /// Whether it is right.
    pub correct: bool,
    /// Why not, in the word of the scorer.
    pub reason: Option<String>,
    /// Which repetition it is, from 0.
    pub epoch: u32,
    /// The whole prompt, where that of the other run is another one.
    pub prompt: Option<String>,
}

/// A sample, and whether it became wrong.
pub type WantedFlip<'a> = (&'a str, bool);

/// The texts of these samples, in their order, cut to so many characters each. Those that a run does not have are left
/// out.
///
/// # Errors
/// When a run cannot be read.
pub fn flip_texts(
    [a, b]: [&RunDir; 2],
    wanted: &[WantedFlip<'_>],
    most: usize,
) -> Result<Vec<FlipTexts>> {
    let cut = |text: &str| cut(text, most);
    let mut before = answers(a, wanted, |worse| worse)?;
    let mut now = answers(b, wanted, |worse| !worse)?;
    let mut texts = Vec::new();
    for (id, worse) in wanted {
        let Some((old, new)) = before.remove(*id).zip(now.remove(*id)) else {
            continue;
        };
        let asked = new.question.as_deref().unwrap_or(&new.prompt);
        let truth = match &new.ground_truth {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        texts.push(FlipTexts {
            id: (*id).to_owned(),
            worse: *worse,
            prompt: cut(asked),
            ground_truth: truth.as_deref().map(cut),
            a: FlipAnswer::of(&old, &new, most),
            b: FlipAnswer::of(&new, &old, most),
        });
    }
    Ok(texts)
}

/// What is read of a line to know whose it is.
#[derive(Deserialize)]
struct LineId<'a> {
    #[serde(borrow)]
    sample_id: Cow<'a, str>,
}

/// The answer of a run to each of these samples that stands for it: the first whose verdict is that of the run.
fn answers(
    dir: &RunDir,
    wanted: &[WantedFlip<'_>],
    is_right: impl Fn(bool) -> bool,
) -> Result<HashMap<String, Record>> {
    let wanted: HashMap<&str, bool> = wanted.iter().copied().collect();
    let mut found = HashMap::<String, Record>::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let is_wanted = |line: &[u8]| {
        let id = serde_json::from_slice::<LineId<'_>>(line);
        // What is no line is complained of by whoever reads it whole.
        id.map_or(true, |id| wanted.contains_key(&*id.sample_id))
    };
    let mut missing = wanted.len();
    for record in read_records_where(&dir.file(RECORDS), is_wanted)? {
        let record = record?;
        let Some(worse) = wanted.get(&*record.sample_id) else {
            continue;
        };
        let fits = |record: &Record| {
            record.result.score.is_some() && record.result.is_correct() == is_right(*worse)
        };
        let known = found.get(&record.sample_id);
        if known.is_none_or(|known| !fits(known) && fits(&record)) {
            missing -= usize::from(fits(&record));
            found.insert(record.sample_id.clone(), record);
        }
        // Behind the last of them a long file says nothing more.
        if missing == 0 {
            break;
        }
    }
    Ok(found)
}

impl FlipAnswer {
    /// The answer of one run, beside that of the other.
    fn of(record: &Record, other: &Record, most: usize) -> Self {
        let outcome = &record.result;
        let raw = outcome.output.as_ref().and_then(|it| it.text.as_deref());
        let answer = outcome.prediction.as_deref().or(raw);
        Self {
            answer: answer.map(|answer| cut(answer, most)),
            correct: outcome.is_correct(),
            reason: outcome.score.as_ref().map(|score| score.reason.to_string()),
            epoch: record.epoch,
            prompt: (record.prompt != other.prompt).then(|| cut(&record.prompt, most)),
        }
    }
}

fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut() {
        assert_eq!(cut(" a\nb ", 3), "a\nb");
        assert_eq!(cut(&"é".repeat(500), 500), "é".repeat(500));
        assert_eq!(cut(&"é".repeat(501), 500), "é".repeat(500) + "…");
    }
}
