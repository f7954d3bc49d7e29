//! What code that is not ours prints to standard output, where it cannot be told to print elsewhere.

use std::io::{self, Read, Seek, Write};

/// Runs `work`, which must not panic, and gives what it printed to standard output, which does not come to be seen.
/// Everybody else who prints waits meanwhile, so that nothing of theirs is lost. Where the system cannot do it, what is
/// printed is seen at once.
pub(crate) fn printed<T>(work: impl FnOnce() -> T) -> (T, String) {
    // It may be taken again by this thread, as `println!` does.
    let mut stdout = io::stdout().lock();
    let Ok(elsewhere) = stdout.flush().and_then(|()| Elsewhere::begin()) else {
        return (work(), String::new());
    };
    let done = work();
    // What is not written now would be written to where it does not belong.
    let _ = stdout.flush();
    (done, elsewhere.end().unwrap_or_default())
}

/// Standard output leads to a file without a name.
#[cfg(unix)]
struct Elsewhere {
    before: std::os::fd::OwnedFd,
    file: std::fs::File,
}

#[cfg(unix)]
impl Elsewhere {
    fn begin() -> io::Result<Self> {
        let file = tempfile::tempfile()?;
        let before = rustix::io::dup(rustix::stdio::stdout())?;
        rustix::stdio::dup2_stdout(&file)?;
        Ok(Self { before, file })
    }

    fn end(mut self) -> io::Result<String> {
        rustix::stdio::dup2_stdout(&self.before)?;
        let mut text = Vec::new();
        self.file.rewind()?;
        self.file.read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

#[cfg(not(unix))]
struct Elsewhere;

#[cfg(not(unix))]
impl Elsewhere {
    fn begin() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn end(self) -> io::Result<String> {
        Ok(String::new())
    }
}
