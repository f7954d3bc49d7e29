//! `ApiRequest`: a request of HTTP, as an agent's client sends it.

use std::io::{self, Read, Write};

use crate::system::loopback::LoopbackConnection;

/// The longest head of a request.
const HEAD_BYTES: usize = 64 << 10;
/// The longest body of a request.
pub(super) const BODY_BYTES: usize = 256 << 20;

/// A request.
pub(super) struct ApiRequest {
    pub(super) method: String,
    /// The path with its query.
    pub(super) target: String,
    /// Names are in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Whether the client takes a body in pieces, and keeps the connection.
    pub(super) keeps: bool,
}

/// Why no request was read: the status to answer with, and the reason.
pub(super) type Refused = (u16, &'static str);

/// What a connection has sent beyond the requests that were read.
#[derive(Default)]
pub(super) struct Incoming(Vec<u8>);

impl Incoming {
    /// Reads the next request; `None` if the client closed the connection.
    pub(super) fn request(
        &mut self,
        from: &mut LoopbackConnection,
    ) -> io::Result<Option<Result<ApiRequest, Refused>>> {
        let end = loop {
            if let Some(end) = memchr::memmem::find(&self.0, b"\r\n\r\n") {
                break end;
            }
            if self.0.len() > HEAD_BYTES {
                return Ok(Some(Err((431, "the head is too long"))));
            }
            if !self.more(from)? {
                return Ok(None);
            }
        };
        let rest = self.0.split_off(end + 4);
        let head = std::mem::replace(&mut self.0, rest);
        let Some(mut request) = ApiRequest::of_head(&head[..end]) else {
            return Ok(Some(Err((400, "not an HTTP request"))));
        };
        if request.header("expect").is_some() {
            from.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let is_chunked = request
            .header("transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        if is_chunked {
            return Ok(Some(match self.chunks(from)? {
                Ok(body) => {
                    request.body = body;
                    Ok(request)
                }
                Err(refused) => Err(refused),
            }));
        }
        let length = match request.header("content-length") {
            None => 0,
            Some(length) => match length.parse::<usize>() {
                Ok(length) => length,
                Err(_) => return Ok(Some(Err((400, "no length")))),
            },
        };
        if length > BODY_BYTES {
            return Ok(Some(Err((413, "the body is too long"))));
        }
        while self.0.len() < length {
            self.expect_more(from)?;
        }
        let rest = self.0.split_off(length);
        request.body = std::mem::replace(&mut self.0, rest);
        Ok(Some(Ok(request)))
    }

    /// A body in pieces.
    fn chunks(&mut self, from: &mut LoopbackConnection) -> io::Result<Result<Vec<u8>, Refused>> {
        const WRONG: Refused = (400, "a body that is not in chunks");
        let mut body = Vec::new();
        loop {
            let line = self.line(from)?;
            let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
            let size = std::str::from_utf8(size).map(str::trim);
            let size = size.map(|size| usize::from_str_radix(size, 16));
            let Ok(Ok(size)) = size else {
                return Ok(Err(WRONG));
            };
            if size == 0 {
                // Trailers end with an empty line.
                while !self.line(from)?.is_empty() {}
                return Ok(Ok(body));
            }
            if size > BODY_BYTES || body.len() + size > BODY_BYTES {
                return Ok(Err((413, "the body is too long")));
            }
            while self.0.len() < size + 2 {
                self.expect_more(from)?;
            }
            body.extend(self.0.drain(..size));
            if !self.line(from)?.is_empty() {
                return Ok(Err(WRONG));
            }
        }
    }

    /// The next line, without its end.
    fn line(&mut self, from: &mut LoopbackConnection) -> io::Result<Vec<u8>> {
        loop {
            if let Some(end) = memchr::memmem::find(&self.0, b"\r\n") {
                let line = self.0[..end].to_vec();
                self.0.drain(..end + 2);
                return Ok(line);
            }
            if self.0.len() > HEAD_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.expect_more(from)?;
        }
    }

    fn expect_more(&mut self, from: &mut LoopbackConnection) -> io::Result<()> {
        if self.more(from)? {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    /// Reads what there is; `false` at the end.
    fn more(&mut self, from: &mut LoopbackConnection) -> io::Result<bool> {
        let mut piece = [0; 16 << 10];
        let count = from.read(&mut piece)?;
        self.0.extend_from_slice(&piece[..count]);
        Ok(count > 0)
    }
}

impl ApiRequest {
    fn of_head(head: &[u8]) -> Option<Self> {
        let head = std::str::from_utf8(head).ok()?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_http = ["HTTP/1.1", "HTTP/1.0"].contains(&version);
        if !is_http || words.next().is_some() || !target.starts_with('/') {
            return None;
        }
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        });
        let mut request = Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers.collect::<Option<_>>()?,
            body: Vec::new(),
            keeps: version == "HTTP/1.1",
        };
        let closes = request
            .header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"));
        request.keeps &= !closes;
        Some(request)
    }

    /// The value of a header; `name` must be in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }
}
