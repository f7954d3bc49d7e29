//! The scripts of report pages: plain JavaScript, in files that are concatenated in this order.

/// The common part, which lists and shows samples; the last part calls it.
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

/// For a page with embedded samples.
pub(crate) const REPORT: &str = pieces!("enliven();\n");

/// For a page that loads its data from a local server.
pub(crate) const VIEW: &str = pieces!(
    include_str!("script/runs.js"),
    include_str!("script/view.js")
);
