//! `ReviewItems`: the items of a file or a run, of which all but ids stays where it is until one is looked at.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::item_file::ItemFile;
use super::run_items::RunItems;
use crate::error::Result;
use crate::report::reported::MaskedTexts;
use crate::store::RunDir;
use crate::system::project::shown;

/// An item in the list.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that do not depend on each other"
)]
pub(super) struct ListedItem {
    pub(super) id: String,
    /// Its topic, or what else it is sliced by.
    pub(super) slice: Option<String>,
    /// Why it may be worth a look.
    pub(super) tag: Option<String>,
    /// Of what it says, where that was read for the list.
    pub(super) hash: String,
    /// Whether there is an answer to look at.
    pub(super) is_answered: bool,
    /// Whether it ended without the verdict that it should have.
    pub(super) is_error: bool,
    /// Whether it changed sides since the baseline.
    pub(super) flipped: bool,
    /// Whether another scorer contradicts the one that decides.
    pub(super) disagreeing: bool,
    /// Whether it is wrong, or an error.
    pub(super) failed: bool,
}

/// What a judge says of an item.
#[derive(Clone, Debug)]
pub(super) struct JudgeSeen {
    /// The scorer.
    pub(super) name: String,
    pub(super) numbers: BTreeMap<String, f64>,
    pub(super) total: Option<f64>,
}

/// An item as it is looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct ShownItem {
    /// What it says, by name.
    pub(super) fields: Vec<(String, String)>,
    /// What is known of it.
    pub(super) facts: Vec<(String, String)>,
    /// What is known and told only once it was reviewed: it would be in the way of an opinion of one's own.
    pub(super) later: Vec<(String, String)>,
    /// So is this.
    pub(super) judge: Option<JudgeSeen>,
}

/// The items.
#[derive(Debug)]
pub(super) struct ReviewItems {
    path: PathBuf,
    listed: Vec<ListedItem>,
    texts: ItemTexts,
}

/// Where their texts are.
#[derive(Debug)]
enum ItemTexts {
    File(ItemFile),
    Run(Box<RunItems>),
}

impl ReviewItems {
    /// Those of a file.
    pub(super) fn of_file(path: PathBuf) -> Result<Self> {
        let (texts, listed) = ItemFile::open(&path)?;
        Ok(Self {
            path,
            listed,
            texts: ItemTexts::File(texts),
        })
    }

    /// Those of a run.
    pub(super) fn of_run(dir: &RunDir, texts: MaskedTexts) -> Result<Self> {
        let (texts, listed) = RunItems::open(dir, texts)?;
        Ok(Self {
            path: dir.path().to_owned(),
            listed,
            texts: ItemTexts::Run(Box::new(texts)),
        })
    }

    /// The run that they are of.
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

    /// A hash of what an item says.
    pub(super) fn hash(&self, place: usize) -> String {
        match &self.texts {
            ItemTexts::File(texts) => texts.hash(place),
            ItemTexts::Run(_) => self.listed[place].hash.clone(),
        }
    }

    /// What stands at a place.
    pub(super) fn item(&self, place: usize) -> Result<ShownItem> {
        match &self.texts {
            ItemTexts::File(texts) => texts.item(place),
            ItemTexts::Run(texts) => texts.item(place),
        }
    }

    /// What was opened, as people are shown it.
    pub(super) fn source(&self) -> String {
        shown(&self.path)
    }

    /// `items` or `run`.
    pub(super) fn kind(&self) -> &'static str {
        match self.texts {
            ItemTexts::File(_) => "items",
            ItemTexts::Run(_) => "run",
        }
    }
}
