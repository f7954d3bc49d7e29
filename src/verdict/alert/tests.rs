mod metrics;

use std::collections::BTreeMap;

use super::*;
use crate::data::history::{
    AnswerRow, HistoryAnswers, HistoryKind, HistoryLatency, HistoryLine, HistorySlice,
};
use crate::verdict::gate::{MEAN, Metric, Slice};

fn metric(name: &'static str) -> SlicedMetric {
    whole(Metric::plain(name))
}

fn whole(metric: Metric) -> SlicedMetric {
    let slice = None;
    SlicedMetric { metric, slice }
}

fn alerts(texts: &[&str]) -> Alerts {
    let rules = texts.iter().map(|text| text.parse().unwrap()).collect();
    let alerts = Alerts {
        rules,
        looks: DEFAULT_ANALYSES,
    };
    alerts.check().unwrap();
    alerts
}

/// A run at a minute, whose first `right` of `of` samples are right.
fn run(minute: usize, right: usize, of: usize) -> HistoryLine {
    let verdicts: Vec<_> = (0..of).map(|place| Some(place < right)).collect();
    HistoryLine {
        id: format!("run-{minute:04}"),
        time: time(minute),
        samples: of as u64,
        scored: of as u64,
        correct: right as u64,
        accuracy: crate::stats::ratio(right as u64, of as u64),
        error_rate: Some(0.0),
        cost_usd: Some(1.0),
        answers: Some(HistoryAnswers {
            samples: "these".to_owned(),
            count: of,
            runs: vec![AnswerRow::of(&verdicts)],
        }),
        ..HistoryLine::default()
    }
}

fn time(minute: usize) -> jiff::Timestamp {
    format!("2026-11-23T{:02}:{:02}:00Z", minute / 60, minute % 60)
        .parse()
        .unwrap()
}

fn accepted(line: &HistoryLine) -> HistoryLine {
    HistoryLine {
        kind: HistoryKind::Accept,
        runs: vec![line.id.clone()],
        id: format!("accept-{}", line.id),
        ..line.clone()
    }
}

/// The result of a single alert, for the last line.
fn judged(text: &str, lines: &[HistoryLine]) -> AlertResult {
    let alerts = alerts(&[text]);
    let newest = lines.last().unwrap();
    AlertJudge::new(&alerts).judge(lines, newest).remove(0)
}

#[track_caller]
fn check(text: &str, lines: &[HistoryLine], verdict: AlertVerdict, message: &str) {
    let result = judged(text, lines);
    assert_eq!(result.verdict, verdict, "{result:?}");
    assert!(result.message.contains(message), "{}", result.message);
}

use AlertVerdict::{Quiet, Raised, Silent};

#[test]
fn rules_are_read() {
    for (text, rule) in [
        (
            " drop(accuracy) ",
            AlertRule::Drop {
                metric: metric("accuracy"),
                against: DropReference::Baseline,
                alpha: 0.05,
            },
        ),
        (
            "drop(accuracy[level=a,b], against = median(5), alpha=1%)",
            AlertRule::Drop {
                metric: SlicedMetric {
                    slice: Some(Slice::new("level", "a,b")),
                    ..metric("accuracy")
                },
                against: DropReference::Median,
                alpha: 0.01,
            },
        ),
        (
            "trend(mean(f1), runs=12, alpha=0.2)",
            AlertRule::Trend {
                metric: whole(Metric::of(MEAN, Some("f1".to_owned()))),
                runs: 12,
                alpha: 0.2,
            },
        ),
        ("stale(days=7)", AlertRule::Stale { days: 7.0 }),
        (
            "rise(cost_usd, 50%)",
            AlertRule::Moved {
                metric: metric("cost_usd"),
                by: 0.5,
                direction: Direction::Up,
            },
        ),
        (
            "drop(mean(judge.total), 0.1)",
            AlertRule::Moved {
                metric: whole(Metric::of(MEAN, Some("judge.total".to_owned()))),
                by: 0.1,
                direction: Direction::Down,
            },
        ),
        (
            "error_rate > 5% twice",
            AlertRule::Bound {
                metric: metric("error_rate"),
                op: Op::Above,
                threshold: 0.05,
                times: 2,
            },
        ),
        (
            "latency_p95>=20s 3 times",
            AlertRule::Bound {
                metric: whole(Metric::latency_percentile(95.0)),
                op: Op::AtLeast,
                threshold: 20.0,
                times: 3,
            },
        ),
    ] {
        let alert: Alert = text.parse().unwrap();
        assert_eq!(alert.rule, rule);
        assert_eq!(alert.to_string(), text.trim());
    }
}

#[test]
fn what_is_no_rule_is_a_clear_error() {
    #[track_caller]
    fn check(text: &str, message: &str, hint: &str) {
        let error = text.parse::<Alert>().unwrap_err();
        let rendered = error.to_string();
        assert!(
            rendered.starts_with(&format!("alert `{}`: ", text.trim())),
            "{rendered}"
        );
        assert!(rendered.contains(message), "{rendered}");
        let hint_text = error.hint_text().unwrap_or_default();
        assert!(hint_text.contains(hint), "{text}: {hint_text}");
    }
    check(
        "dorp(accuracy)",
        "unknown rule `dorp`",
        "did you mean `drop`",
    );
    check(
        "drop(accuracy",
        "`(` without `)`",
        "quote an alert that has a comma",
    );
    check("drop()", "`drop` needs a figure", "drop(accuracy, …)");
    check(
        "drop(cost_usd)",
        "for `accuracy` alone",
        "rise(cost_usd, 0.5)",
    );
    check(
        "drop(mean(f1))",
        "for `accuracy` alone",
        "trend(mean(f1), runs=8)",
    );
    check(
        "drop(accuracy, against=last)",
        "`last` is not something",
        "against=median(5)",
    );
    check("drop(accuracy, alpha=2)", "alpha is 2", "from 0.001 to 0.5");
    check(
        "drop(accuracy, alpha=0.00001)",
        "alpha is 0.00001",
        "from 0.001",
    );
    check(
        "drop(accuracy, beta=1)",
        "unknown option `beta`",
        "`against`",
    );
    check("drop(accuracy, 5)", "never be raised", "for 10 % less");
    check(
        "drop(mean(f1), against=baseline)",
        "for `accuracy` alone",
        "drop(mean(f1), 0.1)",
    );
    check("drop(accuracy, alpha=0.1, alpha=0.1)", "twice", "");
    check(
        "trend(acuracy)",
        "does not record",
        "did you mean `accuracy`",
    );
    check("trend(accuracy, runs=1e3)", "valid number of runs", "");
    check("trend(accuracy, runs=5000)", "valid number of runs", "100");
    check("stale()", "needs a number of days", "stale(days=7)");
    check("stale(days=0)", "always raised", "stale(days=7)");
    check("rise(cost_usd)", "needs a share", "rise(cost_usd, 0.5)");
    check("rise(cost_usd, -1)", "every other run", "0.5");
    check("error_rate", "no operator", "error_rate > 0.05 twice");
    check("error_rate >", "no number", "");
    check("error_rate > nan", "`nan` is not a number", "");
    check(
        "error_rate > 0.05 thrice",
        "unexpected `thrice`",
        "`3 times`",
    );
    check("error_rate > 0.05 0 times", "0 is not a valid number", "");
    check("error_rate > 1", "never be raised", "error_rate > 5%");
    check("accuracy < 0", "never be raised", "0.05");
    check("accuracy <= 1", "every run raises it", "");
    check("cost_usd < 0", "`cost_usd` is never below 0", "");
    check("cost_usd >= 0", "every run raises it", "");
    check("cost_usd[level=1] > 1", "by slice", "accuracy[level=1]");
    check("accuracy[level] > 1", "is not a slice", "accuracy[level=1]");
    check("mean() > 1", "`mean` needs a figure", "mean(f1)");
    check("", "does not record", "the figures are");
}

#[test]
fn rules_that_can_never_be_raised_together_are_an_error() {
    #[track_caller]
    fn check(texts: &[&str], looks: usize, place: usize, hint: &str) {
        let rules = texts.iter().map(|text| text.parse().unwrap()).collect();
        let (found, error) = Alerts { rules, looks }.check().unwrap_err();
        assert_eq!(found, place, "{error}");
        let hint_text = error.hint_text().unwrap_or_default();
        assert!(hint_text.contains(hint), "{error}: {hint_text}");
    }
    check(&["trend(accuracy, runs=3)"], 30, 0, "runs=6");
    let three = ["drop(accuracy)", "stale(days=7)", "trend(accuracy, runs=6)"];
    check(&three, 30, 2, "runs=7");
    check(&["trend(accuracy, runs=8)"], 7, 0, "`looks: 8`");
    check(&["drop(accuracy, against=median(5))"], 5, 0, "`looks: 6`");
    check(&["stale(days=7)", "stale(days=7)"], 30, 1, "remove");
    assert!(check_interim(0).is_err() && check_interim(366).is_err());
    assert_eq!(check_interim(12).unwrap(), 12);
}

#[test]
fn a_drop_is_held_against_the_baseline() {
    let text = "drop(accuracy)";
    let mut lines = vec![run(0, 80, 100)];
    check(text, &lines, Silent, "no accepted baseline");
    lines.push(accepted(&lines[0]));
    lines[1].time = time(1);
    lines.push(run(2, 79, 100));
    check(text, &lines, Quiet, "79.0 %, 80.0 % in the baseline");
    // All eleven that differ fell: one in 2,048, and a single run needs a tenth of the threshold.
    lines[2] = run(2, 69, 100);
    check(text, &lines, Raised, "accuracy 69.0 %, 80.0 %");
    let result = judged(text, &lines);
    assert_eq!(result.since.as_deref(), Some("run-0002"));
    assert!(
        (result.p.unwrap() - 1.0 / 2048.0).abs() < 1e-12,
        "{result:?}"
    );
    assert!(result.p.unwrap() < result.p_needed.unwrap(), "{result:?}");
    // The same in small steps: the last five runs pooled.
    lines.truncate(2);
    lines.extend((2..7).map(|minute| run(minute, 75, 100)));
    check(text, &lines[..3], Quiet, "accuracy 75.0 %, 80.0 %");
    check(text, &lines, Raised, "in the last 5 runs");
    // A run of the baseline is not evidence against it, and one from the cache is no evidence at all.
    let mut cached = run(8, 0, 100);
    cached.cached = 100;
    lines.push(cached);
    check(text, &lines, Silent, "no new answer");
    // Nor is one that stopped early, since worse agents stop sooner.
    let mut early = run(8, 0, 100);
    early.early = true;
    lines.push(early);
    check(text, &lines, Silent, "the run stopped early");
    // Another dataset has another line, and different samples cannot be compared.
    let mut other = run(9, 0, 100);
    other.dataset_hash = "other".to_owned();
    check(
        text,
        &[lines[1].clone(), other],
        Silent,
        "no accepted baseline",
    );
    let mut tier = run(9, 0, 10);
    tier.tier = Some("quick".to_owned());
    tier.answers.as_mut().unwrap().samples = "those".to_owned();
    check(text, &[lines[1].clone(), tier], Silent, "other samples");
}

#[test]
fn a_new_baseline_begins_anew() {
    let text = "drop(accuracy)";
    let mut lines = vec![run(0, 80, 100), accepted(&run(0, 80, 100))];
    lines.extend((1..5).map(|minute| run(minute, 60, 100)));
    check(text, &lines, Raised, "");
    let mut again = accepted(&lines[5]);
    again.time = time(6);
    lines.push(again);
    lines.push(run(7, 60, 100));
    check(text, &lines, Quiet, "60.0 %, 60.0 % in the baseline");
    // So does a full era.
    let alerts = Alerts {
        looks: 2,
        ..alerts(&[text])
    };
    let lines = [
        accepted(&run(0, 80, 100)),
        run(1, 75, 100),
        run(2, 75, 100),
        run(3, 75, 100),
    ];
    let result = AlertJudge::new(&alerts).judge(&lines, &lines[3]).remove(0);
    assert!(result.message.contains("(look 1)"), "{}", result.message);
}

#[test]
fn without_single_answers_and_by_slice_it_is_compared_as_a_whole() {
    let bare = |minute, right| HistoryLine {
        answers: None,
        slices: BTreeMap::from([(
            "level".to_owned(),
            BTreeMap::from([(
                "1".to_owned(),
                HistorySlice {
                    scored: 100,
                    correct: right,
                    ..HistorySlice::default()
                },
            )]),
        )]),
        ..run(minute, usize::try_from(right).unwrap(), 100)
    };
    for text in ["drop(accuracy)", "drop(accuracy[level=1])"] {
        let lines = [accepted(&bare(0, 80)), bare(1, 40)];
        check(text, &lines, Raised, "only totals are compared");
        let lines = [accepted(&bare(0, 80)), bare(1, 69)];
        check(text, &lines, Quiet, "p 0.05");
        let mut cached = bare(1, 40);
        cached.cached = 7;
        cached
            .slices
            .get_mut("level")
            .unwrap()
            .get_mut("1")
            .unwrap()
            .cached = 7;
        check(text, &[lines[0].clone(), cached], Silent, "are cached");
    }
    let lines = [accepted(&bare(0, 80)), bare(1, 40)];
    check("drop(accuracy[level=7])", &lines, Silent, "no sample");
    // A file may contain anything.
    let mut hostile = run(1, 50, 100);
    hostile.answers.as_mut().unwrap().count = usize::MAX;
    hostile.answers.as_mut().unwrap().runs.clear();
    let lines = [
        accepted(&HistoryLine {
            id: "run-0".to_owned(),
            ..hostile.clone()
        }),
        hostile,
    ];
    check("drop(accuracy)", &lines, Silent, "no sample");
}

#[test]
fn a_drop_is_held_against_the_runs_before() {
    let text = "drop(accuracy, against=median(5))";
    let mut lines: Vec<_> = (0..5).map(|minute| run(minute, 80, 100)).collect();
    check(text, &lines, Silent, "needs 5 earlier runs, the");
    lines.push(run(5, 80, 100));
    check(
        text,
        &lines,
        Quiet,
        "accuracy 80.0 %, 80.0 % in the previous five runs",
    );
    lines.push(run(6, 60, 100));
    check(text, &lines, Raised, "accuracy 60.0 %, 80.0 %");
    // One very good run among the five raises their mean, not their median.
    lines.truncate(5);
    lines[2] = run(2, 100, 100);
    lines.extend((5..9).map(|minute| run(minute, 80, 100)));
    check(text, &lines, Quiet, "");
    // A drop that was accepted since is no drop.
    let mut lines: Vec<_> = (0..5).map(|minute| run(minute, 80, 100)).collect();
    lines.push(accepted(&run(5, 60, 100)));
    lines.push(run(6, 60, 100));
    check(text, &lines, Silent, "the history has 0");
}

#[test]
fn a_trend_goes_towards_worse() {
    let falling = |count: usize| (0..count).map(|minute| run(minute, 80 - minute, 100));
    let lines: Vec<_> = falling(8).collect();
    check(
        "trend(accuracy)",
        &lines[..7],
        Silent,
        "needs 8 runs, the history has 7",
    );
    check(
        "trend(accuracy)",
        &lines,
        Raised,
        "accuracy went from 80.0 % to 73.0 % in 8 runs",
    );
    check(
        "trend(failure_rate)",
        &lines,
        Raised,
        "failure_rate went from 20.0 %",
    );
    check("trend(cost_usd)", &lines, Quiet, "p 1.00");
    check(
        "trend(mean(f1))",
        &lines,
        Silent,
        "some of the last 8 runs have no mean(f1)",
    );
    let rising: Vec<_> = (0..8).map(|minute| run(minute, 70 + minute, 100)).collect();
    check("trend(accuracy)", &rising, Quiet, "");
    check("trend(failure_rate)", &rising, Quiet, "");
}

#[test]
fn plain_rules_go_by_the_figures_alone() {
    let with = |minute: usize, cost: f64, errors: f64| HistoryLine {
        cost_usd: Some(cost),
        error_rate: Some(errors),
        latency_s: Some(HistoryLatency::default()),
        ..run(minute, 5, 10)
    };
    let mut lines: Vec<_> = (0..5).map(|minute| with(minute, 1.0, 0.1)).collect();
    let text = "rise(cost_usd, 0.5)";
    check(text, &lines, Silent, "earlier runs with cost_usd");
    lines.push(with(5, 1.5, 0.0));
    check(
        text,
        &lines,
        Quiet,
        "+50 % against the median of the previous five runs, 1.0000 USD",
    );
    lines.push(with(6, 1.6, 0.06));
    check(text, &lines, Raised, "cost_usd is 1.6000 USD, +60 %");
    check("rise(latency_p95, 0.5)", &lines, Silent, "above 0");
    check("rise(tokens, 0.5)", &lines, Silent, "the run has no tokens");
    let text = "drop(cost_usd, 0.5)";
    check(text, &lines, Quiet, "+60 %");
    let fallen = [lines.clone(), vec![with(7, 0.4, 0.0)]].concat();
    check(text, &fallen, Raised, "cost_usd is 0.4000 USD, −60 %");
    let text = "error_rate > 0.05 twice";
    check(text, &lines, Quiet, "6.0 %, > 5 % in 1 of 2 runs in a row");
    lines.push(with(7, 1.0, 0.07));
    check(text, &lines, Raised, "7.0 %, > 5 % in 2 of 2 runs in a row");
    assert_eq!(judged(text, &lines).since.as_deref(), Some("run-0006"));
    check("error_rate > 0.08", &lines, Quiet, "error_rate is 7.0 %");
    check("error_rate > 5%", &lines, Raised, "");
    check("mean(f1) < 0.5", &lines, Silent, "the run has no mean(f1)");
}

#[test]
fn newest_run_of_each_tier_is_checked_and_only_age_makes_stale() {
    let alerts = alerts(&["accuracy < 0.5", "stale(days=1)"]);
    let tier = |minute, right, tier: &str, dataset: &str| HistoryLine {
        tier: Some(tier.to_owned()),
        dataset_hash: dataset.to_owned(),
        ..run(minute, right, 10)
    };
    let lines = [
        tier(0, 0, "old", "a"),
        tier(1, 1, "quick", "b"),
        tier(2, 9, "full", "b"),
        tier(3, 9, "quick", "b"),
        tier(4, 1, "full", "b"),
    ];
    let judge = AlertJudge::new(&alerts);
    let rendered = |now: &str| {
        let results = judge.latest(&lines, now.parse().unwrap());
        let rendered = results.into_iter().map(|it| (it.tier, it.verdict));
        rendered.collect::<Vec<_>>()
    };
    let tiers = [
        (Some("full".to_owned()), Raised),
        (Some("quick".to_owned()), Quiet),
    ];
    let mut expect = tiers.to_vec();
    expect.push((None, Quiet));
    assert_eq!(rendered("2026-11-23T05:00:00Z"), expect);
    expect[2].1 = Raised;
    assert_eq!(rendered("2026-11-25T05:00:00Z"), expect);
    assert_eq!(judge.judge(&lines, &lines[4]).len(), 1);
    assert_eq!(judge.latest(&[], time(0)).len(), 1);
}
