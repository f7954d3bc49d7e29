//! Properties of compositions for any answers.

use super::*;
use crate::tests::fuzz::{Dice, cases};

const PARTS: &[&str] = &[
    "a", "b", "1", "2.0", "2", ",", ", ", ";", " ", "\n", "\u{a0}", "A", "=>", "é", "", "-",
    "None", ",,", "x y",
];

fn scorers() -> Vec<Arc<dyn Scorer>> {
    let specs = [
        json!({"type": "any", "scorers": ["gaia", {"type": "list", "ordered": false}, "arrow"]}),
        json!({"type": "all", "scorers": ["gaia", {"type": "list", "ordered": false}, "arrow"]}),
        json!({"type": "weighted", "scorers": ["gaia", {"type": "list", "ordered": false}, "arrow"]}),
        json!("list"),
        json!({"type": "list", "ordered": false}),
    ];
    specs.iter().map(|spec| scorer(spec).unwrap()).collect()
}

#[test]
fn values_and_verdicts_fit_together() {
    let scorers = scorers();
    let mut random = Dice::new(7);
    for _ in 0..cases() {
        let (raw, truth) = (random.text(PARTS, 8), random.text(PARTS, 8));
        let score = |scorer: &Arc<dyn Scorer>| {
            let score = judge_with(&**scorer, Some(&raw), &truth.as_str().into(), false).unwrap();
            assert!(
                (0.0..=1.0).contains(&score.value),
                "{raw:?} {truth:?} {score:?}"
            );
            score
        };
        let [any, all, mean, ordered, unordered] = &scorers[..] else {
            panic!("five scorers");
        };
        let [any, all, mean] = [any, all, mean].map(score);
        let parts =
            ["gaia", "list", "arrow"].map(|name| all.details.get(name) == Some(&true.into()));
        assert_eq!(
            all.correct,
            parts.iter().all(|correct| *correct),
            "{raw:?} {truth:?}"
        );
        assert_eq!(
            any.correct,
            parts.iter().any(|correct| *correct),
            "{raw:?} {truth:?}"
        );
        assert!(
            all.value <= mean.value && mean.value <= any.value,
            "{raw:?} {truth:?}"
        );
        // Ignoring the order matches at least as much.
        let [ordered, unordered] = [ordered, unordered].map(score);
        assert!(ordered.value <= unordered.value, "{raw:?} {truth:?}");
        assert!(unordered.correct || !ordered.correct, "{raw:?} {truth:?}");
    }
}

#[test]
fn a_list_in_another_order_is_the_same_list() {
    let unordered = List::new(GaiaScorer).unordered();
    let mut random = Dice::new(11);
    for _ in 0..cases() / 10 {
        let number = random.below(12);
        let elements: Vec<String> = (0..number)
            .map(|_| random.text(&["a", "b", "1", "1.0", "x y"], 3))
            .collect();
        let mut shuffled = elements.clone();
        for place in (1..number).rev() {
            shuffled.swap(place, random.below(place + 1));
        }
        let truth = elements.join(",");
        let score = judge_with(
            &unordered,
            Some(&shuffled.join(" ,")),
            &truth.as_str().into(),
            false,
        );
        assert!(score.unwrap().correct, "{truth:?} {shuffled:?}");
    }
}
