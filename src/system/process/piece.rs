//! What a process prints, read piece by piece.

use std::os::fd::AsFd;

use rustix::io::{Errno, ioctl_fionread};

/// How much is read at once.
pub(super) const PIECE_BYTES: usize = 16 * 1024;

/// Reads what is there of a pipe, at most as much as `piece` holds; at its end the pipe is given up. It must not block.
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

/// How many bytes wait in a pipe.
pub(super) fn buffered(pipe: &impl AsFd) -> u64 {
    ioctl_fionread(pipe).unwrap_or(0)
}
