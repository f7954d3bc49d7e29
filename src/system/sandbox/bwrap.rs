//! Builds arguments of `bwrap`, and checks whether it works.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::landlock::text;
use super::view::{self, Mount, Wishes};
use super::{Inmate, Network, PROCESSES, Sandbox, Ulimits, launcher, relay};
use crate::error::{Error, Result};
use crate::system::file::TemporaryFolder;
use crate::system::lock;

/// Name of the bubblewrap program.
const BWRAP: &str = "bwrap";
/// Mount point of the relay program and its sockets.
const RELAY: &str = "/run/evaltest";
/// First user id and number of ids for agents if root runs them. They are in the range that containers map and
/// otherwise unused, because limits on processes count per user id.
const FIRST_UID: u32 = 61_184;
const UIDS: u32 = 4_000;
/// Our folder only contains folders.
const EMPTY_BYTES: &str = "4096";

/// The sandbox features supported by this machine and its `bwrap`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strength {
    /// The number of files is limited.
    pub(super) counts_files: bool,
    /// There is a shim, which filters system calls and closes inherited files.
    has_launcher: bool,
    /// User namespaces are forbidden even without the system call filter.
    no_users: bool,
}

impl Strength {
    /// All combinations, the best first, with or without a shim.
    fn all(has_launcher: bool) -> impl Iterator<Item = Self> {
        let known = [(true, true), (false, true), (true, false), (false, false)];
        // Root needs no user namespace, and only the filter forbids the agent to create one.
        let known = known.into_iter().filter(move |(counts_files, no_users)| {
            (has_launcher || !counts_files) && !(is_root() && *no_users)
        });
        known.map(move |(counts_files, no_users)| Self {
            counts_files,
            has_launcher,
            no_users,
        })
    }

    /// Notes for the user on missing features.
    pub(super) fn notices(self) -> Vec<String> {
        let mut notices = Vec::new();
        if !self.has_launcher {
            notices.push(
                "bubblewrap confines the agent, but nothing here filters its system calls, closes files that were left \
                 open, or limits how many it makes in memory: install the program that does, `cargo install \
                 cargo-evaltest`"
                    .to_owned(),
            );
        } else if !self.counts_files {
            notices.push(
                "bubblewrap confines the agent, but nothing limits how many files it makes in memory here".to_owned(),
            );
        }
        if !self.no_users && !is_root() {
            let forbidden = if self.has_launcher {
                "the filter of system calls alone forbids the agent"
            } else {
                "nothing forbids the agent"
            };
            notices.push(format!(
                "{forbidden} to make namespaces of users: `bwrap --disable-userns` does not work here (bubblewrap 0.8 \
                 knows it)"
            ));
        }
        notices
    }
}

impl Sandbox {
    /// The supported features, or why it does not work.
    pub(super) fn strength(&self) -> Result<Strength> {
        let hint = "Debian, Ubuntu: `apt install bubblewrap`; or remove `sandbox` from `agent` to run it without";
        if launcher::in_path(BWRAP).is_none() {
            return Err(Error::usage(
                "`sandbox: bwrap` needs bubblewrap, but `bwrap` is not in `PATH`",
            )
            .hint(hint));
        }
        if matches!(self.reachable(), Network::Loopback(_)) {
            launcher::relay()?;
        }
        let mut last = Ok(());
        let works = Strength::all(launcher::program().is_ok()).find(|strength| {
            last = self.attempt(*strength);
            last.is_ok()
        });
        match works {
            Some(strength) => Ok(strength),
            None => last.and_then(|()| Err(Error::usage("`sandbox: bwrap` does not work here"))),
        }
    }

    /// Tests an empty sandbox.
    fn attempt(&self, strength: Strength) -> Result<()> {
        let mut line = BwrapArguments::default();
        self.begin(&mut line, strength)?;
        for mount in view::mounts(&Wishes {
            program: Path::new("/bin/sh"),
            arguments: Vec::new(),
            read: Vec::new(),
            hidden: &[],
            private: Vec::new(),
        }) {
            line.paths(arguments(&mount))?;
        }
        line.words(["--"]).words(demotion());
        let output = Command::new(&line.0[0])
            .args(&line.0[1..])
            .args(["/bin/sh", "-c", "exit 0"])
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let reason = crate::system::process::excerpt::ending(
                    &String::from_utf8_lossy(&output.stderr),
                    300,
                );
                Err(Error::usage(format!(
                    "`sandbox: bwrap`: bubblewrap cannot make a sandbox here: {reason}"
                ))
                .hint(
                    "it needs user namespaces, which some containers forbid (docker: \
                     `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`, or `--privileged`) and some \
                     systems (`sysctl kernel.apparmor_restrict_unprivileged_userns=0`); or remove `sandbox` from `agent`",
                ))
            }
            Err(error) => Err(Error::infrastructure(format!(
                "`sandbox: bwrap`: its launcher cannot be started: {error}"
            ))),
        }
    }

    /// The arguments common to all sandboxes.
    fn begin(&self, line: &mut BwrapArguments, strength: Strength) -> Result<()> {
        if strength.has_launcher {
            line.paths([launcher::program()?])?.words([launcher::BWRAP]);
            let bytes = self.most_bytes().max(1).to_string();
            if strength.counts_files {
                line.words([launcher::memory::AT])
                    .paths([self.memory()?])?
                    .words([&bytes]);
            }
            line.words([launcher::END]);
        }
        line.words([BWRAP]).words(self.isolation(strength));
        line.words(["--proc", "/proc", "--dev", "/dev"]);
        self.in_memory(line, strength, launcher::memory::SHM, Path::new("/dev/shm"))?;
        line.words(["--remount-ro", "/dev"]);
        self.in_memory(line, strength, launcher::memory::TMP, Path::new("/tmp"))
    }

    /// Adds a writable in-memory folder.
    fn in_memory(
        &self,
        line: &mut BwrapArguments,
        strength: Strength,
        name: &str,
        at: &Path,
    ) -> Result<()> {
        if strength.counts_files {
            let from = self.memory()?.join(name);
            line.words(["--bind"]).paths([&*from, at])?;
        } else {
            let bytes = self.most_bytes().max(1).to_string();
            line.words(["--size", &bytes, "--perms", "1777", "--tmpfs"])
                .paths([at])?;
        }
        Ok(())
    }

    /// The empty folder in which the shim mounts.
    fn memory(&self) -> Result<&Path> {
        let folder = self.memory.get_or_try_init(TemporaryFolder::new);
        let folder = folder.map_err(|error| {
            Error::infrastructure(format!("`sandbox: bwrap`: no temporary folder: {error}"))
        })?;
        Ok(folder.path())
    }

    /// The command line that runs a program in a new sandbox.
    pub(super) fn by_bwrap(
        &self,
        inmate: &Inmate<'_>,
        limits: Ulimits,
        strength: Strength,
    ) -> Result<Vec<String>> {
        let mut line = BwrapArguments::default();
        self.begin(&mut line, strength)?;
        let wishes = self.wishes(inmate);
        let mounts = view::mounts(&wishes);
        for mount in &mounts {
            if let Mount::Read { at, .. } = mount {
                line.parents(at);
            }
            line.paths(arguments(mount))?;
        }
        line.parents(inmate.scratch);
        self.in_memory(
            &mut line,
            strength,
            launcher::memory::SCRATCH,
            inmate.scratch,
        )?;
        for file in inmate.files {
            readable(file)?;
            line.words(["--ro-bind"]).paths([file, file])?;
        }
        let relayed = self.relayed(&mut line)?;
        for mount in &mounts {
            if let Mount::HideFolder(at) = mount {
                line.words(["--remount-ro"]).paths([at])?;
            }
        }
        // The working directory must exist, but its other content must not be visible.
        line.parents(&inmate.cwd.join("any"));
        line.words(["--chdir"]).paths([inmate.cwd])?;
        line.words(["--remount-ro", "/", "--"]);
        line.words(demotion());
        let limits = limits.or(Ulimits {
            processes: Some(PROCESSES),
            ..Ulimits::default()
        });
        line.words(limits.wrapper());
        line.words(relayed);
        line.paths([inmate.program])?;
        line.words(inmate.args.iter().map(String::as_str));
        Ok(line.0)
    }

    /// The namespaces to separate, apart from files.
    fn isolation(&self, strength: Strength) -> Vec<&'static str> {
        let mut args = vec![
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--die-with-parent",
            "--new-session",
            "--cap-drop",
            "ALL",
        ];
        if is_root() {
            // To change the user without a way back.
            for capability in ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"] {
                args.extend(["--cap-add", capability]);
            }
        } else {
            args.push("--unshare-user");
            if strength.no_users {
                args.push("--disable-userns");
            }
        }
        if self.network != Network::On {
            args.push("--unshare-net");
        }
        args
    }

    /// Mounts the relayed ports; returns the command that serves them inside.
    fn relayed(&self, line: &mut BwrapArguments) -> Result<Vec<String>> {
        let Network::Loopback(ports) = self.reachable() else {
            return Ok(Vec::new());
        };
        let relay = {
            let mut known = lock(&self.relay);
            match &*known {
                Some((served, relay)) if *served == ports => Arc::clone(relay),
                _ => {
                    let relay = Arc::new(relay::Relay::start(&ports)?);
                    *known = Some((ports, Arc::clone(&relay)));
                    relay
                }
            }
        };
        let seen = Path::new(RELAY);
        let program = seen.join("relay");
        line.parents(&program);
        line.words(["--ro-bind"])
            .paths([&launcher::relay()?, &program])?;
        let mut args = vec![program.display().to_string(), relay::SERVE.to_owned()];
        for (port, socket) in relay.sockets() {
            let at = seen.join(port.to_string());
            line.words(["--ro-bind"]).paths([socket, &at])?;
            args.push(format!("{port}={}", at.display()));
        }
        args.push("--".to_owned());
        Ok(args)
    }
}

/// A command line under construction; paths that are not UTF-8 are errors.
#[derive(Default)]
struct BwrapArguments(Vec<String>);

impl BwrapArguments {
    fn words(&mut self, words: impl IntoIterator<Item = impl Into<String>>) -> &mut Self {
        self.0.extend(words.into_iter().map(Into::into));
        self
    }

    fn paths(&mut self, paths: impl IntoIterator<Item = impl Into<OsString>>) -> Result<&mut Self> {
        for path in paths {
            self.0.push(text(Path::new(&path.into()))?);
        }
        Ok(self)
    }

    /// Creates the parent folders of a path with access for everyone; `bwrap` would create them for its own user only.
    fn parents(&mut self, path: &Path) -> &mut Self {
        let Some(parent) = path.parent() else {
            return self;
        };
        let mut above: Vec<&Path> = parent.ancestors().collect();
        above.pop();
        for folder in above.into_iter().rev() {
            let folder = folder.to_string_lossy();
            if !self.0.iter().any(|word| *word == folder) {
                self.words(["--perms", "0755", "--dir", &folder]);
            }
        }
        self
    }
}

fn arguments(mount: &Mount) -> Vec<&OsStr> {
    match mount {
        Mount::Link { target, at } => {
            ["--symlink".as_ref(), target.as_os_str(), at.as_os_str()].into()
        }
        Mount::Read { from, at } => ["--ro-bind".as_ref(), from.as_os_str(), at.as_os_str()].into(),
        Mount::HideFolder(at) => ["--size", EMPTY_BYTES, "--perms", "0755", "--tmpfs"]
            .into_iter()
            .map(OsStr::new)
            .chain([at.as_os_str()])
            .collect(),
        Mount::HideFile(at) => ["--ro-bind".as_ref(), "/dev/null".as_ref(), at.as_os_str()].into(),
    }
}

/// Arguments to switch from root to another user.
fn demotion() -> Vec<String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    if !is_root() {
        return Vec::new();
    }
    // Spread ids, because processes of other runs with the same id would count.
    let start = std::process::id().wrapping_mul(61);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let id = FIRST_UID + start.wrapping_add(count) % UIDS;
    let args = [
        "setpriv",
        &format!("--reuid={id}"),
        &format!("--regid={id}"),
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
        "--no-new-privs",
    ];
    args.map(str::to_owned).into()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes a file that was copied for the agent readable for its user.
fn readable(file: &Path) -> Result<()> {
    let wrong = |error: std::io::Error| Error::io("make readable", file, &error);
    let mut rights = std::fs::metadata(file).map_err(wrong)?.permissions();
    if rights.mode() & 0o444 != 0o444 {
        rights.set_mode(rights.mode() | 0o444);
        std::fs::set_permissions(file, rights).map_err(wrong)?;
    }
    Ok(())
}
