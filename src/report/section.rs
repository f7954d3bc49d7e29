//! Sections: the parts of a report on a run, each defined once, as blocks.
//!
//! A report is a list of sections. `FIGURES` are those of every report, in order: to add one, add a function in a file
//! below that returns its blocks (none if it does not apply), and an entry in the list.

pub(super) mod accuracy;
pub(super) mod changes;
mod costs;
mod epochs;
mod failures;
mod gates;
pub(crate) mod items;
mod judges;
mod metrics;
pub(super) mod overview;
mod problems;
mod reviewed;
pub(super) mod samples;
mod scorers;
pub(super) mod slices;
mod source;

pub(super) use changes::{assertions, became_right, became_wrong, changes, flips};
pub(super) use failures::{failures, reason};
pub(super) use gates::{account, account_rows, alerts, decision, gate_counts, gate_lines, gates};
pub use judges::{corrected_lines, pair_lines};
pub(super) use reviewed::lines as reviewed_lines;

pub use source::Detail;
pub(crate) use source::LISTED;
pub(super) use source::{Source, in_run};
pub use source::{errors_of, in_epoch};

use super::document::Block;

/// A section.
type Section = fn(&Source<'_>) -> Vec<Block>;

/// The figures of a run.
const FIGURES: &[Section] = &[
    items::items,
    epochs::epochs,
    slices::slices,
    epochs::perturbed,
    problems::problems,
    scorers::extraction,
    scorers::scorers,
    scorers::labels,
    metrics::metrics,
    costs::costs,
    judges::judges,
    reviewed::reviewed,
];

/// The figures of a run, by section.
pub(super) fn figures(source: &Source<'_>) -> Vec<Block> {
    FIGURES.iter().flat_map(|section| section(source)).collect()
}

#[cfg(test)]
mod tests {
    use crate::report::document::Block;
    use crate::report::render::terminal::Paint;
    use crate::report::render::{markdown, terminal};

    /// Blocks as a terminal shows them.
    pub(super) fn on_terminal(blocks: impl AsRef<[Block]>) -> String {
        let mut out = Vec::new();
        terminal::blocks(blocks.as_ref(), 2, Paint::Plain, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Blocks as Markdown.
    pub(super) fn in_markdown(blocks: impl AsRef<[Block]>) -> String {
        let mut out = Vec::new();
        markdown::blocks(blocks.as_ref(), 1, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}
