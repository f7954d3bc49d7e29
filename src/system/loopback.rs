//! `Loopback`: who listens on 127.0.0.1, and nowhere else.
//!
//! A thread per connection, of which there are few at once; whoever says nothing, or reads nothing, is hung up on.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::system::cancel::Cancel;

/// Connections at once: a browser has six.
const CONNECTIONS: usize = 64;
/// How long somebody may say nothing.
const SILENCE: Duration = Duration::from_secs(10);
/// How long a connection is served at all.
const UNREAD: Duration = Duration::from_secs(30);

/// A port of 127.0.0.1.
#[derive(Debug)]
pub(crate) struct Loopback {
    listener: TcpListener,
    address: SocketAddr,
}

impl Loopback {
    /// Listens on a port; 0 is any that is free.
    pub(crate) fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Hands each connection to `serve`, on a thread of its own, until it is cancelled.
    pub(crate) fn serve(
        &self,
        cancel: &Cancel,
        serve: impl Fn(&mut LoopbackConnection) -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<()> {
        // Who waits for a connection is woken by one.
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
            let (serve, left) = (Arc::clone(&serve), OpenConnection(Arc::clone(&open)));
            // Without a thread the connection is closed, which whoever asked notices.
            let _ = thread::Builder::new()
                .name("evaltest-loopback".to_owned())
                .spawn(move || {
                    let _left = left;
                    if let Ok(mut connection) = LoopbackConnection::new(stream) {
                        let _ = serve(&mut connection);
                        connection.end();
                    }
                });
        }
        Ok(())
    }
}

/// Whether the next connection may go better: one that was taken back, or too few descriptors for a while.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    let kinds = [ConnectionAborted, ConnectionReset, Interrupted, WouldBlock];
    kinds.contains(&error.kind()) || crate::system::shortage::Shortage::of(error).is_some()
}

/// Counts down when it is over, also by a panic.
struct OpenConnection(Arc<AtomicUsize>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A connection from this machine.
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

    /// What it is asked with, and answered.
    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Ends it so that what was written arrives: closed with something unread it would be reset.
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
