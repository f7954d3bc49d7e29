//! Questions and answers of samples that differ in two runs, read from the run directories.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RunPair;
use crate::data::conversation::transcript;
use crate::data::{Output, Record};
use crate::error::Result;
use crate::store::files::RECORDS;
use crate::store::{RunDir, read_records, read_records_where};

/// Maximum number of samples searched for other answers, so that memory does not depend on the dataset.
const MOST_READ: usize = 20_000;

/// The samples whose texts are shown.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PairTexts {
    /// The first that flipped.
    pub flips: Vec<FlipTexts>,
    /// The first with the same verdict and another answer.
    pub changed: Vec<FlipTexts>,
    /// The number of these.
    pub all_changed: usize,
}

impl PairTexts {
    /// The texts of the first `most` flipped samples, in each direction, each truncated to `chars` characters.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub fn of_flips(dirs: [&RunDir; 2], pair: &RunPair, most: usize, chars: usize) -> Result<Self> {
        let (worse, better) = (pair.flips.worse.take(most)?, pair.flips.better.take(most)?);
        let worse = worse.iter().map(|id| (id.as_str(), [true, false]));
        let better = better.iter().map(|id| (id.as_str(), [false, true]));
        let wanted: Vec<_> = worse.chain(better).collect();
        Ok(Self {
            flips: texts_of(dirs, &wanted, chars)?,
            ..Self::default()
        })
    }

    /// The same with the first `most` samples with another answer and the same verdict.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub fn of_all(dirs: [&RunDir; 2], pair: &RunPair, most: usize, chars: usize) -> Result<Self> {
        let ids = changed(dirs, pair)?;
        let wanted = ids.iter().take(most);
        let wanted: Vec<_> = wanted.map(|(id, right)| (&**id, [*right; 2])).collect();
        Ok(Self {
            changed: texts_of(dirs, &wanted, chars)?,
            all_changed: ids.len(),
            ..Self::of_flips(dirs, pair, most, chars)?
        })
    }
}

/// The first samples with the same verdict and another answer, and whether they are right. Of several epochs, answers
/// differ anyway.
fn changed([a, b]: [&RunDir; 2], pair: &RunPair) -> Result<Vec<(String, bool)>> {
    let mut changed = Vec::new();
    let others = pair.unpaired.changed.take(MOST_READ)?;
    let others: HashSet<String> = others.into_iter().collect();
    let mut before = HashMap::new();
    for record in read_records(&a.file(RECORDS))?.take(MOST_READ) {
        let record = record?;
        if record.epoch > 0 {
            return Ok(changed);
        }
        if is_compared(&record) && !others.contains(&record.sample_id) {
            let answer = answer(&record).map(str::trim).map(digest);
            before.insert(
                record.sample_id.clone(),
                (answer, record.result.is_correct()),
            );
        }
    }
    for record in read_records(&b.file(RECORDS))?.take(MOST_READ) {
        let record = record?;
        if record.epoch > 0 {
            return Ok(Vec::new());
        }
        let right = record.result.is_correct();
        let now = answer(&record).map(str::trim).map(digest);
        let before = before.get(&record.sample_id);
        if is_compared(&record) && before.is_some_and(|it| it.1 == right && it.0 != now) {
            changed.push((record.sample_id, right));
        }
    }
    Ok(changed)
}

fn is_compared(record: &Record) -> bool {
    record.perturb.is_none() && record.result.score.is_some()
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The extracted prediction, or else the whole answer.
fn answer(record: &Record) -> Option<&str> {
    let raw = record.result.output.as_ref();
    let raw = raw.and_then(|output| output.text.as_deref());
    record.result.prediction.as_deref().or(raw)
}

/// A sample with both answers.
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

/// A sample, and whether its verdicts in A and in B are right.
type WantedTexts<'a> = (&'a str, [bool; 2]);

/// The texts of these samples in order, each truncated to `most` characters. Samples that a run lacks are omitted.
fn texts_of(
    [a, b]: [&RunDir; 2],
    wanted: &[WantedTexts<'_>],
    most: usize,
) -> Result<Vec<FlipTexts>> {
    let truncate = |text: &str| truncate(text, most);
    let mut before = answers(a, wanted, 0)?;
    let mut now = answers(b, wanted, 1)?;
    let mut texts = Vec::new();
    for (id, [was_right, is_right]) in wanted {
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
            worse: *was_right && !is_right,
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

/// A representative answer of a run, the first (0) or the second, for each of these samples: the first with its verdict.
fn answers(
    dir: &RunDir,
    wanted: &[WantedTexts<'_>],
    side: usize,
) -> Result<HashMap<String, Record>> {
    let wanted = wanted.iter().map(|(id, right)| (*id, right[side]));
    let wanted: HashMap<&str, bool> = wanted.collect();
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
        let Some(right) = wanted.get(&*record.sample_id) else {
            continue;
        };
        let fits =
            |record: &Record| record.result.score.is_some() && record.result.is_correct() == *right;
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
        Self {
            answer: answer(record).map(|answer| truncate(answer, most)),
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
