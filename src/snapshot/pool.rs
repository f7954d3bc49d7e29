//! `PooledRun`: a run of a baseline as listed in `_baseline.json`, and which runs may be combined.
//!
//! Only freshly requested answers count: the same answers twice make an unchanged agent look worse in one of five
//! comparisons. So each run records whose answers it has by way of the cache, a recording, or `rescore`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Content;
use crate::data::Record;
use crate::error::{Error, Result};
use crate::store::Manifest;
use crate::text::hash::Hasher;
use crate::verdict::baseline::BaselineRun;

/// A run of a baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PooledRun {
    pub(super) run_id: String,
    /// Tells runs with the same id apart, as ids may be chosen.
    pub(super) started_at: String,
    /// Epochs per sample.
    pub(super) epochs: u32,
    /// Hash of the agent, if the run has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// The prompt, if the run records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<String>,
    /// Hash of all questions and ground truths in the snapshots.
    dataset: String,
    /// Other runs and recordings whose answers it has.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    answers_of: BTreeSet<String>,
    /// The number of answers from the cache.
    cached: u64,
    /// The number of those from an unknown run.
    #[serde(skip_serializing_if = "is_zero")]
    of_unknown: u64,
    /// The run that it rescored.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Collects the data of a run from its records.
pub(crate) struct Roll {
    run: PooledRun,
    dataset: Hasher,
}

impl Roll {
    /// Without any records yet.
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let mut answers_of = manifest.answers_from();
        answers_of.remove(&manifest.run_id);
        Self {
            run: PooledRun {
                run_id: manifest.run_id.clone(),
                started_at: manifest.started_at.clone(),
                epochs: manifest.epochs,
                agent: manifest.agent_hash.clone(),
                prompt: manifest.prompt.clone(),
                answers_of,
                parent: manifest.parent_run_id.clone(),
                ..PooledRun::default()
            },
            dataset: Hasher::default(),
        }
    }

    /// Adds a sample with its records.
    pub(super) fn add(&mut self, id: &str, content: &Content, records: &[Record]) {
        let dataset = std::mem::take(&mut self.dataset).part(id);
        self.dataset = dataset
            .part(content.input_hash())
            .part(&content.target_hash);
        for record in records {
            self.ask(record);
        }
    }

    /// Notes where the answer of a record comes from.
    pub(crate) fn ask(&mut self, record: &Record) {
        let outcome = &record.result;
        if outcome.cached {
            self.run.cached += 1;
            self.run.of_unknown += u64::from(outcome.cached_from.is_none());
        }
        // A resumed run may have cached answers itself.
        let others = outcome.cached_from.iter();
        let others = others.filter(|other| **other != self.run.run_id);
        self.run.answers_of.extend(others.cloned());
    }

    /// The run, after all its samples were added.
    pub(super) fn finish(self) -> PooledRun {
        PooledRun {
            dataset: self.dataset.short(),
            ..self.run
        }
    }
}

impl PooledRun {
    /// A run accepted by a version that recorded only this.
    pub(super) fn old(run_id: String, epochs: u32) -> Self {
        Self {
            run_id,
            epochs,
            ..Self::default()
        }
    }

    /// The part that comparisons need.
    pub(super) fn known(&self) -> BaselineRun {
        BaselineRun {
            run_id: self.run_id.clone(),
            epochs: self.epochs,
        }
    }

    /// Adds it to a digest.
    pub(super) fn hash(&self, hash: Hasher) -> Hasher {
        let hash = hash
            .part(&self.run_id)
            .part(&self.started_at)
            .part(self.epochs.to_le_bytes())
            .part(self.agent.as_deref().unwrap_or_default())
            .part(self.prompt.as_deref().unwrap_or_default())
            .part(&self.dataset)
            .part(self.of_unknown.to_le_bytes());
        self.answers_of.iter().fold(hash, Hasher::part)
    }

    /// Refuses to combine this run with one of a baseline if agent or questions differ, or answers are shared. If
    /// `partial`, samples may differ.
    pub(super) fn check_joins(&self, other: &Self, partial: bool) -> Result<()> {
        self.check_anew(other)?;
        self.check_agent(other)?;
        let what = if self.prompt != other.prompt {
            "prompt"
        } else if self.dataset != other.dataset && !partial {
            "dataset"
        } else {
            return Ok(());
        };
        Err(self.another(other, what))
    }

    /// The error for runs that differ in what was asked.
    pub(super) fn another(&self, other: &Self, what: &str) -> Error {
        Error::usage(format!(
            "run `{}` has another {what} than run `{}`, so they cannot be one baseline",
            self.run_id, other.run_id
        ))
        .hint(format!(
            "accept it alone: cargo evaltest accept RUN_DIR; or run the eval again with the {what} of run \
             `{}`",
            other.run_id
        ))
    }

    /// Refuses runs that share answers.
    pub(super) fn check_anew(&self, other: &Self) -> Result<()> {
        const REFRESH: &str = "run again without cached answers: cargo evaltest run --refresh";
        let (own, theirs) = (&self.run_id, &other.run_id);
        let refuse = |message: String, hint: &str| Err(Error::usage(message).hint(hint));
        if own == theirs && self.started_at == other.started_at {
            return refuse(
                format!("run `{own}` would count twice: it is in the baseline already"),
                "for another run: cargo evaltest run",
            );
        }
        let both: Vec<_> = self.answers_of.intersection(&other.answers_of).collect();
        let shared = if self.answers_of.contains(theirs) {
            theirs
        } else if other.answers_of.contains(own) {
            own
        } else if let Some(first) = both.first() {
            first
        } else {
            let unknown = [self, other].into_iter().find(|run| run.of_unknown > 0);
            return match unknown {
                None => Ok(()),
                Some(run) => refuse(
                    format!(
                        "{} answers of run `{}` came from the cache, and the run that asked them is unknown",
                        run.of_unknown, run.run_id
                    ),
                    REFRESH,
                ),
            };
        };
        let scored_again = [&self.parent, &other.parent].contains(&&Some(shared.clone()));
        if scored_again {
            return refuse(
                format!(
                    "runs `{own}` and `{theirs}` have the same answers, scored again, which count once"
                ),
                "remove one of them",
            );
        }
        if self.cached + other.cached == 0 {
            return refuse(
                format!(
                    "runs `{own}` and `{theirs}` repeat one recording (`{shared}`): its answers count once"
                ),
                "use runs of different recordings",
            );
        }
        refuse(
            format!(
                "runs `{own}` and `{theirs}` share cached answers of run `{shared}`, which count once"
            ),
            REFRESH,
        )
    }

    fn check_agent(&self, other: &Self) -> Result<()> {
        let unknown = [self, other].into_iter().find(|run| run.agent.is_none());
        if let Some(run) = unknown {
            return Err(Error::usage(format!(
                "run `{}` does not record its agent, so it cannot be combined with other runs",
                run.run_id
            ))
            .hint(
                "accept it alone, with more `epochs` if needed; an agent in Rust is recorded if it has an \
                 `Agent::fingerprint`; runs of older versions have no record",
            ));
        }
        if self.agent == other.agent {
            return Ok(());
        }
        Err(self.another(other, "agent"))
    }
}

#[cfg(test)]
mod tests;
