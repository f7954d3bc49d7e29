//! `DryRun`: what a run would ask.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use super::record::earlier::EarlierPart;
use crate::data::Shard;
use crate::error::Result;
use crate::eval::plan::Plan;
use crate::report::terminal;
use crate::store::RunDir;
use crate::store::events;
use crate::store::events::past::Left;
use crate::store::files::JOURNAL;

/// What a dry run found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DryRun {
    /// The eval's name.
    pub eval: String,
    /// The shard, of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Samples that would be asked.
    pub samples: usize,
    /// How often each.
    pub epochs: u32,
    /// Questions of a run that goes on which have their answer.
    #[serde(skip_serializing_if = "is_none")]
    pub answered: usize,
    /// Requests when every attempt fails and is repeated.
    pub most_requests: usize,
    /// The scorers that ask models, whose requests come on top.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
}

impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            eval,
            shard,
            samples,
            epochs,
            answered,
            most_requests,
            judges,
        } = self;
        let shard = shard.map_or_else(String::new, |shard| format!("shard {shard}, "));
        let questions = samples * *epochs as usize;
        let least = (questions - answered).min(*most_requests);
        let epochs = terminal::epochs(*epochs);
        write!(
            f,
            "{eval}: {shard}{samples} samples{epochs}, {}{}{most_requests} requests",
            match answered {
                0 => String::new(),
                answered => format!("{answered} of {questions} questions answered, "),
            },
            if least == *most_requests {
                String::new()
            } else {
                format!("{least} to ")
            }
        )?;
        if !judges.is_empty() {
            write!(f, ", and those of scorer `{}`", judges.join("`, `"))?;
        }
        Ok(())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// How many of the questions of a run that goes on have their answer in its journal, of the samples at these places.
pub(super) fn answered(
    plan: &Plan,
    is_meant: &dyn Fn(usize) -> bool,
    dir: &RunDir,
) -> Result<usize> {
    let known = known(plan, dir, false)?;
    let epochs = plan.eval.epochs as usize;
    let slots = known.iter().zip(0..);
    let is_meant = |slot: usize| slot / epochs < plan.items.len() && is_meant(slot / epochs);
    Ok(slots
        .filter(|(left, slot)| **left == Left::Answer && is_meant(*slot))
        .count())
}

/// What the journal of a run has of each question, by its slot; nothing at all where it has none. `failures_count` where a
/// failure is an end, too.
pub(super) fn known(plan: &Plan, dir: &RunDir, failures_count: bool) -> Result<Vec<Left>> {
    let mut found = EarlierPart::new(plan, failures_count);
    events::each(&dir.file(JOURNAL), &mut |line| {
        found.add(&line.event, line.place);
        Ok(())
    })?;
    Ok(found.known())
}

/// The questions with a record that was asked, of which the journal has neither an answer nor an end.
pub(super) fn lost(plan: &Plan, dir: &RunDir) -> Result<Vec<String>> {
    let known = known(plan, dir, true)?;
    let places: HashMap<&str, usize> = plan.items.iter().map(|item| &*item.id).zip(0..).collect();
    let epochs = plan.eval.epochs;
    let mut lost = Vec::new();
    dir.asked_records(&mut |id, epoch| {
        let place = places.get(id).filter(|_| epoch < epochs);
        let slot = place.map(|place| place * epochs as usize + epoch as usize);
        // What is no question of the run was not lost by its journal.
        if slot.is_some_and(|slot| known.get(slot).is_none_or(|left| *left == Left::Nothing)) {
            lost.push(id.to_owned());
        }
    });
    Ok(lost)
}
