//! `ReviewLine`: what a reviewer did, as a line of a journal.

use serde::{Deserialize, Serialize};

use super::Verification;
use crate::data::labels::LabelChoice;
use crate::text::checksum;

/// The format version of a journal line:
///
/// - 1: the first.
/// - 2: it has a checksum, `sum`.
pub(crate) const REVIEW_LINE_VERSION: u32 = 2;

/// The first version whose lines have a checksum.
const CHECKSUM_SINCE: u32 = 2;

/// The fault of a line with a wrong checksum.
const CHANGED: &str = "its `sum` is that of another line: something other than scores, status and comments was changed";

/// The action of a reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReviewEvent {
    /// Submitted the review `verification`.
    Submitted,
    /// The same, but another window submitted meanwhile: stored without effect.
    Refused,
    /// Withdrew the latest review of an item.
    Undone,
}

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReviewLine {
    pub(crate) event: ReviewEvent,
    /// Id of the item.
    pub(crate) id: String,
    /// Name of the reviewer.
    pub(crate) reviewer: String,
    /// Time of the action.
    pub(crate) at: String,
    /// Hash of the item's content.
    pub(crate) item: String,
    /// How the item was selected.
    pub(crate) chosen: LabelChoice,
    /// The seed of the random draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// The version of the item's review that the page showed.
    pub(crate) version: u64,
    /// The review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verification: Option<Verification>,
    /// The format version of the line.
    pub(crate) format_version: u32,
    /// The checksum of what the program wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sum: Option<String>,
}

impl ReviewLine {
    /// The line with its checksum.
    pub(crate) fn sealed(self) -> Self {
        Self {
            sum: Some(self.checksum()),
            ..self
        }
    }

    /// The checksum of all that the reviewer did not fill in: scores, status and comments.
    fn checksum(&self) -> String {
        let verification = self.verification.as_ref();
        checksum::of_members(&(
            (self.event, &self.id, &self.reviewer, &self.at),
            (&self.item, self.chosen, self.seed, self.version),
            verification.map(|it| (&it.problem_id, &it.verified_at, &it.reviewer)),
            self.format_version,
        ))
    }

    /// Parses a line, or returns the reason why it is invalid.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, String> {
        let line: Self = serde_json::from_slice(bytes)
            .map_err(|error| format!("it is not a line of a review: {error}"))?;
        if !(1..=REVIEW_LINE_VERSION).contains(&line.format_version) {
            let other = line.format_version;
            return Err(format!(
                "it has version {other}, but this evaltest reads {REVIEW_LINE_VERSION}"
            ));
        }
        match &line.sum {
            Some(sum) if *sum != line.checksum() => return Err(CHANGED.to_owned()),
            None if line.format_version >= CHECKSUM_SINCE => {
                return Err("it lacks its `sum`".to_owned());
            }
            _ => {}
        }
        let verification = line.verification.as_ref();
        if let Some(why) = verification.and_then(Verification::fault) {
            return Err(why);
        }
        let needs = line.event != ReviewEvent::Undone;
        if verification.is_some() != needs
            || verification.is_some_and(|verification| verification.problem_id != line.id)
        {
            return Err("it is not a line of a review".to_owned());
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{REVIEW_VERSION, ReviewStatus};
    use super::*;

    #[test]
    fn what_the_reviewer_filled_in_can_be_changed_and_nothing_else() {
        let verification = Verification {
            problem_id: "q1".to_owned(),
            scores: [("merit".to_owned(), 4)].into(),
            total_score: 4.0,
            status: ReviewStatus::Approved,
            comments: "fine".to_owned(),
            verified_at: "2026-01-02T03:04:05.678Z".to_owned(),
            reviewer: "anna".to_owned(),
            answer: None,
            format_version: REVIEW_VERSION,
        };
        let line = ReviewLine {
            event: ReviewEvent::Submitted,
            id: "q1".to_owned(),
            reviewer: "anna".to_owned(),
            at: verification.verified_at.clone(),
            item: "hash".to_owned(),
            chosen: LabelChoice::Random,
            seed: Some(7),
            version: 0,
            verification: Some(verification),
            format_version: REVIEW_LINE_VERSION,
            sum: None,
        };
        let text = serde_json::to_string(&line.sealed()).unwrap();
        let read = |old: &str, new: &str| {
            let changed = text.replace(old, new);
            ReviewLine::of(changed.as_bytes()).map(drop)
        };
        for (old, new) in [
            ("", ""),
            ("fine", "bad"),
            ("approved", "rejected"),
            (
                "\"merit\":4},\"total_score\":4.0",
                "\"merit\":2},\"total_score\":2.0",
            ),
        ] {
            assert_eq!(read(old, new), Ok(()), "{new}");
        }
        for (old, new) in [
            ("random", "picked"),
            ("hash", "hush"),
            ("anna", "ben"),
            (":7,", ":8,"),
        ] {
            assert_eq!(read(old, new), Err(CHANGED.to_owned()), "{new}");
        }
        assert_eq!(
            read("\"sum\"", "\"sun\""),
            Err("it lacks its `sum`".to_owned())
        );
        // As the first version wrote it.
        let old = text.replace(
            "\"format_version\":2,\"sum\"",
            "\"format_version\":1,\"sun\"",
        );
        assert_eq!(ReviewLine::of(old.as_bytes()).map(drop), Ok(()));
    }
}
