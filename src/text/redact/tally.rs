//! Counts what was blanked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Receives each blanked place.
pub(crate) trait BlankCount {
    /// Adds `places`; `variable` is the index of the value that was there, if it is that of a variable.
    fn add(&mut self, places: u32, variable: Option<usize>);
}

/// Counts places only.
impl BlankCount for u32 {
    fn add(&mut self, places: u32, _: Option<usize>) {
        *self = self.saturating_add(places);
    }
}

/// Counts places, and which values were there.
#[derive(Debug, Default)]
pub(crate) struct Blanked {
    pub(crate) places: u32,
    variables: BTreeSet<usize>,
}

impl Blanked {
    /// Continues from a number of places.
    pub(crate) fn from(places: u32) -> Self {
        Self {
            places,
            ..Self::default()
        }
    }
}

impl BlankCount for Blanked {
    fn add(&mut self, places: u32, variable: Option<usize>) {
        self.places = self.places.saturating_add(places);
        self.variables.extend(variable);
    }
}

/// For each value of a variable, the sample in which it was found; `None` for several samples.
#[derive(Debug, Default)]
pub(super) struct Samples(Mutex<BTreeMap<usize, Option<String>>>);

impl Samples {
    /// Records what was blanked in a sample.
    pub(super) fn note(&self, sample: &str, blanked: &Blanked) {
        if blanked.variables.is_empty() {
            return;
        }
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for variable in &blanked.variables {
            samples
                .entry(*variable)
                .and_modify(|first| {
                    if first.as_deref() != Some(sample) {
                        *first = None;
                    }
                })
                .or_insert_with(|| Some(sample.to_owned()));
        }
    }

    /// The values that were found in more than one sample.
    pub(super) fn in_several(&self) -> Vec<usize> {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let several = samples.iter().filter(|(_, first)| first.is_none());
        several.map(|(variable, _)| *variable).collect()
    }
}
