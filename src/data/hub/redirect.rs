//! Resolves redirects, and checks whether they stay on the Hub.

use crate::error::Result;
use crate::system::http::Url;

/// The URL in a `Location` header, relative to `base`.
pub(super) fn target(base: &Url, location: &str) -> Result<Url> {
    let text = base.as_str();
    let (scheme, _) = text.split_once("://").unwrap_or_default();
    let absolute = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{}{location}", origin(base))
    } else {
        let path = text.split(['?', '#']).next().unwrap_or_default();
        let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
        format!("{folder}/{location}")
    };
    let plain = absolute.split('#').next().unwrap_or_default();
    Url::new(plain, "https://huggingface.co")
}

/// Scheme, host and port of a URL, verbatim.
pub(super) fn origin(url: &Url) -> &str {
    let text = url.as_str();
    let start = text.find("://").map_or(0, |place| place + 3);
    let end = text[start..].find(['/', '?', '#']);
    end.map_or(text, |end| &text[..start + end])
}

/// Whether two URLs have the same origin, which may receive the same token.
pub(super) fn is_same_origin(one: &Url, other: &Url) -> bool {
    let (one, other) = (origin(one), origin(other));
    one.eq_ignore_ascii_case(other)
}

/// Percent-encodes a path: all but letters, digits, `-._~` and the bytes in `keep`.
pub(super) fn encoded(text: &str, keep: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || keep.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_absolute_or_count_from_where_they_were_given() {
        let base = Url::new("http://h:80/a/b?c=/d", "").unwrap();
        let check = |location: &str, expect: &str, same: bool| {
            let found = target(&base, location).unwrap();
            assert_eq!(found.as_str(), expect);
            assert_eq!(is_same_origin(&base, &found), same, "{expect}");
        };
        check("/x?y", "http://h:80/x?y", true);
        check("x", "http://h:80/a/x", true);
        check("//cdn/x", "http://cdn/x", false);
        check("http://H:80/x#y", "http://H:80/x", true);
        check("https://h:80/x", "https://h:80/x", false);
        check("http://h:81/x", "http://h:81/x", false);
        check("http://h:80.evil/x", "http://h:80.evil/x", false);
        assert!(target(&base, "ftp://h/x").is_err());
        assert!(target(&base, "http://a:b@h/x").is_err());
    }

    #[test]
    fn paths_are_written_so_that_they_stay_paths() {
        assert_eq!(encoded("a b/é?#%", b"/"), "a%20b/%C3%A9%3F%23%25");
        assert_eq!(encoded("refs/pr/1", b""), "refs%2Fpr%2F1");
    }
}
