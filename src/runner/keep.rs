//! What becomes of a record: onto disk, and told of.

use super::{Session, skipped};
use crate::data::{Outcome, Output, Record, Status};
use crate::eval::Assert;
use crate::event::Event;
use crate::snapshot;
use crate::store::events::{Kind, StoredEvent};
use crate::system::lock::lock;

impl Session {
    /// Journals how a sample ended. The answer stands in the journal already.
    pub(super) fn end(&self, record: &mut Record) {
        let kind = match record.result.status {
            Status::Skipped => return,
            Status::Scored => Kind::Scored,
            _ => Kind::Ended,
        };
        let mut event = StoredEvent::new(
            &record.sample_id,
            record.epoch,
            record.result.attempts,
            kind,
        );
        // Lent, for a copy of every outcome would be for nothing.
        let mut outcome = std::mem::replace(&mut record.result, skipped(0));
        let output = outcome.output.take();
        event.result = Some(outcome);
        self.journal(&event);
        if let Some(outcome) = event.result {
            record.result = Outcome { output, ..outcome };
        }
    }

    /// Puts a record onto disk and tells of it.
    pub(super) fn write(&self, slot: usize, record: &Record) {
        if record.result.status == Status::Skipped {
            // Written when the run ends.
            if record.result.attempts > 0 {
                lock(&self.unfinished).insert(slot, record.result.attempts);
            }
            return;
        }
        if self.plan.eval.snapshot.assert == Assert::Exact {
            // Now, while the answer is whole.
            self.compare(slot / self.epochs(), record);
        }
        if let Err(error) = self.spool.add(slot, record) {
            self.stop_for(&error);
        }
        if let Some(model) = record.result.output.as_ref().and_then(Output::answered_by) {
            *lock(&self.models).entry(model).or_default() += 1;
        }
        self.emit(&Event::SampleFinished { record });
        if record.result.status.is_error() && self.plan.eval.limits.fail_fast {
            let id = &record.sample_id;
            let reason = format!("sample `{id}` failed and `fail_fast` is set");
            self.stop(&reason, false);
        }
    }

    /// Compares a sample with its snapshot once all its epochs are there.
    pub(super) fn compare(&self, place: usize, record: &Record) {
        let content = snapshot::Content::of(record, self.plan.eval.masks_answers());
        let mut contents = lock(&self.contents);
        let so_far = contents.entry(place).or_default();
        so_far.push((record.epoch, content));
        if so_far.len() < self.epochs() {
            return;
        }
        let all = contents.remove(&place).unwrap_or_default();
        drop(contents);
        let content = snapshot::Content::majority(all);
        if content.is_some_and(|content| !content.is_current(&self.plan, &record.sample_id)) {
            lock(&self.differing).insert(place);
        }
    }
}
