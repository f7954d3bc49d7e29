//! Runs as one page of HTML.

mod charts;
mod embedded;
mod matrix;
mod noted;
mod overview;
mod problems;
mod report;

pub(crate) use report::{HtmlReport, content};

use std::io::{self, Write};

use super::document::{Block, Chart, IntervalRow, IntervalScale, Intervals};
use super::render::html::blocks;

pub(crate) fn intervals(
    caption: &str,
    heads: [&str; 3],
    scale: IntervalScale,
    rows: &[IntervalRow],
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = Intervals {
        caption: caption.to_owned(),
        heads: heads.map(str::to_owned),
        scale,
        rows: rows.to_vec(),
    };
    blocks(&[Block::Intervals(shown)], 1, out)
}

pub(crate) fn draw(chart: Chart, out: &mut dyn Write) -> io::Result<()> {
    blocks(&[Block::Chart(chart)], 1, out)
}
