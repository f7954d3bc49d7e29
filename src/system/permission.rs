//! Permissions of folders and files.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// Creates a folder that only its owner may enter.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

/// Creates a folder that everyone may enter.
pub(crate) fn make_open_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// Makes a file readable by everyone and writable by its owner.
pub(crate) fn let_all_read(file: &Path) -> io::Result<()> {
    fs::set_permissions(file, Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_do_not_hang_on_the_umask() {
        let outer = tempfile::tempdir().unwrap();
        let check = |name: &str, expect: u32, make: fn(&Path) -> io::Result<()>| {
            let path = outer.path().join(name);
            make(&path).unwrap();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, expect, "{name}");
        };
        check("private", 0o700, make_private_folder);
        check("open", 0o755, make_open_folder);
        check("file", 0o644, |path| {
            fs::write(path, "")?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            let_all_read(path)
        });
    }
}
