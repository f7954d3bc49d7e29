//! What a partial run cannot be used for.

use super::Manifest;
use crate::error::{Error, Result};
use crate::store::RunDir;
use crate::system::project::display;
use crate::text::shell_word;

impl Manifest {
    /// Why the run may have answers of several agents, if so.
    pub(crate) fn why_mixed(&self) -> &'static str {
        if !self.merged.is_empty() && self.git_sha.is_none() {
            "its parts were run at several commits, or an agent was changed in one"
        } else {
            "its agent was changed between its parts"
        }
    }

    /// Refuses a partial run where a whole one is needed; `what` is such as: `it can be no baseline`.
    ///
    /// # Errors
    /// For a shard and the like, with the command that merges the parts.
    pub fn refuse_part(&self, dir: &RunDir, what: &str) -> Result<()> {
        let Some(part) = &self.part else {
            return Ok(());
        };
        let root = dir.path().parent().unwrap_or(dir.path());
        Err(Error::usage(format!(
            "run `{}` is {} of eval `{}`: {what}",
            display(dir.path()),
            part.description(),
            self.eval
        ))
        .hint(format!(
            "merge the shards: cargo evaltest merge {}",
            shell_word(&display(root))
        )))
    }
}
