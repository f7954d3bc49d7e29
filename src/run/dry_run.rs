//! `DryRun`: what a run would ask.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::record::earlier::EarlierPart;
use crate::agent::{RecordMode, recorded};
use crate::data::Shard;
use crate::error::Result;
use crate::eval::plan::Plan;
use crate::figure::counted;
use crate::report::terminal;
use crate::store::RunDir;
use crate::store::files::JOURNAL;
use crate::store::journal;
use crate::store::journal::past::EarlierState;
use crate::system::project::display;

/// The result of a dry run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DryRun {
    /// The eval's name.
    pub eval: String,
    /// The shard, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Samples to ask.
    pub samples: usize,
    /// Epochs per sample.
    pub epochs: u32,
    /// In how many ways each is asked once more.
    #[serde(skip_serializing_if = "is_none")]
    pub perturbed: usize,
    /// Questions already answered, for a continued run.
    #[serde(skip_serializing_if = "is_none")]
    pub answered: usize,
    /// Requests if every attempt fails and is repeated.
    pub most_requests: usize,
    /// Scorers that ask models; their requests are extra.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// Where calls of models are recorded, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordedSamples>,
}

/// Where calls of models are recorded, and how many samples have a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordedSamples {
    /// What happens to a call.
    pub mode: RecordMode,
    /// The folder of the recordings.
    pub folder: PathBuf,
    /// Samples of the eval with a recording.
    pub recorded: usize,
    /// Samples of the eval.
    pub samples: usize,
}

impl RecordedSamples {
    /// Looks for the recordings of an eval; `None` if it has no `record`.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let calls = plan.eval.record.as_ref()?;
        let folder = plan.eval.record_folder(calls);
        let has_file = |id: &str| recorded::file_of(&folder, id).is_file();
        Some(Self {
            mode: calls.effective_mode(),
            recorded: plan.items.iter().filter(|item| has_file(&item.id)).count(),
            samples: plan.items.len(),
            folder,
        })
    }
}

impl fmt::Display for RecordedSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            RecordMode::Record => "are recorded again in",
            RecordMode::Replay => "are replayed from",
            RecordMode::Missing => "are replayed from, and missing ones recorded in",
        };
        let (
            folder,
            Self {
                recorded, samples, ..
            },
        ) = (display(&self.folder), self);
        write!(
            f,
            "model calls {mode} `{folder}`, which has {recorded} of {samples} samples"
        )
    }
}

impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            eval,
            shard,
            samples,
            epochs,
            perturbed,
            answered,
            most_requests,
            judges,
            record,
        } = self;
        let shard = shard.map_or_else(String::new, |shard| format!("shard {shard}, "));
        let questions = samples * *epochs as usize * (1 + perturbed);
        let least = (questions - answered).min(*most_requests);
        let epochs = terminal::epochs(*epochs);
        let perturbed = terminal::perturbed(*perturbed);
        write!(
            f,
            "{eval}: {shard}{}{epochs}{perturbed}, {}{}{}",
            counted(*samples as u64, "sample"),
            match answered {
                0 => String::new(),
                answered => format!("{answered} of {questions} questions answered, "),
            },
            if least == *most_requests {
                String::new()
            } else {
                format!("{least} to ")
            },
            counted(*most_requests as u64, "request")
        )?;
        if !judges.is_empty() {
            write!(f, ", and those of scorer `{}`", judges.join("`, `"))?;
        }
        if let Some(record) = record {
            write!(f, "; {record}")?;
        }
        Ok(())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// How many questions at these places have their answer in the journal of a continued run.
pub(super) fn answered(
    plan: &Plan,
    is_match: &dyn Fn(usize) -> bool,
    dir: &RunDir,
) -> Result<usize> {
    let known = known(plan, dir, false)?;
    let trials = plan.trials();
    let slots = known.iter().zip(0..);
    let is_match = |slot: usize| slot / trials < plan.items.len() && is_match(slot / trials);
    Ok(slots
        .filter(|(state, slot)| **state == EarlierState::Answer && is_match(*slot))
        .count())
}

/// What the journal has of each question, by slot; empty if there is none. `failures_count` if a failure counts as an
/// end.
pub(super) fn known(plan: &Plan, dir: &RunDir, failures_count: bool) -> Result<Vec<EarlierState>> {
    let mut found = EarlierPart::new(plan, failures_count);
    journal::each(&dir.file(JOURNAL), &mut |line| {
        found.add(&line.event, line.place);
        Ok(())
    })?;
    Ok(found.known())
}

/// Questions with a record for which the journal has neither an answer nor an end.
pub(super) fn lost(plan: &Plan, dir: &RunDir) -> Result<Vec<String>> {
    let known = known(plan, dir, true)?;
    let places: HashMap<&str, usize> = plan.items.iter().map(|item| &*item.id).zip(0..).collect();
    let trials = plan.trials();
    let mut lost = Vec::new();
    dir.requested_records(&mut |id, epoch| {
        let trial = epoch as usize;
        let place = places.get(id).filter(|_| trial < trials);
        let slot = place.map(|place| place * trials + trial);
        // A record of another run was not lost by this journal.
        if slot.is_some_and(|slot| {
            known
                .get(slot)
                .is_none_or(|state| *state == EarlierState::Nothing)
        }) {
            lost.push(id.to_owned());
        }
    });
    Ok(lost)
}
