//! The calibrations of a run's judges, loaded when its gates are checked. The answers are on disk by then; if there is
//! a calibration they are read again, to check that its labels are about them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::data::calibration::Calibration;
use crate::error::Result;
use crate::scorer::Scorer;
use crate::store::manifest::ManifestJudge;
use crate::store::{Manifest, RunDir, read_records};
use crate::system::project::{self, display};
use crate::text::hash::Hasher;
use crate::verdict::facts::Facts;
use crate::verdict::judged::calibrated::CalibratedJudge;
use crate::verdict::judged::calibration::NO_LABELS;
use crate::verdict::judged::items::JudgedItems;

/// The scorers that ask a judge, for the manifest. `root` is the project's root.
pub(in crate::run) fn judges_of(
    scorers: &[Arc<dyn Scorer>],
    root: Option<&Path>,
) -> BTreeMap<String, ManifestJudge> {
    let judges = scorers.iter().filter(|scorer| !scorer.agents().is_empty());
    let calibrations = judges.map(|scorer| {
        let calibration = scorer.calibration();
        let inside = root.zip(calibration);
        let judge = ManifestJudge {
            fingerprint: Hasher::default().part(scorer.fingerprint()).short(),
            rule: scorer.judge_rule().unwrap_or_default(),
            solves: !scorer.asks_opinions(),
            calibration_in_project: inside.and_then(|(root, path)| project::inside(root, path)),
            calibration: calibration.map(Path::to_owned),
        };
        (scorer.name().to_owned(), judge)
    });
    calibrations.collect()
}

/// The models that served a judge. A scorer composed of judges has the models of those that are not scorers themselves.
pub(in crate::run) fn served(
    models: &BTreeMap<String, BTreeMap<String, u64>>,
    scorer: &str,
    scorers: &BTreeMap<String, ManifestJudge>,
) -> BTreeSet<String> {
    if let Some(own) = models.get(scorer) {
        return own.keys().cloned().collect();
    }
    let parts = models
        .iter()
        .filter(|(name, _)| !scorers.contains_key(*name));
    let models = parts.flat_map(|(_, models)| models.keys());
    models.cloned().collect()
}

/// Adds human labels on its judges to the facts of a run whose records are on disk.
///
/// # Errors
/// When the calibration of a judge is there and cannot be read.
pub(in crate::run) fn add(facts: &mut Facts<'_>, dir: &RunDir, manifest: &Manifest) -> Result<()> {
    let models = facts.summary.judge_models();
    for (scorer, judge) in &manifest.judges {
        if judge.solves {
            facts.solvers.insert(scorer.clone());
            continue;
        }
        let calibrated = match calibration_of(manifest, scorer)? {
            Some(calibration) => {
                let served = served(&models, scorer, &manifest.judges);
                calibrated(
                    dir,
                    manifest,
                    scorer,
                    (&calibration, &judge.fingerprint, &served),
                )?
            }
            None => CalibratedJudge::without(match &judge.calibration {
                Some(path) => format!("there is no `{}`", display(path)),
                None => NO_LABELS.to_owned(),
            }),
        };
        facts.calibrated.insert(scorer.clone(), calibrated);
    }
    Ok(())
}

/// Refuses a damaged calibration of one of these judges before anything is asked.
///
/// # Errors
/// When one is there and cannot be read.
pub(in crate::run) fn check(manifest: &Manifest) -> Result<()> {
    let mut opinions = manifest.judges.iter().filter(|(_, judge)| !judge.solves);
    opinions.try_for_each(|(scorer, _)| calibration_of(manifest, scorer).map(drop))
}

/// The calibration of a judge, if there is one.
fn calibration_of(manifest: &Manifest, scorer: &str) -> Result<Option<Calibration>> {
    let path = manifest.calibration_file(scorer);
    let path = path.filter(|path| path.symlink_metadata().is_ok());
    path.map(|path| Calibration::read(&path)).transpose()
}

fn calibrated(
    dir: &RunDir,
    manifest: &Manifest,
    scorer: &str,
    (calibration, fingerprint, served): (&Calibration, &str, &BTreeSet<String>),
) -> Result<CalibratedJudge> {
    let differs = calibration.differs(fingerprint, served);
    let items = items(dir, manifest, scorer)?.finish();
    let items = (items.0, items.1.as_str());
    let scales = manifest.detail_bounds.get(scorer);
    Ok(CalibratedJudge::of(
        calibration,
        differs.as_deref(),
        items,
        scales,
    ))
}

/// The judge's values on the items of a run.
pub(in crate::run) fn items(
    dir: &RunDir,
    manifest: &Manifest,
    scorer: &str,
) -> Result<JudgedItems> {
    let first = manifest.scorers.first().map(String::as_str);
    let mut items = JudgedItems::new(scorer, first);
    for record in read_records(&dir.file("samples.jsonl"))? {
        items.add(&record?);
    }
    Ok(items)
}
