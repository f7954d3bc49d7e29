//! `Url`: the validated URL of an endpoint.

use std::net::IpAddr;

use ureq::http::Uri;

use crate::error::{Error, Result};
use crate::text::redact::is_secret_parameter;

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
            let message = "the URL of the endpoint holds a password";
            return Err(Error::usage(message).hint("name the variable of a key: `api_key_env`"));
        }
        let scheme = parsed.as_ref().and_then(Uri::scheme_str);
        let host = parsed.as_ref().and_then(Uri::host).unwrap_or_default();
        if !matches!(scheme, Some("http" | "https")) || host.is_empty() || text.contains('#') {
            let message = format!("`{text}` is no URL of an endpoint");
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

    pub(super) fn is_https(&self) -> bool {
        let scheme = self.text.get(..6);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
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
                format!("`{text}` is no URL of an endpoint")
            );
            assert_eq!(error.hint_text(), Some("write `http://127.0.0.1:8080/v1`"));
        }
        let url = check("http://h/v1?key=k1&q=a&api_key=k2&monkey=no&token").unwrap();
        assert_eq!(url.secrets().collect::<Vec<_>>(), ["k1", "k2"]);
        let error = check("http://me:secret@host/v1").unwrap_err();
        assert_eq!(error.message(), "the URL of the endpoint holds a password");
    }
}
