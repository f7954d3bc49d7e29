//! `ReviewItems`: the items of a file or a run, of which all but ids stays where it is until one is looked at.

use std::path::PathBuf;

use super::item_file::ItemFile;
use crate::error::Result;
use crate::system::project::shown;

/// An item in the list.
#[derive(Clone, Debug)]
pub(super) struct ListedItem {
    pub(super) id: String,
    /// Its topic, or what else it is sliced by.
    pub(super) slice: Option<String>,
    /// Why it may be worth a look.
    pub(super) tag: Option<&'static str>,
    /// Of what it says.
    pub(super) hash: String,
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
}

/// The items.
#[derive(Debug)]
pub(super) struct ReviewItems {
    path: PathBuf,
    listed: Vec<ListedItem>,
    texts: ItemFile,
}

impl ReviewItems {
    /// Those of a file.
    pub(super) fn of_file(path: PathBuf) -> Result<Self> {
        let (texts, listed) = ItemFile::open(&path)?;
        Ok(Self {
            path,
            listed,
            texts,
        })
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

    pub(super) fn hash(&self, place: usize) -> &str {
        &self.listed[place].hash
    }

    /// What stands at a place.
    pub(super) fn item(&self, place: usize) -> Result<ShownItem> {
        self.texts.item(place)
    }

    /// What was opened, as people are shown it.
    pub(super) fn source(&self) -> String {
        shown(&self.path)
    }

    /// `items` or `run`.
    pub(super) fn kind(&self) -> &'static str {
        "items"
    }
}
