//! `Finish`: the two ends of a run. Its manifest, and what is written when it is over: the records in dataset order,
//! summary, gates, the manifest once more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::asker::Asker;
use super::asserted::Asserted;
use super::calibrations;
use super::emitter::Emitter;
use super::history::RunHistory;
use super::ledger::Ledger;
use super::looks::{self, Looks};
use super::options::{CiPolicy, FrontDoor, Home, RunOptions};
use super::seen::SeenRecords;
use super::select::Selected;
use super::stop::Stopped;
use crate::data::history::HistoryAnswers;
use crate::error::Result;
use crate::eval::plan::Plan;
use crate::eval::{Assert, Eval};
use crate::scorer::detail_bounds;
use crate::snapshot::AnswerSheet;
use crate::store::files::JOURNAL;
use crate::store::manifest::{EarlyStop, environment, git_state};
use crate::store::{FORMAT_VERSION, Manifest, RunDir, RunStatus};
use crate::system::beside::beside;
use crate::system::project;
use crate::verdict::baseline::Baseline;
use crate::verdict::check::LookFindings;
use crate::verdict::facts::{Facts, Stop};
use crate::verdict::gather::Gathered;
use crate::verdict::look::EarlyLook;
use crate::verdict::run::Run;
use crate::verdict::summary::SummaryBuilder;

/// What was known when a run began and is needed when it ends.
pub(super) struct Finish {
    plan: Arc<Plan>,
    dir: RunDir,
    manifest: Manifest,
    started: Instant,
    ci: CiPolicy,
    door: FrontDoor,
    /// Whether this is one sample of a run that is put together later.
    is_part: bool,
    /// Where the run pauses, if its gates may end it early.
    looks: Option<Looks>,
    /// Where it is added to, if it is to be.
    history: Option<RunHistory>,
}

/// What came of a run, the names and hashes of the files of its records, and which samples were right.
type Concluded = (Run, BTreeMap<String, String>, Option<HistoryAnswers>);

/// The commit that was run, and whether files differ from it.
type Git = (Option<String>, Option<bool>);

impl Finish {
    /// Writes the manifest of a run that begins now, or goes on as `resumed` says that it began.
    pub(super) fn begin(
        plan: Arc<Plan>,
        dir: RunDir,
        resumed: Option<Manifest>,
        options: &RunOptions,
        asker: Asker,
        selected: &mut Selected,
    ) -> Result<Self> {
        let looks = match &options.home {
            Home::Part(_) | Home::Merged(_) | Home::Restored(_) => None,
            Home::New | Home::Resume { .. } => {
                let earlier = resumed.as_ref().and_then(|it| it.early_stop.as_ref());
                Looks::of(&plan, selected, earlier.map(|earlier| earlier.seed))
            }
        };
        let early_stop = looks.as_ref().map(|looks| EarlyStop {
            seed: looks.seed,
            looks: looks::last().of,
            look: looks::last().of,
            green: Vec::new(),
        });
        let selected = selected.samples();
        let sandbox = plan.eval.agent.sandbox().map(str::to_owned);
        let manifest = match resumed {
            Some(manifest) => Manifest {
                judges: calibrations::judges_of(&plan.scorers, root_of(&plan.eval).as_deref()),
                status: RunStatus::Running,
                stop_reason: None,
                selected,
                sandbox,
                early_stop,
                // An older version knew of none.
                detail_bounds: detail_bounds(&plan.scorers),
                // A part stays a part: the run goes on as it began.
                whole: manifest.whole && selected == plan.items.len(),
                ..manifest
            },
            None => Manifest {
                sandbox,
                early_stop,
                ..new_manifest(&plan, &dir, options, asker, selected)?
            },
        };
        let history = options.scope.history.then(|| RunHistory::of(&plan));
        let begun = Self {
            plan,
            dir,
            manifest,
            started: Instant::now(),
            ci: options.ci,
            door: options.door,
            is_part: matches!(options.home, Home::Part(_)),
            looks,
            history,
        };
        begun.manifest.write(&begun.dir)?;
        Ok(begun)
    }

    pub(super) fn dir(&self) -> &RunDir {
        &self.dir
    }

    pub(super) fn is_part(&self) -> bool {
        self.is_part
    }

    /// Ends the run: records in dataset order, summary, gates, manifest.
    ///
    /// # Errors
    /// When something cannot be written. Answers are in `events.jsonl` all the same.
    pub(super) fn end(
        &self,
        ledger: &Ledger,
        selected: &Selected,
        stopped: Option<Stopped>,
        emitter: &Emitter,
    ) -> Result<Run> {
        let ended = self.ended(stopped.as_ref());
        // What waits for the disk and for git does so beside the rest.
        std::thread::scope(|scope| {
            let journal = beside(scope, || ledger.close());
            let git = beside(scope, || self.git_state());
            let (mut run, mut artifacts, answers) =
                self.conclude(ledger, selected, stopped, emitter.notices())?;
            artifacts.insert(JOURNAL.to_owned(), journal()?);
            let (git_sha, git_dirty) = git();
            let manifest = Manifest {
                models: ledger.models(),
                judge_models: run.summary.judge_models(),
                ended_at: Some(format!("{:.3}", crate::system::clock::timestamp())),
                duration_s: Some(run.duration_s),
                failed_assertions: run.failed_assertions.clone(),
                git_sha,
                git_dirty,
                ..ended
            };
            if let Some(history) = &self.history {
                history.add(&manifest, &mut run, answers, emitter);
                run.notices = emitter.notices();
            }
            artifacts.extend(run.write_summary(&self.dir)?);
            let manifest = Manifest {
                artifacts,
                ..manifest
            };
            manifest.write(&self.dir)?;
            Ok(run)
        })
    }

    /// What came of the run, and its records in their files.
    fn conclude(
        &self,
        ledger: &Ledger,
        selected: &Selected,
        stopped: Option<Stopped>,
        notices: Vec<String>,
    ) -> Result<Concluded> {
        let kept = self.dir.file("scratch");
        // Empty unless folders were kept; only then it may stay.
        let _ = std::fs::remove_dir(kept);
        let duration_s = self.started.elapsed().as_secs_f64();
        let not_judged = ledger.fill_in(selected.slots())?;
        let (plan, eval) = (&self.plan, &self.plan.eval);
        let mut gathered = self.gather();
        let mut seen = SeenRecords::new(plan, self.door, ledger);
        let mut answers = self.history.as_ref().map(|_| AnswerSheet::default());
        let files = ledger.sort(&self.dir, &mut |slot, record| {
            gathered.add(&record);
            if let Some(answers) = &mut answers {
                answers.add(&record);
            }
            seen.add(slot, record);
        })?;
        let (records, failed, metrics) = seen.finish();
        let asserts = self.door == FrontDoor::Command && eval.snapshot.assert == Assert::Exact;
        let asserted = if asserts {
            Asserted::of(plan, &self.dir)?
        } else {
            Asserted::known(failed)
        };
        let (failed_assertions, differences) = (asserted.failed, asserted.differences);
        let (mut gathered, flips) = gathered.finish(metrics);
        gathered.summary.not_judged = not_judged;
        let look = self.looks.as_ref().map(Looks::last);
        let mut facts = Facts {
            stop: stopped.as_ref().map(|stopped| stopped.stop),
            failed_assertions: &failed_assertions,
            ..self.facts(gathered, look)
        };
        calibrations::add(&mut facts, &self.dir, &self.manifest);
        // People may have reviewed what there was before the run went on; a file of theirs that is damaged ends no run.
        facts.summary.reviewed = self.dir.reviewed(&self.manifest).ok().flatten();
        let run = Run {
            eval: eval.name.clone(),
            dir: self.dir.path().to_owned(),
            records,
            summary: facts.conclude(&plan.gates),
            flips,
            failed_assertions,
            differences,
            // Nothing that was needed is missing.
            stop_reason: stopped
                .filter(|stopped| stopped.stop != Stop::Sure)
                .map(|stopped| stopped.reason),
            notices,
            duration_s,
        };
        Ok((run, files.into(), answers.and_then(AnswerSheet::finish)))
    }

    /// The commit that was run; that of a part is found when all are put together.
    fn git_state(&self) -> Git {
        if self.is_part {
            return (None, None);
        }
        let spec = self.plan.eval.spec.as_deref();
        let home = spec.and_then(Path::parent);
        git_state(home.unwrap_or(Path::new(".")))
    }

    /// The manifest of a run that is over, as far as its end decides it.
    fn ended(&self, stopped: Option<&Stopped>) -> Manifest {
        let reason = stopped.map(|stopped| &stopped.reason);
        Manifest {
            status: match stopped.map(|stopped| stopped.stop) {
                Some(Stop::Interrupted) => RunStatus::Interrupted,
                Some(Stop::Misconfigured | Stop::Early | Stop::Sure) => RunStatus::Stopped,
                None => RunStatus::Finished,
            },
            stop_reason: reason.cloned(),
            early_stop: self.looks.as_ref().map(|looks| EarlyStop {
                seed: looks.seed,
                looks: looks.last().of,
                look: looks.last().number,
                green: looks.green(),
            }),
            ..self.manifest.clone()
        }
    }

    /// The looks of the run, if it pauses for such.
    pub(super) fn looks(&self) -> Option<&Looks> {
        self.looks.as_ref()
    }

    /// What the gates find at a look.
    ///
    /// # Errors
    /// When the records so far cannot be read.
    pub(super) fn look(
        &self,
        look: EarlyLook,
        ledger: &Ledger,
        selected: &Selected,
    ) -> Result<LookFindings> {
        let plan = &self.plan;
        let mut gathered = self.gather();
        ledger.so_far(selected.slots(), &mut |record| gathered.add(record))?;
        // What a benchmark works out of its own is known when all is asked.
        let (gathered, _) = gathered.finish(serde_json::Map::new());
        Ok(self.facts(gathered, Some(look)).at_look(&plan.gates))
    }

    fn gather(&self) -> Gathered<'_> {
        let (plan, eval) = (&self.plan, &self.plan.eval);
        let summary = SummaryBuilder::new(&*eval.name)
            .scorer(plan.scorers.first().map(|scorer| scorer.name()))
            .epochs(eval.epochs);
        Gathered::new(summary, &plan.gates, plan.baseline.as_ref())
    }

    /// What the records told, with what else is known.
    fn facts<'a>(&self, gathered: Facts<'a>, look: Option<EarlyLook>) -> Facts<'a> {
        let plan = &self.plan;
        Facts {
            total: plan.items.len() as u64,
            ignores_baseline: plan.ignores_baseline,
            detail_bounds: detail_bounds(&plan.scorers),
            look,
            green: self.looks.as_ref().map(Looks::green).unwrap_or_default(),
            needs_every_verdict: plan.eval.snapshot.assert.decides(),
            partial: self.manifest.is_limited(),
            tier: self.manifest.tier.clone(),
            below_tier: self.manifest.below_tier.clone(),
            ci: self.ci.is_set,
            allow_ignored: self.ci.allow_ignored,
            scorer_hash: Some(plan.scorer_hash.clone()),
            prompt: Some(plan.prompt_name.clone()),
            mask_id: plan.mask_id(),
            ..gathered
        }
    }
}

/// The root of the project that an eval is of.
fn root_of(eval: &Eval) -> Option<PathBuf> {
    let home = eval.spec.as_deref().and_then(Path::parent);
    let home = home.map_or_else(project::package_root, Path::to_owned);
    project::root_of(&home)
}

/// The manifest of a run that begins now.
fn new_manifest(
    plan: &Plan,
    dir: &RunDir,
    options: &RunOptions,
    asker: Asker,
    selected: usize,
) -> Result<Manifest> {
    let run_id = dir.run_id();
    let eval = &plan.eval;
    let root = root_of(eval).unwrap_or_else(project::root);
    let snapshots = crate::system::file::absolute(&eval.snapshot.folder)?;
    let mut config = eval.describe();
    plan.redactor.config(&mut config);
    if eval.masks_answers() {
        hide_samples(&mut config);
    }
    let overrides = eval.overrides.iter().cloned().map(|mut change| {
        if eval.masks_answers() && change.key.starts_with("benchmark.samples") {
            change.value = MASKED.into();
        }
        // As an entry of a map, so that the key's name counts.
        let mut entry = serde_json::json!({ &change.key: change.value });
        plan.redactor.config(&mut entry);
        if eval.masks_answers() {
            hide_samples(&mut entry);
        }
        change.value = entry[&change.key].take();
        change
    });
    let only = options.scope.only.as_ref().map(|only| {
        let ids = plan.items.iter().map(|item| &*item.id);
        let selected = ids.filter(|id| only.contains(*id));
        selected.map(str::to_owned).collect()
    });
    // What was asked in parts stands in the cache under the name that they have in common.
    let parts = options.invocation.clone();
    let parts = parts.filter(|_| matches!(options.home, Home::Merged(_)));
    Ok(Manifest {
        format_version: FORMAT_VERSION,
        evaltest_version: env!("CARGO_PKG_VERSION").to_owned(),
        invocation: options.invocation.clone().unwrap_or_else(|| run_id.clone()),
        run_id,
        eval: eval.name.clone(),
        variant: eval.variant().cloned(),
        benchmark: eval.benchmark.name().to_owned(),
        status: RunStatus::Running,
        stop_reason: None,
        started_at: format!("{:.3}", crate::system::clock::timestamp()),
        ended_at: None,
        duration_s: None,
        samples: plan.items.len(),
        tier: plan.tier.as_ref().map(|tier| tier.name.clone()),
        below_tier: plan.tier.as_ref().and_then(|tier| tier.below.clone()),
        epochs: eval.epochs,
        selected,
        whole: selected == plan.items.len() && !options.scope.partial,
        git_sha: None,
        git_dirty: None,
        environment: environment()
            .into_iter()
            .map(|(name, value)| (name, plan.redactor.text(&value, &mut 0).into_owned()))
            .collect(),
        config,
        spec_in_project: eval
            .spec
            .as_deref()
            .and_then(|path| project::inside(&root, path)),
        spec: eval.spec.clone(),
        snapshots_in_project: project::inside(&root, &snapshots),
        snapshots,
        masked: eval.masks_answers(),
        mask_id: plan.mask_id(),
        prompt: Some(plan.prompt_name.clone()),
        dataset: plan.dataset.clone(),
        dataset_hash: plan.dataset_hash.clone(),
        request_hash: plan.request_hash.clone(),
        scorer_hash: plan.scorer_hash.clone(),
        scorers_hash: plan.scorers_hash.clone(),
        agent_hash: asker.hash,
        sandbox: None,
        mixed: false,
        answers_of: asker.recordings.into_iter().chain(parts).collect(),
        overrides: overrides.collect(),
        redact: options.redact.clone(),
        only,
        early_stop: None,
        baseline: plan.baseline.as_ref().map(Baseline::run_ids),
        scorers: plan
            .scorers
            .iter()
            .map(|scorer| scorer.name().to_owned())
            .collect(),
        detail_bounds: detail_bounds(&plan.scorers),
        judges: calibrations::judges_of(&plan.scorers, Some(&root)),
        failed_assertions: Vec::new(),
        extract: Some(plan.extraction.extract.to_value()),
        extract_is_given: plan.extraction.is_given,
        models: BTreeMap::new(),
        judge_models: BTreeMap::new(),
        parent: None,
        parent_run_id: None,
        journal_lines_skipped: Vec::new(),
        artifacts: BTreeMap::new(),
    })
}

/// What stands in place of samples that are not to be published.
const MASKED: &str = "(masked)";

/// Takes the samples out of a spec that has them itself.
fn hide_samples(config: &mut Value) {
    let samples = config.pointer_mut("/benchmark/samples");
    if let Some(samples) = samples.filter(|samples| samples.is_array()) {
        *samples = MASKED.into();
    }
}
