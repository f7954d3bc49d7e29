//! `MadeItems`: progress of generated items.

use std::collections::HashMap;

use evaltest::engine::figure::Seconds;
use evaltest::engine::text::clean;
use evaltest::{Normalized, Record};
use serde_json::Value;

/// Maximum characters shown of a topic or an answer.
const MAX_CHARS: usize = 16;

/// Counts of generated items.
#[derive(Debug, Default)]
pub(super) struct MadeItems {
    accepted: u64,
    refused: u64,
    /// Refused replies of items that are not finished, by item and epoch.
    open: HashMap<(String, u32), u64>,
    /// Text about the last item.
    last: Option<String>,
}

impl MadeItems {
    /// Records a refused reply, which is requested again.
    pub(super) fn refused(&mut self, id: &str, epoch: u32) {
        self.refused += 1;
        *self.open.entry((id.to_owned(), epoch)).or_insert(0) += 1;
    }

    /// Records a finished item.
    pub(super) fn ended(&mut self, record: &Record) {
        let outcome = &record.result;
        // Refusals in an earlier part of the run are unknown.
        let open = self.open.remove(&(record.sample_id.clone(), record.epoch));
        self.refused += (outcome.refused.len() as u64).saturating_sub(open.unwrap_or(0));
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
        let seconds = Seconds(outcome.latency_s);
        self.last = Some(if parts.is_empty() {
            format!("the last in {seconds}")
        } else {
            format!("the last: {} in {seconds}", parts.join(", "))
        });
    }

    /// The counts as texts, the most important first.
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
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use evaltest::Score;

    use super::*;

    #[test]
    fn what_was_refused_is_counted_once() {
        let mut made = MadeItems::default();
        made.refused("a", 0);
        let parts = |made: &MadeItems| made.parts().collect::<Vec<_>>().join(", ");
        assert_eq!(parts(&made), "0 accepted, 1 refused");
        let item = r#"{"problem": "?", "answer": 42}"#.to_owned();
        let mut score = Score::binary(true);
        score.normalized_prediction = Normalized::Text(item);
        let mut record = Record::scored("a", score);
        record
            .slices
            .insert("topic".to_owned(), "Number Theory of old".into());
        record.result.latency_s = 3.2;
        let before =
            serde_json::json!([{ "attempt": 1, "reason": "x" }, { "attempt": 2, "reason": "x" }]);
        record.result.refused = serde_json::from_value(before).unwrap();
        made.ended(&record);
        // One of the two was refused in an earlier part of the run.
        assert_eq!(
            parts(&made),
            "1 accepted, 2 refused, the last: Number Theory of…, 42 in 3.2 s"
        );
        made.ended(&Record::scored("b", Score::binary(false)));
        assert_eq!(parts(&made), "1 accepted, 3 refused, the last in 0.0 s");
    }
}
