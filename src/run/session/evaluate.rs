//! From a question to its record: reuse an earlier part of the run, ask, judge, and ask again if refused.

use super::Session;
use super::question::Question;
use crate::data::conversation::Speaker;
use crate::data::{JudgeCall, Outcome, Record, Status, Usage};
use crate::report::event::Event;
use crate::run::ask::Ended;
use crate::run::ask::question_order::Permit;
use crate::run::ask::validation::Validated;
use crate::run::judge::judges::{JudgeClient, Subject};
use crate::run::judge::{judge, judge_failure};
use crate::run::record::{failed, skipped};
use crate::store::journal::past::{Answered, Past};
use crate::system::lock;

impl Session {
    /// Finishes a question, unless an earlier part of the run did, and writes its redacted record to disk. `turn` is
    /// its position in the queue, if questions are taken in order.
    pub(in crate::run) fn complete(&self, slot: usize, turn: Option<usize>) -> Record {
        let permit = self.validation.permit(turn);
        let mut question = Question::of(&self.plan, slot);
        if let Some(error) = &question.unreadable {
            // Never ask another question in its place, nor judge an answer to an unknown one.
            self.stopper.unreadable(error);
            return question.into_record(&self.plan, skipped(0));
        }
        if question.unchanged {
            let record = question.into_record(&self.plan, skipped(0));
            self.emitter
                .emit(&Event::SampleFinished { record: &record });
            return record;
        }
        let mut past = self.ledger.past(slot);
        let foreign = std::mem::take(&mut past.foreign);
        *lock(&question.messages) = std::mem::take(&mut past.messages);
        self.validation
            .resume(&mut question, std::mem::take(&mut past.refused));
        let mut counted = None;
        let outcome = match past {
            Past {
                outcome: Some(outcome),
                ..
            } => {
                counted = Some(outcome.redacted);
                outcome
            }
            Past {
                answer: Some(answer),
                attempts,
                judged,
                ..
            } => {
                let client = self.client(&question, false, judged);
                judge(
                    &self.plan,
                    &question,
                    Answered { attempts, ..answer },
                    client,
                )
            }
            Past { attempts, .. } => self.ask(&question, attempts),
        };
        let outcome = match counted {
            Some(_) => {
                self.validation.ended_before(&question, &outcome);
                outcome
            }
            None => self.validate(&mut question, outcome, &permit),
        };
        let mut record = question.into_record(&self.plan, outcome);
        match counted {
            // The count in the journal is that of the whole record.
            Some(counted) => record.result.redacted = counted,
            None => self.ledger.ended(&mut record),
        }
        if record.result.status == Status::Skipped {
            self.ledger.leave_open(slot, record.result.attempts);
            return record;
        }
        self.ledger.keep(slot, &record, foreign);
        self.emitter
            .emit(&Event::SampleFinished { record: &record });
        self.stopper.recorded(&record);
        record
    }

    /// Asks again as long as answers are refused and may be asked for again.
    fn validate(&self, question: &mut Question, first: Outcome, permit: &Permit<'_>) -> Outcome {
        let mut outcome = first;
        loop {
            let is_over = || self.stopper.is_stopped();
            match self.validation.validate(question, outcome, permit, is_over) {
                Validated::Stays(outcome) => return *outcome,
                Validated::Refused(refused) => outcome = *refused,
            }
            let attempts = outcome.attempts;
            let Some(refused) = self.ledger.refused(question, outcome) else {
                // The disk is full. The answer is in the journal, and is judged again when the run is resumed.
                return skipped(attempts);
            };
            self.emitter.emit(&Event::AnswerRefused {
                id: question.id(),
                epoch: question.epoch,
                refused: &refused,
            });
            self.validation.ask_again(question, refused);
            outcome = self.ask(question, attempts);
        }
    }

    /// The client through which the scorers of a question ask judges; `known` are the replies so far.
    pub(in crate::run) fn client<'a>(
        &'a self,
        question: &'a Question,
        confirms: bool,
        known: Vec<JudgeCall>,
    ) -> JudgeClient<'a> {
        let subject = Subject {
            id: question.id(),
            epoch: question.epoch,
            confirms,
        };
        JudgeClient::new(&self.judging, &*self.ledger, subject, known)
    }

    /// Asks, and judges the answer.
    fn ask(&self, question: &Question, earlier: u32) -> Outcome {
        self.emitter.emit(&Event::SampleStarted {
            id: question.id(),
            epoch: question.epoch,
        });
        match self.requests.ask(question, earlier) {
            Ended::Answered(answer) => {
                let client = self.client(question, false, Vec::new());
                judge(&self.plan, question, answer, client)
            }
            Ended::Failed {
                error,
                latency_s,
                attempts,
                is_wrong,
                is_recorded,
            } => {
                // A conversation that failed in the middle has cost something all the same.
                let [usage, user_usage] = [Speaker::Agent, Speaker::User].map(|by| {
                    let messages = lock(&question.messages);
                    let of = messages.iter().filter(|message| message.by == by);
                    Usage::sum(of.map(|message| message.usage))
                });
                let outcome = Outcome {
                    usage,
                    user_usage,
                    recorded: is_recorded,
                    ..failed(error, latency_s, attempts)
                };
                if is_wrong {
                    judge_failure(&self.plan, question, outcome)
                } else {
                    outcome
                }
            }
            Ended::Stopped { attempts } => skipped(attempts),
        }
    }
}
