//! `MadeItems`: what is said of items while they are made.

use evaltest::engine::report::terminal::amounts;
use evaltest::engine::text::clean;
use evaltest::{Normalized, Record};
use serde_json::Value;

/// So many characters of a topic, or of an answer, are shown.
const SHOWN: usize = 16;

/// What became of items so far.
#[derive(Debug, Default)]
pub(super) struct MadeItems {
    accepted: u64,
    refused: u64,
    /// The last one, in words.
    last: Option<String>,
}

impl MadeItems {
    /// One more has ended.
    pub(super) fn ended(&mut self, record: &Record) {
        let outcome = &record.result;
        self.refused += outcome.refused.len() as u64;
        if outcome.is_correct() {
            self.accepted += 1;
        } else if outcome.score.is_some() {
            self.refused += 1;
        }
        let topic = record.slices.get("topic").and_then(Value::as_str);
        let answer = answer(record);
        let parts = [topic.map(str::to_owned), answer];
        let parts = parts.into_iter().flatten().map(|part| short(&part));
        let parts: Vec<_> = parts.collect();
        let seconds = amounts::seconds(outcome.latency_s);
        self.last = Some(if parts.is_empty() {
            format!("the last in {seconds}")
        } else {
            format!("the last: {} in {seconds}", parts.join(", "))
        });
    }

    /// In words, the most important first.
    pub(super) fn parts(&self) -> impl Iterator<Item = String> {
        let counts = [
            format!("{} accepted", self.accepted),
            format!("{} refused", self.refused),
        ];
        counts.into_iter().chain(self.last.clone())
    }
}

/// The answer of the item.
fn answer(record: &Record) -> Option<String> {
    let score = record.result.score.as_ref()?;
    let Normalized::Text(item) = &score.normalized_prediction else {
        return None;
    };
    let item: Value = serde_json::from_str(item).ok()?;
    match item.get("answer")? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn short(text: &str) -> String {
    let text = clean(text.trim());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
