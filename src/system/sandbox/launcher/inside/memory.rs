//! In-memory folders with limits on bytes and files: `bwrap` cannot limit the number of files, each of which uses
//! kernel memory even if empty.
//!
//! They are mounted in this process's namespace, in an empty folder, from where `bwrap` moves them.

use std::ffi::CString;
use std::io;
use std::path::Path;

use rustix::mount::{MountFlags, MountPropagationFlags, mount as mount_at, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::super::memory::{SCRATCH, SHM, TMP};

/// One file per this many bytes, as on a disk, but a minimum for small folders.
const BYTES_A_FILE: u64 = 4096;
const LEAST_FILES: u64 = 1024;

/// Mounts the folders with this size.
pub(super) fn mount(folder: &Path, bytes: u64) -> io::Result<()> {
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
