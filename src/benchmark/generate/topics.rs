//! `RequestedTopics`: assigns topics to items.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::scorer::item::fields::{distinct, is_blank};
use crate::stats::SplitMix64;

/// Maximum number of topics.
const MOST: usize = 1000;

/// Topics with their shares.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RequestedTopics {
    pub(crate) names: Vec<String>,
    weights: Vec<f64>,
}

impl RequestedTopics {
    /// Topics with equal shares.
    pub(crate) fn even(names: Vec<String>) -> Self {
        let weights = vec![1.0; names.len()];
        Self { names, weights }
    }

    /// Topics of a spec: a list, or a map from topic to weight.
    ///
    /// # Errors
    /// If the value is neither.
    pub(crate) fn of(value: &Value) -> Result<Self> {
        let hint = "write `topics: [Algebra, Geometry]`, or `topics: { Algebra: 2, Geometry: 1 }`";
        let (mut names, mut weights) = (Vec::new(), Vec::new());
        match value {
            Value::Array(list) => {
                for (place, value) in list.iter().enumerate() {
                    match value {
                        Value::String(name) if !is_blank(value) => names.push(name.clone()),
                        Value::Number(number) => names.push(number.to_string()),
                        other => {
                            let error = Error::usage(format!("`{other}` is not a topic"));
                            return Err(error.hint(hint).under(place));
                        }
                    }
                    weights.push(1.0);
                }
                distinct(&names)?;
            }
            Value::Object(map) => {
                for (name, value) in map {
                    let weight = value
                        .as_f64()
                        .filter(|weight| *weight > 0.0 && *weight <= 1e6);
                    let Some(weight) = weight else {
                        let error = Error::usage(format!("`{value}` is not a share above 0"));
                        return Err(error.hint(hint).under(&**name));
                    };
                    names.push(name.clone());
                    weights.push(weight);
                }
                distinct(&names).map_err(|error| Error::usage(error.message()).hint(hint))?;
            }
            other => {
                let error = Error::usage(format!("`{other}` are not topics"));
                return Err(error.hint(hint));
            }
        }
        if names.is_empty() || names.len() > MOST {
            let error = Error::usage(format!(
                "the number of topics must be from 1 to {MOST}, not {}",
                names.len()
            ));
            return Err(error.hint(hint));
        }
        Ok(Self { names, weights })
    }

    /// Draws topics (as indices) for `count` items: after any number of items the counts follow the shares as closely
    /// as whole items allow. A longer draw starts with the shorter one.
    pub(crate) fn draw(&self, count: usize, seed: u64) -> Vec<usize> {
        let mut random = SplitMix64(seed ^ 0x746f_7069_6373);
        let whole: f64 = self.weights.iter().sum();
        let mut behind = vec![0.0; self.names.len()];
        let mut drawn = Vec::with_capacity(count);
        if self.names.is_empty() {
            return drawn;
        }
        for _ in 0..count {
            for (behind, weight) in behind.iter_mut().zip(&self.weights) {
                *behind += weight / whole;
            }
            let most = behind.iter().copied().fold(f64::MIN, f64::max);
            let equal = |place: &usize| most - behind[*place] < 1e-9;
            let first: Vec<usize> = (0..behind.len()).filter(equal).collect();
            let topic = first[random.below(first.len())];
            behind[topic] -= 1.0;
            drawn.push(topic);
        }
        drawn
    }

    /// The share of each topic.
    pub(crate) fn shares(&self) -> impl Iterator<Item = f64> {
        let whole: f64 = self.weights.iter().sum();
        self.weights.iter().map(move |weight| weight / whole)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::stats::as_f64;

    #[test]
    fn topics_are_requested_by_share_at_any_count() {
        let weights = [
            json!(["a", "b", "c", "d", "e"]),
            json!({"a": 2, "b": 1}),
            json!({"a": 0.5, "b": 3, "c": 1, "d": 7}),
            json!(["only"]),
        ];
        for value in weights {
            let topics = RequestedTopics::of(&value).unwrap();
            for seed in 0..20 {
                let drawn = topics.draw(200, seed);
                assert_eq!(drawn[..50], topics.draw(50, seed));
                for count in 1..=200 {
                    for (place, share) in topics.shares().enumerate() {
                        let requested = drawn[..count]
                            .iter()
                            .filter(|topic| **topic == place)
                            .count();
                        let off = as_f64(requested as u64) - share * as_f64(count as u64);
                        assert!(off.abs() < 1.0 + 1e-9, "{value} {seed} {count}: {off}");
                    }
                }
            }
        }
        let topics = RequestedTopics::of(&json!(["a", "b", "c", "d", "e"])).unwrap();
        assert_ne!(topics.draw(30, 1), topics.draw(30, 2));
    }

    #[test]
    fn what_are_no_topics_is_refused() {
        let check = |value: Value, expect: &str| {
            let error = RequestedTopics::of(&value).unwrap_err();
            assert_eq!(error.message(), expect);
            assert!(error.hint_text().is_some());
        };
        check(
            json!([]),
            "the number of topics must be from 1 to 1000, not 0",
        );
        check(json!(["a", " A "]), "` A ` is there twice");
        check(json!({"a": 0}), "`0` is not a share above 0");
        check(json!([["a"]]), "`[\"a\"]` is not a topic");
        check(json!("a"), "`\"a\"` are not topics");
    }
}
