//! The summary of a finished run on disk, for programs and for people.

use crate::data::Record;
use crate::error::{Error, Result};
use crate::report::summary_md;
use crate::store::RunDir;
use crate::store::files::{RECORDS, SUMMARY, SUMMARY_PAGE};
use crate::text::escape_line_ends;
use crate::text::hash::Hasher;
use crate::verdict::conclude::Run;
use crate::verdict::summary::Summary;

impl Run {
    /// Writes `summary.json` and `summary.md`; gives their names with their SHA-256.
    pub(crate) fn write_summary(&self, dir: &RunDir) -> Result<[(String, String); 2]> {
        let broken = |error: &dyn std::fmt::Display| {
            Error::infrastructure(format!("the summary cannot be written: {error}"))
        };
        let mut json = serde_json::to_vec_pretty(&self.summary).map_err(|error| broken(&error))?;
        escape_line_ends(&mut json, 0);
        json.push(b'\n');
        let mut text = Vec::new();
        summary_md::write(self, &mut text).map_err(|error| broken(&error))?;
        let write = |name: &str, content: &[u8]| {
            let mut hash = Hasher::default();
            hash.bytes(content);
            dir.write(name, content)
                .map(|()| (name.to_owned(), hash.hex()))
        };
        Ok([write(SUMMARY, &json)?, write(SUMMARY_PAGE, &text)?])
    }

    /// The whole records, read from the run directory one at a time.
    pub fn whole_records(&self) -> Result<impl Iterator<Item = Result<Record>> + use<>> {
        crate::store::read_records(&self.dir.join(RECORDS))
    }
}

impl Summary {
    /// Reads a `summary.json`.
    ///
    /// # Errors
    /// With the path, when it is missing or of another version.
    pub(crate) fn read(path: &std::path::Path) -> crate::Result<Self> {
        let text = crate::system::file::read_plain(path)
            .map_err(|error| crate::Error::io("read", path, &error))?;
        serde_json::from_slice(&text).map_err(|error| {
            crate::Error::usage(format!("{}: not a summary: {error}", path.display()))
        })
    }
}
