//! `Maker`: makes scorers of what a spec says of them, for scorers that are made of others.
//!
//! Which scorers there are is known above this room; whoever makes one hands it its maker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Scorer;
use crate::agent::Agent;
use crate::data::Sample;
use crate::data::item_part::ItemPart;
use crate::error::Result;

type Make = dyn Fn(&Value, &Path) -> Result<Arc<dyn Scorer>> + Send + Sync;
type MakeSamples = dyn Fn(&Value, &Path) -> Result<Vec<Sample>> + Send + Sync;
type MakeAgent = dyn Fn(&Value, &Path) -> Result<AskedAgent> + Send + Sync;

/// An agent that a scorer asks, as its options name it.
pub(crate) struct AskedAgent {
    pub(crate) agent: Arc<dyn Agent>,
    /// What every task brings along.
    pub(crate) options: Map<String, Value>,
    /// Values that must not be recorded.
    pub(crate) secrets: Vec<String>,
}

/// What scorers are made in: who makes those that are named in options, and the folder where relative paths start.
#[derive(Clone)]
pub struct Maker {
    folder: PathBuf,
    make: Arc<Make>,
    agent: Arc<MakeAgent>,
    samples: Arc<MakeSamples>,
    shown: Option<Arc<[ItemPart]>>,
}

impl Maker {
    /// All three are given what a spec says, a name or a map with `type`, and the folder. `samples` are those of a
    /// benchmark.
    pub(crate) fn new(
        folder: &Path,
        make: impl Fn(&Value, &Path) -> Result<Arc<dyn Scorer>> + Send + Sync + 'static,
        agent: impl Fn(&Value, &Path) -> Result<AskedAgent> + Send + Sync + 'static,
        samples: impl Fn(&Value, &Path) -> Result<Vec<Sample>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            folder: folder.to_owned(),
            make: Arc::new(make),
            agent: Arc::new(agent),
            samples: Arc::new(samples),
            shown: None,
        }
    }

    /// The same for scorers of items, which are shown by these parts.
    #[must_use]
    pub(crate) fn showing(self, parts: Option<Vec<ItemPart>>) -> Self {
        Self {
            shown: parts.map(Into::into),
            ..self
        }
    }

    /// The parts of the items that are judged, where it is items and no answers.
    pub(crate) fn shown_parts(&self) -> Option<&[ItemPart]> {
        self.shown.as_deref()
    }

    /// The same, with paths that start elsewhere.
    #[must_use]
    pub(crate) fn within(&self, folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            make: Arc::clone(&self.make),
            agent: Arc::clone(&self.agent),
            samples: Arc::clone(&self.samples),
            shown: self.shown.clone(),
        }
    }

    /// Relative paths in options start here: the spec's folder, or the current one.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The agent that a spec means.
    pub(crate) fn agent(&self, spec: &Value) -> Result<AskedAgent> {
        (self.agent)(spec, &self.folder)
    }

    /// The samples of the benchmark that a spec means.
    pub(crate) fn samples(&self, spec: &Value) -> Result<Vec<Sample>> {
        (self.samples)(spec, &self.folder)
    }

    /// The scorer that a spec means.
    pub(crate) fn scorer(&self, spec: &Value) -> Result<Arc<dyn Scorer>> {
        (self.make)(spec, &self.folder)
    }
}
