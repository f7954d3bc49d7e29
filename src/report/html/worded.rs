//! A page of words alone, without runs or scripts.

use std::io::{self, Write};

use super::blocks;
use super::page::HtmlPage;
use crate::report::document::ReportText;

/// Writes a page that says this.
pub(crate) fn worded(said: &ReportText, out: &mut dyn Write) -> io::Result<()> {
    let page = HtmlPage {
        title: &said.title,
        scripts: &[],
    };
    page.begin(out)?;
    blocks::report(said, 1, out)?;
    page.end(out)
}
