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
        let mut reasons: Vec<Reason<'_>> = Vec::new();
        let mut total = 0;
        for record in &run.records {
            let Some(error) = failed(record) else {
                continue;
            };
            total += 1;
            let manner = error.as_ref().map(FailureManner::of);
            let id = record.sample_id.as_str();
            let known = reasons.iter_mut().find(|known| known.manner == manner);
            if let Some(known) = known {
                known.answers += 1;
                known.samples.insert(id);
                continue;
            }
            reasons.push(Reason {
                manner,
                text: error.as_ref().map(reason).unwrap_or_default(),
                first: record,
                answers: 1,
                samples: BTreeSet::from([id]),
            });
        }
        // Only the first ones are in memory.
        let all = self.count.max(total);
        let mut lines: Vec<Line> = Vec::new();
        for reason in reasons.iter().take(LISTED) {
            lines.push(format!("{}: {}", reason.who(), reason.text).into());
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

/// Answers that failed in the same manner.
struct Reason<'a> {
    manner: Option<FailureManner>,
    text: String,
    first: &'a Record,
    answers: usize,
    samples: BTreeSet<&'a str>,
}

impl Reason<'_> {
    /// `q1`, `q1, epoch 2`, `q1 (3 answers)`, `q1 and 2 more`, or `q1 and 2 more (9 answers)`.
    fn who(&self) -> String {
        let id = &self.first.sample_id;
        let answers = format!(" ({} answers)", self.answers);
        match (self.samples.len(), self.answers) {
            (1, 1) => format!("{id}{}", in_epoch(self.first.epoch)),
            (1, _) => format!("{id}{answers}"),
            (samples, all) if samples == all => format!("{id} and {} more", samples - 1),
            (samples, _) => format!("{id} and {} more{answers}", samples - 1),
        }
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
