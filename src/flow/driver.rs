//! `Flow`: runs the stages of a flow one after another in its folder.
//!
//! ```text
//! <output root>/<time>_<id>/
//!   flow.json                       how far it is, written before and after each stage    (state.rs)
//!   <time>_generate/ <time>_judge/ <time>_winrate/         run directories as of any eval
//!   aime_generated_<time>.json, generation_report_<time>.md
//!   llm_judge_report_<time>.md, win_rate_report_<time>.md, comprehensive_report.md, .html  (report.rs)
//! ```
//!
//! A finished stage is not run again; an unfinished one resumes in its run directory, which holds the answers already
//! paid for. Everything else is derived from these directories, so a flow that was killed and resumed ends with the
//! same files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::GeneratedStage;
use super::figures::{FlowFigures, FlowGate, FlowStage, StageCost, StageFigures};
use super::plan::CheckedFlow;
use super::report::write_reports;
use super::reviews;
use super::spec::FlowSpec;
use super::stage_run::StageRun;
use super::state::{FlowState, StageStatus};
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::exit::Exit;
use crate::flow;
use crate::report::event::Observer;
use crate::run::CiPolicy;
use crate::run::drive::{Audience, Destination, Drive, Resumption};
use crate::store::{RunDir, runs_in, stamp_and_id};
use crate::system::cancel::Cancel;
use crate::system::file::absolute;
use crate::system::project::display;
use crate::text::shell_word;

/// A flow in its folder.
pub struct Flow {
    checked: CheckedFlow,
    folder: PathBuf,
    state: FlowState,
    /// Whether the judge differs from that of the failed stage, so nothing of that stage can be reused.
    is_rejudged: bool,
}

/// The environment of a flow: cancellation, observers, CI policy.
pub struct FlowHost<'a> {
    /// Cancels the flow.
    pub cancel: Cancel,
    /// Observes the events of each run.
    pub observer: Arc<Observer<'static>>,
    /// Called with the progress of the flow.
    pub notify: &'a dyn Fn(&FlowNews<'_>),
    /// Whether this is CI.
    pub ci: CiPolicy,
}

/// Progress of a flow.
#[derive(Debug)]
pub enum FlowNews<'a> {
    /// A stage starts.
    Begins(FlowStage),
    /// A stage was already finished.
    WasOver(FlowStage),
    /// A stage failed, and why.
    Failed(FlowStage, &'a str),
}

/// The end of a flow.
#[derive(Clone, Debug)]
pub struct FlowEnd {
    /// The folder of the flow.
    pub folder: PathBuf,
    /// The final content of `flow.json`.
    pub state: FlowState,
    /// The exit code of the command.
    pub exit: Exit,
}

/// Where the items come from: a stage that made them, or an existing file.
struct ItemSource {
    /// The item file.
    path: Option<PathBuf>,
    /// The number of items.
    count: u64,
    /// Why there are no items for later stages.
    failure: Option<String>,
    /// The names of the files that were written for them.
    files: Vec<String>,
    /// How making them ended.
    exit: Exit,
}

impl ItemSource {
    fn of(made: &GeneratedStage) -> Self {
        Self {
            path: made.items.clone(),
            count: made.figures.accepted,
            failure: made.for_stages().err(),
            files: made.file_names(),
            exit: made.exit,
        }
    }
}

/// The result of a stage.
struct StageEnd<T> {
    figures: StageFigures<T>,
    run: Option<StageRun>,
}

impl Flow {
    pub(super) fn new(checked: CheckedFlow, folder: PathBuf, state: FlowState) -> Self {
        Self {
            checked,
            folder,
            state,
            is_rejudged: false,
        }
    }

    /// Opens an existing flow to resume it. `judge` replaces the judge if a judging stage failed.
    ///
    /// # Errors
    /// If the folder is not that of a flow, or its spec has changed.
    pub fn resume(folder: &Path, judge: Option<Value>) -> Result<Self> {
        let folder = absolute(folder)?;
        let mut state = FlowState::read(&folder)?;
        if judge.is_some() {
            state.flags.judge = judge;
        }
        let path = state.spec.as_ref().map(PathBuf::from);
        let mut spec = FlowSpec::read(path.as_deref(), &state.flags)?;
        if spec.path.is_none() {
            // Relative paths from the command line resolve against the folder where it was typed.
            spec.folder = PathBuf::from(&state.spec_folder);
        }
        let checked = CheckedFlow::of(spec)?;
        let configuration = checked.configuration();
        let is_rejudged = configuration != state.configuration;
        if is_rejudged {
            let fixed = state.judges_failed() && is_same_but_judge(&configuration, &state);
            if !fixed {
                let folder = shell_word(&display(&folder));
                return Err(Error::usage(format!(
                    "the spec changed since the flow in `{folder}` was started"
                ))
                .hint("restore the spec, or start a new flow; only a judge whose replies could not be read may \
                change"));
            }
            state.configuration = configuration;
        }
        state.flags = state.flags.redacted(&checked.redactor);
        Ok(Self {
            is_rejudged,
            ..Self::new(checked, folder, state)
        })
    }

    /// The folder of the flow.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The content of `flow.json`.
    pub fn state(&self) -> &FlowState {
        &self.state
    }

    /// Runs all unfinished stages and writes the reports.
    ///
    /// # Errors
    /// If items cannot be generated, or a file cannot be written. A failing judge is not an error.
    pub fn run(mut self, host: &FlowHost<'_>) -> Result<FlowEnd> {
        if let Some(dir) = runs_in(&self.folder).iter().find(|dir| dir.is_going_on()) {
            let dir = display(dir.path());
            return Err(Error::usage(format!(
                "the flow is still running: its run `{dir}` has not ended"
            ))
            .hint("wait for its end, or stop it first"));
        }
        let mut figures = FlowFigures::default();
        let source = match self.checked.spec.items.clone() {
            Some(items) => self.given(items, &mut figures)?,
            None => match self.generate(host, &mut figures)? {
                Some(made) => ItemSource::of(&made),
                None => return Ok(self.interrupted()),
            },
        };
        let mut exit = source.exit;
        let items = match (&source.path, &source.failure) {
            (Some(path), None) => (&**path, source.count),
            (_, why) => {
                let why = why.clone().unwrap_or_default();
                for stage in [FlowStage::Judge, FlowStage::Winrate] {
                    self.state.set(stage, StageStatus::Skipped, Some(&why));
                }
                figures.judge = StageFigures::Skipped(why.clone());
                figures.winrate = StageFigures::Skipped(why);
                return self.finish(figures, &source, exit);
            }
        };
        let stage = FlowStage::Judge;
        if let Some(why) = self.skipped(stage) {
            figures.judge = StageFigures::Skipped(why);
        } else {
            let Some(ended) = self.stage(stage, items, host, StageRun::judged)? else {
                return Ok(self.interrupted());
            };
            exit = exit.max(self.take(stage, &ended, &mut figures)?);
            figures.judge = ended.figures;
        }
        let stage = FlowStage::Winrate;
        if let Some(why) = self.skipped(stage) {
            figures.winrate = StageFigures::Skipped(why);
        } else {
            let Some(ended) = self.stage(stage, items, host, StageRun::compared)? else {
                return Ok(self.interrupted());
            };
            exit = exit.max(self.take(stage, &ended, &mut figures)?);
            figures.winrate = ended.figures;
        }
        self.finish(figures, &source, exit)
    }

    /// Records that a stage is not run, and why; `None` if it is.
    fn skipped(&mut self, stage: FlowStage) -> Option<String> {
        let why = self.checked.spec.skip_reason(stage)?;
        self.state.set(stage, StageStatus::Skipped, Some(&why));
        Some(why)
    }

    /// The items of an existing file.
    fn given(&mut self, items: PathBuf, figures: &mut FlowFigures) -> Result<ItemSource> {
        let why = self.skipped(FlowStage::Generate).unwrap_or_default();
        figures.generation = StageFigures::Skipped(why);
        let (count, _) = self.checked.items()?;
        Ok(ItemSource {
            path: Some(items),
            count,
            failure: None,
            files: Vec::new(),
            exit: Exit::Passed,
        })
    }

    /// The generating stage; `None` if it was interrupted.
    fn generate(
        &mut self,
        host: &FlowHost<'_>,
        figures: &mut FlowFigures,
    ) -> Result<Option<GeneratedStage>> {
        let stage = FlowStage::Generate;
        let earlier = self.earlier(stage);
        // If nothing was accepted, failed items are requested again.
        let over = earlier.as_ref().filter(|dir| dir.is_finished());
        let over = over.map(flow::made).transpose()?;
        let made = if let Some(made) = over.filter(|made| made.figures.accepted > 0) {
            (host.notify)(&FlowNews::WasOver(stage));
            made
        } else {
            (host.notify)(&FlowNews::Begins(stage));
            self.begins(stage)?;
            let eval = self.cached(self.checked.spec.generation()?);
            let drive = self.drive(stage, host, earlier.as_ref());
            let prepared = drive.prepare(&drive.adapt(eval)?)?;
            let observer = Arc::clone(&host.observer);
            flow::run(&drive, prepared, &host.cancel, observer)?
        };
        if host.cancel.is_cancelled() {
            return Ok(None);
        }
        let run = StageRun::read(&made.dir)?;
        let ended = StageEnd {
            figures: StageFigures::Found(made.figures.clone()),
            run: Some(run),
        };
        self.take(stage, &ended, figures)?;
        if let Err(why) = made.for_stages() {
            self.state.set(stage, StageStatus::Failed, Some(&why));
            self.state.write(&self.folder)?;
            (host.notify)(&FlowNews::Failed(stage, &why));
        }
        figures.generation = ended.figures;
        Ok(Some(made))
    }

    /// A stage that reads the items; `None` if it was interrupted.
    fn stage<T>(
        &mut self,
        stage: FlowStage,
        items: (&Path, u64),
        host: &FlowHost<'_>,
        find: fn(&StageRun) -> Result<T>,
    ) -> Result<Option<StageEnd<T>>> {
        let earlier = self.earlier(stage);
        let over = earlier.as_ref().filter(|dir| dir.is_finished());
        let over = over.and_then(|dir| StageRun::read(dir).ok());
        let over = over.filter(|run| run.unread().is_none());
        let read = if let Some(run) = over {
            (host.notify)(&FlowNews::WasOver(stage));
            Ok(run)
        } else {
            (host.notify)(&FlowNews::Begins(stage));
            self.begins(stage)?;
            let earlier = earlier.filter(|_| !self.is_rejudged);
            self.run_stage(stage, items, host, earlier.as_ref())
        };
        if host.cancel.is_cancelled() {
            return Ok(None);
        }
        let ended = match read {
            // A failure here concerns this stage only; the other stage still runs.
            Err(error) => StageEnd {
                figures: StageFigures::Failed(text(&error)),
                run: None,
            },
            Ok(run) => StageEnd {
                figures: match run.unread() {
                    Some(why) => StageFigures::Failed(why),
                    None => StageFigures::Found(find(&run)?),
                },
                run: Some(run),
            },
        };
        if let Some(why) = ended.figures.failure() {
            (host.notify)(&FlowNews::Failed(stage, why));
        }
        Ok(Some(ended))
    }

    /// Runs a stage that reads the items.
    fn run_stage(
        &self,
        stage: FlowStage,
        (items, count): (&Path, u64),
        host: &FlowHost<'_>,
        earlier: Option<&RunDir>,
    ) -> Result<StageRun> {
        let eval = self.cached(self.checked.spec.of_stage(stage, items, count)?);
        let mut drive = self.drive(stage, host, earlier);
        if earlier.is_none() {
            drive.destination.run_id = Some(self.next_id(stage));
        }
        let prepared = drive.prepare(&drive.adapt(eval)?)?;
        let run = drive.run(prepared, &host.cancel, Arc::clone(&host.observer))?;
        StageRun::read(&RunDir::open(&run.dir)?)
    }

    /// Records the result of a stage and returns its exit code.
    fn take<T>(
        &mut self,
        stage: FlowStage,
        ended: &StageEnd<T>,
        figures: &mut FlowFigures,
    ) -> Result<Exit> {
        let failure = ended.figures.failure();
        let mut exit = failure.map_or(Exit::Passed, |_| Exit::Infrastructure);
        if let Some(run) = &ended.run {
            let gates: Vec<FlowGate> = run.gates(stage);
            let cost: StageCost = run.cost(stage);
            figures.gates.extend(gates);
            figures.costs.push(cost);
            if failure.is_none() {
                exit = run.exit();
            }
            if let Some(state) = self.state.stage(stage) {
                let name = run.dir().path().file_name();
                state.run_dir = name.map(|name| name.to_string_lossy().into_owned());
            }
        }
        let status = match failure {
            Some(_) => StageStatus::Failed,
            None => StageStatus::Done,
        };
        self.state.set(stage, status, failure);
        self.state.write(&self.folder)?;
        Ok(exit)
    }

    /// Marks a stage as running.
    fn begins(&mut self, stage: FlowStage) -> Result<()> {
        self.state.set(stage, StageStatus::Running, None);
        self.state.ended_at = None;
        self.state.exit_code = None;
        self.state.write(&self.folder)
    }

    /// Adds the verifications by people, if there are any.
    fn reviewed(&self, figures: &mut FlowFigures, source: &ItemSource) -> Result<Exit> {
        let Some(items) = &source.path else {
            return Ok(Exit::Passed);
        };
        let spec = &self.checked.spec;
        let own = spec.gates_of(FlowStage::Review);
        let gates = (!own.is_empty()).then_some(&*own);
        let judge = self.earlier(FlowStage::Judge).filter(RunDir::is_finished);
        let judge = judge.and_then(|dir| StageRun::read(&dir).ok());
        let Some(found) = reviews(items, judge.as_ref(), gates)? else {
            return Ok(Exit::Passed);
        };
        figures.reviewed = Some(found.items);
        figures.gates.extend(found.gates);
        Ok(found.exit)
    }

    /// Writes the reports and ends the flow.
    fn finish(
        mut self,
        mut figures: FlowFigures,
        source: &ItemSource,
        exit: Exit,
    ) -> Result<FlowEnd> {
        let exit = exit.max(self.reviewed(&mut figures, source)?);
        let items = source.path.as_deref();
        figures.basics = self.checked.basics(&self.state, &self.folder, items);
        if self.checked.spec.items.is_some() {
            figures.basics.count = source.count;
        }
        let time = stamp_and_id(&self.folder).map(|(stamp, _)| stamp.replace('T', "_"));
        let time = time.unwrap_or_default().replace('Z', "");
        let mut files = source.files.clone();
        files.extend(write_reports(&figures, &self.folder, &time)?);
        self.state.files = files;
        self.state.exit_code = Some(exit);
        self.state.ended_at = Some(format!("{:.3}", crate::system::clock::timestamp()));
        self.state.figures = Some(figures);
        self.state.write(&self.folder)?;
        Ok(FlowEnd {
            folder: self.folder,
            state: self.state,
            exit,
        })
    }

    fn interrupted(self) -> FlowEnd {
        FlowEnd {
            folder: self.folder,
            state: self.state,
            exit: Exit::Interrupted,
        }
    }

    /// Puts the answer cache next to the flows, so that the next flow finds it.
    fn cached(&self, mut eval: Eval) -> Eval {
        let root = self.folder.parent();
        if let (None, Some(root)) = (&eval.cache.folder, root) {
            eval.cache.folder = Some(root.join(".cache"));
        }
        eval
    }

    fn drive(&self, stage: FlowStage, host: &FlowHost<'_>, earlier: Option<&RunDir>) -> Drive {
        drive(Some(&self.folder), Some(stage), host.ci, earlier)
    }

    /// The latest run directory of a stage.
    fn earlier(&self, stage: FlowStage) -> Option<RunDir> {
        self.runs_of(stage).pop()
    }

    /// The run directories of a stage; a replaced judge leaves one behind.
    fn runs_of(&self, stage: FlowStage) -> Vec<RunDir> {
        let is_of = |dir: &RunDir| {
            let id = stamp_and_id(dir.path()).map(|(_, id)| id);
            let id = id.and_then(|id| id.strip_prefix(stage.as_str()));
            id.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        runs_in(&self.folder).into_iter().filter(is_of).collect()
    }

    /// The id of the next run of a stage, unique even within one second.
    fn next_id(&self, stage: FlowStage) -> String {
        match self.runs_of(stage).len() {
            0 => stage.as_str().to_owned(),
            runs => format!("{}-{}", stage.as_str(), runs + 1),
        }
    }
}

/// How a stage is run.
pub(super) fn drive(
    folder: Option<&Path>,
    stage: Option<FlowStage>,
    ci: CiPolicy,
    earlier: Option<&RunDir>,
) -> Drive {
    let invocation = folder.and_then(Path::file_name);
    Drive {
        destination: Destination {
            invocation: invocation.map_or_else(String::new, |it| it.to_string_lossy().into_owned()),
            run_id: stage.map(|stage| stage.as_str().to_owned()),
            output_root: folder.map(Path::to_owned),
            ..Destination::default()
        },
        resume: earlier.map(|dir| Resumption {
            path: dir.path().to_owned(),
            allow_changed_agent: false,
        }),
        // Items are new in each run, so they have no baseline.
        ignore_baseline: true,
        audience: Audience {
            ci,
            ..Audience::default()
        },
        ..Drive::default()
    }
}

/// Whether the configuration equals that of the state apart from the judge.
fn is_same_but_judge(configuration: &Value, state: &FlowState) -> bool {
    let without = |value: &Value| {
        let mut keys = value.as_object().cloned().unwrap_or_default();
        keys.retain(|key, _| key != "judge" && key != "winrate");
        keys
    };
    without(configuration) == without(&state.configuration)
}

/// An error with its hint, in one line.
fn text(error: &Error) -> String {
    match error.hint_text() {
        Some(hint) => format!("{} (hint: {hint})", error.message()),
        None => error.message().to_owned(),
    }
}
