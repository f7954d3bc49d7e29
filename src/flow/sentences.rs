//! What a flow says of its figures: one table, whose rows are tied to gates and to where intervals lie.
//!
//! No sentence comes from a point. 9 wins, 3 ties and 8 losses pass a gate of 45 % wins, and still their interval goes from
//! 26 to 66 %: such items are not told apart from real ones, and the sentence says that the pairs are too few. `TABLE` is all
//! there is to say; of each figure the first row speaks that fits. Where the figures come from stands in `findings`.

mod findings;
mod table;
#[cfg(test)]
mod tests;

pub(super) use findings::findings;
use table::TABLE;

use crate::verdict::result::Verdict;

/// What a sentence is about, in the order in which they are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingTopic {
    /// The share of the asked items that passed their checks.
    Accepted,
    /// The spread over topics beside the asked one.
    Spread,
    /// The share of items whose answer an independent solver found.
    Solved,
    /// The mean of the judge's points.
    Points,
    /// The share of items that pass by its rubric.
    Passing,
    /// What the judge is worth beside people.
    Worth,
    /// That the generator judges itself.
    Itself,
    /// The win rate against real items.
    Wins,
    /// The share of pairs whose verdict changes with the order.
    Order,
    /// The share of reviewed items that people approved.
    Approved,
}

/// Where the interval of a figure lies beside what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntervalPlace {
    /// Wholly there or above.
    Above,
    /// It holds it, and is so narrow that it says something.
    Near,
    /// It holds it.
    Across,
    /// Wholly below.
    Below,
    /// There is none.
    Nowhere,
}

/// What became of the gate on a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateWord {
    Passed,
    Failed,
    Open,
    /// There is no such gate.
    None,
}

/// A figure as sentences are chosen by it.
#[derive(Clone, Debug)]
pub(super) struct FlowFinding {
    pub(super) topic: FindingTopic,
    pub(super) gate: GateWord,
    pub(super) place: IntervalPlace,
    /// The figure with its interval, in words.
    pub(super) told: String,
    /// What it is compared with, in words.
    pub(super) wanted: String,
    /// Of how many.
    pub(super) n: String,
}

/// What is said of a figure.
struct SentenceRow {
    topic: FindingTopic,
    /// Of these places of the interval.
    places: &'static [IntervalPlace],
    /// With a gate that became this; with any, or none, where this is empty.
    gates: &'static [GateWord],
    /// `{told}`, `{wanted}` and `{n}` stand for what the finding has.
    says: &'static str,
    /// What to do about it, if there is anything.
    todo: Option<&'static str>,
}

impl SentenceRow {
    fn fits(&self, finding: &FlowFinding) -> bool {
        self.topic == finding.topic
            && self.places.contains(&finding.place)
            && (self.gates.is_empty() || self.gates.contains(&finding.gate))
    }
}

impl FlowFinding {
    /// The row that speaks, by its place in the table.
    fn row(&self) -> Option<usize> {
        TABLE.iter().position(|row| row.fits(self))
    }

    /// What is said of it.
    pub(super) fn says(&self) -> Option<String> {
        Some(self.filled(TABLE[self.row()?].says))
    }

    /// What to do about it.
    pub(super) fn todo(&self) -> Option<String> {
        Some(self.filled(TABLE[self.row()?].todo?))
    }

    fn filled(&self, words: &str) -> String {
        // What datasets and agents said comes last, so that nothing in it is filled in again.
        let words = words.replace("{n}", &self.n);
        let words = words.replace("{wanted}", &self.wanted);
        words.replace("{told}", &self.told)
    }
}

impl IntervalPlace {
    /// Beside a threshold that is to be reached.
    pub(super) fn of(ci95: Option<[f64; 2]>, threshold: f64) -> Self {
        match ci95 {
            None => Self::Nowhere,
            Some([low, _]) if low >= threshold => Self::Above,
            Some([_, high]) if high < threshold => Self::Below,
            Some(_) => Self::Across,
        }
    }

    /// Beside what it should equal: near where the whole interval lies so close to it.
    pub(super) fn beside(ci95: Option<[f64; 2]>, middle: f64, close: f64) -> Self {
        match ci95 {
            None => Self::Nowhere,
            Some([low, _]) if low > middle => Self::Above,
            Some([_, high]) if high < middle => Self::Below,
            Some([low, high]) if low >= middle - close && high <= middle + close => Self::Near,
            Some(_) => Self::Across,
        }
    }
}

impl From<Verdict> for GateWord {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Passed,
            Verdict::Failed => Self::Failed,
            Verdict::Inconclusive => Self::Open,
            Verdict::Ignored => Self::None,
        }
    }
}
