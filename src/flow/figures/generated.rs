//! `GeneratedItems`: what was generated, and what was refused.

use serde::{Deserialize, Serialize};

use super::CountedShare;

/// What was generated, and what was refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneratedItems {
    /// Items that were asked for.
    pub asked: u64,
    /// Those that passed every check that refuses.
    pub accepted: u64,
    /// Items without any reply, for the generator failed.
    pub errors: u64,
    /// Why there is no item, if so.
    pub failure: Option<String>,
    /// Replies that were refused; an item may have several before one is accepted.
    pub refused: u64,
    /// Why, with how many replies.
    pub reasons: Vec<(String, u64)>,
    /// What each check found, of the replies that stand.
    pub checks: Vec<ItemCheckCount>,
    /// The topics of the accepted items beside those that were asked for.
    pub topics: Vec<TopicCount>,
    /// How likely a spread as far from the asked one is by chance: the exact test.
    pub topics_p: Option<f64>,
    /// Items whose answer an independent solver found, too.
    pub solver: Option<CountedShare>,
}

impl GeneratedItems {
    /// Accepted of those that were asked for.
    pub fn share(&self) -> CountedShare {
        CountedShare::of(self.accepted, self.asked)
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemCheckCount {
    /// Its name, such as `answer_in_range`.
    pub name: String,
    /// Replies that passed, of those that it could look at.
    pub passed: CountedShare,
}

/// How often a topic is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicCount {
    /// Which.
    pub topic: String,
    /// Items that were asked to be of it.
    pub asked: u64,
    /// Accepted items of it, of all accepted ones.
    pub reached: CountedShare,
}
