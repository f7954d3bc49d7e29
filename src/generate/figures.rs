//! The figures of generated data, as plain data.

use serde::{Deserialize, Serialize};

/// A part of a whole, with its 95 % Wilson interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemFigures {
    /// Items that were asked for.
    pub asked: u64,
    /// Those of which a reply was accepted.
    pub accepted: u64,
    /// Those of which every reply was refused.
    pub never_passed: u64,
    /// Those without a reply that could be checked: the agent or a solver failed.
    pub errors: u64,
    /// Those that were never asked for, as the run stopped before.
    pub not_asked: u64,
    /// accepted / (accepted + never passed); `None` where there is neither.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// What became of the replies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyFigures {
    /// All that were checked.
    pub checked: u64,
    /// Those among them that were refused, the last of an item that never passed included.
    pub refused: u64,
    /// refused / checked.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
    /// The refused by the first check that they failed, the most frequent first.
    pub reasons: Vec<(String, u64)>,
    /// Replies whose JSON was mended, such as one with backslashes of LaTeX that were not escaped.
    pub repaired: u64,
}

/// What a check found, in all replies in which there was something to check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckFigures {
    /// Its name.
    pub name: String,
    /// Replies that it looked at.
    pub checked: u64,
    /// Those that failed it.
    pub failed: u64,
    /// Those of the failed that are items all the same: the check only takes note.
    pub accepted: u64,
    /// failed / checked.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// How near an item is to the reference that it is nearest to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearestReference {
    /// The item.
    pub id: String,
    /// The reference.
    pub reference_id: Option<String>,
    /// The share of the item's pieces that the reference has, too.
    pub share: f64,
}

/// Whether somebody who saw the problem alone came to the same answer, of the accepted items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverFigures {
    /// Items that were solved again.
    pub solved: u64,
    /// Those with the same answer.
    pub agrees: u64,
    /// agrees / solved.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

/// An item of which every reply was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeverPassed {
    /// Its id.
    pub id: String,
    /// The topic that was asked for.
    pub topic: Option<String>,
    /// How many replies were refused.
    pub replies: u64,
    /// Why the last of them was.
    pub reason: String,
}

/// A reply that was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedExample {
    /// The item that it was to be.
    pub id: String,
    /// The first check that it failed.
    pub check: String,
    /// What the check says of it.
    pub told: String,
}
