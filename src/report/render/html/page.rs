//! `HtmlPage`: the frame of a self-contained page.
//!
//! Style and scripts are inline, and the content security policy allows only these, by their hashes, and no downloads.
//! So even unescaped agent output could not run. There are no style attributes or event handlers, which such a policy
//! forbids.

use std::io::{self, Write};

use super::escape::text;
use crate::text::hash::Hasher;

/// The style sheet, for paper, dark mode and small screens.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The frame of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HtmlPage<'a> {
    /// The page's title.
    pub(crate) title: &'a str,
    /// Scripts to run after loading, in order.
    pub(crate) scripts: &'a [&'a str],
}

impl HtmlPage<'_> {
    /// Writes everything before the content.
    pub(crate) fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        self.begin_under(&policy(self.scripts), out)
    }

    /// Like [`HtmlPage::begin`], with another policy.
    pub(crate) fn begin_under(&self, policy: &str, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"generator\" content=\"evaltest {}\">\n\
             <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#content\">Skip to the content</a>\n<main id=\"content\">\n",
            text(policy),
            env!("CARGO_PKG_VERSION"),
            text(self.title),
        )
    }

    /// Writes everything after the content.
    pub(crate) fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "</main>")?;
        for script in self.scripts {
            writeln!(out, "<script>{script}</script>")?;
        }
        writeln!(out, "</body>\n</html>")
    }
}

/// A content security policy that only allows these scripts.
pub(crate) fn policy(scripts: &[&str]) -> String {
    let hashes: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
    let scripts = match &*hashes {
        [] => "'none'".to_owned(),
        hashes => hashes.join(" "),
    };
    format!(
        "default-src 'none'; style-src {}; script-src {scripts}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    )
}

/// The same for a page whose scripts call the server that it came from.
pub(crate) fn same_origin_policy(scripts: &[&str]) -> String {
    format!("{}; connect-src 'self'", policy(scripts))
}

/// The hash of an element's text for a policy.
pub(crate) fn hash(content: &str) -> String {
    let mut hasher = Hasher::default();
    hasher.bytes(content.as_bytes());
    format!("'sha256-{}'", base64(&hasher.digest()))
}

/// Base64 according to RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() {
                sign.into()
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_as_browsers_compute_them() {
        fn check(bytes: &str, expect: &str) {
            assert_eq!(base64(bytes.as_bytes()), expect);
        }
        check("", "");
        check("f", "Zg==");
        check("fo", "Zm8=");
        check("foo", "Zm9v");
        check("foob", "Zm9vYg==");
        // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
        assert_eq!(
            hash("alert(1)"),
            "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
        );
    }

    #[test]
    fn a_page_has_its_policy_and_nothing_from_elsewhere() {
        let page = HtmlPage {
            title: "<a> & \"b\"",
            scripts: &["let a = 1;", "let b = 2;"],
        };
        let mut out = Vec::new();
        page.begin(&mut out).unwrap();
        page.end(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        for expect in [
            "<title>&lt;a&gt; &amp; &quot;b&quot;</title>",
            "default-src &#39;none&#39;; style-src &#39;sha256-",
            "<script>let b = 2;</script>",
        ] {
            assert!(out.contains(expect), "`{expect}` is not in:\n{out}");
        }
        assert_eq!(out.matches("sha256-").count(), 3);
        for not in ["http:", "https:", "//", " style=", " on", "@import", "url("] {
            assert!(!out.contains(not), "`{not}` is in:\n{out}");
        }
    }
}
