//! Locates the metadata of a split.

use std::fs;
use std::path::{Path, PathBuf};

use crate::data::dataset::parts;
use crate::data::hub::Dataset;
use crate::data::hub::holds;
use crate::error::{Error, Result};
use crate::text::quoted;

/// The folder of the published dataset's only edition.
const YEAR: &str = "2023";
const DEFAULT_SPLIT: &str = "validation";
/// In order of precedence. JSONL precedes parquet, so that a folder is read the same way with any cargo features.
const EXTENSIONS: [&str; 3] = ["jsonl", "parquet", "csv"];

/// The known files: local ones, or those of a Hub dataset, downloaded or not.
#[derive(Clone, Debug)]
pub(super) struct KnownFiles(pub(super) Option<Dataset>);

impl KnownFiles {
    fn is_file(&self, path: &Path) -> Result<bool> {
        self.0
            .as_ref()
            .map_or_else(|| Ok(path.is_file()), |hub| hub.is_file(path))
    }

    fn is_folder(&self, path: &Path) -> Result<bool> {
        self.0
            .as_ref()
            .map_or_else(|| Ok(path.is_dir()), |hub| hub.is_folder(path))
    }

    /// The names of the folders in a folder.
    fn folders(&self, path: &Path) -> Result<Vec<String>> {
        if let Some(hub) = &self.0 {
            return hub.folders(path);
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        Ok(entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect())
    }

    /// The metadata in a folder.
    fn metadata(&self, folder: &Path) -> Result<Option<PathBuf>> {
        for extension in EXTENSIONS {
            let path = folder.join("metadata").with_extension(extension);
            if self.is_file(&path)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Names of the subfolders with metadata.
    fn splits(&self, path: &Path) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for folder in [path.join(YEAR), path.to_owned()] {
            for name in self.folders(&folder)? {
                if self.metadata(&folder.join(&name))?.is_some() {
                    names.push(name);
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

/// A metadata file and the folders of its attachments.
#[derive(Clone, Debug)]
pub(super) struct MetadataFile {
    /// The file of rows.
    pub(super) metadata: PathBuf,
    /// The dataset's folder; attachments must be inside it.
    pub(super) root: PathBuf,
    /// The metadata's folder, relative to `root`.
    pub(super) metadata_dir: PathBuf,
    /// Notes for the user about the choice.
    pub(super) notices: Vec<String>,
    files: KnownFiles,
}

impl MetadataFile {
    /// Whether the dataset has a file or folder at this path.
    pub(super) fn has(&self, path: &Path) -> bool {
        let path = self.root.join(path);
        match self.files.0 {
            // The file list is known since the metadata was found.
            Some(_) => matches!(self.files.is_file(&path), Ok(true)),
            None => path.exists(),
        }
    }
}

/// Finds the metadata of a split in a dataset's folder, or takes the file that `path` is.
pub(super) fn locate(path: &Path, split: Option<&str>, files: &KnownFiles) -> Result<MetadataFile> {
    let source = |metadata: PathBuf, root, metadata_dir, unused| {
        if let Some(hub) = &files.0 {
            hub.fetch(std::slice::from_ref(&metadata))?;
        }
        Ok(MetadataFile {
            notices: notices(&metadata, root, unused),
            root: root.to_owned(),
            metadata,
            metadata_dir,
            files: files.clone(),
        })
    };
    if !files.is_folder(path)? {
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let root = parent.unwrap_or(Path::new("."));
        return source(path.to_owned(), root, PathBuf::new(), split);
    }
    let name = split.unwrap_or(DEFAULT_SPLIT);
    let splits = files.splits(path)?;
    let mut folders = vec![Path::new(YEAR).join(name), PathBuf::from(name)];
    // Metadata next to folders of splits belongs to no split.
    if split.is_none() || splits.is_empty() {
        folders.push(PathBuf::new());
    }
    for folder in &folders {
        if let Some(metadata) = files.metadata(&path.join(folder))? {
            let unused = split.filter(|_| folder.as_os_str().is_empty());
            return source(metadata, path, folder.clone(), unused);
        }
    }
    let pattern = format!("metadata.{{{}}}", EXTENSIONS.join(","));
    let looked_for: Vec<String> = folders
        .iter()
        .map(|folder| folder.join(&pattern).display().to_string())
        .collect();
    let found = if splits.is_empty() {
        "no split found".to_owned()
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
        Some(first) => error.hint(format!("name an existing split: `split: {first}`")),
        None => error.hint("give the folder that has `2023` in it, or the metadata file itself"),
    })
}

/// Notes for the user about a choice.
fn notices(metadata: &Path, root: &Path, unused: Option<&str>) -> Vec<String> {
    let name = metadata.to_string_lossy();
    let mut notices: Vec<_> = parts::note(&name, []).into_iter().collect();
    let folder = metadata.parent().and_then(Path::file_name);
    if let Some(split) = unused.filter(|split| folder != Some(split.as_ref())) {
        notices.push(format!(
            "`{}` is the metadata of one split; `split: {split}` is ignored",
            metadata.display()
        ));
    }
    if leaves(metadata, root) {
        notices.push(format!(
            "`{}` is a symbolic link out of its folder, as in a copy of a download cache; attachments that are such \
             links too are refused: copy it with `cp -rL`",
            metadata.display()
        ));
    }
    notices
}

/// Everything below a dataset's folder that contains metadata, or the file itself.
pub(super) fn holders(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let files = EXTENSIONS.map(|extension| path.join("metadata").with_extension(extension));
    let splits = KnownFiles(None).splits(path).unwrap_or_default();
    let splits = splits.iter().map(|split| path.join(split));
    files
        .into_iter()
        .chain([path.join(YEAR)])
        .chain(splits)
        .collect()
}

fn leaves(path: &Path, root: &Path) -> bool {
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(path), Ok(root)) => !holds(&root, &path),
        _ => false,
    }
}
