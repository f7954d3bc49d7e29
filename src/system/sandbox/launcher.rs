//! The program between `evaltest` and an agent: it drops what the agent must not have, then becomes the agent by
//! `exec`, or `bwrap`, which does the rest.
//!
//! It is another instance of this program, so that no code of `evaltest` runs between `fork` and `exec`. It requires
//! the feature `sandbox`, which the command has; programs without it use the installed command.

#[cfg(all(
    feature = "sandbox",
    target_os = "linux",
    any(
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "x86_64"
    )
))]
mod inside;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use super::relay;
use crate::error::{Error, Result};
use crate::system::bridge;

/// The first argument if it becomes `bwrap`.
pub(super) const BWRAP: &str = "__evaltest_bwrap";
/// The first argument for confinement by Landlock.
pub(super) const LANDLOCK: &str = "__evaltest_landlock";
/// Ends its own arguments.
pub(super) const END: &str = "--";
/// Exit codes if it cannot confine or start the program, and if the program does not exist.
const CANNOT: u8 = 126;
const NOT_THERE: u8 = 127;

/// Arguments for confinement by Landlock.
pub(super) mod fence {
    /// A readable file or tree; `--system` excludes the paths in `--private`.
    pub(in super::super) const READ: &str = "--read";
    pub(in super::super) const SYSTEM: &str = "--system";
    pub(in super::super) const PRIVATE: &str = "--private";
    /// Never readable.
    pub(in super::super) const HIDDEN: &str = "--hidden";
    /// A writable folder.
    pub(in super::super) const WRITE: &str = "--write";
    /// No network, except for the ports in `--port`.
    pub(in super::super) const OFFLINE: &str = "--offline";
    pub(in super::super) const PORT: &str = "--port";
}

/// Arguments before it becomes `bwrap`.
pub(super) mod memory {
    /// An empty folder in which in-memory folders are mounted, and the size of each in bytes.
    pub(in super::super) const AT: &str = "--memory";
    /// Names of these folders: the scratch folder, `/tmp`, `/dev/shm`.
    pub(in super::super) const SCRATCH: &str = "scratch";
    pub(in super::super) const TMP: &str = "tmp";
    pub(in super::super) const SHM: &str = "shm";
}

/// The installed program that serves as the shim if this one cannot.
const COMMAND: &str = "cargo-evaltest";

/// Whether this program starts with [`serve_if_requested`].
static CAN_SERVE: AtomicBool = AtomicBool::new(false);

/// The shim: this program if possible, or else the installed command.
pub(super) fn program() -> Result<PathBuf> {
    if !IS_PROCESSOR_KNOWN {
        return Err(Error::usage(
            "Landlock and filters of system calls are not known on this processor",
        )
        .hint("remove `sandbox` from `agent` to run it without"));
    }
    own_or_command(KNOWS_HOW, "Landlock is set up", OF_SANDBOX)
}

/// The relay program, which needs no special feature.
pub(super) fn relay() -> Result<PathBuf> {
    own_or_command(true, "`network: { loopback: … }` is served", OF_SANDBOX)
}

/// The program for something else that any of them can do.
pub(in crate::system) fn own_or_installed(what: &str, remove: &str) -> Result<PathBuf> {
    own_or_command(true, what, remove)
}

/// How to do without a sandbox.
const OF_SANDBOX: &str = "remove `sandbox` from `agent` to run it without";

fn own_or_command(can_own: bool, what: &str, remove: &str) -> Result<PathBuf> {
    if can_own && CAN_SERVE.load(Ordering::Relaxed) {
        let own = std::env::current_exe();
        return own.map_err(|error| {
            Error::infrastructure(format!("cannot tell where this program is: {error}"))
        });
    }
    in_path(COMMAND).ok_or_else(|| {
        Error::usage(format!(
            "{what} by the program `{COMMAND}`, which is not in `PATH`"
        ))
        .hint(format!("`cargo install cargo-evaltest`; or {remove}"))
    })
}

/// Finds a program in `PATH`.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// If this program was started as a shim: confines and becomes the other program; returns the exit code on failure.
/// Otherwise `None`. A program that runs evals with `sandbox` and has the feature `sandbox` may call it first, as
/// `cargo evaltest` does; other programs use the installed command.
pub fn serve_if_requested() -> Option<ExitCode> {
    CAN_SERVE.store(true, Ordering::Relaxed);
    let mut args = std::env::args_os().skip(1);
    let word = args.next()?;
    let args: Vec<OsString> = args.collect();
    let done = match word.to_str()? {
        relay::SERVE => relay::serve(args.into_iter()),
        bridge::SERVE => bridge::serve(args.into_iter()),
        BWRAP | LANDLOCK => Err(confine(word == BWRAP, args)),
        _ => return None,
    };
    let code = done.unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "evaltest: sandbox: {error}");
        if error.kind() == io::ErrorKind::NotFound {
            NOT_THERE
        } else {
            CANNOT
        }
    });
    Some(ExitCode::from(code))
}

#[cfg(all(
    feature = "sandbox",
    target_os = "linux",
    any(
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "x86_64"
    )
))]
use inside::confine;

/// Whether the processor is supported: system call numbers depend on it.
const IS_PROCESSOR_KNOWN: bool = cfg!(all(
    target_os = "linux",
    any(
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "x86_64"
    )
));
/// Whether this program can be the shim.
const KNOWS_HOW: bool = IS_PROCESSOR_KNOWN && cfg!(feature = "sandbox");

#[cfg(not(all(
    feature = "sandbox",
    target_os = "linux",
    any(
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "x86_64"
    )
)))]
fn confine(_: bool, _: Vec<OsString>) -> io::Error {
    io::Error::other(
        "this program can make none: it lacks the feature `sandbox`, or does not support this processor",
    )
}
