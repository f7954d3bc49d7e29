//! Reduces a record that stays in memory.

use serde_json::{Map, Value};

use super::{Record, truncate};
use crate::data::Output;

impl Record {
    /// Drops what only the run's figures need, once they are computed, and spare capacity: a third of a scored sample.
    pub(crate) fn lighten(&mut self) {
        let result = &mut self.result;
        for call in &mut result.judged {
            call.output = call.output.take().map(|output| Output {
                usage: output.usage,
                ..Output::default()
            });
        }
        result.judged.shrink_to_fit();
        shrink(&mut result.scores);
        shrink(&mut self.slices);
    }
}

/// Moves the entries into a map without spare capacity, which is up to half.
fn shrink(map: &mut Map<String, Value>) {
    let tight = |(key, mut value): (String, Value)| {
        match &mut value {
            Value::Object(map) => shrink(map),
            Value::Array(items) => items.shrink_to_fit(),
            _ => {}
        }
        (key, value)
    };
    *map = std::mem::take(map).into_iter().map(tight).collect();
}

/// Truncates long texts in a value.
pub(super) fn truncate_all(value: &mut Value) {
    match value {
        Value::String(text) => truncate(text),
        Value::Array(items) => items.iter_mut().for_each(truncate_all),
        Value::Object(map) => map.values_mut().for_each(truncate_all),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{JudgeCall, Score, Status, Usage};
    use crate::verdict::summary::tests::record;

    /// A sample scored by one judge, whose reply has parts of this length.
    fn judged(length: usize) -> Record {
        let text = "é".repeat(length);
        let mut record = record("a", Status::Scored, true, "1");
        let score = Score::binary(true).detail("total", 4);
        let score = score.detail("comments", text.as_str());
        let score = score.detail("parts", json!({"judge": [&text]}));
        let entry = serde_json::to_value(&score).unwrap();
        record.result.scores = Map::from_iter([("judge".to_owned(), entry)]);
        record.result.score = Some(score);
        let output = Output::text(text.as_str()).messages([json!({"content": text})]);
        let mut output = output.usage(Usage::tokens(7, 1));
        output.metadata.insert("model".into(), "m".into());
        record.result.judged = vec![JudgeCall {
            output: Some(output),
            ..JudgeCall::default()
        }];
        record
    }

    #[test]
    fn lean_record_size_is_independent_of_judge_replies() {
        let size = |length: usize| {
            let mut record = judged(length);
            record.abridge();
            serde_json::to_string(&record).unwrap().len()
        };
        assert_eq!(size(10_000), size(1_000_000));
        let mut short = judged(100);
        short.abridge();
        let score = short.result.score.as_ref().unwrap();
        assert_eq!(score.details.get("comments"), Some(&"é".repeat(100).into()));
    }

    #[test]
    fn what_is_lighter_says_the_same() {
        let mut record = judged(1);
        record.abridge();
        let abridged = record.clone();
        record.lighten();
        assert_eq!(record.result.scores, abridged.result.scores);
        assert_eq!(record.slices, abridged.slices);
        let [call] = &record.result.judged[..] else {
            panic!("{:?}", record.result.judged);
        };
        assert_eq!(call.usage(), abridged.result.judged[0].usage());
        assert!(call.output.as_ref().unwrap().metadata.is_empty());
        assert_eq!(record.result.judged.capacity(), 1);
    }
}
