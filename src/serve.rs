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

mod request;

use std::io::{self, Write};
use std::sync::Arc;

pub use request::ServedRequest;
use request::UnreadRequest;

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
///             _ => ServedAnswer::refused(404, "there is nothing here"),
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
            Error::infrastructure(message).hint("leave `--port` out for one that is free")
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
            let stream = connection.stream();
            let (answer, policy) = match ServedRequest::read(stream) {
                Ok(request) => guard.answer(&request, &served),
                Err(UnreadRequest::Closed) => return Ok(()),
                Err(UnreadRequest::Refused(status, why)) => {
                    (ServedAnswer::refused(status, why), None)
                }
            };
            write(&answer, policy.as_deref(), stream)
        });
        answered.map_err(|error| Error::infrastructure(format!("nobody can be answered: {error}")))
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
            let why = "open the whole address that was printed, with what stands behind the `#`";
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
            return Err(ServedAnswer::refused(421, "this is another host"));
        }
        let is_ours = |origin: &str| origin.strip_prefix("http://") == Some(&*self.host);
        match request.header("origin") {
            Some(origin) if !is_ours(origin) => {
                return Err(ServedAnswer::refused(403, "asked by another site"));
            }
            None if request.method != "GET" => {
                return Err(ServedAnswer::refused(403, "asked by no site"));
            }
            _ => {}
        }
        match request.header("sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            // A link from anywhere may lead to the bare page, which contains no data.
            Some(_) if request.path == "/" && request.method == "GET" => Ok(()),
            Some(_) => Err(ServedAnswer::refused(403, "asked by another site")),
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
