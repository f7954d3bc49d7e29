//! `ServedRequest`: a browser's HTTP request, parsed strictly and limited in size.

use std::io::{self, Read};

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
pub(super) enum UnreadRequest {
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
    pub(super) fn read(from: &mut dyn Read) -> Result<Self, UnreadRequest> {
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
            return Err(UnreadRequest::Refused(413, "too much at once"));
        }
        while request.body.len() < length {
            more(from, &mut request.body)?;
        }
        request.body.truncate(length);
        Ok(request)
    }

    fn of_head(head: &[u8]) -> Result<Self, UnreadRequest> {
        const WRONG: UnreadRequest = UnreadRequest::Refused(400, "no request of HTTP");
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
            let once = ["host", "origin", "content-length", super::TOKEN_HEADER];
            if once.contains(&&*name) && headers.iter().any(|(known, _)| *known == name) {
                return Err(UnreadRequest::Refused(400, "a header stands twice"));
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
