//! `Finish`: the manifest at the start of a run, and everything written at its end: records in dataset order, summary,
//! gates, the final manifest.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::asserted::Asserted;
use super::emitter::Emitter;
use super::interim::{self, InterimAnalyses};
use super::manifest::{new_manifest, progressive_run, root_of};
use super::options::{Caller, CiPolicy, RunOptions, RunOrigin};
use super::progressive::{self, ExpectedCost, TierCheckpoint, TierCheckpoints, TierSamples};
use super::select::Selected;
use super::stop::Stopped;
use crate::data::history::HistoryAnswers;
use crate::error::Result;
use crate::eval::Assert;
use crate::eval::plan::Plan;
use crate::run::ask::identity::AgentIdentity;
use crate::run::history;
use crate::run::history::RunHistory;
use crate::run::judge::calibrations;
use crate::run::record::Ledger;
use crate::run::record::collected::{Collected, SeenRecords};
use crate::run::record::gathered::of_current;
use crate::snapshot::AnswerSheet;
use crate::store::files::{JOURNAL, PLACES, SCRATCH};
use crate::store::manifest::{EarlyStop, ProgressiveRun, git_state};
use crate::store::{Manifest, RunDir, RunStatus};
use crate::system::spawn_scoped;
use crate::verdict::check::InterimFindings;
use crate::verdict::conclude::Run;
use crate::verdict::facts::{Facts, Stop};
use crate::verdict::gather::Gathered;
use crate::verdict::result::InterimAnalysis;
use crate::verdict::result::Progressive;
use crate::verdict::summary::SummaryBuilder;
use crate::verdict::summary::account::Decides;

/// What is known at the start of a run and needed at its end.
pub(in crate::run) struct Finish {
    plan: Arc<Plan>,
    dir: RunDir,
    manifest: Manifest,
    started: Instant,
    ci: CiPolicy,
    caller: Caller,
    /// Whether this is one sample of a run that is merged later.
    is_part: bool,
    /// The interim analyses, if gates may end the run early.
    analyses: Option<InterimAnalyses>,
    /// The history that the run is added to, if any.
    history: Option<RunHistory>,
    /// The tier checkpoints, if the run goes tier by tier.
    checkpoints: Option<TierCheckpoints>,
}

/// The run, the names and hashes of its record files, and which samples were right.
type Concluded = (Run, BTreeMap<String, String>, Option<HistoryAnswers>);

/// The commit that was run, and whether files differ from it.
type Git = (Option<String>, Option<bool>);

impl Finish {
    /// Writes the manifest of a run that starts now, or continues the run `resumed`.
    pub(in crate::run) fn begin(
        plan: Arc<Plan>,
        dir: RunDir,
        resumed: Option<Manifest>,
        options: &RunOptions,
        identity: AgentIdentity,
        selected: &mut Selected,
    ) -> Result<Self> {
        let checkpoints = TierCheckpoints::of(&plan);
        let checkpoints = match &options.origin {
            // A restored run ended where it ended.
            RunOrigin::Restored(_) => {
                checkpoints.map(|checkpoints| checkpoints.restored(resumed.as_ref()))
            }
            _ => checkpoints,
        };
        let analyses = match &options.origin {
            // Others ask the rest: certainty about this part says nothing about the whole.
            _ if checkpoints.is_some() || options.scope.coverage.is_some() => None,
            RunOrigin::Part(_) | RunOrigin::Merged(_) | RunOrigin::Restored(_) => None,
            RunOrigin::New | RunOrigin::Resume { .. } => {
                let earlier = resumed.as_ref().and_then(|it| it.early_stop.as_ref());
                InterimAnalyses::of(&plan, selected, earlier.map(|earlier| earlier.seed))
            }
        };
        let early_stop = analyses.as_ref().map(|analyses| EarlyStop {
            seed: analyses.seed,
            analyses: interim::last().of,
            analysis: interim::last().of,
            green: Vec::new(),
        });
        let selected = selected.samples();
        let sandbox = plan.eval.agent.sandbox().map(str::to_owned);
        let is_new = resumed.is_none();
        let manifest = match resumed {
            Some(manifest) => Manifest {
                judges: calibrations::judges_of(&plan.scorers, root_of(&plan.eval).as_deref()),
                status: RunStatus::Running,
                stop_reason: None,
                selected,
                sandbox,
                early_stop,
                samples: plan.items.len(),
                tier: plan.tier.as_ref().map(|tier| tier.name.clone()),
                below_tier: plan.tier.as_ref().and_then(|tier| tier.below.clone()),
                progressive: progressive_run(&plan),
                // Not written by older versions.
                detail_bounds: plan.detail_bounds.clone(),
                // A part stays a part: the run continues as it started.
                whole: manifest.whole && selected == plan.items.len(),
                ..manifest
            },
            None => Manifest {
                sandbox,
                early_stop,
                ..new_manifest(&plan, &dir, options, identity, selected)?
            },
        };
        calibrations::check(&manifest).inspect_err(|_| {
            if is_new {
                dir.remove_if_all_ours();
            }
        })?;
        let history = options.scope.history.then(|| RunHistory::of(&plan));
        let mut manifest = manifest;
        if let Some(coverage) = &options.scope.coverage {
            let hash = coverage.as_places(&plan).write(&dir)?;
            manifest.artifacts.insert(PLACES.to_owned(), hash);
        }
        let finish = Self {
            plan,
            dir,
            manifest,
            started: Instant::now(),
            ci: options.ci,
            caller: options.caller,
            is_part: matches!(options.origin, RunOrigin::Part(_)),
            analyses,
            history,
            checkpoints,
        };
        finish.manifest.write(&finish.dir)?;
        Ok(finish)
    }

    pub(in crate::run) fn dir(&self) -> &RunDir {
        &self.dir
    }

    pub(in crate::run) fn is_part(&self) -> bool {
        self.is_part
    }

    /// Ends the run: records in dataset order, summary, gates, manifest. `collected` has the records that were collected
    /// while it went on.
    ///
    /// # Errors
    /// When something cannot be written. Answers are in `events.jsonl` all the same.
    pub(in crate::run) fn end(
        &self,
        ledger: &Ledger,
        selected: &Selected,
        stopped: Option<Stopped>,
        emitter: &Emitter,
        collected: Collected<'_>,
    ) -> Result<Run> {
        let ended = self.ended(stopped.as_ref());
        // Disk and git work runs alongside the rest.
        std::thread::scope(|scope| {
            let journal = spawn_scoped(scope, || ledger.close());
            let git = spawn_scoped(scope, || self.git_state());
            let (mut run, mut artifacts, answers) =
                self.conclude(ledger, selected, stopped, emitter.notices(), collected)?;
            artifacts.insert(JOURNAL.to_owned(), journal()?);
            let places = self.manifest.artifacts.get_key_value(PLACES);
            artifacts.extend(places.map(|(name, hash)| (name.clone(), hash.clone())));
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
                // A run that ended at a tier is compared with runs of that tier alone.
                let of_tier = self.ended_tier(selected).map(|tier| Manifest {
                    dataset_hash: self.plan.dataset_hash_of(&tier.ids),
                    ..manifest.clone()
                });
                let manifest = of_tier.as_ref().unwrap_or(&manifest);
                history.add(manifest, &mut run, answers, &mut |text| {
                    emitter.notice(text);
                });
                run.notices = emitter.notices();
            }
            artifacts.extend(run.write_summary(&self.dir)?);
            let manifest = Manifest {
                artifacts,
                ..manifest
            };
            manifest.write(&self.dir)?;
            if manifest.part.is_none() {
                let redacted = |text: &str| emitter.redacted(text);
                let mut notice = |description: &str| emitter.notice(description);
                history::notify(&self.plan.eval, &manifest, &run, (&redacted, &mut notice));
            }
            Ok(run)
        })
    }

    /// Where the records of the run are collected.
    pub(in crate::run) fn collected<'a>(&'a self, ledger: &'a Ledger) -> Collected<'a> {
        Collected {
            gathered: self.gather(),
            seen: SeenRecords::new(&self.plan, self.caller, ledger),
            answers: self.history.as_ref().map(|_| AnswerSheet::default()),
            end: 0,
        }
    }

    /// The results of the run, and its records written to files.
    fn conclude(
        &self,
        ledger: &Ledger,
        selected: &Selected,
        stopped: Option<Stopped>,
        notices: Vec<String>,
        mut collected: Collected<'_>,
    ) -> Result<Concluded> {
        let scratch = self.dir.file(SCRATCH);
        // Only removed if empty: kept folders stay.
        let _ = std::fs::remove_dir(scratch);
        let duration_s = self.started.elapsed().as_secs_f64();
        let (plan, eval) = (&self.plan, &self.plan.eval);
        let ended = self.ended_tier(selected);
        let selected = ended.as_ref().map_or(selected, |tier| &tier.selected);
        let not_judged = ledger.fill_in(selected.slots())?;
        let files = ledger.sort(&self.dir, &mut collected)?;
        let Collected {
            gathered,
            seen,
            answers,
            ..
        } = collected;
        let (records, failed, metrics) = seen.finish();
        let asserts = self.caller == Caller::Command && eval.snapshot.assert == Assert::Exact;
        let asserted = if asserts {
            Asserted::of(plan, &self.dir)?
        } else {
            Asserted::known(failed)
        };
        let (failed_assertions, differences) = (asserted.failed, asserted.differences);
        let (mut gathered, flips) = gathered.finish(metrics);
        gathered.summary.not_judged = not_judged;
        let analysis = self.analyses.as_ref().map(InterimAnalyses::last);
        // What a run leaves out after a tier, or does not select, is not missing.
        let baseline = plan.baseline.as_ref();
        let within = baseline.filter(|_| ended.is_some() || self.manifest.only.is_some());
        let within = within.map(|baseline| of_current(baseline, &gathered));
        let mut facts = Facts {
            baseline: within.as_ref().or(baseline),
            stop: stopped.as_ref().map(|stopped| stopped.stop),
            failed_assertions: &failed_assertions,
            ..self.facts(
                gathered,
                analysis,
                self.checkpoints
                    .as_ref()
                    .and_then(TierCheckpoints::concluded),
            )
        };
        // Checked before anything was asked. If it was damaged since, the answers are in the journal.
        calibrations::add(&mut facts, &self.dir, &self.manifest)?;
        // The earlier part of the run may have been reviewed; a damaged review file is no reason to fail.
        facts.summary.reviewed = self.dir.reviewed(&self.manifest).ok().flatten();
        let run = Run {
            eval: eval.name.clone(),
            dir: self.dir.path().to_owned(),
            records,
            summary: facts.conclude(&plan.gates),
            flips,
            failed_assertions,
            differences,
            // Nothing needed is missing.
            stop_reason: stopped
                .filter(|stopped| stopped.stop != Stop::Sure)
                .map(|stopped| stopped.reason),
            notices,
            duration_s,
        };
        Ok((run, files.into(), answers.and_then(AnswerSheet::finish)))
    }

    /// The commit that was run; for a part, found when all are merged.
    fn git_state(&self) -> Git {
        if self.is_part {
            return (None, None);
        }
        let spec = self.plan.eval.spec.as_deref();
        let origin = spec.and_then(Path::parent);
        git_state(origin.unwrap_or(Path::new(".")))
    }

    /// The manifest of a finished run, as far as the end of the run decides it.
    fn ended(&self, stopped: Option<&Stopped>) -> Manifest {
        let reason = stopped.map(|stopped| &stopped.reason);
        Manifest {
            status: match stopped.map(|stopped| stopped.stop) {
                Some(Stop::Interrupted) => RunStatus::Interrupted,
                Some(Stop::Misconfigured | Stop::Early | Stop::Sure) => RunStatus::Stopped,
                None => RunStatus::Finished,
            },
            stop_reason: reason.cloned(),
            early_stop: self.analyses.as_ref().map(|analyses| EarlyStop {
                seed: analyses.seed,
                analyses: analyses.last().of,
                analysis: analyses.last().number,
                green: analyses.green(),
            }),
            ..self.of_ended_tier()
        }
    }

    /// The manifest; if the run ended at a tier, for that tier.
    fn of_ended_tier(&self) -> Manifest {
        let manifest = self.manifest.clone();
        let checkpoints = self
            .checkpoints
            .as_ref()
            .filter(|checkpoints| checkpoints.is_ended());
        let Some(progressive) = checkpoints.map(TierCheckpoints::progressive) else {
            return manifest;
        };
        let Some(step) = progressive.tier() else {
            return manifest;
        };
        let samples = usize::try_from(step.samples).unwrap_or(usize::MAX);
        Manifest {
            below_tier: manifest.tier,
            tier: Some(step.tier.clone()),
            samples,
            selected: samples,
            progressive: manifest
                .progressive
                .map(|run| ProgressiveRun { ended: true, ..run }),
            ..manifest
        }
    }

    /// The samples of the tier at which the run ended, if it did.
    fn ended_tier(&self, selected: &Selected) -> Option<TierSamples> {
        let checkpoints = self
            .checkpoints
            .as_ref()
            .filter(|checkpoints| checkpoints.is_ended())?;
        let progressive = checkpoints.progressive();
        Some(TierSamples::of(&self.plan, selected, &progressive))
    }

    /// The tier checkpoints, if any.
    pub(in crate::run) fn checkpoints(&self) -> Option<&TierCheckpoints> {
        self.checkpoints.as_ref()
    }

    /// Evaluates the end of a tier: what ends the run there, and what to report.
    ///
    /// # Errors
    /// When the records so far cannot be read.
    pub(in crate::run) fn checkpoint(
        &self,
        checkpoints: &TierCheckpoints,
        ledger: &Ledger,
        selected: &Selected,
    ) -> Result<TierCheckpoint> {
        let plan = &self.plan;
        let progressive = checkpoints.progressive();
        let tier = TierSamples::of(plan, selected, &progressive);
        let mut gathered = self.gather();
        ledger.so_far(tier.selected.slots(), &mut |record| {
            if tier.ids.contains(&record.sample_id) {
                gathered.add(record);
            }
        })?;
        let (gathered, _) = gathered.finish(serde_json::Map::new());
        let baseline = plan.baseline.as_ref();
        let requested = baseline.map(|baseline| of_current(baseline, &gathered));
        let facts = Facts {
            baseline: requested.as_ref(),
            ..self.facts(gathered, None, Some(progressive.clone()))
        };
        let ended_by = progressive::analysis(plan, &facts, progressive.promote.as_ref());
        let expected = ExpectedCost::of_tier(plan, &facts.summary, &progressive);
        let description = progressive::description(&facts, &ended_by);
        Ok(TierCheckpoint {
            ended_by,
            description,
            expected,
        })
    }

    /// The interim analyses, if any.
    pub(in crate::run) fn analyses(&self) -> Option<&InterimAnalyses> {
        self.analyses.as_ref()
    }

    /// The gates' findings at an interim analysis.
    ///
    /// # Errors
    /// When the records so far cannot be read.
    pub(in crate::run) fn analysis(
        &self,
        analysis: InterimAnalysis,
        ledger: &Ledger,
        selected: &Selected,
    ) -> Result<InterimFindings> {
        let plan = &self.plan;
        let mut gathered = self.gather();
        ledger.so_far(selected.slots(), &mut |record| gathered.add(record))?;
        // A benchmark's own metrics are known when all is asked.
        let (gathered, _) = gathered.finish(serde_json::Map::new());
        Ok(self
            .facts(gathered, Some(analysis), None)
            .interim_findings(&plan.gates))
    }

    fn gather(&self) -> Gathered<'_> {
        let (plan, eval) = (&self.plan, &self.plan.eval);
        let judges_items = eval.agent.item_parts().is_some();
        let summary = SummaryBuilder::new(&*eval.name)
            .scorer(plan.scorers.first().map(|scorer| scorer.name()))
            .extract(plan.extraction.of_first(&plan.scorers))
            .items(judges_items.then(|| plan.detail_bounds.clone()))
            .epochs(eval.epochs);
        let gathered = Gathered::new(summary, &plan.gates, plan.baseline.as_ref());
        gathered.replays(!eval.agent.recordings().is_empty())
    }

    /// The facts from the records and from everything else.
    fn facts<'a>(
        &self,
        gathered: Facts<'a>,
        analysis: Option<InterimAnalysis>,
        progressive: Option<Progressive>,
    ) -> Facts<'a> {
        let plan = &self.plan;
        let tier = progressive.as_ref().and_then(Progressive::tier).cloned();
        Facts {
            total: tier
                .as_ref()
                .map_or(plan.items.len() as u64, |tier| tier.samples),
            ignores_baseline: plan.ignores_baseline,
            left_out: plan.left_out,
            decides: match self.caller {
                // Each test asserts its sample.
                Caller::Harness => Decides::Assertions,
                _ if self.manifest.part.is_some() => Decides::Others,
                _ => Decides::of(plan.eval.given_gates(), plan.eval.snapshot.assert.decides()),
            },
            detail_bounds: plan.detail_bounds.clone(),
            analysis,
            green: self
                .analyses
                .as_ref()
                .map(InterimAnalyses::green)
                .unwrap_or_default(),
            needs_every_verdict: plan.eval.snapshot.assert.decides(),
            partial: self.manifest.is_limited(),
            limit: self.manifest.own_limit(),
            part: self.manifest.part.clone(),
            below_tier: match &progressive {
                Some(progressive) if progressive.is_ended() => {
                    progressive.tiers.last().map(|step| step.tier.clone())
                }
                _ => self.manifest.below_tier.clone(),
            },
            tier: tier.map_or(self.manifest.tier.clone(), |tier| Some(tier.tier)),
            progressive,
            ci: self.ci.is_set,
            allow_ignored: self.ci.allow_ignored,
            allow_cached: self.ci.allow_cached,
            scorer_hash: Some(plan.scorer_hash.clone()),
            prompt: Some(plan.prompt_name.clone()),
            mask_ids: [plan.mask_id(), plan.older_mask_id()],
            ..gathered
        }
    }
}
