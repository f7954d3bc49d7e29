//! Removes files and folders that are known to be ours.
//!
//! The caller identifies them by name and type. Everything else stays, including folders with other content. Links are
//! neither followed nor removed. [`std::fs::remove_dir_all`] is only used for folders that this process created
//! exclusively.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// Whether the entry at this relative path is ours. A folder of ours is only removed if it is empty.
pub(crate) type IsOurs<'a> = dyn Fn(&Path, FileType) -> bool + 'a;

/// Removes our files in a folder, then the folder itself if it is empty. Returns whether the folder is gone.
///
/// # Errors
/// If one of our files cannot be removed.
pub(crate) fn ours_in(folder: &Path, is_ours: &IsOurs<'_>) -> io::Result<bool> {
    for entry in entries(folder).flatten() {
        if !is_entry_ours(folder, &entry, is_ours) {
            continue;
        }
        if entry.file_type().is_dir() {
            // Fails if the folder is not empty.
            let _ = fs::remove_dir(entry.path());
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(is_folder(folder) && fs::remove_dir(folder).is_ok())
}

/// Removes a folder if everything in it is ours; otherwise changes nothing. Returns whether the folder is gone.
pub(crate) fn if_all_ours(folder: &Path, is_ours: &IsOurs<'_>) -> bool {
    let mut all = entries(folder);
    all.all(|entry| entry.is_ok_and(|entry| is_entry_ours(folder, &entry, is_ours)))
        && ours_in(folder, is_ours).unwrap_or(false)
}

/// Whether a path is a folder rather than a link to one.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// Creates a new folder, `name` or `name~2` and so on, in `parent`, which is created if necessary.
pub(crate) fn make_new_folder(parent: &Path, name: &str) -> io::Result<PathBuf> {
    let mut path = parent.join(name);
    let mut number = 1_u32;
    loop {
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                number += 1;
                path = parent.join(format!("{name}~{number}"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(parent)?,
            made => return made.map(|()| path),
        }
    }
}

fn is_entry_ours(folder: &Path, entry: &DirEntry, is_ours: &IsOurs<'_>) -> bool {
    let kind = entry.file_type();
    let path = entry.path().strip_prefix(folder);
    (kind.is_dir() || kind.is_file()) && path.is_ok_and(|path| is_ours(path, kind))
}

/// The content of a folder, each folder after its content; empty if it is a link.
fn entries(folder: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    // The walk would follow a link at its root.
    let depth = if is_folder(folder) { usize::MAX } else { 0 };
    let walk = WalkDir::new(folder).max_depth(depth).contents_first(true);
    walk.into_iter()
        .filter(|entry| entry.as_ref().map_or(true, |entry| entry.depth() > 0))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn is_ours(path: &Path, kind: FileType) -> bool {
        path == "ours" && kind.is_file() || path == "folder" && kind.is_dir()
    }

    fn make(names: &[&str]) -> tempfile::TempDir {
        let outer = tempfile::tempdir().unwrap();
        for name in names {
            let path = outer.path().join("old").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match name.strip_suffix('/') {
                Some(_) => fs::create_dir_all(path).unwrap(),
                None => fs::write(path, "text").unwrap(),
            }
        }
        outer
    }

    #[test]
    fn only_what_is_ours_goes() {
        let check = |names: &[&str], remaining: &[&str], all: bool| {
            let outer = make(names);
            let old = outer.path().join("old");
            assert_eq!(if_all_ours(&old, &is_ours), all, "{names:?}");
            let outer = make(names);
            let old = outer.path().join("old");
            let gone = ours_in(&old, &is_ours).unwrap();
            assert_eq!(gone, remaining.is_empty(), "{names:?}");
            let remaining_names = entries(&old).flatten().map(DirEntry::into_path);
            let mut remaining_names: Vec<_> = remaining_names
                .map(|path| path.strip_prefix(&old).unwrap().to_owned())
                .collect();
            remaining_names.sort();
            assert_eq!(
                remaining_names,
                remaining.iter().map(PathBuf::from).collect::<Vec<_>>()
            );
        };
        check(&["ours", "folder/"], &[], true);
        check(&["ours", "folder/x"], &["folder", "folder/x"], false);
        check(&["ours", "theirs"], &["theirs"], false);
        check(&["ours/"], &["ours"], false);
        check(&["theirs/"], &["theirs"], false);
        check(&["folder/ours"], &["folder", "folder/ours"], false);
    }

    #[test]
    fn no_link_is_followed_or_removed() {
        let outer = make(&["ours"]);
        let old = outer.path().join("old");
        let link = outer.path().join("link");
        symlink(&old, &link).unwrap();
        assert!(!ours_in(&link, &is_ours).unwrap() && !if_all_ours(&link, &is_ours));
        fs::rename(old.join("ours"), outer.path().join("elsewhere")).unwrap();
        symlink(outer.path().join("elsewhere"), old.join("ours")).unwrap();
        symlink(outer.path(), old.join("folder")).unwrap();
        assert!(!ours_in(&old, &is_ours).unwrap() && !if_all_ours(&old, &is_ours));
        assert_eq!(fs::read_dir(&old).unwrap().count(), 2);
        assert!(outer.path().join("elsewhere").is_file());
    }

    #[test]
    fn a_new_folder_has_a_name_that_nobody_had() {
        let outer = tempfile::tempdir().unwrap();
        let parent = outer.path().join("scratch");
        let names = ["a.1", "a.1~2", "a.1~3"];
        for name in names {
            assert_eq!(make_new_folder(&parent, "a.1").unwrap(), parent.join(name));
        }
        fs::write(parent.join("file"), "").unwrap();
        assert!(make_new_folder(&parent.join("file"), "a").is_err());
    }
}
