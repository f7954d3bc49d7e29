//! Whether the deciding judge is served by the same model as in the baseline.
//!
//! The prompt and configured model of a judge are part of its scorer, and another scorer is refused in advance. The
//! model that serves it is known only from its replies: a name such as `latest` may have been moved, and then the judge
//! may have changed rather than the agent. Fingerprints in addition to the name depend on the endpoint's machines and
//! change every week: they are recorded, but not compared.

use std::collections::{BTreeMap, BTreeSet};

use super::message;
use crate::data::calibration::model_name as name;
use crate::data::{JudgeCall, Output};
use crate::verdict::baseline::Baseline;

/// The warning if another model serves the judge.
pub(crate) const OTHER_JUDGE: &str = "the change may come from the judge";

/// Models that served judges, by the name of the scorer.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServedJudges(BTreeMap<String, BTreeSet<String>>);

impl ServedJudges {
    /// The models of a finished run.
    pub(in crate::verdict) fn of(models: BTreeMap<String, BTreeMap<String, u64>>) -> Self {
        let models = models.into_iter();
        Self(
            models
                .map(|(scorer, models)| (scorer, models.into_keys().collect()))
                .collect(),
        )
    }

    /// The models of one record.
    pub(crate) fn of_calls(calls: &[JudgeCall]) -> Self {
        let mut served = Self::default();
        for call in calls {
            if let Some(model) = call.output.as_ref().and_then(Output::answered_by) {
                served
                    .0
                    .entry(call.scorer.clone())
                    .or_default()
                    .insert(model);
            }
        }
        served
    }

    /// A message if the deciding judge is served by a model that served it in no run of the baseline; `None` if it is
    /// not, or if either is unknown. Deciding judges are those not in `is_secondary`: the first scorer, or a part of it.
    pub(crate) fn other_than(
        &self,
        baseline: &Baseline,
        is_secondary: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let other = self.other(baseline, is_secondary)?;
        Some(format!(
            "judge `{}` is served by {} now and by {} in the baseline: {OTHER_JUDGE}; accept a run with this judge: \
             `cargo evaltest accept`",
            other.scorer, other.now, other.before
        ))
    }

    /// The same for two runs with these names, the first being the baseline.
    pub(in crate::verdict) fn other_between(
        &self,
        baseline: &Baseline,
        is_secondary: impl Fn(&str) -> bool,
        [first, second]: [&str; 2],
    ) -> Option<String> {
        let other = self.other(baseline, is_secondary)?;
        Some(format!(
            "judge `{}` is served by {} in {second} and by {} in {first}: {OTHER_JUDGE}",
            other.scorer, other.now, other.before
        ))
    }

    fn other(
        &self,
        baseline: &Baseline,
        is_secondary: impl Fn(&str) -> bool,
    ) -> Option<OtherJudge> {
        let mut decide = self.0.iter().filter(|(scorer, _)| !is_secondary(scorer));
        decide.find_map(|(scorer, now)| {
            let before = baseline
                .judges
                .get(scorer)
                .filter(|before| !before.is_empty())?;
            let known: BTreeSet<&str> = before.iter().map(|model| name(model)).collect();
            let mut others = now.iter().map(|model| name(model));
            let other = others.find(|model| !known.contains(model))?;
            let known: Vec<String> = known.into_iter().map(named).collect();
            Some(OtherJudge {
                scorer: message::printable(scorer),
                now: named(other),
                before: known.join(" and "),
            })
        })
    }
}

/// A judge served by another model.
struct OtherJudge {
    scorer: String,
    now: String,
    before: String,
}

fn named(model: &str) -> String {
    format!("`{}`", message::printable(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(of: &[(&str, &[&str])]) -> BTreeMap<String, BTreeMap<String, u64>> {
        let counted = |models: &[&str]| {
            models
                .iter()
                .map(|model| ((*model).to_owned(), 1))
                .collect()
        };
        of.iter()
            .map(|(scorer, models)| ((*scorer).to_owned(), counted(models)))
            .collect()
    }

    #[test]
    fn served_models_from_record_calls() {
        let call = |scorer: &str, model: &str| {
            let mut output = Output::text("{}");
            output.metadata.insert("model".to_owned(), model.into());
            JudgeCall {
                scorer: scorer.to_owned(),
                output: Some(output),
                ..JudgeCall::default()
            }
        };
        let silent = JudgeCall::default();
        let calls = [call("a", "m-1"), call("a", "m-2"), call("b", "m-1"), silent];
        let served = ServedJudges::of_calls(&calls);
        let expect = ServedJudges::of(models(&[("a", &["m-1", "m-2"]), ("b", &["m-1"])]));
        assert_eq!(served.0, expect.0);
    }

    #[test]
    fn changed_model_is_reported_unknown_is_not() {
        let check = |before: &[(&str, &[&str])], now: &[(&str, &[&str])], expect: Option<&str>| {
            let baseline = Baseline {
                judges: ServedJudges::of(models(before)).0,
                ..Baseline::default()
            };
            let message =
                ServedJudges::of(models(now)).other_than(&baseline, |name| name == "beside");
            match (&message, expect) {
                (Some(message), Some(expect)) => assert!(message.starts_with(expect), "{message}"),
                (message, expect) => assert_eq!(message.as_deref(), expect, "{before:?} {now:?}"),
            }
        };
        let m1 = ("judge", &["m-1 (fp_1)"][..]);
        let m2 = ("judge", &["m-2"][..]);
        let says = "judge `judge` is served by `m-2` now and by `m-1` in the baseline: ";
        check(&[m1], &[m2], Some(says));
        check(&[m1], &[("judge", &["m-1"])], None);
        check(&[m1], &[("judge", &["m-1 (fp_2)"])], None);
        // Some of the replies are from another model.
        check(&[m1], &[("judge", &["m-1", "m-2"])], Some(says));
        // A model of either baseline run.
        check(&[("judge", &["m-1", "m-2"])], &[m2], None);
        check(
            &[("judge", &["m-1", "m-3"])],
            &[m2],
            Some("judge `judge` is served by `m-2` now and by `m-1` and `m-3` in"),
        );
        check(&[], &[m2], None);
        check(&[m1], &[], None);
        check(&[("other", &["m-1"])], &[m2], None);
        check(&[("beside", &["m-1"])], &[("beside", &["m-2"])], None);
    }
}
