//! A rubric that a command is given by name: a ready one, or a file.

use std::path::Path;

use super::Grading;
use super::file::RubricFile;
use super::ready;
use crate::error::Result;

impl Grading {
    /// The ready rubric of this name, else that of the file at this path from a folder.
    ///
    /// # Errors
    /// When it is neither, or nothing could be graded by it; a mistake in a file is told with the place in it.
    pub(crate) fn given(name: &str, folder: &Path) -> Result<Self> {
        if let Some(ready) = ready::named(name) {
            return ready.draft()?.finish();
        }
        let file = RubricFile::open(name, folder)?;
        let grading = file.draft()?.finish();
        grading.map_err(|error| file.explain(&error))
    }
}
