//! `AnswerAdmission`: which answers stay, for a benchmark whose samples ask for new things rather than for what is true.

use std::sync::Arc;

use crate::data::{Output, Sample, Score};

/// Who says which answers stay.
pub struct AdmissionDesk(pub(crate) Arc<dyn AnswerAdmission>);

/// Says which answers stay beside one another, and how often one that does not is asked for again.
///
/// An answer is refused if the first scorer does not find it correct, or if [`beside`](Self::beside) finds it wrong. It stays in
/// the journal, with its verdict, and counts in usage and budget; the last one of a sample stands, refused or not. To ask
/// again until something fits would make every rate too good: this is for samples whose answers are wanted, and not for
/// measuring an agent.
pub(crate) trait AnswerAdmission: Send + Sync {
    /// How often a refused answer is asked for again.
    fn again(&self) -> u32;

    /// What the prompt says besides when it is asked for again, for the time of this number, from 1, because of this
    /// verdict on the answer before.
    fn note(&self, refused: &Score, again: u32) -> Option<String>;

    /// Another verdict on an answer that the scorers accept, now that those of samples before it are known: a wrong one refuses
    /// it, and a right one has it stay, with more to tell. `None` leaves the verdict, and [`stays`](Self::stays) is told.
    /// It is asked in the order of the samples, so that it is the same at any concurrency.
    fn beside(&self, sample: &Sample, output: &Output, score: &Score) -> Option<Score>;

    /// An answer stays of which [`beside`](Self::beside) said nothing, or since an earlier part of the run.
    fn stays(&self, sample: &Sample, output: &Output);
}
