//! Builds a pairwise comparison in Rust.

use std::path::Path;

use super::pairs::Draw;
use super::references::References;
use super::{Pairwise, against, criteria};
use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::scorer::ask::judge::make::calibration_file;
use crate::scorer::ask::judge::sees::Sees;
use crate::scorer::ask::requester::ScorerAgent;

impl Pairwise {
    /// A judge that decides which does better what was asked: an answer, or that of the same sample in another run.
    ///
    /// # Errors
    /// When the run directory cannot be read, or has no answer.
    pub fn against_run(agent: impl Agent + 'static, run_dir: impl AsRef<Path>) -> Result<Self> {
        Self::built(agent, against::of_run(run_dir.as_ref())?)
    }

    /// A judge that decides which does better what was asked: an answer, or that of the same sample in a JSONL file of
    /// `id` and `answer`.
    ///
    /// # Errors
    /// When the file cannot be read, or has no answer.
    pub fn against_file(agent: impl Agent + 'static, path: impl AsRef<Path>) -> Result<Self> {
        Self::built(agent, against::of_file(path.as_ref())?)
    }

    /// What makes one text better than another.
    #[must_use]
    pub fn criteria(mut self, criteria: &str) -> Self {
        self.grading = criteria::grading(Some(criteria));
        self.has_criteria = true;
        self
    }

    /// How many samples are compared, drawn randomly without replacement.
    #[must_use]
    pub fn pairs(mut self, pairs: u64) -> Self {
        self.draw.pairs = Some(pairs.max(1));
        self
    }

    /// The seed of the draw.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.draw.seed = seed;
        self
    }

    /// What is shown besides the two texts: `prompt`, `ground_truth`, `files`, and names of fields.
    ///
    /// # Errors
    /// When no names are given, or a name is repeated.
    pub fn sees<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        self.sees = Some(Sees::named(names)?);
        Ok(self)
    }

    /// How often a failed request is repeated; overrides the eval's setting.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.requester.model.policy.retries = Some(retries);
        self
    }

    /// The file of a calibration, as written by `cargo evaltest judge calibrate`.
    ///
    /// # Errors
    /// When it is not a calibration.
    pub fn calibration(mut self, path: impl AsRef<Path>) -> Result<Self> {
        self.calibration = Some(calibration_file(path.as_ref())?);
        Ok(self)
    }

    fn built(agent: impl Agent + 'static, references: References) -> Result<Self> {
        if references.items.is_empty() {
            return Err(Error::usage("there is nothing to compare answers with")
                .hint("name a run or a file with answers"));
        }
        let draw = Draw {
            pairs: None,
            seed: 0,
        };
        let grading = criteria::grading(None);
        let mut pairwise = Self::of(ScorerAgent::built(agent), grading, references, draw);
        pairwise.has_criteria = false;
        Ok(pairwise)
    }
}
