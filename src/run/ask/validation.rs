//! `AnswerValidation`: lets a benchmark refuse answers and have them asked again.

use std::sync::Arc;

use super::question_order::{Permit, QuestionOrder};
use crate::benchmark::AnswerValidator;
use crate::data::RefusedAnswer;
use crate::data::{Outcome, Score, Status};
use crate::eval::Eval;
use crate::run::record::skipped;
use crate::run::session::question::Question;
use crate::system::panics;

/// Decides which answers are accepted. Most benchmarks accept every answer.
#[derive(Default)]
pub(in crate::run) struct AnswerValidation {
    validator: Option<Arc<dyn AnswerValidator>>,
    gate: QuestionOrder,
}

/// What happens to an outcome.
pub(in crate::run) enum Validated {
    /// Accepted as the sample's outcome.
    Stays(Box<Outcome>),
    /// Refused: the sample is asked again.
    Refused(Box<Outcome>),
}

impl AnswerValidation {
    /// Built from the benchmark of an eval.
    pub(in crate::run) fn of(eval: &Eval) -> Self {
        Self {
            validator: eval.benchmark.validator().map(|client| client.0),
            gate: QuestionOrder::default(),
        }
    }

    /// The ticket of a question, with its place in the queue if questions are taken in that order.
    pub(in crate::run) fn permit(&self, turn: Option<usize>) -> Permit<'_> {
        self.gate.permit(turn)
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
        let validator = self.validator.as_ref();
        let note = validator.and_then(|validator| {
            panics::catch(|| validator.note(&score, again.saturating_add(1))).unwrap_or_default()
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
    pub(in crate::run) fn validate(
        &self,
        question: &Question,
        mut outcome: Outcome,
        permit: &Permit<'_>,
        is_over: impl Fn() -> bool,
    ) -> Validated {
        let Some(validator) = &self.validator else {
            return Validated::Stays(Box::new(outcome));
        };
        if outcome.is_correct() {
            if !permit.wait(is_over) {
                return Validated::Stays(Box::new(skipped(outcome.attempts)));
            }
            let sample = &question.item.sample;
            let second_verdict = match (&outcome.output, &outcome.score) {
                (Some(output), Some(score)) => {
                    panics::catch(|| validator.second_verdict(sample, output, score))
                        .unwrap_or_default()
                }
                _ => None,
            };
            match second_verdict {
                Some(score) => judge_anew(&mut outcome, score),
                None => self.stays(question, &outcome),
            }
        }
        let is_refused = outcome.status == Status::Scored && !outcome.is_correct();
        let again = u32::try_from(question.refused.len()).unwrap_or(u32::MAX);
        if is_refused && !outcome.is_failure_as_wrong() && again < validator.again() {
            Validated::Refused(Box::new(outcome))
        } else {
            Validated::Stays(Box::new(outcome))
        }
    }

    fn stays(&self, question: &Question, outcome: &Outcome) {
        if let (Some(validator), Some(output)) = (&self.validator, &outcome.output) {
            // A panic forgets this answer only.
            let _ = panics::catch(|| validator.stays(&question.item.sample, output));
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
