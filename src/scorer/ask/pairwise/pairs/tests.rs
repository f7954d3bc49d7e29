use std::collections::BTreeMap;

use super::*;
use crate::data::Sample;

fn answers(ids: &[&str]) -> References {
    let mut all = References::default();
    for id in ids {
        all.add((*id).to_owned(), 0, Some(format!("answer {id}")))
            .unwrap();
    }
    all
}

fn samples(count: usize) -> References {
    let samples = (0..count).map(|number| Sample::new(format!("r{number}"), "?"));
    References::of_samples(samples.collect(), None).unwrap()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("s{number}")).collect()
}

fn drawn(ids: &[&str], references: &References, pairs: Option<u64>, seed: u64) -> Vec<String> {
    let made = ReferencePairs::of(ids, references, Draw { pairs, seed }).unwrap();
    let there = ids.iter().filter(|id| made.partner(id).is_some());
    there.map(|id| (*id).to_owned()).collect()
}

#[test]
fn items_are_paired_by_their_ids() {
    let references = answers(&["b", "c", "d"]);
    let pairs = ReferencePairs::of(&["a", "b", "c"], &references, Draw::default()).unwrap();
    assert_eq!(pairs.partner("a"), None);
    assert_eq!(pairs.partner("b"), Some("b"));
    assert_eq!(pairs.partner("c"), Some("c"));
    assert!(!pairs.by_lot);
}

#[test]
fn so_many_are_drawn_by_the_seed_whatever_the_order_of_the_dataset() {
    let names = names(50);
    let mut ids: Vec<&str> = names.iter().map(String::as_str).collect();
    let references = answers(&ids);
    let of = |ids: &[&str], seed| {
        let mut drawn = drawn(ids, &references, Some(20), seed);
        drawn.sort_unstable();
        drawn
    };
    let seven = of(&ids, 7);
    assert_eq!(seven.len(), 20);
    assert_ne!(seven, of(&ids, 8));
    ids.reverse();
    assert_eq!(seven, of(&ids, 7));
    // More than exist.
    let draw = Draw {
        pairs: Some(60),
        seed: 7,
    };
    let pairs = ReferencePairs::of(&ids, &references, draw).unwrap();
    assert_eq!(pairs.notices(draw), ["`pairs` is 60, and there are 50"]);
}

#[test]
fn references_are_drawn_without_replacement_as_long_as_there_are_some() {
    for (items, references) in [(5, 9), (9, 9), (23, 9)] {
        let names = names(items);
        let ids: Vec<&str> = names.iter().map(String::as_str).collect();
        let pairs = ReferencePairs::of(&ids, &samples(references), Draw::default()).unwrap();
        assert!(pairs.by_lot);
        let mut used = BTreeMap::<&str, usize>::new();
        for id in &ids {
            *used.entry(pairs.partner(id).unwrap()).or_default() += 1;
        }
        let (most, least) = (items.div_ceil(references), items / references);
        assert!(
            used.values()
                .all(|count| (least.max(1)..=most).contains(count)),
            "{used:?}"
        );
        assert_eq!(used.len(), items.min(references));
    }
}

#[test]
fn what_shares_nothing_cannot_be_compared() {
    let error =
        ReferencePairs::of(&["a", "b"], &answers(&["x", "y"]), Draw::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`against` shares no item with the judged answers: here are `a`, `b`, there `x`, `y`\n\n\
         hint: name answers to the same questions: items are paired by their ids"
    );
}

#[test]
fn an_answer_that_is_missing_is_compared_with_nothing() {
    let mut references = answers(&["a"]);
    references.add("b".to_owned(), 0, None).unwrap();
    let pairs = ReferencePairs::of(&["a", "b"], &references, Draw::default()).unwrap();
    assert_eq!(pairs.partner("b"), None);
    assert_eq!(
        pairs.notices(Draw::default()),
        ["`against` has no answer to 1 of the items that it shares: they are not compared"]
    );
}
