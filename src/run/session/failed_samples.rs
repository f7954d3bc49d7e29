//! Which samples `--failed` asks again.

use std::collections::HashSet;
use std::path::Path;

use crate::error::{Error, Result};
use crate::eval::plan::Plan;
use crate::run::record::readable::{Readable, readable};
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{RunDir, read_records};
use crate::verdict::baseline::majority_verdict;
use crate::verdict::gate::ERROR_RATE;
use crate::verdict::poll::{self, Poll};
use crate::verdict::result::{GateResult, Verdict};
use crate::verdict::summary::Summary;

/// Samples with an error in any epoch, with an answer that one of several scorers could not judge, or with a wrong
/// majority where the baseline was right or there is none. Where a gate failed that needs no baseline, or no sample
/// explains a red gate, all with a wrong majority.
pub(in crate::run) fn failed_samples(path: &Path, plan: &mut Plan) -> Result<HashSet<String>> {
    let Readable { dir, notices } = readable(RunDir::open(path)?)?;
    plan.notices.extend(notices);
    let manifest = dir.manifest()?;
    if manifest.eval != plan.eval.name {
        let (theirs, ours) = (manifest.eval, &plan.eval.name);
        let message = format!(
            "run `{}` is of eval `{theirs}`, not of `{ours}`",
            path.display()
        );
        return Err(Error::usage(message).hint("use the spec that the run was made with"));
    }
    let gates = Summary::read(&dir.file(SUMMARY)).map_or_else(|_| Vec::new(), |it| it.gates);
    let is_red = |gate: &&GateResult| gate.verdict == Verdict::Failed;
    let takes_wrong = gates
        .iter()
        .filter(is_red)
        .any(|it| it.gate.is_of_quality() && !it.gate.metric().is(ERROR_RATE));
    let (mut failed, mut wrong) = (HashSet::new(), HashSet::new());
    for sample in poll::samples(read_records(&dir.file(RECORDS))?) {
        let sample = sample?;
        let poll = Poll::of(&sample);
        let mut outcomes = sample.iter().map(|record| &record.result);
        let is_unjudged = outcomes.any(|outcome| outcome.unjudged_by().next().is_some());
        let Some(record) = sample.into_iter().next() else {
            continue;
        };
        let was_correct = match &plan.baseline {
            Some(baseline) => {
                let before = baseline.samples.get(&record.sample_id);
                before.and_then(|before| majority_verdict(before.answers()))
            }
            None => Some(true),
        };
        let is_wrong = poll.majority() == Some(false);
        let flipped = is_wrong && (was_correct == Some(true) || takes_wrong);
        // An epoch that errored or was never asked fails its sample.
        if poll.unknown() > 0 || is_unjudged || flipped {
            failed.insert(record.sample_id);
        } else if is_wrong {
            wrong.insert(record.sample_id);
        }
    }
    if failed.is_empty() && gates.iter().any(|gate| is_red(&gate)) {
        failed = wrong;
    }
    if failed.is_empty() {
        return Err(
            Error::usage(format!("nothing failed or flipped in `{}`", path.display()))
                .hint("remove `--failed` to ask every sample"),
        );
    }
    Ok(failed)
}
