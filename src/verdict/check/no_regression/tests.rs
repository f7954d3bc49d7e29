mod regression;
mod several;

use super::*;
use crate::data::Status;
use crate::verdict::baseline::{BaselineRun, BaselineSample, CurrentSample};
use crate::verdict::check::no_regression::message::name_some;
use crate::verdict::summary::Summary;
use crate::verdict::summary::tests::record;

/// Runs as letters, a sample each: `C` correct, `W` wrong, `E` errored, `-` absent.
fn compare(gate: &Gate, before: &str, after: &str, whole: bool) -> GateResult {
    let id = |i: usize| format!("s{i}");
    let samples = before.chars().enumerate().filter(|(_, c)| *c != '-');
    let baseline = Baseline {
        runs: vec![BaselineRun {
            run_id: "r1".to_owned(),
            epochs: 1,
        }],
        scorer_hash: String::new(),
        samples: samples
            .map(|(i, c)| {
                let sample = BaselineSample {
                    answers: vec![(c != 'E').then_some(c == 'C')],
                    input_hash: "i".to_owned(),
                    target_hash: "t".to_owned(),
                    ..BaselineSample::default()
                };
                (id(i), sample)
            })
            .collect(),
        digest_matches: whole,
        ..Baseline::default()
    };
    let records: Vec<_> = after
        .chars()
        .enumerate()
        .filter(|(_, c)| *c != '-')
        .map(|(i, c)| {
            let status = if c == 'E' {
                Status::TimedOut
            } else {
                Status::Scored
            };
            record(&id(i), status, c == 'C', "1")
        })
        .collect();
    let facts = Facts {
        baseline: Some(&baseline),
        current: records.iter().map(CurrentSample::of).collect(),
        ..Facts::of(Summary::of("test", &records))
    };
    gate.check(&facts)
}

#[test]
fn verdicts() {
    fn check(gate: &str, before: &str, after: &str, verdict: Verdict, p: Option<f64>) {
        let result = compare(&gate.parse().unwrap(), before, after, true);
        assert_eq!(
            result.verdict, verdict,
            "{gate} {before} {after}: {}",
            result.message
        );
        let is_near = |(is, p): (f64, f64)| (is - p).abs() < 1e-9;
        let is_one = result.value.zip(p).map_or(result.value == p, is_near);
        assert!(is_one, "{gate} {before} {after}: {:?}", result.value);
    }
    use Verdict::{Failed, Inconclusive, Passed};
    let gate = "no_regression(exact=conditional)";
    check(gate, "CCCCCC", "CCCCCC", Passed, Some(1.0));
    check(gate, "CCCCCC", "WWWWCC", Passed, Some(0.0625));
    check(gate, "CCCCCC", "WWWWWC", Failed, Some(0.031_25));
    check(gate, "CCCCCW", "WWWWWC", Passed, Some(7.0 / 64.0));
    check(
        "no_regression(alpha=0.1, exact=conditional)",
        "CCCCCC",
        "WWWWCC",
        Failed,
        Some(0.0625),
    );
    check(
        "no_regression(alpha=0.03125, exact=conditional)",
        "CCCCCC",
        "WWWWWC",
        Passed,
        Some(0.031_25),
    );
    // One answer on each side: without the condition that so many changed.
    check(
        "no_regression",
        "CCCCCC",
        "WWWWCC",
        Failed,
        Some(0.032_448_741_747_6),
    );
    check("no_regression", "CCCCCC", "WWWCCC", Passed, Some(0.109_375));
    check("no_regression", "CCCC", "WWWW", Inconclusive, Some(0.0625));
    check(
        "no_regression",
        "CCCCCW",
        "WWWWWC",
        Passed,
        Some(7.0 / 64.0),
    );
    // Errored samples: as wrong, and as correct.
    check(gate, "CCCCCC", "WWWWEC", Inconclusive, Some(0.0625));
    check(gate, "CCCCCC", "WWWWWE", Failed, Some(0.031_25));
    check(gate, "CCCCCC", "WCCCCE", Inconclusive, Some(0.5));
    check(gate, "CCCCCCCCCC", "WCCCCCCCCE", Passed, Some(0.5));
    check(gate, "CCCCCW", "WWWWWE", Inconclusive, Some(0.031_25));
    // Pairs need a verdict on both sides.
    check(gate, "EEEEE-", "WWWWWW", Inconclusive, None);
    check(gate, "CC-", "--C", Inconclusive, None);
    // A drop of a third, then of a sixth.
    check(
        "no_regression(max_drop=0.2, exact=conditional)",
        "CCCCCC",
        "WWCCCC",
        Failed,
        Some(0.25),
    );
    check(
        "no_regression(max_drop=0.2, exact=conditional)",
        "CCCCCC",
        "WCCCCC",
        Passed,
        Some(0.5),
    );
    check(
        "no_regression(max_drop=0.5, exact=conditional)",
        "CCCCCC",
        "WWWCCC",
        Passed,
        Some(0.125),
    );
    check(
        "no_regression(exact=conditional)[level=1]",
        "CCCCCC",
        "WWWWWC",
        Failed,
        Some(0.031_25),
    );
}

#[test]
fn tells_everything() {
    let result = compare(
        &Gate::no_regression().max_drop(0.9).min_pairs(0.8),
        "CCCCCCW-C",
        "WWWWWWCC-",
        false,
    );
    let regression = result.regression.clone().unwrap();
    assert_eq!(
        (regression.pairs, regression.worse, regression.better),
        (7, 6, 1)
    );
    assert_eq!(
        regression.became_wrong,
        ["s0", "s1", "s2", "s3", "s4", "s5"]
    );
    assert_eq!(regression.became_correct, ["s6"]);
    assert_eq!(
        (&*regression.added, &*regression.removed),
        (&["s7".to_owned()][..], &["s8".to_owned()][..])
    );
    for expect in [
        "6 of 7 compared samples became wrong, 1 became correct, p = 0.062 >= alpha 0.05, drop 71.4 % <= max_drop 90 %\n",
        "85.7 % in the baseline (95 % interval 48.7 % to 97.4 %), 14.3 % now (2.6 % to 51.3 %)",
        "\npaired difference: −71.4 points (95 % interval −",
        "\nbecame wrong: s0, s1, s2, s3, s4, s5\n",
        "\nnot compared, not in the baseline: s7\n",
        "\nnot compared, gone: s8\n",
        "7 pairs can detect a drop of 85.7 points or more with 80 % power, if samples flip independently and 14.3 % flip \
         by chance in each direction (the share that became correct here)\n",
        "warning: the snapshots changed since run `r1` was accepted",
        "`cargo evaltest accept`",
    ] {
        assert!(
            result.message.contains(expect),
            "`{expect}` is not in:\n{}",
            result.message
        );
    }
    let json = serde_json::to_string(&result).unwrap();
    assert_eq!(serde_json::from_str::<GateResult>(&json).unwrap(), result);
    let result = compare(
        &Gate::no_regression().conditional(),
        "CCCCCC",
        "CCCCCE",
        true,
    );
    for expect in [
        "5 pairs can detect a drop of 100.0 points or more with 80 % power",
        "p = 0.50 if errored and skipped samples count as wrong, p = 1.00 if they count as correct",
    ] {
        assert!(result.message.contains(expect), "{}", result.message);
    }
    // More gains than losses: chance alone is no explanation.
    let result = compare(&Gate::no_regression(), "CCCCCWWW", "WCCCCCCC", true);
    let expect = "and 25 % flip by chance in each direction (half the share that changed here)";
    assert!(result.message.contains(expect), "{}", result.message);
}

#[test]
fn without_a_baseline() {
    fn check(ci: bool, verdict: Verdict) {
        let summary = Summary::of("test", &[record("a", Status::Scored, true, "1")]);
        let facts = Facts {
            ci,
            ..Facts::of(summary)
        };
        let result = Gate::no_regression().check(&facts);
        assert_eq!((result.verdict, result.value), (verdict, None));
        assert!(result.message.contains("`cargo evaltest accept`"));
    }
    check(false, Verdict::Passed);
    check(true, Verdict::Failed);
}

#[test]
fn ids_are_named_without_their_control_characters() {
    let ids: Vec<String> = (0..12).map(|i| format!("{i}\u{1b}[0m")).collect();
    let text = name_some(&ids);
    assert!(text.starts_with("0\\u{1b}[0m, 1"), "{text}");
    assert!(text.ends_with(" and 2 more"), "{text}");
}
