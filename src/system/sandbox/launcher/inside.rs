//! The shim's work before it becomes another program. Functions return only on errors.
//!
//! Files that the caller of `evaltest` left open are closed on `exec`, except the agent's first three.

mod filter;
mod landlock;

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::mount::{MountFlags, MountPropagationFlags, mount as mount_at, mount_change};
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags, set_capabilities};

use super::END;
use super::memory::{SCRATCH, SHM, TMP};

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
        mount(folder.as_ref(), bytes.ok_or_else(|| wrong("no size"))?)?;
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

// In-memory folders with limits on bytes and files: `bwrap` cannot limit the number of files, each of which uses
// kernel memory even if empty.
//
// They are mounted in this process's namespace, in an empty folder, from where `bwrap` moves them.

/// One file per this many bytes, as on a disk, but a minimum for small folders.
const BYTES_A_FILE: u64 = 4096;
const LEAST_FILES: u64 = 1024;

/// Mounts the folders with this size.
fn mount(folder: &Path, bytes: u64) -> io::Result<()> {
    separate()?;
    tmpfs(folder, "size=64k,nr_inodes=16,mode=0755")?;
    let files = (bytes / BYTES_A_FILE).max(LEAST_FILES);
    // The agent may run as another user.
    for (name, mode) in [(SCRATCH, "0777"), (TMP, "1777"), (SHM, "1777")] {
        let at = folder.join(name);
        std::fs::create_dir(&at)?;
        tmpfs(&at, &format!("size={bytes},nr_inodes={files},mode={mode}"))?;
    }
    Ok(())
}

fn tmpfs(at: &Path, options: &str) -> io::Result<()> {
    let options = CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount_at("tmpfs", at, "tmpfs", flags, Some(&*options))?)
}

/// Makes later mounts visible to this process only. Without root this requires a user namespace with the same user.
fn separate() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        unshare(UnshareFlags::NEWNS)?;
    } else {
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        let same = |id: u32| format!("{id} {id} 1");
        std::fs::write("/proc/self/uid_map", same(user.as_raw()))?;
        std::fs::write("/proc/self/gid_map", same(group.as_raw()))?;
    }
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    Ok(mount_change("/", flags)?)
}

#[expect(
    deprecated,
    reason = "it is unsafe for whoever separates descriptors, which nobody does here"
)]
fn unshare(what: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(what)?)
}
