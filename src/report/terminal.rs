//! What a run looks like on a terminal or in a CI log.

mod assertions;
mod epochs;
mod judge;
mod metrics;
mod scorers;
pub mod table;

use std::io::{self, Write};

use super::accuracy;
use crate::data::{AgentError, FailureManner, Record, Status};
use crate::exit::Exit;
use crate::report::event::Event;
use crate::store::RunDir;
use crate::system::project::shown;
use crate::text::{clean, excerpt, percent, shell_word};
use crate::verdict::look::EarlyLook;
use crate::verdict::result::Verdict;
use crate::verdict::run::{MEND, Run};
use crate::verdict::summary::Summary;

/// How many flipped or failed samples are listed; the rest is counted.
pub(crate) const LISTED: usize = 20;

/// Writes what an event has to tell a person; nothing for most.
pub fn event(event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
    match event {
        Event::RunStarted {
            eval,
            notices,
            resumed,
            epochs,
            ..
        } => {
            for notice in *notices {
                writeln!(out, "{eval}: note: {}", clean(notice))?;
            }
            if *resumed > 0 {
                let what = if *epochs > 1 {
                    "epochs of samples"
                } else {
                    "samples"
                };
                writeln!(
                    out,
                    "{eval}: {resumed} {what} were answered before and are not asked again"
                )?;
            }
            Ok(())
        }
        Event::Notice { eval, notice } => writeln!(out, "{eval}: note: {}", clean(notice)),
        Event::AttemptFailed {
            id,
            epoch,
            attempt,
            error,
            retry,
        } => {
            let then = if *retry { ", asking again" } else { "" };
            writeln!(
                out,
                "{}{}: attempt {attempt} failed{then}: {}",
                clean(id),
                in_epoch(*epoch),
                reason(error)
            )
        }
        Event::AgentOutput { id, line } => writeln!(out, "{}| {}", clean(id), clean(line)),
        Event::RunFinished { run } => self::run(run, out),
        Event::SampleStarted { .. } | Event::SampleFinished { .. } => Ok(()),
    }
}

/// ", 3 epochs each", or nothing for one.
pub fn epochs(epochs: u32) -> String {
    match epochs {
        1 => String::new(),
        epochs => format!(", {epochs} epochs each"),
    }
}

/// ", epoch 2"; nothing for the first, which is 0.
pub fn in_epoch(epoch: u32) -> String {
    match epoch {
        0 => String::new(),
        epoch => format!(", epoch {epoch}"),
    }
}

/// Writes the result of a run.
pub fn run(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let summary = &run.summary;
    let asked = summary.samples - summary.skipped;
    let part = if summary.partial { "partial run, " } else { "" };
    let eval = format!("{}: {part}", run.eval);
    match &summary.epochs {
        None => write!(out, "{eval}{asked} samples, {} correct", summary.correct)?,
        Some(figures) => write!(
            out,
            "{eval}{} samples{}, {} of {asked} answers correct",
            figures.samples,
            epochs(figures.epochs),
            summary.correct
        )?,
    }
    if let Some(shown) = accuracy::shown(summary.accuracy, summary.accuracy_bounds) {
        write!(out, ", accuracy {shown}")?;
        match (accuracy::missing(summary), summary.accuracy_ci95) {
            // An interval of those with a verdict would look surer than the range is.
            (Some(missing), _) => write!(out, " ({missing})")?,
            (None, Some([low, high])) => {
                let (low, high) = (percent(low), percent(high));
                write!(out, " (95 % interval {low} to {high})")?;
            }
            (None, None) => {}
        }
    }
    write!(out, ", {} errors", summary.errors)?;
    if summary.unscored > 0 {
        write!(out, ", {} unscored", summary.unscored)?;
    }
    writeln!(out, ", {:.1} s", run.duration_s)?;
    epochs::epochs(summary, out)?;
    metrics::slices(summary, out)?;
    scorers::scorers(summary, out)?;
    scorers::labels(summary, out)?;
    metrics::metrics(summary, out)?;
    costs(summary, out)?;
    judge::judges(summary, out)?;
    if let Some(EarlyLook { number, of, .. }) = summary.early_stop {
        let left = summary.skipped;
        writeln!(
            out,
            "  every gate was sure at look {number} of {of}: {left} of {} {} were not asked",
            summary.samples,
            if summary.epochs.is_some() {
                "answers"
            } else {
                "samples"
            },
        )?;
    }
    if let Some(reason) = &run.stop_reason {
        let left = summary.skipped;
        writeln!(
            out,
            "  stopped early: {} ({left} samples not asked)",
            clean(reason)
        )?;
    }
    for gate in &summary.gates {
        let verdict = match gate.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "FAILED",
            Verdict::Inconclusive => "INCONCLUSIVE",
            Verdict::Ignored => "ignored",
        };
        writeln!(
            out,
            "  gate {}: {verdict}: {}",
            gate.gate,
            indented(&gate.message)
        )?;
    }
    flips(run, out)?;
    assertions::assertions(run, out)?;
    let errors = Failures {
        title: "ended without a verdict",
        file: "errors.jsonl",
        count: summary.errors,
    };
    errors.write(run, |it| it.result.status.is_error(), out)?;
    let wrong = Failures {
        title: "failed, which counts as wrong",
        file: "samples.jsonl",
        count: summary.failed_as_wrong,
    };
    wrong.write(run, |it| it.result.is_failure_as_wrong(), out)?;
    ignored(summary, out)?;
    writeln!(out, "  run directory: {}", shown(&run.dir))?;
    if let Some(next) = next_command(run) {
        writeln!(out, "  next: {next}")?;
    }
    Ok(())
}

/// Why gates that were not asked make the run end otherwise than well, and what to type.
fn ignored(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if !summary.ignored_matter {
        return Ok(());
    }
    let whole = if summary.partial {
        "run the whole eval, without `--limit`, `--filter` and `--failed`, or"
    } else {
        "have the run ask what they are of, or"
    };
    writeln!(
        out,
        "  `CI` is set, and gates that are ignored leave the question open (exit code {}): {whole} say \
         `--allow-ignored`",
        Exit::Infrastructure.code()
    )
}

/// Tokens, cost and retries, where there are any.
fn costs(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut parts = Vec::new();
    if summary.cached > 0 {
        let asked = summary.samples - summary.skipped;
        let cached = summary.cached;
        parts.push(format!("{cached} of {asked} answers from the cache"));
    }
    if let Some(latency) = summary
        .latency_s
        .as_ref()
        .filter(|latency| latency.max >= 0.05)
    {
        parts.push(format!(
            "latency median {:.1} s, p95 {:.1} s",
            latency.p50, latency.p95
        ));
    }
    if let Some(tokens) = summary.usage.tokens() {
        parts.push(format!("{tokens} tokens"));
    }
    if let Some(cost) = summary.usage.cost_usd {
        parts.push(format!("{cost:.4} USD"));
    }
    let recovered = &summary.recovered_by_retry;
    if recovered.retried > 0 {
        let (recovered, retried) = (recovered.recovered, recovered.retried);
        parts.push(format!(
            "{recovered} of {retried} retried samples recovered"
        ));
    }
    if parts.is_empty() {
        Ok(())
    } else {
        writeln!(out, "  {}", parts.join(", "))
    }
}

fn flips(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for (worse, title) in [
        (true, "correct in the baseline, wrong now"),
        (false, "wrong in the baseline, correct now"),
    ] {
        let ids: Vec<String> = run
            .flips
            .iter()
            .filter(|flip| flip.worse == worse)
            .map(|flip| flip.id.clone())
            .collect();
        listed(title, &ids, out)?;
    }
    Ok(())
}

fn listed(title: &str, ids: &[String], out: &mut dyn Write) -> io::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {title} ({}):", ids.len())?;
    for id in ids.iter().take(LISTED) {
        writeln!(out, "    {}", clean(id))?;
    }
    if ids.len() > LISTED {
        writeln!(out, "    … and {} more", ids.len() - LISTED)?;
    }
    Ok(())
}

/// Samples whose agent or scorer failed.
struct Failures {
    title: &'static str,
    /// Which file has them all.
    file: &'static str,
    count: u64,
}

impl Failures {
    /// Writes them by reason.
    fn write(
        &self,
        run: &Run,
        is_one: impl Fn(&Record) -> bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let failed = run.records.iter().filter(|record| is_one(record));
        // The same reason a hundred times is one line.
        let mut reasons: Vec<(Option<FailureManner>, &Record, usize)> = Vec::new();
        let mut total = 0;
        for record in failed {
            total += 1;
            let manner = record.result.error.as_ref().map(FailureManner::of);
            match reasons.iter_mut().find(|(known, ..)| *known == manner) {
                Some((_, _, count)) => *count += 1,
                None => reasons.push((manner, record, 1)),
            }
        }
        if total == 0 {
            return Ok(());
        }
        // Of very many only some are in memory.
        let all = self.count.max(total);
        writeln!(out, "  {} ({all}):", self.title)?;
        for (_, record, count) in reasons.iter().take(LISTED) {
            let reason = record.result.error.as_ref().map(reason).unwrap_or_default();
            let others = if *count > 1 {
                format!(" and {} more", count - 1)
            } else {
                String::new()
            };
            let (id, epoch) = (clean(&record.sample_id), in_epoch(record.epoch));
            writeln!(out, "    {id}{epoch}{others}: {reason}")?;
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
fn reason(error: &AgentError) -> String {
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

/// The one command to type next: for what is worst, or to make a first baseline.
pub(crate) fn next_command(run: &Run) -> Option<String> {
    let dir = shell_word(&shown(&run.dir));
    let show = |id: &str| format!("cargo evaltest show {dir} {}", shell_word(id));
    let show_record = |record: &Record| {
        let epoch = match record.epoch {
            0 => String::new(),
            epoch => format!(" --epoch {epoch}"),
        };
        show(&record.sample_id) + &epoch
    };
    if let Some(reason) = &run.stop_reason {
        // Whom a judge is asked about was answered.
        let has_answers = run.summary.has_answers() || reason.starts_with("judge `");
        // Nothing would be saved, and an agent that is mended is another one.
        if reason.contains(MEND) || !has_answers {
            let manifest = RunDir::open(&run.dir).and_then(|dir| dir.manifest()).ok();
            let again = manifest.map(|manifest| manifest.run_again());
            return Some(again.unwrap_or_else(|| "cargo evaltest run".to_owned()));
        }
        return Some(format!("cargo evaltest run --resume {dir}"));
    }
    let error = run
        .records
        .iter()
        .find(|record| record.result.status.is_error());
    if let Some(record) = error {
        return Some(show_record(record));
    }
    if let Some(flip) = run.flips.iter().find(|flip| flip.worse) {
        return Some(show(&flip.id));
    }
    if let Some(id) = run.failed_assertions.first() {
        return Some(show(id));
    }
    let failed = run
        .summary
        .gates
        .iter()
        .any(|gate| gate.verdict == Verdict::Failed);
    let wrong =
        |record: &&Record| record.result.status == Status::Scored && !record.result.is_correct();
    let wrong = run.records.iter().find(wrong);
    failed.then_some(wrong).flatten().map(show_record)
}

fn indented(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n    ")
}
