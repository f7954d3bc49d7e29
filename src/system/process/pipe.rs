//! `Bell`: a pipe to wake threads that poll a descriptor.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Readable from `ring` until `silence`.
#[derive(Debug)]
pub(crate) struct Bell {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Bell {
    /// A silent bell; an error if no descriptor is available.
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self { reader, writer })
    }

    /// Makes it readable. Must not be called while it rings: the pipe then holds at most one byte, so that writing
    /// neither blocks nor fails.
    pub(crate) fn ring(&self) {
        let _ = (&self.writer).write(&[1]);
    }

    /// Undoes one `ring`, which must have happened.
    pub(crate) fn silence(&self) {
        let _ = (&self.reader).read(&mut [0]);
    }

    /// Blocks until it rings.
    pub(crate) fn wait(&self) {
        while let Err(Errno::INTR) = poll(&mut [PollFd::new(&self.reader, PollFlags::IN)], None) {}
    }

    /// The descriptor to poll together with others.
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
