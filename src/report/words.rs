//! What reports say, to whom: the same words for every format.
//!
//! A text for each audience, of a run's summary and its [`RunFigures`]. Every share has its interval beside it, and one that
//! samples without a verdict leave open is a range.

mod developer;
pub(super) mod fall;
pub(super) mod overview;
pub(super) mod product;
mod slices;
pub(super) mod told;
mod user;

pub use overview::overview_of_all;
pub(super) use overview::steps;

use super::document::Document;
use super::figures::RunFigures;
use super::format::ReportAudience;
use super::reported::ReportedRun;

/// What a run says to these readers. For developers the rows of the samples come below it: they are as many as the run
/// has.
pub fn report_text(run: &ReportedRun, figures: &RunFigures, audience: ReportAudience) -> Document {
    match audience {
        ReportAudience::Developer => developer::text(run, figures),
        ReportAudience::Product => product::text(run, figures),
        ReportAudience::User => user::text(run),
    }
}

/// What developers are told that a page has in no chart.
pub(super) fn beside_charts(run: &ReportedRun, figures: &RunFigures) -> Document {
    developer::beside_charts(run, figures)
}
