//! Captures what foreign code prints to standard output.

use std::io::{self, Read, Seek, Write};

/// Runs `work`, which must not panic, and returns what it printed to standard output instead of showing it. Other
/// threads that print wait meanwhile, so that their output is not captured. If the system does not support it, the
/// output is shown immediately.
pub(crate) fn printed<T>(work: impl FnOnce() -> T) -> (T, String) {
    // The lock is reentrant, so `println!` on this thread works.
    let mut stdout = io::stdout().lock();
    let Ok(elsewhere) = stdout.flush().and_then(|()| Elsewhere::begin()) else {
        return (work(), String::new());
    };
    let done = work();
    // Otherwise buffered output would be captured.
    let _ = stdout.flush();
    (done, elsewhere.end().unwrap_or_default())
}

/// Standard output is redirected to an unnamed file.
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
