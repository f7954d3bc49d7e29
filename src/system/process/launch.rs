//! Finds and starts a program, and explains failures.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::system::process::FileHashes;
use crate::system::shortage::{self, Shortage};
use crate::text::hash::Fingerprint;

/// Default search path without `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Number and interval of retries for a program file that is still open for writing: another thread's forked child may
/// hold it for a while on a busy machine.
const BUSY_TRIES: u32 = 1000;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Maximum number of descriptors needed to start a program: both ends of three pipes and of an error pipe, the program
/// file, and the pidfd.
pub(crate) const DESCRIPTORS: usize = 10;

/// Why a program cannot be started.
#[derive(Debug)]
pub(crate) struct NotStarted {
    /// Whether it does not exist.
    pub(crate) not_found: bool,
    /// Whether a resource of this machine is temporarily exhausted.
    pub(crate) is_shortage: bool,
    /// A message in one line.
    pub(crate) message: String,
}

impl NotStarted {
    pub(crate) fn new(message: String) -> Self {
        Self {
            not_found: false,
            is_shortage: false,
            message,
        }
    }

    fn not_found(message: String) -> Self {
        Self {
            not_found: true,
            ..Self::new(message)
        }
    }

    fn shortage(name: &str, shortage: &Shortage) -> Self {
        Self {
            is_shortage: true,
            ..Self::new(format!("`{name}` cannot be started: {shortage}"))
        }
    }
}

/// The parameters of a program start.
pub(crate) struct Launch<'a> {
    /// The program as typed, with its arguments. Not empty.
    pub(crate) args: &'a [String],
    /// The working directory.
    pub(crate) cwd: &'a Path,
    /// The base folder of a program name with a `/`.
    pub(crate) folder: &'a Path,
    /// All variables to pass.
    pub(crate) env: BTreeMap<&'a OsStr, OsString>,
}

impl Launch<'_> {
    /// Starts the program as the leader of its own process group.
    pub(crate) fn start(&self, with_stdin: bool) -> Result<Child, NotStarted> {
        let name = self.args.first().map_or("", String::as_str);
        let program = self.resolve(name)?;
        let mut command = Command::new(&program);
        if !name.contains('/') {
            // Like `execvp`; multi-call programs depend on it.
            command.arg0(name);
        }
        command
            .args(self.args.iter().skip(1))
            .env_clear()
            .envs(&self.env)
            .envs([super::watch::mark()])
            .current_dir(self.cwd)
            .stdin(if with_stdin {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let room = shortage::room(DESCRIPTORS);
        let _room = room.map_err(|shortage| NotStarted::shortage(name, &shortage))?;
        let mut tries = 0;
        loop {
            match command.spawn() {
                Ok(child) => {
                    shortage::pass_on(child.id());
                    return Ok(child);
                }
                // Another thread forked while the file was open for writing; its child will close it soon.
                Err(error) if errno(&error) == Some(Errno::TXTBSY) && tries < BUSY_TRIES => {
                    tries += 1;
                    std::thread::sleep(BUSY_PAUSE);
                }
                Err(error) => return Err(self.explain(name, &program, &error)),
            }
        }
    }

    /// The path of the program, without starting it.
    pub(crate) fn check(&self) -> Result<PathBuf, NotStarted> {
        let name = self.args.first().map_or("", String::as_str);
        let program = self.resolve(name)?;
        if !program.exists() {
            return Err(self.not_found(name));
        }
        let may_start = match access(&program, Access::EXEC_OK) {
            Ok(()) if program.is_dir() => Err(Errno::ACCESS),
            may_start => may_start,
        };
        match may_start {
            Ok(()) => Ok(program),
            Err(errno) => Err(self.explain(name, &program, &errno.into())),
        }
    }

    /// Everything that can affect an answer: arguments, files they name, folders, variables.
    pub(crate) fn fingerprint(&self, agent: &str, named: &FileHashes) -> Fingerprint {
        let name = self.args.first().map_or("", String::as_str);
        let program = self.resolve(name).ok();
        let arguments = self.args.get(1..).unwrap_or_default();
        let mut fingerprint = Fingerprint::of(agent)
            .part("args", format_args!("{:?}", self.args))
            .part("cwd", self.cwd.display())
            .part(
                "files",
                named.hash(program.as_deref(), arguments, &[self.cwd, self.folder]),
            );
        for (name, value) in &self.env {
            // These differ between shells, and the program's path is already included.
            let is_place = |place: &&str| **name == **place;
            let is_passing = ["PATH", "HOME", "TMPDIR"].iter().any(is_place)
                || name.to_string_lossy().starts_with("SSL_CERT_");
            if !is_passing {
                fingerprint = fingerprint.part(
                    &name.to_string_lossy(),
                    format_args!("{:?}", value.as_bytes()),
                );
            }
        }
        fingerprint
    }

    /// The path of the program file. Absolute, also so that the standard library does not search `PATH`, which would
    /// disable its fast way of spawning.
    pub(crate) fn resolve(&self, name: &str) -> Result<PathBuf, NotStarted> {
        if name.is_empty() {
            let message = "`command` begins with an empty name".to_owned();
            return Err(NotStarted::new(message));
        }
        if name.contains('/') {
            return Ok(self.folder.join(name.strip_prefix("./").unwrap_or(name)));
        }
        let path = self.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
        let mut unusable = None;
        for folder in std::env::split_paths(path) {
            let file = self.cwd.join(folder).join(name);
            if access(&file, Access::EXEC_OK).is_ok() && file.is_file() {
                return Ok(file);
            }
            if unusable.is_none() && file.is_file() {
                unusable = Some(file);
            }
        }
        // Starting it fails with the reason.
        unusable.ok_or_else(|| self.not_found(name))
    }

    fn not_found(&self, name: &str) -> NotStarted {
        let folder = self.folder.display();
        let message = if name.contains('/') {
            format!("command not found: `{name}`, looked for from `{folder}`")
        } else if self.folder.join(name).is_file() {
            format!(
                "command not found: `{name}` is not in `PATH`; hint: write `./{name}` for the file in `{folder}`"
            )
        } else {
            format!("command not found: `{name}` is not in `PATH`")
        };
        NotStarted::not_found(message)
    }

    fn explain(&self, name: &str, program: &Path, error: &io::Error) -> NotStarted {
        let not_started = NotStarted::new;
        if let Some(shortage) = Shortage::of(error) {
            return NotStarted::shortage(name, &shortage);
        }
        let display = program.display();
        match errno(error) {
            _ if !self.cwd.is_dir() => not_started(format!(
                "no such folder to run in: `{}`",
                self.cwd.display()
            )),
            Some(Errno::NOENT) if program.exists() => NotStarted::not_found(format!(
                "the interpreter that `{display}` asks for was not found; hint: see its first line"
            )),
            Some(Errno::NOENT | Errno::NOTDIR) => self.not_found(name),
            Some(Errno::ACCESS | Errno::PERM) if program.is_dir() => {
                not_started(format!("`{display}` is a folder"))
            }
            Some(Errno::ACCESS | Errno::PERM) => not_started(format!(
                "`{display}` is not executable; hint: chmod +x {display}"
            )),
            Some(Errno::NOEXEC) => not_started(format!(
                "`{display}` is neither a program nor a script; hint: begin it with a line such as `#!/bin/sh`"
            )),
            Some(Errno::TOOBIG) => {
                let bytes: usize = self.args.iter().map(String::len).sum();
                not_started(format!(
                    "{bytes} bytes of arguments exceed the system's limit; hint: use stdin: leave \
                     `{{prompt}}` out of `command` and the agent reads the prompt there"
                ))
            }
            None if error.kind() == io::ErrorKind::InvalidInput => not_started(format!(
                "`{name}` cannot be started: an argument or a variable contains a NUL byte; hint: use stdin: \
                 leave `{{prompt}}` out of `command`"
            )),
            _ => not_started(format!("`{name}` cannot be started: {error}")),
        }
    }
}

fn errno(error: &io::Error) -> Option<Errno> {
    Errno::from_io_error(error)
}
