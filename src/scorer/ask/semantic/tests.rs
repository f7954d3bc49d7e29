//! Tests the scorer with embedders in Rust; the endpoint has separate tests.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::*;
use crate::data::Target;
use crate::scorer::AnyOf;

pub(super) fn judge(scorer: &dyn Scorer, prediction: Option<&str>, truth: &Value) -> Result<Score> {
    scorer.score(&Answer::new(prediction, &Target(truth.clone())))
}

/// The vector of a text consists of the numbers in it.
fn numbers(text: &str) -> Vec<f32> {
    text.split(' ')
        .map(|number| number.parse().unwrap())
        .collect()
}

fn semantic() -> Semantic {
    Semantic::new(("numbers", |texts: &[&str]| {
        Ok(texts.iter().map(|text| numbers(text)).collect())
    }))
}

#[track_caller]
fn check(prediction: &str, truth: &str, expect: (f64, bool, &str, f64)) {
    let score = judge(&semantic(), Some(prediction), &truth.into()).unwrap();
    let similarity = score
        .details
        .get("similarity")
        .and_then(Value::as_f64)
        .unwrap();
    let got = (
        score.value,
        score.correct,
        score.reason.as_ref(),
        similarity,
    );
    assert_eq!(got, expect, "{prediction} {truth}");
}

#[test]
fn the_angle_decides() {
    check("1 0", "2 0", (1.0, true, "similar", 1.0));
    check("1 0", "0 1", (0.0, false, "dissimilar", 0.0));
    check("1 0", "-1 0", (0.0, false, "dissimilar", -1.0));
    check("3 4", "1 0", (0.6, false, "dissimilar", 0.6));
    check("4 3", "1 0", (0.8, true, "similar", 0.8));
    // Neither overflows nor underflows.
    check("3e38 3e38", "1e-38 1e-38", (1.0, true, "similar", 1.0));
}

#[test]
fn the_threshold_is_reached_by_what_is_equal() {
    let correct = |threshold| {
        let scorer = semantic().threshold(threshold);
        judge(&scorer, Some("3 4"), &"1 0".into()).unwrap().correct
    };
    assert!(correct(0.6) && !correct(0.600_001));
}

#[test]
fn some_pairs_need_no_embedding() {
    let never = |_: &[&str]| -> Result<Vec<Vec<f32>>> { panic!("asked") };
    let scorer = Semantic::new(("never", never));
    let score = |prediction| judge(&scorer, prediction, &" Paris\n".into()).unwrap();
    let same = score(Some("Paris\u{a0}"));
    assert_eq!(
        (same.value, same.correct, same.reason.as_ref()),
        (1.0, true, "exact_match")
    );
    assert_eq!(same.normalized_prediction, "Paris".into());
    for nothing in [None, Some(""), Some(" \n")] {
        let score = score(nothing);
        assert_eq!(
            (score.value, score.correct, score.reason.as_ref()),
            (0.0, false, "no_prediction")
        );
    }
    let message = |truth: Value| {
        judge(&scorer, Some("a"), &truth)
            .unwrap_err()
            .message()
            .to_owned()
    };
    assert_eq!(
        message(json!(5)),
        "`ground_truth` must be a string for scorer `semantic`"
    );
    assert_eq!(
        message(json!(" ")),
        "`ground_truth` is blank, so no similarity can be computed"
    );
}

#[test]
fn known_results_are_not_requested_again() {
    let requests = Arc::new(AtomicUsize::new(0));
    let folder = tempfile::tempdir().unwrap();
    let scorer = || {
        let requests = Arc::clone(&requests);
        let embed = move |texts: &[&str]| {
            requests.fetch_add(texts.len(), Ordering::Relaxed);
            Ok(texts.iter().map(|text| numbers(text)).collect())
        };
        Semantic::new(("numbers", embed)).cache(folder.path())
    };
    let texts = |scorer: &Semantic, prediction, truth: &str| {
        let before = requests.load(Ordering::Relaxed);
        judge(scorer, Some(prediction), &truth.into()).unwrap();
        requests.load(Ordering::Relaxed) - before
    };
    let first = scorer();
    assert_eq!(texts(&first, "1 0", "0 1"), 2);
    assert_eq!(texts(&first, "1 0", "0 1"), 0);
    assert_eq!(texts(&first, "1 1", "0 1"), 1);
    // The next run reads it from the files.
    let next = scorer();
    assert_eq!(texts(&next, "0 1", "1 1"), 0);
    // Each gold is requested once.
    let any = AnyOf::new(next);
    let before = requests.load(Ordering::Relaxed);
    let score = judge(&any, Some("2 0"), &json!(["0 1", "1 0", "1 1"])).unwrap();
    assert_eq!(score.details.get("matched"), Some(&json!("1 0")));
    assert_eq!(requests.load(Ordering::Relaxed) - before, 1);
}

#[test]
fn vectors_that_cannot_be_compared_are_errors() {
    let message = |vectors: Vec<Vec<f32>>| {
        let scorer = Semantic::new(("m", move |_: &[&str]| Ok(vectors.clone())));
        let error = judge(&scorer, Some("a"), &"b".into()).unwrap_err();
        assert_eq!(error.exit(), crate::Exit::Infrastructure);
        error.message().to_owned()
    };
    assert_eq!(message(vec![]), "model `m` gave 0 vectors for 2 texts");
    assert_eq!(
        message(vec![vec![1.0]; 3]),
        "model `m` gave 3 vectors for 2 texts"
    );
    assert_eq!(
        message(vec![vec![1.0], vec![1.0, 2.0]]),
        "model `m` gave vectors of 1 and of 2 numbers"
    );
    let no_number = "model `m` gave a vector with a part that is not a number";
    assert_eq!(message(vec![vec![1.0], vec![f32::NAN]]), no_number);
    assert_eq!(message(vec![vec![f32::INFINITY], vec![1.0]]), no_number);
    let zero = "model `m` gave a vector without direction, all 0";
    assert_eq!(message(vec![vec![1.0, 1.0], vec![0.0, -0.0]]), zero);
    assert_eq!(message(vec![vec![], vec![]]), zero);

    // Vectors that cannot be compared are not cached.
    let folder = tempfile::tempdir().unwrap();
    let broken = |_: &[&str]| Ok(vec![vec![f32::NAN]; 2]);
    let scorer = Semantic::new(("m", broken)).cache(folder.path());
    assert!(judge(&scorer, Some("a"), &"b".into()).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // A failing embedder does not affect the answer either.
    let fails = |_: &[&str]| Err(Error::infrastructure("no model"));
    let error = judge(&Semantic::new(("m", fails)), Some("a"), &"b".into()).unwrap_err();
    assert_eq!(error.message(), "no model");
}

#[test]
fn model_and_threshold_are_in_the_fingerprint() {
    let embed = |_: &[&str]| Ok(Vec::new());
    let one = Semantic::new(("one", embed)).fingerprint();
    assert_eq!(one, r#"semantic ["one",0.7]"#);
    assert_ne!(Semantic::new(("two", embed)).fingerprint(), one);
    assert_ne!(
        Semantic::new(("one", embed)).threshold(0.8).fingerprint(),
        one
    );
    // The location of the cache does not change verdicts.
    assert_eq!(
        Semantic::new(("one", embed))
            .cache("somewhere")
            .fingerprint(),
        one
    );
}

#[cfg(not(feature = "http"))]
#[test]
fn missing_feature_error_has_hint() {
    let spec = json!({"type": "semantic", "base_url": "http://127.0.0.1:1/v1", "model": "m"});
    let error = crate::eval::registry::scorers::from_value(
        &spec,
        &crate::eval::registry::scorers::Context::here(),
    );
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("needs the feature `http`") && error.contains("--features http`"),
        "{error}"
    );
}
