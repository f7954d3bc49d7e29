//! `Review`: people review items, one at a time, on a local web page.
//!
//! Items come from a file or a run ([`items`]) in an order that depends on how they were chosen ([`order`]). Each
//! review is written to disk before the page gets a response: a line in the reviewer's journal, then the file of
//! verifications ([`store`]). The page requests items and submits reviews ([`served`]).
//!
//! Reviews are never overwritten. If a reviewer has two windows, the later one is notified of the other's review; each
//! reviewer has a journal, and the file has the latest review of all.

mod item_file;
mod items;
mod journal;
mod labels;
mod math;
mod order;
mod rubric;
mod run_items;
mod served;
mod store;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::data::labels::LabelChoice;
use crate::error::{Error, Result};
use crate::report::reported::MaskedTexts;
use crate::store::RunDir;
use crate::store::files::VERIFICATIONS;
use crate::system::project::display;
use crate::text::file_name;
use items::ReviewItems;
use labels::LabelSource;
use rubric::ReviewDimension;
use store::ReviewStore;

pub use order::{ReviewChoice, ReviewOnly};
pub use served::ReviewServed;
pub use store::reviewed_file;

/// The options of a review.
#[derive(Clone, Debug)]
pub struct ReviewOptions {
    /// Name of the reviewer.
    pub reviewer: String,
    /// A built-in rubric or the file of one; `aime` by default.
    pub rubric: Option<String>,
    /// The selection and order of items.
    pub choice: ReviewChoice,
}

/// Items with their reviews.
#[derive(Debug)]
pub struct Review {
    items: ReviewItems,
    /// Indices of the selected items, in order.
    order: Vec<usize>,
    chosen: LabelChoice,
    seed: Option<u64>,
    dimensions: Vec<ReviewDimension>,
    store: ReviewStore,
}

impl Review {
    /// A review of the items in a file.
    ///
    /// # Errors
    /// If the file or the rubric cannot be read, no item is selected, or existing reviews are damaged.
    pub fn of_file(path: PathBuf, options: &ReviewOptions) -> Result<Self> {
        let places = ReviewPlaces::for_items(&path)?;
        Self::of(ReviewItems::of_file(path)?, places, options)
    }

    /// A review of the answers of a run.
    ///
    /// # Errors
    /// Like [`Review::of_file`], and if the texts of the run must not be shown.
    pub fn of_run(dir: &RunDir, texts: MaskedTexts, options: &ReviewOptions) -> Result<Self> {
        let places = ReviewPlaces::inside(dir.path());
        Self::of(ReviewItems::of_run(dir, texts)?, places, options)
    }

    fn of(items: ReviewItems, places: ReviewPlaces, options: &ReviewOptions) -> Result<Self> {
        let dimensions = match (options.rubric.as_deref(), items.run()) {
            (None, Some(run)) => rubric::of_run(run)?,
            // What is asked for is the answer.
            (None, None) if items.questions().is_some() => Vec::new(),
            (rubric, _) => rubric::dimensions(rubric)?,
        };
        let reviewer = options.reviewer.trim();
        if reviewer.is_empty() {
            let error = Error::usage("the reviewer has no name");
            return Err(error.hint("name one: `--reviewer NAME`"));
        }
        let (order, chosen, seed) = options.choice.of(&items)?;
        let store = ReviewStore::open(places, reviewer, LabelSource::of(&items))?;
        let review = Self {
            items,
            order,
            chosen,
            seed,
            dimensions,
            store,
        };
        // A crash may have left a review that is not in the file yet.
        review.fill_in(None)?;
        Ok(review)
    }

    /// Writes the answers that people gave into the file of questions.
    fn fill_in(&self, undone: Option<&str>) -> Result<()> {
        match self.items.questions() {
            Some(path) => self.store.fill_in(path, undone),
            None => Ok(()),
        }
    }

    /// Number of selected items.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// Number of items reviewed by this reviewer.
    pub fn reviewed(&self) -> usize {
        let has = |place: &&usize| self.store.has_mine(self.items.id(**place));
        self.order.iter().filter(has).count()
    }

    /// Path of the file, for display.
    pub fn saved_to(&self) -> String {
        display(&self.store.places().verifications)
    }

    /// Agreement of several reviewers in one line, if they reviewed the same items.
    pub fn agreement(&self) -> Option<String> {
        // Include reviews that other programs wrote meanwhile, if they can be read.
        let _ = self.store.reload();
        self.store.agreement().summary()
    }

    /// Whether an item changed since this reviewer's last review.
    fn is_changed(&self, place: usize) -> bool {
        let seen = self.store.seen_hash(self.items.id(place));
        seen.is_some_and(|seen| seen != self.items.hash(place))
    }

    /// Notes for the user at the start.
    pub fn notices(&self) -> Vec<String> {
        let changed = self.order.iter().filter(|place| self.is_changed(**place));
        match changed.count() {
            0 => Vec::new(),
            1 => vec!["1 item changed since its review: review it again".to_owned()],
            count => vec![format!(
                "{count} items changed since their review: review them again"
            )],
        }
    }
}

/// The files of a review.
#[derive(Clone, Debug)]
struct ReviewPlaces {
    /// The latest review of each item.
    verifications: PathBuf,
    /// The folder with the journal of each reviewer.
    journals: PathBuf,
    /// The labels that calibrate a judge.
    labels: PathBuf,
}

impl ReviewPlaces {
    /// The paths for an item file: `a.json` has `a_verifications.json`.
    fn for_items(items: &Path) -> Result<Self> {
        let Some(stem) = items.file_stem() else {
            let message = format!("`{}` is not a file of items", items.display());
            return Err(Error::usage(message));
        };
        let named = |end: &str| {
            let mut name = OsString::from(stem);
            name.push(end);
            items.with_file_name(name)
        };
        Ok(Self {
            verifications: named("_verifications.json"),
            journals: named("_reviews"),
            labels: named("_labels.jsonl"),
        })
    }

    /// The paths in a run directory.
    fn inside(run: &Path) -> Self {
        Self {
            verifications: run.join(VERIFICATIONS),
            journals: run.join("reviews"),
            labels: run.join("labels.jsonl"),
        }
    }

    /// The journal of a reviewer.
    fn journal(&self, reviewer: &str) -> PathBuf {
        self.journals.join(format!("{}.jsonl", file_name(reviewer)))
    }

    /// The lock file for writing.
    fn lock(&self) -> PathBuf {
        self.journals.join(".lock")
    }
}
