//! The page of a review: one file with its style and its script, which a browser knows by their hashes.

use crate::report::html::page::hash;
use crate::serve::ServedPage;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// It. There is nothing of any item in it.
pub(super) fn page() -> ServedPage {
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let html = PAGE.replace("{STYLE}", STYLE).replace("{SCRIPT}", SCRIPT);
    ServedPage { html, policy }
}
