//! `Slice`: a subset of the samples that a gate is about.

use std::fmt;

use crate::data::Record;
use crate::data::record::slices_of;
use crate::verdict::gate::Gate;

/// Samples with a common attribute, such as those of `level=1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The attribute, such as `level`.
    pub dimension: String,
    /// Its value, such as `1`.
    pub value: String,
}

impl Slice {
    /// The slice of a value in a dimension.
    pub fn new(dimension: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            dimension: dimension.into(),
            value: value.into(),
        }
    }

    /// All slices of a record.
    pub(in crate::verdict) fn all_of(record: &Record) -> Vec<Self> {
        let slices = slices_of(record);
        slices.map(|(of, value)| Self::new(of, value)).collect()
    }
}

impl Gate {
    /// Whether a record belongs to the slice.
    pub(crate) fn covers(&self, record: &Record) -> bool {
        let slice = self.slice.as_ref();
        slice.is_none_or(|slice| Slice::all_of(record).contains(slice))
    }
}

/// As in the brackets of a gate.
impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.dimension, self.value)
    }
}
