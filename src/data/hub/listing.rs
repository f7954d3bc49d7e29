//! `HubListing`: the list of a commit's files, cached in the format of `huggingface_hub`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::address::is_relative;
use super::blob::replace;
use crate::data::dataset::parts::has_rows;
use crate::error::Result;

/// Version of `trees/<commit>.json`.
const FORMAT_VERSION: u32 = 1;

/// The files of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HubListing {
    files: BTreeMap<String, ListedFile>,
    /// All parent folders of the files.
    folders: BTreeSet<String>,
}

/// The Hub's metadata of a file; member names as in `huggingface_hub`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ListedFile {
    size: u64,
    blob_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lfs_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lfs_size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    xet_hash: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct OnDisk {
    format_version: u32,
    files: BTreeMap<String, ListedFile>,
}

/// Extensions of files with rows, except `.json`.
const ROWS: [&str; 4] = ["jsonl", "csv", "tsv", "parquet"];

impl HubListing {
    /// Adds an entry of the Hub's list.
    pub(super) fn add(&mut self, path: &str, item: &Value) {
        if item.get("type").and_then(Value::as_str) != Some("file") {
            return;
        }
        let text = |place: &str| Some(item.pointer(place)?.as_str()?.to_owned());
        let number = |place: &str| item.pointer(place)?.as_u64();
        let entry = ListedFile {
            size: number("/size").unwrap_or_default(),
            blob_id: text("/oid").unwrap_or_default(),
            lfs_sha256: text("/lfs/oid"),
            lfs_size: number("/lfs/size"),
            xet_hash: text("/xetHash"),
        };
        self.insert(path, entry);
    }

    fn insert(&mut self, path: &str, entry: ListedFile) {
        for (end, _) in path.match_indices('/') {
            if !self.folders.contains(&path[..end]) {
                self.folders.insert(path[..end].to_owned());
            }
        }
        self.files.insert(path.to_owned(), entry);
    }

    /// Reads the cached list.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let found: OnDisk = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (found.format_version == FORMAT_VERSION).then(|| {
            let mut listing = Self::default();
            for (path, entry) in found.files {
                if is_relative(&path) {
                    listing.insert(&path, entry);
                }
            }
            listing
        })
    }

    /// The files of a commit that happen to be in the cache.
    pub(super) fn of_folder(root: &Path) -> Self {
        let mut listing = Self::default();
        for entry in walkdir::WalkDir::new(root).into_iter().flatten() {
            let path = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
            let Some(path) = path.filter(|path| !path.is_empty() && is_relative(path)) else {
                continue;
            };
            if entry.path().is_file() {
                listing.insert(path, ListedFile::default());
            }
        }
        listing
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let on_disk = OnDisk {
            format_version: FORMAT_VERSION,
            files: self.files.clone(),
        };
        let text = serde_json::to_vec(&on_disk).unwrap_or_default();
        replace(path, &text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        path.is_empty() || self.folders.contains(path)
    }

    /// All files with rows; JSON files only if there are no others, because they may be metadata.
    pub(super) fn files_of_rows(&self) -> impl Iterator<Item = &str> {
        let ends = |path: &str, all: &[&str]| {
            let end = Path::new(path).extension();
            end.is_some_and(|end| all.iter().any(|name| end.eq_ignore_ascii_case(name)))
        };
        let has_rows = self.files.keys().any(|path| ends(path, &ROWS));
        let wanted: &[&str] = if has_rows { &ROWS } else { &["json"] };
        let files = self.files.keys().map(String::as_str);
        files.filter(move |path| ends(path, wanted))
    }

    /// The files with rows below a folder, relative to it.
    pub(super) fn files_below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.keys().filter_map(move |path| {
            let name = match folder {
                "" => path,
                folder => path.strip_prefix(folder)?.strip_prefix('/')?,
            };
            has_rows(name).then_some(name)
        })
    }

    /// Names of the direct subfolders of a folder.
    pub(super) fn folders<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        self.folders.iter().filter_map(move |folder| {
            let name = match path {
                "" => folder,
                path => folder.strip_prefix(path)?.strip_prefix('/')?,
            };
            (!name.contains('/')).then_some(name)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listing() -> HubListing {
        let mut listing = HubListing::default();
        for (path, item) in [
            ("README.md", json!({"type": "file", "size": 3, "oid": "ab"})),
            ("2023", json!({"type": "directory", "oid": "cd"})),
            (
                "2023/test/m.jsonl",
                json!({"type": "file", "size": 9, "oid": "ef", "lfs": {"oid": "12", "size": 9}, "xetHash": "34"}),
            ),
        ] {
            listing.add(path, &item);
        }
        listing
    }

    #[test]
    fn files_and_folders_are_distinguished() {
        let listing = listing();
        assert!(listing.has_file("2023/test/m.jsonl") && !listing.has_file("2023"));
        assert!(listing.has_folder("") && listing.has_folder("2023/test"));
        assert!(!listing.has_folder("README.md") && !listing.has_folder("20"));
        let of = |path: &str| listing.folders(path).collect::<Vec<_>>().join(" ");
        assert_eq!((&*of(""), &*of("2023"), &*of("20")), ("2023", "test", ""));
    }

    #[test]
    fn the_file_is_that_of_huggingface_hub() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trees/x.json");
        listing().write(&path).unwrap();
        let text: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let expect = json!({"format_version": 1, "files": {
            "2023/test/m.jsonl":
                {"size": 9, "blob_id": "ef", "lfs_sha256": "12", "lfs_size": 9, "xet_hash": "34"},
            "README.md": {"size": 3, "blob_id": "ab"},
        }});
        assert_eq!(text, expect);
        assert_eq!(HubListing::read(&path), Some(listing()));
        fs::write(&path, r#"{"format_version": 2, "files": {}}"#).unwrap();
        assert_eq!(HubListing::read(&path), None);
        fs::write(
            &path,
            r#"{"format_version": 1, "files": {"../x": {"size": 1, "blob_id": ""}}}"#,
        )
        .unwrap();
        assert!(HubListing::read(&path).unwrap().is_empty());
    }
}
