//! `Largest`: the samples with the largest figures; others are not stored.

use serde::Serialize;

use crate::data::Record;

/// A sample with a figure of one of its answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SampleFigure {
    /// The sample's id.
    pub id: String,
    /// The epoch, from 0.
    pub epoch: u32,
    /// Seconds, or US dollars.
    pub value: f64,
}

/// The answers with the largest figures.
#[derive(Clone, Debug)]
pub(super) struct Largest {
    most: usize,
    /// The largest first; equal ones in order of addition.
    figures: Vec<SampleFigure>,
}

impl Largest {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            figures: Vec::new(),
        }
    }

    /// Adds an answer. Zero and non-numbers are ignored.
    pub(super) fn add(&mut self, record: &Record, value: f64) {
        if !value.is_finite() || value <= 0.0 {
            return;
        }
        let place = self.figures.partition_point(|known| known.value >= value);
        if place >= self.most {
            return;
        }
        let figure = SampleFigure {
            id: record.sample_id.clone(),
            epoch: record.epoch,
            value,
        };
        self.figures.insert(place, figure);
        self.figures.truncate(self.most);
    }

    pub(super) fn finish(self) -> Vec<SampleFigure> {
        self.figures
    }
}
