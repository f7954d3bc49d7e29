//! Reads process output in pieces.

use std::os::fd::AsFd;

use rustix::io::{Errno, ioctl_fionread};

/// Maximum bytes per read.
pub(super) const PIECE_BYTES: usize = 16 * 1024;

/// Reads what is available from a pipe, limited to the size of `piece`; closes the pipe at its end. Must not block.
pub(super) fn read_piece<'p>(pipe: &mut Option<impl AsFd>, piece: &'p mut [u8]) -> &'p [u8] {
    let Some(open) = pipe else { return &[] };
    match rustix::io::read(open, &mut *piece) {
        Ok(length) if length > 0 => &piece[..length],
        Err(Errno::AGAIN | Errno::INTR) => &[],
        Ok(_) | Err(_) => {
            *pipe = None;
            &[]
        }
    }
}

/// Number of bytes waiting in a pipe.
pub(super) fn buffered(pipe: &impl AsFd) -> u64 {
    ioctl_fionread(pipe).unwrap_or(0)
}
