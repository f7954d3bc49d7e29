//! `Review`: what people say of items, one at a time, on a page of this machine.
//!
//! Items come from a file or a run ([`items`]) in an order that says how they were chosen ([`order`]). What is said of
//! them is written before it is answered: a line in the journal of the reviewer, then the file of verifications
//! ([`desk`]). The page ([`page`]) asks for an item and sends what was said ([`served`]).
//!
//! Nothing that was said is ever written over. Of two windows of one reviewer the later one is told what the other one said;
//! two reviewers have a journal each, and the file the latest word of all.

mod agreement;
mod desk;
mod figures;
mod file_lock;
mod item_file;
mod items;
mod journal;
mod labels;
mod math;
mod order;
mod page;
mod places;
mod rubric;
mod run_items;
mod served;

use std::path::PathBuf;

use crate::data::labels::LabelChoice;
use crate::error::{Error, Result};
use crate::report::reported::MaskedTexts;
use crate::store::RunDir;
use crate::system::project::shown;

use desk::ReviewDesk;
use items::ReviewItems;
use labels::LabelSource;
use places::ReviewPlaces;
use rubric::ReviewDimension;

pub use figures::reviewed_file;
pub use order::{ReviewChoice, ReviewOnly};
pub use served::ReviewServed;

/// What a review is asked for.
#[derive(Clone, Debug)]
pub struct ReviewOptions {
    /// Who reviews.
    pub reviewer: String,
    /// A ready rubric or a file of one; `aime` where none is named.
    pub rubric: Option<String>,
    /// Which items, and in which order.
    pub choice: ReviewChoice,
}

/// Items, and what was said of them.
#[derive(Debug)]
pub struct Review {
    items: ReviewItems,
    /// The places of those that are looked at, in order.
    order: Vec<usize>,
    chosen: LabelChoice,
    seed: Option<u64>,
    dimensions: Vec<ReviewDimension>,
    desk: ReviewDesk,
}

impl Review {
    /// A review of the items of a file.
    ///
    /// # Errors
    /// When the file or the rubric cannot be read, nothing is left to look at, or what was said before is damaged.
    pub fn of_file(path: PathBuf, options: &ReviewOptions) -> Result<Self> {
        let places = ReviewPlaces::beside(&path)?;
        Self::of(ReviewItems::of_file(path)?, places, options)
    }

    /// A review of the answers of a run.
    ///
    /// # Errors
    /// As [`Review::of_file`], and where the texts of the run are not to be shown.
    pub fn of_run(dir: &RunDir, texts: MaskedTexts, options: &ReviewOptions) -> Result<Self> {
        let places = ReviewPlaces::inside(dir.path());
        Self::of(ReviewItems::of_run(dir, texts)?, places, options)
    }

    fn of(items: ReviewItems, places: ReviewPlaces, options: &ReviewOptions) -> Result<Self> {
        let dimensions = match (options.rubric.as_deref(), items.run()) {
            (None, Some(run)) => rubric::of_run(run)?,
            (rubric, _) => rubric::dimensions(rubric)?,
        };
        let reviewer = options.reviewer.trim();
        if reviewer.is_empty() {
            let error = Error::usage("the reviewer has no name");
            return Err(error.hint("name one: `--reviewer NAME`"));
        }
        let (order, chosen, seed) = options.choice.of(&items)?;
        let desk = ReviewDesk::open(places, reviewer, LabelSource::of(&items))?;
        Ok(Self {
            items,
            order,
            chosen,
            seed,
            dimensions,
            desk,
        })
    }

    /// How many items are looked at.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// How many of them this reviewer has said something of.
    pub fn reviewed(&self) -> usize {
        let has = |place: &&usize| self.desk.has_mine(self.items.id(**place));
        self.order.iter().filter(has).count()
    }

    /// Where it is saved, as people are shown it.
    pub fn saved_to(&self) -> String {
        shown(&self.desk.places().verifications)
    }

    /// How far several people agree, in a line, where they looked at the same items.
    pub fn agreement(&self) -> Option<String> {
        // What other programs wrote meanwhile counts, too, if it can be read.
        let _ = self.desk.look();
        self.desk.agreement().told()
    }

    /// Whether an item says something else than when this reviewer looked at it last.
    fn is_changed(&self, place: usize) -> bool {
        let seen = self.desk.seen_hash(self.items.id(place));
        seen.is_some_and(|seen| seen != self.items.hash(place))
    }

    /// What people should know before they begin.
    pub fn notices(&self) -> Vec<String> {
        let changed = self.order.iter().filter(|place| self.is_changed(**place));
        match changed.count() {
            0 => Vec::new(),
            1 => vec!["1 item was changed since it was reviewed: look at it again".to_owned()],
            count => vec![format!(
                "{count} items were changed since they were reviewed: look at them again"
            )],
        }
    }
}
