//! `all`, `any`, `weighted`, `not` and `any_of`, from specs and in Rust.

mod options;
mod properties;

use std::path::Path;

use super::*;
use crate::data::{Output, Target};
use crate::eval::registry::Registry;
use crate::eval::registry::scorers::{Context, from_value};
use crate::scorer::gaia::GaiaScorer;
use crate::scorer::{All, Any, AnyOf, List, Not, Weighted};

/// Correct if the prediction is the ground truth; its own extraction takes the text after `=>`.
struct Arrow;

impl Scorer for Arrow {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let truth = answer.target.as_text();
        let prediction = answer.prediction.unwrap_or_default();
        Ok(Score::binary(answer.prediction == truth).normalized(prediction, truth.unwrap_or("-")))
    }

    fn extract(&self) -> Option<Extract> {
        Some(Extract::after("=>"))
    }

    fn secrets(&self) -> Vec<String> {
        vec!["arrow-secret".to_owned()]
    }
}

/// Needs no ground truth, and does not judge everything.
struct Length;

impl Scorer for Length {
    fn name(&self) -> &'static str {
        "length"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        match answer.prediction.map_or(0, str::len) {
            0 => Err(Error::usage("nothing to measure")),
            1 => Ok(Score::new(f64::NAN, false, "one")),
            length if length > 9 => Ok(Score::new(0.25, false, "long")),
            length => Ok(Score::new(0.5, true, "short").detail("length", length)),
        }
    }

    fn needs_target(&self) -> bool {
        false
    }
}

fn registry() -> Registry {
    let registry = Registry::new().scorer("arrow", |_| Ok(Arrow));
    registry.scorer("length", |_| Ok(Length))
}

fn scorer(spec: &Value) -> Result<Arc<dyn Scorer>> {
    let registry = registry();
    let context = Context {
        folder: Path::new("."),
        registry: Some(&registry),
        item_parts: None,
    };
    from_value(spec, &context)
}

fn judge_with(scorer: &dyn Scorer, raw: Option<&str>, truth: &Value, given: bool) -> Result<Score> {
    let output = Output {
        text: raw.map(str::to_owned),
        ..Output::default()
    };
    // Like the runner, for an eval without an extraction.
    let own = scorer.extract().filter(|_| !given);
    let prediction = raw.and_then(|raw| own.unwrap_or_default().apply(raw));
    scorer.score(&Answer {
        extract_is_given: given,
        ..Answer::new(prediction.as_deref(), &Target(truth.clone())).output(&output)
    })
}

/// Checks value, verdict and reason.
#[track_caller]
fn check(spec: &Value, raw: &str, truth: impl Into<Value>, expect: (f64, bool, &str)) -> Score {
    let scorer = scorer(spec).unwrap();
    let score = judge_with(&*scorer, Some(raw), &truth.into(), false).unwrap();
    let got = (score.value, score.correct, score.reason.as_ref());
    assert_eq!(got, expect, "{score:?}");
    score
}

#[track_caller]
fn check_error(spec: &Value, raw: &str, truth: impl Into<Value>, expect: &str) {
    let result = scorer(spec).and_then(|scorer| {
        let score = judge_with(&*scorer, Some(raw), &truth.into(), false);
        score.map(|score| panic!("{score:?}"))
    });
    assert_eq!(
        result.map_err(|error| error.to_string()),
        Err::<(), _>(expect.to_owned())
    );
}

#[test]
fn all_want_everything() {
    let all = json!({"type": "all", "scorers": ["gaia", "length"]});
    let score = check(&all, "Seagull", "sea gull", (0.5, true, "all_correct"));
    let details = json!({
        "gaia": true,
        "length": true,
        "parts": {
            "gaia": {"value": 1.0, "correct": true, "reason": "exact_match", "details": {"kind": "string"}},
            "length": {"value": 0.5, "correct": true, "reason": "short", "details": {"length": 7}},
        },
    });
    assert_eq!(serde_json::to_value(&score.details).unwrap(), details);
    assert_eq!(score.normalized_prediction, "seagull".into());
    check(&all, "a sea-gull", "sea gull", (0.0, false, "part_wrong"));
    // The compared texts are those of the first part that is wrong.
    let score = check(
        &json!({"type": "all", "scorers": ["gaia", "arrow"]}),
        "x=>Y",
        "x=>y",
        (0.0, false, "part_wrong"),
    );
    assert_eq!(score.normalized_prediction, "Y".into());
}

#[test]
fn one_is_enough_for_any() {
    let any = json!({"type": "any", "scorers": ["arrow", "gaia"]});
    let score = check(&any, "Y", "y", (1.0, true, "part_correct"));
    assert_eq!(score.normalized_prediction, "y".into());
    assert_eq!(score.details.get("arrow"), Some(&json!(false)));
    assert_eq!(score.details.get("gaia"), Some(&json!(true)));
    check(&any, "z", "y", (0.0, false, "none_correct"));
    let any = json!({"type": "any", "scorers": ["gaia", "length"]});
    check(&any, "a long answer", "y", (0.25, false, "none_correct"));
}

#[test]
fn weights_decide() {
    let weighted = |weights: Value, threshold: f64| {
        json!({
            "type": "weighted", "scorers": ["gaia", "length"], "weights": weights, "threshold": threshold,
        })
    };
    check(
        &weighted(json!([1, 3]), 0.625),
        "ab",
        "ab",
        (0.625, true, "threshold_reached"),
    );
    check(
        &weighted(json!([1, 3]), 0.63),
        "ab",
        "ab",
        (0.625, false, "below_threshold"),
    );
    check(
        &weighted(json!([0, 1]), 0.5),
        "ab",
        "cd",
        (0.5, true, "threshold_reached"),
    );
    let plain = json!({"type": "weighted", "scorers": ["gaia", "length"]});
    check(&plain, "ab", "cd", (0.25, false, "below_threshold"));
    check(&plain, "ab", "ab", (0.75, true, "threshold_reached"));
    // 0.1 + 0.2 reaches 0.3.
    let thirds = json!({"type": "weighted", "threshold": 0.3, "weights": [0.1, 0.2, 0.7],
        "scorers": ["gaia", "gaia", {"type": "not", "scorer": "gaia"}]});
    let score =
        scorer(&thirds).and_then(|scorer| judge_with(&*scorer, Some("a"), &"a".into(), false));
    assert!(score.unwrap().correct);
}

#[test]
fn not_turns_around() {
    let not = json!({"type": "not", "scorer": "length"});
    let score = check(&not, "a long answer", "", (0.75, true, "part_wrong"));
    assert_eq!(score.details.get("length"), Some(&json!(false)));
    check(&not, "short", "", (0.5, false, "part_correct"));
    let twice = json!({"type": "not", "scorer": {"type": "not", "scorer": "gaia"}});
    check(&twice, "A", "a", (1.0, true, "part_wrong"));
    check(&twice, "b", "a", (0.0, false, "part_correct"));
    // No answer is not correct, unless there is a tool call.
    let scorer = Not::new(GaiaScorer);
    let score = judge_with(&scorer, None, &"a".into(), false).unwrap();
    assert_eq!(
        (score.correct, score.reason.as_ref()),
        (false, "no_prediction")
    );
    let output = Output {
        tool_calls: vec![json!({"name": "f"})],
        ..Output::default()
    };
    let score = scorer.score(&Answer::new(None, &Target::from("a")).output(&output));
    assert!(score.unwrap().correct);
    // The part extracts nothing.
    let score = judge_with(&Not::new(Arrow), Some("no arrow"), &"a".into(), false).unwrap();
    assert_eq!(
        (score.correct, score.reason.as_ref()),
        (false, "no_prediction")
    );
}

#[test]
fn the_best_of_any_of_counts() {
    let any_of = json!({"type": "any_of"});
    let score = check(
        &any_of,
        "N.Y.C.",
        json!(["New York", "NYC", "nyc"]),
        (1.0, true, "exact_match"),
    );
    assert_eq!(score.details.get("matched"), Some(&json!("NYC")));
    assert_eq!(score.details.get("kind"), Some(&json!("string")));
    assert_eq!(score.normalized_ground_truth, "nyc".into());
    let score = check(
        &any_of,
        "Boston",
        json!(["New York", "NYC"]),
        (0.0, false, "mismatch"),
    );
    assert_eq!(score.details.get("matched"), Some(&Value::Null));
    // A ground truth that is not an array is the only one.
    check(&any_of, "5.0", "5", (1.0, true, "exact_match"));
    check_error(
        &any_of,
        "a",
        json!([]),
        "`ground_truth` has no accepted answer",
    );
    let expect = "accepted answer 2: `ground_truth` must be a string for scorer `gaia`";
    check_error(&any_of, "a", json!(["a", 5]), expect);
    // The greatest value, and lists of lists.
    let list = json!({"type": "any_of", "scorer": "list"});
    let score = check(
        &list,
        "a, b",
        json!([["x", "b"], ["a", "b", "c"]]),
        (2.0 / 3.0, false, "partly_matched"),
    );
    assert_eq!(score.details.get("recall"), Some(&json!(2.0 / 3.0)));
    let score = check(
        &list,
        "a, b",
        json!([["x"], ["a", "b"]]),
        (1.0, true, "all_matched"),
    );
    assert_eq!(score.details.get("matched"), Some(&json!(["a", "b"])));
}

#[test]
fn parts_of_one_name_are_numbered() {
    let all =
        json!({"type": "all", "scorers": ["gaia", "gaia", {"type": "gaia", "name": "gaia#2"}]});
    let score = check(&all, "a", "a", (1.0, true, "all_correct"));
    let names: Vec<_> = score.details.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["gaia", "gaia#2", "gaia#2#2", "parts"]);
}

#[test]
fn a_part_judges_what_it_would_judge_alone() {
    let all = json!({"type": "all", "scorers": ["arrow", {"type": "not", "scorer": "gaia"}]});
    let scorer_of = |spec: &Value| scorer(spec).unwrap();
    let mixed = scorer_of(&all);
    assert_eq!(mixed.extract(), None);
    let score = |given, raw| judge_with(&*mixed, Some(raw), &"4".into(), given).unwrap();
    // `arrow` sees "4", `gaia` the whole text.
    assert!(score(false, "2+2 => 4").correct);
    // An explicit extraction applies to both; here it is `none`.
    assert!(!score(true, "2+2 => 4").correct);
    assert_eq!(score(true, "4").details.get("arrow"), Some(&json!(true)));
    // The same when nested.
    for outer in ["any_of", "not"] {
        let outer = scorer_of(&json!({"type": outer, "scorer": all}));
        let alone = judge_with(&*outer, Some("2+2 => 4"), &"4".into(), false).unwrap();
        let given = judge_with(&*outer, Some("2+2 => 4"), &"4".into(), true).unwrap();
        assert_ne!(alone.correct, given.correct);
    }
    // An extraction shared by all parts is that of the composition, so that it is recorded.
    for same in [
        json!({"type": "all", "scorers": ["arrow", {"type": "arrow", "name": "b"}]}),
        json!({"type": "any_of", "scorer": "arrow"}),
        json!({"type": "not", "scorer": "arrow"}),
        json!({"type": "list", "scorer": "arrow"}),
    ] {
        assert_eq!(
            scorer_of(&same).extract(),
            Some(Extract::after("=>")),
            "{same}"
        );
    }
    // A list is extracted as a whole; its elements are scored as they are.
    let list = |element: Value| {
        let list = scorer_of(&json!({"type": "list", "scorer": element}));
        judge_with(&*list, Some("a => 4, 5"), &"4, 5".into(), false).unwrap()
    };
    assert!(list(json!("arrow")).correct);
    let score = list(json!({"type": "all", "scorers": ["arrow", "gaia"]}));
    assert_eq!(score.details.get("missing"), Some(&json!(["4"])));
}

#[test]
fn what_follows_from_parts() {
    let needs = |spec: Value| scorer(&spec).unwrap().needs_target();
    assert!(!needs(json!({"type": "all", "scorers": ["length"]})));
    assert!(needs(json!({"type": "any", "scorers": ["length", "gaia"]})));
    assert!(!needs(json!({"type": "not", "scorer": "length"})));
    assert!(needs(json!({"type": "any_of", "scorer": "length"})));

    // The criterion of a sample is passed through all of them.
    let mut sample = Sample::new("a", "?").target("3");
    sample.metadata.insert("scorer".to_owned(), "gsm8k".into());
    let per_sample = json!({"type": "per_sample", "default": "gaia"});
    for spec in [
        json!({"type": "all", "scorers": ["gaia", per_sample]}),
        json!({"type": "any", "scorers": [per_sample]}),
        json!({"type": "weighted", "scorers": [per_sample]}),
        json!({"type": "not", "scorer": per_sample}),
        json!({"type": "any_of", "scorer": per_sample}),
        json!({"type": "list", "scorer": per_sample}),
    ] {
        let criterion = scorer(&spec).unwrap().criterion(&sample).unwrap();
        assert!(
            criterion.is_some_and(|text| text.contains("gsm8k")),
            "{spec}"
        );
    }
    let all = scorer(&json!({"type": "all", "scorers": ["gaia", "length"]})).unwrap();
    assert_eq!(all.criterion(&sample).unwrap(), None);

    let nested = json!({"type": "all", "scorers": [{"type": "weighted", "scorers": [
        {"type": "not", "scorer": {"type": "any_of", "scorer": {"type": "list", "scorer": "arrow"}}}]}]});
    assert_eq!(scorer(&nested).unwrap().secrets(), ["arrow-secret"]);
}

#[test]
fn a_part_that_cannot_judge_is_an_error() {
    let error = "part `length`: nothing to measure";
    for name in ["all", "any", "weighted"] {
        check_error(
            &json!({"type": name, "scorers": ["gaia", "length"]}),
            "",
            "",
            error,
        );
    }
    check_error(&json!({"type": "not", "scorer": "length"}), "", "", error);
    let number = "part `length`: gave the value NaN, which is not a number";
    check_error(
        &json!({"type": "any", "scorers": ["gaia", "length"]}),
        "a",
        "a",
        number,
    );
    let nested = json!({"type": "all", "scorers": [{"type": "not", "scorer": "length"}]});
    check_error(
        &nested,
        "",
        "",
        "part `not`: part `length`: nothing to measure",
    );
    let none = judge_with(&All::new([]), Some("a"), &"a".into(), false).unwrap_err();
    assert_eq!(none.message(), "it has no scorers");
}

#[test]
fn closures_and_scorers_of_any_kind_compose() {
    let polite = |answer: &Answer<'_>| {
        let text = answer.prediction.unwrap_or_default();
        Ok(Score::binary(text.contains("please")))
    };
    let scorer = All::new([
        Arc::new(Any::new([
            Arc::new(AnyOf::new(GaiaScorer)),
            Arc::new(List::new(GaiaScorer).unordered().separator("/")),
        ])),
        Arc::new(Not::new(("polite", polite))),
    ]);
    let correct = |raw| {
        judge_with(&scorer, Some(raw), &json!(["a", "b"]), false)
            .unwrap()
            .correct
    };
    assert!(correct("b") && correct("b/a"));
    assert!(!correct("c") && !correct("b please") && !correct("b/a/a"));
}
