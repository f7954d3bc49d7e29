//! Answers without a verdict, by reason: failures of agents, of the deciding scorer, of other judges.

use std::collections::BTreeSet;

use super::source::{LISTED, in_epoch};
use crate::data::{AgentError, FailureManner, Record};
use crate::report::document::{Block, Line, list};
use crate::store::files::{ERRORS, RECORDS};
use crate::text::excerpt;
use crate::verdict::conclude::Run;

/// The samples of each kind of failure, with reasons.
pub(in crate::report) fn failures(run: &Run) -> Vec<Block> {
    let summary = &run.summary;
    let of_outcome = |is_one: fn(&Record) -> bool| {
        move |record: &'_ Record| is_one(record).then(|| record.result.error.clone())
    };
    let errors = Failures {
        title: "ended without a verdict".to_owned(),
        file: ERRORS,
        count: summary.errors,
    };
    let mut blocks = Vec::new();
    blocks.extend(errors.block(run, of_outcome(|it| it.result.status.is_error())));
    let wrong = Failures {
        title: "failed, which counts as wrong".to_owned(),
        file: RECORDS,
        count: summary.failed_as_wrong,
    };
    blocks.extend(wrong.block(run, of_outcome(|it| it.result.is_failure_as_wrong())));
    let secondary = run.records.iter();
    let secondary = secondary.flat_map(|it| it.result.unjudged_beside());
    let names: BTreeSet<&str> = secondary.map(|(name, _)| name).collect();
    for name in names {
        let unjudged = summary.scorers.get(name).map(|scorer| scorer.unjudged);
        let failures = Failures {
            title: format!("without a verdict of `{name}`"),
            file: RECORDS,
            count: unjudged.unwrap_or_default(),
        };
        blocks.extend(failures.block(run, |record: &Record| {
            let mut secondary = record.result.unjudged_beside();
            let (_, reason) = secondary.find(|(other, _)| *other == name)?;
            Some(Some(AgentError::new(reason)))
        }));
    }
    blocks
}

/// Answers with one kind of failure.
struct Failures {
    title: String,
    /// Name of the file with all of them.
    file: &'static str,
    count: u64,
}

impl Failures {
    /// The answers by reason; `failed` returns the reason if a record is one of them.
    fn block(
        &self,
        run: &Run,
        failed: impl Fn(&Record) -> Option<Option<AgentError>>,
    ) -> Option<Block> {
        // Merge equal reasons into one line.
        let mut reasons: Vec<(Option<FailureManner>, &Record, String, BTreeSet<&str>)> = Vec::new();
        let mut total = 0;
        for record in &run.records {
            let Some(error) = failed(record) else {
                continue;
            };
            total += 1;
            let manner = error.as_ref().map(FailureManner::of);
            let known = reasons.iter_mut().find(|(known, ..)| *known == manner);
            let id = record.sample_id.as_str();
            if let Some((.., samples)) = known {
                samples.insert(id);
                continue;
            }
            let reason = error.as_ref().map(reason).unwrap_or_default();
            reasons.push((manner, record, reason, BTreeSet::from([id])));
        }
        // Only the first ones are in memory.
        let all = self.count.max(total);
        let mut lines: Vec<Line> = Vec::new();
        for (_, first, reason, samples) in reasons.iter().take(LISTED) {
            let others = match samples.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            let (id, epoch) = (&first.sample_id, in_epoch(first.epoch));
            lines.push(format!("{id}{epoch}{others}: {reason}").into());
        }
        let file = self.file;
        if reasons.len() > LISTED {
            let more = reasons.len() - LISTED;
            lines.push(format!("… and {more} other reasons, see {file}").into());
        }
        if all > total {
            lines.push(format!("… and {} more, see {file}", all - total).into());
        }
        let title = format!("{} ({all}):", self.title);
        (total > 0).then(|| Block::group(title, list(lines)))
    }
}

/// A failure in one line, with the last output of the process.
pub(in crate::report) fn reason(error: &AgentError) -> String {
    let reason = excerpt(&error.message);
    let stderr = error.stderr_tail.as_deref();
    let last = stderr.and_then(|tail| tail.lines().rfind(|line| !line.trim().is_empty()));
    match last {
        Some(line) => format!("{reason}; stderr: {}", excerpt(line)),
        None => reason,
    }
}
