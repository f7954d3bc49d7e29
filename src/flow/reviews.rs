//! Verifications of the items of a flow by people, from the file next to them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde_json::Value;

use super::figures::{
    CountedShare, DimensionPoints, FlowGate, FlowStage, PointMean, ReviewedItems,
};
use super::stage_run::StageRun;
use crate::data::reviews::{POINTS, ReviewStatus, ReviewedFigures, Verifications};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::figure::{Interval, Share};
use crate::system::file::read_plain;
use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::result::Verdict;
use crate::verdict::summary::Summary;

/// The default gate.
const GATE: &str = "reviewed.approved >= 0.9";

/// The verifications of items, with the verdicts of their gates.
pub(super) struct FlowReviews {
    pub(super) items: ReviewedItems,
    pub(super) gates: Vec<FlowGate>,
    pub(super) exit: Exit,
}

/// The verifications of the items of a file; `None` if there are none.
///
/// # Errors
/// With the line that is not a verification, or is one of another version.
pub(super) fn reviews(
    items: &Path,
    judge: Option<&StageRun>,
    gates: Option<&[&str]>,
) -> Result<Option<FlowReviews>> {
    let stem = items.file_stem().unwrap_or_default().to_string_lossy();
    let path = items.with_file_name(format!("{stem}_verifications.json"));
    let Some(found) = Verifications::read(&path)? else {
        return Ok(None);
    };
    let ids = ids(items)?;
    let judged = judge.map(StageRun::passes).transpose()?.unwrap_or_default();
    let judged: HashMap<String, bool> = judged.into_iter().collect();
    let figures = ReviewedFigures::read(&path, &ids, &|id| judged.get(id).copied())?;
    let Some(figures) = figures else {
        return Ok(None);
    };
    let entries = found.0.into_iter().map(|(_, entry)| entry);
    let entries = entries.filter(|entry| ids.contains(&entry.problem_id));
    let entries: Vec<_> = entries.collect();
    let n = entries.len() as u64;
    let of = |status: ReviewStatus| {
        let with = entries.iter().filter(|entry| entry.status == status);
        CountedShare::of(with.count() as u64, n)
    };
    let mut points = BTreeMap::<&String, Vec<f64>>::new();
    for (name, score) in entries.iter().flat_map(|entry| &entry.scores) {
        points.entry(name).or_default().push(f64::from(*score));
    }
    let scale = Some(POINTS.map(f64::from));
    let dimensions = points.into_iter().map(|(name, points)| DimensionPoints {
        name: name.clone(),
        points: PointMean::of(&points, scale),
    });
    let agreement = figures.agreement.as_ref().map(|agreement| {
        format!(
            "People and the judge say the same of {} of {} items ({}): who approves, and what passes.",
            Share(agreement.share),
            agreement.n,
            Interval(agreement.ci95.map(Share)).ci95()
        )
    });
    let items = ReviewedItems {
        reviewed: CountedShare::of(n, ids.len() as u64),
        approved: of(ReviewStatus::Approved),
        rejected: of(ReviewStatus::Rejected),
        needs_revision: of(ReviewStatus::NeedsRevision),
        dimensions: dimensions.collect(),
        agreement,
    };
    let mut summary = Summary::of("review", &[]);
    summary.reviewed = Some(figures);
    let facts = Facts::of(summary);
    let gates = gates.unwrap_or(&[GATE]).iter().map(|gate| {
        let checked = gate.parse::<Gate>()?.check(&facts);
        Ok(FlowGate {
            stage: FlowStage::Review,
            gate: checked.gate.to_string(),
            verdict: checked.verdict,
            value: checked.value,
            threshold: checked.threshold,
            message: checked.message,
            default: false,
        })
    });
    let gates = gates.collect::<Result<Vec<_>>>()?;
    let exit = Exit::worst(gates.iter().map(|gate| match gate.verdict {
        Verdict::Failed => Exit::Failed,
        Verdict::Inconclusive => Exit::Infrastructure,
        Verdict::Passed | Verdict::Ignored => Exit::Passed,
    }));
    Ok(Some(FlowReviews { items, gates, exit }))
}

/// The ids of the items of a file.
fn ids(items: &Path) -> Result<HashSet<String>> {
    let bytes = read_plain(items).map_err(|error| Error::io("read", items, &error))?;
    let all: Vec<Value> = serde_json::from_slice(&bytes).map_err(|error| {
        Error::usage(format!(
            "`{}` is no file of items: {error}",
            items.display()
        ))
    })?;
    let ids = all.iter().filter_map(|item| item.get("id")?.as_str());
    Ok(ids.map(str::to_owned).collect())
}
