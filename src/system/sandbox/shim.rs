//! The program that stands between `evaltest` and an agent: it gives up what the agent must not have, then becomes the
//! agent, or `bwrap`, which makes the rest.
//!
//! It is this same program, started again, so that nothing of `evaltest` runs between `fork` and `exec`. What it needs
//! comes with the feature `sandbox`, which the command has; a program that has it not is helped by the installed command.

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

/// The first argument where it is to become `bwrap`.
pub(super) const BWRAP: &str = "__evaltest_bwrap";
/// The first argument where Landlock is to confine what it becomes.
pub(super) const LANDLOCK: &str = "__evaltest_landlock";
/// Ends the arguments that are for it.
pub(super) const END: &str = "--";
/// Its exit code when it cannot confine, or cannot start, what follows; and when that is not there.
const CANNOT: u8 = 126;
const NOT_THERE: u8 = 127;

/// What it is told before Landlock confines.
pub(super) mod fence {
    /// A file or a tree that may be read; what `--private` names is left out of what `--system` names.
    pub(in super::super) const READ: &str = "--read";
    pub(in super::super) const SYSTEM: &str = "--system";
    pub(in super::super) const PRIVATE: &str = "--private";
    /// What may never be read.
    pub(in super::super) const HIDDEN: &str = "--hidden";
    /// A folder that may be written to.
    pub(in super::super) const WRITE: &str = "--write";
    /// No network, but for the ports that `--port` names.
    pub(in super::super) const OFFLINE: &str = "--offline";
    pub(in super::super) const PORT: &str = "--port";
}

/// What it is told before it becomes `bwrap`.
pub(super) mod memory {
    /// An empty folder, below which folders in memory are mounted, and how many bytes each takes.
    pub(in super::super) const AT: &str = "--memory";
    /// Their names: the scratch folder, `/tmp`, `/dev/shm`.
    pub(in super::super) const SCRATCH: &str = "scratch";
    pub(in super::super) const TMP: &str = "tmp";
    pub(in super::super) const SHM: &str = "shm";
}

/// The installed program that does it where this one cannot.
const COMMAND: &str = "cargo-evaltest";

/// Whether this program begins with [`serve_if_asked`].
static CAN_SERVE: AtomicBool = AtomicBool::new(false);

/// The program that confines: this one, if it can, else the installed command.
pub(super) fn program() -> Result<PathBuf> {
    if !IS_PROCESSOR_KNOWN {
        return Err(Error::usage(
            "Landlock and filters of system calls are not known on this processor",
        )
        .hint("remove `sandbox` from `agent` to run it without"));
    }
    own_or_command(KNOWS_HOW, "Landlock is set up")
}

/// The program that serves ports in a sandbox, which any can.
pub(super) fn relay() -> Result<PathBuf> {
    own_or_command(true, "`network: { loopback: … }` is served")
}

fn own_or_command(can_own: bool, what: &str) -> Result<PathBuf> {
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
        .hint("`cargo install cargo-evaltest`; or remove `sandbox` from `agent` to run it without")
    })
}

/// A program in `PATH`.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// When this program was started to confine another: does so, and gives the exit code where it does not become that
/// program. Else `None`. A program that runs evals with `sandbox` and has the feature `sandbox` may call it first, as
/// `cargo evaltest` does; for any other the installed command serves.
pub fn serve_if_asked() -> Option<ExitCode> {
    CAN_SERVE.store(true, Ordering::Relaxed);
    let mut args = std::env::args_os().skip(1);
    let word = args.next()?;
    let args: Vec<OsString> = args.collect();
    let done = match word.to_str()? {
        relay::SERVE => relay::serve(args.into_iter()),
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

/// Whether a shim can be had here: system calls have other numbers on other processors.
const IS_PROCESSOR_KNOWN: bool = cfg!(all(
    target_os = "linux",
    any(
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "x86_64"
    )
));
/// Whether this program can confine.
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
        "this program can make none: it lacks the feature `sandbox`, or the processor is another",
    )
}
