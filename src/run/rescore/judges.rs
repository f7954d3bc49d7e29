//! `RescoreJudges`: judges that are asked where answers are scored again.
//!
//! What a judge said stands in the records of the run, and in earlier rescores of it, killed or finished; only
//! what is in none of them is asked, within the budget that the run had or that the spec of the scorers has. A reply is in the journal of the new run before it is
//! used, and the manifest says whose answers are scored there: so the next rescore finds it.

use std::path::Path;
use std::sync::Arc;

use super::earlier::EarlierReplies;
use crate::data::{AgentError, JudgeCall};
use crate::error::{Error, Result};
use crate::eval::limits::budget::UsedUp;
use crate::eval::limits::{Budget, Limits};
use crate::run::ask::throttle::Throttle;
use crate::run::judge::judges::{JudgeBooks, JudgeDesk, Judging, Subject};
use crate::run::session::stop::Stopper;
use crate::scorer::Scorer;
use crate::store::events::{self, EventLog, StoredEvent};
use crate::store::files::JOURNAL;
use crate::store::{Manifest, RunDir, RunStatus, runs_in};
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::text::redact::Redactor;

/// Judges of answers that are scored again.
pub(super) struct RescoreJudges {
    judging: Judging,
    books: Books,
    stopper: Arc<Stopper>,
    earlier: EarlierReplies,
    /// Killed rescores of the same run, whose replies are taken over.
    pub(super) left_behind: Vec<RunDir>,
}

/// The journal of the new run.
struct Books {
    journal: EventLog,
    redactor: Redactor,
    stopper: Arc<Stopper>,
}

/// Whether any of the scorers asks an agent.
pub(super) fn asks(scorers: &[Arc<dyn Scorer>]) -> bool {
    scorers.iter().any(|scorer| !scorer.agents().is_empty())
}

impl RescoreJudges {
    /// For the new run, in which nothing stands yet.
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
        let purse = Throttle::new(
            &limits,
            None,
            UsedUp::default(),
            started,
            Arc::clone(&stopper),
        );
        let root = new.path().parent().unwrap_or(Path::new("."));
        let (journal, _) = EventLog::open(&new.file(JOURNAL), &mut |_| Ok(()))?;
        let (earlier, left_behind) = earlier_of(root, new.path(), parent);
        Ok(Self {
            judging: Judging::new(limits, &stopper, &Arc::new(purse), new, started),
            books: Books {
                journal,
                redactor,
                stopper: Arc::clone(&stopper),
            },
            stopper,
            earlier,
            left_behind,
        })
    }

    /// How many answers are judged at once.
    pub(super) fn concurrency(&self) -> usize {
        self.judging.limits.concurrency.max(1)
    }

    /// The desk of a record, of which `known` was said to the run.
    pub(super) fn desk<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        mut known: Vec<JudgeCall>,
    ) -> JudgeDesk<'a> {
        let subject = Subject {
            id,
            epoch,
            confirms: false,
        };
        match self.earlier.of(id, epoch) {
            Ok(said) => known.extend(said),
            // What was paid for is not asked once more.
            Err(error) => self.stopper.unwritten(&error),
        }
        JudgeDesk::new(&self.judging, &self.books, subject, known).stored()
    }

    /// Why nobody is asked any more.
    pub(super) fn stopped(&self) -> Error {
        let stopped = self.stopper.stopped();
        let why = stopped.map_or_else(
            || "the judge is not asked any more".to_owned(),
            |it| it.reason,
        );
        Error::infrastructure(why).hint(
            "what judges said so far is kept: the same command goes on from there, once the reason is mended",
        )
    }

    /// Syncs the journal and gives its SHA-256.
    pub(super) fn close(&self, scorers: &[Arc<dyn Scorer>]) -> Result<String> {
        for agent in scorers.iter().flat_map(Scorer::agents) {
            agent.close();
        }
        let _ = std::fs::remove_dir(&self.judging.scratch);
        self.books.journal.close()
    }
}

/// What earlier rescores of the same run were told, of those in a folder beside the new one, and which of these were killed.
pub(super) fn earlier_of(
    root: &Path,
    new: &Path,
    parent: &Manifest,
) -> (EarlierReplies, Vec<RunDir>) {
    let mut said = EarlierReplies::default();
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
            // One that goes on at this moment holds its journal. One that cannot be read stays: what is in it was paid for.
            let path = dir.file(JOURNAL);
            if !events::is_held(&path) && said.add_journal(&path).is_ok() {
                killed.push(dir);
            }
        } else if !manifest.judges.is_empty() && dir.check().is_ok() {
            // One that cannot be read has nothing to say.
            let _ = said.add_records(&dir.file("samples.jsonl"));
        }
    }
    (said, killed)
}

impl JudgeBooks for Books {
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

    /// What becomes of the answer tells it.
    fn tell_failed(&self, _: &Subject<'_>, _: &JudgeCall, _: &AgentError, _: bool) {}

    /// Whoever scores anew has the record, which names the form of every call.
    fn notice(&self, _: &str) {}
}
