//! `places.json`: the dataset places of a part's samples, written when the part starts.
//!
//! The places let a merged run write its records in dataset order, and detect missing and duplicate samples.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::files::PLACES;
use super::{Manifest, RunDir};
use crate::error::{Error, Result};
use crate::system::file::{self, read_plain};
use crate::system::project::display;

/// Version of the file. 1: the first.
const FORMAT_VERSION: u32 = 1;

/// The dataset places of a part's samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartPlaces {
    format_version: u32,
    /// How many samples the eval has.
    pub(crate) samples: usize,
    /// The places of the part's samples, from 0, ascending.
    pub(crate) places: Vec<usize>,
}

impl PartPlaces {
    /// These of `samples` places; they must ascend.
    pub(crate) fn new(samples: usize, places: Vec<usize>) -> Self {
        debug_assert!(places.is_sorted_by(|one, next| one < next));
        Self {
            format_version: FORMAT_VERSION,
            samples,
            places,
        }
    }

    /// Writes the file, and gives its SHA-256.
    pub(crate) fn write(&self, dir: &RunDir) -> Result<String> {
        let text = serde_json::to_vec(self).map_err(|error| {
            Error::infrastructure(format!("`{PLACES}` cannot be written: {error}"))
        })?;
        dir.write(PLACES, &text)?;
        let path = dir.file(PLACES);
        file::hash(&path).map_err(|error| Error::io("read", &path, &error))
    }

    /// Reads the file of a part and verifies its hash.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub(crate) fn read_as_written(dir: &RunDir, manifest: &Manifest) -> Result<Self> {
        let path = dir.file(PLACES);
        let hash = file::hash(&path).map_err(|error| Error::io("read", &path, &error))?;
        if manifest.artifacts.get(PLACES) != Some(&hash) {
            return Err(odd(&path, "it changed after the run"));
        }
        Self::read(dir)
    }

    /// Reads the file of a part.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub(crate) fn read(dir: &RunDir) -> Result<Self> {
        let path = dir.file(PLACES);
        let text = read_plain(&path).map_err(|error| Error::io("read", &path, &error))?;
        let read: Self = serde_json::from_slice(&text)
            .map_err(|error| odd(&path, &format!("not places: {error}")))?;
        if read.format_version > FORMAT_VERSION {
            let version = read.format_version;
            return Err(Error::usage(format!(
                "{}: format {version} is newer than this evaltest understands ({FORMAT_VERSION})",
                display(&path)
            ))
            .hint("cargo install cargo-evaltest"));
        }
        let ascends = read.places.is_sorted_by(|one, next| one < next);
        if !ascends || read.places.last().is_some_and(|last| *last >= read.samples) {
            return Err(odd(&path, "its places do not belong to this eval"));
        }
        Ok(read)
    }
}

fn odd(path: &Path, what: &str) -> Error {
    Error::usage(format!("{}: {what}", display(path)))
        .hint("copy it again from the original directory, or run the shard again")
}
