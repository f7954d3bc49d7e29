use serde_json::json;

use super::*;
use crate::data::{Record, Status};
use crate::verdict::baseline::CurrentSample;
use crate::verdict::summary::Summary;
use crate::verdict::summary::tests::record;

/// Correct, wrong, errored, unscored and skipped samples: `C`, `W`, `E`, `U`, `S`.
fn records(kinds: &str) -> Vec<Record> {
    kinds
        .chars()
        .enumerate()
        .map(|(i, kind)| {
            let (status, level) = match kind {
                'C' | 'W' => (Status::Scored, "1"),
                'E' => (Status::AgentFailed, "2"),
                'U' => (Status::Unscored, "2"),
                _ => (Status::Skipped, "2"),
            };
            record(&i.to_string(), status, kind == 'C', level)
        })
        .collect()
}

fn check(gate: &str, kinds: &str, verdict: Verdict, value: Option<f64>, message: &str) {
    let gate: Gate = gate.parse().unwrap();
    let result = gate.check(&Facts::of(Summary::of("test", &records(kinds))));
    assert_eq!(
        result.verdict, verdict,
        "{gate} of {kinds}: {}",
        result.message
    );
    assert_eq!(result.value, value, "{gate} of {kinds}");
    assert!(result.message.contains(message), "{}", result.message);
}

use Verdict::{Failed, Ignored, Inconclusive, Passed};

#[test]
fn most_answers_need_a_ground_truth() {
    let nine_of_ten = "CCCCCCCCCU";
    check(
        "accuracy >= 0.5",
        nine_of_ten,
        Passed,
        Some(1.0),
        "limit 50 %",
    );
    let nine_of_eleven = "CCCCCCCCCUU";
    let why = "only 9 of 11 answers have a ground truth, fewer than 90 %";
    for gate in [
        "accuracy >= 0.5",
        "mean(value) >= 0.5",
        "failure_rate <= 0.5",
    ] {
        let value = Some(if gate.starts_with('f') { 0.0 } else { 1.0 });
        check(gate, nine_of_eleven, Inconclusive, value, why);
    }
    check(
        "accuracy >= 0.5 (min_scored=0.8)",
        nine_of_eleven,
        Passed,
        Some(1.0),
        "limit 50 %",
    );
    check(
        "accuracy[level=1] >= 0.5",
        nine_of_eleven,
        Passed,
        Some(1.0),
        "limit 50 %",
    );
    check(
        "error_rate <= 0.5",
        nine_of_eleven,
        Passed,
        Some(0.0),
        "error rate 0.0 % (0 of 11 samples), limit 50 %",
    );
    // An error is no answer, so that it lacks no ground truth.
    check(
        "accuracy >= 0.5",
        "CCCCCCCCCE",
        Passed,
        Some(1.0),
        "limit 50 %",
    );
}

#[test]
fn without_errors() {
    let half = Some(0.5);
    check(
        "accuracy >= 0.5",
        "CW",
        Passed,
        half,
        "accuracy 50.0 % (1 of 2 correct, 95 % interval 9.5 % to 90.5 %), limit 50 %",
    );
    check("accuracy > 0.5", "CW", Failed, half, "limit 50 %");
    check(
        "accuracy >= 60%",
        "CCCWW",
        Passed,
        Some(0.6),
        "accuracy 60.0 % (3 of 5 correct",
    );
    check(
        "failure_rate <= 0.4",
        "CCCWW",
        Passed,
        Some(0.4),
        "failure rate 40.0 % (2 of 5 wrong, 95 % interval 11.8 % to 76.9 %), limit 40 %",
    );
    check("failure_rate < 0.4", "CCCWW", Failed, Some(0.4), "");
    check(
        "accuracy[level=1] >= 0.5",
        "CWU",
        Passed,
        half,
        "accuracy[level=1] 50.0 %",
    );
    check(
        "accuracy[level=7] >= 0.5",
        "CW",
        Ignored,
        None,
        "no sample of this run",
    );
    check("min_samples(2)", "CW", Passed, Some(2.0), "");
    check("min_samples(3)", "CWU", Failed, Some(2.0), "");
    check("mean(value) >= 0.5", "CW", Passed, half, "over 2 samples");
    check(
        "mean(valeu) >= 0.5",
        "CW",
        Inconclusive,
        None,
        "did you mean `value`? (scores have `value`)",
    );
    check(
        "error_rate <= 0",
        "CWU",
        Passed,
        Some(0.0),
        "0 of 3 samples",
    );
    check("latency_p95 <= 1.5s", "CW", Passed, Some(1.5), "");
    check("latency_mean < 1.5s", "CW", Failed, Some(1.5), "");
    check(
        "latency_p75 <= 1.5s",
        "CW",
        Inconclusive,
        None,
        "needs the samples",
    );
    check(
        "cost_usd <= 1",
        "CW",
        Inconclusive,
        None,
        "no answer reports its cost",
    );
}

#[test]
fn errored_samples_count_both_ways() {
    let all = Some(1.0);
    check("accuracy >= 0.5", "CCE", Passed, all, "");
    check(
        "accuracy >= 0.7",
        "CCE",
        Inconclusive,
        all,
        "undecided: 1 errored sample, so it is between 66.7 % and 100.0 %; ask again",
    );
    check(
        "accuracy >= 0.7",
        "CCS",
        Inconclusive,
        all,
        "1 skipped sample",
    );
    check("accuracy >= 0.7", "WWE", Failed, Some(0.0), "");
    check("failure_rate <= 0.3", "CCE", Inconclusive, Some(0.0), "");
    check("failure_rate <= 0.4", "CCE", Passed, Some(0.0), "");
    check("mean(value) >= 0.7", "CCE", Inconclusive, all, "");
    check("mean(value) >= 0.6", "CCE", Passed, all, "");
    check("min_samples(3)", "CCE", Inconclusive, Some(2.0), "");
    check("min_samples(4)", "CCE", Failed, Some(2.0), "");
    check("accuracy[level=1] >= 0.7", "CCE", Passed, all, "");
    check(
        "error_rate <= 0.3",
        "CCE",
        Failed,
        Some(1.0 / 3.0),
        "1 of 3 samples",
    );
    check("latency_max <= 1.5s", "CCE", Passed, Some(1.5), "");
}

#[test]
fn nothing_scored_is_inconclusive() {
    for gate in [
        "accuracy >= 0",
        "failure_rate <= 1",
        "min_samples(0)",
        "mean(value) >= 0",
        "no_regression",
    ] {
        check(
            gate,
            "EU",
            Inconclusive,
            None,
            "no sample was scored: 1 error, 1 unscored",
        );
    }
    check("error_rate <= 0.5", "E", Failed, Some(1.0), "");
    check(
        "error_rate <= 0.5",
        "S",
        Inconclusive,
        None,
        "no sample was asked",
    );
    check("latency_p50 <= 2", "U", Passed, Some(1.5), "");
    check(
        "latency_p50 <= 2",
        "E",
        Inconclusive,
        None,
        "no sample was answered",
    );
}

/// An answer without a verdict has no record yet, but was requested.
#[test]
fn samples_waiting_for_a_judge_count_as_requested() {
    fn check(gate: &str, kinds: &str, not_judged: u64, message: &str) {
        let mut summary = Summary::of("test", &records(kinds));
        summary.not_judged = not_judged;
        let gate: Gate = gate.parse().unwrap();
        let result = gate.check(&Facts::of(summary));
        assert_eq!(result.verdict, Inconclusive, "{}", result.message);
        assert_eq!(result.message, message);
    }
    let rate = "error_rate <= 0.05";
    check(rate, "SSS", 0, "no sample was asked");
    let end = "no sample is finished";
    check(rate, "SSS", 3, &format!("{end}: 3 answered and not judged"));
    let both = "2 answered and not judged, 1 not asked";
    check(rate, "SSS", 2, &format!("{end}: {both}"));
    let slice = "error_rate[level=2] <= 0.05";
    check(
        slice,
        "CSSS",
        3,
        &format!("{end}: 3 answered and not judged"),
    );
    check(slice, "CSSS", 2, &format!("{end}: {both}"));
    let latency = "latency_p50 <= 2";
    check(latency, "ESSS", 2, &format!("no latency is known: {both}"));
    check(latency, "ESSS", 0, "no sample was answered");
    let scored = "no sample was scored: 1 error";
    check(
        "accuracy >= 0",
        "ESSS",
        0,
        &format!("{scored}, 3 not asked"),
    );
    check("accuracy >= 0", "ESSS", 2, &format!("{scored}, {both}"));
}

#[test]
fn a_sum_over_a_stopped_run_is_a_lower_bound() {
    fn check(gate: &str, skipped: bool, verdict: Verdict) {
        let mut records = records(if skipped { "CS" } else { "CE" });
        records[0].result.usage = Some(crate::data::Usage {
            cached_tokens: None,
            input_tokens: Some(100),
            output_tokens: Some(20),
            cost_usd: Some(0.5),
        });
        let gate: Gate = gate.parse().unwrap();
        let result = gate.check(&Facts::of(Summary::of("test", &records)));
        assert_eq!(result.verdict, verdict, "{}", result.message);
    }
    check("cost_usd <= 0.5", false, Passed);
    check("cost_usd <= 0.5", true, Inconclusive);
    check("cost_usd <= 0.4", true, Failed);
    check("tokens <= 120", false, Passed);
    check("tokens <= 119", false, Failed);
    check("input_tokens <= 100", false, Passed);
    check("output_tokens < 20", false, Failed);
}

#[test]
fn a_scorer_by_name() {
    fn check(gate: &str, scorer: Option<&str>, verdict: Verdict) {
        let mut run = records("CW");
        for record in &mut run {
            let verdict = json!({"value": 1.0, "correct": true});
            record.result.scores.insert("fuzzy".to_owned(), verdict);
        }
        let mut summary = Summary::of("test", &run);
        summary.scorer = scorer.map(str::to_owned);
        let gate: Gate = gate.parse().unwrap();
        let result = gate.check(&Facts::of(summary));
        assert_eq!(result.verdict, verdict, "{}", result.message);
    }
    check("accuracy(fuzzy) >= 1", None, Passed);
    check("accuracy(fuzzy)[level=1] >= 1", None, Passed);
    check("accuracy(gaia) >= 0.5", Some("gaia"), Passed);
    check("accuracy(gaia) >= 0.5", None, Inconclusive);
}

#[test]
fn any_percentile_comes_from_the_samples() {
    let mut run = records("CWCWE");
    for (record, latency) in run.iter_mut().zip([1.0, 2.0, 3.0, 4.0, 100.0]) {
        record.result.latency_s = latency;
    }
    let facts = Facts {
        current: run.iter().map(CurrentSample::of).collect(),
        ..Facts::of(Summary::of("test", &run))
    };
    let gate: Gate = "latency_p75 <= 3.25".parse().unwrap();
    let result = gate.check(&facts);
    assert_eq!((result.verdict, result.value), (Passed, Some(3.25)));
}

#[test]
fn a_filtered_run_ignores_its_gates() {
    let facts = Facts {
        selected: 3,
        total: 165,
        ..Facts::of(Summary::of("test", &records("CWC")))
    };
    let result = Gate::no_regression().check(&facts);
    assert_eq!(result.verdict, Verdict::Ignored);
    assert_eq!(result.message, "not checked: 3 of 165 samples selected");
}
