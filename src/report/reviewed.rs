//! What people say of the items of a run, in lines that all formats have.

use crate::data::reviews::ReviewedFigures;
use crate::text::percent;

/// The lines: what was reviewed and how it ended, the points, and how far people and the judge agree.
pub(crate) fn lines(reviewed: &ReviewedFigures) -> Vec<String> {
    let ReviewedFigures { n, of, .. } = reviewed;
    let [low, high] = reviewed.approved_ci95.map(percent);
    let mut lines = vec![format!(
        "{n} of {of} items reviewed ({}): {} approved (95 % interval {low} to {high}), {} rejected, {} need revision",
        percent(reviewed.share),
        percent(reviewed.approved),
        percent(reviewed.rejected),
        percent(reviewed.needs_revision)
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
        let [low, high] = agreement.ci95.map(percent);
        lines.push(format!(
            "people and the judge agree on {} of {} items (95 % interval {low} to {high})",
            percent(agreement.share),
            agreement.n
        ));
    }
    lines
}
