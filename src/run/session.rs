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
pub(crate) mod run_eval;
pub(crate) mod select;
pub(crate) mod stop;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::ask::Asking;
use super::ask::admission::Admitting;
use super::ask::attempt::AgentCaller;
use super::ask::cached::Cached;
use super::ask::identity::Asker;
use super::ask::repeated_failures::FirstAttempts;
use super::ask::scratch::tidy_left;
use super::ask::throttle::Throttle;
use super::judge::judges::Judging;
use super::judge::{judge, judge_failure};
use super::record::Ledger;
use super::record::outcome::failed;
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
use crate::system::clock;
use crate::system::panics;
use crate::system::shortage;
use crate::verdict::check::LookFindings;
use crate::verdict::facts::Stop;
use crate::verdict::run::Run;
use crate::verdict::summary::judge_notices;
use emitter::Emitter;
use finish::Finish;
use opening::opening;
use options::{Home, RunOptions};
use preflight::{check_agents, tidy};
use progressive::{BorderLook, Borders, ExpectedCost};
use question::Question;
use select::Selected;
use stop::{Stopped, Stopper};

/// One run of one eval.
pub(crate) struct Session {
    pub(super) plan: Arc<Plan>,
    selected: Selected,
    pub(super) asking: Asking,
    pub(super) admitting: Admitting,
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
        Self::with_plan(Plan::load(eval, BaselineUse::Compare)?, options, observer)
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
        let emitter = Emitter::new(Arc::clone(&plan), observer, options.stream);
        let emitter = Arc::new(emitter);
        // Before the agent starts anything: its current identity is what answers.
        let asks = !matches!(options.home, Home::Merged(_) | Home::Restored(_));
        let mut cache = match options.home {
            Home::Restored(_) => None,
            _ => Cached::open(&plan, &emitter),
        };
        let asker = match options.home {
            // Recorded when all parts are merged.
            Home::Part(_) => Asker::default(),
            _ => Asker::of(&plan),
        };
        let scope = &options.scope;
        let mut selected = Selected::of(&plan, scope.only.as_ref(), scope.cut.as_ref())?;
        let limits = options.limits(&plan);
        let shard = scope.cut.as_ref().and_then(|cut| cut.part.shard);
        let told = scope.cut.as_ref().and_then(|cut| cut.told(&limits, &plan));
        if let Some(told) = told {
            emitter.note(&told);
        }
        if asks {
            for notice in check_agents(&plan)? {
                emitter.note(&notice);
            }
        }
        let (dir, resumed) = options.open(&plan, &asker)?;
        tidy(eval, &options.home, &emitter);
        if resumed.as_ref().is_some_and(|manifest| manifest.mixed) {
            emitter.note("the agent was changed since the run began: it can be no baseline");
        }
        if let Some(cache) = &mut cache {
            cache.prepare(options.asked_by(&dir));
        }
        let (others, started) = so_far(&options.home, &limits);
        let stopper = Stopper::new(&options.cancel, &limits, started);
        let stopper = Arc::new(stopper.redacted(&plan.redactor));
        let (ledger, spent) = Ledger::open(
            Arc::clone(&plan),
            &dir,
            &mut options.home,
            Arc::clone(&stopper),
            Arc::clone(&emitter),
        )?;
        let resumed = resumed.map(|manifest| ledger.tell_damage(manifest, &dir));
        let left = resumed.as_ref().and_then(|_| tidy_left(&plan, &dir));
        if let Some(notice) = left {
            emitter.note(&notice);
        }
        let ledger = Arc::new(ledger);
        siblings::tell(eval, &options.home, &dir);
        let throttle = Throttle::new(
            &limits,
            options.concurrency,
            others.unwrap_or(spent),
            started,
            Arc::clone(&stopper),
        );
        let throttle = Arc::new(throttle.told_by(Some(&emitter)).sharing(eval));
        let judging = Judging {
            cache: cache.as_ref().map(Cached::replies),
            hidden: Arc::clone(&plan.hidden),
            parts: shard.map_or(1, Shard::of),
            ..Judging::new(limits.clone(), &stopper, &throttle, &dir, started)
        };
        let asking = Asking {
            throttle,
            cache,
            caller: AgentCaller::new(
                Arc::clone(&plan),
                &dir,
                Arc::clone(&stopper),
                Arc::clone(&emitter),
            ),
            first: FirstAttempts::of(eval),
            told_short: AtomicBool::new(false),
            told_stuck: AtomicBool::new(false),
            plan: Arc::clone(&plan),
            ledger: Arc::clone(&ledger),
            stopper: Arc::clone(&stopper),
            emitter: Arc::clone(&emitter),
        };
        let begun = Arc::clone(&plan);
        let session = Self {
            finish: Finish::begin(begun, dir, resumed, &options, asker, &mut selected)?,
            admitting: Admitting::of(&plan.eval),
            plan,
            selected,
            asking,
            judging,
            ledger,
            stopper,
            emitter,
        };
        session.tell_start(&limits);
        if let Some(borders) = session.finish.borders().filter(|_| asks) {
            session.tell_tier(borders, None);
        }
        Ok(session)
    }

    /// Reports that the run begins.
    fn tell_start(&self, limits: &Limits) {
        let opening = opening(&self.plan, limits, self.selected.queue());
        let opening = self.emitter.redacted(&opening);
        self.emitter.emit(&Event::RunStarted {
            eval: &self.plan.eval.name,
            samples: self.selected.samples(),
            epochs: self.plan.eval.epochs,
            resumed: self.ledger.resumed(),
            dir: self.dir().path(),
            opening: &opening,
            notices: &self.emitter.notices(),
        });
    }

    /// Asks every selected sample in all its epochs, `limits.concurrency` questions at a time, and ends the run.
    pub(crate) fn run(self) -> Result<Run> {
        let next = AtomicUsize::new(0);
        let threads = self.plan.eval.limits.concurrency;
        let threads = self.threads(threads.clamp(1, self.selected.questions().max(1)));
        // How many threads work, set once it is known how many can be started.
        let kept = OnceLock::new();
        let work = |number: usize| {
            while number < *kept.wait() {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                let Some(slot) = self.selected.at(turn) else {
                    return;
                };
                if self.is_stopped() || !self.admits(turn) {
                    return;
                }
                self.settle(slot, Some(turn));
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
            let _ = kept.set(unmade.map_or(threads, shortage::threads_to_keep));
            work(0);
        });
        self.finish()
    }

    /// How many of the `wanted` questions may be in flight: each may open a file or two, and run a program.
    pub(crate) fn threads(&self, wanted: usize) -> usize {
        let (most, why) = shortage::most_threads();
        if wanted > most && !self.asking.told_short.swap(true, Ordering::Relaxed) {
            self.emitter.notice(&format!(
                "{most} of {wanted} questions are in flight at most: {why}"
            ));
        }
        wanted.min(most)
    }

    /// Asks the sample at this dataset place in each epoch, except where an earlier part of the run did. Returns its
    /// records, redacted, without what only the disk needs.
    pub(crate) fn run_sample(&self, place: usize) -> Vec<Record> {
        let epochs = self.plan.eval.epochs as usize;
        let settle = |slot| {
            let mut record = self.settle(slot, None);
            self.through();
            record.forget();
            record
        };
        (place * epochs..(place + 1) * epochs).map(settle).collect()
    }

    /// The places of the samples in asking order.
    pub(crate) fn queue(&self) -> &[usize] {
        self.selected.queue()
    }

    /// Waits until the sample at this position of the [queue](Self::queue) may be asked; `false` if it never will.
    pub(crate) fn admits_sample(&self, turn: usize) -> bool {
        self.admits(turn * self.plan.eval.epochs as usize)
    }

    fn admits(&self, turn: usize) -> bool {
        if let Some(borders) = self.finish.borders() {
            return borders.admit(turn, || self.is_stopped());
        }
        let looks = self.finish.looks();
        looks.is_none_or(|looks| looks.admit(turn, || self.is_stopped()))
    }

    /// Reports the expected cost of the next tier.
    fn tell_tier(&self, borders: &Borders, so_far: Option<&ExpectedCost>) {
        let progressive = borders.progressive();
        let known = ExpectedCost::of_history(&self.plan, &progressive);
        let expected = known.as_ref().or(so_far);
        let told = ExpectedCost::told(expected, &progressive);
        if let Some(line) = told {
            self.emitter.notice(&line);
        }
    }

    /// Ends a tier: reports its results, then continues with the next or ends the run.
    fn look_at_tier(&self, borders: &Borders) {
        if self.is_stopped() {
            // Samples that are no longer asked count for nothing.
            return;
        }
        let look = panics::catch(|| {
            let look = self.finish.border(borders, &self.ledger, &self.selected);
            look.unwrap_or_else(|error| {
                self.stopper.unwritten(&error);
                BorderLook::default()
            })
        });
        let look = look.unwrap_or_default();
        for line in &look.told {
            self.emitter.notice(line);
        }
        let is_ended = !look.ended_by.is_empty();
        borders.take(look.ended_by);
        if !is_ended {
            self.tell_tier(borders, look.expected.as_ref());
        }
    }

    /// Counts a finished question. Takes the interim analysis that waited for it.
    fn through(&self) {
        if let Some(borders) = self.finish.borders() {
            if borders.through() {
                self.look_at_tier(borders);
            }
            return;
        }
        let looks = self.finish.looks();
        let Some((looks, look)) = looks.and_then(|looks| Some((looks, looks.through()?))) else {
            return;
        };
        // Others wait for the analysis: it counts as taken even if it panics.
        let found = panics::catch(|| {
            let found = self.finish.look(look, &self.ledger, &self.selected);
            found.unwrap_or_else(|error| {
                self.stopper.unwritten(&error);
                LookFindings::default()
            })
        });
        let found = found.unwrap_or_default();
        if found.is_sure {
            let (number, of) = (look.number, look.of);
            self.stopper.sure(&format!(
                "every gate was sure at look {number} of {of}, and the rest was not asked"
            ));
        }
        looks.take(look, found);
    }

    /// Asks a sample once more, to distinguish a flip from flakiness. The answer counts in no metric.
    pub(crate) fn confirm(&self, place: usize) -> Result<Record, AgentError> {
        let question = Question::of(&self.plan, place * self.plan.eval.epochs as usize);
        if let Some(error) = &question.fault {
            let kind = FailureKind::NotStarted;
            return Err(AgentError::of(kind, error.message()));
        }
        let eval = &self.plan.eval;
        let outcome = match self.asking.confirm(&question) {
            Ok(answer) => {
                let desk = self.desk(&question, true, Vec::new());
                judge(&self.plan, &question, answer, desk)
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
        let ended = self.finish.borders().and_then(Borders::ended_questions);
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
                let record = self.settle(slot, None);
                ended += usize::from(record.result.status != Status::Skipped);
            }
        }
        if let Some(borders) = self.finish.borders().filter(|it| it.is_ended()) {
            let look = self.finish.border(borders, &self.ledger, &self.selected)?;
            borders.ended_by(look.ended_by);
        }
        let is_whole = ended == self.questions();
        let stopped = self.stopper.stopped().filter(|_| !is_whole);
        Ok((ended, self.end(stopped)?))
    }

    /// Ends the run: records in dataset order, summary, gates, manifest.
    ///
    /// # Errors
    /// When something cannot be written. Answers are in `events.jsonl` all the same.
    pub(crate) fn finish(&self) -> Result<Run> {
        self.end(self.stopper.stopped())
    }

    fn end(&self, stopped: Option<Stopped>) -> Result<Run> {
        self.plan.eval.agent.close();
        let judges = self.plan.scorers.iter().flat_map(Scorer::agents);
        judges.for_each(|judge| judge.close());
        if stopped.is_none() {
            self.asking.tell_unkept_limits();
        }
        for notice in self.plan.often_blanked() {
            self.emitter.notice(&notice);
        }
        let ended = self
            .finish
            .end(&self.ledger, &self.selected, stopped, &self.emitter);
        let mut run = ended.map_err(|error| self.dir().unless_gone(error))?;
        if !self.is_part() {
            for notice in judge_notices(&run.summary) {
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
    pub(crate) fn untold_mistake(&self) -> Option<String> {
        self.stopper.untold_mistake()
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
fn so_far(home: &Home, limits: &Limits) -> (Option<UsedUp>, Instant) {
    let now = clock::now();
    match home {
        Home::Part(part) => {
            let (spent, ago) = siblings::so_far(part, limits);
            (Some(spent), now.checked_sub(ago).unwrap_or(now))
        }
        _ => (None, now),
    }
}
