//! The Landlock rules of a program: readable trees, writable folders, ports.
//!
//! Landlock rules only allow and cannot exclude. For a tree with hidden content its other entries are allowed one by
//! one, and the folders on the path to it cannot be listed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use walkdir::WalkDir;

use super::super::fence::{HIDDEN, OFFLINE, PORT, PRIVATE, READ, SYSTEM, WRITE};
use super::filter::Sockets;
use super::wrong;

/// Linux 6.12: the first version that restricts signals and abstract sockets.
const VERSION: ABI = ABI::V6;
/// Devices without state.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// Root may read files in it that others may not.
const SETTINGS: &str = "/etc";

/// What is allowed, with exceptions.
#[derive(Default)]
pub(super) struct FenceRules {
    system: Vec<PathBuf>,
    private: Vec<PathBuf>,
    read: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    write: Vec<PathBuf>,
    offline: bool,
    ports: Vec<u16>,
}

impl FenceRules {
    pub(super) fn read(args: &[OsString]) -> io::Result<Self> {
        let mut rules = Self::default();
        let mut args = args.iter();
        while let Some(word) = args.next() {
            if word == OFFLINE {
                rules.offline = true;
                continue;
            }
            let value = args.next().ok_or_else(|| wrong("no value"))?;
            let paths = match word.to_str() {
                Some(SYSTEM) => &mut rules.system,
                Some(PRIVATE) => &mut rules.private,
                Some(READ) => &mut rules.read,
                Some(HIDDEN) => &mut rules.hidden,
                Some(WRITE) => &mut rules.write,
                Some(PORT) => {
                    let port = value.to_str().and_then(|port| port.parse().ok());
                    rules.ports.push(port.ok_or_else(|| wrong("no port"))?);
                    continue;
                }
                _ => return Err(wrong("an argument of another version")),
            };
            paths.push(PathBuf::from(value));
        }
        Ok(rules)
    }

    pub(super) fn sockets(&self) -> Sockets {
        match (self.offline, self.ports.is_empty()) {
            (false, _) => Sockets::Network,
            (true, false) => Sockets::Tcp,
            (true, true) => Sockets::None,
        }
    }

    /// Confines this process and its descendants.
    pub(super) fn restrict(self) -> io::Result<()> {
        self.try_restrict().map_err(|error| {
            io::Error::other(format!(
                "Landlock cannot confine it; that needs Linux 6.12 or newer with Landlock enabled: {error}"
            ))
        })
    }

    fn try_restrict(self) -> Result<(), RulesetError> {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(VERSION))?
            .scope(Scope::from_all(VERSION))?;
        if self.offline {
            ruleset = ruleset.handle_access(AccessNet::from_all(VERSION))?;
        }
        let mut fence = Fence(ruleset.create()?);
        let hidden = located(&self.hidden);
        let mut private = located(&self.private);
        private.extend(hidden.iter().cloned());
        if rustix::process::geteuid().is_root() {
            private.extend(unreadable(Path::new(SETTINGS)));
        }
        for tree in located(&self.system) {
            fence.open(&tree, &private)?;
        }
        for tree in located(&self.read) {
            fence.open(&tree, &hidden)?;
        }
        for device in DEVICES {
            let rights = AccessFs::ReadFile | AccessFs::WriteFile;
            fence.allow(Path::new(device), rights)?;
        }
        // Only public information on other processes: their memory, environment and files stay protected.
        fence.allow(Path::new("/proc"), AccessFs::from_read(VERSION))?;
        // A device file would give access to the disk.
        let special = AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev;
        for folder in &self.write {
            fence.allow(folder, AccessFs::from_all(VERSION) & !special)?;
        }
        for port in self.ports {
            fence.0 = fence
                .0
                .add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
        }
        fence.0.restrict_self().map(drop)
    }
}

struct Fence(RulesetCreated);

impl Fence {
    /// Allows reading and executing in a tree, except `without`.
    fn open(&mut self, path: &Path, without: &[PathBuf]) -> Result<(), RulesetError> {
        if without.iter().any(|hidden| path.starts_with(hidden)) {
            return Ok(());
        }
        if !without.iter().any(|hidden| hidden.starts_with(path)) {
            return self.allow(path, AccessFs::from_read(VERSION));
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries {
            // The target of a link may have other rules.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.open(&entry.path(), without)?;
            }
        }
        Ok(())
    }

    /// Allows access to a file or a tree, if it exists.
    fn allow(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), RulesetError> {
        let Ok(place) = PathFd::new(path) else {
            return Ok(());
        };
        let rights = if path.is_dir() {
            rights
        } else {
            rights & AccessFs::from_file(VERSION)
        };
        (&mut self.0)
            .add_rule(PathBeneath::new(place, rights))
            .map(drop)
    }
}

/// Resolves paths. For a missing path, resolves its closest existing parent, because it may be created later.
fn located(paths: &[PathBuf]) -> Vec<PathBuf> {
    let locate = |path: &PathBuf| {
        let known = path.ancestors().find_map(|above| {
            let rest = path.strip_prefix(above).ok()?;
            let above = fs::canonicalize(above).ok()?;
            // Joining an empty path would append a slash, which is invalid for files.
            Some(if rest.as_os_str().is_empty() {
                above
            } else {
                above.join(rest)
            })
        });
        known.unwrap_or_else(|| path.clone())
    };
    paths.iter().map(locate).collect()
}

/// Entries of a folder that only their owner may read.
fn unreadable(folder: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::PermissionsExt;

    let entries = WalkDir::new(folder).into_iter().flatten();
    let closed = entries.filter(|entry| {
        !entry.path_is_symlink()
            && entry
                .metadata()
                .is_ok_and(|data| data.permissions().mode() & 0o004 == 0)
    });
    closed.map(walkdir::DirEntry::into_path).collect()
}
