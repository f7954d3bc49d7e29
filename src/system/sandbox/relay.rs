//! Relays single TCP ports of this machine's loopback device into a sandbox with a separate network.
//!
//! Outside, one thread per port accepts connections on a Unix socket and forwards them to the port. The socket is
//! visible in the sandbox, where another instance of this program listens on the port and forwards connections to the
//! socket. So the agent reaches `127.0.0.1:PORT` as without a sandbox, and nothing else.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::system::file::TemporaryFolder;

/// The first argument of the program in a sandbox.
pub(super) const SERVE: &str = "__evaltest_relay";
/// Maximum concurrent connections per port: each needs two of our threads.
const CONNECTIONS: usize = 128;
const PIECE_BYTES: usize = 16 * 1024;

/// In a sandbox: serves the ports in the arguments, runs the program that follows, and returns its exit code.
pub(super) fn serve(mut args: impl Iterator<Item = OsString>) -> io::Result<u8> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    for arg in args.by_ref() {
        if arg == "--" {
            break;
        }
        let pair = arg.to_str().and_then(|arg| arg.split_once('='));
        let (port, socket) = pair.ok_or_else(|| wrong("no port"))?;
        let port = port.parse().map_err(|_| wrong("no port"))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let socket = PathBuf::from(socket);
        let accept = move || listener.accept().map(|(from, _)| from);
        pass_on(accept, move || UnixStream::connect(&socket))?;
    }
    let program = args.next().ok_or_else(|| wrong("no program"))?;
    let status = match Command::new(&program).args(args).status() {
        Ok(status) => status,
        Err(error) => {
            let name = Path::new(&program).display();
            let _ = writeln!(io::stderr(), "cannot start `{name}`: {error}");
            return Ok(if error.kind() == io::ErrorKind::NotFound {
                127
            } else {
                126
            });
        }
    };
    // Exit code as reported by shells.
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The outer end of the relayed ports, served until the program ends.
#[derive(Debug)]
pub(super) struct Relay {
    /// When it is removed, the threads keep unreachable sockets.
    _folder: TemporaryFolder,
    sockets: Vec<(u16, PathBuf)>,
}

impl Relay {
    /// Serves the ports by sockets in a new folder.
    pub(super) fn start(ports: &[u16]) -> Result<Self> {
        let failed = |error: io::Error| {
            Error::infrastructure(format!("`network: {{ loopback: … }}`: {error}"))
        };
        let folder = TemporaryFolder::new().map_err(failed)?;
        let mut sockets = Vec::new();
        for &port in ports {
            let socket = folder.path().join(port.to_string());
            let listener = UnixListener::bind(&socket).map_err(failed)?;
            // The agent may run as another user.
            std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o666))
                .map_err(failed)?;
            let accept = move || listener.accept().map(|(from, _)| from);
            pass_on(accept, move || {
                TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            })
            .map_err(failed)?;
            sockets.push((port, socket));
        }
        Ok(Self {
            _folder: folder,
            sockets,
        })
    }

    pub(super) fn sockets(&self) -> impl Iterator<Item = (u16, &Path)> {
        self.sockets
            .iter()
            .map(|(port, socket)| (*port, socket.as_path()))
    }
}

/// A connection that can be read on one thread and written on another.
trait Stream: Read + Write + Send + Sized + 'static {
    fn twin(&self) -> io::Result<Self>;
    fn close(&self, how: Shutdown);
}

impl Stream for TcpStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn close(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

impl Stream for UnixStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn close(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

/// Forwards each incoming connection on its own threads.
fn pass_on<A: Stream, B: Stream>(
    accept: impl Fn() -> io::Result<A> + Send + 'static,
    connect: impl Fn() -> io::Result<B> + Send + 'static,
) -> io::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    let work = move || {
        loop {
            let Ok(from) = accept() else {
                // Out of descriptors: wait until others are closed.
                std::thread::sleep(std::time::Duration::from_millis(10));
                continue;
            };
            if open.load(Ordering::Relaxed) >= CONNECTIONS {
                continue;
            }
            // If the target refuses, the agent sees its connection closed.
            let Ok(to) = connect() else { continue };
            let (Ok(from_twin), Ok(to_twin)) = (from.twin(), to.twin()) else {
                continue;
            };
            open.fetch_add(1, Ordering::Relaxed);
            let count = Arc::clone(&open);
            let both = move || {
                let back = std::thread::Builder::new().spawn(move || copy(to_twin, from_twin));
                copy(from, to);
                if let Ok(back) = back {
                    let _ = back.join();
                }
                count.fetch_sub(1, Ordering::Relaxed);
            };
            if std::thread::Builder::new().spawn(both).is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    };
    std::thread::Builder::new()
        .name("evaltest-relay".to_owned())
        .spawn(work)
        .map(drop)
}

/// Copies until the end of input, and then closes the output.
fn copy<A: Stream, B: Stream>(mut from: A, mut to: B) {
    let mut piece = [0; PIECE_BYTES];
    loop {
        match from.read(&mut piece) {
            Ok(0) => break to.close(Shutdown::Write),
            Ok(length) if to.write_all(&piece[..length]).is_ok() => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => {
                from.close(Shutdown::Both);
                break to.close(Shutdown::Both);
            }
        }
    }
}
