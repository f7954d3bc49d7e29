//! `Loopback`: a TCP listener on 127.0.0.1 only.
//!
//! Uses a thread per connection. A request must arrive within a time as a whole, so that a byte now and then does not
//! prolong it. If there are too many connections, a new one replaces the one that has been waiting longest for its
//! client, so that slow clients do not lock others out. [`Bounds`] has these limits: browsers open few connections, and
//! programs keep theirs for the next request.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::system::cancel::Cancel;

/// The limits of a listener.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Maximum concurrent connections.
    connections: usize,
    /// The time for a whole request, with the wait for its first byte.
    request: Duration,
    /// Write timeout of a connection.
    unread: Duration,
}

impl Bounds {
    /// A browser opens six connections.
    const BROWSER: Self = Self {
        connections: 64,
        request: Duration::from_secs(10),
        unread: Duration::from_secs(30),
    };
    /// Hundreds of agents hold a few connections each, between requests as long as they think.
    #[cfg(feature = "http")]
    const PROGRAMS: Self = Self {
        connections: 4096,
        request: Duration::from_hours(1),
        unread: Duration::from_mins(10),
    };
}

/// A listener on a port of 127.0.0.1.
#[derive(Debug)]
pub(crate) struct Loopback {
    listener: TcpListener,
    address: SocketAddr,
    bounds: Bounds,
}

impl Loopback {
    /// Listens on a port; 0 for any free port.
    pub(crate) fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            bounds: Bounds::BROWSER,
        })
    }

    /// Listens on any free port, for many programs that keep their connections.
    #[cfg(feature = "http")]
    pub(crate) fn for_programs() -> io::Result<Self> {
        Ok(Self {
            bounds: Bounds::PROGRAMS,
            ..Self::bind(0)?
        })
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
        let open = Arc::new(OpenConnections::default());
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
            let Ok(mut connection) = LoopbackConnection::new(stream, self.bounds) else {
                continue;
            };
            if !open.add(&connection.client, self.bounds.connections) {
                continue;
            }
            let serve = Arc::clone(&serve);
            let guard = OpenConnection {
                all: Arc::clone(&open),
                client: Arc::clone(&connection.client),
            };
            // Without a thread the connection is closed, and the client notices.
            let _ = thread::Builder::new()
                .name("evaltest-loopback".to_owned())
                .spawn(move || {
                    let _guard = guard;
                    let _ = serve(&mut connection);
                    connection.end();
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

/// The open connections, the oldest first.
#[derive(Debug, Default)]
struct OpenConnections(Mutex<Vec<Arc<Client>>>);

impl OpenConnections {
    /// Adds a connection. If there are too many, closes the oldest one that waits for its client; `false` if none does.
    fn add(&self, client: &Arc<Client>, most: usize) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= most {
            let Some(slow) = open.iter().position(|client| client.is_awaited()) else {
                return false;
            };
            // Its thread notices, and ends.
            let _ = open.remove(slow).stream.shutdown(Shutdown::Both);
        }
        open.push(Arc::clone(client));
        true
    }

    fn remove(&self, client: &Arc<Client>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|known| !Arc::ptr_eq(known, client));
    }
}

/// Removes the connection when dropped, also on panic.
struct OpenConnection {
    all: Arc<OpenConnections>,
    client: Arc<Client>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.all.remove(&self.client);
    }
}

/// The other end of a connection.
#[derive(Debug)]
struct Client {
    stream: TcpStream,
    /// Whether the server is working on the response.
    is_served: AtomicBool,
}

impl Client {
    /// Whether the server waits for the client to write or to read.
    fn is_awaited(&self) -> bool {
        !self.is_served.load(Ordering::SeqCst)
    }

    /// Runs an operation that waits for the client.
    fn awaited<T>(&self, operation: impl FnOnce(&TcpStream) -> io::Result<T>) -> io::Result<T> {
        self.is_served.store(false, Ordering::SeqCst);
        let done = operation(&self.stream);
        self.is_served.store(true, Ordering::SeqCst);
        done
    }
}

/// A local connection: reads the request, writes the response.
#[derive(Debug)]
pub(crate) struct LoopbackConnection {
    client: Arc<Client>,
    /// The time for a request.
    #[cfg(feature = "http")]
    request: Duration,
    /// When the request must have arrived.
    deadline: Instant,
}

impl LoopbackConnection {
    /// A connection whose whole request must arrive in time.
    fn new(stream: TcpStream, bounds: Bounds) -> io::Result<Self> {
        stream.set_write_timeout(Some(bounds.unread))?;
        stream.set_nodelay(true)?;
        let client = Client {
            stream,
            is_served: AtomicBool::new(false),
        };
        Ok(Self {
            client: Arc::new(client),
            #[cfg(feature = "http")]
            request: bounds.request,
            deadline: Instant::now() + bounds.request,
        })
    }

    /// Waits for another request on the connection, which has its own time.
    #[cfg(feature = "http")]
    pub(crate) fn next_request(&mut self) {
        self.deadline = Instant::now() + self.request;
    }

    /// Closes it so that the response arrives: closing with unread input would reset it.
    fn end(&mut self) {
        let _ = self.flush();
        let _ = self.client.stream.shutdown(Shutdown::Write);
        self.deadline = Instant::now() + Duration::from_millis(200);
        let mut rest = [0; 4096];
        while let Ok(1..) = self.read(&mut rest) {}
    }
}

impl Read for LoopbackConnection {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.client.awaited(|mut stream| {
            stream.set_read_timeout(Some(remaining))?;
            stream.read(bytes)
        })
    }
}

impl Write for LoopbackConnection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.client.awaited(|mut stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.client.awaited(|mut stream| stream.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_now_and_then_does_not_prolong_a_request() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let given = Duration::from_millis(300);
        let bounds = Bounds {
            request: given,
            ..Bounds::BROWSER
        };
        let mut connection = LoopbackConnection::new(stream, bounds).unwrap();
        let writer = thread::spawn(move || {
            while slow.write_all(b"G").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        });
        let started = Instant::now();
        let mut byte = [0];
        while connection.read(&mut byte).is_ok() {}
        assert!(started.elapsed() >= given);
        drop(connection);
        writer.join().unwrap();
    }

    #[test]
    fn many_slow_clients_lock_nobody_out() {
        let loopback = Loopback::bind(0).unwrap();
        let address = loopback.address;
        let cancel = Cancel::new();
        let cancelled = cancel.clone();
        let server = thread::spawn(move || {
            loopback.serve(&cancelled, |connection| {
                let mut byte = [0];
                // Two bytes are a request.
                connection.read_exact(&mut byte)?;
                connection.read_exact(&mut byte)?;
                connection.write_all(b"answer")
            })
        });
        let slow = |_| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"G").unwrap();
            stream
        };
        let mut slow: Vec<_> = (0..Bounds::BROWSER.connections + 6).map(slow).collect();
        for _ in 0..2 {
            let mut owner = TcpStream::connect(address).unwrap();
            owner
                .set_read_timeout(Some(Bounds::BROWSER.request / 2))
                .unwrap();
            owner.write_all(b"GG").unwrap();
            let mut answer = String::new();
            owner.read_to_string(&mut answer).unwrap();
            assert_eq!(answer, "answer");
        }
        // The oldest made room.
        let oldest = &mut slow[0];
        oldest
            .set_read_timeout(Some(Bounds::BROWSER.request / 2))
            .unwrap();
        let is_closed = match oldest.read(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        };
        assert!(is_closed);
        cancel.cancel();
        server.join().unwrap().unwrap();
    }
}
