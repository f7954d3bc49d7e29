//! `Question`: one thing to be asked, a sample in one epoch.

use std::sync::{Arc, Mutex};

use crate::data::RefusedAnswer;
use crate::data::annotated_steps;
use crate::data::conversation::TurnMessage;
use crate::data::record::perturb::{PerturbKind, ToolFault};
use crate::data::{Outcome, Record};
use crate::error::Error;
use crate::eval::perturb;
use crate::eval::plan::{Item, Plan};
use crate::store::journal::{Kind, StoredEvent};
use crate::verdict::baseline::older_ids::rounded_id;

/// The number of an attempt that confirms a flip; real attempts start at 1.
pub(in crate::run) const CONFIRM: u32 = 0;

/// A sample in one epoch.
pub(in crate::run) struct Question {
    /// The position of its record.
    pub(in crate::run) slot: usize,
    pub(in crate::run) item: Item,
    pub(in crate::run) epoch: u32,
    /// In what way it is perturbed.
    pub(in crate::run) perturb: Option<PerturbKind>,
    /// Whether that changes nothing: then it is not asked.
    pub(in crate::run) unchanged: bool,
    /// The call of a tool that fails.
    pub(in crate::run) fault: Option<ToolFault>,
    /// Why it cannot be asked, if its row changed since the dataset was read. The item has no texts then.
    pub(in crate::run) unreadable: Option<Error>,
    /// Refused answers, for which it is asked again.
    pub(in crate::run) refused: Vec<RefusedAnswer>,
    /// What was said so far, if it is a conversation.
    pub(in crate::run) messages: Arc<Mutex<Vec<TurnMessage>>>,
    /// The note about them in the prompt.
    pub(in crate::run) note: Option<String>,
}

impl Question {
    /// The question with this slot: the place of the sample in the dataset times the number of its trials, plus the
    /// trial.
    pub(in crate::run) fn of(plan: &Plan, slot: usize) -> Self {
        let (trials, epochs) = (plan.trials(), plan.eval.epochs as usize);
        let packed = &plan.items[slot / trials];
        let (mut item, unreadable) = match packed.unpack() {
            Ok(item) => (item, None),
            Err(error) => (packed.shell(), Some(error)),
        };
        let how = plan.eval.perturb.as_ref();
        let how = how.and_then(|how| Some((how, how.kind_of(slot % trials, epochs)?)));
        let fault = how.and_then(|(how, kind)| perturb::fault(&item.sample, how, kind));
        let unchanged = how.is_some_and(|(how, kind)| {
            fault.is_none() && !perturb::perturb(&mut item.sample, how, kind)
        });
        Self {
            slot,
            item,
            perturb: how.map(|(_, kind)| kind),
            unchanged: unchanged && unreadable.is_none(),
            fault,
            unreadable,
            refused: Vec::new(),
            messages: Arc::default(),
            note: None,
            epoch: u32::try_from(slot % trials).unwrap_or_default(),
        }
    }

    /// The id of the sample.
    pub(in crate::run) fn id(&self) -> &str {
        &self.item.sample.id
    }

    /// The prompt for the agent.
    pub(in crate::run) fn prompt(&self, plan: &Plan) -> Arc<str> {
        let prompt = plan.prompt(&self.item);
        match &self.note {
            Some(note) => format!("{prompt}\n\n{note}").into(),
            None => prompt,
        }
    }

    /// How many answers were refused.
    pub(in crate::run) fn again(&self) -> u32 {
        u32::try_from(self.refused.len()).unwrap_or(u32::MAX)
    }

    /// An event with the current time, for the journal.
    pub(in crate::run) fn event(&self, attempt: u32, kind: Kind) -> StoredEvent {
        StoredEvent::new(self.id(), self.epoch, attempt, kind)
    }

    /// Converts it to a record, redacted.
    pub(in crate::run) fn into_record(self, plan: &Plan, mut outcome: Outcome) -> Record {
        if !self.refused.is_empty() {
            outcome.refused = self.refused;
        }
        let prompt = plan.prompt(&self.item);
        let Item {
            sample,
            input_hash,
            target_hash,
            older_target_hash,
            question_hash,
        } = self.item;
        let mask = plan.mask.as_ref();
        let older_mask = plan.older_mask.as_ref();
        let cluster = plan.cluster(&sample);
        let slices = sample.slices.into_iter();
        let mut record = Record {
            mask: mask.map_or_else(String::new, |key| key.derived(&sample.id).to_hex()),
            older_mask: older_mask.map_or_else(String::new, |key| {
                let id = rounded_id(&sample.id);
                key.derived(id.as_ref().unwrap_or(&sample.id)).to_hex()
            }),
            question: (*prompt != *sample.prompt).then_some(sample.prompt),
            question_hash,
            sample_id: sample.id,
            eval: plan.eval.name.clone(),
            epoch: self.epoch,
            perturb: self.perturb,
            unchanged: self.unchanged || self.fault.is_some() && never_failed(&outcome),
            prompt,
            ground_truth: sample.target.map(|target| target.0).unwrap_or_default(),
            annotated_steps: annotated_steps(&sample.metadata),
            metadata: sample.metadata,
            slices: slices.map(|(key, value)| (key, value.into())).collect(),
            cluster,
            input_hash,
            target_hash,
            older_target_hash,
            result: outcome,
        };
        plan.redactor.record(&mut record);
        record
    }
}

/// Whether no call failed on purpose in a conversation that was held: the turn had none.
fn never_failed(outcome: &Outcome) -> bool {
    outcome.is_answered() && !outcome.turns.iter().any(|turn| turn.injected)
}
