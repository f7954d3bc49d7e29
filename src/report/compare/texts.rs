//! Questions and answers of samples that flipped, read from the run directories.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FlippedIds;
use crate::data::conversation::transcript;
use crate::data::{Output, Record};
use crate::error::Result;
use crate::store::files::RECORDS;
use crate::store::{RunDir, read_records_where};

/// A flipped sample, with both answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlipTexts {
    /// Its id.
    pub id: String,
    /// Whether it became wrong.
    pub worse: bool,
    /// B's question, or the prompt if there is no separate question.
    pub prompt: String,
    /// The ground truth as text.
    pub ground_truth: Option<String>,
    /// A's answer.
    pub a: FlipAnswer,
    /// B's answer.
    pub b: FlipAnswer,
    /// Of a conversation: the first turn that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnTexts>,
}

/// A turn in which two conversations differ, from the first message that does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TurnTexts {
    /// Its number, from 1.
    pub turn: usize,
    /// What followed in A; empty if A had no such turn, or no more messages in it.
    pub a: String,
    /// The same of B.
    pub b: String,
}

impl TurnTexts {
    /// The first turn that differs, if both are conversations.
    fn of([a, b]: [&Record; 2], most: usize) -> Option<Self> {
        let [a, b] = [a, b].map(|record| {
            let output = record.result.output.as_ref();
            let output = output.filter(|_| record.result.conversation().is_some());
            output.map(Output::turns)
        });
        let (a, b) = (a?, b?);
        let place = (0..a.len().max(b.len())).find(|place| {
            let [a, b] = [&a, &b].map(|turns| turns.get(*place).map(|turn| transcript(turn)));
            a != b
        })?;
        let [a, b] = [a, b].map(|turns| turns.get(place).copied().unwrap_or_default());
        let messages = a.iter().zip(b);
        // Ids of calls differ from run to run.
        let is_same = |(a, b): &(&Value, &Value)| {
            transcript(std::slice::from_ref(*a)) == transcript(std::slice::from_ref(*b))
        };
        let same = messages.take_while(is_same).count();
        let [a, b] = [a, b].map(|turn| truncate(&transcript(&turn[same..]), most));
        Some(Self {
            turn: place + 1,
            a,
            b,
        })
    }
}

/// A representative answer of a run: the first with the run's verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlipAnswer {
    /// The extracted prediction, or else the whole answer.
    pub answer: Option<String>,
    /// Whether it is right.
    pub correct: bool,
    /// The scorer's reason, if it is wrong.
    pub reason: Option<String>,
    /// The epoch, from 0.
    pub epoch: u32,
    /// The whole prompt, if it differs from that of the other run.
    pub prompt: Option<String>,
}

/// A sample, and whether it became wrong.
pub type WantedFlip<'a> = (&'a str, bool);

/// The texts of the first `most` flipped samples of two runs, in each direction, each truncated to `chars` characters.
///
/// # Errors
/// If a run cannot be read.
pub fn first_flips(
    dirs: [&RunDir; 2],
    flips: &FlippedIds,
    most: usize,
    chars: usize,
) -> Result<Vec<FlipTexts>> {
    let (worse, better) = (flips.worse.take(most)?, flips.better.take(most)?);
    let worse = worse.iter().map(|id| (id.as_str(), true));
    let wanted = worse.chain(better.iter().map(|id| (id.as_str(), false)));
    flip_texts(dirs, &wanted.collect::<Vec<_>>(), chars)
}

/// The texts of these samples in order, each truncated to `most` characters. Samples that a run lacks are omitted.
///
/// # Errors
/// If a run cannot be read.
pub fn flip_texts(
    [a, b]: [&RunDir; 2],
    wanted: &[WantedFlip<'_>],
    most: usize,
) -> Result<Vec<FlipTexts>> {
    let truncate = |text: &str| truncate(text, most);
    let mut before = answers(a, wanted, |worse| worse)?;
    let mut now = answers(b, wanted, |worse| !worse)?;
    let mut texts = Vec::new();
    for (id, worse) in wanted {
        let Some((old, new)) = before.remove(*id).zip(now.remove(*id)) else {
            continue;
        };
        let question = new.question.as_deref().unwrap_or(&new.prompt);
        let truth = match &new.ground_truth {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        texts.push(FlipTexts {
            id: (*id).to_owned(),
            worse: *worse,
            prompt: truncate(question),
            ground_truth: truth.as_deref().map(truncate),
            a: FlipAnswer::of(&old, &new, most),
            b: FlipAnswer::of(&new, &old, most),
            turn: TurnTexts::of([&old, &new], most),
        });
    }
    Ok(texts)
}

/// The id of a line, parsed before the rest.
#[derive(Deserialize)]
struct LineId<'a> {
    #[serde(borrow)]
    sample_id: Cow<'a, str>,
}

/// A representative answer of a run for each of these samples: the first with the run's verdict.
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
        // Invalid lines are reported when the whole record is parsed.
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
        // Stop after the last wanted sample of a long file.
        if missing == 0 {
            break;
        }
    }
    Ok(found)
}

impl FlipAnswer {
    /// The answer of one run, compared with that of the other.
    fn of(record: &Record, other: &Record, most: usize) -> Self {
        let outcome = &record.result;
        let raw = outcome.output.as_ref().and_then(|it| it.text.as_deref());
        let answer = outcome.prediction.as_deref().or(raw);
        Self {
            answer: answer.map(|answer| truncate(answer, most)),
            correct: outcome.is_correct(),
            reason: outcome.score.as_ref().map(|score| score.reason.to_string()),
            epoch: record.epoch,
            prompt: (record.prompt != other.prompt).then(|| truncate(&record.prompt, most)),
        }
    }
}

fn truncate(text: &str, most: usize) -> String {
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
    fn text_is_truncated() {
        assert_eq!(truncate(" a\nb ", 3), "a\nb");
        assert_eq!(truncate(&"é".repeat(500), 500), "é".repeat(500));
        assert_eq!(truncate(&"é".repeat(501), 500), "é".repeat(500) + "…");
    }
}
