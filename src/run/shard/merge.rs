//! Merges the parts of a run, asked on several machines, into the run that one machine would have left.
//!
//! Each part's `places.json` has the places of its samples in the dataset. So the merge detects duplicates and gaps
//! however the eval was split, and writes the records in dataset order. It verifies everything: what it copies is
//! hashed on the way, the rest before.
//!
//! The run is made next to its final path and renamed when complete. Leftovers of a killed merge are removed by the
//! next.

mod found;
mod gather;
mod lines;
mod making;
mod pieces;
mod place;
mod same_run;

use std::path::PathBuf;

use crate::data::history::HistoryAnswers;
use crate::error::{Error, Result};
use crate::eval::registry::Registry;
use crate::eval::{Eval, plan, spec};
use crate::run::CiPolicy;
use crate::run::history::{RunHistory, webhook};
use crate::run::rescore::reload;
use crate::snapshot::AnswerSheet;
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{Manifest, RunDir, read_lean_records};
use crate::system::project::display;
use crate::verdict::alert::Alerts;
use crate::verdict::conclude::Run;
use crate::verdict::summary::Summary;

pub use found::{FoundParts, found_parts};
pub(crate) use gather::{GatherHow, gather};
pub(crate) use pieces::Pieces;
pub(crate) use place::MergePlace;

/// How parts are merged.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// The run directory of the result; by default in the folder where parts were searched, or next to the first.
    pub output: Option<PathBuf>,
    /// Whether this is CI, and what is allowed there.
    pub ci: CiPolicy,
    /// Ignore an existing baseline.
    pub ignore_baseline: bool,
    /// Add the run to the history of its eval.
    pub history: bool,
}

/// Merges the parts of an eval; an existing merge is judged again.
///
/// # Errors
/// When a part is of another run or was changed, when two have the same sample or a sample is missing, and when the run
/// directory cannot be written. Nothing is left then.
pub fn merge(parts: FoundParts, options: &MergeOptions) -> Result<Run> {
    let FoundParts {
        dirs,
        folder,
        notices,
        ..
    } = parts;
    let mut dirs = dirs.into_iter();
    let first = dirs
        .next()
        .ok_or_else(|| Error::usage("there is no part"))?;
    let root = folder.or_else(|| first.path().parent().map(PathBuf::from));
    let mut pieces = Pieces::of(first)?;
    dirs.try_for_each(|dir| pieces.add(dir))?;
    pieces.notices.splice(0..0, notices);
    pieces.refuse_incomplete()?;
    let eval = eval_of(&pieces.manifest);
    let eval = eval.as_ref();
    let reporter = MergeReporter::of(&pieces.manifest, eval, options.history)?;
    let place = MergePlace::of(&pieces, options.output.as_deref(), root)?;
    if place.is_merged()? {
        return again(&place.open()?, pieces.into_notices(), options, &reporter);
    }
    let Some(making) = place.begin()? else {
        return again(&place.open()?, pieces.into_notices(), options, &reporter);
    };
    let how = GatherHow {
        run_id: place.run_id().to_owned(),
        names_parts: true,
        eval,
        ci: options.ci,
        keeps_answers: options.history,
        ignores_baseline: options.ignore_baseline,
    };
    let mut gathered = gather(pieces, making.dir(), &how)?;
    making.path().clone_into(&mut gathered.run.dir);
    let answers = gathered.answers.take();
    reporter.add(&gathered.manifest, &mut gathered.run, answers);
    let (manifest, mut run) = gathered.write(making.dir())?;
    making.finish()?;
    reporter.alert(&manifest, &mut run);
    Ok(run)
}

/// Judges an existing merge again.
fn again(
    dir: &RunDir,
    mut notices: Vec<String>,
    options: &MergeOptions,
    reporter: &MergeReporter<'_>,
) -> Result<Run> {
    notices.push(format!(
        "these parts are merged already: {}",
        display(dir.path())
    ));
    notices.extend(dir.check()?);
    let mut run = reload(dir, None, options.ci.is_set, options.ci.allow_ignored)?;
    run.notices = notices;
    if !options.history {
        let known = Summary::read(&dir.file(SUMMARY))?;
        run.summary.set_alerts(known.alerts);
        return Ok(run);
    }
    let mut manifest = dir.manifest()?;
    let mut answers = AnswerSheet::default();
    for record in read_lean_records(&dir.file(RECORDS))? {
        answers.add(&record?);
    }
    reporter.add(&manifest, &mut run, answers.finish());
    manifest.artifacts.extend(run.write_summary(dir)?);
    manifest.write(dir)?;
    reporter.alert(&manifest, &mut run);
    Ok(run)
}

/// The eval of a run, if its spec is here: it may compute metrics, and has alerts.
fn eval_of(manifest: &Manifest) -> Option<Eval> {
    let spec = spec::spec_of_run(manifest)?;
    spec::load_of(&spec, &Registry::new(), &manifest.overrides, &manifest.eval).ok()
}

/// Reports a merged run as if it had run in one piece.
struct MergeReporter<'a> {
    history: Option<RunHistory>,
    eval: Option<&'a Eval>,
}

impl<'a> MergeReporter<'a> {
    /// For a run with this manifest; `is_point` adds it to the history.
    ///
    /// # Errors
    /// When it cannot be added to a history.
    fn of(manifest: &Manifest, eval: Option<&'a Eval>, is_point: bool) -> Result<Self> {
        let history = is_point.then(|| {
            let alerts = eval.map_or_else(Alerts::default, |eval| eval.alerting.alerts.clone());
            RunHistory::new(&manifest.snapshot_folder(), &manifest.eval, alerts)
        });
        if let Some(history) = &history {
            let whole = manifest.part.as_ref();
            let whole = whole.map_or(manifest.whole, |part| part.whole);
            history.check(!whole, None)?;
        }
        Ok(Self { history, eval })
    }

    /// Adds the run to the history, if requested, before its summary, which contains alerts, is written.
    fn add(&self, manifest: &Manifest, run: &mut Run, answers: Option<HistoryAnswers>) {
        let Some(history) = &self.history else {
            return;
        };
        let mut notices = std::mem::take(&mut run.notices);
        if self.eval.is_none() {
            notices.push("no alert is judged: the spec that has them is not here".to_owned());
        }
        history.add(manifest, run, answers, &mut |text| {
            notices.push(text.to_owned());
        });
        run.notices = notices;
    }

    /// Sends alerts, after all files of the run are written.
    fn alert(&self, manifest: &Manifest, run: &mut Run) {
        let Some(eval) = self.eval.filter(|_| self.history.is_some()) else {
            return;
        };
        let mut notices = std::mem::take(&mut run.notices);
        match plan::secret::redactor(eval, &plan::scorers(eval)) {
            Ok(redactor) => {
                let redacted = |text: &str| redactor.text(text, &mut 0).into_owned();
                let mut notice = |text: &str| notices.push(redacted(text));
                webhook::notify(eval, manifest, run, (&redacted, &mut notice));
            }
            Err(error) => notices.push(error.message().to_owned()),
        }
        run.notices = notices;
    }
}
