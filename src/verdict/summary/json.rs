//! A [`Summary`] as `summary.json` has it: the figures of all samples stand among its own members.

use std::ops::{Deref, DerefMut};

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Group, Summary};
use crate::verdict::summary::account::Account;

impl Deref for Summary {
    type Target = Group;

    fn deref(&self) -> &Group {
        &self.whole
    }
}

impl DerefMut for Summary {
    fn deref_mut(&mut self) -> &mut Group {
        &mut self.whole
    }
}

/// Writes members in their order.
macro_rules! write_members {
    ($map:ident: $($name:literal: $value:expr $(, if $is_there:expr)?;)*) => {
        $(
            if true $(&& $is_there)? {
                $map.serialize_entry($name, &$value)?;
            }
        )*
    };
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = &self.whole;
        let mut map = serializer.serialize_map(None)?;
        write_members!(map:
            "format_version": self.format_version;
            "eval": self.eval;
            "partial": self.partial, if self.partial;
            "judges_items": self.judges_items, if self.judges_items;
            "tier": self.tier, if self.tier.is_some();
            "part": self.part, if self.part.is_some();
            "progressive": self.progressive, if self.progressive.is_some();
            "early_stop": self.early_stop, if self.early_stop.is_some();
            "samples": whole.samples;
            "scored": whole.scored;
            "correct": whole.correct;
            "errors": whole.errors;
            "unscored": whole.unscored;
            "skipped": whole.skipped;
            "not_judged": self.not_judged, if self.not_judged > 0;
            "cached": whole.cached, if whole.cached > 0;
            "recorded": whole.recorded, if whole.recorded > 0;
            "refused": self.refused, if self.refused > 0;
            "failed_as_wrong": whole.failed_as_wrong, if whole.failed_as_wrong > 0;
            "accuracy": whole.accuracy;
            "accuracy_bounds": whole.accuracy_bounds;
            "accuracy_ci95": whole.accuracy_ci95;
            "failure_rate": whole.failure_rate;
            "failure_rate_bounds": whole.failure_rate_bounds;
            "failure_rate_ci95": whole.failure_rate_ci95;
            "account": self.account, if self.account != Account::default();
            "change": self.change, if self.change.is_some();
            "error_rate": whole.error_rate;
            "failures": self.failures;
            "means": whole.means;
            "mean_ranges": whole.mean_ranges;
            "labels": whole.labels, if whole.labels.is_some();
            "slices": self.slices;
            "difficulty_drop": self.difficulty_drop;
            "scorer": self.scorer, if self.scorer.is_some();
            "scorers": whole.scorers;
            "epochs": whole.epochs, if whole.epochs.is_some();
            "perturb": self.perturb, if !self.perturb.is_empty();
            "flaky": self.flaky, if !self.flaky.is_empty();
            "found_by": self.found_by, if !self.found_by.is_empty();
            "reading": self.reading, if self.reading.is_some();
            "shortfall": self.shortfall, if self.shortfall.is_some();
            "usage": whole.usage;
            "latency_s": whole.latency_s;
            "steps": whole.steps, if whole.steps.is_some();
            "tool_calls": whole.tool_calls, if whole.tool_calls.is_some();
            "output_length": whole.output_length, if whole.output_length.is_some();
            "conversations": whole.conversations, if whole.conversations.is_some();
            "attempts": self.attempts;
            "recovered_by_retry": self.recovered_by_retry;
            "judge": self.judge, if self.judge.is_some();
            "reviewed": self.reviewed, if self.reviewed.is_some();
            "metrics": self.metrics;
            "gates": self.gates;
            "alerts": self.alerts, if !self.alerts.is_empty();
            "exit_code": self.exit_code;
        );
        map.end()
    }
}

impl<'de> Deserialize<'de> for Summary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Value::Object(Map::deserialize(deserializer)?);
        let summary = Self::of_members(&members);
        summary.map_err(D::Error::custom)
    }
}

impl Summary {
    fn of_members(members: &Value) -> serde_json::Result<Self> {
        let mut summary = Self {
            whole: Group::deserialize(members)?,
            format_version: required(members, "format_version")?,
            eval: required(members, "eval")?,
            partial: optional(members, "partial")?,
            judges_items: optional(members, "judges_items")?,
            tier: optional(members, "tier")?,
            part: optional(members, "part")?,
            progressive: optional(members, "progressive")?,
            early_stop: optional(members, "early_stop")?,
            not_judged: optional(members, "not_judged")?,
            refused: optional(members, "refused")?,
            account: optional(members, "account")?,
            change: optional(members, "change")?,
            failures: optional(members, "failures")?,
            slices: required(members, "slices")?,
            difficulty_drop: optional(members, "difficulty_drop")?,
            scorer: optional(members, "scorer")?,
            perturb: optional(members, "perturb")?,
            flaky: optional(members, "flaky")?,
            found_by: optional(members, "found_by")?,
            reading: optional(members, "reading")?,
            shortfall: optional(members, "shortfall")?,
            attempts: required(members, "attempts")?,
            recovered_by_retry: required(members, "recovered_by_retry")?,
            judge: optional(members, "judge")?,
            reviewed: optional(members, "reviewed")?,
            metrics: optional(members, "metrics")?,
            gates: required(members, "gates")?,
            alerts: optional(members, "alerts")?,
            exit_code: required(members, "exit_code")?,
            ignored_matter: false,
        };
        let unjudged = summary.failures.get("scorer_failed").copied();
        summary.whole.unjudged = unjudged.unwrap_or_default();
        Ok(summary)
    }
}

fn required<T: DeserializeOwned>(members: &Value, name: &'static str) -> serde_json::Result<T> {
    let value = members.get(name);
    let value = value.ok_or_else(|| serde_json::Error::missing_field(name))?;
    T::deserialize(value)
}

fn optional<T: DeserializeOwned + Default>(members: &Value, name: &str) -> serde_json::Result<T> {
    members
        .get(name)
        .map_or_else(|| Ok(T::default()), T::deserialize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::summary::tests::judged;

    #[test]
    fn figures_of_all_samples_stand_among_the_members() {
        let mut summary = Summary::of("e", &[judged("a", &[("s", Some(true)), ("t", None)])]);
        summary.not_judged = 1;
        let written = serde_json::to_value(&summary).unwrap();
        let members = written.as_object().unwrap();
        let group = serde_json::to_value(&summary.whole).unwrap();
        for (name, value) in group.as_object().unwrap() {
            assert_eq!(members.get(name), Some(value), "{name}");
        }
        let read: Summary = serde_json::from_value(written).unwrap();
        assert_eq!(read, summary);
    }
}
