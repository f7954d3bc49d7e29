//! Output of a run for a terminal or CI log.

pub mod failures;
mod next;
#[cfg(feature = "command")]
pub mod overview;
#[cfg(feature = "command")]
pub mod runs;
mod screen;

#[cfg(feature = "command")]
pub(super) use screen::gate_figure;
pub use screen::sample_rows;

use std::io::{self, Write};

use super::document::{Block, Document, Line, list};
use super::render::terminal as render;
use super::render::terminal::Paint;
use super::section;
pub(crate) use super::section::LISTED;
use super::section::{Detail, Source, accuracy, gate_lines};
pub use super::section::{errors_of, in_epoch};
use crate::exit::Exit;
use crate::figure::{Interval, Seconds, Share, counted};
use crate::report::event::Event;
use crate::system::project::display;
use crate::text::excerpt;
use crate::verdict::conclude::Run;
use crate::verdict::result::InterimAnalysis;
use crate::verdict::result::Progressive;
use crate::verdict::summary::Summary;

/// Writes an event as text; most events write nothing.
pub fn event(event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
    match event {
        Event::RunFinished { run } => painted(run, Paint::Plain, out),
        event => render::lines(event_lines(event), out),
    }
}

/// The same as lines.
fn event_lines(event: &Event<'_>) -> Vec<String> {
    let line = match event {
        Event::RunStarted {
            eval,
            opening,
            notices,
            resumed,
            epochs,
            ..
        } => {
            let before = match (resumed, epochs) {
                (0, _) => String::new(),
                (1, 0 | 1) => "; 1 sample was answered before".to_owned(),
                (1, _) => "; 1 epoch of a sample was answered before".to_owned(),
                (more, 0 | 1) => format!("; {more} samples were answered before"),
                (more, _) => format!("; {more} epochs of samples were answered before"),
            };
            let line = format!("{opening}{before}");
            let line = line.trim_start_matches("; ");
            let opening = (!line.is_empty()).then(|| format!("{eval}: {line}"));
            let notices = notices.iter();
            let notices = notices.map(|notice| format!("{eval}: note: {notice}"));
            return opening.into_iter().chain(notices).collect();
        }
        Event::Notice { eval, notice } => format!("{eval}: note: {notice}"),
        Event::AttemptFailed {
            id,
            epoch,
            attempt,
            error,
            retry,
        } => {
            let then = if *retry { ", asking again" } else { "" };
            let (epoch, reason) = (in_epoch(*epoch), section::reason(error));
            format!("{id}{epoch}: attempt {attempt} failed{then}: {reason}")
        }
        Event::AnswerRefused { id, epoch, refused } => format!(
            "{id}{}: the answer of attempt {} was refused, asking again: {}",
            in_epoch(*epoch),
            refused.attempt,
            excerpt(&refused.reason)
        ),
        Event::Waiting {
            eval,
            who,
            why,
            last_message,
            pause,
            first: true,
        } => {
            let last_message = match *last_message {
                "" => String::new(),
                last_message => format!(": {}", excerpt(last_message)),
            };
            let pause = Seconds::whole(pause.as_secs_f64().ceil());
            format!("{eval}: {who} {why}; waiting, first for {pause}{last_message}")
        }
        Event::WentOn { eval, who, waited } => {
            let waited = Seconds::from(*waited);
            format!("{eval}: {who} answers again after {waited}")
        }
        Event::AgentOutput { id, line } => format!("{id}| {line}"),
        Event::Waiting { .. }
        | Event::RunFinished { .. }
        | Event::SampleStarted { .. }
        | Event::SampleFinished { .. } => return Vec::new(),
    };
    vec![line]
}

/// ", 3 epochs each"; empty for one epoch.
pub fn epochs(epochs: u32) -> String {
    match epochs {
        1 => String::new(),
        epochs => format!(", {epochs} epochs each"),
    }
}

/// ", and once more in 2 ways"; empty for none.
pub fn perturbed(ways: usize) -> String {
    match ways {
        0 => String::new(),
        1 => ", plus a perturbed version of each".to_owned(),
        ways => format!(", plus {ways} perturbed versions of each"),
    }
}

/// Writes the result of a run on one screen.
pub fn painted(run: &Run, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    render::blocks(&[screen::screen(run)], 0, paint, out)
}

/// Writes the result of a run with all that its verdicts rest on.
pub fn verbose(run: &Run, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let source = Source::of(&run.summary, Detail::Brief);
    let mut blocks = section::figures(&source);
    blocks.extend(stopped(run));
    let edited = |message: &str| section::in_run(message, &display(&run.dir));
    blocks.extend(gate_lines(&run.summary.gates, edited));
    blocks.extend(section::alerts(&source));
    blocks.extend(section::account(&source));
    let mut gates = run.summary.gates.iter();
    // The message of such a gate names them.
    if !gates.any(|gate| gate.regression.is_some()) {
        blocks.extend(section::flips(run));
    }
    blocks.extend(section::assertions(run, true));
    blocks.extend(section::failures(run));
    blocks.extend(end(run));
    let title = first_line(run);
    render::document(&Document { title, blocks }, paint, out)
}

/// Writes the problems of one run of several that end with an [overview]; nothing if there are none.
pub fn brief(run: &Run, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let summary = &run.summary;
    let is_well = summary.exit_code == Exit::Passed
        && run.flips.is_empty()
        && run.stop_reason.is_none()
        && summary.errors == 0;
    let undecided = section::decision(summary);
    if is_well && undecided.is_none() {
        return Ok(());
    }
    render::blocks(&[screen::problems(run, undecided, is_well)], 0, paint, out)
}

/// Writes what became of the samples of a run, unless all were compared, or all are new.
pub(crate) fn account(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let source = Source::of(summary, Detail::Brief);
    render::blocks(&section::account(&source), 2, Paint::Plain, out)
}

/// The tier or the part of the eval that was asked, if it is not all of it.
fn lead(summary: &Summary) -> String {
    let tier = summary.tier.as_ref();
    let tier = tier.map_or_else(String::new, |tier| format!("tier `{tier}`, "));
    let part = match &summary.part {
        Some(part) => part.description() + ", ",
        None if summary.partial => "partial run, ".to_owned(),
        None => String::new(),
    };
    tier + &part
}

/// The line with the accuracy.
fn first_line(run: &Run) -> String {
    let summary = &run.summary;
    let requested = summary.samples - summary.skipped + summary.not_judged;
    let lead = lead(summary);
    let correct = summary.correct;
    let subject = summary.subject();
    let good = subject.good();
    let counts = match (&summary.epochs, section::items::deciding_pairs(summary)) {
        (_, Some(pairs)) => section::items::pair_counts(pairs),
        (None, None) => {
            let samples = counted(requested, subject.word(["sample", "item", "pair"]));
            format!("{samples}, {correct} {good}")
        }
        (Some(figures), None) => format!(
            "{}{}, {correct} of {} {good}",
            counted(figures.samples, "sample"),
            epochs(figures.epochs),
            counted(requested, subject.word(["answer", "verdict", "pair"])),
        ),
    };
    let display = accuracy::display(summary.accuracy, summary.accuracy_bounds);
    let share = subject.share();
    let display = display.map_or_else(String::new, |display| {
        match (accuracy::missing(summary), summary.accuracy_ci95) {
            // The interval over existing verdicts would look too certain.
            (Some(missing), _) => format!(", {share} {display} ({missing})"),
            (None, Some(ci95)) => {
                format!(", {share} {display} ({})", Interval(ci95.map(Share)).ci95())
            }
            (None, None) => format!(", {share} {display}"),
        }
    });
    let unscored = match summary.unscored {
        0 => String::new(),
        unscored => format!(", {unscored} unscored"),
    };
    let decides = summary.scorer.as_deref();
    let uncalibrated = if decides.is_some_and(|name| summary.is_uncalibrated(name)) {
        "; the deciding judge is uncalibrated"
    } else {
        ""
    };
    format!(
        "{}: {lead}{counts}{display}, {}{unscored}, {}{uncalibrated}",
        run.eval,
        errors_of(summary.errors),
        Seconds(run.duration_s)
    )
}

/// Why not all samples were requested, if so.
fn stopped(run: &Run) -> Vec<Block> {
    let summary = &run.summary;
    let mut lines: Vec<String> = Vec::new();
    if let Some(InterimAnalysis { number, of, .. }) = summary.early_stop {
        let (skipped, all) = (summary.skipped, summary.samples);
        let what = match summary.epochs {
            Some(_) => "answers",
            None => "samples",
        };
        lines.push(format!(
            "every gate was sure at look {number} of {of}: {skipped} of {all} {what} were not asked"
        ));
    }
    let progressive = summary.progressive.as_ref();
    lines.extend(
        progressive
            .filter(|it| it.is_ended())
            .map(Progressive::description),
    );
    if let Some(reason) = &run.stop_reason {
        let skipped = match (summary.not_judged, summary.skipped - summary.not_judged) {
            _ if summary.judges_items => {
                format!("{} not judged", counted(summary.skipped, "item"))
            }
            (0, skipped) => format!("{} not asked", counted(skipped, "sample")),
            (open, 0) => format!("{open} answered and not judged"),
            (open, skipped) => {
                let skipped = counted(skipped, "sample");
                format!("{open} answered and not judged, {skipped} not asked")
            }
        };
        let (reason, hint) = match reason.rsplit_once("; hint: ") {
            Some((reason, hint)) => (reason, format!("; hint: {hint}")),
            None => (reason.as_str(), String::new()),
        };
        lines.push(format!("stopped early: {reason} ({skipped}){hint}"));
    }
    list(lines).into_iter().collect()
}

/// The run directory and the next command.
fn end(run: &Run) -> Option<Block> {
    let ignored = ignored(&run.summary);
    let dir = format!("run directory: {}", display(&run.dir));
    let next = next::next(run);
    let lines = ignored.into_iter().chain([dir]).chain(next);
    list(lines.map(Line::from))
}

/// Why skipped gates change the exit code, with the command to run.
fn ignored(summary: &Summary) -> Option<String> {
    let whole = if summary.partial {
        "run the whole eval, without `--limit`, `--filter` or `--failed`, or"
    } else {
        "run the samples that these gates need, or"
    };
    let code = Exit::Infrastructure.code();
    summary.ignored_matter.then(|| {
        format!(
            "`CI` is set, and gates were ignored (exit code {code}): {whole} pass \
             `--allow-ignored`"
        )
    })
}
