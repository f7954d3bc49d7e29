//! How an answer was read: [`FoundBy`], and what the extraction did not take, [`Missed`].

use serde::{Deserialize, Serialize};

/// How a prediction was found in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FoundBy {
    /// In LaTeX's `\boxed{…}`.
    Box,
    /// Behind a label, such as `Final answer:`.
    Label,
    /// In a tag, such as `<answer>…</answer>`.
    Tag,
    /// A letter alone on its line, or in a sentence that chooses it.
    Letter,
    /// The last number of the answer.
    LastNumber,
    /// A member of the answer's JSON.
    Json,
    /// Behind the marker of the extraction, such as `####`.
    Marker,
    /// Where a regular expression matched.
    Pattern,
    /// The last line.
    LastLine,
    /// The whole answer.
    WholeAnswer,
    /// The answer has nothing to take.
    Nothing,
}

impl FoundBy {
    /// The word, or two, for people: `last number`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Label => "label",
            Self::Tag => "tag",
            Self::Letter => "letter",
            Self::LastNumber => "last number",
            Self::Json => "json",
            Self::Marker => "marker",
            Self::Pattern => "pattern",
            Self::LastLine => "last line",
            Self::WholeAnswer => "whole answer",
            Self::Nothing => "nothing",
        }
    }

    /// Whether the answer itself marks its result.
    pub(crate) fn is_claim(self) -> bool {
        matches!(self, Self::Box | Self::Label | Self::Tag)
    }
}

/// A part of an answer that its extraction did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MissedPart {
    /// The ground truth, as a whole word or number, in an answer that was called wrong.
    GroundTruth,
    /// The thoughts of a model, with which the answer begins and which were not taken off.
    Thoughts,
    /// What `extract: final_answer` finds, where the extraction found nothing.
    FinalAnswer,
    /// What `extract: number` finds there.
    Number,
    /// What `extract: boxed` finds there.
    Boxed,
    /// What `extract: choice` finds there.
    Choice,
}

impl MissedPart {
    /// All of them, in the order of preference.
    pub(crate) const ALL: [Self; 6] = [
        Self::GroundTruth,
        Self::Thoughts,
        Self::FinalAnswer,
        Self::Number,
        Self::Boxed,
        Self::Choice,
    ];

    /// The name of the extraction that finds it, if it is one.
    pub(crate) fn extraction(self) -> Option<&'static str> {
        match self {
            Self::GroundTruth | Self::Thoughts => None,
            Self::FinalAnswer => Some("final_answer"),
            Self::Number => Some("number"),
            Self::Boxed => Some("boxed"),
            Self::Choice => Some("choice"),
        }
    }
}

/// The parts of an answer that its extraction did not take. A list in files, a byte in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<MissedPart>", into = "Vec<MissedPart>")]
pub struct Missed(u8);

impl Missed {
    /// Adds a part.
    pub(crate) fn add(&mut self, part: MissedPart) {
        self.0 |= bit(part);
    }

    /// Whether a part was missed.
    pub fn has(self, part: MissedPart) -> bool {
        self.0 & bit(part) != 0
    }

    /// Whether nothing was missed.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde's `skip_serializing_if` passes a reference"
    )]
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// The parts.
    pub fn parts(self) -> impl Iterator<Item = MissedPart> {
        let all = MissedPart::ALL.into_iter();
        all.filter(move |part| self.has(*part))
    }
}

fn bit(part: MissedPart) -> u8 {
    1 << part as u8
}

impl From<Vec<MissedPart>> for Missed {
    fn from(parts: Vec<MissedPart>) -> Self {
        let mut missed = Self::default();
        for part in parts {
            missed.add(part);
        }
        missed
    }
}

impl From<Missed> for Vec<MissedPart> {
    fn from(missed: Missed) -> Self {
        missed.parts().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_parts_are_a_list_in_files() {
        let mut missed = Missed::default();
        assert!(missed.is_empty());
        missed.add(MissedPart::Number);
        missed.add(MissedPart::GroundTruth);
        let json = serde_json::to_string(&missed).unwrap();
        assert_eq!(json, r#"["ground_truth","number"]"#);
        assert_eq!(serde_json::from_str::<Missed>(&json).unwrap(), missed);
    }
}
