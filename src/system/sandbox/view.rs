//! The file system visible in a sandbox: an ordered list of mounts. Later ones cover earlier ones.

use std::fs;
use std::path::{Path, PathBuf};

/// System folders, which contain programs and no user data. The rest of `/` is hidden.
const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
];
/// Names of program folders; their parent is the whole installation.
const OF_PROGRAMS: [&str; 4] = ["bin", "sbin", "shims", "Scripts"];
/// The DNS configuration may be a link that leads out of `/etc`.
const RESOLVER: &str = "/etc/resolv.conf";

/// One step in setting up the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mount {
    /// A system link, such as from `/bin` to `usr/bin`.
    Link { target: PathBuf, at: PathBuf },
    /// A read-only file or folder.
    Read { from: PathBuf, at: PathBuf },
    /// An empty folder that covers existing content.
    HideFolder(PathBuf),
    /// An empty file that covers existing content.
    HideFile(PathBuf),
}

/// The input for the view. All paths are absolute.
pub(super) struct Wishes<'a> {
    /// The program.
    pub(super) program: &'a Path,
    /// Its arguments that may name files, as paths.
    pub(super) arguments: Vec<PathBuf>,
    /// Additional readable paths from the spec.
    pub(super) read: Vec<PathBuf>,
    /// Hidden paths: dataset, spec, snapshots, runs.
    pub(super) hidden: &'a [PathBuf],
    /// Paths of which only named parts are visible: home, the project.
    pub(super) private: Vec<PathBuf>,
}

/// The mounts, in order.
pub(super) fn mounts(wishes: &Wishes<'_>) -> Vec<Mount> {
    let mut mounts = system();
    hide(&mut mounts, &wishes.private);
    for path in named(wishes) {
        if let Ok(from) = fs::canonicalize(&path) {
            let mount = Mount::Read { from, at: path };
            if !mounts.contains(&mount) {
                mounts.push(mount);
            }
        }
    }
    hide(&mut mounts, wishes.hidden);
    mounts
}

/// The folders of the system.
pub(super) fn system() -> Vec<Mount> {
    let mut mounts = Vec::new();
    for folder in SYSTEM {
        let at = PathBuf::from(folder);
        match fs::read_link(&at) {
            Ok(target) => mounts.push(Mount::Link { target, at }),
            Err(_) if at.is_dir() => mounts.push(Mount::Read {
                from: at.clone(),
                at,
            }),
            Err(_) => {}
        }
    }
    let resolver = fs::canonicalize(RESOLVER).ok();
    if let Some(file) = resolver.filter(|file| !file.starts_with("/etc")) {
        mounts.push(Mount::Read {
            from: file.clone(),
            at: file,
        });
    }
    mounts
}

/// Additional visible paths, folders before their content.
pub(super) fn named(wishes: &Wishes<'_>) -> Vec<PathBuf> {
    let named = wishes.arguments.iter().filter(|path| path.is_file());
    let mut named: Vec<PathBuf> = named.cloned().collect();
    named.extend(installation(wishes));
    named.extend(wishes.read.iter().cloned());
    named.sort_by_key(|path| path.components().count());
    named
}

/// Paths of which only parts are visible: the user's home and the project.
pub(super) fn private() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let folders = home.into_iter().chain([crate::system::project::root()]);
    folders
        .filter_map(|folder| fs::canonicalize(folder).ok())
        .filter(|folder| folder != Path::new("/"))
        .collect()
}

/// Covers those of `paths` that are visible so far.
fn hide(mounts: &mut Vec<Mount>, paths: &[PathBuf]) {
    let mut covers = Vec::new();
    for path in paths {
        let Ok(path) = fs::canonicalize(path) else {
            continue;
        };
        let seen = mounts.iter().filter_map(|mount| match mount {
            Mount::Read { from, at } => {
                let rest = path.strip_prefix(from).ok()?;
                // Joining an empty path would append a slash.
                Some(if rest.as_os_str().is_empty() {
                    at.clone()
                } else {
                    at.join(rest)
                })
            }
            _ => None,
        });
        let is_folder = path.is_dir();
        covers.extend(seen.map(|at| {
            if is_folder {
                Mount::HideFolder(at)
            } else {
                Mount::HideFile(at)
            }
        }));
    }
    // A covered folder is empty, so nothing inside needs to be, or can be, covered.
    let folders: Vec<PathBuf> = covers.iter().filter_map(hidden_folder).cloned().collect();
    let is_covered = |mount: &Mount| match mount {
        Mount::HideFolder(at) | Mount::HideFile(at) => folders
            .iter()
            .any(|folder| at != folder && at.starts_with(folder)),
        Mount::Link { .. } | Mount::Read { .. } => false,
    };
    covers.retain(|mount| !is_covered(mount));
    mounts.extend(covers);
}

fn hidden_folder(mount: &Mount) -> Option<&PathBuf> {
    match mount {
        Mount::HideFolder(at) => Some(at),
        _ => None,
    }
}

/// The program with its installation (such as a Python environment or a Node version), unless that folder also
/// contains other things.
fn installation(wishes: &Wishes<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let real = fs::canonicalize(wishes.program).ok();
    for program in [Some(wishes.program.to_owned()), real]
        .into_iter()
        .flatten()
    {
        if SYSTEM.iter().any(|folder| program.starts_with(folder)) && !is_hidden(wishes, &program) {
            continue;
        }
        let folder = program.parent().filter(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| OF_PROGRAMS.contains(&name))
        });
        let whole = folder.and_then(Path::parent).filter(|whole| {
            let holds = |path: &PathBuf| path.starts_with(whole);
            *whole != Path::new("/")
                && !wishes.private.iter().any(holds)
                && !wishes.hidden.iter().any(holds)
        });
        found.push(whole.map_or(program.clone(), Path::to_owned));
    }
    found
}

fn is_hidden(wishes: &Wishes<'_>, program: &Path) -> bool {
    wishes
        .private
        .iter()
        .any(|private| program.starts_with(private))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new(files: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for file in files {
                let path = folder.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            Self(folder)
        }

        fn at(&self, path: &str) -> PathBuf {
            fs::canonicalize(self.0.path()).unwrap().join(path)
        }
    }

    fn of<'a>(program: &'a Path, hidden: &'a [PathBuf]) -> Wishes<'a> {
        Wishes {
            program,
            arguments: Vec::new(),
            read: Vec::new(),
            hidden,
            private: Vec::new(),
        }
    }

    fn reads(mounts: &[Mount]) -> Vec<&Path> {
        let own = mounts.iter().filter_map(|mount| match mount {
            Mount::Read { at, .. } if !at.starts_with("/usr") => Some(at.as_path()),
            _ => None,
        });
        own.filter(|at| !SYSTEM.iter().any(|folder| *at == Path::new(folder)))
            .filter(|at| !at.starts_with("/run") && !at.starts_with("/mnt"))
            .collect()
    }

    #[test]
    fn an_argument_that_names_a_file_is_seen_and_a_folder_is_not() {
        let place = Place::new(&["evals/agent.py", "evals/data/answers.jsonl"]);
        let mut wishes = of(Path::new("/usr/bin/env"), &[]);
        wishes.arguments = vec![place.at("evals/agent.py"), place.at("evals/data")];
        assert_eq!(reads(&mounts(&wishes)), [place.at("evals/agent.py")]);
    }

    #[test]
    fn what_lies_in_a_hidden_folder_is_not_hidden_once_more() {
        let place = Place::new(&["evals/data/2023/q.jsonl", "evals/x"]);
        let hidden = [
            place.at("evals/data/2023"),
            place.at("evals/data"),
            place.at("evals/data/2023/q.jsonl"),
        ];
        let mut wishes = of(Path::new("/usr/bin/env"), &hidden);
        wishes.read = vec![place.at("evals"), place.at("evals/data/2023")];
        let mut mounts = mounts(&wishes);
        mounts.retain(|mount| matches!(mount, Mount::HideFolder(_) | Mount::HideFile(_)));
        assert_eq!(mounts, [Mount::HideFolder(place.at("evals/data"))]);
    }

    #[test]
    fn what_is_hidden_stays_hidden_in_what_may_be_read() {
        let place = Place::new(&["evals/agent.py", "evals/q.jsonl", "evals/snapshots/a.snap"]);
        let hidden = [
            place.at("evals/q.jsonl"),
            place.at("evals/snapshots"),
            place.at("gone"),
        ];
        let mut wishes = of(Path::new("/usr/bin/env"), &hidden);
        wishes.read = vec![place.at("evals")];
        let mounts = mounts(&wishes);
        let place_of = |mount: &Mount| mounts.iter().position(|one| one == mount);
        let evals = Mount::Read {
            from: place.at("evals"),
            at: place.at("evals"),
        };
        let file = place_of(&Mount::HideFile(place.at("evals/q.jsonl")));
        let folder = place_of(&Mount::HideFolder(place.at("evals/snapshots")));
        assert!(place_of(&evals) < file && file.is_some());
        assert!(place_of(&evals) < folder && folder.is_some());
    }

    #[test]
    fn an_argument_does_not_uncover_what_is_hidden() {
        let place = Place::new(&["q.jsonl"]);
        let hidden = [place.at("q.jsonl")];
        let mut wishes = of(Path::new("/usr/bin/env"), &hidden);
        wishes.arguments = vec![place.at("q.jsonl")];
        let mounts = mounts(&wishes);
        assert_eq!(mounts.last(), Some(&Mount::HideFile(place.at("q.jsonl"))));
    }

    #[test]
    fn a_hidden_file_is_hidden_under_every_name_it_has() {
        let place = Place::new(&["data/q.jsonl"]);
        std::os::unix::fs::symlink(place.at("data"), place.at("link")).unwrap();
        let hidden = [place.at("link/q.jsonl")];
        let mut wishes = of(Path::new("/usr/bin/env"), &hidden);
        wishes.read = vec![place.at("data"), place.at("link")];
        let mounts = mounts(&wishes);
        assert!(mounts.contains(&Mount::HideFile(place.at("data/q.jsonl"))));
        assert!(mounts.contains(&Mount::HideFile(place.at("link/q.jsonl"))));
    }

    #[test]
    fn a_program_comes_with_its_installation_but_not_with_home() {
        let place = Place::new(&["home/tools/venv/bin/python", "home/bin/agent"]);
        let python = place.at("home/tools/venv/bin/python");
        let mut wishes = of(&python, &[]);
        wishes.private = vec![place.at("home")];
        assert_eq!(reads(&mounts(&wishes)), [place.at("home/tools/venv")]);
        let agent = place.at("home/bin/agent");
        let mut wishes = of(&agent, &[]);
        wishes.private = vec![place.at("home")];
        assert_eq!(reads(&mounts(&wishes)), [place.at("home/bin/agent")]);
    }
}
