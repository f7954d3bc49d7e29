//! `ReviewedFigures`: statistics of reviews.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{ReviewStatus, Verifications};
use crate::error::{Error, Result};
use crate::stats::{as_f64, ratio, wilson95};
use crate::system::project::display;

/// Statistics of the latest review of each item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReviewedFigures {
    /// Number of reviewed items.
    pub n: u64,
    /// Number of all items.
    pub of: u64,
    /// n / of, 0 to 1.
    pub share: f64,
    /// The share of reviewed items that is approved.
    pub approved: f64,
    /// Its 95 % Wilson interval `[low, high]`.
    pub approved_ci95: [f64; 2],
    /// The share of reviewed items that is rejected.
    pub rejected: f64,
    /// The share of reviewed items that needs revision.
    pub needs_revision: f64,
    /// The mean of the totals.
    pub total: f64,
    /// The mean of each dimension, over the items that have it.
    pub means: BTreeMap<String, f64>,
    /// Agreement with the judge, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<ReviewedAgreement>,
}

/// Agreement of people and a judge: approval agrees with a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReviewedAgreement {
    /// Number of reviewed items with a verdict of the judge.
    pub n: u64,
    /// The share of them on which both agree.
    pub share: f64,
    /// Its 95 % Wilson interval `[low, high]`.
    pub ci95: [f64; 2],
}

impl ReviewedFigures {
    /// Those of a file of verifications, of items with these ids; `None` where there is no file, or nothing of them was
    /// reviewed. `judged` says whether the judge lets an item pass.
    ///
    /// # Errors
    /// With the line of an invalid verification, or of one that differs from the journals; also for a file of other
    /// items.
    pub(crate) fn read(
        path: &Path,
        ids: &HashSet<String>,
        judged: &dyn Fn(&str) -> Option<bool>,
    ) -> Result<Option<Self>> {
        let Some(found) = Verifications::checked(path)? else {
            return Ok(None);
        };
        let first = found
            .0
            .first()
            .map(|(line, entry)| (*line, entry.problem_id.clone()));
        let entries = found.0.into_iter().map(|(_, entry)| entry);
        let entries = entries.filter(|entry| ids.contains(&entry.problem_id));
        let entries: Vec<_> = entries.collect();
        let n = entries.len() as u64;
        if n == 0 {
            let Some((line, id)) = first else {
                return Ok(None);
            };
            let message = format!(
                "{}:{line}: there is no item `{id}`, nor any other of this file",
                display(path)
            );
            let hint = "it is of other items: keep it and its journals under another name";
            return Err(Error::usage(message).hint(hint));
        }
        let count = |status| {
            let with = entries.iter().filter(|entry| entry.status == status);
            with.count() as u64
        };
        let share = |part: u64| ratio(part, n).unwrap_or_default();
        let mut points = BTreeMap::<&String, (u64, u64)>::new();
        for (name, score) in entries.iter().flat_map(|entry| &entry.scores) {
            let (sum, count) = points.entry(name).or_default();
            *sum += u64::from(*score);
            *count += 1;
        }
        let mean = |(sum, count)| as_f64(sum) / as_f64(count);
        let totals: f64 = entries.iter().map(|entry| entry.total_score).sum();
        let votes = entries.iter().filter_map(|entry| {
            let approves = entry.status == ReviewStatus::Approved;
            Some(approves == judged(&entry.problem_id)?)
        });
        let votes: Vec<bool> = votes.collect();
        let approved = count(ReviewStatus::Approved);
        Ok(Some(Self {
            n,
            of: ids.len() as u64,
            share: ratio(n, ids.len() as u64).unwrap_or_default(),
            approved: share(approved),
            approved_ci95: wilson95(approved, n).unwrap_or([0.0, 1.0]),
            rejected: share(count(ReviewStatus::Rejected)),
            needs_revision: share(count(ReviewStatus::NeedsRevision)),
            total: totals / as_f64(n),
            means: points
                .into_iter()
                .map(|(name, of)| (name.clone(), mean(of)))
                .collect(),
            agreement: ReviewedAgreement::of(&votes),
        }))
    }
}

impl ReviewedAgreement {
    /// Computes the agreement, one boolean per item; `None` without items.
    fn of(same: &[bool]) -> Option<Self> {
        let n = same.len() as u64;
        let agreed = same.iter().filter(|same| **same).count() as u64;
        Some(Self {
            n,
            share: ratio(agreed, n)?,
            ci95: wilson95(agreed, n)?,
        })
    }
}
