//! Makes an [`Attachment`] readable for the agent: finds it inside the dataset's folder, then copies it for one
//! attempt.
//!
//! Nothing is checked while a dataset is loaded, so that a missing or forbidden file fails only its own sample.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::data::hub::holds;
use crate::data::{AgentError, Attachment, FailureKind, TaskFile};
use crate::system::file::is_inside;

impl Attachment {
    /// The file itself with symbolic links resolved: a regular file inside `root`.
    ///
    /// Absolute paths, `..` and links that leave `root` are errors, except links from a snapshot of the Hub's cache to
    /// its blobs. Every error has kind [`FailureKind::Attachment`] and names the path.
    pub fn resolve(&self) -> Result<PathBuf, AgentError> {
        if !is_inside(&self.path) {
            return Err(self.error(
                &self.path,
                "only a relative path without `..` is allowed in a dataset",
            ));
        }
        let wanted = self.root.join(&self.path);
        let root = self
            .root
            .canonicalize()
            .map_err(|error| self.error(&self.root, &reason(&error)))?;
        let found = wanted
            .canonicalize()
            .map_err(|error| self.error(&wanted, &reason(&error)))?;
        if !holds(&root, &found) {
            return Err(self.error(
                &wanted,
                "it is a symbolic link that leaves the dataset's folder",
            ));
        }
        // A folder cannot be copied, and a pipe would block forever.
        if !found.is_file() {
            return Err(self.error(&wanted, "it is not a regular file"));
        }
        Ok(found)
    }

    /// Copies the file into `folder` for one attempt.
    ///
    /// The copy's name is the last component of the attachment's name without control characters. A number is added if
    /// it exists: `data.csv`, `data-2.csv`. Nothing is ever overwritten. A full disk has kind
    /// [`FailureKind::NotStarted`], because it is not the sample's fault.
    pub(crate) fn copy_into(&self, folder: &Path) -> Result<TaskFile, AgentError> {
        let source = self.resolve()?;
        let mut from = File::open(&source).map_err(|error| self.error(&source, &reason(&error)))?;
        let folder = std::path::absolute(folder)
            .map_err(|error| self.error(folder, &format!("cannot copy it there: {error}")))?;
        let wanted = safe_name(&self.name);
        for number in 1_u32.. {
            let name = numbered(&wanted, number);
            let path = folder.join(&name);
            let copied = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut to) => io::copy(&mut from, &mut to),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => Err(error),
            };
            return match copied {
                Ok(_) => Ok(TaskFile { name, path }),
                Err(error) => {
                    let full = matches!(
                        error.kind(),
                        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
                    );
                    let mut error = self.error(&path, &format!("cannot copy it there: {error}"));
                    if full {
                        error.kind = FailureKind::NotStarted;
                    }
                    Err(error)
                }
            };
        }
        Err(self.error(&folder.join(wanted), "the name is taken"))
    }

    /// The error that explains why the file is not given to an agent.
    pub(crate) fn error(&self, looked_for: &Path, reason: &str) -> AgentError {
        AgentError::of(
            FailureKind::Attachment,
            format!(
                "attachment `{}`: looked for `{}`: {reason}",
                self.name.escape_debug(),
                looked_for.display().to_string().escape_debug(),
            ),
        )
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    }
}

/// The last path component, with either separator. The name is part of the prompt, so it must be on one line.
fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last
        .chars()
        .map(|c| if c.is_control() { '_' } else { c })
        .collect();
    match clean.trim() {
        "" | "." | ".." => "attachment".to_owned(),
        clean => clean.to_owned(),
    }
}

fn numbered(name: &str, number: u32) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rfind('.') {
        Some(dot) if dot > 0 => format!("{}-{number}{}", &name[..dot], &name[dot..]),
        _ => format!("{name}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// A folder `data` with `a.txt` and `sub/b.txt` in it, and `secret.txt` beside it.
    fn dataset() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("data/sub")).unwrap();
        fs::write(folder.path().join("data/a.txt"), "a").unwrap();
        fs::write(folder.path().join("data/sub/b.txt"), "b").unwrap();
        fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        folder
    }

    fn attachment(folder: &TempDir, name: &str, path: impl Into<PathBuf>) -> Attachment {
        Attachment {
            name: name.to_owned(),
            path: path.into(),
            root: folder.path().join("data"),
        }
    }

    #[track_caller]
    fn check_refused(folder: &TempDir, path: impl Into<PathBuf>, expect: &str) {
        let attachment = attachment(folder, "x.txt", path);
        let error = attachment.resolve().unwrap_err();
        assert_eq!(error.kind, FailureKind::Attachment);
        assert!(error.message.contains(expect), "{error:?}");
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(attachment.copy_into(scratch.path()), Err(error));
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn finds_a_file_in_the_folder() {
        let folder = dataset();
        for path in ["a.txt", "./a.txt", "sub/b.txt"] {
            let found = attachment(&folder, "a.txt", path).resolve().unwrap();
            assert!(found.is_absolute() && found.is_file(), "{path}");
        }
    }

    #[test]
    fn names_the_path_it_looked_for() {
        let folder = dataset();
        let wanted = folder.path().join("data/none.csv");
        let expect = format!("looked for `{}`: there is no such file", wanted.display());
        check_refused(&folder, "none.csv", &expect);
        check_refused(&folder, "sub", "not a regular file");
        check_refused(&folder, "", "not a regular file");
    }

    #[test]
    fn refuses_what_leaves_the_folder() {
        let folder = dataset();
        check_refused(&folder, "../secret.txt", "`../secret.txt`: only a relative");
        check_refused(&folder, "sub/../a.txt", "only a relative path");
        let absolute = folder.path().join("data/a.txt");
        check_refused(&folder, absolute, "only a relative path");
    }

    #[cfg(unix)]
    #[test]
    fn follows_links_inside_the_folder_only() {
        use std::os::unix::fs::symlink;

        let folder = dataset();
        let data = folder.path().join("data");
        symlink(folder.path().join("secret.txt"), data.join("link.txt")).unwrap();
        symlink(folder.path(), data.join("up")).unwrap();
        symlink("a.txt", data.join("good.txt")).unwrap();
        symlink("loop", data.join("loop")).unwrap();
        check_refused(&folder, "link.txt", "a symbolic link that leaves");
        check_refused(&folder, "up/secret.txt", "a symbolic link that leaves");
        check_refused(&folder, "loop", "looked for");
        let good = attachment(&folder, "good.txt", "good.txt");
        assert_eq!(fs::read(good.resolve().unwrap()).unwrap(), b"a");
    }

    #[cfg(unix)]
    #[test]
    fn follows_links_of_a_download_cache_to_its_blobs_only() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("datasets--a--b");
        let (commit, checksum) = ("0a".repeat(20), "1b".repeat(20));
        let root = cache.join("snapshots").join(&commit);
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::create_dir_all(cache.join("blobs")).unwrap();
        fs::create_dir_all(folder.path().join("elsewhere")).unwrap();
        fs::write(cache.join("blobs").join(&checksum), "b").unwrap();
        fs::write(folder.path().join("elsewhere").join(&checksum), "secret").unwrap();
        let to = |place: &str| Path::new("../../../..").join(place).join(&checksum);
        symlink(to("datasets--a--b/blobs"), root.join("sub/good.txt")).unwrap();
        symlink(to("elsewhere"), root.join("sub/bad.txt")).unwrap();
        let attachment = |path: &str| Attachment {
            name: "x".to_owned(),
            path: path.into(),
            root: root.clone(),
        };
        let good = attachment("sub/good.txt").resolve().unwrap();
        assert_eq!(fs::read(good).unwrap(), b"b");
        let error = attachment("sub/bad.txt").resolve().unwrap_err();
        assert!(
            error.message.contains("a symbolic link that leaves"),
            "{error:?}"
        );
        // Blobs elsewhere are rejected as well.
        fs::remove_dir_all(cache.join("blobs")).unwrap();
        symlink("../elsewhere", cache.join("blobs")).unwrap();
        let error = attachment("sub/good.txt").resolve().unwrap_err();
        assert!(
            error.message.contains("a symbolic link that leaves"),
            "{error:?}"
        );
    }

    #[test]
    fn copies_under_a_safe_name_and_never_overwrites() {
        let folder = dataset();
        let scratch = tempfile::tempdir().unwrap();
        let copy = |name: &str, path: &str| {
            let file = attachment(&folder, name, path)
                .copy_into(scratch.path())
                .unwrap();
            assert!(file.path.is_absolute());
            assert_eq!(file.path, scratch.path().join(&file.name));
            (file.name, fs::read_to_string(file.path).unwrap())
        };
        let expect = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(copy("a.txt", "a.txt"), expect("a.txt", "a"));
        assert_eq!(copy("a.txt", "sub/b.txt"), expect("a-2.txt", "b"));
        assert_eq!(copy("x/y/a.txt", "a.txt"), expect("a-3.txt", "a"));
        assert_eq!(copy("../../evil.sh", "a.txt"), expect("evil.sh", "a"));
        assert_eq!(copy("..", "a.txt"), expect("attachment", "a"));
        assert_eq!(copy("c:\\d\\e", "a.txt"), expect("e", "a"));
        assert_eq!(copy("e", "a.txt"), expect("e-2", "a"));
        assert_eq!(copy(".env", "a.txt"), expect(".env", "a"));
        assert_eq!(copy(".env", "a.txt"), expect(".env-2", "a"));
        assert_eq!(copy("two\nlines", "a.txt"), expect("two_lines", "a"));
        assert_eq!(copy("Zürich 日本.csv", "a.txt").0, "Zürich 日本.csv");
    }
}
