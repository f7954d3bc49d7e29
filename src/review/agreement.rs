//! `ReviewersAgreement`: how far several reviewers agree.

use std::collections::BTreeMap;

use crate::data::reviews::Verification;
use crate::figure::Share;
use crate::stats::ratio;

/// How far several reviewers of the same items agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReviewersAgreement {
    /// Items that several people reviewed.
    items: u64,
    /// Those with the same status from all of them.
    same_status: u64,
    /// Pairs of scores by two people in one dimension of an item.
    pairs: u64,
    /// Pairs that differ by at most one point.
    near: u64,
}

impl ReviewersAgreement {
    /// From the latest review of each item by each person.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a Verification>) -> Self {
        let mut items = BTreeMap::<&str, Vec<&Verification>>::new();
        for word in words {
            items.entry(&word.problem_id).or_default().push(word);
        }
        let mut found = Self::default();
        for words in items.values().filter(|words| words.len() > 1) {
            found.items += 1;
            found.same_status += u64::from(words.windows(2).all(|it| it[0].status == it[1].status));
            for (place, one) in words.iter().enumerate() {
                for other in &words[place + 1..] {
                    for (name, score) in &one.scores {
                        let Some(other) = other.scores.get(name) else {
                            continue;
                        };
                        found.pairs += 1;
                        found.near += u64::from(score.abs_diff(*other) <= 1);
                    }
                }
            }
        }
        found
    }

    /// The agreement in one line; `None` if no two people reviewed the same item.
    pub(super) fn summary(&self) -> Option<String> {
        let status = ratio(self.same_status, self.items)?;
        let (items, were) = match self.items {
            1 => ("item", "was"),
            _ => ("items", "were"),
        };
        let near = ratio(self.near, self.pairs);
        let near = near.map(|near| format!(", scores a point apart at most in {}", Share(near)));
        Some(format!(
            "{} {items} {were} reviewed by several people: the same status on {} ({}){}",
            self.items,
            self.same_status,
            Share(status),
            near.unwrap_or_default()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::reviews::ReviewStatus::{self, Approved, Rejected};

    #[test]
    fn people_agree_on_what_several_of_them_saw() {
        let word = |id: &str, status: ReviewStatus, score: u8| Verification {
            problem_id: id.to_owned(),
            scores: [("clarity".to_owned(), score)].into(),
            total_score: f64::from(score),
            status,
            comments: String::new(),
            verified_at: String::new(),
            reviewer: String::new(),
            format_version: 1,
        };
        let words = [
            word("a", Approved, 5),
            word("b", Approved, 5),
            word("a", Approved, 4),
            word("b", Rejected, 1),
            word("c", Approved, 5),
        ];
        assert_eq!(
            ReviewersAgreement::of(words.iter()).summary().unwrap(),
            "2 items were reviewed by several people: the same status on 1 (50.0 %), scores a point apart at most in 50.0 %"
        );
        assert_eq!(ReviewersAgreement::of(words[4..].iter()).summary(), None);
    }
}
