//! The operating system: files, threads, processes, signals, the network. The only module that depends on it.
//!
//! Contains all platform differences, and nothing about evaluations.

mod platform;

use std::fs::{DirBuilder, File, Permissions};
use std::io::{IsTerminal, Read, Seek, Write};
use std::num::NonZero;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope};
use std::{fs, io};

pub(crate) mod file;
pub(crate) mod shortage;

pub(crate) mod clock;
pub(crate) mod parallel;

pub(crate) mod bridge;
pub(crate) mod cancel;
pub(crate) mod panics;

pub(crate) mod project;
pub(crate) mod variables;

pub(crate) mod process;

pub(crate) mod sandbox;

#[cfg(any(feature = "command", feature = "http"))]
pub(crate) mod loopback;

#[cfg(feature = "http")]
pub(crate) mod http;

/// Locks a mutex, even after a panic. A panicking agent or scorer must not end the whole run; users of this function
/// leave no inconsistent state when they panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a folder that only its owner may enter.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

/// Creates a folder that everyone may enter.
pub(crate) fn make_open_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// Makes a file readable by everyone and writable by its owner.
pub(crate) fn let_all_read(file: &Path) -> io::Result<()> {
    fs::set_permissions(file, Permissions::from_mode(0o644))
}

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

/// 128 bits from the operating system, as 32 hex digits.
pub(crate) fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(crate::text::hash::hex(&bytes))
}

/// Runs work on its own thread, or when the result is requested if no thread can be spawned.
pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl Fn() -> T + Send + Copy + 'scope,
) -> impl FnOnce() -> T {
    let thread = Builder::new().spawn_scoped(scope, work).ok();
    move || {
        let done = thread.and_then(|thread| thread.join().ok());
        done.unwrap_or_else(work)
    }
}

/// Applies `read` to equal shares of the items, each on its own thread, and returns the results in order. Shares have at
/// least `least` items, so that few items start no threads.
pub(crate) fn in_shares<'a, I: Sync, T: Send>(
    items: &'a [I],
    least: usize,
    read: &(impl Fn(&'a [I]) -> T + Sync),
) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut shares = items.chunks(items.len().div_ceil(threads).max(least));
    let Some(first) = shares.next() else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let others: Vec<_> = shares
            .map(|share| spawn_scoped(scope, move || read(share)))
            .collect();
        let others = others.into_iter().map(|other| other());
        std::iter::once(read(first)).chain(others).collect()
    })
}

/// The number of columns of a stream's terminal; `None` if it is not a terminal or its width is unknown.
pub fn columns(stream: &(impl AsFd + IsTerminal)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(test)]
mod lock_tests {
    use super::*;
    use crate::system::panics::catch;

    #[test]
    fn a_panic_does_not_keep_it() {
        let mutex = Mutex::new(1);
        let panicked = catch(|| {
            let _held = mutex.lock().unwrap();
            panic!("while it is held");
        });
        assert!(panicked.is_err() && mutex.is_poisoned());
        *lock(&mutex) += 1;
        assert_eq!(*lock(&mutex), 2);
    }
}

#[cfg(test)]
mod permission_tests {
    use super::*;

    #[test]
    fn they_do_not_hang_on_the_umask() {
        let outer = tempfile::tempdir().unwrap();
        let check = |name: &str, expect: u32, make: fn(&Path) -> io::Result<()>| {
            let path = outer.path().join(name);
            make(&path).unwrap();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, expect, "{name}");
        };
        check("private", 0o700, make_private_folder);
        check("open", 0o755, make_open_folder);
        check("file", 0o644, |path| {
            fs::write(path, "")?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            let_all_read(path)
        });
    }
}

#[cfg(test)]
mod random_tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        let [one, other] = [token().unwrap(), token().unwrap()];
        assert_eq!((one.len(), other.len()), (32, 32));
        assert_ne!(one, other);
    }
}
