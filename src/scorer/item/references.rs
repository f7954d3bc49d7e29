//! `ReferenceItems`: items that new ones are modelled on and must not copy.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::text::hash::Hasher;
use crate::text::near_copy::{NearCopies, NearCopy};
use crate::text::unquoted;

/// Items, with an index of one of their text fields.
pub(crate) struct ReferenceItems {
    items: Vec<ReferenceItem>,
    places: HashMap<String, usize>,
    near: NearCopies,
    hash: String,
}

/// An item that new ones are modelled on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReferenceItem {
    pub(crate) id: String,
    /// The fields that it has.
    pub(crate) item: Map<String, Value>,
}

impl ReferenceItems {
    /// Indexes these items by the text of a field.
    pub(crate) fn of(items: Vec<ReferenceItem>, copy_of: Option<&str>) -> Self {
        let mut near = NearCopies::new();
        let mut places = HashMap::with_capacity(items.len());
        let mut hash = Hasher::default();
        for (place, one) in items.iter().enumerate() {
            if let Some(text) = copy_of.and_then(|name| one.item.get(name)) {
                near.add(&one.id, &unquoted(text));
            }
            places.insert(one.id.clone(), place);
            hash = hash.part(&one.id);
            for (name, value) in &one.item {
                hash = hash.part(name).part(value.to_string());
            }
        }
        Self {
            items,
            places,
            near,
            hash: hash.short(),
        }
    }

    pub(crate) fn all(&self) -> &[ReferenceItem] {
        &self.items
    }

    /// The item with this id.
    pub(crate) fn get(&self, id: &str) -> Option<&ReferenceItem> {
        self.places.get(id).map(|place| &self.items[*place])
    }

    /// The item whose text is nearest.
    pub(crate) fn nearest(&self, text: &str) -> Option<NearCopy> {
        self.near.nearest(text)
    }

    /// A hash of all ids and texts.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }
}
