//! `Client`: blocking HTTP requests, from hundreds of threads at once.
//!
//! An [`HttpRequest`] is sent over a pooled connection and returns an [`HttpReply`], or a [`Failure`] that says
//! whether a retry may help. Retries are left to the caller, because every request may cost money. The one exception
//! cannot have been billed: if the server had closed an idle pooled connection, the request is sent once more over a
//! new one.
//!
//! Invariants:
//! - A deadline covers everything: DNS, connecting, TLS, sending, waiting and reading.
//! - Cancellation ends a wait immediately; only a DNS lookup or connect in progress may continue for a few seconds.
//! - Memory per reply is limited by the request's `max_bytes`, packed and unpacked, and 32 KiB of headers.
//! - A body is unpacked where it is gzip or deflate, though no request asks for that.
//! - Redirects are not followed, so that keys are not sent to other hosts.
//! - Proxies and certificates are taken from the environment, as in other programs; local addresses use no proxy.

mod client;
mod connect;
mod deadline;
mod encoding;
mod failure;
mod filler;
mod proxy;
mod resolve;
#[cfg(test)]
mod tests;

pub(crate) use client::{Client, HttpReply, HttpRequest};
pub(crate) use encoding::unpack_output;
pub(crate) use failure::{Cause, Failure};
pub(crate) use filler::Filler;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use ureq::http::{HeaderMap, Uri};

use crate::error::{Error, Result};
use crate::system::variables;
use crate::text::redact::{REDACTED, is_secret_parameter};

/// Shorter keys, such as `none` for a local server, are not secret.
const SECRET_BYTES: usize = 8;

/// The value of a variable used in a header, from the environment, or else from the `.env` file in the root of the
/// workspace that contains `folder`. `option` is the spec key with the variable's name.
///
/// # Errors
/// If its name is invalid, if it is not set, or if its value is not valid in a header.
pub(crate) fn from_variable(name: &str, option: &str, folder: &Path) -> Result<String> {
    let key = variable(name, option, folder)?;
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!(
            "the value of `{name}` cannot be a key: it has a space, or a character that is not plain ASCII"
        );
        return Err(Error::usage(message));
    }
    Ok(key)
}

/// The same for a value that may have other characters.
fn variable(name: &str, option: &str, folder: &Path) -> Result<String> {
    if !is_name(name) {
        // Do not print it: it may be the key itself.
        let key = option.split(':').next().unwrap_or_default();
        let error = Error::usage(format!(
            "`{key}` needs the name of a variable, not its value"
        ));
        return Err(error.hint("write `MY_KEY=…` into `.env`, and `MY_KEY` into the spec"));
    }
    let found = match std::env::var(name) {
        Ok(key) => Some(key),
        Err(_) => variables::from_dot_env(&[name.to_owned()], folder)?.remove(name),
    };
    let key = found.unwrap_or_default().trim().to_owned();
    if key.is_empty() {
        let message = format!("`{option}` is set neither in the environment nor in `.env`");
        return Err(Error::usage(message).hint(format!("write `{name}=…` into `.env`")));
    }
    Ok(key)
}

/// Whether it is a valid variable name.
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_part) && !text.as_bytes()[0].is_ascii_digit()
}

/// Removes keys from a message: some endpoints repeat a rejected key.
pub(crate) fn hide<'a>(message: String, keys: impl IntoIterator<Item = &'a str>) -> String {
    let secret = keys.into_iter().filter(|key| key.len() >= SECRET_BYTES);
    secret.fold(message, |message, key| message.replace(key, REDACTED))
}

#[cfg(test)]
mod key_tests {
    use super::*;

    #[test]
    fn a_key_in_place_of_a_name_is_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "sk-abcdefgh12345678", "1KEY", "MY KEY", "MY_KEY=1"] {
            let option = format!("api_key_env: {name}");
            let error = from_variable(name, &option, folder.path()).unwrap_err();
            assert_eq!(
                error.message(),
                "`api_key_env` needs the name of a variable, not its value"
            );
            assert!(error.hint_text().unwrap().contains("MY_KEY"));
            assert_eq!(error.exit(), crate::Exit::Usage);
        }
    }
}

/// The pause requested by `Retry-After` (seconds or a date) or by `retry-after-ms`, which some endpoints add. `None`
/// if there is no valid one; zero for a date in the past.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let now = crate::system::clock::timestamp();
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| parse_seconds(text, 1000.0));
    milliseconds.or_else(|| pause(text("retry-after")?, now))
}

fn pause(text: &str, now: jiff::Timestamp) -> Option<Duration> {
    if let Some(pause) = parse_seconds(text, 1.0) {
        return Some(pause);
    }
    // HTTP dates are a subset of the format for mail.
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

fn parse_seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(number / unit).ok()
}

#[cfg(test)]
mod retry_tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_pauses() {
        let now: jiff::Timestamp = "2026-10-21T07:28:00Z".parse().unwrap();
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(
                pause(text, now),
                expect.map(Duration::from_millis),
                "{text}"
            );
        };
        check("0", Some(0));
        check("120", Some(120_000));
        check("1.5", Some(1500));
        check("Wed, 21 Oct 2026 07:28:30 GMT", Some(30_000));
        check("Wed, 21 Oct 2026 07:27:00 GMT", Some(0));
        for text in [
            "",
            "soon",
            "-1",
            "NaN",
            "inf",
            "1e400",
            "Wed, 40 Oct 2026 07:28:30 GMT",
        ] {
            check(text, None);
        }
        let mut headers = HeaderMap::new();
        assert_eq!(retry_after(&headers), None);
        headers.insert("retry-after", "7".parse().unwrap());
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(7)));
        headers.insert("retry-after-ms", "250".parse().unwrap());
        assert_eq!(retry_after(&headers), Some(Duration::from_millis(250)));
    }
}

/// An absolute `http` or `https` URL without a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    text: String,
    is_local: bool,
}

impl Url {
    /// Validates a URL.
    ///
    /// # Errors
    /// If it is invalid (with `example` as the hint), or contains a password.
    pub(crate) fn new(text: impl Into<String>, example: &str) -> Result<Self> {
        let text = text.into();
        let parsed: Option<Uri> = text.parse().ok();
        let authority = parsed.as_ref().and_then(Uri::authority);
        // Check this before the URL appears in any message.
        if authority.is_some_and(|authority| authority.as_str().contains('@')) {
            let message = "the URL of the endpoint contains a password";
            return Err(Error::usage(message).hint("name the variable of a key: `api_key_env`"));
        }
        let scheme = parsed.as_ref().and_then(Uri::scheme_str);
        let host = parsed.as_ref().and_then(Uri::host).unwrap_or_default();
        if !matches!(scheme, Some("http" | "https")) || host.is_empty() || text.contains('#') {
            let message = format!("`{text}` is not the URL of an endpoint");
            return Err(Error::usage(message).hint(format!("write `{example}`")));
        }
        Ok(Self {
            is_local: is_local(host),
            text,
        })
    }

    /// The URL as given.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is a local address, which a proxy cannot reach.
    pub(crate) fn is_local(&self) -> bool {
        self.is_local
    }

    /// Keys in the URL's query: `?key=…`.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let query = self.text.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter_map(|(name, value)| is_secret_parameter(name).then_some(value))
    }

    fn is_https(&self) -> bool {
        let scheme = self.text.get(..6);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod url_tests {
    use super::*;

    #[test]
    fn addresses_are_absolute_and_hold_no_password() {
        let check = |text: &str| Url::new(text, "http://127.0.0.1:8080/v1");
        for (text, local) in [
            ("http://localhost/v1", true),
            ("HTTP://LOCALHOST:1", true),
            ("https://[::1]:8/v1?api-version=2", true),
            ("http://127.3.0.1", true),
            ("https://api.example.com/v1", false),
            ("http://localhost.example.com", false),
        ] {
            let url = check(text).unwrap();
            assert_eq!((url.as_str(), url.is_local()), (text, local));
        }
        for text in [
            "",
            "127.0.0.1:80",
            "ftp://h/",
            "http://",
            "http:// x",
            "/v1",
            "http://h/#a",
        ] {
            let error = check(text).unwrap_err();
            assert_eq!(
                error.message(),
                format!("`{text}` is not the URL of an endpoint")
            );
            assert_eq!(error.hint_text(), Some("write `http://127.0.0.1:8080/v1`"));
        }
        let url = check("http://h/v1?key=k1&q=a&api_key=k2&monkey=no&token").unwrap();
        assert_eq!(url.secrets().collect::<Vec<_>>(), ["k1", "k2"]);
        let error = check("http://me:secret@host/v1").unwrap_err();
        assert_eq!(
            error.message(),
            "the URL of the endpoint contains a password"
        );
    }
}
