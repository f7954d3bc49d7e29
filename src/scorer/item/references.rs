//! `ReferenceItems`: items that new ones are modelled on, and must be no copies of.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::text::hash::Hasher;
use crate::text::near_copy::{NearCopies, NearCopy};

/// Items, with an index of one of their texts.
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
    /// Those of its fields that it has.
    pub(crate) item: Map<String, Value>,
}

impl ReferenceItems {
    /// These items, compared by the text of a field.
    pub(crate) fn of(items: Vec<ReferenceItem>, copy_of: Option<&str>) -> Self {
        let mut near = NearCopies::new();
        let mut places = HashMap::with_capacity(items.len());
        let mut hash = Hasher::default();
        for (place, one) in items.iter().enumerate() {
            if let Some(text) = copy_of.and_then(|name| one.item.get(name)) {
                near.add(&one.id, &compared(text));
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

    /// The item of an id.
    pub(crate) fn get(&self, id: &str) -> Option<&ReferenceItem> {
        self.places.get(id).map(|place| &self.items[*place])
    }

    /// The one that a text is nearest to.
    pub(crate) fn nearest(&self, text: &str) -> Option<NearCopy> {
        self.near.nearest(text)
    }

    /// Of all ids and texts.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }
}

/// The text of a field that is compared: a text as it is, anything else as JSON.
pub(crate) fn compared(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
