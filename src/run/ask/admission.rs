//! `Admitting`: lets a benchmark refuse answers and have them asked again.

use std::sync::Arc;

use super::turns::{Ticket, Turnstile};
use crate::benchmark::AnswerAdmission;
use crate::data::RefusedAnswer;
use crate::data::{Outcome, Score, Status};
use crate::eval::Eval;
use crate::run::record::outcome::skipped;
use crate::run::session::question::Question;
use crate::system::panics;

/// Decides which answers are accepted. Most benchmarks accept every answer.
#[derive(Default)]
pub(in crate::run) struct Admitting {
    admission: Option<Arc<dyn AnswerAdmission>>,
    turnstile: Turnstile,
}

/// What happens to an outcome.
pub(in crate::run) enum Admitted {
    /// Accepted as the sample's outcome.
    Stays(Box<Outcome>),
    /// Refused: the sample is asked again.
    Refused(Box<Outcome>),
}

impl Admitting {
    /// Built from the benchmark of an eval.
    pub(in crate::run) fn of(eval: &Eval) -> Self {
        Self {
            admission: eval.benchmark.admission().map(|desk| desk.0),
            turnstile: Turnstile::default(),
        }
    }

    /// The ticket of a question, with its place in the queue if questions are taken in that order.
    pub(in crate::run) fn ticket(&self, turn: Option<usize>) -> Ticket<'_> {
        self.turnstile.ticket(turn)
    }

    /// Restores the answers to a question that an earlier part of the run refused.
    pub(in crate::run) fn resume(&self, question: &mut Question, refused: Vec<RefusedAnswer>) {
        for refused in refused {
            self.ask_again(question, refused);
        }
    }

    /// Adds what to ask in addition after this answer was refused.
    pub(in crate::run) fn ask_again(&self, question: &mut Question, refused: RefusedAnswer) {
        let again = u32::try_from(question.refused.len()).unwrap_or(u32::MAX);
        let score = Score {
            details: refused.details.clone(),
            ..Score::new(0.0, false, refused.reason.clone())
        };
        let admission = self.admission.as_ref();
        let note = admission.and_then(|admission| {
            panics::catch(|| admission.note(&score, again.saturating_add(1))).unwrap_or_default()
        });
        question.note = note;
        question.refused.push(refused);
    }

    /// Records a sample that ended in an earlier part of the run.
    pub(in crate::run) fn ended_before(&self, question: &Question, outcome: &Outcome) {
        if outcome.is_correct() {
            self.stays(question, outcome);
        }
    }

    /// Whether an outcome is accepted. An answer that the scorers accept waits until all earlier samples have theirs.
    /// If the run ends first, it is left for the resumed run.
    pub(in crate::run) fn admit(
        &self,
        question: &Question,
        mut outcome: Outcome,
        ticket: &Ticket<'_>,
        is_over: impl Fn() -> bool,
    ) -> Admitted {
        let Some(admission) = &self.admission else {
            return Admitted::Stays(Box::new(outcome));
        };
        if outcome.is_correct() {
            if !ticket.wait(is_over) {
                return Admitted::Stays(Box::new(skipped(outcome.attempts)));
            }
            let sample = &question.item.sample;
            let beside = match (&outcome.output, &outcome.score) {
                (Some(output), Some(score)) => {
                    panics::catch(|| admission.beside(sample, output, score)).unwrap_or_default()
                }
                _ => None,
            };
            match beside {
                Some(score) => judge_anew(&mut outcome, score),
                None => self.stays(question, &outcome),
            }
        }
        let is_refused = outcome.status == Status::Scored && !outcome.is_correct();
        let again = u32::try_from(question.refused.len()).unwrap_or(u32::MAX);
        if is_refused && !outcome.is_failure_as_wrong() && again < admission.again() {
            Admitted::Refused(Box::new(outcome))
        } else {
            Admitted::Stays(Box::new(outcome))
        }
    }

    fn stays(&self, question: &Question, outcome: &Outcome) {
        if let (Some(admission), Some(output)) = (&self.admission, &outcome.output) {
            // A panic forgets this answer only.
            let _ = panics::catch(|| admission.stays(&question.item.sample, output));
        }
    }
}

/// Replaces the first scorer's verdict.
fn judge_anew(outcome: &mut Outcome, score: Score) {
    if let Some((_, first)) = outcome.scores.iter_mut().next() {
        *first = serde_json::to_value(&score).unwrap_or_default();
    }
    outcome.score = Some(score);
}

#[cfg(test)]
mod tests;
