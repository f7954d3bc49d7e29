//! Works on a finished run: recomputes its summary and gates, or scores its answers again.
//!
//! # Rescoring
//!
//! [`rescore()`] scores the answers of a run with other scorers, into a new run directory that names its parent. No
//! agent is asked.
//!
//! * The new `samples.jsonl` is complete: it has the parent's prompts, outputs, usage and latencies, so that the
//!   parent may be deleted. The cost is a copy of this one file. The journal (`events.jsonl`) stays with the parent, as
//!   nothing was asked here; `show` finds the attempts there, also when both directories were moved together.
//! * Only what a scorer sees is decoded; the rest is copied byte for byte, on all processors, with a fixed number of
//!   records in memory.
//! * A record that lost a secret to redaction in the judged part keeps its verdict: the answer that was scored no
//!   longer exists.
//! * Samples without an answer stay what they were: errors, or wrong where `errors: wrong` counted them so.
//! * Gates whose data is missing are left out with a notice: `no_regression` if the baseline was scored differently,
//!   gates on a scorer that is gone, and on metrics of a benchmark that only its own program can compute (of those
//!   built in, `bfcl` has some and needs no data for them).

mod beginning;
mod chunks;
mod earlier;
mod evidence;
mod foreseen;
mod judges;
mod line;
mod origin;
mod versus;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::judge::calibrations;
use super::record::gathered;
use super::record::reload::gates_of;
use crate::bfcl::Metrics;
use crate::data::{Record, Status};
use crate::error::{Error, Result};
use crate::eval::plan::with_user;
use crate::eval::{Budget, Errors, plan};
use crate::figure::counted;
use crate::scorer::ask::model_family::{self, Answerer};
use crate::scorer::extract::{Extract, Extraction};
use crate::scorer::hash::{scorer_hash, scorers_hash};
use crate::scorer::{Scorer, detail_bounds};
use crate::snapshot::CommittedBaseline;
use crate::store::files::{ERRORS, JOURNAL, RECORDS};
use crate::store::records::{self, Sorted};
use crate::store::{Manifest, RunDir, RunStatus, random_run_id};
use crate::system::parallel;
use crate::verdict::baseline::Baseline;
use crate::verdict::baseline::readers::Readers;
use crate::verdict::conclude::{Notable, Run};
use crate::verdict::facts::{Facts, Stop};
use crate::verdict::gate::{Gate, OWN, with_default};
use crate::verdict::gather::Gathered;
use crate::verdict::result::InterimAnalysis;
use crate::verdict::summary::account::Decides;
use crate::verdict::summary::{SummaryBuilder, judge_notices};

use chunks::Chunks;
use judges::{RescoreJudges, asks};
use line::{Clients, LateRedactor, Rejudge};

pub use evidence::{AnswerPrice, BaselineAnswers, Evidence, evidence};
pub use foreseen::{Foreseen, foresee};
pub use origin::{Origin, scorers_of, scorers_of_spec};
pub use versus::{Versus, VersusScorer};

/// How to score answers again.
pub struct Rescore {
    /// The scorers; the first decides.
    pub scorers: Vec<Arc<dyn Scorer>>,
    /// The scorers as a spec writes them, for the manifest; if empty, their names.
    pub specs: Vec<Value>,
    /// The extraction; `None` for that of the run.
    pub extract: Option<Extract>,
    /// The budget of judges; unset limits are those of the run.
    pub budget: Budget,
    /// The folder of run directories; `None` for that of the run itself.
    pub output_root: Option<PathBuf>,
}

/// Scores the answers of a run again, into a new run directory. The returned run holds only the records without a
/// verdict and the first wrong ones.
///
/// # Errors
/// When the run cannot be read or the new directory cannot be written. Nothing is left of it then.
pub fn rescore(dir: &RunDir, how: Rescore) -> Result<Run> {
    rescore_with_verdicts(dir, how, HashMap::new())
}

/// Like [`rescore()`], with external verdicts by sample: they go into the metadata as `official`, where the scorer
/// `bfcl` finds them.
pub(crate) fn rescore_with_verdicts(
    dir: &RunDir,
    how: Rescore,
    official: HashMap<String, Value>,
) -> Result<Run> {
    let parent = dir.manifest()?;
    parent.refuse_part(dir, "its answers are scored again with those of the others")?;
    let judge = Rejudge {
        official,
        ..judge_of(&parent, &how)?
    };
    if judge.scorers.is_empty() {
        return Err(Error::usage("no scorer is named").hint("name one: `--scorer gaia`"));
    }
    plan::check_scorer_names(&judge.scorers)?;
    beginning::begin(dir, &parent, &judge)?;
    let root = how
        .output_root
        .or_else(|| dir.path().parent().map(PathBuf::from));
    let root = root.ok_or_else(|| Error::usage("the run directory has no folder"))?;
    // Checked before anything is created.
    records::open(&dir.file(RECORDS))?;
    let run_id = random_run_id(&parent.eval);
    let new = RunDir::create(&root, &run_id)?;
    let run = write(dir, (&new, run_id), parent, judge, (&how.specs, how.budget));
    // Keep the judges' paid replies for the next rescore of this run.
    if run.is_err() && !holds_replies(&new) {
        new.remove();
    }
    run
}

/// Whether a rescore that did not finish got any reply.
fn holds_replies(dir: &RunDir) -> bool {
    let journal = std::fs::metadata(dir.file(JOURNAL));
    journal.is_ok_and(|about| about.len() > 0)
}

/// The scorers and options; nothing is asked yet.
fn judge_of(parent: &Manifest, how: &Rescore) -> Result<Rejudge> {
    let extraction = match &how.extract {
        Some(extract) => Extraction {
            extract: extract.clone(),
            is_given: true,
        },
        None => extraction_of(parent)?,
    };
    Ok(Rejudge {
        scorers: how.scorers.clone(),
        extraction,
        official: HashMap::new(),
        clients: Clients::None,
        redactor: LateRedactor::default(),
    })
}

/// The extraction that a run had.
pub fn extraction_of(manifest: &Manifest) -> Result<Extraction> {
    let extract = manifest.extract.as_ref();
    Ok(Extraction {
        extract: extract.map_or(Ok(Extract::none()), Extract::from_value)?,
        is_given: manifest.extract_is_given,
    })
}

fn names_of(scorers: &[Arc<dyn Scorer>]) -> Vec<String> {
    scorers
        .iter()
        .map(|scorer| scorer.name().to_owned())
        .collect()
}

/// Writes the new run directory.
fn write(
    dir: &RunDir,
    (new, run_id): (&RunDir, String),
    parent: Manifest,
    judge: Rejudge,
    (specs, budget): (&[Value], Budget),
) -> Result<Run> {
    let scorer_hash = scorer_hash(&judge.extraction, &judge.scorers);
    let scorer_hash = Errors::of_config(&parent.config).mark(scorer_hash);
    let scorer_hash = with_user(scorer_hash, &parent.config);
    let detail_bounds = detail_bounds(&judge.scorers);
    let accepted = CommittedBaseline::open(&parent.snapshot_folder())?;
    let lacks_baseline = match &accepted {
        Some(_) => "the baseline was scored differently",
        None => "there is no baseline yet",
    };
    let baseline = accepted.filter(|accepted| accepted.scorer_hash() == scorer_hash);
    let names = names_of(&judge.scorers);
    let mut metrics = Metrics::of(&parent, dir);
    let (given, mut notices) = gates_for(
        &parent,
        baseline.is_none().then_some(lacks_baseline),
        &names,
        metrics.is_some(),
    )?;
    let gates = with_default(given.as_deref(), parent.tier.as_deref(), baseline.is_some());
    let baseline = baseline.map(|it| it.read_for(&parent, &gates));
    let baseline = baseline.transpose()?;
    let now = format!("{:.3}", crate::system::clock::timestamp());
    let started = std::time::Instant::now();
    let judge = &if asks(&judge.scorers) {
        begin(dir, (new, &run_id), &parent, &now)?;
        let judges = RescoreJudges::open(new, &parent, &judge.scorers, budget)?;
        Rejudge {
            clients: Clients::Live(Box::new(judges)),
            ..judge
        }
    } else {
        judge
    };
    let summary = SummaryBuilder::new(&*parent.eval)
        .scorer(names.first().map(String::as_str))
        .extract(judge.extraction.of_first(&judge.scorers))
        .items(parent.judges_items().then(|| detail_bounds.clone()))
        .epochs(parent.epochs);
    let mut gathered = Gathered::new(summary, &gates, baseline.as_ref());
    let samples = judge_all(&dir.file(RECORDS), new, judge, &mut |record| {
        gathered.add(record);
        if let Some(metrics) = metrics.as_mut().filter(|_| record.perturb.is_none()) {
            metrics.add(record);
        }
    })?;
    let analysis = gathered::analysis_of(&parent);
    let is_sure = analysis.is_some_and(InterimAnalysis::is_early);
    notices.extend(samples.notices(dir, is_sure));
    let metrics = metrics.map(Metrics::finish).unwrap_or_default();
    let duration_s = started.elapsed().as_secs_f64();
    let (gathered, flips) = gathered.finish(metrics);
    let requested = baseline.as_ref();
    let requested = requested.map(|baseline| gathered::within(baseline, &parent, &gathered));
    let mut facts = Facts {
        baseline: requested.as_deref(),
        decides: Decides::of(given.as_deref(), parent.asserts()),
        detail_bounds: detail_bounds.clone(),
        stop: is_sure.then_some(Stop::Sure),
        ..gathered::with_manifest(gathered, &parent)
    };
    let parent = with_scorers(parent, &names, judge);
    calibrations::add(&mut facts, new, &parent)?;
    let mut run = Run {
        eval: parent.eval.clone(),
        dir: new.path().to_owned(),
        records: samples.records,
        summary: facts.conclude(&gates),
        flips,
        failed_assertions: Vec::new(),
        differences: BTreeMap::new(),
        stop_reason: None,
        notices,
        duration_s,
    };
    let more = notices_of(&run, &parent, judge, (baseline.as_ref(), &gates));
    run.notices.extend(more);
    let mut artifacts = samples.files;
    artifacts.extend(judge.close()?);
    artifacts.extend(run.write_summary(new)?);
    let manifest = Manifest {
        config: config(&parent.config, given.as_deref(), specs, &names),
        parent: Some(dir.path().to_owned()),
        parent_run_id: Some(parent.run_id.clone()),
        judge_models: run.summary.judge_models(),
        answers_of: parent.answers_from().into_iter().collect(),
        invocation: run_id.clone(),
        run_id,
        started_at: now,
        ended_at: Some(format!("{:.3}", crate::system::clock::timestamp())),
        duration_s: Some(duration_s),
        scorer_hash,
        detail_bounds,
        failed_assertions: Vec::new(),
        artifacts: artifacts.into_iter().collect(),
        baseline: baseline.map(|baseline| baseline.run_ids()),
        ..parent
    };
    manifest.write(new)?;
    run.notices.extend(judge.tidy());
    Ok(run)
}

/// The notices of a rescored run, which has these gates and may have a baseline.
fn notices_of(
    run: &Run,
    parent: &Manifest,
    judge: &Rejudge,
    (baseline, gates): (Option<&Baseline>, &[Gate]),
) -> Vec<String> {
    let baseline = baseline.filter(|_| gates.iter().any(Gate::needs_baseline));
    let mut notices = model_family::notices(&answerer(parent), &judge.scorers);
    notices.extend(judge_notices(&run.summary));
    notices.extend(gathered::reading_notices(run));
    notices.extend(baseline.and_then(|baseline| gathered::other_reader(baseline, parent)));
    notices
}

/// The manifest of a run with these scorers.
fn with_scorers(run: Manifest, names: &[String], judge: &Rejudge) -> Manifest {
    let judges = calibrations::judges_of(&judge.scorers, None);
    Manifest {
        scorers_hash: scorers_hash(&judge.extraction, &judge.scorers),
        scorers: names.to_vec(),
        reader: Some(Readers::CURRENT.answers),
        judge_reader: (!judges.is_empty()).then_some(Readers::CURRENT.verdicts),
        judges,
        extract: Some(judge.extraction.extract.to_value()),
        extract_is_given: judge.extraction.is_given,
        scorer_extract: judge.extraction.own_of_first(&judge.scorers),
        ..run
    }
}

/// The agent that answered, as far as its run says.
fn answerer(parent: &Manifest) -> Answerer {
    let model = parent
        .config
        .pointer("/agent/model")
        .and_then(Value::as_str);
    Answerer {
        model: model.map(str::to_owned),
        fingerprint: None,
    }
}

/// Records, before anything is asked, whose answers are scored in a run directory: if this ends early, the next rescore
/// finds the judges' replies there.
fn begin(dir: &RunDir, (new, run_id): (&RunDir, &str), parent: &Manifest, now: &str) -> Result<()> {
    let manifest = Manifest {
        parent: Some(dir.path().to_owned()),
        parent_run_id: Some(parent.run_id.clone()),
        invocation: run_id.to_owned(),
        run_id: run_id.to_owned(),
        started_at: now.to_owned(),
        ended_at: None,
        status: RunStatus::Running,
        artifacts: BTreeMap::new(),
        ..parent.clone()
    };
    manifest.write(new)
}

/// The gates of a run that still make sense, and why others are left out. `lacks_baseline` says why there is no baseline,
/// if so.
fn gates_for(
    parent: &Manifest,
    lacks_baseline: Option<&str>,
    scorers: &[String],
    has_metrics: bool,
) -> Result<(Option<Vec<Gate>>, Vec<String>)> {
    let mut notices = Vec::new();
    let keeps = |gate: &Gate| {
        if let Some(why) = lacks_baseline.filter(|_| gate.needs_baseline()) {
            notices.push(format!("{why}: `no_regression` is skipped"));
            return false;
        }
        if gate.metric().is(OWN) && !has_metrics {
            notices.push(format!(
                "the benchmark that computes these metrics is not available here: gate `{gate}` is skipped"
            ));
            return false;
        }
        let scorer = gate.metric().scorer();
        let gone = scorer.filter(|name| !scorers.iter().any(|scorer| scorer == name));
        if let Some(name) = gone {
            notices.push(format!(
                "the run has no scorer `{name}`: gate `{gate}` is skipped"
            ));
        }
        gone.is_none()
    };
    let gates = gates_of(parent)?;
    let gates = gates.map(|gates| gates.into_iter().filter(keeps).collect());
    Ok((gates, notices))
}

/// The eval's config for the new run.
fn config(old: &Value, gates: Option<&[Gate]>, specs: &[Value], names: &[String]) -> Value {
    let mut config = old.clone();
    if let Value::Object(config) = &mut config {
        config.shift_remove("scorer");
        let scorers = match specs {
            [] => names.iter().map(|name| name.as_str().into()).collect(),
            specs => specs.to_vec(),
        };
        config.insert("scorers".to_owned(), Value::Array(scorers));
        if let Some(gates) = gates {
            let gates = gates.iter().map(|gate| Value::from(gate.to_string()));
            config.insert("gates".to_owned(), gates.collect());
        }
    }
    config
}

/// The result of rescoring the records.
struct Samples {
    /// Records that lost what is judged.
    retained: u64,
    skipped: u64,
    /// Names and SHA-256 of the files.
    files: Vec<(String, String)>,
    /// Those without a verdict, and the first wrong ones.
    records: Vec<Record>,
}

impl Samples {
    /// Notices of records without a new verdict, with the reason.
    fn notices(&self, dir: &RunDir, is_sure: bool) -> Vec<String> {
        let mut notices = Vec::new();
        if self.retained > 0 {
            notices.push(format!(
                "verdicts are kept for {} with a redacted secret",
                counted(self.retained, "record")
            ));
        }
        if self.skipped > 0 && !is_sure {
            notices.push(format!(
                "never asked: {}; continue the run with `cargo evaltest run --resume {}` and score it again",
                counted(self.skipped, "sample"),
                dir.path().display()
            ));
        }
        notices
    }
}

/// Judges all records of a file into files of the new run.
fn judge_all(
    path: &Path,
    new: &RunDir,
    judge: &Rejudge,
    add: &mut impl FnMut(&Record),
) -> Result<Samples> {
    let mut all = Sorted::create(new.file(RECORDS))?;
    let mut errors = Sorted::create(new.file(ERRORS))?;
    let mut samples = Samples {
        retained: 0,
        skipped: 0,
        files: Vec::new(),
        records: Vec::new(),
    };
    let mut notable = Notable::default();
    let chunks = Chunks::open(path)?;
    let (threads, chunks) = match &judge.clients {
        // It mostly waits for replies.
        Clients::Live(judges) => (judges.concurrency(), chunks.singly()),
        _ => (parallel::processors(), chunks),
    };
    parallel::in_order_on(
        threads,
        chunks,
        |chunk| chunk.judge(judge),
        |judged| {
            let judged = judged.map_err(|unjudged| unjudged.in_file(path))?;
            all.write(&judged.lines)?;
            let mut start = 0;
            for (seen, end) in judged.seen.into_iter().zip(judged.ends) {
                let record = seen.record;
                let status = record.result.status;
                add(&record);
                samples.retained += u64::from(seen.retained);
                samples.skipped += u64::from(status == Status::Skipped && !record.unchanged);
                if status.is_error() {
                    errors.write(&judged.lines[start..end])?;
                }
                if record.perturb.is_none() && notable.takes(&record) {
                    samples.records.push(record);
                }
                start = end;
            }
            Ok(())
        },
    )?;
    samples.files = vec![
        (RECORDS.to_owned(), all.finish()?),
        (ERRORS.to_owned(), errors.finish()?),
    ];
    Ok(samples)
}
