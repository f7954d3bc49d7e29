use super::*;
use crate::data::Normalized;
use crate::eval::registry::scorers::{Context, from_value};

fn judge(list: &dyn Scorer, prediction: Option<&str>, truth: &Value) -> Result<Score> {
    list.score(&Answer::new(prediction, &Target(truth.clone())))
}

fn list(options: Value) -> Arc<dyn Scorer> {
    let Value::Object(mut spec) = options else {
        panic!("no options: {options}");
    };
    spec.insert("type".into(), "list".into());
    from_value(&spec.into(), &Context::here()).unwrap()
}

#[track_caller]
fn check(options: Value, prediction: &str, truth: impl Into<Value>, expect: (f64, &str)) {
    let truth = truth.into();
    let score = judge(&*list(options), Some(prediction), &truth).unwrap();
    assert_eq!((score.value, score.reason.as_ref()), expect, "{score:?}");
    assert_eq!(score.correct, score.reason == "all_matched");
}

#[test]
fn the_order_counts_or_not() {
    let any = || json!({"ordered": false});
    check(
        json!({}),
        "a, B ,c",
        json!(["a", "b", "c"]),
        (1.0, "all_matched"),
    );
    check(
        json!({}),
        "a, c, b",
        json!(["a", "b", "c"]),
        (1.0 / 3.0, "partly_matched"),
    );
    check(
        any(),
        "a, c, b",
        json!(["a", "b", "c"]),
        (1.0, "all_matched"),
    );
    check(any(), "a, c, b", "b,a,c", (1.0, "all_matched"));
    check(json!({}), "b, a", "a, b", (0.0, "none_matched"));
}

#[test]
fn the_longer_list_is_the_measure() {
    let any = || json!({"ordered": false});
    check(any(), "a, b, c, d", "a, b", (0.5, "partly_matched"));
    check(any(), "a", "a, b, c, d", (0.25, "partly_matched"));
    // Each element can be used once.
    check(any(), "a, a, a", "a, b, c", (1.0 / 3.0, "partly_matched"));
    check(any(), "a, b", "a, a", (0.5, "partly_matched"));
    check(json!({}), "a, b, c", "a, b", (2.0 / 3.0, "partly_matched"));
}

#[test]
fn as_many_as_possible_are_paired() {
    // `ab` fits both, `ac` only the first: a greedy choice would lose one.
    let begins = |answer: &Answer<'_>| {
        let truth = answer.target.as_text().unwrap_or_default();
        Ok(Score::binary(
            answer
                .prediction
                .is_some_and(|text| text.starts_with(truth)),
        ))
    };
    let list = List::new(("begins", begins)).unordered();
    let score = judge(&list, Some("ab, ac"), &"a, ab".into()).unwrap();
    assert!(score.correct, "{score:?}");
}

#[test]
fn splitting() {
    check(json!({}), " a,, b ,", "a,b", (1.0, "all_matched"));
    check(
        json!({"separator": ";"}),
        "1,000; 2",
        json!(["1,000", "2"]),
        (1.0, "all_matched"),
    );
    check(
        json!({"separator": "\n"}),
        "a\r\n\n b\n",
        "a\nb",
        (1.0, "all_matched"),
    );
    check(
        json!({"separator": " and "}),
        "a and b",
        json!(["a", "b"]),
        (1.0, "all_matched"),
    );
    check(json!({}), "", json!([]), (1.0, "all_matched"));
    check(json!({}), " , ", "", (1.0, "all_matched"));
    check(json!({}), "a", json!([]), (0.0, "none_matched"));
    check(json!({}), "", "a", (0.0, "no_prediction"));
    let whole = List::new(gaia::GaiaScorer).separator("");
    assert!(
        judge(&whole, Some("a, b"), &json!(["a, b"]))
            .unwrap()
            .correct
    );
}

#[test]
fn details_name_what_is_missing_and_extra() {
    let score = judge(
        &*list(json!({"ordered": false})),
        Some("c, x, a"),
        &json!(["a", "b", "c", "d"]),
    );
    let score = score.unwrap();
    let details =
        json!({"precision": 2.0 / 3.0, "recall": 0.5, "missing": ["b", "d"], "extra": ["x"]});
    assert_eq!(serde_json::to_value(&score.details).unwrap(), details);
    let text = |items: &[&str]| {
        Normalized::from(items.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(score.normalized_prediction, text(&["c", "x", "a"]));
    assert_eq!(score.normalized_ground_truth, text(&["a", "b", "c", "d"]));
}

#[test]
fn what_cannot_be_compared() {
    let none = judge(&*list(json!({})), None, &json!([])).unwrap();
    assert_eq!(
        (none.correct, none.reason.as_ref()),
        (false, "no_prediction")
    );
    let message = |truth: Value| {
        let error = judge(&*list(json!({"ordered": false})), Some("a"), &truth).unwrap_err();
        error.message().to_owned()
    };
    assert_eq!(
        message(json!(5)),
        "`ground_truth` must be an array or a string for scorer `list`"
    );
    assert_eq!(
        message(json!(["b", 5])),
        "element `5` of the ground truth: `ground_truth` must be a string for scorer `gaia`"
    );
    assert_eq!(
        message(vec!["a"; 501].join(",").into()),
        "`ground_truth` has 501 elements, more than the 500 of an unordered list"
    );
}

#[test]
fn a_flood_of_elements_is_wrong_and_quick() {
    let flood = "a,".repeat(1 << 19);
    let unordered = judge(
        &*list(json!({"ordered": false})),
        Some(&flood),
        &"a, b".into(),
    )
    .unwrap();
    assert_eq!(
        (unordered.value, unordered.reason.as_ref()),
        (0.0, "too_many_elements")
    );
    let many = vec!["a"; 1 << 12].join(",");
    let ordered = judge(&*list(json!({})), Some(&flood), &many.into()).unwrap();
    assert_eq!(
        (ordered.value, ordered.reason.as_ref()),
        (1.0 / 128.0, "partly_matched")
    );
    let extra = ordered
        .details
        .get("extra")
        .and_then(Value::as_array)
        .unwrap();
    assert_eq!(extra.len(), NAMED);
}
