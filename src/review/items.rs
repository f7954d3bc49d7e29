//! `ReviewItems`: the items of a file or a run. All but ids stays on disk until an item is displayed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::item_file::ItemFile;
use super::run_items::RunItems;
use crate::error::Result;
use crate::report::reported::MaskedTexts;
use crate::store::RunDir;
use crate::system::project::display;

/// An item in the list.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that do not depend on each other"
)]
pub(super) struct ListedItem {
    pub(super) id: String,
    /// Its topic or other slice.
    pub(super) slice: Option<String>,
    /// Why it may be worth reviewing.
    pub(super) tag: Option<String>,
    /// The hash of its content, if that was read for the list.
    pub(super) hash: String,
    /// Whether it has an answer.
    pub(super) is_answered: bool,
    /// Whether it ended in an error.
    pub(super) is_error: bool,
    /// Whether its verdict changed since the baseline.
    pub(super) flipped: bool,
    /// Whether another scorer contradicts the deciding one.
    pub(super) disagreeing: bool,
    /// Whether it is wrong, or an error.
    pub(super) failed: bool,
}

/// A judge's score of an item.
#[derive(Clone, Debug)]
pub(super) struct JudgeSeen {
    /// The name of the scorer.
    pub(super) name: String,
    pub(super) numbers: BTreeMap<String, f64>,
    pub(super) total: Option<f64>,
}

/// An item as it is displayed.
#[derive(Clone, Debug, Default)]
pub(super) struct DisplayedItem {
    /// Its content by name.
    pub(super) fields: Vec<(String, String)>,
    /// Metadata.
    pub(super) facts: Vec<(String, String)>,
    /// Metadata hidden until the item is reviewed, since it could bias the reviewer.
    pub(super) later: Vec<(String, String)>,
    /// Hidden likewise.
    pub(super) judge: Option<JudgeSeen>,
}

/// The items.
#[derive(Debug)]
pub(super) struct ReviewItems {
    path: PathBuf,
    listed: Vec<ListedItem>,
    texts: ItemTexts,
}

/// Where the content of items is read from.
#[derive(Debug)]
enum ItemTexts {
    File(ItemFile),
    Run(Box<RunItems>),
}

impl ReviewItems {
    /// The items of a file.
    pub(super) fn of_file(path: PathBuf) -> Result<Self> {
        let (texts, listed) = ItemFile::open(&path)?;
        Ok(Self {
            path,
            listed,
            texts: ItemTexts::File(texts),
        })
    }

    /// The items of a run.
    pub(super) fn of_run(dir: &RunDir, texts: MaskedTexts) -> Result<Self> {
        let (texts, listed) = RunItems::open(dir, texts)?;
        Ok(Self {
            path: dir.path().to_owned(),
            listed,
            texts: ItemTexts::Run(Box::new(texts)),
        })
    }

    /// The run, if the items are from one.
    pub(super) fn run(&self) -> Option<&RunItems> {
        match &self.texts {
            ItemTexts::File(_) => None,
            ItemTexts::Run(run) => Some(run),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.listed.len()
    }

    pub(super) fn listed(&self, place: usize) -> &ListedItem {
        &self.listed[place]
    }

    pub(super) fn id(&self, place: usize) -> &str {
        &self.listed[place].id
    }

    /// The hash of an item's content.
    pub(super) fn hash(&self, place: usize) -> String {
        match &self.texts {
            ItemTexts::File(texts) => texts.hash(place),
            ItemTexts::Run(_) => self.listed[place].hash.clone(),
        }
    }

    /// The item at a place.
    pub(super) fn item(&self, place: usize) -> Result<DisplayedItem> {
        match &self.texts {
            ItemTexts::File(texts) => texts.item(place),
            ItemTexts::Run(texts) => texts.item(place),
        }
    }

    /// The file, if its items are questions whose answers people fill in.
    pub(super) fn questions(&self) -> Option<&Path> {
        match &self.texts {
            ItemTexts::File(file) if file.asks_answers => Some(&self.path),
            _ => None,
        }
    }

    /// What was opened, as displayed to people.
    pub(super) fn source(&self) -> String {
        display(&self.path)
    }

    /// `items` or `run`.
    pub(super) fn kind(&self) -> &'static str {
        match self.texts {
            ItemTexts::File(_) => "items",
            ItemTexts::Run(_) => "run",
        }
    }
}
