//! `JudgedItems`: a judge's verdicts on each item of a run, with hashes of the answers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::data::{Output, Record, Status};
use crate::stats::as_f64;
use crate::text::hash::{Hasher, MaskKey};
use crate::verdict::gate::Slice;

/// The name of the score among the figures.
pub(crate) const VALUE: &str = "value";
/// The name of correctness, whose mean is the accuracy.
pub(crate) const CORRECT: &str = "correct";
/// The name of the points on the scale of a rubric.
pub(crate) const TOTAL: &str = "total";
/// The name of the verdict as a word, which is not a number.
pub(crate) const VERDICT: &str = "verdict";

/// Details about the judging rather than the answer.
const OF_JUDGING: [&str; 2] = ["self_agreement", "repaired"];

/// An item of a run with the verdicts of a judge.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JudgedItem {
    pub(crate) id: String,
    /// The group of dependent items it belongs to.
    pub(crate) cluster: Option<String>,
    pub(crate) slices: Vec<Slice>,
    /// Hash of its first answer; `None` if there is none.
    pub(crate) answer: Option<String>,
    /// The verdict on that answer.
    pub(crate) first: GivenFigures,
    /// The sum of each figure over the epochs that have it, and their number.
    sums: BTreeMap<String, (f64, u64)>,
    /// The number of epochs that should have a verdict, and of those that have it.
    pub(crate) wanted: u64,
    pub(crate) given: u64,
}

/// A judge's verdict on one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GivenFigures {
    pub(crate) numbers: BTreeMap<String, f64>,
    pub(crate) verdict: Option<String>,
}

/// A judge's verdicts on the items of a run.
#[derive(Clone)]
pub(crate) struct JudgedItems {
    scorer: String,
    /// The deciding scorer.
    first: Option<String>,
    pub(crate) items: Vec<JudgedItem>,
    population: Hasher,
}

impl JudgedItems {
    /// Without records yet; `first` is the deciding scorer.
    pub(crate) fn new(scorer: &str, first: Option<&str>) -> Self {
        Self {
            scorer: scorer.to_owned(),
            first: first.map(str::to_owned),
            items: Vec::new(),
            population: Hasher::default(),
        }
    }

    /// Adds a record; records of a sample must be consecutive.
    pub(crate) fn add(&mut self, record: &Record) {
        let answer = answer_hash(record);
        let hash = std::mem::take(&mut self.population);
        self.population = hash
            .part(&record.sample_id)
            .part(record.epoch.to_le_bytes())
            .part(answer.as_deref().unwrap_or_default());
        if self
            .items
            .last()
            .is_none_or(|item| item.id != record.sample_id)
        {
            self.items.push(JudgedItem {
                id: record.sample_id.clone(),
                cluster: record.cluster.clone(),
                slices: Slice::all_of(record),
                ..JudgedItem::default()
            });
        }
        let given = GivenFigures::of(record, &self.scorer, self.first.as_deref());
        let Some(item) = self.items.last_mut() else {
            return;
        };
        item.wanted += u64::from(record.result.status != Status::Unscored);
        if let Some(given) = &given {
            item.given += 1;
            for (name, number) in &given.numbers {
                let (sum, count) = item.sums.entry(name.clone()).or_default();
                *sum += number;
                *count += 1;
            }
        }
        if record.epoch == 0 {
            item.answer = answer;
            item.first = given.unwrap_or_default();
        }
    }

    /// The items, and the hash of all ids with their answers.
    pub(crate) fn finish(self) -> (Vec<JudgedItem>, String) {
        (self.items, self.population.hex())
    }
}

impl JudgedItem {
    /// The mean of a figure over the epochs that have it.
    pub(crate) fn mean(&self, figure: &str) -> Option<f64> {
        let (sum, count) = self.sums.get(figure)?;
        Some(sum / as_f64(*count))
    }

    /// The share (0 to 1) of the expected verdicts of its epochs that is missing.
    pub(crate) fn missing(&self) -> f64 {
        match self.wanted {
            0 => 0.0,
            wanted => as_f64(wanted.saturating_sub(self.given)) / as_f64(wanted),
        }
    }

    /// Its group, or a unique group of its own.
    pub(crate) fn group(&self) -> String {
        group(self.cluster.as_deref(), &self.id)
    }
}

/// A group of items, or a single item as its own group.
pub(crate) fn group(cluster: Option<&str>, id: &str) -> String {
    match cluster {
        Some(cluster) => format!("cluster {cluster}"),
        None => format!("item {id}"),
    }
}

impl GivenFigures {
    /// The verdict of the scorer of this name in a record; `None` without a verdict or an answer.
    pub(crate) fn of(record: &Record, scorer: &str, first: Option<&str>) -> Option<Self> {
        let outcome = &record.result;
        if outcome.is_failure_as_wrong() {
            return None;
        }
        if let Some(score) = outcome.scores.get(scorer) {
            let details = score.get("details").and_then(Value::as_object);
            let details = details.into_iter().flatten();
            return Some(Self::read(
                score.get(VALUE)?.as_f64()?,
                score.get(CORRECT)?.as_bool()?,
                details.map(|(name, value)| (name.as_str(), value)),
            ));
        }
        if first.is_some_and(|first| first != scorer) || outcome.status != Status::Scored {
            return None;
        }
        let score = outcome.score.as_ref()?;
        Some(Self::read(score.value, score.correct, score.details.iter()))
    }

    fn read<'a>(
        value: f64,
        correct: bool,
        details: impl Iterator<Item = (&'a str, &'a Value)>,
    ) -> Self {
        let share = |is: bool| if is { 1.0 } else { 0.0 };
        let mut found = Self::default();
        for (name, detail) in details.filter(|(name, _)| !OF_JUDGING.contains(name)) {
            let number = detail.as_f64().or_else(|| detail.as_bool().map(share));
            if let Some(number) = number {
                found.numbers.insert(name.to_owned(), number);
            } else if name == VERDICT {
                found.verdict = detail.as_str().map(str::to_owned);
            }
        }
        found.numbers.insert(VALUE.to_owned(), value);
        found.numbers.insert(CORRECT.to_owned(), share(correct));
        found
    }
}

/// Hash of an answer, keyed if answers are masked so that guesses cannot be tested; `None` if there is no answer.
fn answer_hash(record: &Record) -> Option<String> {
    let Output {
        text, tool_calls, ..
    } = record.result.output.as_ref()?;
    let calls = serde_json::to_string(tool_calls).unwrap_or_default();
    let text = serde_json::to_string(text).unwrap_or_default();
    Some(match MaskKey::from_hex(&record.mask) {
        Some(key) => key.short(["answer", &text, &calls]),
        None => Hasher::default().part(text).part(calls).short(),
    })
}
