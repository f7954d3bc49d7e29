//! Waiting for a pipe.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Sleeps until there is something to read, or nobody is left who could write.
pub(crate) fn wait_until_readable(pipe: &impl AsFd) {
    while let Err(Errno::INTR) = poll(&mut [PollFd::new(pipe, PollFlags::IN)], None) {}
}
