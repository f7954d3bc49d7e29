//! A rubric named on the command line: a built-in one, or a file.

use std::path::Path;

use super::Grading;
use super::file::RubricFile;
use super::ready;
use crate::error::Result;

impl Grading {
    /// The built-in rubric with this name, otherwise the one in the file at this path relative to the folder.
    ///
    /// # Errors
    /// When it is neither, or not valid. An error in a file has its position there.
    pub(crate) fn given(name: &str, folder: &Path) -> Result<Self> {
        if let Some(ready) = ready::named(name) {
            return ready.draft()?.finish();
        }
        let file = RubricFile::open(name, folder)?;
        let grading = file.draft()?.finish();
        grading.map_err(|error| file.explain(&error))
    }
}
