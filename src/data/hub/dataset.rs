//! `Dataset`: the files of one commit, in the cache or on the Hub.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};

use once_cell::sync::OnceCell;

use super::address::{Address, is_commit, is_relative};
use super::blob::{self, Lock};
use super::listing::HubListing;
use super::server::Server;
use super::settings::HubSettings;
use super::transfer;
use super::{BLOBS, DATASETS, Snapshot, holds};
use crate::data::dataset::parts::{self, Chosen, Listed, LocalFiles};
use crate::error::{Error, Result};
use crate::system::lock;

/// Maximum number of concurrent downloads.
const WORKERS: usize = 8;
/// The default revision.
const MAIN: &str = "main";

/// A dataset at one commit. Clones share their state.
#[derive(Clone, Debug)]
pub(crate) struct Dataset(Arc<HubCommit>);

#[derive(Debug)]
struct HubCommit {
    server: Server,
    address: Address,
    snapshot: Snapshot,
    /// The list of files, loaded on first use.
    listing: OnceCell<HubListing>,
}

impl Dataset {
    /// Opens the dataset of an address, at the commit of its revision: from the cache, or else from the Hub.
    ///
    /// # Errors
    /// If it is in neither, or access is denied.
    pub(crate) fn open(address: &Address) -> Result<Self> {
        Self::with(Server::new(HubSettings::from_env()?)?, address)
    }

    fn with(server: Server, address: &Address) -> Result<Self> {
        let name = address.repository.replace('/', "--");
        let folder = server.settings.cache.join(format!("{DATASETS}{name}"));
        let commit = commit(&server, address, &folder)?;
        Ok(Self(Arc::new(HubCommit {
            server,
            snapshot: Snapshot {
                folder,
                repository: address.repository.clone(),
                commit,
            },
            address: address.clone(),
            listing: OnceCell::new(),
        })))
    }

    /// Local path of the address's file or folder, whether or not it is downloaded yet.
    pub(crate) fn root(&self) -> PathBuf {
        let root = self.0.snapshot.root();
        match &*self.0.address.path {
            "" => root,
            path => root.join(path),
        }
    }

    /// Downloads the files that the address names: one, the parts in a folder or those that match a pattern; or the
    /// only table of the dataset.
    ///
    /// # Errors
    /// If the address names no file and there are several tables, or the download fails.
    pub(crate) fn fetch_files(&self) -> Result<LocalFiles> {
        let path = &*self.0.address.path;
        let text = self.0.address.to_string();
        let (folder, name) = parts::split(path);
        let listed = |folder, files, is_dataset| Listed {
            folder,
            files,
            is_dataset,
        };
        let root = self.0.snapshot.root();
        let (chosen, folder) = if path.is_empty() {
            let files = self.listing()?.files_of_rows().collect();
            (listed(&*text, files, true).only()?, root)
        } else if parts::is_pattern(name) && !self.listing()?.has_file(path) {
            let files = self.listing()?.files_below(folder);
            let files = files.filter(|file| !file.contains('/')).collect();
            let listed = listed(parts::split(&text).0, files, false);
            (listed.matching(name)?, root.join(folder))
        } else if !parts::has_rows(name)
            // Any other path needs no list of files.
            && self.listing().is_ok_and(|all| all.has_folder(path))
        {
            let files = self.listing()?.files_below(path).collect();
            (listed(&*text, files, false).only()?, root.join(path))
        } else {
            let siblings = self.0.listing.get();
            let siblings = siblings.into_iter().flat_map(|all| all.files_below(folder));
            let chosen = Chosen {
                name: path.to_owned(),
                files: vec![path.to_owned()],
                note: parts::note(&text, siblings),
            };
            (chosen, root)
        };
        let found = LocalFiles::of(chosen, &folder);
        self.fetch(&found.files)?;
        Ok(found)
    }

    /// Whether the commit has a file at this path below the snapshot.
    pub(crate) fn is_file(&self, path: &Path) -> Result<bool> {
        let listing = self.listing()?;
        Ok(self.inside(path).is_some_and(|path| listing.has_file(path)))
    }

    /// Whether the commit has a folder at this path below the snapshot.
    pub(crate) fn is_folder(&self, path: &Path) -> Result<bool> {
        let listing = self.listing()?;
        Ok(self
            .inside(path)
            .is_some_and(|path| listing.has_folder(path)))
    }

    /// Names of the subfolders of a folder.
    pub(crate) fn folders(&self, path: &Path) -> Result<Vec<String>> {
        let listing = self.listing()?;
        let Some(path) = self.inside(path) else {
            return Ok(Vec::new());
        };
        Ok(listing.folders(path).map(str::to_owned).collect())
    }

    /// Downloads these files below the snapshot, several at a time.
    ///
    /// # Errors
    /// The first failed download.
    pub(crate) fn fetch(&self, paths: &[PathBuf]) -> Result<()> {
        let wanted: Vec<&str> = paths.iter().filter_map(|path| self.inside(path)).collect();
        let next = AtomicUsize::new(0);
        let problem = Mutex::new(None);
        let work = || {
            while let Some(path) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.fetch_one(path) {
                    // The other threads stop after their current file.
                    next.store(wanted.len(), Ordering::Relaxed);
                    let mut problem = lock(&problem);
                    problem.get_or_insert(error);
                }
            }
        };
        thread::scope(|scope| {
            let mut others = 1..WORKERS.min(wanted.len());
            // Fewer threads suffice.
            others.all(|_| Builder::new().spawn_scoped(scope, work).is_ok());
            work();
        });
        let problem = problem.into_inner();
        match problem.unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// A path relative to the snapshot, in the Hub's notation.
    fn inside<'a>(&self, path: &'a Path) -> Option<&'a str> {
        let path = path.strip_prefix(self.0.snapshot.root()).ok()?.to_str()?;
        is_relative(path).then_some(path)
    }

    fn fetch_one(&self, path: &str) -> Result<()> {
        let HubCommit {
            server, snapshot, ..
        } = &*self.0;
        let at = snapshot.root().join(path);
        let address = format!("hf://datasets/{}/{path}", snapshot.repository);
        if at.exists() {
            return self.check_inside(&at, &address);
        }
        let folder = &snapshot.folder;
        if server.settings.offline {
            return Err(not_cached(&address, folder));
        }
        let source = server.source(&snapshot.repository, &address);
        let head = server.head(source, &snapshot.commit, path)?;
        let checksum = head.checksum.as_str();
        let blob = folder.join(BLOBS).join(checksum);
        let _lock = Lock::take(&lock_path(&server.settings.cache, folder, checksum))?;
        // Another process may have downloaded it while this one waited for the lock.
        if !blob.exists() {
            let incomplete = blob.with_file_name(format!("{checksum}.incomplete"));
            blob::make_folder(&incomplete)?;
            blob::tag(&server.settings.cache);
            let url = server.file(source, &snapshot.commit, path)?;
            transfer::fetch(server, source, &url, &head, &incomplete)?;
            fs::rename(&incomplete, &blob).map_err(|error| Error::io("write", &blob, &error))?;
        }
        // `snapshots`, the commit, and the folders of the path.
        let depth = 2 + path.matches('/').count();
        blob::link(&at, &head.checksum, depth)
    }

    /// Returns an error for a link that was created by neither evaltest nor `huggingface_hub`.
    fn check_inside(&self, at: &Path, address: &str) -> Result<()> {
        let canonical = |path: &Path| {
            let found = path.canonicalize();
            found.map_err(|error| Error::io("open", path, &error))
        };
        if holds(&canonical(&self.0.snapshot.root())?, &canonical(at)?) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "`{address}`: `{}` is a link that leaves the folder of the dataset",
            at.display()
        ))
        .hint(format!(
            "remove it to have the file fetched again: `rm '{}'`",
            at.display()
        )))
    }

    fn listing(&self) -> Result<&HubListing> {
        let HubCommit {
            server,
            address,
            snapshot,
            listing,
        } = &*self.0;
        listing.get_or_try_init(|| {
            let path = snapshot.folder.join("trees").join(&snapshot.commit);
            let path = path.with_extension("json");
            if let Some(listing) = HubListing::read(&path) {
                return Ok(listing);
            }
            let cached = || {
                let found = HubListing::of_folder(&snapshot.root());
                (!found.is_empty()).then_some(found)
            };
            let address = address.to_string();
            if server.settings.offline {
                return cached().ok_or_else(|| not_cached(&address, &snapshot.folder));
            }
            let source = server.source(&snapshot.repository, &address);
            let listing = server.listing(source, &snapshot.commit)?;
            if listing.is_empty() {
                let error = Error::usage(format!("`{address}`: the dataset has no files"));
                return Err(error);
            }
            listing.write(&path)?;
            Ok(listing)
        })
    }
}

/// The commit of an address: given explicitly, from the cache, or from the Hub.
fn commit(server: &Server, address: &Address, folder: &Path) -> Result<String> {
    let revision = address.revision.as_deref().unwrap_or(MAIN);
    if is_commit(revision) {
        return Ok(revision.to_owned());
    }
    let path = folder.join("refs").join(revision);
    let cached = fs::read_to_string(&path).ok();
    let cached = cached.map(|text| text.trim().to_owned());
    if let Some(commit) = cached.filter(|commit| is_commit(commit)) {
        return Ok(commit);
    }
    let text = address.to_string();
    if server.settings.offline {
        return Err(not_cached(&text, folder));
    }
    let source = server.source(&address.repository, &text);
    let commit = server.commit(source, revision)?;
    blob::replace(&path, commit.as_bytes())?;
    Ok(commit)
}

fn not_cached(address: &str, folder: &Path) -> Error {
    Error::usage(format!(
        "`{address}` is not in `{}`, and the variable `HF_HUB_OFFLINE` forbids fetching it",
        folder.display()
    ))
    .hint("unset `HF_HUB_OFFLINE` once, or set `HF_HOME` to where it was downloaded")
}

fn lock_path(cache: &Path, folder: &Path, checksum: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default();
    cache
        .join(".locks")
        .join(name)
        .join(format!("{checksum}.lock"))
}
