//! Requests to a provider, and what an agent is answered with: the provider's reply, a recorded one, or a refusal.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::http::header::{CONTENT_ENCODING, HeaderMap};
use ureq::http::{Response, StatusCode};

use super::cassette::{CONTENT_TYPE, StoredResponse, bytes};
use super::request::{ApiRequest, BODY_BYTES};
use crate::error::Error;
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::system::http::{Client, Failure, HttpRequest, Url};
use crate::system::loopback::LoopbackConnection;

/// What a call is answered with that is not recorded. Clients repeat 5xx, unless they are asked not to.
pub(super) const NOT_RECORDED: u16 = 599;
/// Headers that concern one connection, or are ours to set.
const OF_CONNECTION: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Types of bodies that come in pieces.
const STREAMED: [&str; 6] = [
    "text/event-stream",
    "application/x-ndjson",
    "application/jsonl",
    "application/stream+json",
    "application/json-seq",
    "application/vnd.amazon.eventstream",
];

/// Answers with an error in the form in which the providers write it, and ends the connection.
pub(super) fn refuse(to: &mut dyn Write, status: u16, why: &str) -> io::Result<()> {
    let message = format!("evaltest: {why}");
    let body = json!({"error": {"message": message, "type": "evaltest", "code": status}});
    let body = body.to_string();
    let headers = format!(
        "content-type: application/json\r\nx-should-retry: false\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    let words = match status {
        NOT_RECORDED => "evaltest: not recorded",
        _ => "evaltest",
    };
    let head = format!("HTTP/1.1 {status} {words}\r\n{headers}\r\n");
    to.write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
    to.flush()
}

/// Sends a request on.
pub(super) fn ask(
    client: &Client,
    (upstream, path): (&Url, &str),
    request: &ApiRequest,
    deadline: Option<Instant>,
    cancel: &Cancel,
) -> std::result::Result<Response<ureq::Body>, Failure> {
    let wrong = |error: Error| {
        Failure::of(
            &ureq::Error::BadUri(error.message().to_owned()),
            Duration::ZERO,
        )
    };
    let url = Url::new(joined(upstream.as_str(), path), "").map_err(wrong)?;
    let headers = request.headers.iter();
    let headers: Vec<_> = headers
        .filter(|(name, _)| !OF_CONNECTION.contains(&&**name))
        .cloned()
        .collect();
    let has_body = !request.body.is_empty() || ["POST", "PUT", "PATCH"].contains(&&*request.method);
    let sent = HttpRequest {
        method: &request.method,
        url: &url,
        headers: &headers,
        body: has_body.then_some(&request.body),
        deadline,
        max_bytes: BODY_BYTES as u64,
    };
    let now = clock::now();
    let allowed = deadline.map_or(Duration::ZERO, |deadline| {
        deadline.saturating_duration_since(now)
    });
    client
        .open(&sent, cancel)
        .map_err(|error| Failure::of(&error, allowed))
}

/// The address of a path at a provider. Some clients append the version that the base has already.
fn joined(base: &str, path: &str) -> String {
    let end = base.rsplit_once('/').map_or("", |(_, end)| end);
    let is_version = end.starts_with('v') && end.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let rest = path[1..]
        .strip_prefix(end)
        .filter(|rest| is_version && rest.starts_with('/'));
    format!("{base}{}", rest.unwrap_or(path))
}

/// The head of a provider's answer.
pub(super) struct Head {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    pub(super) content_type: Option<(String, String)>,
    pub(super) is_stream: bool,
}

impl Head {
    pub(super) fn of(answered: &Response<ureq::Body>, request: &ApiRequest) -> Self {
        let headers = answered.headers().clone();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let content_type = text(CONTENT_TYPE).map(str::to_owned);
        let is_streamed = content_type.as_deref().is_some_and(|content_type| {
            STREAMED
                .iter()
                .any(|streamed| content_type.starts_with(streamed))
        });
        let is_asked = || {
            let body = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
            body["stream"] == true || request.target.contains(":stream")
        };
        let is_packed = headers.contains_key(CONTENT_ENCODING);
        let is_success = answered.status().is_success() && request.method != "HEAD";
        Self {
            status: answered.status(),
            is_stream: is_success && !is_packed && (is_streamed || is_asked()),
            content_type: content_type.map(|value| (CONTENT_TYPE.to_owned(), value)),
            headers,
        }
    }

    /// Its first line and headers, but for those of the connection.
    fn text(&self) -> Vec<u8> {
        let mut text = first_line(self.status);
        for (name, value) in &self.headers {
            let is_own = OF_CONNECTION.contains(&name.as_str()) || name == CONTENT_ENCODING;
            if !is_own {
                text.extend_from_slice(name.as_str().as_bytes());
                text.extend_from_slice(b": ");
                text.extend_from_slice(value.as_bytes());
                text.extend_from_slice(b"\r\n");
            }
        }
        text
    }

    pub(super) fn write_whole(
        &self,
        body: &[u8],
        request: &ApiRequest,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        whole(self.text(), body, request, to)
    }

    pub(super) fn begin(&self, to: &mut dyn Write) -> io::Result<()> {
        begin_chunks(self.text(), to)
    }
}

fn first_line(status: StatusCode) -> Vec<u8> {
    let words = status.canonical_reason().unwrap_or("Status");
    format!("HTTP/1.1 {} {words}\r\n", status.as_u16()).into_bytes()
}

fn whole(
    mut head: Vec<u8>,
    body: &[u8],
    request: &ApiRequest,
    to: &mut dyn Write,
) -> io::Result<()> {
    let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
    if request.method != "HEAD" {
        head.extend_from_slice(body);
    }
    to.write_all(&head)?;
    to.flush()
}

fn begin_chunks(mut head: Vec<u8>, to: &mut dyn Write) -> io::Result<()> {
    head.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
    to.write_all(&head)?;
    to.flush()
}

/// A piece of a stream, sent at once.
pub(super) fn chunk(bytes: &[u8], to: &mut dyn Write) -> io::Result<()> {
    let mut piece = format!("{:x}\r\n", bytes.len()).into_bytes();
    piece.extend_from_slice(bytes);
    piece.extend_from_slice(b"\r\n");
    to.write_all(&piece)?;
    to.flush()
}

/// Answers with what was recorded; `false` if that was cut off.
pub(super) fn replay(
    response: &StoredResponse,
    request: &ApiRequest,
    to: &mut LoopbackConnection,
) -> io::Result<bool> {
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut head = first_line(status);
    for (name, value) in &response.headers {
        let value = value.replace(['\r', '\n'], " ");
        let name = name.replace(['\r', '\n', ':'], "");
        head.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    let Some(chunks) = &response.chunks else {
        let body = response.body.as_ref().map(bytes).unwrap_or_default();
        return whole(head, &body, request, to).map(|()| true);
    };
    begin_chunks(head, to)?;
    for (_, piece) in chunks {
        let piece = bytes(piece);
        if !piece.is_empty() {
            chunk(&piece, to)?;
        }
    }
    if response.broken_off.is_some() {
        return Ok(false);
    }
    to.write_all(b"0\r\n\r\n")?;
    to.flush()?;
    Ok(true)
}
