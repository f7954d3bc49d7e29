//! The votes of a jury's judges on labelled items in an earlier run.

use std::path::Path;

use super::truth::LabelTruths;
use super::weights::{JurorWeights, Lesson};
use crate::data::JurorVote;
use crate::error::{Error, Result};
use crate::store::{self, RunDir};

/// The weights learnt from labels and the verdicts of an earlier run.
///
/// # Errors
/// When the run cannot be read, or no jury with these judges judged a labelled item there.
pub(super) fn weights(path: &Path, truths: &LabelTruths, names: &[String]) -> Result<JurorWeights> {
    let dir = RunDir::open(path)?;
    dir.check()?;
    let mut found: Vec<(String, Vec<Option<JurorVote>>)> = Vec::new();
    for record in store::read_records(&dir.file("samples.jsonl"))? {
        let record = record?;
        if record.epoch > 0 || !truths.0.contains_key(&record.sample_id) {
            continue;
        }
        let mut votes = vec![None; names.len()];
        for vote in record
            .result
            .judged
            .iter()
            .filter_map(|it| it.vote.as_deref())
        {
            if let Some(place) = names.iter().position(|name| *name == vote.judge) {
                votes[place] = Some(vote.clone());
            }
        }
        found.push((record.sample_id, votes));
    }
    let of = |place: usize| {
        found
            .iter()
            .filter(move |(_, votes)| votes[place].is_some())
    };
    for (place, name) in names.iter().enumerate() {
        if of(place).next().is_none() {
            let message = format!(
                "no judge `{name}` of a jury judged a labelled item in `{}`",
                path.display()
            );
            return Err(Error::usage(message).hint(
                "run the jury once with `aggregate: majority` or `median` and judges of the same names, and name that run",
            ));
        }
    }
    let lessons = found.iter().map(|(id, votes)| Lesson {
        id,
        votes: votes.clone(),
    });
    let lessons: Vec<_> = lessons.collect();
    Ok(JurorWeights::learnt(&lessons, truths, names.len()))
}
