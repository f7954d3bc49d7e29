//! A temporary folder that is removed after use. Its name has the process id, so that the watchdog finds it if the
//! program is killed, and a random part.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::{Builder, TempDir};

/// The folder, created exclusively and removed on drop.
#[derive(Debug)]
pub(crate) struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    pub(crate) fn new() -> io::Result<Self> {
        let prefix = format!("evaltest-{}-", std::process::id());
        // A sandbox may use another user, who needs access.
        let open = Permissions::from_mode(0o755);
        let mut folder = Builder::new();
        Ok(Self(folder.prefix(&prefix).permissions(open).tempdir()?))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_there_under_the_next_name_is_in_nobodys_way() {
        let prefix = format!("evaltest-{}-", std::process::id());
        let stale: Vec<_> = (0..64)
            .map(|number| std::env::temp_dir().join(format!("{prefix}{number}")))
            .filter(|path| std::fs::create_dir(path).is_ok())
            .collect();
        let made = TemporaryFolder::new();
        for path in stale {
            std::fs::remove_dir(path).unwrap();
        }
        let made = made.unwrap();
        let name = made.path().file_name().unwrap().to_str().unwrap();
        // The prefix that the watchdog looks for.
        assert!(name.starts_with(&prefix), "{name}");
        let path = made.path().to_owned();
        assert!(path.is_dir());
        drop(made);
        assert!(!path.exists());
    }
}
