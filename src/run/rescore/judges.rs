//! `RescoreJudges`: the judges of a rescore.
//!
//! Replies of the run and of its earlier rescores, killed or finished, are reused. Only the others are requested,
//! within the budget of the run or of the scorers' spec. A reply is in the journal of the new run before it is used,
//! and the manifest names the run whose answers are scored, so that the next rescore finds it.

use std::path::Path;
use std::sync::Arc;

use super::earlier::EarlierReplies;
use crate::data::{AgentError, JudgeCall};
use crate::error::{Error, Result};
use crate::eval::limits::budget::UsedUp;
use crate::eval::limits::{Budget, Limits};
use crate::run::ask::throttle::Throttle;
use crate::run::judge::judges::{JudgeClient, JudgeJournal, Judging, Subject};
use crate::run::session::stop::Stopper;
use crate::scorer::Scorer;
use crate::store::files::JOURNAL;
use crate::store::journal;
use crate::store::journal::{EventLog, StoredEvent};
use crate::store::{Manifest, RunDir, RunStatus, runs_in};
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::text::redact::Redactor;

/// The judges of a rescore.
pub(super) struct RescoreJudges {
    judging: Judging,
    judge_journal: RescoreJournal,
    stopper: Arc<Stopper>,
    earlier: EarlierReplies,
    /// Killed rescores of the same run, whose replies are taken over.
    pub(super) abandoned: Vec<RunDir>,
}

/// The journal of the new run.
struct RescoreJournal {
    journal: EventLog,
    redactor: Redactor,
    stopper: Arc<Stopper>,
}

/// Whether any of the scorers asks an agent.
pub(super) fn asks(scorers: &[Arc<dyn Scorer>]) -> bool {
    scorers.iter().any(|scorer| !scorer.agents().is_empty())
}

impl RescoreJudges {
    /// For the new run, which is still empty.
    pub(super) fn open(
        new: &RunDir,
        parent: &Manifest,
        scorers: &[Arc<dyn Scorer>],
        budget: Budget,
    ) -> Result<Self> {
        for agent in scorers.iter().flat_map(Scorer::agents) {
            agent.check()?;
        }
        let mut limits = Limits::of_config(&parent.config);
        limits.budget = budget.or(limits.budget);
        let (cancel, started) = (Cancel::new(), clock::now());
        let secrets: Vec<String> = scorers.iter().flat_map(Scorer::secrets).collect();
        let redactor = Redactor::new(&parent.redact, &secrets)?;
        let stopper = Stopper::new(&cancel, &limits, started).redacted(&redactor);
        let stopper = Arc::new(stopper);
        let throttle = Throttle::new(
            &limits,
            None,
            UsedUp::default(),
            started,
            Arc::clone(&stopper),
        );
        let root = new.path().parent().unwrap_or(Path::new("."));
        let (journal, _) = EventLog::open(&new.file(JOURNAL), &mut |_| Ok(()))?;
        let (earlier, abandoned) = earlier_of(root, new.path(), parent);
        Ok(Self {
            judging: Judging::new(limits, &stopper, &Arc::new(throttle), new, started),
            judge_journal: RescoreJournal {
                journal,
                redactor,
                stopper: Arc::clone(&stopper),
            },
            stopper,
            earlier,
            abandoned,
        })
    }

    /// How many answers are judged at once.
    pub(super) fn concurrency(&self) -> usize {
        self.judging.limits.concurrency.max(1)
    }

    /// The client for a record; `known` are the replies in the run.
    pub(super) fn client<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        mut known: Vec<JudgeCall>,
    ) -> JudgeClient<'a> {
        let subject = Subject {
            id,
            epoch,
            confirms: false,
        };
        match self.earlier.of(id, epoch) {
            Ok(replies) => known.extend(replies),
            // Do not ask again for what was paid for.
            Err(error) => self.stopper.unwritten(&error),
        }
        JudgeClient::new(&self.judging, &self.judge_journal, subject, known).stored()
    }

    /// Why nothing is asked any more.
    pub(super) fn stopped(&self) -> Error {
        let stopped = self.stopper.stopped();
        let why = stopped.map_or_else(
            || "the judge is no longer called".to_owned(),
            |it| it.reason,
        );
        Error::infrastructure(why)
            .hint("the replies so far are stored: fix the cause and repeat the command to continue")
    }

    /// Syncs the journal and gives its SHA-256.
    pub(super) fn close(&self, scorers: &[Arc<dyn Scorer>]) -> Result<String> {
        for agent in scorers.iter().flat_map(Scorer::agents) {
            agent.close();
        }
        let _ = std::fs::remove_dir(&self.judging.scratch);
        self.judge_journal.journal.close()
    }
}

/// The replies to earlier rescores of the same run in the same folder, and which of those were killed.
pub(super) fn earlier_of(
    root: &Path,
    new: &Path,
    parent: &Manifest,
) -> (EarlierReplies, Vec<RunDir>) {
    let mut replies = EarlierReplies::default();
    let mut killed = Vec::new();
    for dir in runs_in(root) {
        if dir.path() == new {
            continue;
        }
        let Ok(manifest) = dir.manifest() else {
            continue;
        };
        if manifest.parent_run_id.as_ref() != Some(&parent.run_id) {
            continue;
        }
        if manifest.status == RunStatus::Running {
            // A rescore in progress holds its journal. One that cannot be read stays: its replies were paid for.
            let path = dir.file(JOURNAL);
            if !journal::is_held(&path) && replies.add_journal(&path).is_ok() {
                killed.push(dir);
            }
        } else if !manifest.judges.is_empty() && dir.check().is_ok() {
            // One that cannot be read adds nothing.
            let _ = replies.add_records(&dir.file("samples.jsonl"));
        }
    }
    (replies, killed)
}

impl JudgeJournal for RescoreJournal {
    fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    fn append(&self, event: &StoredEvent) -> bool {
        let written = self.journal.append(event);
        if let Err(error) = &written {
            self.stopper.unwritten(error);
        }
        written.is_ok()
    }

    /// The error is reported with the answer.
    fn notify_failed(&self, _: &Subject<'_>, _: &JudgeCall, _: &AgentError, _: bool) {}

    /// A rescore has the record, which names the form of every call.
    fn notice(&self, _: &str) {}
}
