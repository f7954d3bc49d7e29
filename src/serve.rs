//! `LocalServer`: serves a web page to one user on this machine.
//!
//! It listens on 127.0.0.1 only. Other users of the machine, and pages of other sites in the same browser, can reach
//! the port, but cannot read or change anything:
//!
//! - Each request must have the `Host` `127.0.0.1:PORT`, which rejects foreign names that resolve to this address; an
//!   `Origin` must be this one, and is required for changes.
//! - Everything except the bare page, which only contains its script, requires the token: 128 random bits in the URL's
//!   fragment, which browsers do not send or reveal to other pages, returned in a header, which pages of other origins
//!   cannot set.
//! - Each response has a content security policy that only allows the page's own style and script, by their hashes.
//!
//! Each connection handles one request. The content is provided by a [`Served`].

use std::io;
use std::io::{Read, Write};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::system;
use crate::system::cancel::Cancel;
use crate::system::loopback::Loopback;

/// The header with the token.
pub const TOKEN_HEADER: &str = "evaltest-token";

/// The content of a server.
///
/// ```
/// use evaltest::engine::serve::{Served, ServedAnswer, ServedPage, ServedRequest};
///
/// struct Clock;
///
/// impl Served for Clock {
///     fn page(&self) -> ServedPage {
///         ServedPage {
///             html: "<!DOCTYPE html><title>clock</title>".to_owned(),
///             policy: "default-src 'none'".to_owned(),
///         }
///     }
///
///     fn answer(&self, request: &ServedRequest) -> ServedAnswer {
///         match &*request.path {
///             "/time" => ServedAnswer::fine("text/plain", *b"noon"),
///             _ => ServedAnswer::refused(404, "not found"),
///         }
///     }
/// }
/// ```
pub trait Served: Send + Sync {
    /// The public page; its script requests everything else.
    fn page(&self) -> ServedPage;

    /// Responds to a request with a valid token.
    fn answer(&self, request: &ServedRequest) -> ServedAnswer;
}

/// A page with its content security policy.
#[derive(Clone, Debug)]
pub struct ServedPage {
    /// The page.
    pub html: String,
    /// Its `Content-Security-Policy`.
    pub policy: String,
}

/// A response.
#[derive(Clone, Debug)]
pub struct ServedAnswer {
    /// HTTP status.
    pub status: u16,
    /// Type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Arc<[u8]>,
}

impl ServedAnswer {
    /// A successful response.
    pub fn fine(content_type: &'static str, body: impl Into<Arc<[u8]>>) -> Self {
        Self {
            status: 200,
            content_type,
            body: body.into(),
        }
    }

    /// An error response with a one-line reason.
    pub fn refused(status: u16, why: &str) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{why}\n").into_bytes().into(),
        }
    }
}

/// A local server for users who know its URL.
#[derive(Debug)]
pub struct LocalServer {
    loopback: Loopback,
    token: String,
}

impl LocalServer {
    /// Listens on a port of 127.0.0.1; 0 for any free port.
    ///
    /// # Errors
    /// If the port is in use.
    pub fn bind(port: u16) -> Result<Self> {
        let failed = |error: io::Error| {
            let message = format!("cannot listen on 127.0.0.1:{port}: {error}");
            Error::infrastructure(message).hint("omit `--port` to use a free one")
        };
        let token = system::token()
            .map_err(|error| Error::infrastructure(format!("no random bits: {error}")))?;
        Ok(Self {
            loopback: Loopback::bind(port).map_err(failed)?,
            token,
        })
    }

    /// The URL to open in a browser. It grants access to everything served.
    pub fn url(&self) -> String {
        format!("http://{}/#token={}", self.host(), self.token)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.loopback.port()
    }

    /// Serves requests until cancelled.
    ///
    /// # Errors
    /// If connections can no longer be accepted.
    pub fn serve(&self, served: impl Served + 'static, cancel: &Cancel) -> Result<()> {
        let guard = ServerGuard {
            host: self.host(),
            token: self.token.clone(),
        };
        let answered = self.loopback.serve(cancel, move |connection| {
            let (answer, policy) = match ServedRequest::read(connection) {
                Ok(request) => guard.answer(&request, &served),
                Err(UnreadRequest::Closed) => return Ok(()),
                Err(UnreadRequest::Refused(status, why)) => {
                    (ServedAnswer::refused(status, why), None)
                }
            };
            write(&answer, policy.as_deref(), connection)
        });
        answered.map_err(|error| Error::infrastructure(format!("the server failed: {error}")))
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.loopback.port())
    }
}

/// Checks which requests are allowed.
#[derive(Debug)]
struct ServerGuard {
    host: String,
    token: String,
}

impl ServerGuard {
    /// The response, and the policy if it is a page.
    fn answer(
        &self,
        request: &ServedRequest,
        served: &impl Served,
    ) -> (ServedAnswer, Option<String>) {
        if let Err(answer) = self.lets_in(request) {
            return (answer, None);
        }
        if request.path == "/" && request.method == "GET" {
            let page = served.page();
            let html = "text/html; charset=utf-8";
            let answer = ServedAnswer::fine(html, page.html.into_bytes());
            return (answer, Some(page.policy));
        }
        let given = request.header(TOKEN_HEADER).unwrap_or_default();
        if !is_same(given.as_bytes(), self.token.as_bytes()) {
            let why = "open the whole printed address, including the part after the `#`";
            return (ServedAnswer::refused(403, why), None);
        }
        (served.answer(request), None)
    }

    /// Checks that a request comes from this server's own page.
    fn lets_in(&self, request: &ServedRequest) -> Result<(), ServedAnswer> {
        if !matches!(&*request.method, "GET" | "POST") {
            return Err(ServedAnswer::refused(405, "neither GET nor POST"));
        }
        if request.header("host") != Some(&*self.host) {
            return Err(ServedAnswer::refused(421, "wrong host"));
        }
        let is_ours = |origin: &str| origin.strip_prefix("http://") == Some(&*self.host);
        match request.header("origin") {
            Some(origin) if !is_ours(origin) => {
                return Err(ServedAnswer::refused(403, "request from another site"));
            }
            None if request.method != "GET" => {
                return Err(ServedAnswer::refused(403, "request without a site"));
            }
            _ => {}
        }
        match request.header("sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            // A link from anywhere may lead to the bare page, which contains no data.
            Some(_) if request.path == "/" && request.method == "GET" => Ok(()),
            Some(_) => Err(ServedAnswer::refused(403, "request from another site")),
        }
    }
}

/// Constant-time comparison.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differs = |(one, other): (&u8, &u8)| one ^ other;
    let bits = one.iter().zip(other).map(differs);
    one.len() == other.len() && bits.fold(0, |all, bits| all | bits) == 0
}

fn write(answer: &ServedAnswer, policy: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let words = match answer.status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    };
    let policy = policy.unwrap_or("default-src 'none'");
    write!(
        out,
        "HTTP/1.1 {} {words}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Content-Security-Policy: {policy}; frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\r\n",
        answer.status,
        answer.content_type,
        answer.body.len(),
    )?;
    out.write_all(&answer.body)?;
    out.flush()
}

/// Limit of the request head, in bytes. The intended clients send less.
const HEAD_BYTES: usize = 16 << 10;
/// Limit of the body, in bytes.
const BODY_BYTES: usize = 4 << 20;

/// An HTTP request.
#[derive(Clone, Debug)]
pub struct ServedRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The part after `?`.
    pub query: String,
    /// Names are in lower case.
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why no request was read.
#[derive(Debug)]
enum UnreadRequest {
    /// The connection was closed before a whole request arrived.
    Closed,
    /// The HTTP status to respond with, and the reason.
    Refused(u16, &'static str),
}

impl ServedRequest {
    /// The value of a header; `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// Reads a request.
    fn read(from: &mut dyn Read) -> Result<Self, UnreadRequest> {
        let mut read = Vec::new();
        let head = loop {
            if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end;
            }
            if read.len() > HEAD_BYTES {
                return Err(UnreadRequest::Refused(431, "the head is too long"));
            }
            more(from, &mut read)?;
        };
        let body = read.split_off(head + 4);
        read.truncate(head);
        let mut request = Self::of_head(&read)?;
        request.body = body;
        let length = match request.header("content-length") {
            None => 0,
            Some(length) => {
                let digits = length.bytes().all(|byte| byte.is_ascii_digit());
                let length = length.parse::<usize>().ok().filter(|_| digits);
                length.ok_or(UnreadRequest::Refused(400, "no length"))?
            }
        };
        if request.header("transfer-encoding").is_some() {
            return Err(UnreadRequest::Refused(400, "a body without a length"));
        }
        if length > BODY_BYTES {
            return Err(UnreadRequest::Refused(413, "request too large"));
        }
        while request.body.len() < length {
            more(from, &mut request.body)?;
        }
        request.body.truncate(length);
        Ok(request)
    }

    fn of_head(head: &[u8]) -> Result<Self, UnreadRequest> {
        const WRONG: UnreadRequest = UnreadRequest::Refused(400, "not an HTTP request");
        let head = std::str::from_utf8(head).map_err(|_| WRONG)?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(WRONG);
        };
        if !target.starts_with('/') {
            return Err(WRONG);
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers: Vec<(String, String)> = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(WRONG)?;
            let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            let has_control = value.chars().any(|c| c.is_control() && c != '\t');
            if name.is_empty() || !name.bytes().all(is_of_name) || has_control {
                return Err(WRONG);
            }
            let name = name.to_ascii_lowercase();
            // If one of these came twice, two readers could use different values.
            let once = ["host", "origin", "content-length", TOKEN_HEADER];
            if once.contains(&&*name) && headers.iter().any(|(known, _)| *known == name) {
                return Err(UnreadRequest::Refused(400, "a header occurs twice"));
            }
            headers.push((name, value.trim().to_owned()));
        }
        Ok(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers,
            body: Vec::new(),
        })
    }
}

fn more(from: &mut dyn Read, into: &mut Vec<u8>) -> Result<(), UnreadRequest> {
    let mut piece = [0; 8 << 10];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Err(UnreadRequest::Closed),
            Ok(count) => {
                into.extend_from_slice(&piece[..count]);
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(UnreadRequest::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Served for Fixed {
        fn page(&self) -> ServedPage {
            ServedPage {
                html: "page".to_owned(),
                policy: "default-src 'none'".to_owned(),
            }
        }

        fn answer(&self, request: &ServedRequest) -> ServedAnswer {
            ServedAnswer::fine("text/plain", request.body.clone())
        }
    }

    #[test]
    fn only_who_has_the_token_and_the_right_host_is_answered() {
        fn check(request: &str, expect: u16) {
            let guard = ServerGuard {
                host: "127.0.0.1:7".to_owned(),
                token: "secret".to_owned(),
            };
            let request = request.replace('\n', "\r\n");
            let status = match ServedRequest::read(&mut request.as_bytes()) {
                Ok(request) => guard.answer(&request, &Fixed).0.status,
                Err(UnreadRequest::Refused(status, _)) => status,
                Err(UnreadRequest::Closed) => 0,
            };
            assert_eq!(status, expect, "{request}");
        }
        const HOST: &str = "Host: 127.0.0.1:7";
        const TOKEN: &str = "Evaltest-Token: secret";
        const ORIGIN: &str = "Origin: http://127.0.0.1:7";
        check(&format!("GET / HTTP/1.1\n{HOST}\n\n"), 200);
        check(
            &format!("GET / HTTP/1.1\n{HOST}\nSec-Fetch-Site: cross-site\n\n"),
            200,
        );
        check(&format!("GET /a HTTP/1.1\n{HOST}\n{TOKEN}\n\n"), 200);
        check(
            &format!("GET /a HTTP/1.1\n{HOST}\n{TOKEN}\n{ORIGIN}\n\n"),
            200,
        );
        check(
            &format!("POST /a HTTP/1.1\n{HOST}\n{TOKEN}\n{ORIGIN}\nContent-Length: 2\n\nok"),
            200,
        );
        check(&format!("POST /a HTTP/1.1\n{HOST}\n{TOKEN}\n\n"), 403);
        check(&format!("GET /a HTTP/1.1\n{HOST}\n\n"), 403);
        check(&format!("GET /a HTTP/1.1\n{HOST}\n{TOKEN}x\n\n"), 403);
        check(
            &format!("GET /a?secret HTTP/1.1\n{HOST}\nEvaltest-Token:\n\n"),
            403,
        );
        check(
            &format!("GET /a HTTP/1.1\n{HOST}\n{TOKEN}\nSec-Fetch-Site: cross-site\n\n"),
            403,
        );
        for origin in [
            "http://127.0.0.1:8",
            "http://evil.example",
            "null",
            "https://127.0.0.1:7",
        ] {
            check(
                &format!("GET / HTTP/1.1\n{HOST}\nOrigin: {origin}\n\n"),
                403,
            );
        }
        for host in [
            "evil.example:7",
            "127.0.0.1",
            "localhost:7",
            "127.0.0.1:7.evil.example",
            "",
        ] {
            check(&format!("GET / HTTP/1.1\nHost: {host}\n\n"), 421);
        }
        check("GET / HTTP/1.1\n\n", 421);
        check(&format!("DELETE /a HTTP/1.1\n{HOST}\n{TOKEN}\n\n"), 405);
        // Reject duplicate headers: different parsers may use different ones.
        check(
            &format!("GET / HTTP/1.1\n{HOST}\nHost: evil.example\n\n"),
            400,
        );
    }
}

#[cfg(test)]
mod request_tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_refused() {
        fn check(bytes: &[u8], expect: Result<(&str, &str, usize), u16>) {
            let read = ServedRequest::read(&mut &*bytes);
            let found = match &read {
                Ok(it) => Ok((&*it.path, &*it.query, it.body.len())),
                Err(UnreadRequest::Closed) => Err(0),
                Err(UnreadRequest::Refused(status, _)) => Err(*status),
            };
            assert_eq!(found, expect, "{}", String::from_utf8_lossy(bytes));
        }
        check(b"GET /a?b=c HTTP/1.1\r\nA: b\r\n\r\n", Ok(("/a", "b=c", 0)));
        check(
            b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd",
            Ok(("/", "", 3)),
        );
        check(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", Err(0));
        check(
            b"POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc",
            Err(400),
        );
        check(
            b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
            Err(413),
        );
        check(
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            Err(400),
        );
        check(b"GET http://a/ HTTP/1.1\r\n\r\n", Err(400));
        check(b"GET / HTTP/2\r\n\r\n", Err(400));
        check(b"GET /\xff HTTP/1.1\r\n\r\n", Err(400));
        check(b"GET / HTTP/1.1\r\nA b\r\n\r\n", Err(400));
        check(b"GET / HTTP/1.1\r\nA: b\nHost: c\r\n\r\n", Err(400));
        check(b"GET / HTTP/1.1\r\n : b\r\n\r\n", Err(400));
        check(b"", Err(0));
        check(&b"a".repeat(20 << 10), Err(431));
    }
}
