//! `NearCopyValidator`: rejects near copies of accepted items, and words the note for a repeated request.

use std::sync::{Arc, Mutex};

use crate::benchmark::AnswerValidator;
use crate::data::{Output, Sample, Score};
use crate::scorer::item::ItemScorer;
use crate::scorer::item::checks::{CheckMode, NO_COPY_OF_ITEM};
use crate::scorer::item::verdict::WHY;
use crate::system::lock;
use crate::text::near_copy::{NearCopies, TextGrams};

/// The accepted items of a run.
pub(super) struct NearCopyValidator {
    scorer: Arc<ItemScorer>,
    /// Accepted items by the compared text.
    stayed: Mutex<NearCopies>,
}

impl NearCopyValidator {
    /// Starts without items.
    pub(super) fn new(scorer: Arc<ItemScorer>) -> Self {
        Self {
            scorer,
            stayed: Mutex::new(NearCopies::new()),
        }
    }

    fn add(&self, id: &str, grams: &TextGrams) {
        lock(&self.stayed).add_grams(id, grams);
    }
}

impl AnswerValidator for NearCopyValidator {
    fn again(&self) -> u32 {
        self.scorer.checks.again
    }

    fn note(&self, refused: &Score, again: u32) -> Option<String> {
        let why = refused.details.get(WHY).and_then(|why| why.as_str());
        let why = why.unwrap_or("did not pass a check");
        let all = self.again().saturating_add(1);
        let this = again.saturating_add(1);
        Some(format!(
            "Your last reply to this was refused: it {why}. This is try {this} of {all}. Reply anew, with one whole JSON \
             object as it is asked for above."
        ))
    }

    fn second_verdict(&self, sample: &Sample, output: &Output, score: &Score) -> Option<Score> {
        let mode = self.scorer.checks.mode(NO_COPY_OF_ITEM);
        let text = self.scorer.compared_text(output)?;
        if mode == CheckMode::Off {
            return None;
        }
        let grams = TextGrams::of(&text);
        let near = lock(&self.stayed).nearest_of(&grams);
        let share = near.as_ref().map_or(0.0, |near| near.share);
        let is_copy = share >= self.scorer.checks.near_copy;
        let mut checked = score.clone();
        if is_copy && mode == CheckMode::Refuse {
            (checked.value, checked.correct) = (0.0, false);
            checked.reason = NO_COPY_OF_ITEM.into();
            let why = "was a near copy of an item that was written before: write another one";
            checked.details.insert(WHY, why);
        } else {
            self.add(&sample.id, &grams);
        }
        checked.details.insert(NO_COPY_OF_ITEM, u8::from(!is_copy));
        if let Some(near) = near {
            checked.details.insert("nearest_item", near.id);
            checked.details.insert("nearest_item_share", share);
        }
        Some(checked)
    }

    fn stays(&self, sample: &Sample, output: &Output) {
        if let Some(text) = self.scorer.compared_text(output) {
            self.add(&sample.id, &TextGrams::of(&text));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scorer::item::checks::ItemChecks;
    use crate::scorer::item::fields::ItemFields;
    use crate::scorer::item::ready;

    fn second_verdict(checks: &serde_json::Value) -> NearCopyValidator {
        let ready = ready::of("aime").unwrap();
        let fields = ItemFields::of(ready.fields(), &ready.topics()).unwrap();
        let mut given = ready.checks();
        given.extend(checks.as_object().cloned().unwrap());
        let checks = ItemChecks::of(&given, &fields).unwrap();
        NearCopyValidator::new(Arc::new(ItemScorer::new(fields, checks)))
    }

    fn output(problem: &str) -> Output {
        let item = json!({"problem": problem, "answer": 7, "solution": "7", "topic": "Algebra"});
        Output::text(item.to_string())
    }

    const MILL: &str = "A mill has 12 wheels, each of which turns 30 times while the miller counts his 500 sacks of grain twice.";
    const COPY: &str = "A mill has 17 wheels, each of which turns 45 times while the miller counts his 900 sacks of grain twice.";
    const OTHER: &str = "How many ways are there to put nine different books on three shelves of unequal length in a row?";

    #[test]
    fn a_copy_of_an_item_before_it_is_refused_and_another_answer_of_its_own_stays() {
        let items = second_verdict(&json!({}));
        let right = Score::new(1.0, true, "accepted").detail("complete", 1);
        let sample = |id: &str| Sample::new(id, "?");
        let check = |id: &str, text: &str| {
            items
                .second_verdict(&sample(id), &output(text), &right)
                .unwrap()
        };
        // The first item is from an earlier part of the run.
        items.stays(&sample("gen_1"), &output(MILL));
        let refused = check("gen_2", COPY);
        assert_eq!(
            (refused.correct, &*refused.reason),
            (false, NO_COPY_OF_ITEM)
        );
        assert_eq!(refused.details.get("nearest_item"), Some(&json!("gen_1")));
        assert_eq!(refused.details.get("complete"), Some(&json!(1)));
        // A refused item is not compared with, so its text may come again.
        let stays = check("gen_2", OTHER);
        assert!(stays.correct && stays.details.get(NO_COPY_OF_ITEM) == Some(&json!(1)));
        assert!(!check("gen_3", OTHER).correct);
        let note = items.note(&refused, 1).unwrap();
        assert_eq!(
            note,
            "Your last reply to this was refused: it was a near copy of an item that was written before: write another \
             one. This is try 2 of 4. Reply anew, with one whole JSON object as it is asked for above."
        );
    }

    #[test]
    fn a_copy_is_noted_or_not_looked_for() {
        let right = Score::new(1.0, true, "accepted");
        let noted = second_verdict(&json!({"no_copy_of_item": "note"}));
        noted.stays(&Sample::new("a", "?"), &output(MILL));
        let score = noted
            .second_verdict(&Sample::new("b", "?"), &output(COPY), &right)
            .unwrap();
        assert!(score.correct && score.details.get(NO_COPY_OF_ITEM) == Some(&json!(0)));
        let off = second_verdict(&json!({"no_copy_of_item": false}));
        off.stays(&Sample::new("a", "?"), &output(MILL));
        assert_eq!(
            off.second_verdict(&Sample::new("b", "?"), &output(COPY), &right),
            None
        );
    }
}
