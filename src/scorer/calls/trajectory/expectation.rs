//! The expectation for a run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use super::{expected_calls, inside};
use crate::calls::read::Call;
use crate::error::{Error, Result, nearest};

/// The keys of an expectation.
pub(super) const KEYS: [&str; 8] = [
    "after",
    "order",
    "required",
    "forbidden",
    "minimal_calls",
    "min_efficiency",
    "calls",
    "ordered",
];

/// The expectation for a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Expectation {
    /// (earlier, later): each call of the later tool must come after one of the earlier.
    pub(super) after: BTreeSet<(String, String)>,
    pub(super) required: BTreeSet<String>,
    pub(super) forbidden: BTreeSet<String>,
    pub(super) minimal_calls: Option<u64>,
    pub(super) min_efficiency: Option<f64>,
    /// The calls of the shortest run, all of which must be made.
    pub(super) calls: Vec<Call>,
    /// Whether they must be made in this order.
    pub(super) ordered: bool,
}

impl Expectation {
    /// Whether nothing is expected.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The number of calls of the shortest run, if given.
    pub(super) fn minimal(&self) -> Option<u64> {
        let listed = u64::try_from(self.calls.len())
            .ok()
            .filter(|&count| count > 0);
        self.minimal_calls.or(listed)
    }

    /// Reads a sample's metadata: an object with [`KEYS`], or the calls of the shortest run.
    pub(super) fn of(value: &Json) -> Result<Self, String> {
        let value = inside(value);
        match &*value {
            Json::Object(map) if map.keys().all(|key| KEYS.contains(&key.as_str())) => {
                Self::read(map)
                    .map_err(|error| format!("is not an expectation: {}", error.message()))
            }
            Json::Object(map) if map.keys().any(|key| KEYS.contains(&key.as_str())) => {
                let other = map.keys().find(|key| !KEYS.contains(&key.as_str()));
                let other = other.map_or("", String::as_str);
                let near = nearest(other, KEYS);
                let near = near
                    .map(|near| format!(", did you mean `{near}`?"))
                    .unwrap_or_default();
                Err(format!(
                    "has a `{other}`, which is not an expectation{near}"
                ))
            }
            calls => Ok(Self {
                calls: expected_calls(calls)?,
                ..Self::default()
            }),
        }
    }

    /// Reads a ground truth. Text that is not JSON is for other scorers: the answer itself, or the calls of `ast_match`.
    /// It is call text where it is `needed`, because nothing else says what is expected.
    pub(super) fn of_target(target: &Json, needed: bool) -> Result<Self, String> {
        let none = || "is not a list of calls".to_owned();
        match &*inside(target) {
            Json::Null => Err("is missing".to_owned()),
            value @ (Json::Object(_) | Json::Array(_)) => Self::of(value),
            value @ Json::String(text) => {
                let text = text.trim();
                if text.is_empty() || !needed {
                    return Err(none());
                }
                let is_list = text.starts_with('[');
                Self::of(value).map_err(|reason| if is_list { reason } else { none() })
            }
            _ => Err(none()),
        }
    }

    pub(super) fn read(map: &Map<String, Json>) -> Result<Self> {
        let wrong = |key: &str, wanted: &str| {
            Error::usage(format!("`{key}` is `{}`, not {wanted}", map[key])).under(key)
        };
        let given = |key: &str| map.get(key).filter(|value| !value.is_null());
        let names = |key: &str| match given(key) {
            None => Ok(Vec::new()),
            Some(value) => texts(value).ok_or_else(|| wrong(key, "a list of names")),
        };
        let mut expected = Self::default();
        if let Some(value) = given("after") {
            let entries = value
                .as_object()
                .ok_or_else(|| wrong("after", "a map of names to lists of names"))?;
            for (later, earlier) in entries {
                let earlier = texts(earlier)
                    .ok_or_else(|| wrong("after", "a map of names to lists of names"))?;
                let pairs = earlier.into_iter().map(|earlier| (earlier, later.clone()));
                expected.after.extend(pairs);
            }
        }
        let order = names("order")?;
        for pair in order.windows(2) {
            expected.after.insert((pair[0].clone(), pair[1].clone()));
        }
        expected.required = names("required")?.into_iter().chain(order).collect();
        expected.forbidden = names("forbidden")?.into_iter().collect();
        expected.minimal_calls = given("minimal_calls")
            .map(|value| {
                value
                    .as_u64()
                    .ok_or_else(|| wrong("minimal_calls", "a whole number"))
            })
            .transpose()?;
        expected.min_efficiency = given("min_efficiency")
            .map(|value| {
                let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
                number.ok_or_else(|| wrong("min_efficiency", "a number from 0 to 1"))
            })
            .transpose()?;
        expected.ordered = given("ordered")
            .map(|value| {
                value
                    .as_bool()
                    .ok_or_else(|| wrong("ordered", "true or false"))
            })
            .transpose()?
            .unwrap_or(false);
        if let Some(calls) = given("calls") {
            expected.calls = expected_calls(calls)
                .map_err(|reason| Error::usage(format!("`calls` {reason}")).under("calls"))?;
        }
        expected.check()?;
        Ok(expected)
    }

    /// Merges this with the expectation for one sample, whose figures win.
    pub(super) fn and(&self, own: Self) -> Result<Self> {
        if self.is_empty() {
            return Ok(own);
        }
        let both = Self {
            after: self.after.union(&own.after).cloned().collect(),
            required: self.required.union(&own.required).cloned().collect(),
            forbidden: self.forbidden.union(&own.forbidden).cloned().collect(),
            minimal_calls: own
                .minimal_calls
                .or(self.minimal_calls.filter(|_| own.calls.is_empty())),
            min_efficiency: own.min_efficiency.or(self.min_efficiency),
            ..own
        };
        both.check()?;
        Ok(both)
    }

    /// Rejects what no run can satisfy.
    fn check(&self) -> Result<()> {
        if let Some(name) = self.required.intersection(&self.forbidden).next() {
            return Err(Error::usage(format!(
                "`{name}` is both required and forbidden"
            )));
        }
        let called = self.calls.iter().map(|call| &call.name);
        if let Some(name) = called
            .into_iter()
            .find(|name| self.forbidden.contains(*name))
        {
            return Err(Error::usage(format!(
                "`{name}` is both expected and forbidden"
            )));
        }
        let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
        let mut followers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (earlier, later) in &self.after {
            waiting.entry(earlier).or_default();
            *waiting.entry(later).or_default() += 1;
            followers.entry(earlier).or_default().push(later);
        }
        let mut free: Vec<&str> = waiting
            .iter()
            .filter(|(_, count)| **count == 0)
            .map(|(name, _)| *name)
            .collect();
        while let Some(name) = free.pop() {
            waiting.remove(name);
            for later in followers.remove(name).unwrap_or_default() {
                if let Some(count) = waiting.get_mut(later) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(later);
                    }
                }
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = waiting.into_keys().take(5).collect();
        Err(Error::usage(format!(
            "the order is circular: `{}` would have to come after themselves",
            names.join("`, `")
        )))
    }

    /// Everything, to distinguish two expectations.
    pub(super) fn to_json(&self) -> Json {
        json!({
            "after": self.after,
            "required": self.required,
            "forbidden": self.forbidden,
            "minimal_calls": self.minimal_calls,
            "min_efficiency": self.min_efficiency,
        })
    }
}

/// One name, or a list of names.
fn texts(value: &Json) -> Option<Vec<String>> {
    match value {
        Json::String(name) => Some(vec![name.clone()]),
        Json::Array(names) => names
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect(),
        _ => None,
    }
}
