//! `ItemCounts`: counts of generated items, as metrics for gates.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::RequestedTopics;
use crate::benchmark::CountsRecords;
use crate::data::{Record, Status};
use crate::scorer::item::TOPIC;

/// Prefix of a check's name: the number of replies it refused.
const REFUSED: &str = "refused";

/// Counts items from records.
pub(super) struct ItemCounts {
    topics: RequestedTopics,
    again: u32,
    accepted: u64,
    /// Items without a known outcome.
    unknown: u64,
    /// Refused replies by check. Contains all checks that may refuse.
    refused: BTreeMap<String, u64>,
    /// By topic, the numbers of requested and accepted items.
    requested: Vec<u64>,
    reached: Vec<u64>,
}

impl ItemCounts {
    /// Starts with zero counts for these checks.
    pub(super) fn new(
        topics: RequestedTopics,
        again: u32,
        checks: impl IntoIterator<Item = String>,
    ) -> Self {
        Self {
            requested: vec![0; topics.names.len()],
            reached: vec![0; topics.names.len()],
            topics,
            again,
            accepted: 0,
            unknown: 0,
            refused: checks.into_iter().map(|check| (check, 0)).collect(),
        }
    }

    /// The names of the metrics.
    pub(super) fn names(checks: impl IntoIterator<Item = String>) -> Vec<String> {
        let of_checks = checks.into_iter().map(|check| format!("{REFUSED}_{check}"));
        let whole = ["accepted", REFUSED].map(str::to_owned);
        whole.into_iter().chain(of_checks).collect()
    }

    fn topic(&self, name: Option<&Value>) -> Option<usize> {
        let name = name?.as_str()?;
        self.topics.names.iter().position(|known| known == name)
    }
}

impl CountsRecords for ItemCounts {
    fn add(&mut self, record: &Record) {
        let result = &record.result;
        for refused in &result.refused {
            *self.refused.entry(refused.reason.to_string()).or_default() += 1;
        }
        if let Some(topic) = self.topic(record.slices.get(TOPIC)) {
            self.requested[topic] += 1;
        }
        let score = result
            .score
            .as_ref()
            .filter(|_| result.status == Status::Scored && result.error.is_none());
        match score {
            None => self.unknown += 1,
            Some(score) if score.correct => {
                self.accepted += 1;
                if let Some(topic) = self.topic(score.details.get(TOPIC)) {
                    self.reached[topic] += 1;
                }
            }
            Some(score) => *self.refused.entry(score.reason.to_string()).or_default() += 1,
        }
    }

    fn finish(&self) -> Map<String, Value> {
        let refused: u64 = self.refused.values().sum();
        let most = |number: u64, each: u64| json!([number, number + self.unknown * each]);
        let replies = u64::from(self.again) + 1;
        let mut bounds = Map::new();
        bounds.insert("accepted".to_owned(), most(self.accepted, 1));
        bounds.insert(REFUSED.to_owned(), most(refused, replies));
        let mut metrics = Map::new();
        metrics.insert("accepted".to_owned(), self.accepted.into());
        metrics.insert(REFUSED.to_owned(), refused.into());
        for (check, number) in &self.refused {
            let name = format!("{REFUSED}_{check}");
            bounds.insert(name.clone(), most(*number, replies));
            metrics.insert(name, (*number).into());
        }
        if self.unknown > 0 {
            metrics.insert("bounds".to_owned(), bounds.into());
        }
        if !self.topics.names.is_empty() {
            let rows = self
                .topics
                .names
                .iter()
                .zip(self.topics.shares())
                .enumerate();
            let rows = rows.map(|(place, (name, share))| {
                json!({
                    "topic": name,
                    "share": share,
                    "asked": self.requested[place],
                    "accepted": self.reached[place],
                })
            });
            metrics.insert("topics".to_owned(), rows.collect());
        }
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{RefusedAnswer, Score};

    #[test]
    fn replies_are_counted_by_what_refused_them_and_items_by_topic() {
        let topics = RequestedTopics::even(vec!["a".to_owned(), "b".to_owned()]);
        let checks = || ["complete", "readable"].map(str::to_owned);
        let mut counts = ItemCounts::new(topics, 3, checks());
        let record = |score: Score, topic: &str| {
            let mut record = Record::scored("gen_1", score);
            record.slices.insert(TOPIC.to_owned(), topic.into());
            record
        };
        let accepted = || Score::new(1.0, true, "accepted").detail(TOPIC, "b");
        let mut again = record(accepted(), "a");
        again.result.refused = vec![RefusedAnswer {
            reason: "readable".into(),
            ..RefusedAnswer::default()
        }];
        counts.add(&again);
        counts.add(&record(accepted(), "b"));
        counts.add(&record(Score::new(0.0, false, "readable"), "a"));
        let mut failed = record(accepted(), "a");
        failed.result.status = Status::AgentFailed;
        failed.result.score = None;
        counts.add(&failed);
        let metrics = counts.finish();
        let mut names = ItemCounts::names(checks());
        for name in &names {
            assert!(metrics[name].is_u64(), "{name}");
            assert!(metrics["bounds"][name].is_array(), "{name}");
        }
        names.extend(["bounds", "topics"].map(str::to_owned));
        assert!(metrics.keys().all(|key| names.contains(key)));
        assert_eq!(metrics["accepted"], 2);
        assert_eq!(metrics["refused"], 2);
        assert_eq!(metrics["refused_readable"], 2);
        assert_eq!(metrics["refused_complete"], 0);
        assert_eq!(metrics["bounds"]["accepted"], json!([2, 3]));
        assert_eq!(metrics["bounds"]["refused"], json!([2, 6]));
        assert_eq!(
            metrics["topics"][0],
            json!({"topic": "a", "share": 0.5, "asked": 3, "accepted": 0})
        );
        assert_eq!(
            metrics["topics"][1],
            json!({"topic": "b", "share": 0.5, "asked": 1, "accepted": 2})
        );
    }
}
