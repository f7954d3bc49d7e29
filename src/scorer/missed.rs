//! What an answer has and its extraction did not take: evidence that the extraction, and not the agent, is at fault.
//!
//! It is found per answer, while the whole answer is at hand, and recorded; the summary only counts it.

use serde_json::Value;

use super::extract::{Extract, thoughts};
use super::{Reads, Scorer};
use crate::data::record::reading::{FoundBy, Missed, MissedPart};
use crate::data::{Score, Target};
use crate::text::{contains_whole, unquoted};

/// What the extraction left in an answer: thoughts, and what another extraction would find where this one found nothing.
pub(crate) fn unread(
    raw: &str,
    extract: &Extract,
    found_by: FoundBy,
    target: Option<&Target>,
) -> Missed {
    let mut missed = Missed::default();
    if !extract.strips_thoughts() && thoughts::begins_with_one(raw) {
        missed.add(MissedPart::Thoughts);
    }
    if found_by != FoundBy::Nothing {
        return missed;
    }
    let truth = target.map(|target| unquoted(&target.0));
    let fits = |is_one: fn(&str) -> bool| truth.as_ref().is_none_or(|truth| is_one(truth));
    let others = [
        (MissedPart::FinalAnswer, Extract::final_answer(), true),
        (MissedPart::Number, Extract::number(), fits(is_number)),
        (MissedPart::Boxed, Extract::boxed(), true),
        (MissedPart::Choice, Extract::choice(), fits(is_letter)),
    ];
    for (part, other, may_fit) in others {
        if may_fit && !matches!(other.read(raw).1, FoundBy::WholeAnswer | FoundBy::Nothing) {
            missed.add(part);
        }
    }
    missed
}

/// Whether the ground truth stands as a whole word or number in an answer that was called wrong, and not in what was
/// taken from it.
pub(crate) fn has_truth(
    raw: &str,
    (prediction, found_by): (Option<&str>, FoundBy),
    (scorer, score): (&dyn Scorer, &Score),
    target: &Target,
) -> bool {
    // A model may have its reasons; a letter stands everywhere.
    if score.correct
        || scorer.reads() != Reads::Text
        || scorer.asks_opinions()
        || scorer.name() == "choice"
        || !matches!(target.0, Value::String(_) | Value::Number(_))
    {
        return false;
    }
    let truth = unquoted(&target.0);
    let truth = truth.trim();
    let is_long_enough =
        is_number(truth) || truth.chars().filter(|c| c.is_alphanumeric()).count() > 1;
    let was_taken = || {
        let is_part = !matches!(found_by, FoundBy::WholeAnswer | FoundBy::LastLine);
        is_part && prediction.is_some_and(|text| contains_whole(text, truth))
    };
    is_long_enough && contains_whole(raw, truth) && !was_taken()
}

fn is_number(text: &str) -> bool {
    let is_sign = |c: char| "+-−.,%$€£ ".contains(c);
    text.contains(char::is_numeric) && text.chars().all(|c| c.is_numeric() || is_sign(c))
}

fn is_letter(text: &str) -> bool {
    matches!(text.trim().as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scorer::tests::check::scorer;
    use crate::scorer::{Answer, Exact};

    #[test]
    fn other_extractions_are_tried_where_one_finds_nothing() {
        let check = |extract: &Extract, raw: &str, truth: Value, expect: &[MissedPart]| {
            let (_, by) = extract.read(raw);
            let missed = unread(raw, extract, by, Some(&Target(truth)));
            assert_eq!(missed.parts().collect::<Vec<_>>(), expect, "{raw}");
        };
        let boxed = &Extract::boxed();
        let both = [MissedPart::FinalAnswer, MissedPart::Number];
        check(boxed, "The answer is 5.", json!(5), &both);
        check(boxed, "It is 5", json!("5"), &[MissedPart::Number]);
        check(boxed, "It was in 1990", json!("Paris"), &[]);
        check(boxed, "\\boxed{5}", json!("5"), &[]);
        check(boxed, "", json!("5"), &[]);
        let choice = &Extract::number();
        check(choice, "I choose B.", json!("B"), &[MissedPart::Choice]);
    }

    #[test]
    fn thoughts_are_missed_unless_they_are_taken_off() {
        let check = |extract: &Extract, raw: &str, expect: bool| {
            let missed = unread(raw, extract, FoundBy::WholeAnswer, None);
            assert_eq!(missed.has(MissedPart::Thoughts), expect, "{raw}");
        };
        let raw = "<think>4 or 5?</think>5";
        check(&Extract::none(), raw, true);
        check(&Extract::none(), "5 <think>", false);
        check(&Extract::none().strip_think(), raw, false);
        check(&Extract::number(), raw, false);
    }

    #[test]
    fn the_ground_truth_is_a_whole_word_or_number() {
        let check = |spec: &str, extract: &Extract, raw: &str, truth: Value, expect: bool| {
            let target = Target(truth);
            let scorer = scorer(spec);
            let (prediction, by) = extract.read(raw);
            let prediction = prediction.as_deref();
            let score = scorer.score(&Answer::new(prediction, &target)).unwrap();
            let is_there = has_truth(raw, (prediction, by), (&*scorer, &score), &target);
            assert_eq!(is_there, expect, "{spec} {raw:?} {target:?}");
        };
        let none = &Extract::none();
        check("qa", none, "so it is 7.", json!(7), true);
        check("qa", none, "so it is 7.5", json!(7), false);
        check("qa", none, "17 and 71", json!("7"), false);
        check("qa", none, "7", json!("7"), false);
        check("exact", none, "It is Paris.", json!("Paris"), true);
        check("exact", none, "It is Parisian.", json!("Paris"), false);
        check("exact", none, "A plan", json!("A"), false);
        check("choice", &Extract::choice(), "B, not 12", json!("A"), false);
        check("exact", none, "a b", json!(["a", "b"]), false);
        let label = &Extract::final_answer();
        check("qa", label, "7 + 1. Answer: 8", json!(7), true);
        check("exact", label, "Answer: 7 cm", json!("7"), false);
    }

    #[test]
    fn who_reads_more_than_the_text_is_not_doubted() {
        let target = Target::from("Paris");
        let not = scorer("{ type: not, scorer: includes }");
        let score = Score::binary(false);
        let read = (None, FoundBy::WholeAnswer);
        assert!(!has_truth("in Paris", read, (&*not, &score), &target));
        assert!(has_truth(
            "in Paris",
            read,
            (&Exact::default(), &score),
            &target
        ));
    }
}
