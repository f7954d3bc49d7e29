//! Where an eval's runs and stored answers lie.

use std::path::PathBuf;

use super::Eval;

impl Eval {
    /// The folder of run directories.
    pub fn output_folder(&self) -> PathBuf {
        let default = || crate::system::project::root().join(crate::store::DEFAULT_OUTPUT_ROOT);
        self.output_root.clone().unwrap_or_else(default)
    }

    /// The folder of answers that were given before.
    pub fn cache_folder(&self) -> PathBuf {
        self.cache.folder(&self.output_folder())
    }

    /// Whether the eval itself says where its runs go.
    pub fn has_output_root(&self) -> bool {
        self.output_root.is_some()
    }
}
