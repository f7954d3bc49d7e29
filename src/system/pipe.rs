//! `Bell`: a pipe that wakes threads which sleep until a descriptor turns readable.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Readable while it rings.
#[derive(Debug)]
pub(crate) struct Bell {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Bell {
    /// A silent one; an error where the system has no descriptor left.
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self { reader, writer })
    }

    /// Rings until it is silenced. Not to be called while it rings: at most one byte is in the pipe, so that this
    /// neither blocks nor fails.
    pub(crate) fn ring(&self) {
        let _ = (&self.writer).write(&[1]);
    }

    /// Takes one ringing away, which must be there.
    pub(crate) fn silence(&self) {
        let _ = (&self.reader).read(&mut [0]);
    }

    /// Sleeps until it rings.
    pub(crate) fn wait(&self) {
        while let Err(Errno::INTR) = poll(&mut [PollFd::new(&self.reader, PollFlags::IN)], None) {}
    }

    /// For those who wait for other things as well.
    pub(crate) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rings_until_it_is_silenced() {
        let bell = Bell::new().unwrap();
        let rings = || {
            let now = rustix::event::Timespec::default();
            poll(
                &mut [PollFd::from_borrowed_fd(bell.wake_fd(), PollFlags::IN)],
                Some(&now),
            )
            .unwrap()
                > 0
        };
        assert!(!rings());
        bell.ring();
        bell.wait();
        assert!(rings());
        bell.silence();
        assert!(!rings());
    }
}
