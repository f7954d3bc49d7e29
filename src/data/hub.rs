//! Datasets of the Hugging Face Hub: `hf://datasets/ORG/NAME[@REVISION][/PATH]`.
//!
//! [`Address`] is the address in a spec; [`Dataset`] is a dataset at one commit, with its list of files, which it
//! fetches into the cache on demand. The cache is that of Python's `huggingface_hub` with the same layout
//! ([`layout`]), so that each can use the other's downloads:
//!
//! ```text
//! HF_HUB_CACHE/datasets--ORG--NAME/
//!   refs/main                      the commit that a branch or tag stands for
//!   trees/<commit>.json            which files the commit has
//!   blobs/<checksum>               contents; `.incomplete` while they come in
//!   snapshots/<commit>/<path>      a relative link to a blob
//! HF_HUB_CACHE/.locks/datasets--ORG--NAME/<checksum>.lock
//! ```
//!
//! Invariants:
//! - A branch is resolved once. From then on the cached commit is used, as with a lock file: a push to the Hub does
//!   not change the dataset of later runs, and listing tests needs no network.
//! - A blob exists only if it is complete and has the right checksum.
//! - The token is only sent to the Hub's own origin.
//! - No response of the Hub can name a file outside the dataset's folder.

mod address;
#[cfg(feature = "http")]
mod blob;
#[cfg(feature = "http")]
mod dataset;
pub(crate) mod layout;
#[cfg(feature = "http")]
mod listing;
#[cfg(feature = "http")]
mod redirect;
#[cfg(feature = "http")]
mod refusal;
#[cfg(feature = "http")]
mod server;
#[cfg(feature = "http")]
mod settings;
#[cfg(feature = "http")]
mod transfer;
#[cfg(not(feature = "http"))]
mod without_http;

use std::path::{Path, PathBuf};

pub(crate) use address::Address;
#[cfg(feature = "http")]
pub(crate) use dataset::Dataset;
#[cfg(not(feature = "http"))]
pub(crate) use without_http::Dataset;

use crate::data::Sample;
use crate::error::Result;
use crate::system::file::{self, is_inside};

/// The local path of one file: the path itself, or for a Hub address the cached file, downloaded if necessary.
pub(crate) fn file(path: PathBuf) -> Result<PathBuf> {
    open(path).map(|(path, _)| path)
}

/// Like [`file`], with the dataset of a Hub address.
pub(crate) fn open(path: PathBuf) -> Result<(PathBuf, Option<Dataset>)> {
    let Some(address) = Address::of(&path) else {
        return Ok((path, None));
    };
    let dataset = Dataset::open(&address?)?;
    Ok((dataset.fetch_file()?, Some(dataset)))
}

/// Downloads the attachments of samples. A missing or forbidden file is not an error here, but fails its own sample.
pub(crate) fn fetch_attachments(dataset: Option<&Dataset>, samples: &[Sample]) -> Result<()> {
    let Some(dataset) = dataset else {
        return Ok(());
    };
    let mut wanted = Vec::new();
    for file in samples.iter().flat_map(|sample| &sample.files) {
        // Removes `.` components.
        let path: PathBuf = file.root.join(&file.path).components().collect();
        if is_inside(&file.path) && dataset.is_file(&path)? {
            wanted.push(path);
        }
    }
    dataset.fetch(&wanted)
}

/// Resolves a path in a spec relative to the spec's folder; a Hub address is unchanged.
pub(crate) fn resolve(path: &Path, folder: &Path) -> PathBuf {
    if Address::of(path).is_some() {
        return path.to_owned();
    }
    // Tidy it, because it appears in many messages.
    file::tidy(&folder.join(path))
}
