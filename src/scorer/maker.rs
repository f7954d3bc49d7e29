//! `Maker`: makes scorers of what a spec says of them, for scorers that are made of others.
//!
//! Which scorers there are is known above this room; whoever makes one hands it its maker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::Scorer;
use crate::error::Result;

type Make = dyn Fn(&Value, &Path) -> Result<Arc<dyn Scorer>> + Send + Sync;

/// What scorers are made in: who makes those that are named in options, and the folder where relative paths start.
#[derive(Clone)]
pub struct Maker {
    folder: PathBuf,
    make: Arc<Make>,
}

impl Maker {
    /// `make` is given what a spec says, a name or a map with `type`, and the folder.
    pub(crate) fn new(
        folder: &Path,
        make: impl Fn(&Value, &Path) -> Result<Arc<dyn Scorer>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            folder: folder.to_owned(),
            make: Arc::new(make),
        }
    }

    /// The same, with paths that start elsewhere.
    #[must_use]
    pub(crate) fn within(&self, folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            make: Arc::clone(&self.make),
        }
    }

    /// Relative paths in options start here: the spec's folder, or the current one.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The scorer that a spec means.
    pub(crate) fn scorer(&self, spec: &Value) -> Result<Arc<dyn Scorer>> {
        (self.make)(spec, &self.folder)
    }
}
