//! Tests the client with a local server that keeps or closes connections, breaks off, and delays.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::system::cancel::Cancel;
use crate::system::http::client::STALE;
use crate::tests::wait::{LONG, given_time, until};

/// The server's reaction to a request, given its number on its connection and over all connections.
type Act = dyn Fn(&mut TcpStream, usize, usize) -> Next + Send + Sync;

#[derive(PartialEq)]
enum Next {
    Keep,
    Close,
}

struct Server {
    url: Url,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn new(act: impl Fn(&mut TcpStream, usize, usize) -> Next + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!(
            "http://localhost:{}/v1",
            listener.local_addr().unwrap().port()
        );
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, act): (_, Arc<Act>) = (Arc::clone(&connections), Arc::new(act));
        let requests = Arc::new(AtomicUsize::new(0));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                seen.fetch_add(1, Ordering::SeqCst);
                let (act, requests) = (Arc::clone(&act), Arc::clone(&requests));
                thread::spawn(move || serve(stream, &*act, &requests));
            }
        });
        Self {
            url: Url::new(url, "").unwrap(),
            connections,
        }
    }

    fn ask(&self, client: &Client, cancel: &Cancel) -> Result<HttpReply, Failure> {
        self.ask_in(client, cancel, LONG)
    }

    fn ask_in(
        &self,
        client: &Client,
        cancel: &Cancel,
        time: Duration,
    ) -> Result<HttpReply, Failure> {
        let request = HttpRequest {
            method: "POST",
            url: &self.url,
            headers: &[("Authorization".to_owned(), "Bearer k".to_owned())],
            body: Some(b"{}"),
            deadline: Instant::now().checked_add(time),
            max_bytes: 1000,
        };
        client.send(&request, cancel)
    }

    /// Sends a request, and repeats it if a closed connection was not noticed in time, as on a busy machine.
    fn ask_patiently(&self, client: &Client, cancel: &Cancel) -> Result<HttpReply, Failure> {
        loop {
            let started = Instant::now();
            match self.ask(client, cancel) {
                Err(failure) if failure.cause == Cause::Broken && started.elapsed() >= STALE => {}
                reply => return reply,
            }
        }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, act: &Act, requests: &AtomicUsize) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for here in 0.. {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(reader.read_line(&mut head), Ok(1..)) {
                return;
            }
        }
        let mut body = [0; 2];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let number = requests.fetch_add(1, Ordering::SeqCst);
        if act(&mut stream, here, number) == Next::Close {
            return;
        }
    }
}

fn fine(stream: &mut TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let server = Server::new(|stream, _, _| {
        fine(stream);
        Next::Keep
    });
    let (client, cancel) = (Client::new().unwrap(), Cancel::new());
    for _ in 0..10 {
        let reply = server.ask(&client, &cancel).unwrap();
        assert_eq!((reply.status.as_u16(), &*reply.body), (200, &b"ok"[..]));
    }
    assert_eq!(server.connections(), 1);
    // Several concurrent connections, all of which are kept.
    for _ in 0..2 {
        thread::scope(|scope| {
            for _ in 0..30 {
                scope.spawn(|| server.ask(&client, &cancel).unwrap());
            }
        });
    }
    assert!(server.connections() <= 31, "{}", server.connections());
}

#[test]
fn a_connection_that_was_closed_while_idle_is_replaced() {
    // The server reads a connection's second request and then closes it, as if it had closed before.
    let server = Server::new(|stream, here, _| {
        if here == 1 {
            return Next::Close;
        }
        fine(stream);
        Next::Keep
    });
    let (client, cancel) = (Client::new().unwrap(), Cancel::new());
    for _ in 0..6 {
        server.ask_patiently(&client, &cancel).unwrap();
    }
    assert!(
        (4..=6).contains(&server.connections()),
        "{}",
        server.connections()
    );
    // A server that closes new connections is broken, so the request is not repeated.
    let server = Server::new(|_, _, _| Next::Close);
    let failure = server.ask(&client, &cancel).unwrap_err();
    assert_eq!((failure.cause, server.connections()), (Cause::Broken, 1));
}

#[test]
fn closed_connections_are_reopened_without_a_failure() {
    let server = Server::new(|stream, _, _| {
        fine(stream);
        Next::Close
    });
    let (client, cancel) = (Client::new().unwrap(), Cancel::new());
    for _ in 0..20 {
        server.ask_patiently(&client, &cancel).unwrap();
    }
}

#[test]
fn the_deadline_covers_head_and_body() {
    let check = |act: fn(&mut TcpStream)| {
        let server = Server::new(move |stream, _, _| {
            act(stream);
            thread::sleep(2 * LONG);
            Next::Close
        });
        let (client, cancel) = (Client::new().unwrap(), Cancel::new());
        let started = Instant::now();
        let failure = given_time(Duration::from_millis(150), |time| {
            let failure = server.ask_in(&client, &cancel, time).unwrap_err();
            // There was not even time to connect.
            (failure.cause != Cause::Unreachable).then_some(failure)
        });
        assert_eq!(failure.cause, Cause::TimedOut, "{failure:?}");
        // The remaining time on sending depends on the machine.
        let message = failure.message;
        assert!(message.starts_with("did not answer in "), "{message}");
        assert!(started.elapsed() < LONG);
    };
    check(|_| {});
    check(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Le");
    });
    check(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n");
        for _ in 0..100 {
            let _ = stream.write_all(b" ");
            thread::sleep(Duration::from_millis(10));
        }
    });
}

#[test]
fn cancelling_ends_every_wait_and_the_next_run_has_connections_of_its_own() {
    let (requests, is_over) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let (seen, over) = (Arc::clone(&requests), Arc::clone(&is_over));
    let server = Server::new(move |stream, _, _| {
        seen.fetch_add(1, Ordering::SeqCst);
        if !over.load(Ordering::SeqCst) {
            thread::sleep(2 * LONG);
        }
        fine(stream);
        Next::Keep
    });
    let (client, cancel) = (Client::new().unwrap(), Cancel::new());
    let started = Instant::now();
    thread::scope(|scope| {
        let waits: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| server.ask(&client, &cancel)))
            .collect();
        until("all were asked", || requests.load(Ordering::SeqCst) == 8);
        cancel.cancel();
        for wait in waits {
            assert_eq!(wait.join().unwrap().unwrap_err().cause, Cause::Cancelled);
        }
    });
    assert!(started.elapsed() < LONG);
    is_over.store(true, Ordering::SeqCst);
    assert_eq!(
        server.ask(&client, &cancel).unwrap_err().cause,
        Cause::Cancelled
    );
    assert!(server.ask(&client, &Cancel::new()).is_ok());
}

#[test]
fn replies_that_are_none() {
    let cause = |reply: &'static [u8]| {
        let server = Server::new(move |stream, _, _| {
            let _ = stream.write_all(reply);
            Next::Close
        });
        let failure = server
            .ask(&Client::new().unwrap(), &Cancel::new())
            .unwrap_err();
        assert_eq!(server.connections(), 1, "{failure:?}");
        failure.cause
    };
    assert_eq!(cause(b""), Cause::Broken);
    assert_eq!(cause(b"SSH-2.0-OpenSSH\r\n\r\n"), Cause::Broken);
    assert_eq!(
        cause(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
        Cause::Broken
    );
    assert_eq!(
        cause(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        Cause::Broken
    );
    let long: &'static [u8] = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n{}",
        " ".repeat(1001)
    )
    .leak()
    .as_bytes();
    assert_eq!(cause(long), Cause::TooLarge);
    let head: &'static [u8] = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "a".repeat(1 << 20))
        .leak()
        .as_bytes();
    assert!(matches!(cause(head), Cause::TooLarge | Cause::Broken));
}

#[test]
fn nobody_there_and_no_such_name_are_unreachable() {
    let (client, cancel) = (Client::new().unwrap(), Cancel::new());
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let ask = |url: String| {
        let request = HttpRequest {
            method: "GET",
            url: &Url::new(url, "").unwrap(),
            headers: &[],
            body: None,
            deadline: None,
            max_bytes: 1,
        };
        client.send(&request, &cancel).unwrap_err()
    };
    let failure = ask(format!("http://{gone}/"));
    assert_eq!(failure.cause, Cause::Unreachable);
    assert!(failure.message.contains("refused"), "{failure:?}");
    // An invalid header.
    let url = Url::new(format!("http://{gone}/"), "").unwrap();
    let request = HttpRequest {
        method: "GET",
        url: &url,
        headers: &[("A".to_owned(), "b\nC: d".to_owned())],
        body: None,
        deadline: None,
        max_bytes: 1,
    };
    assert_eq!(
        client.send(&request, &cancel).unwrap_err().cause,
        Cause::BadRequest
    );
}

#[test]
fn a_redirect_comes_back_as_it_is() {
    let other = Server::new(|stream, _, _| {
        fine(stream);
        Next::Keep
    });
    let target = other.url.as_str().to_owned();
    let server = Server::new(move |stream, _, _| {
        let _ = write!(
            stream,
            "HTTP/1.1 307 Away\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
        );
        Next::Keep
    });
    let reply = server.ask(&Client::new().unwrap(), &Cancel::new()).unwrap();
    assert_eq!(reply.status.as_u16(), 307);
    assert_eq!(reply.location(), Some(other.url.as_str()));
    assert_eq!(other.connections(), 0);
}

#[test]
fn keys_are_hidden_but_for_those_that_are_none() {
    let message = "refused sk-secret-1 and none".to_owned();
    assert_eq!(
        hide(message, ["sk-secret-1", "none"]),
        "refused [REDACTED] and none"
    );
}
