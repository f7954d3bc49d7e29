//! Where the metadata of a split is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dataset::quoted;
use crate::error::{Error, Result};

/// The folder of the published dataset's only edition.
const YEAR: &str = "2023";
const DEFAULT_SPLIT: &str = "validation";
/// In this order. The JSONL form wins over parquet, so that the same folder is read the same way
/// whichever cargo features are on.
const EXTENSIONS: [&str; 3] = ["jsonl", "parquet", "csv"];

/// A metadata file with the folders that attachments are found in.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The file of rows.
    pub(super) metadata: PathBuf,
    /// The dataset's folder, which no attachment may leave.
    pub(super) root: PathBuf,
    /// The metadata's folder, relative to `root`.
    pub(super) beside: PathBuf,
    /// What people should know about the choice.
    pub(super) notices: Vec<String>,
}

/// Finds the metadata of a split in a dataset's folder, or takes the file that `path` is.
pub(super) fn locate(path: &Path, split: Option<&str>) -> Result<Source> {
    if !path.is_dir() {
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let root = parent.unwrap_or(Path::new(".")).to_owned();
        return Ok(source(path.to_owned(), root, PathBuf::new(), split));
    }
    let name = split.unwrap_or(DEFAULT_SPLIT);
    let splits = splits(path);
    let mut folders = vec![Path::new(YEAR).join(name), PathBuf::from(name)];
    // The metadata of a folder of splits is that of no split in particular.
    if split.is_none() || splits.is_empty() {
        folders.push(PathBuf::new());
    }
    for folder in &folders {
        if let Some(metadata) = metadata(&path.join(folder)) {
            let unused = split.filter(|_| folder.as_os_str().is_empty());
            return Ok(source(metadata, path.to_owned(), folder.clone(), unused));
        }
    }
    let pattern = format!("metadata.{{{}}}", EXTENSIONS.join(","));
    let looked_for: Vec<String> = folders
        .iter()
        .map(|folder| folder.join(&pattern).display().to_string())
        .collect();
    let found = if splits.is_empty() {
        "no split is there".to_owned()
    } else {
        format!(
            "splits found: {}",
            quoted(splits.iter().map(String::as_str))
        )
    };
    let error = Error::usage(format!(
        "`{}`: no metadata of split `{name}`: looked for {}; {found}",
        path.display(),
        quoted(looked_for.iter().map(String::as_str)),
    ));
    Err(match splits.first() {
        Some(first) => error.hint(format!("name a split that is there: `split: {first}`")),
        None => error.hint("give the folder that has `2023` in it, or the metadata file itself"),
    })
}

fn source(metadata: PathBuf, root: PathBuf, beside: PathBuf, unused: Option<&str>) -> Source {
    let mut notices = Vec::new();
    let folder = metadata.parent().and_then(Path::file_name);
    if let Some(split) = unused.filter(|split| folder != Some(split.as_ref())) {
        notices.push(format!(
            "`{}` is the metadata of one split; that `{split}` was asked for is ignored",
            metadata.display()
        ));
    }
    if leaves(&metadata, &root) {
        notices.push(format!(
            "`{}` is a symbolic link out of its folder, as in a download cache; attachments that are \
             such links too are refused: use `hf download … --local-dir DIR`",
            metadata.display()
        ));
    }
    Source {
        metadata,
        root,
        beside,
        notices,
    }
}

/// Everything below a dataset's folder that holds its metadata, and a file that is it.
pub(super) fn holders(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let files = EXTENSIONS.map(|extension| path.join("metadata").with_extension(extension));
    let splits = splits(path);
    let splits = splits.iter().map(|split| path.join(split));
    files
        .into_iter()
        .chain([path.join(YEAR)])
        .chain(splits)
        .collect()
}

fn metadata(folder: &Path) -> Option<PathBuf> {
    EXTENSIONS
        .iter()
        .map(|extension| folder.join("metadata").with_extension(extension))
        .find(|path| path.is_file())
}

/// The names of the folders that have metadata in them.
fn splits(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = [path.join(YEAR), path.to_owned()]
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .filter(|entry| metadata(&entry.path()).is_some())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn leaves(path: &Path, root: &Path) -> bool {
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(path), Ok(root)) => !path.starts_with(root),
        _ => false,
    }
}
