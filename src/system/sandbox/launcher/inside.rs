//! The shim's work before it becomes another program. Functions return only on errors.
//!
//! Files that the caller of `evaltest` left open are closed on `exec`, except the agent's first three.

mod filter;
mod landlock;
mod memory;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::END;

/// The first descriptor that the program does not inherit.
const FIRST_OF_OTHERS: i32 = 3;

/// Confines this process, and becomes the program after `--` in the arguments.
pub(super) fn confine(by_bwrap: bool, mut args: Vec<OsString>) -> io::Error {
    let Some(end) = args.iter().position(|arg| arg == END) else {
        return wrong("no program");
    };
    let mut program = args.split_off(end);
    program.remove(0);
    close_fds::set_fds_cloexec(FIRST_OF_OTHERS, &[]);
    let done = if by_bwrap {
        become_bwrap(&args, &program)
    } else {
        become_confined(&args, &program)
    };
    done.unwrap_or_else(|error| error)
}

/// `bwrap` itself sets the filter at the end.
fn become_bwrap(args: &[OsString], program: &[OsString]) -> io::Result<io::Error> {
    if let [word, folder, bytes] = args {
        let bytes = bytes.to_str().and_then(|bytes| bytes.parse().ok());
        let bytes = bytes.filter(|_| word == super::memory::AT);
        memory::mount(folder.as_ref(), bytes.ok_or_else(|| wrong("no size"))?)?;
    }
    let (bwrap, rest) = program.split_first().ok_or_else(|| wrong("no program"))?;
    let mut command = Command::new(bwrap);
    let mut files = Vec::new();
    for filter in filter::of_bwrap().map_err(io::Error::other)? {
        let file = in_memory(&filter)?;
        fcntl_setfd(&file, FdFlags::empty())?;
        command.arg("--add-seccomp-fd");
        command.arg(file.as_raw_fd().to_string());
        files.push(file);
    }
    Ok(not_started(bwrap, &command.args(rest).exec()))
}

/// An unnamed in-memory file, positioned at its start.
fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let file = rustix::fs::memfd_create(c"evaltest", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn become_confined(args: &[OsString], program: &[OsString]) -> io::Result<io::Error> {
    // Like a sandbox of bubblewrap, which ends with its creator.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let rules = landlock::FenceRules::read(args)?;
    let sockets = rules.sockets();
    rules.restrict()?;
    // Root still owns its files, but has no other privileges. It cannot regain them, because Landlock set
    // `no_new_privs`.
    let nothing = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: nothing,
            permitted: nothing,
            inheritable: nothing,
        },
    )?;
    filter::of_landlock(sockets)
        .and_then(|filters| filter::apply(&filters))
        .map_err(io::Error::other)?;
    let (name, rest) = program.split_first().ok_or_else(|| wrong("no program"))?;
    let error = Command::new(name).args(rest).exec();
    Ok(not_started(name, &error))
}

fn not_started(program: &OsStr, error: &io::Error) -> io::Error {
    let message = format!("cannot start `{}`: {error}", program.display());
    io::Error::new(error.kind(), message)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.to_owned())
}
