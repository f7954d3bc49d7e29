//! A benchmark's own metric, for gates, from `metrics` of the summary.

use serde_json::{Map, Value};

use super::Measured;

/// The key of the bounds of the metrics if every sample had a verdict: `{name: [low, high]}`.
pub(crate) const BOUNDS: &str = "bounds";

/// The names of those that a gate can be about: numbers, and `null` where one cannot be told.
pub(in crate::verdict) fn names(metrics: &Map<String, Value>) -> Vec<String> {
    let numbers = metrics
        .iter()
        .filter(|(_, value)| value.is_number() || value.is_null());
    numbers.map(|(name, _)| name.clone()).collect()
}

/// The value of a metric; `unknown` samples should have a verdict and have none.
pub(in crate::verdict) fn measure(
    name: &str,
    metrics: &Map<String, Value>,
    unknown: u64,
) -> Result<Measured, String> {
    let value = match metrics.get(name) {
        Some(Value::Null) => {
            return Err(format!(
                "`{name}` is N/A: some of the samples that it needs were not run or not scored"
            ));
        }
        Some(value) => value.as_f64(),
        None => None,
    };
    let Some(value) = value else {
        // The benchmark failed to compute them.
        let why = metrics.get("error").and_then(Value::as_str);
        let none = || format!("the benchmark reported no number `{name}`");
        return Err(why.map_or_else(none, str::to_owned));
    };
    let bound = |place: usize| metrics.get(BOUNDS)?.get(name)?.get(place)?.as_f64();
    let (low, high) = match (bound(0), bound(1)) {
        (Some(low), Some(high)) => (low, high),
        _ if unknown == 0 => (value, value),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    Ok(Measured {
        value,
        low,
        high,
        from: "computed by the benchmark".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use crate::verdict::check::Known;
    use crate::verdict::facts::Facts;
    use crate::verdict::gate::Gate;
    use crate::verdict::result::Verdict;
    use crate::verdict::summary::Summary;
    use crate::verdict::summary::tests::judged;
    use serde_json::json;

    fn summary(metrics: &serde_json::Value, errors: u64) -> Summary {
        let mut summary = Summary::of("e", &[judged("a", &[("s", Some(true))])]);
        summary.metrics = metrics.as_object().unwrap().clone();
        summary.errors = errors;
        summary
    }

    #[test]
    fn an_outage_leaves_open_what_the_bounds_leave_open() {
        let check = |metrics: serde_json::Value, errors: u64, verdict: Verdict, says: &str| {
            let gate: Gate = "metric(overall) >= 50%".parse().unwrap();
            let result = gate.check(&Facts::of(summary(&metrics, errors)));
            assert_eq!(result.verdict, verdict, "{}", result.message);
            assert!(result.message.contains(says), "{}", result.message);
        };
        check(json!({"overall": 0.6}), 0, Verdict::Passed, "limit");
        check(
            json!({"overall": 0.4}),
            0,
            Verdict::Failed,
            "metric(overall) 0.4",
        );
        let bounds = |low: f64| json!({"overall": 0.6, "bounds": {"overall": [low, 0.7]}});
        check(bounds(0.5), 3, Verdict::Passed, "limit");
        check(bounds(0.4), 3, Verdict::Inconclusive, "between 0.4 and 0.7");
        check(
            json!({"overall": 0.6}),
            3,
            Verdict::Inconclusive,
            "so it is unknown",
        );
        check(
            json!({"overall": null}),
            0,
            Verdict::Inconclusive,
            "`overall` is N/A",
        );
        check(json!({}), 0, Verdict::Inconclusive, "reported no number");
        check(
            json!({"error": "`metrics` panicked"}),
            0,
            Verdict::Inconclusive,
            "panicked",
        );
    }

    #[test]
    fn a_name_that_is_not_there_is_answered_with_those_that_are() {
        let summary = summary(&json!({"overall": 0.5, "live": null, "missing": []}), 0);
        let known = Known::of_run(&summary, &[], 1);
        let check = |gate: &str, expect: Option<&str>| {
            let result = gate.parse::<Gate>().and_then(|gate| gate.validate(&known));
            let message = result.err().map(|error| error.to_string());
            match (&message, expect) {
                (None, None) => {}
                (Some(message), Some(expect)) => assert!(message.contains(expect), "{message}"),
                _ => panic!("{gate}: {message:?}"),
            }
        };
        check("metric(overall) >= 0.5", None);
        check("metric(live) < -2", None);
        check("metric(overal) >= 0.5", Some("did you mean `overall`?"));
        check(
            "metric(missing) >= 0.5",
            Some("the metrics are `overall`, `live`"),
        );
        check("metric >= 0.5", Some("`metric` needs a figure"));
        check("metric(overall)[level=1] >= 0.5", Some("the whole run"));
    }
}
