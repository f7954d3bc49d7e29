//! What runs in the pages of reports: plain JavaScript, in pieces that are read in this order.

/// Lists samples, and shows one. Nobody calls it but what stands behind it.
macro_rules! pieces {
    ($($last:tt)*) => {
        concat!(
            "\"use strict\";\n(() => {\n",
            include_str!("script/dom.js"),
            include_str!("script/data.js"),
            include_str!("script/diff.js"),
            include_str!("script/trace.js"),
            include_str!("script/sample.js"),
            include_str!("script/list.js"),
            include_str!("script/start.js"),
            $($last)*,
            "})();\n"
        )
    };
}

/// Of a page that has its samples with it.
pub(crate) const REPORT: &str = pieces!("enliven();\n");

/// Of a page that asks a server of this machine for what it shows.
pub(crate) const VIEW: &str = pieces!(include_str!("script/view.js"));
