//! Unpacks bodies: gzip and deflate, also where the header does not name them, as some servers and proxies send them.
//!
//! No request asks for an encoding, so a packed body is the server's fault; but every usual client reads it. Another
//! encoding, such as `br`, stays packed and is named, for the message on a body that cannot be read.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ureq::http::HeaderMap;
use ureq::http::header::CONTENT_ENCODING;

use super::failure::{Cause, Failure};

/// The most encodings of one body.
const LAYERS: usize = 4;
/// The first bytes of gzip with its only method.
const GZIP: &[u8] = &[0x1f, 0x8b, 8];

/// What unpacks one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Zlib,
    /// Deflate without the header of zlib, which some servers send by that name.
    Deflate,
}

/// Why a layer cannot be unpacked.
enum Fault {
    Broken,
    TooLarge,
}

/// The body without its encodings.
///
/// # Errors
/// If a named encoding breaks off, or the body has more than `max_bytes`.
pub(super) fn unpack(
    headers: &HeaderMap,
    mut body: Vec<u8>,
    max_bytes: u64,
) -> Result<Vec<u8>, Failure> {
    for _ in 0..LAYERS {
        let Some((coding, is_named)) = coding(headers, &body) else {
            break;
        };
        body = match coding.unpack(&body, max_bytes) {
            Ok(body) => body,
            Err(Fault::TooLarge) => {
                let message = format!("answered with more than {max_bytes} bytes");
                return Err(Failure::new(Cause::TooLarge, message));
            }
            // A packed body that nobody named may be a text that only looks like one.
            Err(Fault::Broken) if !is_named => break,
            Err(Fault::Broken) => {
                let message = format!(
                    "sent an answer whose `Content-Encoding: {}` cannot be decoded",
                    named(headers).unwrap_or_default()
                );
                return Err(Failure::new(Cause::Broken, message));
            }
        };
    }
    Ok(body)
}

/// What a program printed, unpacked as far as it is packed and has at most `max_bytes`.
pub(crate) fn unpack_output(output: Vec<u8>, max_bytes: u64) -> Option<Vec<u8>> {
    unpack(&HeaderMap::new(), output, max_bytes).ok()
}

/// The encoding that the header names, if it is one that stays packed.
pub(super) fn unknown(headers: &HeaderMap) -> Option<&str> {
    let name = headers.get(CONTENT_ENCODING)?.to_str().ok()?.trim();
    let mut names = name.split(',').map(str::trim);
    let is_known = |name: &str| {
        ["gzip", "x-gzip", "deflate", "identity", "utf-8", ""]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
    };
    names.any(|name| !is_known(name)).then_some(name)
}

fn named(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_ENCODING)?.to_str().ok()
}

/// The outermost layer of a body, and whether the header names it; `None` if it is not packed.
fn coding(headers: &HeaderMap, body: &[u8]) -> Option<(Coding, bool)> {
    let name = named(headers).unwrap_or_default().to_ascii_lowercase();
    if body.starts_with(GZIP) {
        return Some((Coding::Gzip, name.contains("gzip")));
    }
    let is_deflate = name.contains("deflate");
    if is_zlib(body) {
        return Some((Coding::Zlib, is_deflate));
    }
    // A proxy that unpacks may leave the header.
    (is_deflate && !body.is_empty() && std::str::from_utf8(body).is_err())
        .then_some((Coding::Deflate, true))
}

/// Whether the body has the header of zlib with a usual window.
fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [0x78, flags, ..] if (0x7800 + u16::from(*flags)).is_multiple_of(31))
}

impl Coding {
    fn unpack(self, body: &[u8], max_bytes: u64) -> Result<Vec<u8>, Fault> {
        match self {
            Self::Gzip => read(MultiGzDecoder::new(body), max_bytes),
            Self::Zlib => read(ZlibDecoder::new(body), max_bytes),
            Self::Deflate => read(DeflateDecoder::new(body), max_bytes),
        }
    }
}

fn read(packed: impl Read, max_bytes: u64) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    let mut limited = packed.take(max_bytes.saturating_add(1));
    limited.read_to_end(&mut body).map_err(|_| Fault::Broken)?;
    if body.len() as u64 > max_bytes {
        return Err(Fault::TooLarge);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;
    use crate::tests::fuzz::fuzz;

    const TEXT: &[u8] = "{\"answer\": \"é\"}".as_bytes();

    fn packed(coding: Coding, text: &[u8]) -> Vec<u8> {
        macro_rules! pack {
            ($encoder:ident) => {{
                let mut encoder = $encoder::new(Vec::new(), Compression::fast());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }};
        }
        match coding {
            Coding::Gzip => pack!(GzEncoder),
            Coding::Zlib => pack!(ZlibEncoder),
            Coding::Deflate => pack!(DeflateEncoder),
        }
    }

    fn headers(name: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !name.is_empty() {
            headers.insert(CONTENT_ENCODING, name.parse().unwrap());
        }
        headers
    }

    #[test]
    fn bodies_are_unpacked_whether_named_or_not() {
        let check = |name: &str, body: Vec<u8>, expect: &[u8]| {
            let read = unpack(&headers(name), body, 100).unwrap();
            assert_eq!(read, expect, "{name:?}");
        };
        let [gzip, zlib, raw] =
            [Coding::Gzip, Coding::Zlib, Coding::Deflate].map(|coding| packed(coding, TEXT));
        for name in ["gzip", "x-gzip", "GZIP", "", "br", "deflate"] {
            check(name, gzip.clone(), TEXT);
        }
        for name in ["deflate", "", "gzip"] {
            check(name, zlib.clone(), TEXT);
        }
        check("deflate", raw.clone(), TEXT);
        check("", raw.clone(), &raw);
        check("deflate, gzip", packed(Coding::Gzip, &raw), TEXT);
        check("gzip, gzip", packed(Coding::Gzip, &gzip), TEXT);
        // Members one after the other are one body.
        check(
            "gzip",
            [gzip.clone(), gzip].concat(),
            &[TEXT, TEXT].concat(),
        );
        for name in ["gzip", "deflate", "br", ""] {
            check(name, TEXT.to_vec(), TEXT);
            check(name, Vec::new(), b"");
        }
        // A text that begins as zlib does.
        check("", b"x^2 + 1".to_vec(), b"x^2 + 1");
    }

    #[test]
    fn what_breaks_off_or_is_too_large_is_a_failure() {
        let check = |name: &str, body: Vec<u8>, expect: Cause| {
            let failure = unpack(&headers(name), body, 100).unwrap_err();
            assert_eq!(failure.cause, expect, "{name:?}");
        };
        let mut half = packed(Coding::Gzip, TEXT);
        half.truncate(half.len() / 2);
        check("gzip", half, Cause::Broken);
        for coding in [Coding::Gzip, Coding::Zlib] {
            check("", packed(coding, &[b'a'; 101]), Cause::TooLarge);
        }
        assert_eq!(unknown(&headers("br")), Some("br"));
        assert_eq!(unknown(&headers("gzip, zstd")), Some("gzip, zstd"));
        assert_eq!(unknown(&headers("gzip")), None);
    }

    #[test]
    fn no_body_breaks_the_reader() {
        fuzz(|dice| {
            let coding = [Coding::Gzip, Coding::Zlib, Coding::Deflate][dice.below(3)];
            let mut body = packed(coding, dice.wild(&["{", "}", "a"]).as_bytes());
            if !body.is_empty() {
                let place = dice.below(body.len());
                body[place] ^= 1 << dice.below(8);
            }
            let name = dice.pick(&["", "gzip", "deflate"]);
            let _ = unpack(&headers(name), body, 10_000);
        });
    }
}
