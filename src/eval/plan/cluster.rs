//! The groups of samples.

use serde_json::Value;

use super::Plan;
use crate::data::Sample;
use crate::data::dataset::Field;
use crate::error::{Error, Result, nearest};
use crate::eval::Eval;

impl Plan {
    /// The group of a sample; `None` if its column is empty: then it is its own group.
    pub(crate) fn cluster(&self, sample: &Sample) -> Option<String> {
        let column = self.eval.cluster.as_deref()?;
        let alone = || format!("sample {}", sample.id);
        Some(value(column, sample).unwrap_or_else(alone))
    }
}

/// The value of a column: in the sample's metadata, or a slice.
fn value(column: &str, sample: &Sample) -> Option<String> {
    let fields = Field::named(column);
    let found = fields.iter().find_map(|field| field.get(&sample.metadata));
    let text = match found.as_deref() {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let mut slices = sample.slices.iter();
    text.or_else(|| {
        let (_, value) = slices.find(|(dimension, _)| dimension == column)?;
        Some(value.clone())
    })
}

/// Checks that the column an eval names exists.
#[derive(Default)]
pub(super) struct ColumnCheck {
    is_there: bool,
    /// The names of the first sample's columns.
    known: Vec<String>,
}

impl ColumnCheck {
    pub(super) fn see(&mut self, eval: &Eval, sample: &Sample) {
        let Some(column) = eval.cluster.as_deref().filter(|_| !self.is_there) else {
            return;
        };
        if self.known.is_empty() {
            let slices = sample.slices.iter().map(|(dimension, _)| dimension);
            self.known = sample.metadata.keys().chain(slices).cloned().collect();
        }
        self.is_there = value(column, sample).is_some();
    }

    pub(super) fn finish(self, eval: &Eval) -> Result<()> {
        let Some(column) = eval.cluster.as_deref().filter(|_| !self.is_there) else {
            return Ok(());
        };
        let message = format!(
            "eval `{}`: no sample has a `{}`, which `benchmark.cluster` names",
            eval.name,
            column.escape_debug()
        );
        let known: Vec<String> = self.known.iter().map(|name| format!("`{name}`")).collect();
        Err(Error::usage(message).hint(
            match nearest(column, self.known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "samples have neither metadata nor slices".to_owned(),
                None => format!("name metadata or a slice: {}", known.join(", ")),
            },
        ))
    }
}
