//! `Loopback`: a TCP listener on 127.0.0.1 only.
//!
//! Uses a thread per connection, because there are only few; idle connections time out.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::system::cancel::Cancel;

/// Maximum concurrent connections: a browser opens six.
const CONNECTIONS: usize = 64;
/// Read timeout of a connection.
const SILENCE: Duration = Duration::from_secs(10);
/// Maximum duration of a connection.
const UNREAD: Duration = Duration::from_secs(30);

/// A listener on a port of 127.0.0.1.
#[derive(Debug)]
pub(crate) struct Loopback {
    listener: TcpListener,
    address: SocketAddr,
}

impl Loopback {
    /// Listens on a port; 0 for any free port.
    pub(crate) fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Passes each connection to `serve` on its own thread until cancelled.
    pub(crate) fn serve(
        &self,
        cancel: &Cancel,
        serve: impl Fn(&mut LoopbackConnection) -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<()> {
        // Wake the blocking accept by connecting to it.
        let address = self.address;
        cancel.on_cancel(move || drop(TcpStream::connect(address)));
        let serve = Arc::new(serve);
        let open = Arc::new(AtomicUsize::new(0));
        while !cancel.is_cancelled() {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if is_passing(&error) => {
                    thread::sleep(Duration::from_millis(50));
                    continue;
                }
                Err(error) => return Err(error),
            };
            if cancel.is_cancelled() {
                break;
            }
            if open.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS {
                open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (serve, guard) = (Arc::clone(&serve), OpenConnection(Arc::clone(&open)));
            // Without a thread the connection is closed, and the client notices.
            let _ = thread::Builder::new()
                .name("evaltest-loopback".to_owned())
                .spawn(move || {
                    let _guard = guard;
                    if let Ok(mut connection) = LoopbackConnection::new(stream) {
                        let _ = serve(&mut connection);
                        connection.end();
                    }
                });
        }
        Ok(())
    }
}

/// Whether a later connection may succeed: one was aborted, or descriptors are temporarily short.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    let kinds = [ConnectionAborted, ConnectionReset, Interrupted, WouldBlock];
    kinds.contains(&error.kind()) || crate::system::shortage::Shortage::of(error).is_some()
}

/// Decrements the counter when dropped, also on panic.
struct OpenConnection(Arc<AtomicUsize>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A local connection.
#[derive(Debug)]
pub(crate) struct LoopbackConnection {
    stream: TcpStream,
}

impl LoopbackConnection {
    fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(UNREAD))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream })
    }

    /// The stream to read the request and write the response.
    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Closes it so that the response arrives: closing with unread input would reset it.
    fn end(&mut self) {
        let _ = self.stream.flush();
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
        let _ = self
            .stream
            .set_read_timeout(Some(Duration::from_millis(200)));
        let mut rest = [0; 4096];
        for _ in 0..16 {
            match io::Read::read(&mut self.stream, &mut rest) {
                Ok(1..) => {}
                _ => break,
            }
        }
    }
}
