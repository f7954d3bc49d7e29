//! `Bridge`: a program whose stdin and stdout this process serves.
//!
//! Agents start servers of tools as programs, but what executes the tools is here. So the program only copies: between
//! its stdin and stdout, and a Unix socket of this process, which the program's arguments name.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::system::file::TemporaryFolder;
use crate::system::sandbox::own_or_installed;

/// The first argument of the program.
pub(crate) const SERVE: &str = "__evaltest_bridge";
/// The name of the socket in its folder.
const SOCKET: &str = "tools";
const PIECE_BYTES: usize = 16 * 1024;

/// The socket, served on threads of its own until it is dropped.
#[derive(Debug)]
pub(crate) struct Bridge {
    folder: TemporaryFolder,
    is_over: Arc<AtomicBool>,
}

impl Bridge {
    /// Serves each program that connects.
    pub(crate) fn start(
        serve: impl Fn(&mut dyn BufRead, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let folder = TemporaryFolder::new()?;
        let listener = UnixListener::bind(folder.path().join(SOCKET))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let serve = Arc::new(serve);
        let accept = move || {
            while let Ok((stream, _)) = listener.accept() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let serve = Arc::clone(&serve);
                let each = move || -> io::Result<()> {
                    let mut output = stream.try_clone()?;
                    serve(&mut BufReader::new(stream), &mut output)
                };
                let name = "evaltest-tools".to_owned();
                // Without a thread the program's stdin ends.
                let _ = std::thread::Builder::new().name(name).spawn(each);
            }
        };
        std::thread::Builder::new()
            .name("evaltest-bridge".to_owned())
            .spawn(accept)?;
        Ok(Self { folder, is_over })
    }

    /// A folder that is removed with it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join(SOCKET)
    }

    /// The program and its arguments.
    pub(crate) fn command(&self) -> Result<[String; 3]> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        Ok([text(program()?), SERVE.to_owned(), text(self.socket())])
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = UnixStream::connect(self.socket());
    }
}

/// The program that copies: this one if possible, or else the installed command.
pub(crate) fn program() -> Result<PathBuf> {
    own_or_installed("`tools: { mcp: true }` is served", "remove `mcp`")
}

/// In the program: copies until either side ends.
pub(crate) fn serve(mut args: impl Iterator<Item = OsString>) -> io::Result<u8> {
    let socket = args.next().unwrap_or_default();
    let mut from = UnixStream::connect(socket)?;
    let mut to = from.try_clone()?;
    // It ends with the process.
    std::thread::spawn(move || {
        let _ = copy(&mut io::stdin().lock(), &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    copy(&mut from, &mut io::stdout().lock())?;
    Ok(0)
}

fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<()> {
    let mut piece = [0; PIECE_BYTES];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                to.write_all(&piece[..length])?;
                to.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
