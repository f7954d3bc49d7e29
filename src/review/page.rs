//! The page of a review: one file with inline style and script, which the browser verifies by their hashes.
//!
//! It has the style of report pages. The script is split into pieces, concatenated in this order.

use crate::report::render::html::page::hash;
use crate::serve::ServedPage;

const PAGE: &str = include_str!("page.html");

const STYLE: &str = concat!(
    include_str!("../report/render/html/style.css"),
    include_str!("page.css")
);

const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("../report/render/html/script/dom.js"),
    include_str!("page/ask.js"),
    include_str!("page/draft.js"),
    include_str!("page/texts.js"),
    include_str!("page/form.js"),
    include_str!("page/start.js"),
    include_str!("page/list.js"),
    include_str!("page/keys.js"),
    "})();\n"
);

/// The page, without any content of items.
pub(super) fn page() -> ServedPage {
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let html = PAGE.replace("{STYLE}", STYLE).replace("{SCRIPT}", SCRIPT);
    ServedPage { html, policy }
}
