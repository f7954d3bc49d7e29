//! `Score`: a scorer's verdict on one answer.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::text::py_float;

/// The verdict on one answer.
///
/// ```
/// use evaltest::Score;
///
/// let right = Score::binary("paris" == "paris").normalized("paris", "paris");
/// assert!(right.correct && right.reason == "exact_match");
///
/// // Half right, which does not count as correct; the entry `words` gets its mean in the summary.
/// let half = Score::new(0.5, false, "some_words").detail("words", 3);
/// assert_eq!(half.value, 0.5);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// From 0.0 (worst) to 1.0 (best).
    pub value: f64,
    /// Whether the answer counts as correct.
    pub correct: bool,
    /// The reason, as a short constant such as `exact_match`.
    pub reason: Cow<'static, str>,
    /// The prediction in the form that was compared.
    pub normalized_prediction: Normalized,
    /// The ground truth in the form that was compared.
    pub normalized_ground_truth: Normalized,
    /// Further values of the scorer. The summary has the mean of every numeric or boolean entry.
    pub details: Details,
}

impl Score {
    /// A binary verdict: 1.0 with `exact_match`, or 0.0 with `mismatch`.
    pub fn binary(correct: bool) -> Self {
        Self {
            value: if correct { 1.0 } else { 0.0 },
            correct,
            reason: Cow::Borrowed(if correct { "exact_match" } else { "mismatch" }),
            normalized_prediction: Normalized::None,
            normalized_ground_truth: Normalized::None,
            details: Details::new(),
        }
    }

    /// A verdict with a value from 0.0 to 1.0 and a short constant as the reason.
    pub fn new(value: f64, correct: bool, reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            value,
            reason: reason.into(),
            ..Self::binary(correct)
        }
    }

    /// Sets the compared texts.
    #[must_use]
    pub fn normalized(
        mut self,
        prediction: impl Into<Normalized>,
        ground_truth: impl Into<Normalized>,
    ) -> Self {
        self.normalized_prediction = prediction.into();
        self.normalized_ground_truth = ground_truth.into();
        self
    }

    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        self.details.insert(name, value);
        self
    }
}

impl From<String> for Normalized {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Normalized {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<String>> for Normalized {
    fn from(items: Vec<String>) -> Self {
        Self::List(items)
    }
}

/// A text as compared by a scorer: `null`, a string or an array of strings in files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Normalized {
    /// Unknown.
    #[default]
    None,
    /// One text; a number as Python prints a float (`19.0`, `inf`).
    Text(String),
    /// The elements of a list.
    List(Vec<String>),
}

impl Serialize for Normalized {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => items.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Normalized {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::None),
            Value::String(text) => Ok(Self::Text(text)),
            list => serde_json::from_value(list)
                .map(Self::List)
                .map_err(serde::de::Error::custom),
        }
    }
}

/// Column of the confusion matrix for predictions that are not a label.
pub(crate) const OTHER: &str = "(other)";

/// Minimum and maximum of details, by names of scorer and detail: `value` is the score itself.
pub(crate) type DetailBounds = BTreeMap<String, BTreeMap<String, [f64; 2]>>;

/// The compared prediction for display. GAIA's rule parses a text that is no number as infinite; files keep this
/// `inf`, but it would confuse people.
pub fn display_prediction(score: &Score) -> Normalized {
    const NO_NUMBER: &str = "no number";
    let kind = score.details.get("kind").and_then(|kind| kind.as_str());
    let is_none = |prediction: &str, truth: &str| {
        prediction == "inf" && py_float(truth).is_some_and(f64::is_finite)
    };
    match (
        kind,
        &score.normalized_prediction,
        &score.normalized_ground_truth,
    ) {
        (Some("number"), Normalized::Text(prediction), Normalized::Text(truth))
            if is_none(prediction, truth) =>
        {
            NO_NUMBER.into()
        }
        (Some("list"), Normalized::List(prediction), Normalized::List(truths)) => {
            let display = prediction.iter().zip(truths).map(|(prediction, truth)| {
                let prediction = if is_none(prediction, truth) {
                    NO_NUMBER
                } else {
                    prediction
                };
                prediction.to_owned()
            });
            Normalized::List(display.collect())
        }
        (_, prediction, _) => prediction.clone(),
    }
}

/// Named values in insertion order. A score has only a few, mostly with static names, so a list needs less time and
/// memory than a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details(Vec<(Cow<'static, str>, Value)>);

impl Details {
    /// No details.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an entry, replacing one with the same name.
    pub fn insert(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => entry.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// The entry with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let entry = self.0.iter().find(|entry| entry.0 == name)?;
        Some(&entry.1)
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// Retains only the entries for which `holds` is true.
    pub(crate) fn retain(&mut self, holds: impl Fn(&str, &Value) -> bool) {
        self.0.retain(|(name, value)| holds(name, value));
    }

    /// All values, mutable.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut().map(|entry| &mut entry.1)
    }
}

impl From<Map<String, Value>> for Details {
    fn from(map: Map<String, Value>) -> Self {
        let entries = map.into_iter();
        Self(entries.map(|(name, value)| (name.into(), value)).collect())
    }
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Details {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Details;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Details, A::Error> {
                let mut details = Details::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    details.insert(name, value);
                }
                Ok(details)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use crate::scorer::question_scorer;

    use super::*;

    #[test]
    fn what_is_no_number_is_called_so() {
        let check = |prediction: &str, truth: &str, expect: Normalized| {
            let score = Score::from(question_scorer(Some(prediction), truth));
            assert_eq!(
                display_prediction(&score),
                expect,
                "{prediction} for {truth}"
            );
        };
        check("19 km", "19", "no number".into());
        check("20", "19", "20.0".into());
        check("inf", "inf", "inf".into());
        check("Inf", "seagull", "inf".into());
        let list =
            |items: &[&str]| Normalized::List(items.iter().map(|&item| item.into()).collect());
        check("a, x", "a, 2", list(&["a", "no number"]));
        check("inf, 3", "inn, 3", list(&["inf", "3.0"]));
    }
}

#[cfg(test)]
mod details_tests {
    use super::*;

    #[test]
    fn keeps_order_and_replaces() {
        let mut details = Details::new();
        details.insert("z", 1);
        details.insert(String::from("a"), "x");
        details.insert("z", true);
        let text = serde_json::to_string(&details).expect("JSON");
        assert_eq!(text, r#"{"z":true,"a":"x"}"#);
        let read: Details = serde_json::from_str(&text).expect("the same");
        assert_eq!(read, details);
        assert_eq!(read.get("a"), Some(&Value::from("x")));
        assert_eq!(read.get("b"), None);
    }
}
