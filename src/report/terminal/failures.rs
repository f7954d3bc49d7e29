//! Answers without a verdict, by reason: of agents that failed, of the scorer that decides, of judges beside it.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::{LISTED, in_epoch};
use crate::data::{AgentError, FailureManner, Record};
use crate::store::files::{ERRORS, RECORDS};
use crate::text::{clean, excerpt};
use crate::verdict::run::Run;

/// Writes what there is of them.
pub(super) fn failures(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let summary = &run.summary;
    let of_outcome = |is_one: fn(&Record) -> bool| {
        move |record: &'_ Record| is_one(record).then(|| record.result.error.clone())
    };
    let errors = Failures {
        title: "ended without a verdict",
        file: ERRORS,
        count: summary.errors,
    };
    errors.write(run, of_outcome(|it| it.result.status.is_error()), out)?;
    let wrong = Failures {
        title: "failed, which counts as wrong",
        file: RECORDS,
        count: summary.failed_as_wrong,
    };
    wrong.write(run, of_outcome(|it| it.result.is_failure_as_wrong()), out)?;
    let beside = run
        .records
        .iter()
        .flat_map(|it| it.result.unjudged_beside());
    let names: BTreeSet<&str> = beside.map(|(name, _)| name).collect();
    for name in names {
        let unjudged = summary.scorers.get(name).map(|scorer| scorer.unjudged);
        let failures = Failures {
            title: &format!("without a verdict of `{}`", clean(name)),
            file: RECORDS,
            count: unjudged.unwrap_or_default(),
        };
        let failed = |record: &Record| {
            let mut beside = record.result.unjudged_beside();
            let (_, reason) = beside.find(|(other, _)| *other == name)?;
            Some(Some(AgentError::new(reason)))
        };
        failures.write(run, failed, out)?;
    }
    Ok(())
}

/// Answers that somebody failed on.
struct Failures<'a> {
    title: &'a str,
    /// Which file has them all.
    file: &'static str,
    count: u64,
}

impl Failures<'_> {
    /// Writes them by reason; `failed` tells of a record that is one of them why, if that is known.
    fn write(
        &self,
        run: &Run,
        failed: impl Fn(&Record) -> Option<Option<AgentError>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // The same reason a hundred times is one line.
        let mut reasons: Vec<(Option<FailureManner>, String, String, usize)> = Vec::new();
        let mut total = 0;
        for record in &run.records {
            let Some(error) = failed(record) else {
                continue;
            };
            total += 1;
            let manner = error.as_ref().map(FailureManner::of);
            let known = reasons.iter_mut().find(|(known, ..)| *known == manner);
            if let Some((.., count)) = known {
                *count += 1;
                continue;
            }
            let id = clean(&record.sample_id) + &*in_epoch(record.epoch);
            let reason = error.as_ref().map(reason).unwrap_or_default();
            reasons.push((manner, id, reason, 1));
        }
        if total == 0 {
            return Ok(());
        }
        // Of very many only some are in memory.
        let all = self.count.max(total);
        writeln!(out, "  {} ({all}):", self.title)?;
        for (_, id, reason, count) in reasons.iter().take(LISTED) {
            let others = if *count > 1 {
                format!(" and {} more", count - 1)
            } else {
                String::new()
            };
            writeln!(out, "    {id}{others}: {reason}")?;
        }
        if reasons.len() > LISTED {
            writeln!(
                out,
                "    … and {} other reasons, see {}",
                reasons.len() - LISTED,
                self.file
            )?;
        }
        if all > total {
            writeln!(out, "    … and {} more, see {}", all - total, self.file)?;
        }
        Ok(())
    }
}

/// A failure in a line, with the last thing a process said.
pub(super) fn reason(error: &AgentError) -> String {
    let reason = excerpt(&error.message);
    let said = error
        .stderr_tail
        .as_deref()
        .and_then(|tail| tail.lines().rfind(|line| !line.trim().is_empty()));
    match said {
        Some(line) => format!("{reason}; stderr: {}", excerpt(line)),
        None => reason,
    }
}
