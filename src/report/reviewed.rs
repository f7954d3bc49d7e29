//! What people say of the items of a run, in lines that all formats have.

use crate::data::reviews::ReviewedFigures;
use crate::figure::{Interval, Share};

/// The lines: what was reviewed and how it ended, the points, and how far people and the judge agree.
pub(crate) fn lines(reviewed: &ReviewedFigures) -> Vec<String> {
    let ReviewedFigures { n, of, .. } = reviewed;
    let mut lines = vec![format!(
        "{n} of {of} items reviewed ({}): {} approved, {} rejected, {} need revision",
        Share(reviewed.share),
        Share(reviewed.approved).with_ci95(reviewed.approved_ci95),
        Share(reviewed.rejected),
        Share(reviewed.needs_revision)
    )];
    let means = reviewed.means.iter();
    let means = means.map(|(name, mean)| format!("{name} {mean:.2}"));
    let means: Vec<String> = means.collect();
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
