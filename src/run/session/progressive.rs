//! `TierCheckpoints`: the checkpoints between the tiers of a run, where it continues or ends.
//!
//! A checkpoint covers exactly the samples of the tiers before it, so no later question starts until it was taken. It
//! depends on the records alone: a killed run that is resumed takes the same checkpoints and decides the same.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::select::Selected;
use crate::data::history::{HISTORY_FILE, History, HistoryLine};
use crate::eval::plan::{Packed, Plan};
use crate::figure::{Seconds, Share, Usd, counted};
use crate::stats::as_f64;
use crate::store::{Manifest, RunStatus};
use crate::system::lock;
use crate::verdict::check::CheckpointInput;
use crate::verdict::facts::Facts;
use crate::verdict::gate::{Gate, Slice};
use crate::verdict::result::GateResult;
use crate::verdict::result::Progressive;
use crate::verdict::summary::Summary;

/// How often a waiter checks whether the run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The tier checkpoints of a run.
pub(in crate::run) struct TierCheckpoints {
    trials: usize,
    state: Mutex<CheckpointState>,
    taken: Condvar,
}

struct CheckpointState {
    /// How many questions are through.
    through: usize,
    progressive: Progressive,
    is_ended: bool,
}

impl TierCheckpoints {
    /// For a run that goes tier by tier; `None` for others.
    pub(in crate::run) fn of(plan: &Plan) -> Option<Self> {
        let promotion = plan.eval.progressive.as_ref()?;
        let all = plan.items.len();
        let mut tiers = plan.tiers();
        // A tier that has all samples is the last.
        let last = tiers.iter().position(|(_, samples)| *samples >= all);
        let largest = tiers.pop();
        tiers.truncate(last.unwrap_or(tiers.len()));
        tiers.extend(largest);
        Some(Self {
            trials: plan.trials(),
            state: Mutex::new(CheckpointState {
                through: 0,
                progressive: Progressive::new(tiers, promotion.gate.clone()),
                is_ended: false,
            }),
            taken: Condvar::new(),
        })
    }

    /// For a restored run, which ended where its manifest says.
    pub(in crate::run) fn restored(self, manifest: Option<&Manifest>) -> Self {
        let run = manifest.and_then(|manifest| manifest.progressive.as_ref());
        let tier = manifest.and_then(|manifest| manifest.tier.as_deref());
        let is_over = manifest.is_some_and(|it| it.status == RunStatus::Finished);
        let mut state = lock(&self.state);
        let mut tiers = state.progressive.tiers.iter();
        if let Some(at) = tiers.position(|step| is_over && Some(&*step.tier) == tier) {
            state.progressive.at = at;
            state.is_ended = run.is_some_and(|run| run.ended);
        }
        drop(state);
        self
    }

    /// Waits until the question at this position may be asked; `false` if it never will.
    pub(in crate::run) fn wait_for_turn(&self, turn: usize, is_stopped: impl Fn() -> bool) -> bool {
        let mut state = lock(&self.state);
        loop {
            if turn < state.end(self.trials) {
                return !is_stopped();
            }
            if state.is_ended || is_stopped() {
                return false;
            }
            let waited = self.taken.wait_timeout(state, POLL_INTERVAL);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts a finished question. `true` at the end of a tier: the caller runs the checkpoint and reports with
    /// [`take`](Self::take).
    pub(in crate::run) fn through(&self) -> bool {
        let mut state = lock(&self.state);
        state.through += 1;
        state.progressive.is_ended() && state.through == state.end(self.trials)
    }

    /// Records a checkpoint: the run ends here, or continues with the next tier.
    pub(in crate::run) fn take(&self, ended_by: Vec<GateResult>) {
        let mut state = lock(&self.state);
        if ended_by.is_empty() {
            state.progressive.at += 1;
        } else {
            state.is_ended = true;
            state.progressive.ended_by = ended_by;
        }
        self.taken.notify_all();
    }

    /// Sets what ended a restored run, which is not on disk.
    pub(in crate::run) fn ended_by(&self, ended_by: Vec<GateResult>) {
        lock(&self.state).progressive.ended_by = ended_by;
    }

    /// The number of questions up to where the run ended, if it did.
    pub(in crate::run) fn ended_questions(&self) -> Option<usize> {
        let state = lock(&self.state);
        state.is_ended.then(|| state.end(self.trials))
    }

    /// The current progress.
    pub(in crate::run) fn progressive(&self) -> Progressive {
        lock(&self.state).progressive.clone()
    }

    /// The progress, if the run ended there or reached the last tier.
    pub(in crate::run) fn concluded(&self) -> Option<Progressive> {
        let state = lock(&self.state);
        let is_concluded = state.is_ended || !state.progressive.is_ended();
        is_concluded.then(|| state.progressive.clone())
    }

    /// Whether it ended before its last tier.
    pub(in crate::run) fn is_ended(&self) -> bool {
        lock(&self.state).is_ended
    }
}

impl CheckpointState {
    /// The number of questions up to the end of the tier.
    fn end(&self, trials: usize) -> usize {
        let samples = self.progressive.tier().map(|step| step.samples);
        samples.map_or(usize::MAX, |samples| {
            usize::try_from(samples).unwrap_or(usize::MAX) * trials
        })
    }
}

/// The result of a tier checkpoint.
#[derive(Default)]
pub(in crate::run) struct TierCheckpoint {
    pub(in crate::run) ended_by: Vec<GateResult>,
    /// Lines for people.
    pub(in crate::run) description: Vec<String>,
    /// The expected cost of the next tier, estimated from this run.
    pub(in crate::run) expected: Option<ExpectedCost>,
}

/// The samples up to the end of the current tier.
pub(in crate::run) struct TierSamples {
    pub(in crate::run) selected: Selected,
    pub(in crate::run) ids: HashSet<String>,
}

impl TierSamples {
    pub(in crate::run) fn of(plan: &Plan, selected: &Selected, progressive: &Progressive) -> Self {
        let samples = progressive.tier().map_or(0, |step| step.samples);
        let selected = selected.first(usize::try_from(samples).unwrap_or(usize::MAX));
        let ids = selected.queue().iter();
        Self {
            ids: ids.map(|&place| plan.items[place].id.to_string()).collect(),
            selected,
        }
    }
}

/// What ends the run at a tier checkpoint, by its facts.
pub(in crate::run) fn analysis(
    plan: &Plan,
    facts: &Facts<'_>,
    promote: Option<&Gate>,
) -> Vec<GateResult> {
    let size = |slice: Option<&Slice>| {
        let is_in = |item: &&Packed| {
            slice.is_none_or(|slice| {
                let mut slices = item.slices.iter();
                slices.any(|(of, is)| *of == slice.dimension && *is == slice.value)
            })
        };
        plan.items.iter().filter(is_in).count() as u64
    };
    facts.at_checkpoint(&CheckpointInput {
        gates: &plan.gates,
        promote,
        size: &size,
        is_plain: plan.eval.epochs == 1 && plan.eval.cluster.is_none(),
    })
}

/// The report of a tier checkpoint.
pub(in crate::run) fn description(facts: &Facts<'_>, ended_by: &[GateResult]) -> Vec<String> {
    let Some(progressive) = &facts.progressive else {
        return Vec::new();
    };
    let Some(step) = progressive.tier() else {
        return Vec::new();
    };
    let summary = &facts.summary;
    let accuracy = match (summary.accuracy, summary.accuracy_ci95) {
        (Some(accuracy), Some(ci95)) => format!("accuracy {}", Share(accuracy).with_ci95(ci95)),
        _ => "nothing was scored".to_owned(),
    };
    let errors = counted(summary.errors, "error");
    let next = progressive.tiers.get(progressive.at + 1);
    let next = match next.filter(|_| ended_by.is_empty()) {
        Some(next) => format!("continues with `{}`", next.tier),
        None => format!(
            "the run ends here, {} samples are not asked",
            progressive.saved()
        ),
    };
    let figures = format!(
        "tier `{}` of {} samples: {accuracy}, {errors}; {next}",
        step.tier, step.samples
    );
    let why = ended_by.iter().map(|result| {
        let line = result.message.lines().next().unwrap_or_default();
        format!("tier `{}`: {}: {line}", step.tier, result.gate)
    });
    std::iter::once(figures).chain(why).collect()
}

/// The cost of a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::run) struct ExpectedCost {
    cost_usd: Option<f64>,
    seconds: Option<f64>,
    /// What the estimate is based on.
    by: String,
}

impl ExpectedCost {
    /// From the newest run of this tier or a larger one in the eval's history.
    pub(in crate::run) fn of_history(plan: &Plan, progressive: &Progressive) -> Option<Self> {
        let path = plan.eval.snapshot.folder.join(HISTORY_FILE);
        let history = History::read(&path, &plan.eval.name).ok()?;
        let larger: Vec<&str> = progressive
            .tiers
            .iter()
            .skip(progressive.at)
            .map(|step| step.tier.as_str())
            .collect();
        let is_match = |line: &&HistoryLine| {
            let tier = line.tier.as_deref();
            tier.is_none_or(|tier| larger.contains(&tier)) && line.samples > line.cached
        };
        let line = history.runs().rev().find(is_match)?;
        let requested = as_f64(line.samples - line.cached) / f64::from(line.epochs.max(1));
        let tier = line.tier.as_ref();
        Some(Self {
            cost_usd: line.cost_usd.map(|usd| usd / requested),
            seconds: line.duration_s.map(|seconds| seconds / requested),
            by: match tier {
                Some(tier) => format!("by run `{}` of tier `{tier}`", line.id),
                None => format!("by run `{}` of all samples", line.id),
            },
        })
    }

    /// From this run so far.
    pub(in crate::run) fn of_tier(
        plan: &Plan,
        summary: &Summary,
        progressive: &Progressive,
    ) -> Option<Self> {
        let requested = summary.samples.checked_sub(summary.cached)?;
        let samples = as_f64(requested) / f64::from(plan.eval.epochs);
        if requested == 0 {
            return None;
        }
        let at_once = plan.eval.limits.concurrency.max(1) as u64;
        let latency = summary.latency_s.map(|latency| latency.mean);
        let latency = latency.map(|mean| mean * f64::from(plan.eval.epochs) / as_f64(at_once));
        let tier = progressive.tier()?;
        Some(Self {
            cost_usd: summary.usage.cost_usd.map(|usd| usd / samples),
            seconds: latency,
            by: format!("by tier `{}`", tier.tier),
        })
    }

    /// The report before a tier. The samples of the earlier tiers are answered already.
    pub(in crate::run) fn description(
        expected: Option<&Self>,
        progressive: &Progressive,
    ) -> Option<String> {
        let step = progressive.tier()?;
        let before = progressive.at.checked_sub(1);
        let before = before.and_then(|at| progressive.tiers.get(at));
        let new = step.samples - before.map_or(0, |step| step.samples);
        let more = if before.is_some() { " more" } else { "" };
        let samples = format!("tier `{}`: {new}{more} samples", step.tier);
        let known = expected.map(|expected| {
            let time = expected.seconds.map(|seconds| {
                let seconds = seconds * as_f64(new);
                if seconds < 1.0 {
                    "less than a second".to_owned()
                } else {
                    format!("about {}", Seconds::whole(seconds))
                }
            });
            let usd = expected.cost_usd.map(|usd| usd * as_f64(new));
            let usd = usd.map(|usd| format!("about {}", Usd(usd)));
            let parts: Vec<_> = time.into_iter().chain(usd).collect();
            (parts, &expected.by)
        });
        Some(match known {
            Some((parts, by)) if !parts.is_empty() => {
                format!("{samples}; expected: {}, {by}", parts.join(" and "))
            }
            _ => {
                format!("{samples}; their cost and duration are not known yet")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_the_end_of_a_tier_before_it_was_looked_at() {
        let tiers = [("a", 2), ("b", 4), ("c", 6)];
        let tiers = tiers.map(|(name, samples)| (name.to_owned(), samples));
        let checkpoints = TierCheckpoints {
            trials: 1,
            state: Mutex::new(CheckpointState {
                through: 0,
                progressive: Progressive::new(tiers.into(), None),
                is_ended: false,
            }),
            taken: Condvar::new(),
        };
        let going = || false;
        assert!(checkpoints.wait_for_turn(1, going) && !checkpoints.wait_for_turn(2, || true));
        assert!(!checkpoints.through() && checkpoints.through());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| checkpoints.wait_for_turn(2, going));
            checkpoints.take(Vec::new());
            assert!(waits.join().unwrap());
        });
        assert_eq!(checkpoints.progressive().saved(), 2);
        assert!(!checkpoints.through() && checkpoints.through());
        checkpoints.take(Vec::new());
        assert!(checkpoints.wait_for_turn(5, going) && !checkpoints.is_ended());
        // There is no checkpoint after the last tier.
        assert!(!checkpoints.through() && !checkpoints.through());
    }
}
