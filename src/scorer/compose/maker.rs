//! `Maker`: makes scorers from specs, for scorers that contain others.
//!
//! The scorers are registered in a layer above this module, which passes in the functions that make them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::Scorer;
use crate::agent::Agent;
use crate::data::ItemPart;
use crate::data::Sample;
use crate::error::Result;

type Make = dyn Fn(&Value, &Path) -> Result<Arc<dyn Scorer>> + Send + Sync;
type MakeSamples = dyn Fn(&Value, &Path) -> Result<Vec<Sample>> + Send + Sync;
type MakeAgent = dyn Fn(&Value, &Path) -> Result<ResolvedAgent> + Send + Sync;

/// An agent that a scorer asks, as named in its options.
pub(crate) struct ResolvedAgent {
    pub(crate) agent: Arc<dyn Agent>,
    /// Options added to every task.
    pub(crate) options: Map<String, Value>,
    /// Values that must not be recorded.
    pub(crate) secrets: Vec<String>,
}

/// The context for making scorers: how to make those named in options, and the folder for relative paths.
#[derive(Clone)]
pub struct Maker {
    folder: PathBuf,
    make: Arc<Make>,
    agent: Arc<MakeAgent>,
    samples: Arc<MakeSamples>,
    item_parts: Option<Arc<[ItemPart]>>,
}

impl Maker {
    /// Each function gets a spec, which is a name or a map with `type`, and the folder. `samples` returns those of a
    /// benchmark.
    pub(crate) fn new(
        folder: &Path,
        make: impl Fn(&Value, &Path) -> Result<Arc<dyn Scorer>> + Send + Sync + 'static,
        agent: impl Fn(&Value, &Path) -> Result<ResolvedAgent> + Send + Sync + 'static,
        samples: impl Fn(&Value, &Path) -> Result<Vec<Sample>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            folder: folder.to_owned(),
            make: Arc::new(make),
            agent: Arc::new(agent),
            samples: Arc::new(samples),
            item_parts: None,
        }
    }

    /// The same, for scorers of items, of which these parts are shown.
    #[must_use]
    pub(crate) fn showing(self, parts: Option<Vec<ItemPart>>) -> Self {
        Self {
            item_parts: parts.map(Into::into),
            ..self
        }
    }

    /// The parts of items to show; `None` if answers are scored.
    pub(crate) fn item_parts(&self) -> Option<&[ItemPart]> {
        self.item_parts.as_deref()
    }

    /// The same, with another folder for relative paths.
    #[must_use]
    pub(crate) fn within(&self, folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            make: Arc::clone(&self.make),
            agent: Arc::clone(&self.agent),
            samples: Arc::clone(&self.samples),
            item_parts: self.item_parts.clone(),
        }
    }

    /// The folder for relative paths in options: the spec's folder, or the current one.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the agent of a spec.
    pub(crate) fn agent(&self, spec: &Value) -> Result<ResolvedAgent> {
        (self.agent)(spec, &self.folder)
    }

    /// Reads the samples of a spec's benchmark.
    pub(crate) fn samples(&self, spec: &Value) -> Result<Vec<Sample>> {
        (self.samples)(spec, &self.folder)
    }

    /// Makes the scorer of a spec.
    pub(crate) fn scorer(&self, spec: &Value) -> Result<Arc<dyn Scorer>> {
        (self.make)(spec, &self.folder)
    }
}
