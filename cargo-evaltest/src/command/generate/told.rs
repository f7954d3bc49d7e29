//! What is said of items that were made.

use std::io::{self, Write};

use evaltest::Exit;
use evaltest::engine::figure::{Interval, Share};
use evaltest::engine::generate::{Generation, GenerationStatistics};
use evaltest::engine::report::render::terminal::paint::Paint;
use evaltest::engine::report::terminal::brief;
use evaltest::engine::system::project::shown;
use evaltest::engine::text::{clean, shell_word};
use serde_json::{Value, json};

use crate::command::run;

/// How a run ends: as its gates say, and never well without a single item.
pub(super) fn exit(made: &Generation) -> Exit {
    let items = &made.files.statistics.items;
    let own = if items.accepted == 0 {
        Exit::Failed
    } else {
        Exit::Passed
    };
    own.max(made.run.summary.exit_code)
}

/// A run as `--json` shows it.
pub(super) fn result(made: &Generation) -> Value {
    let mut result = run::result(&made.run);
    result["items"] = json!(made.files.items);
    result["report"] = json!(made.files.report);
    result["statistics"] = json!(made.files.statistics);
    result
}

pub(super) fn made(made: &Generation, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let of = &made.files.statistics;
    run_itself(made, paint, out)?;
    headline(of, out)?;
    if of.replies.refused > 0 {
        let reasons = of.replies.reasons.iter();
        let reasons = reasons.map(|(reason, count)| format!("{count} {}", clean(reason)));
        writeln!(
            out,
            "  refused: {} of {} replies ({})",
            of.replies.refused,
            of.replies.checked,
            reasons.collect::<Vec<_>>().join(", ")
        )?;
    }
    if let Some(solver) = &of.solver {
        writeln!(
            out,
            "  solved again: {} of {} came to the same answer",
            solver.agrees, solver.solved
        )?;
    }
    let topics = of.topics.topics.iter();
    let topics = topics.map(|it| format!("{} {}/{}", clean(&it.topic), it.reached, it.asked));
    let topics: Vec<_> = topics.collect();
    if !topics.is_empty() {
        writeln!(out, "  topics, accepted of asked: {}", topics.join(", "))?;
    }
    let path = |path: &std::path::Path| clean(&shown(path));
    writeln!(out, "  items: {}", path(&made.files.items))?;
    writeln!(out, "  report: {}", path(&made.files.report))?;
    writeln!(out, "  run: {}", path(&made.run.dir))?;
    if of.items.not_asked + of.items.errors > 0 {
        let dir = shell_word(&shown(&made.run.dir));
        writeln!(out, "  to go on: cargo evaltest generate --resume {dir}")?;
    }
    Ok(())
}

/// What is not as it should be with the run. How it goes on is said at the end, for `run` would not write the files anew.
fn run_itself(made: &Generation, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    brief(&made.run, paint, &mut text)?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines();
    lines
        .filter(|line| !line.contains("cargo evaltest run --resume"))
        .try_for_each(|line| writeln!(out, "{line}"))
}

fn headline(of: &GenerationStatistics, out: &mut dyn Write) -> io::Result<()> {
    let items = &of.items;
    let (name, accepted, asked) = (clean(&of.eval), items.accepted, items.asked);
    if accepted == 0 {
        writeln!(out, "{name}: not one of {asked} items was accepted")?;
    } else {
        write!(out, "{name}: {accepted} of {asked} items accepted")?;
        match (items.share, items.ci95) {
            (Some(share), Some(ci95)) => writeln!(
                out,
                ", {} of those with a reply ({})",
                Share(share),
                Interval(ci95.map(Share)).ci95()
            )?,
            _ => writeln!(out)?,
        }
    }
    let parts = [
        (items.never_passed, "never passed"),
        (items.errors, "without a reply that could be checked"),
        (items.not_asked, "never asked for"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {}", parts.join(", "))
}
