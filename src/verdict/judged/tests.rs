//! The figures of small cases, computed by hand.

mod published;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::agreement::{JudgeAgreement, LabelledItem};
use super::correct::{GradedItem, JudgeCorrection};
use super::winrate::{
    ComparedAnswers, LogprobPreference, OrdersWinRate, PreferenceWinRate, Preferred,
};
use super::{InputLine, parse_input_line};
use crate::stats::{DRAWS, SplitMix64};

fn items<T: InputLine>(lines: impl IntoIterator<Item = Value>) -> Vec<T> {
    let line = |line: Value| parse_input_line("x.jsonl".as_ref(), 1, &line.to_string()).unwrap();
    lines.into_iter().map(line).collect()
}

/// The figures of lines, as JSON has them.
fn agreement(lines: &Value) -> Value {
    let items: Vec<LabelledItem> = items(lines.as_array().unwrap().clone());
    serde_json::to_value(JudgeAgreement::of(&items).unwrap()).unwrap()
}

fn near(found: &Value, expect: f64) {
    assert!(
        (found.as_f64().unwrap() - expect).abs() < 1e-12,
        "{found} is not {expect}"
    );
}

#[test]
fn agreement_by_hand() {
    let found = agreement(&json!([
        { "labels": [1, 1, 2], "judge": 1 },
        { "labels": [2, null], "judge": 2.0 },
        { "labels": [2, 2, 2], "judge": 3 },
        { "labels": [3, 3], "judge": 3 },
        // No majority: only in alpha.
        { "labels": [1, 2], "judge": 1 },
        { "labels": [1, 2, 3], "judge": null },
        // A verdict alone, labels alone.
        { "labels": [null, null], "judge": 1 },
        { "labels": [1] },
    ]));
    assert_eq!(found["n"], 4);
    near(&found["agreement"], 0.75);
    near(&found["constant_agreement"], 0.5);
    // Labels 1, 2, 1 and verdicts 1, 1, 2: 16 - (1 + 2 + 2) pairs of 16 differ by chance.
    near(&found["kappa"], 1.0 - 4.0 / 11.0);
    // Boundaries: 1·3 + 1·3 and 3·2 + 1·2.
    near(&found["kappa_linear"], 1.0 - 4.0 / 14.0);
    assert_eq!(
        found["classes"],
        json!({
            "1": { "precision": 1.0, "recall": 1.0, "n": 1 },
            "2": { "precision": 1.0, "recall": 0.5, "n": 2 },
            "3": { "precision": 0.5, "recall": 1.0, "n": 1 },
        })
    );
    assert_eq!(
        found["confusion"],
        json!({
            "1": { "1": 1, "2": 0, "3": 0 },
            "2": { "1": 0, "2": 1, "3": 1 },
            "3": { "1": 0, "2": 0, "3": 1 },
        })
    );
    // 1112 22 2223 333 112 123: Σ of unequal pairs over m - 1 is 6/3 + 0 + 6/3 + 0 + 4/2 + 6/2 = 9. Of all 19 values
    // 6 are 1, 8 are 2, 5 are 3: 361 - 125 pairs differ, over 18.
    near(&found["alpha_nominal"], 1.0 - 9.0 / (236.0 / 18.0));
    for (name, ends) in found["ci95"].as_object().unwrap() {
        let [low, high] = [&ends[0], &ends[1]].map(|end| end.as_f64().unwrap());
        let figure = found[name].as_f64().unwrap();
        assert!(
            low <= figure && figure <= high,
            "{name}: {low} {figure} {high}"
        );
    }
    let names: Vec<_> = found.as_object().unwrap().keys().collect();
    let figures = [
        "agreement",
        "constant_agreement",
        "kappa",
        "kappa_linear",
        "kappa_quadratic",
        "ac1",
        "alpha_nominal",
        "alpha_interval",
    ];
    assert_eq!(
        names,
        [&["n"], &figures[..], &["classes", "confusion", "ci95"]].concat()
    );
    assert!(found["ci95"].as_object().unwrap().keys().eq(figures));
}

#[test]
fn nothing_over_nothing_is_null() {
    let nulls = |lines: Value, names: &[&str]| {
        let found = agreement(&lines);
        for (name, value) in found.as_object().unwrap() {
            let is_figure = found["ci95"].get(name).is_some();
            if is_figure {
                assert_eq!(
                    value.is_null(),
                    names.contains(&&**name),
                    "{name} of {lines}: {value}"
                );
                assert_eq!(
                    value.is_null(),
                    found["ci95"][name].is_null(),
                    "{name} of {lines}"
                );
            }
        }
        found
    };
    let kappas = ["kappa", "kappa_linear", "kappa_quadratic", "ac1"];
    let alphas = ["alpha_nominal", "alpha_interval"];
    let of_pairs = [&["agreement", "constant_agreement"], &kappas[..]].concat();
    let all = [&of_pairs[..], &alphas].concat();
    let none = nulls(json!([{ "labels": [], "judge": null }]), &all);
    assert_eq!(
        (&none["n"], &none["classes"], &none["confusion"]),
        (&json!(0), &json!({}), &json!({}))
    );
    nulls(
        json!([{ "labels": [1], "judge": null }, { "labels": [null] }]),
        &all,
    );
    // One class; one item.
    nulls(
        json!([{ "labels": [1], "judge": 1 }, { "labels": [1], "judge": 1 }]),
        &[&kappas[..], &alphas].concat(),
    );
    nulls(
        json!([{ "labels": [1, 2], "judge": 2 }]),
        &[
            "agreement",
            "constant_agreement",
            "kappa",
            "kappa_linear",
            "kappa_quadratic",
            "ac1",
        ],
    );
    // The alphas need no judge.
    nulls(
        json!([{ "labels": [1, 2, 2] }, { "labels": [1, 1] }]),
        &of_pairs,
    );
    // Texts have no order.
    let ordered = ["kappa_linear", "kappa_quadratic", "alpha_interval"];
    nulls(
        json!([{ "labels": ["a"], "judge": "b" }, { "labels": ["b"], "judge": "b" }, { "labels": ["a"], "judge": "a" }]),
        &ordered,
    );
    nulls(
        json!([{ "labels": [true], "judge": true }, { "labels": [false], "judge": false }]),
        &ordered,
    );
    assert!(JudgeAgreement::of(&[]).is_err() && JudgeCorrection::of(&[]).is_err());
    // A class without any correct verdict.
    let found = agreement(&json!([{ "labels": ["a"], "judge": "b" }]));
    assert_eq!(
        found["classes"]["a"],
        json!({ "precision": null, "recall": 0.0, "n": 1 })
    );
    assert_eq!(
        found["classes"]["b"],
        json!({ "precision": 0.0, "recall": null, "n": 0 })
    );
}

#[test]
fn many_classes_are_no_large_table() {
    let line = |at: u32| json!({ "labels": [f64::from(at) / 7.0], "judge": f64::from(at / 2) });
    let found = agreement(&(0..300).map(line).collect());
    let rows = found["confusion"].as_object().unwrap();
    assert!(rows.values().all(|row| row.as_object().unwrap().len() == 1));
    assert_eq!(rows.len(), 300);
}

/// Items with the labels of three people and a verdict, most of them equal.
fn ratings(items: u32, classes: usize) -> Vec<LabelledItem> {
    let mut random = SplitMix64(3);
    let line = |_| {
        let truth = random.below(classes);
        let mut draw = || match random.below(10) {
            0 => Value::Null,
            1..=3 => json!(random.below(classes)),
            _ => json!(truth),
        };
        json!({ "labels": [draw(), draw(), draw()], "judge": draw() })
    };
    self::items((0..items).map(line).collect::<Vec<_>>())
}

#[test]
fn more_draws_give_the_same_intervals() {
    let items = ratings(100, 4);
    let ends = |draws: usize| {
        let found = JudgeAgreement::drawn(&items, draws).unwrap();
        serde_json::to_value(found.ci95).unwrap()
    };
    let (few, many) = (ends(DRAWS), ends(10 * DRAWS));
    for (name, ends) in few.as_object().unwrap() {
        for at in [0, 1] {
            let both = [&ends[at], &many[name][at]].map(|end| end.as_f64().unwrap());
            assert!((both[0] - both[1]).abs() < 0.02, "{name}: {both:?}");
        }
    }
    assert_eq!(few, ends(DRAWS), "the same each time");
}

#[test]
fn a_thousand_items_take_half_a_second() {
    // Each with its own values, so that no two are equal.
    let items = ratings(1_000, 500);
    let before = clock_gettime(ClockId::ThreadCPUTime);
    assert_eq!(JudgeAgreement::of(&items).unwrap().items, 1_000);
    let taken = clock_gettime(ClockId::ThreadCPUTime) - before;
    // Half a second in an unoptimised build; more on a slow machine.
    assert!(taken.tv_sec < 2, "{taken:?}");
}

#[test]
fn correction_of_few_lines() {
    let of = |lines: Value| {
        let items: Vec<GradedItem> = items(lines.as_array().unwrap().clone());
        serde_json::to_value(JudgeCorrection::of(&items).unwrap()).unwrap()
    };
    let whole = of(json!([{ "judge": 0.5, "label": 0 }, { "judge": 1, "label": 1 }]));
    assert_eq!(whole["labels"]["ci95"], whole["corrected"]["ci95"]);
    assert_eq!(whole["labels"]["mean"], whole["corrected"]["mean"]);
    assert_eq!(
        (&whole["judge"]["mean"], &whole["corrected"]["lambda"]),
        (&json!(0.75), &json!(0.0))
    );
    let unlabelled = of(json!([{ "judge": 0.5, "label": null }, { "judge": 1 }]));
    assert_eq!(
        unlabelled["labels"],
        json!({ "n": 0, "mean": null, "ci95": null })
    );
    assert_eq!(
        unlabelled["corrected"],
        json!({ "mean": null, "ci95": null, "lambda": null })
    );
    assert_eq!(
        (&unlabelled["judge"]["n"], &unlabelled["judge"]["mean"]),
        (&json!(2), &json!(0.75))
    );
    let one = of(json!([{ "judge": 1, "label": 1 }]));
    let mean = json!({ "n": 1, "mean": 1.0, "ci95": null });
    assert_eq!((&one["labels"], &one["judge"]), (&mean, &mean));
    let one_label = of(json!([{ "judge": 1, "label": 1 }, { "judge": 0 }]));
    assert_eq!(
        one_label["corrected"],
        json!({ "mean": 1.0, "ci95": null, "lambda": 0.0 })
    );
}

/// The share of 400 draws in which the interval that `draw` gives has the truth.
fn coverage(truth: f64, mut draw: impl FnMut(&mut SplitMix64) -> [f64; 2]) -> f64 {
    let mut random = SplitMix64(11);
    let covers = |_: &i32| {
        let [low, high] = draw(&mut random);
        assert!(0.0 <= low && low < high && high <= 1.0);
        (low..=high).contains(&truth)
    };
    let covered = (0..400).filter(covers).count();
    f64::from(u32::try_from(covered).unwrap()) / 400.0
}

#[test]
fn corrected_interval_covers_the_truth_near_the_ends_of_the_scale() {
    // Labels, their mean in per cent, how often the judge errs in per cent, and the steps of the scale.
    for (labels, truth, errs, steps) in [
        (60, 98, 5, 1),
        (60, 98, 5, 4),
        (50, 4, 5, 1),
        (50, 4, 5, 4),
        (100, 4, 20, 1),
        (100, 4, 20, 4),
        (60, 50, 10, 1),
    ] {
        // Where the scale has steps, a label off the near end is half of it away.
        let (near, far) = if truth < 50 { (0.0, 1.0) } else { (1.0, 0.0) };
        let far = if steps > 1 {
            f64::midpoint(near, far)
        } else {
            far
        };
        let rare = if truth < 50 { truth } else { 100 - truth };
        let rare = if steps > 1 { 2 * rare } else { rare };
        let item = |random: &mut SplitMix64| {
            let label = if random.below(100) < rare { far } else { near };
            let judge = if random.below(100) < errs { far } else { label };
            (judge, label)
        };
        let share = f64::from(u32::try_from(truth).unwrap()) / 100.0;
        let covered = coverage(share, |random| {
            let items: Vec<_> = (0..250)
                .map(|at| {
                    let (judge, label) = item(random);
                    let label = (at < labels).then_some(label);
                    GradedItem { judge, label }
                })
                .collect();
            JudgeCorrection::of(&items).unwrap().corrected.ci95.unwrap()
        });
        assert!(
            covered >= 0.93,
            "{labels} labels, {truth} %, {errs} %, {steps} steps: {covered}"
        );
    }
}

#[test]
fn agreement_interval_covers_the_truth_near_one() {
    // Items, the share of the frequent class, and how often the judge errs, in per cent.
    for (count, frequent, errs) in [(60, 90, 5_u8), (100, 90, 3), (60, 50, 10), (150, 90, 2)] {
        let truth = 1.0 - f64::from(errs) / 100.0;
        let covered = coverage(truth, |random| {
            let item = |_| {
                let label = random.below(100) < frequent;
                let judge = label != (random.below(100) < usize::from(errs));
                json!({ "labels": [label], "judge": judge })
            };
            let items: Vec<LabelledItem> = items((0..count).map(item).collect::<Vec<_>>());
            let found = JudgeAgreement::drawn(&items, 20).unwrap();
            found.ci95.agreement.unwrap()
        });
        assert!(
            covered >= 0.93,
            "{count} items, {frequent} %, {errs} %: {covered}"
        );
    }
}

#[test]
fn win_rate_of_both_orders() {
    let (a, b, tie) = (Some(Preferred::A), Some(Preferred::B), Some(Preferred::Tie));
    let pairs = [
        (a, a),
        (a, a),
        (a, a),
        (b, b),
        (tie, tie),
        (a, b),
        (a, b),
        (b, a),
        (a, tie),
        (tie, b),
        (a, None),
        (None, None),
    ];
    let found = serde_json::to_value(OrdersWinRate::of(&pairs)).unwrap();
    let counts = json!({
        "n": 12, "wins": 3, "losses": 1, "ties": 1, "inconsistent": 5, "unreadable": 2,
        "win_rate": 0.6, "ci95": found["ci95"], "position_bias": 0.4, "first_shown_wins": 2,
    });
    assert_eq!(found, counts);
    // statsmodels.stats.proportion.proportion_confint(6, 10, method="wilson")
    near(&found["ci95"][0], 0.312_673_769_733_658_24);
    near(&found["ci95"][1], 0.831_819_670_293_763_8);
    let none = OrdersWinRate::of(&[(None, a)]);
    assert_eq!(
        (
            none.n,
            none.unreadable,
            none.win_rate,
            none.ci95,
            none.position_bias
        ),
        (1, 1, None, None, None)
    );
    let consistent = OrdersWinRate::of(&[(b, b)]);
    assert_eq!(
        (consistent.win_rate, consistent.position_bias),
        (Some(0.0), None)
    );
    assert_eq!(OrdersWinRate::of(&[]).win_rate, None);
}

#[test]
fn win_rate_of_preferences() {
    let found = PreferenceWinRate::of(&[Some(0.0), Some(1.0), None, Some(1.0), Some(1.0)]);
    let expect = json!({ "n": 4, "win_rate": 0.75, "standard_error": 0.25, "ci95": found.ci95 });
    assert_eq!(serde_json::to_value(found).unwrap(), expect);
    assert_eq!(found.excluded, 1);
    let none = PreferenceWinRate::of(&[None]);
    assert_eq!(
        (none.n, none.win_rate, none.standard_error, none.ci95),
        (0, None, None, None)
    );
    assert_eq!(PreferenceWinRate::of(&[Some(0.3)]).standard_error, None);
}

#[test]
fn preferences_from_log_probabilities() {
    let check = |tokens: Value, swapped: bool, expect: Option<f64>| {
        let line = json!({ "logprobs": tokens, "swapped": swapped });
        let [LogprobPreference(found)] = items([line.clone()])[..] else {
            panic!("one line");
        };
        match (found, expect) {
            (Some(found), Some(expect)) => {
                assert!((found - expect).abs() < 1e-12, "{line}: {found}");
            }
            (found, expect) => assert_eq!(found, expect, "{line}"),
        }
    };
    let quarter = json!({ "m": 0.75_f64.ln(), "M": 0.25_f64.ln() });
    check(quarter.clone(), false, Some(0.25));
    check(quarter, true, Some(0.75));
    check(
        json!({ "m": -1000.0, "M": -1001.0 }),
        false,
        Some(1.0 / (1.0 + 1.0_f64.exp())),
    );
    check(json!({ "m": -1e308, "M": -1 }), false, Some(1.0));
    check(json!({ "m": -1, "M": -1e308 }), false, Some(0.0));
    check(json!({ "M": -5 }), false, Some(1.0));
    check(json!({ "M": -5, "m": null }), true, Some(0.0));
    check(json!({ "m": -5 }), false, Some(0.0));
    check(json!({ "x": -5 }), false, None);
    check(json!(null), true, None);
}

#[test]
fn invalid_lines_report_place_and_reason() {
    fn check<T: InputLine>(line: &str, expect: &str) {
        let Err(error) = parse_input_line::<T>("v.jsonl".as_ref(), 7, line) else {
            panic!("{line} is read");
        };
        assert_eq!(error.message(), format!("v.jsonl:7{expect}"));
        assert!(error.hint_text().is_some());
        assert_eq!(error.exit(), crate::Exit::Usage);
    }
    check::<LabelledItem>("[1]", ": a row is an object, found an array");
    check::<LabelledItem>("{\"labels\": [1], }", ":17: broken JSON: trailing comma");
    check::<LabelledItem>("{}", ": the line has no `labels`");
    check::<LabelledItem>(
        r#"{"labels": "A"}"#,
        ": `labels` must be an array with a label of each person, found a text: `\"A\"`",
    );
    check::<LabelledItem>(
        r#"{"labels": [[1]]}"#,
        ": `labels[]` must be a text, a number, a bool or null, found an array: `[1]`",
    );
    check::<LabelledItem>(
        r#"{"labels": [], "judge": {}}"#,
        ": `judge` must be a text, a number, a bool or null, found an object: `{}`",
    );
    check::<GradedItem>("{}", ": the line has no `judge`");
    check::<GradedItem>(
        r#"{"judge": null}"#,
        ": `judge` must be a number from 0 to 1, found null",
    );
    check::<GradedItem>(
        r#"{"judge": 1.2}"#,
        ": `judge` must be a number from 0 to 1, found a number: `1.2`",
    );
    check::<GradedItem>(
        r#"{"judge": 1, "label": true}"#,
        ": `label` must be a number from 0 to 1, found a bool: `true`",
    );
    check::<ComparedAnswers>(
        r#"{"first": "C", "second": "A"}"#,
        ": `first` must be \"A\", \"B\", \"tie\" or null, found a text: `\"C\"`",
    );
    check::<ComparedAnswers>(r#"{"first": "A"}"#, ": the line has no `second`");
    check::<ComparedAnswers>(
        r#"{"preference": -0.1}"#,
        ": `preference` must be a number from 0 to 1, found a number: `-0.1`",
    );
    check::<ComparedAnswers>(
        r#"{"preference": 1, "first": "A"}"#,
        ": the line has both a `preference` and a verdict for an order",
    );
    check::<ComparedAnswers>(r#"{"logprobs": {}}"#, ": the line has `logprobs`");
    check::<LogprobPreference>(r#"{"preference": 1}"#, ": the line has no `logprobs`");
    check::<LogprobPreference>(r#"{"logprobs": {"m": -1}}"#, ": the line has no `swapped`");
    check::<LogprobPreference>(
        r#"{"logprobs": {"m": 0.5}, "swapped": true}"#,
        ": `logprobs.m` must be the logarithm of a probability, at most 0, found a number: `0.5`",
    );
    check::<LogprobPreference>(
        r#"{"logprobs": 1, "swapped": true}"#,
        ": `logprobs` must be an object with `m` and `M`, found a number: `1`",
    );
}
