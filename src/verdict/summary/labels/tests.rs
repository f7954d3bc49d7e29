use serde_json::json;

use super::*;
use crate::verdict::summary::Summary;
use crate::verdict::summary::tests::{labelled, record};

fn of(pairs: &[(&str, Option<&str>)]) -> Option<Labels> {
    Summary::of("test", &labelled(pairs)).whole.labels
}

fn check(pairs: &[(&str, Option<&str>)], counts: &[&[u64]], f1: &[f64], macro_f1: f64) {
    let labels = of(pairs).unwrap();
    assert_eq!(labels.confusion.counts, counts);
    let close = |one: f64, other: f64| (one - other).abs() < 1e-12;
    for (figures, expect) in labels.by_label.values().zip(f1) {
        assert!(close(figures.f1, *expect), "{figures:?}");
    }
    assert_eq!(labels.by_label.len(), f1.len());
    assert!(close(labels.macro_f1.unwrap(), macro_f1), "{labels:?}");
    let text = serde_json::to_string(&labels).unwrap();
    assert_eq!(serde_json::from_str::<Labels>(&text).unwrap(), labels);
}

#[test]
fn figures_are_those_of_scikit_learn() {
    // The examples in scikit-learn's documentation of `f1_score` (which prints 0.267) and `confusion_matrix`.
    check(
        &[
            ("0", Some("0")),
            ("1", Some("2")),
            ("2", Some("1")),
            ("0", Some("0")),
            ("1", Some("0")),
            ("2", Some("1")),
        ],
        &[&[2, 0, 0, 0], &[1, 0, 1, 0], &[0, 2, 0, 0]],
        &[0.8, 0.0, 0.0],
        0.8 / 3.0,
    );
    let cats = [
        ("cat", Some("ant")),
        ("ant", Some("ant")),
        ("cat", Some("cat")),
        ("cat", Some("cat")),
        ("ant", Some("ant")),
        ("bird", Some("cat")),
    ];
    // ant: precision 2/3, recall 1; bird: never predicted; cat: 2/3 and 2/3.
    check(
        &cats,
        &[&[2, 0, 0, 0], &[0, 0, 1, 0], &[1, 0, 2, 0]],
        &[0.8, 0.0, 2.0 / 3.0],
        (0.8 + 2.0 / 3.0) / 3.0,
    );
    let ant = of(&cats).unwrap().by_label["ant"];
    assert!((ant.precision - 2.0 / 3.0).abs() < 1e-12 && (ant.recall - 1.0).abs() < 1e-12);
    assert_eq!((ant.support, ant.predicted), (2, 3));
}

#[test]
fn a_label_that_is_only_predicted_counts_and_other_does_not() {
    // yes: 1 of 2 found, no false positive: 2/3. no: 1.
    let half = &[("yes", Some("yes")), ("yes", None), ("no", Some("no"))];
    check(
        half,
        &[&[1, 0, 0], &[0, 1, 1]],
        &[1.0, 2.0 / 3.0],
        5.0 / 6.0,
    );
    // The same, but the miss is now a label of its own.
    let maybe = &[
        ("yes", Some("yes")),
        ("yes", Some("maybe")),
        ("no", Some("no")),
    ];
    let rows: [&[u64]; 3] = [&[0, 0, 0, 0], &[0, 1, 0, 0], &[1, 0, 1, 0]];
    check(maybe, &rows, &[0.0, 1.0, 2.0 / 3.0], 5.0 / 9.0);
    let long = "x".repeat(MAX_LABEL_BYTES + 1);
    check(&[("yes", Some(&long))], &[&[0, 1]], &[0.0], 0.0);
}

#[test]
fn free_texts_are_no_labels() {
    let texts: Vec<String> = (0..=MAX_LABELS).map(|number| number.to_string()).collect();
    let right = |texts: &[String]| {
        let pairs: Vec<_> = texts.iter().map(|text| (&**text, Some(&**text))).collect();
        of(&pairs).unwrap()
    };
    let most = right(&texts[1..]);
    assert_eq!((most.left_out, most.macro_f1), (false, Some(1.0)));
    let labels = right(&texts);
    assert!(labels.left_out && labels.macro_f1.is_none() && labels.by_label.is_empty());
    assert_eq!(labels.samples, 65);
    let long = "x".repeat(MAX_LABEL_BYTES + 1);
    assert!(of(&[(&long, None)]).unwrap().left_out);
}

#[test]
fn only_scores_with_a_label_count_and_slices_have_their_own() {
    assert_eq!(of(&[]), None);
    let mut records = labelled(&[("a", Some("a")), ("b", Some("a"))]);
    records[1].slices.insert("level".to_owned(), "2".into());
    let mut number = record("n", crate::data::Status::Scored, true, "1");
    let details = json!({ "label": 3, "target_label": 3 });
    number.result.score.as_mut().unwrap().details = serde_json::from_value(details).unwrap();
    records.push(number);
    let summary = Summary::of("test", &records);
    assert_eq!(summary.labels.as_ref().unwrap().samples, 2);
    let levels = &summary.slices["level"];
    assert_eq!(levels["1"].labels.as_ref().unwrap().macro_f1, Some(1.0));
    assert_eq!(levels["2"].labels.as_ref().unwrap().macro_f1, Some(0.0));
}

/// The range of macro-F1 with more samples, by brute force.
fn extremes(
    pairs: &mut Vec<(&'static str, Option<&'static str>)>,
    more: u64,
    right: bool,
) -> [f64; 2] {
    if more == 0 {
        let value = of(pairs).unwrap().macro_f1.unwrap();
        return [value, value];
    }
    let names = ["a", "b", "c"];
    let mut all = [f64::INFINITY, f64::NEG_INFINITY];
    for truth in names {
        for prediction in names.map(Some).into_iter().chain([None]) {
            if (prediction == Some(truth)) != right {
                continue;
            }
            pairs.push((truth, prediction));
            let [low, high] = extremes(pairs, more - 1, right);
            pairs.pop();
            all = [all[0].min(low), all[1].max(high)];
        }
    }
    all
}

#[test]
fn unknown_samples_are_dealt_as_badly_and_as_well_as_can_be() {
    let mut pairs = vec![
        ("a", Some("a")),
        ("a", Some("a")),
        ("a", Some("b")),
        ("b", Some("b")),
        ("c", Some("a")),
        ("c", None),
        ("c", Some("c")),
    ];
    for unknown in 0..=3 {
        let labels = of(&pairs).unwrap();
        let [low, high] = labels.macro_f1_within(unknown).unwrap();
        let [worst, _] = extremes(&mut pairs, unknown, false);
        let [_, best] = extremes(&mut pairs, unknown, true);
        assert!((low - worst).abs() < 1e-12, "{unknown}: {low} {worst}");
        assert!((high - best).abs() < 1e-12, "{unknown}: {high} {best}");
    }
}
