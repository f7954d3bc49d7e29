//! `Session`: one run of one eval, shared by its workers.

pub(crate) mod asserted;
pub(crate) mod emitter;
pub(crate) mod evaluate;
pub(crate) mod failed_samples;
pub(crate) mod finish;
pub(crate) mod interim;
pub(crate) mod manifest;
pub(crate) mod opening;
pub(crate) mod options;
pub(crate) mod preflight;
pub(crate) mod progressive;
pub(crate) mod question;
pub(crate) mod select;
pub(crate) mod stop;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::ask::AgentRequests;
use super::ask::attempt::AgentCaller;
use super::ask::cached::Cached;
use super::ask::identity::AgentIdentity;
use super::ask::repeated_failures::FirstAttempts;
use super::ask::scratch::remove_abandoned;
use super::ask::throttle::Throttle;
use super::ask::validation::AnswerValidation;
use super::judge::judges::Judging;
use super::judge::{judge, judge_failure};
use super::record::Ledger;
use super::record::collected::{Collected, InOrder};
use super::record::failed;
use super::record::gathered;
use super::shard::siblings;
use crate::data::{AgentError, FailureKind, Record, Shard, Status};
use crate::error::Result;
use crate::eval::Eval;
use crate::eval::limits::Limits;
use crate::eval::limits::budget::UsedUp;
use crate::eval::plan::{BaselineUse, Plan};
use crate::report::event::{Event, Observer};
use crate::scorer::Scorer;
use crate::store::RunDir;
use crate::system::{clock, lock, panics, shortage};
use crate::verdict::check::InterimFindings;
use crate::verdict::conclude::Run;
use crate::verdict::facts::Stop;
use crate::verdict::summary::judge_notices;
use emitter::Emitter;
use finish::Finish;
use opening::opening;
use options::{RunOptions, RunOrigin};
use preflight::{check_agents, recorder, tidy};
use progressive::{ExpectedCost, TierCheckpoint, TierCheckpoints};
use question::Question;
use select::Selected;
use stop::{Stopped, Stopper};

/// One run of one eval.
pub(crate) struct Session {
    pub(super) plan: Arc<Plan>,
    selected: Selected,
    pub(super) requests: AgentRequests,
    pub(super) validation: AnswerValidation,
    pub(super) judging: Judging,
    pub(super) ledger: Arc<Ledger>,
    pub(super) stopper: Arc<Stopper>,
    pub(super) emitter: Arc<Emitter>,
    finish: Finish,
}

impl Session {
    /// Loads the dataset, checks everything, and makes the run directory. No agent starts yet.
    pub(crate) fn start(
        eval: &Eval,
        options: RunOptions,
        observer: Arc<Observer<'static>>,
    ) -> Result<Self> {
        Self::with_plan(
            Plan::load(eval, BaselineUse::IndexOrCompare)?,
            options,
            observer,
        )
    }

    pub(crate) fn with_plan(
        plan: Plan,
        options: RunOptions,
        observer: Arc<Observer<'static>>,
    ) -> Result<Self> {
        let plan = Arc::new(plan);
        let redactor = plan.redactor.clone();
        // A server that is checked before the run may echo secrets, too.
        Self::begin(plan, options, observer).map_err(|error| redactor.error(error))
    }

    fn begin(
        plan: Arc<Plan>,
        mut options: RunOptions,
        observer: Arc<Observer<'static>>,
    ) -> Result<Self> {
        let eval = &plan.eval;
        let emitter = Arc::new(Emitter::new(Arc::clone(&plan), observer, options.stream));
        let asks = options.origin.asks();
        // Before the agent starts anything: its current identity is what answers.
        let mut cache = match options.origin {
            RunOrigin::Restored(_) => None,
            _ => Cached::open(&plan, &emitter),
        };
        let identity = match options.origin {
            // Recorded when all parts are merged.
            RunOrigin::Part(_) => AgentIdentity::default(),
            _ => AgentIdentity::of(&plan),
        };
        let scope = &options.scope;
        let mut selected = Selected::of(&plan, scope.only.as_ref(), scope.coverage.as_ref())?;
        let limits = options.limits(&plan);
        let coverage = scope.coverage.as_ref();
        let shard = coverage.and_then(|coverage| coverage.part.shard);
        if let Some(text) = coverage.and_then(|coverage| coverage.description(&limits, &plan)) {
            emitter.note(&text);
        }
        let recorder = if asks { recorder(&plan)? } else { None };
        if asks {
            for notice in check_agents(&plan)? {
                emitter.note(&notice);
            }
        }
        let (dir, resumed) = options.open(&plan, &identity)?;
        plan.store();
        tidy(eval, &options.origin, &emitter);
        if resumed.as_ref().is_some_and(|manifest| manifest.mixed) {
            emitter.note("this run cannot become a baseline: its agent changed since it began");
        }
        if let Some(cache) = &mut cache {
            cache.prepare(options.requested_by(&dir));
        }
        let (others, started) = so_far(&options.origin, &limits);
        let stopper = Stopper::new(&options.cancel, &limits, started);
        let stopper = Arc::new(stopper.redacted(&plan.redactor));
        let (ledger, spent) = Ledger::open(
            Arc::clone(&plan),
            &dir,
            &mut options.origin,
            Arc::clone(&stopper),
            Arc::clone(&emitter),
        )?;
        let resumed = resumed.map(|manifest| ledger.notify_damage(manifest, &dir));
        let cleanup = resumed.as_ref().and_then(|_| remove_abandoned(&plan, &dir));
        if let Some(notice) = cleanup {
            emitter.note(&notice);
        }
        let ledger = Arc::new(ledger);
        siblings::report(eval, &options.origin, &dir);
        let throttle = Throttle::new(
            &limits,
            options.concurrency,
            others.unwrap_or(spent),
            started,
            Arc::clone(&stopper),
        );
        let throttle = Arc::new(throttle.with_emitter(Some(&emitter)).sharing(eval));
        let judging = Judging {
            cache: cache.as_ref().map(Cached::replies),
            hidden: Arc::clone(&plan.hidden),
            parts: shard.map_or(1, Shard::of),
            ..Judging::new(limits.clone(), &stopper, &throttle, &dir, started)
        };
        let requests = AgentRequests {
            throttle,
            // A cached answer calls nothing, and one with replayed calls is none to keep.
            cache: cache.filter(|_| eval.record.is_none()),
            caller: AgentCaller::new(
                Arc::clone(&plan),
                &dir,
                Arc::clone(&stopper),
                Arc::clone(&emitter),
                recorder,
            ),
            first: FirstAttempts::of(eval),
            notified_shortage: AtomicBool::new(false),
            notified_stuck: AtomicBool::new(false),
            plan: Arc::clone(&plan),
            ledger: Arc::clone(&ledger),
            stopper: Arc::clone(&stopper),
            emitter: Arc::clone(&emitter),
        };
        let plan_copy = Arc::clone(&plan);
        let session = Self {
            finish: Finish::begin(plan_copy, dir, resumed, &options, identity, &mut selected)?,
            validation: AnswerValidation::of(&plan.eval),
            plan,
            selected,
            requests,
            judging,
            ledger,
            stopper,
            emitter,
        };
        session.notify_start(&limits);
        if let Some(checkpoints) = session.finish.checkpoints().filter(|_| asks) {
            session.notify_tier(checkpoints, None);
        }
        Ok(session)
    }

    /// Reports that the run begins.
    fn notify_start(&self, limits: &Limits) {
        let resumed = self.ledger.resumed();
        let opening = opening(&self.plan, limits, self.selected.queue(), resumed);
        let opening = self.emitter.redacted(&opening);
        self.emitter.emit(&Event::RunStarted {
            eval: &self.plan.eval.name,
            samples: self.selected.samples(),
            epochs: u32::try_from(self.plan.trials()).unwrap_or(u32::MAX),
            resumed,
            dir: self.dir().path(),
            opening: &opening,
            notices: &self.emitter.notices(),
        });
    }

    /// Asks every selected sample in all its epochs, `limits.concurrency` questions at a time, and ends the run.
    pub(crate) fn run(self) -> Result<Run> {
        let next = AtomicUsize::new(0);
        // What is collected during the run need not be read again at its end.
        let collected = self.finish.collected(&self.ledger);
        let collector = Mutex::new((InOrder::new(self.selected.slots()), collected));
        let threads = self.plan.eval.limits.concurrency;
        let threads = self.threads(threads.clamp(1, self.selected.questions().max(1)));
        // How many threads work, set once it is known how many can be started.
        let thread_limit = OnceLock::new();
        let work = |number: usize| {
            while number < *thread_limit.wait() {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                let Some(slot) = self.selected.at(turn) else {
                    return;
                };
                if self.is_stopped() || !self.admits(turn) {
                    return;
                }
                let mut record = self.complete(slot, Some(turn));
                if self.ledger.has_record(slot) {
                    record.abridge();
                    let (order, collected) = &mut *lock(&collector);
                    order.add(slot, record, |slot, record| collected.add(slot, record));
                }
                self.through();
            }
        };
        let work = &work;
        std::thread::scope(|scope| {
            // This thread is a worker, too.
            let unmade = (1..threads).find(|&number| {
                let builder = std::thread::Builder::new().name(format!("evaltest-{number}"));
                builder.spawn_scoped(scope, move || work(number)).is_err()
            });
            let _ = thread_limit.set(unmade.map_or(threads, shortage::threads_to_keep));
            work(0);
        });
        let collector = collector.into_inner();
        let (_, collected) = collector.unwrap_or_else(PoisonError::into_inner);
        self.end(self.stopper.stopped(), collected)
    }

    /// How many of the `wanted` questions may be in flight: each may open a file or two, and run a program.
    pub(crate) fn threads(&self, wanted: usize) -> usize {
        let (most, why) = shortage::most_threads();
        if wanted > most
            && !self
                .requests
                .notified_shortage
                .swap(true, Ordering::Relaxed)
        {
            self.emitter.notice(&format!(
                "at most {most} of {wanted} questions run in parallel: {why}"
            ));
        }
        wanted.min(most)
    }

    /// Asks the sample at this dataset place in each epoch, except where an earlier part of the run did. Returns its
    /// records, redacted, without what only the disk needs.
    pub(crate) fn run_sample(&self, place: usize) -> Vec<Record> {
        let trials = self.plan.trials();
        let complete = |slot| {
            let mut record = self.complete(slot, None);
            self.through();
            record.forget();
            record
        };
        // Those of perturbed questions decide no test.
        (place * trials..(place + 1) * trials)
            .map(complete)
            .filter(|record| record.perturb.is_none())
            .collect()
    }

    /// The places of the samples in asking order.
    pub(crate) fn queue(&self) -> &[usize] {
        self.selected.queue()
    }

    /// Waits until the sample at this position of the [queue](Self::queue) may be asked; `false` if it never will.
    pub(crate) fn admits_sample(&self, turn: usize) -> bool {
        self.admits(turn * self.plan.trials())
    }

    fn admits(&self, turn: usize) -> bool {
        if let Some(checkpoints) = self.finish.checkpoints() {
            return checkpoints.wait_for_turn(turn, || self.is_stopped());
        }
        let analyses = self.finish.analyses();
        analyses.is_none_or(|analyses| analyses.wait_for_turn(turn, || self.is_stopped()))
    }

    /// Reports the expected cost of the next tier.
    fn notify_tier(&self, checkpoints: &TierCheckpoints, so_far: Option<&ExpectedCost>) {
        let progressive = checkpoints.progressive();
        let known = ExpectedCost::of_history(&self.plan, &progressive);
        let expected = known.as_ref().or(so_far);
        let description = ExpectedCost::description(expected, &progressive);
        if let Some(line) = description {
            self.emitter.notice(&line);
        }
    }

    /// Ends a tier: reports its results, then continues with the next or ends the run.
    fn evaluate_tier(&self, checkpoints: &TierCheckpoints) {
        if self.is_stopped() {
            // Samples that are no longer asked count for nothing.
            return;
        }
        let analysis = panics::catch(|| {
            let analysis = self
                .finish
                .checkpoint(checkpoints, &self.ledger, &self.selected);
            analysis.unwrap_or_else(|error| {
                self.stopper.unwritten(&error);
                TierCheckpoint::default()
            })
        });
        let analysis = analysis.unwrap_or_default();
        for line in &analysis.description {
            self.emitter.notice(line);
        }
        let is_ended = !analysis.ended_by.is_empty();
        checkpoints.take(analysis.ended_by);
        if !is_ended {
            self.notify_tier(checkpoints, analysis.expected.as_ref());
        }
    }

    /// Counts a finished question. Takes the interim analysis that waited for it.
    fn through(&self) {
        if let Some(checkpoints) = self.finish.checkpoints() {
            if checkpoints.through() {
                self.evaluate_tier(checkpoints);
            }
            return;
        }
        let analyses = self.finish.analyses();
        let Some((analyses, analysis)) =
            analyses.and_then(|analyses| Some((analyses, analyses.through()?)))
        else {
            return;
        };
        // Others wait for the analysis: it counts as taken even if it panics.
        let found = panics::catch(|| {
            let found = self.finish.analysis(analysis, &self.ledger, &self.selected);
            found.unwrap_or_else(|error| {
                self.stopper.unwritten(&error);
                InterimFindings::default()
            })
        });
        let found = found.unwrap_or_default();
        if found.is_sure {
            let (number, of) = (analysis.number, analysis.of);
            self.stopper.sure(&format!(
                "every gate was sure at look {number} of {of}, and the rest was not asked"
            ));
        }
        analyses.take(analysis, found);
    }

    /// Asks a sample once more, to distinguish a flip from flakiness. The answer counts in no metric.
    pub(crate) fn confirm(&self, place: usize) -> Result<Record, AgentError> {
        let question = Question::of(&self.plan, place * self.plan.trials());
        if let Some(error) = &question.unreadable {
            let kind = FailureKind::NotStarted;
            return Err(AgentError::of(kind, error.message()));
        }
        let eval = &self.plan.eval;
        let outcome = match self.requests.confirm(&question) {
            Ok(answer) => {
                let client = self.client(&question, true, Vec::new());
                judge(&self.plan, &question, answer, client)
            }
            Err(error) if eval.errors.are_wrong(&error, &*eval.agent) => {
                judge_failure(&self.plan, &question, failed(error, 0.0, 1))
            }
            Err(error) => return Err(error),
        };
        let mut record = question.into_record(&self.plan, outcome);
        self.ledger.confirmed(&mut record);
        Ok(record)
    }

    /// How many questions the run has.
    pub(crate) fn questions(&self) -> usize {
        let ended = self
            .finish
            .checkpoints()
            .and_then(TierCheckpoints::ended_questions);
        ended.unwrap_or(self.selected.questions())
    }

    /// Ends the run without asking: makes the records of questions that ended or have an answer, and returns how many
    /// these are. If not all, the run was stopped for this reason.
    ///
    /// # Errors
    /// See [`Self::finish`].
    pub(crate) fn restore(self, stop: Stop, reason: &str) -> Result<(usize, Run)> {
        self.stopper.restored(stop, reason);
        let mut ended = 0;
        for slot in self.selected.slots() {
            if self.ledger.has_answer(slot) {
                let record = self.complete(slot, None);
                ended += usize::from(record.result.status != Status::Skipped);
            } else if self.plan.eval.perturb.is_some() {
                ended += usize::from(Question::of(&self.plan, slot).unchanged);
            }
        }
        if let Some(checkpoints) = self.finish.checkpoints().filter(|it| it.is_ended()) {
            let analysis = self
                .finish
                .checkpoint(checkpoints, &self.ledger, &self.selected)?;
            checkpoints.ended_by(analysis.ended_by);
        }
        let is_whole = ended == self.questions();
        let stopped = self.stopper.stopped().filter(|_| !is_whole);
        let collected = self.finish.collected(&self.ledger);
        Ok((ended, self.end(stopped, collected)?))
    }

    /// Ends the run: records in dataset order, summary, gates, manifest.
    ///
    /// # Errors
    /// When something cannot be written. Answers are in `events.jsonl` all the same.
    pub(crate) fn finish(&self) -> Result<Run> {
        let collected = self.finish.collected(&self.ledger);
        self.end(self.stopper.stopped(), collected)
    }

    fn end(&self, stopped: Option<Stopped>, collected: Collected<'_>) -> Result<Run> {
        self.plan.eval.agent.close();
        let judges = self.plan.scorers.iter().flat_map(Scorer::agents);
        judges.for_each(|judge| judge.close());
        if stopped.is_none() {
            self.requests.notify_unenforced_limits();
        }
        for notice in self.requests.caller.recorder_notices() {
            self.emitter.notice(&notice);
        }
        for notice in self.plan.often_blanked() {
            self.emitter.notice(&notice);
        }
        let ended = self.finish.end(
            &self.ledger,
            &self.selected,
            stopped,
            &self.emitter,
            collected,
        );
        let mut run = ended.map_err(|error| self.dir().unless_gone(error))?;
        if !self.is_part() {
            for notice in judge_notices(&run.summary) {
                self.emitter.notice(&notice);
            }
            for notice in gathered::reading_notices(&run) {
                self.emitter.notice(&notice);
            }
            run.notices = self.emitter.notices();
        }
        self.emitter.emit(&Event::RunFinished { run: &run });
        Ok(run)
    }

    /// Whether no sample starts any more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopper.is_stopped()
    }

    /// Why the remaining questions are not needed, if so.
    pub(crate) fn is_sure(&self) -> Option<String> {
        let stopped = self.stopper.stopped()?;
        (stopped.stop == Stop::Sure).then_some(stopped.reason)
    }

    /// Why the run ends early, if it does.
    pub(crate) fn stop_reason(&self) -> Option<String> {
        Some(self.stopper.stopped()?.reason)
    }

    /// The mistake in the eval that stopped the run; only for the first caller.
    pub(crate) fn unreported_mistake(&self) -> Option<String> {
        self.stopper.unreported_mistake()
    }

    /// Whether this is one sample of a run that is merged later.
    pub(crate) fn is_part(&self) -> bool {
        self.finish.is_part()
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn dir(&self) -> &RunDir {
        self.finish.dir()
    }
}

/// What the other parts of a run have used up, if it has parts, and when the first of them started.
fn so_far(origin: &RunOrigin, limits: &Limits) -> (Option<UsedUp>, Instant) {
    let now = clock::now();
    match origin {
        RunOrigin::Part(part) => {
            let (spent, ago) = siblings::so_far(part, limits);
            (Some(spent), now.checked_sub(ago).unwrap_or(now))
        }
        _ => (None, now),
    }
}

impl Eval {
    /// Asks every sample and records the run, without printing anything.
    ///
    /// # Errors
    /// A mistake in the eval or its dataset (nothing was asked then), or a run directory that cannot be written. A
    /// failing agent is no error; see the records.
    pub fn run(&self) -> Result<Run> {
        Session::start(self, RunOptions::default(), Arc::new(|_| {}))?.run()
    }
}
