//! Datasets of the Hugging Face Hub: `hf://datasets/ORG/NAME[@REVISION][/PATH]`.
//!
//! [`Address`] is the address in a spec; [`Dataset`] is a dataset at one commit, with its list of files, which it
//! fetches into the cache on demand. The cache is that of Python's `huggingface_hub` with the same layout
//! ([`Snapshot`]), so that each can use the other's downloads:
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

use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::data::Sample;
use crate::data::dataset::parts::{self, LocalFiles};
use crate::error::Result;
use crate::system::file;
use crate::system::file::is_inside;
use address::{is_commit, is_hex, is_name};

pub(crate) use address::Address;
#[cfg(feature = "http")]
pub(crate) use dataset::Dataset;
#[cfg(not(feature = "http"))]
pub(crate) use without_http::Dataset;

/// The local path of one file: the path itself, or for a Hub address the cached file, downloaded if necessary.
#[cfg(feature = "bfcl")]
pub(crate) fn file(path: PathBuf) -> Result<PathBuf> {
    let Some(address) = Address::of(&path) else {
        return Ok(path);
    };
    let (mut found, _) = open(&path)?;
    if found.files.len() > 1 {
        let (address, count) = (address?, found.files.len());
        let error =
            crate::error::Error::usage(format!("`{address}` is {count} files, but one is needed"));
        return Err(error.hint("name one of the files"));
    }
    Ok(found.files.remove(0))
}

/// The files of the table that a path names: a file, a folder with parts of one, or a pattern; for a Hub address the
/// cached files, downloaded if necessary. A local path that does not exist is returned as it is.
pub(crate) fn open(path: &Path) -> Result<(LocalFiles, Option<Dataset>)> {
    let Some(address) = Address::of(path) else {
        return Ok((parts::local(path)?, None));
    };
    let dataset = Dataset::open(&address?)?;
    Ok((dataset.fetch_files()?, Some(dataset)))
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

/// Prefix of a dataset's folder. Models and spaces have others.
const DATASETS: &str = "datasets--";
const SNAPSHOTS: &str = "snapshots";
const BLOBS: &str = "blobs";

/// A commit of a dataset in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// `…/datasets--ORG--NAME`.
    pub(crate) folder: PathBuf,
    /// `ORG/NAME`.
    pub(crate) repository: String,
    /// The commit.
    pub(crate) commit: String,
}

impl Snapshot {
    /// The snapshot that contains a path.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let mut folder = PathBuf::new();
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            folder.push(part);
            let Component::Normal(name) = part else {
                continue;
            };
            let Some((organisation, name)) = name
                .to_str()
                .and_then(|name| name.strip_prefix(DATASETS)?.split_once("--"))
            else {
                continue;
            };
            if !is_name(organisation) || !is_name(name) {
                continue;
            }
            let mut rest = parts.clone();
            if rest.next() != Some(Component::Normal(SNAPSHOTS.as_ref())) {
                continue;
            }
            let commit = rest.next().and_then(|part| part.as_os_str().to_str());
            let Some(commit) = commit.filter(|commit| is_commit(commit)) else {
                continue;
            };
            return Some(Self {
                folder,
                repository: format!("{organisation}/{name}"),
                commit: commit.to_owned(),
            });
        }
        None
    }

    /// Like [`Snapshot::of`], but also resolves symbolic links.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        Self::of(path).or_else(|| Self::of(&path.canonicalize().ok()?))
    }

    /// The folder with its files.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join(SNAPSHOTS).join(&self.commit)
    }
}

/// Displays the address of exactly this commit.
impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hf://datasets/{}@{}", self.repository, self.commit)
    }
}

/// Whether a file belongs to a folder: it is inside, or the folder is in a snapshot and the file is a blob of that
/// dataset. Both paths must be canonical, so that no symbolic links are left.
pub(crate) fn holds(folder: &Path, file: &Path) -> bool {
    if file.starts_with(folder) {
        return true;
    }
    let Some(snapshot) = Snapshot::of(folder) else {
        return false;
    };
    let Some(parent) = file.parent() else {
        return false;
    };
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let is_checksum = is_hex(name, 40) || is_hex(name, 64);
    if parent == snapshot.folder.join(BLOBS) {
        return is_checksum;
    }
    // Blobs shared by several datasets: `blobs/<two digits>/<checksum>` next to their folders.
    let cache = snapshot.folder.parent();
    let shared = cache.map(|cache| cache.join(BLOBS));
    parent.parent() == shared.as_deref()
        && is_hex(name, 64)
        && parent.file_name().is_some_and(|start| start == &name[..2])
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn a_snapshot_is_known_by_its_path() {
        let of = |path: &str| Snapshot::of(Path::new(path));
        let root = format!("/h/hub/datasets--a--b.c/snapshots/{COMMIT}");
        for path in [root.clone(), format!("{root}/2023/x")] {
            let found = of(&path).unwrap();
            assert_eq!(found.to_string(), format!("hf://datasets/a/b.c@{COMMIT}"));
            assert_eq!(found.folder, Path::new("/h/hub/datasets--a--b.c"));
            assert_eq!(found.root(), Path::new(&root));
        }
        for path in [
            "/h/hub/datasets--a--b/snapshots/main/x".to_owned(),
            format!("/h/hub/models--a--b/snapshots/{COMMIT}"),
            format!("/h/hub/datasets--a/snapshots/{COMMIT}"),
            format!("/h/hub/datasets--a--b/blobs/{COMMIT}"),
            "/h/hub/datasets--a--b/snapshots".to_owned(),
            String::new(),
        ] {
            assert_eq!(of(&path), None, "{path}");
        }
    }

    #[test]
    fn a_snapshot_holds_its_blobs_and_nothing_else() {
        let root = format!("/h/hub/datasets--a--b/snapshots/{COMMIT}");
        let check = |file: &str, expect: bool| {
            for folder in [root.clone(), format!("{root}/2023/validation")] {
                let found = holds(Path::new(&folder), Path::new(file));
                assert_eq!(found, expect, "{file} in {folder}");
            }
        };
        let sha = "ab".repeat(32);
        check(&format!("{root}/2023/validation/x"), true);
        check(&format!("/h/hub/datasets--a--b/blobs/{COMMIT}"), true);
        check(&format!("/h/hub/datasets--a--b/blobs/{sha}"), true);
        check(&format!("/h/hub/blobs/ab/{sha}"), true);
        check(&format!("/h/hub/blobs/cd/{sha}"), false);
        check(&format!("/h/hub/blobs/{sha}"), false);
        check("/h/hub/datasets--a--b/blobs/passwd", false);
        check(&format!("/h/hub/datasets--a--b/blobs/x/{sha}"), false);
        check(&format!("/h/hub/datasets--a--b/refs/{COMMIT}"), false);
        check(&format!("/h/hub/datasets--a--c/blobs/{COMMIT}"), false);
        check("/etc/passwd", false);
        check("/", false);
        assert!(!holds(Path::new("/data"), Path::new("/data2/x")));
    }
}
