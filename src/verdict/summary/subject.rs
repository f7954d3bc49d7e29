//! `Subject`: what the verdicts of a run are about, with the words for it.

use super::{JudgeSummary, Summary};

/// What the verdicts of a run are about.
///
/// Nobody answers a question if the items of a dataset are judged themselves, and a comparison is won and not right: so
/// reports have words for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// Answers of an agent, right or wrong.
    #[default]
    Answers,
    /// Items of a dataset, which pass or do not (`agent: none`).
    Items,
    /// Pairs of texts, of which the first wins or not.
    Pairs,
}

impl Subject {
    /// One of them.
    pub(crate) fn noun(self) -> &'static str {
        self.word(["answer", "item", "pair"])
    }

    /// A good verdict, after a count: `8 of 9 correct`.
    pub fn good(self) -> &'static str {
        self.word(["correct", "pass", "won"])
    }

    /// A verdict on one of them.
    pub fn verdict(self, is_good: bool) -> &'static str {
        if is_good {
            self.word(["correct", "passes", "won"])
        } else {
            self.bad()
        }
    }

    /// Those with a bad verdict.
    pub fn all_bad(self) -> &'static str {
        self.word(["wrong answers", "items that do not pass", "pairs not won"])
    }

    /// Any other verdict.
    pub fn bad(self) -> &'static str {
        self.word(["wrong", "not passed", "not won"])
    }

    /// The share of good verdicts.
    pub(crate) fn share(self) -> &'static str {
        self.word(["accuracy", "pass rate", "share of wins"])
    }

    /// The change to a bad verdict since the baseline, after a count.
    pub(crate) fn became_bad(self) -> &'static str {
        self.word(["became wrong", "pass no longer", "are no longer won"])
    }

    /// The change to a good verdict since the baseline, after a count.
    pub(crate) fn became_good(self) -> &'static str {
        self.word(["became correct", "pass now", "are won now"])
    }

    /// The word for this subject, of those for answers, items and pairs.
    pub(crate) fn word<T>(self, [answers, items, pairs]: [T; 3]) -> T {
        match self {
            Self::Answers => answers,
            Self::Items => items,
            Self::Pairs => pairs,
        }
    }
}

impl JudgeSummary {
    /// One of what this judge of a run judges.
    pub(crate) fn noun(&self, of: &Summary) -> &'static str {
        match self.pairs {
            Some(_) => Subject::Pairs.noun(),
            None => of.judged_noun(),
        }
    }
}

impl Summary {
    /// One of what judges see: an answer, or an item if no agent was asked.
    pub(crate) fn judged_noun(&self) -> &'static str {
        if self.judges_items {
            Subject::Items.noun()
        } else {
            Subject::Answers.noun()
        }
    }

    /// What the verdicts of the deciding scorer are about.
    pub(crate) fn subject(&self) -> Subject {
        self.subject_of(self.scorer.as_deref().unwrap_or_default())
    }

    /// What those of the scorer of this name are about.
    pub(crate) fn subject_of(&self, scorer: &str) -> Subject {
        if self.judges_pairs(scorer) {
            Subject::Pairs
        } else if self.judges_items {
            Subject::Items
        } else {
            Subject::Answers
        }
    }
}
