//! Results of reviews.

use super::source::Source;
use crate::data::reviews::ReviewedFigures;
use crate::figure::{Interval, Share};
use crate::report::document::{Block, list};

/// Reviewed items, scores, and agreement with the judge.
pub(super) fn reviewed(source: &Source<'_>) -> Vec<Block> {
    let Some(figures) = &source.summary.reviewed else {
        return Vec::new();
    };
    let lines = lines(figures).into_iter();
    if source.is_brief() {
        return list(lines.map(|line| format!("reviewed: {line}")))
            .into_iter()
            .collect();
    }
    let title = Block::section("Reviewed by people");
    [title].into_iter().chain(list(lines)).collect()
}

/// The same as lines.
pub(in crate::report) fn lines(reviewed: &ReviewedFigures) -> Vec<String> {
    let ReviewedFigures { n, of, .. } = reviewed;
    let mut lines = vec![format!(
        "{n} of {of} items reviewed ({}): {} approved, {} rejected, {} need revision",
        Share(reviewed.share),
        Share(reviewed.approved).with_ci95(reviewed.approved_ci95),
        Share(reviewed.rejected),
        Share(reviewed.needs_revision)
    )];
    let means = reviewed.means.iter();
    let means: Vec<String> = means
        .map(|(name, mean)| format!("{name} {mean:.2}"))
        .collect();
    lines.push(format!(
        "mean points of 1 to 5: {:.2}; {}",
        reviewed.total,
        means.join(", ")
    ));
    if let Some(agreement) = &reviewed.agreement {
        lines.push(format!(
            "people and the judge agree on {} of {} items ({})",
            Share(agreement.share),
            agreement.n,
            Interval(agreement.ci95.map(Share)).ci95()
        ));
    }
    lines
}
