//! From [`Facts`] to the result of a run: verdicts of gates, exit code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::data::{Record, Status};
use crate::exit::Exit;
use crate::verdict::baseline::Flip;
use crate::verdict::check::CountedPairs;
use crate::verdict::facts::{Facts, Stop};
use crate::verdict::gate::Gate;
use crate::verdict::judged::calibrated::CalibratedJudge;
use crate::verdict::judged::calibration::{CalibrationStatus, JudgeCalibration, NO_LABELS};
use crate::verdict::result::{GateResult, Verdict};
use crate::verdict::summary::account::{AccountRow, Decision};
use crate::verdict::summary::{BaselineChange, Group, Summary};

/// Why a jury is not calibrated although its spec has labels that compare its judges.
const LABELS_OF_JURY: &str = "its `labels` only compare its judges; `cargo evaltest judge calibrate RUN_DIR --labels FILE` \
                              calibrates";

impl Facts<'_> {
    /// The summary with the results of the gates and the exit code.
    pub(crate) fn conclude(mut self, gates: &[Gate]) -> Summary {
        self.add_calibrations();
        let mut gates = self.check(gates);
        for gate in &mut gates {
            self.mark(gate);
        }
        let ended_by = self.progressive.iter().flat_map(|run| &run.ended_by);
        for ended in ended_by {
            match gates.iter_mut().find(|it| it.gate == ended.gate) {
                Some(gate) => gate.clone_from(ended),
                None => gates.push(ended.clone()),
            }
        }
        let is_sure = self.stop == Some(Stop::Sure);
        self.account.decision = self.decides.decision(&gates);
        let exit_code = exit(&gates, &self);
        let change = self.add_baseline(&gates);
        let mut summary = Summary {
            account: std::mem::take(&mut self.account),
            change,
            partial: self.is_partial(),
            tier: self.tier.clone(),
            part: self.part.clone(),
            progressive: self.progressive.clone(),
            early_stop: self.analysis.filter(|_| is_sure),
            ignored_matter: ignored_matter(&gates, &self),
            exit_code,
            gates,
            ..self.summary
        };
        if is_sure {
            summary.leave_out_skipped();
        }
        summary
    }
}

impl Facts<'_> {
    /// Completes the account, and tells the change since the baseline.
    fn add_baseline(&mut self, gates: &[GateResult]) -> Option<BaselineChange> {
        let mut account = std::mem::take(&mut self.account);
        let unselected = self.total.saturating_sub(self.selected);
        account.add(AccountRow::LeftOut, unselected + self.left_out);
        if let Some(scorer) = &self.summary.scorer
            && self.summary.judges_pairs(scorer)
        {
            account.set_unpaired();
        }
        account.add(AccountRow::Cached, self.summary.whole.cached);
        let change = self.baseline.and_then(|baseline| {
            let pairing = baseline.pair(&self.current, None, false);
            let counted = CountedPairs::of(pairing.pairs.iter(), &baseline.runs);
            account.add_baseline(baseline, &pairing);
            account.add_moved(gates);
            account.add(AccountRow::Repeated, counted.repeated());
            BaselineChange::of(self, baseline, &pairing, &counted)
        });
        self.account = account;
        change
    }

    /// Adds the calibration of each judge; the judges of a jury are calibrated only as a whole.
    fn add_calibrations(&mut self) {
        let Some(judge) = &mut self.summary.judge else {
            return;
        };
        let summary = |name: &String| {
            let summary = self
                .calibrated
                .get(name)
                .map(|judge| judge.summary().clone());
            summary.unwrap_or_else(|| JudgeCalibration::without(NO_LABELS))
        };
        let mut seated = BTreeMap::new();
        for (name, jury) in &mut judge.juries {
            let mut summary = summary(name);
            if jury.labelled > 0 && summary.reason.as_deref() == Some(NO_LABELS) {
                summary = JudgeCalibration::without(LABELS_OF_JURY);
            }
            let is_calibrated = summary.status == CalibrationStatus::Calibrated;
            let of_its = jury.judges.iter();
            seated.extend(of_its.map(|judge| (format!("{name}/{}", judge.name), is_calibrated)));
            jury.calibration = Some(summary);
        }
        let solvers = &self.solvers;
        let judges = judge.scorers.iter_mut();
        for (name, judge) in judges.filter(|(name, _)| !solvers.contains(*name)) {
            judge.calibration = match seated.get(name) {
                None => Some(summary(name)),
                Some(false) => Some(JudgeCalibration::without("as its jury is")),
                Some(true) => None,
            };
        }
    }

    /// Adds a note to the result of a gate whose judge is not calibrated.
    fn mark(&self, result: &mut GateResult) {
        let Some(scorer) = self.decided_by(&result.gate) else {
            return;
        };
        let judge = self.summary.judge.as_ref();
        let judge = judge.and_then(|judge| judge.calibration_of(&scorer));
        let summary = judge.or(self.calibrated.get(&scorer).map(CalibratedJudge::summary));
        let Some(summary) = summary.and_then(JudgeCalibration::uncalibrated) else {
            return;
        };
        let (first, rest) = match result.message.split_once('\n') {
            Some((first, rest)) => (first, format!("\n{rest}")),
            None => (&*result.message, String::new()),
        };
        result.message = format!("{first}; judge `{scorer}` is {summary}{rest}");
    }
}

/// The exit code: that of the worst cause. If the agent refused every sample, it is a usage error, like an
/// [`Error`](crate::Error) that prevented the run.
fn exit(results: &[GateResult], facts: &Facts<'_>) -> Exit {
    let Group {
        samples,
        skipped,
        errors,
        ..
    } = facts.summary.whole;
    let all_errored = errors > 0 && errors == samples - skipped;
    // A part decides nothing alone; missing verdicts count after the merge.
    let is_part = facts.part.is_some();
    let is_open = facts.needs_every_verdict && errors > 0 && !is_part;
    let causes = [
        facts.stop.and_then(|stop| match stop {
            Stop::Interrupted => Some(Exit::Interrupted),
            Stop::Misconfigured if facts.answered == 0 => Some(Exit::Usage),
            Stop::Misconfigured | Stop::Early => Some(Exit::Infrastructure),
            Stop::Sure => None,
        }),
        (all_errored || is_open).then_some(Exit::Infrastructure),
        (!facts.failed_assertions.is_empty() && !is_part).then_some(Exit::Failed),
    ];
    let gates = results.iter().map(GateResult::exit);
    let is_undecided = facts.account.decision == Some(Decision::Undecided)
        && !results.iter().any(|result| result.recorded);
    let is_open = is_undecided && facts.ci && !facts.allow_ignored;
    let is_open = is_open || ignored_matter(results, facts);
    let open = is_open.then_some(Exit::Infrastructure);
    Exit::worst(causes.into_iter().flatten().chain(gates).chain(open))
}

/// Whether ignored gates make the run undecided.
fn ignored_matter(results: &[GateResult], facts: &Facts<'_>) -> bool {
    let mut ignored = results
        .iter()
        .filter(|result| result.verdict == Verdict::Ignored);
    facts.ci
        && !facts.allow_ignored
        && facts.part.is_none()
        && ignored.any(|result| !result.other_tier && !result.recorded)
}

/// In the stop reason of a run whose agent must be fixed; such a run cannot be resumed.
pub(crate) const FIX_HINT: &str = "hint: fix the agent";

/// Selects the records that the report of a run names: those without an answer or without a verdict of some scorer, and
/// the first wrong ones, one a sample.
#[derive(Default)]
pub(crate) struct Notable {
    errors: usize,
    unjudged: usize,
    wrong: usize,
    last_wrong: String,
}

impl Notable {
    /// Limits memory in an outage; `errors.jsonl` has all errors.
    const MOST: usize = 10_000;
    /// As many as a screen shows.
    pub(crate) const WRONG: usize = 5;

    pub(crate) fn takes(&mut self, record: &Record) -> bool {
        let result = &record.result;
        if result.status.is_error() || result.is_failure_as_wrong() {
            self.errors += 1;
            return self.errors <= Self::MOST;
        }
        let is_wrong = result.status == Status::Scored && !result.is_correct();
        let is_another =
            is_wrong && self.wrong < Self::WRONG && *record.sample_id != self.last_wrong;
        if is_another {
            self.wrong += 1;
            record.sample_id.clone_into(&mut self.last_wrong);
        }
        let is_unjudged = result.unjudged_beside().next().is_some();
        self.unjudged += usize::from(is_unjudged);
        is_another || is_unjudged && self.unjudged <= Self::MOST
    }
}

/// A finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The eval's name.
    pub eval: String,
    /// The run directory.
    pub dir: PathBuf,
    /// Every sample with its outcome, in dataset order. Prompts, outputs and metadata are on disk only, and long texts
    /// are abridged; see [`Run::whole_records`]. For a run by the command line or a rescored one, only records without
    /// a verdict of some scorer, and the first wrong ones.
    pub records: Vec<Record>,
    /// The figures and the verdicts of the gates.
    pub summary: Summary,
    /// Samples that flipped since the baseline.
    pub flips: Vec<Flip>,
    /// Samples whose assertion failed under `exact` and `correct`.
    pub failed_assertions: Vec<String>,
    /// How the first of them differ from their snapshots, by id: for a run of `cargo evaltest` under `exact`.
    pub differences: BTreeMap<String, String>,
    /// Why the run stopped early.
    pub stop_reason: Option<String>,
    /// Notices that are not errors.
    pub notices: Vec<String>,
    /// Wall time in seconds.
    pub duration_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Status;
    use crate::store::RunPart;
    use crate::verdict::summary::tests::record;

    #[test]
    fn exit_codes_have_a_precedence() {
        fn check(results: &[(&str, Verdict)], facts: &Facts<'_>, expect: u8) {
            let results: Vec<_> = results
                .iter()
                .map(|(gate, verdict)| {
                    GateResult::of(&gate.parse().unwrap(), *verdict, None, String::new())
                })
                .collect();
            assert_eq!(
                exit(&results, facts).code(),
                expect,
                "{results:?} {facts:?}"
            );
        }
        let summary = |statuses: &[Status]| {
            let ids = statuses.iter().zip(["a", "b", "c"]);
            let records: Vec<_> = ids
                .map(|(status, id)| record(id, *status, true, "1"))
                .collect();
            Summary::of("test", &records)
        };
        let run = |statuses: &[Status]| Facts::of(summary(statuses));
        let stopped = |stop: Stop| Facts {
            stop: Some(stop),
            ..run(&[])
        };
        let none = run(&[Status::Scored, Status::TimedOut, Status::Skipped]);
        let interrupted = stopped(Stop::Interrupted);
        let misconfigured = stopped(Stop::Misconfigured);
        let answered = Facts {
            answered: 1,
            ..misconfigured.clone()
        };
        let early = stopped(Stop::Early);
        let errored = run(&[Status::TimedOut, Status::AgentFailed, Status::Skipped]);
        let unscored = run(&[Status::Skipped, Status::Unscored]);
        let open = Facts {
            needs_every_verdict: true,
            ..none.clone()
        };
        let failed_assertions = ["a".to_owned()];
        let assertion = Facts {
            failed_assertions: &failed_assertions,
            ..none.clone()
        };
        let (accuracy, errors) = ("accuracy >= 0.5", "error_rate <= 0.1");
        let failed = [(accuracy, Verdict::Failed)];
        check(&failed, &misconfigured, 2);
        check(&failed, &answered, 3);
        check(&[], &none, 0);
        check(&[], &run(&[]), 0);
        check(&[], &unscored, 0);
        check(
            &[(accuracy, Verdict::Passed), (errors, Verdict::Ignored)],
            &none,
            0,
        );
        check(&failed, &none, 1);
        let ignored = [(accuracy, Verdict::Ignored)];
        let ci = Facts {
            ci: true,
            ..none.clone()
        };
        let allowed = Facts {
            allow_ignored: true,
            ..ci.clone()
        };
        check(&ignored, &none, 0);
        check(&ignored, &ci, 3);
        check(&ignored, &allowed, 0);
        check(&[], &assertion, 1);
        check(
            &[(accuracy, Verdict::Failed), (errors, Verdict::Failed)],
            &none,
            3,
        );
        check(&[(accuracy, Verdict::Inconclusive)], &assertion, 3);
        check(&failed, &early, 3);
        check(&failed, &errored, 3);
        check(&[], &open, 3);
        check(&[(errors, Verdict::Failed)], &interrupted, 130);
        // A shard is evaluated after the merge, but an outage is known at once.
        let shard = |facts: &Facts<'static>| Facts {
            part: Some(RunPart::default()),
            ..facts.clone()
        };
        check(&ignored, &shard(&ci), 0);
        check(&[], &shard(&open), 0);
        check(&[], &shard(&early), 3);
        check(&[], &shard(&errored), 3);
        check(&[], &shard(&misconfigured), 2);
        let assertion = Facts {
            part: Some(RunPart::default()),
            ..assertion
        };
        check(&[], &assertion, 0);
    }
}
