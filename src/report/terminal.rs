//! What a run looks like on a terminal or in a CI log.

mod assertions;
pub mod compare;
mod epochs;
mod failures;
mod judge;
pub mod matrix;
mod metrics;
mod next;
pub mod overview;
pub mod runs;
mod scorers;
pub mod trend;
pub mod troubles;

use std::io::{self, Write};

use super::document::Tone;
use super::render::terminal::paint::Paint;
use super::{accuracy, alerts, reviewed};
use crate::exit::Exit;
use crate::figure::{Interval, Seconds, Share, Usd};
use crate::report::event::Event;
use crate::system::project::shown;
use crate::text::{clean, excerpt};
use crate::verdict::look::EarlyLook;
use crate::verdict::result::Verdict;
use crate::verdict::run::Run;
use crate::verdict::summary::Summary;

/// How many flipped or failed samples are listed; the rest is counted.
pub(crate) const LISTED: usize = 20;

/// Writes what an event has to tell a person; nothing for most.
pub fn event(event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
    match event {
        Event::RunStarted {
            eval,
            opening,
            notices,
            resumed,
            epochs,
            ..
        } => {
            if !opening.is_empty() {
                writeln!(out, "{eval}: {}", clean(opening))?;
            }
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
                failures::reason(error)
            )
        }
        Event::AnswerRefused { id, epoch, refused } => writeln!(
            out,
            "{}{}: the answer of attempt {} was refused, asking again: {}",
            clean(id),
            in_epoch(*epoch),
            refused.attempt,
            excerpt(&refused.reason)
        ),
        Event::Waiting {
            eval,
            who,
            why,
            said,
            pause,
            first,
        } => {
            if !first {
                return Ok(());
            }
            let said = match *said {
                "" => String::new(),
                said => format!(": {}", excerpt(said)),
            };
            let pause = Seconds::whole(pause.as_secs_f64().ceil());
            writeln!(
                out,
                "{eval}: {} {why}, and is waited for, first for {pause}{said}",
                clean(who)
            )
        }
        Event::WentOn { eval, who, waited } => {
            let waited = Seconds::from(*waited);
            writeln!(out, "{eval}: {} answers again after {waited}", clean(who))
        }
        Event::AgentOutput { id, line } => writeln!(out, "{}| {}", clean(id), clean(line)),
        Event::RunFinished { run } => self::run(run, out),
        Event::SampleStarted { .. } | Event::SampleFinished { .. } => Ok(()),
    }
}

/// `1 error`, `2 errors`
pub fn errors_of(count: u64) -> String {
    format!("{count} error{}", if count == 1 { "" } else { "s" })
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
    painted(run, Paint::Plain, out)
}

/// The same with colours.
pub fn painted(run: &Run, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let summary = &run.summary;
    headline(run, out)?;
    epochs::epochs(summary, out)?;
    metrics::slices(summary, out)?;
    scorers::scorers(summary, out)?;
    scorers::labels(summary, out)?;
    metrics::metrics(summary, out)?;
    costs(summary, out)?;
    judge::judges(summary, out)?;
    for line in summary.reviewed.iter().flat_map(reviewed::lines) {
        writeln!(out, "  reviewed: {}", clean(&line))?;
    }
    stopped(run, out)?;
    gates(run, |_| true, paint, out)?;
    alerts::in_terminal(summary, out)?;
    troubles(run, paint, out)
}

/// Writes what is not as it should be, of one run of several that end in an [overview]; nothing where all is well.
pub fn brief(run: &Run, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let summary = &run.summary;
    let is_well = summary.exit_code == Exit::Passed
        && run.flips.is_empty()
        && run.stop_reason.is_none()
        && summary.errors == 0;
    if is_well {
        return Ok(());
    }
    headline(run, out)?;
    stopped(run, out)?;
    let is_open = |verdict| matches!(verdict, Verdict::Failed | Verdict::Inconclusive);
    let matters =
        |verdict| is_open(verdict) || summary.ignored_matter && verdict == Verdict::Ignored;
    gates(run, matters, paint, out)?;
    alerts::in_terminal(summary, out)?;
    troubles(run, paint, out)
}

/// The line with the accuracy.
fn headline(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let summary = &run.summary;
    let asked = summary.samples - summary.skipped + summary.not_judged;
    let tier = summary.tier.as_ref();
    let tier = tier.map_or_else(String::new, |tier| format!("tier `{}`, ", clean(tier)));
    let part = match &summary.part {
        Some(part) => part.told() + ", ",
        None if summary.partial => "partial run, ".to_owned(),
        None => String::new(),
    };
    let eval = format!("{}: {tier}{part}", run.eval);
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
            (None, Some(ci95)) => write!(out, " ({})", Interval(ci95.map(Share)).ci95())?,
            (None, None) => {}
        }
    }
    write!(out, ", {}", errors_of(summary.errors))?;
    if summary.unscored > 0 {
        write!(out, ", {} unscored", summary.unscored)?;
    }
    write!(out, ", {}", Seconds(run.duration_s))?;
    if summary
        .scorer
        .as_deref()
        .is_some_and(|name| summary.is_uncalibrated(name))
    {
        write!(out, "; the judge that decides is uncalibrated")?;
    }
    writeln!(out)
}

/// Why not all was asked, if so.
fn stopped(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let summary = &run.summary;
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
    if let Some(progressive) = summary.progressive.as_ref().filter(|it| it.is_ended()) {
        writeln!(out, "  {}", clean(&progressive.told()))?;
    }
    if let Some(reason) = &run.stop_reason {
        let left = match (summary.not_judged, summary.skipped - summary.not_judged) {
            (0, left) => format!("{left} samples not asked"),
            (open, 0) => format!("{open} answered and not judged"),
            (open, left) => format!("{open} answered and not judged, {left} samples not asked"),
        };
        writeln!(out, "  stopped early: {} ({left})", clean(reason))?;
    }
    Ok(())
}

/// The gates of whose verdicts this holds.
fn gates(
    run: &Run,
    are_told: impl Fn(Verdict) -> bool,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let told = run.summary.gates.iter();
    for gate in told.filter(|gate| are_told(gate.verdict)) {
        let verdict = match gate.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "FAILED",
            Verdict::Inconclusive => "INCONCLUSIVE",
            Verdict::Ignored => "ignored",
        };
        let verdict = paint.tone(gate.verdict.into(), verdict);
        let message = next::in_run(&gate.message, &run.dir);
        writeln!(
            out,
            "  gate {}: {verdict}: {}",
            gate.gate,
            indented(&message)
        )?;
    }
    Ok(())
}

/// What flipped and what failed, where the run lies and what to type next.
fn troubles(run: &Run, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    flips(run, paint, out)?;
    assertions::assertions(run, out)?;
    failures::failures(run, out)?;
    ignored(&run.summary, out)?;
    writeln!(out, "  run directory: {}", shown(&run.dir))?;
    if let Some(next) = next::next(run) {
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
            "latency median {}, p95 {}",
            Seconds(latency.p50),
            Seconds(latency.p95)
        ));
    }
    if let Some(tokens) = summary.usage.tokens() {
        parts.push(format!("{tokens} tokens"));
    }
    if let Some(cost) = summary.usage.cost_usd {
        parts.push(Usd(cost).to_string());
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

fn flips(run: &Run, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    for (worse, tone, title) in [
        (true, Tone::Bad, "correct in the baseline, wrong now"),
        (false, Tone::Good, "wrong in the baseline, correct now"),
    ] {
        let ids: Vec<String> = run
            .flips
            .iter()
            .filter(|flip| flip.worse == worse)
            .map(|flip| flip.id.clone())
            .collect();
        listed(&paint.tone(tone, title), &ids, out)?;
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

fn indented(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n    ")
}
