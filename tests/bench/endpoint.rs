//! An endpoint in a process of its own, so that its CPU does not count: it gives every request the same reply after the
//! same pause.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// Set in the process that is the endpoint.
const ENDPOINT: &str = "EVALTEST_BENCH_ENDPOINT";
/// Its threads have little to do.
const STACK: usize = 64 << 10;

/// Whether this process is to be the endpoint.
pub(crate) fn is_requested() -> bool {
    std::env::var_os(ENDPOINT).is_some()
}

/// Starts the endpoint, which tells where it is.
pub(crate) fn start() -> io::Result<(Child, String)> {
    let mut child = Command::new(std::env::current_exe()?)
        .env(ENDPOINT, "1")
        .stdout(Stdio::piped())
        .spawn()?;
    let mut url = String::new();
    let out = child
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("no stdout"))?;
    BufReader::new(out).read_line(&mut url)?;
    Ok((child, url.trim().to_owned()))
}

/// Is the endpoint, until the process is killed.
pub(crate) fn serve(pause: Duration, reply: &str) -> io::Result<ExitCode> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut out = io::stdout();
    writeln!(out, "http://{}/answer", listener.local_addr()?)?;
    out.flush()?;
    let reply = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{reply}",
        reply.len()
    );
    for stream in listener.incoming() {
        let stream = stream?;
        let reply = reply.clone();
        let serve = move || {
            let _ = answer(stream, pause, reply.as_bytes());
        };
        std::thread::Builder::new().stack_size(STACK).spawn(serve)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Answers every request of a connection after the pause.
fn answer(mut stream: TcpStream, pause: Duration, reply: &[u8]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            let line = line.to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
        std::thread::sleep(pause);
        stream.write_all(reply)?;
    }
}
