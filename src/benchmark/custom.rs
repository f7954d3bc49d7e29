//! `custom`: samples written in the spec itself, or in Rust.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::benchmark::Benchmark;
use crate::data::Sample;
use crate::data::conversation::Script;
use crate::data::dataset::Filter;
use crate::error::Result;
use crate::scorer::compose::per_sample::{DEFAULT, KEY, PerSample};
use crate::scorer::compose::turns::{OfConversation, On};
use crate::scorer::extract::Extract;
use crate::scorer::{Maker, Scorer};

/// Your own samples, each with a suitable scorer.
///
/// A sample's scorer is its metadata entry `scorer`, see [`Sample::scorer`]; samples without one use the default.
/// `per_sample` applies them. An agent may end its answer with `FINAL ANSWER: …`; without such a line the whole answer
/// is used.
///
/// ```
/// # fn main() -> evaltest::Result<()> {
/// use evaltest::{Custom, Eval, Sample, Task};
/// use serde_json::json;
///
/// let samples = [
///     Sample::new("sum", "What is 2 + 2?").target("4").slice("level", "1"),
///     Sample::new("steps", "How much are 3 * 6 eggs?").target("18").scorer(json!("gsm8k")),
/// ];
/// let agent = |task: &Task| Ok(task.question().len().to_string().into());
/// let eval = Eval::new(Custom::new(samples), agent);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Custom {
    samples: Vec<Sample>,
    scorer: Value,
    folder: PathBuf,
    /// Builds the scorers of samples; by default the eval's maker.
    maker: Option<Maker>,
    filter: Filter,
}

impl Custom {
    /// A benchmark of these samples, in this order.
    pub fn new(samples: impl IntoIterator<Item = Sample>) -> Self {
        Self {
            samples: samples.into_iter().collect(),
            scorer: DEFAULT.into(),
            folder: PathBuf::from("."),
            maker: None,
            filter: Filter::default(),
        }
    }

    /// The default scorer of samples, as in a spec; `gaia` unless set.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Into<Value>) -> Self {
        self.scorer = scorer.into();
        self
    }

    /// Base folder of relative paths in scorer options.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Sets the maker of the samples' scorers.
    #[must_use]
    pub(crate) fn made_by(mut self, maker: Maker) -> Self {
        self.maker = Some(maker);
        self
    }

    /// Only the samples of these ids.
    #[must_use]
    pub fn ids<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.filter.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// The scorer of all samples; uses `maker` unless one was set.
    pub(crate) fn per_sample(&self, maker: &Maker) -> PerSample {
        let maker = self.maker.as_ref().unwrap_or(maker);
        PerSample::new(&maker.within(&self.folder))
    }

    /// All samples, each with its scorer.
    pub(crate) fn whole_samples(&self) -> Vec<Sample> {
        let mut samples = self.samples.clone();
        for sample in &mut samples {
            // Store it in the record, so that the run can be rescored without the spec.
            let scorer = sample.metadata.entry(KEY).or_insert(Value::Null);
            if scorer.is_null() {
                *scorer = self.scorer.clone();
            }
        }
        samples
    }
}

impl Benchmark for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        self.filter.apply(self.whole_samples())
    }

    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.whole_samples().into_iter().try_for_each(take)
    }

    fn extract(&self) -> Extract {
        Extract::final_answer()
    }

    fn has_conversations(&self) -> bool {
        let mut samples = self.samples.iter();
        samples.any(|sample| Script::of(sample).is_some())
    }

    fn has_metrics(&self) -> bool {
        false
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        self.scorer_of(self.maker.as_ref()?)
    }

    fn scorer_of(&self, maker: &Maker) -> Option<Box<dyn Scorer>> {
        let scorer = self.per_sample(maker);
        Some(if self.has_conversations() {
            Box::new(OfConversation::new(Arc::new(scorer), On::TurnsOrLast))
        } else {
            Box::new(scorer)
        })
    }
}
