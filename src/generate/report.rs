//! `generation_report`: what a run that generated data says to people, in Markdown.
//!
//! For somebody who is tired: the first line is what came of it, and each sentence stands for a figure. What agents wrote
//! is escaped where the blocks are rendered, as in all reports.

mod checks;
mod told;

use std::io::{self, Write};
use std::path::Path;

use super::files::GeneratedFiles;
use super::statistics::GenerationStatistics;
use crate::figure::{Count, P, Seconds, Share, Usd, counted};
use crate::report::document::{Align, Block, Document, Line, Table};
use crate::report::render::markdown;
use crate::store::{RunDir, RunStatus};
use crate::system::project::shown;
use crate::text::shell_word;
use crate::verdict::summary::UsageTotal;
use told::{part, share_cell};

use Align::{Left, Right};

/// Below this a difference is called one.
const ALPHA: f64 = 0.05;
/// So many items that never passed are listed.
const LISTED: usize = 20;

/// Writes the report of a run.
///
/// # Errors
/// When `out` cannot be written.
pub fn generation_report(
    files: &GeneratedFiles,
    dir: &RunDir,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = &files.statistics;
    let mut text = Document::new(format!("Generation report: {}", of.eval));
    headline(of, &mut text);
    basic(of, &mut text);
    statistics(of, &mut text);
    checks::checks(of, &mut text);
    checks::refused(of, &mut text);
    never_passed(of, &mut text);
    what_next(files, dir, &mut text);
    markdown::document(&text, 1, out)
}

/// What came of it, and what nobody should overlook.
fn headline(of: &GenerationStatistics, text: &mut Document) {
    let items = &of.items;
    let tried = items.accepted + items.never_passed;
    let accepted = part(items.accepted, tried, items.share, items.ci95);
    let whole = if tried == items.asked {
        String::new()
    } else {
        format!(", of {} that were asked for", items.asked)
    };
    text.paragraph(Line::default().strong(format!("{accepted} items were accepted{whole}.")));
    if items.accepted == 0 {
        text.note("Not one item was accepted: the file of items is empty.");
    }
    let reason = of.stop_reason.as_deref();
    match of.status {
        RunStatus::Finished => {}
        _ => text.note(format!(
            "The run ended early{}: {} never asked for.",
            reason.map_or_else(String::new, |reason| format!(" ({reason})")),
            counted(items.not_asked, "item")
        )),
    }
    if items.errors > 0 {
        text.note(format!(
            "{} got no reply that could be checked: the agent or a solver failed.",
            counted(items.errors, "item")
        ));
    }
}

fn basic(of: &GenerationStatistics, text: &mut Document) {
    text.section("1 Basic information");
    let mut table = Table::new(&[("", Left), ("", Left)]);
    let mut row = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row([name.to_owned(), value]);
        }
    };
    row("eval", Some(of.eval.clone()));
    let asked = [&of.agent, &of.model].into_iter().flatten();
    let asked: Vec<&str> = asked.map(String::as_str).collect();
    row("agent", (!asked.is_empty()).then(|| asked.join(", ")));
    let served = of.models.iter();
    let served: Vec<String> = served
        .map(|(model, items)| format!("{model} ({})", counted(*items as u64, "item")))
        .collect();
    row(
        "answered by",
        (!served.is_empty()).then(|| served.join(", ")),
    );
    let drawn = counted(of.references_shown, "reference");
    let reference = of.reference.as_ref();
    row(
        "references",
        Some(match reference {
            Some(path) if path.starts_with("hf://") => format!("{path} ({drawn} shown)"),
            Some(path) => format!("{} ({drawn} shown)", shown(Path::new(path))),
            None if of.references_shown > 0 => format!("{drawn} shown"),
            None => "none".to_owned(),
        }),
    );
    row("seed", of.seed.map(|seed| seed.to_string()));
    row("began", Some(of.started_at.clone()));
    row("took", of.duration_s.map(|it| Seconds(it).to_string()));
    let each = of.latency_s.as_ref();
    row(
        "a reply took",
        each.map(|it| {
            format!(
                "{} in the median, {} at most",
                Seconds(it.p50),
                Seconds(it.max)
            )
        }),
    );
    row("tokens", tokens(of.usage.tokens()));
    row("cost", of.usage.cost_usd.map(|usd| Usd(usd).to_string()));
    let judge = of.judge_usage.as_ref();
    row(
        "tokens of solvers",
        tokens(judge.and_then(UsageTotal::tokens)),
    );
    row(
        "cost of solvers",
        judge.and_then(|it| Some(Usd(it.cost_usd?).to_string())),
    );
    row("run", Some(of.run_id.clone()));
    text.table(table);
}

fn tokens(tokens: Option<u64>) -> Option<String> {
    tokens.map(|tokens| Count(tokens).to_string())
}

fn statistics(of: &GenerationStatistics, text: &mut Document) {
    text.section("2 Statistics");
    let (items, replies) = (&of.items, &of.replies);
    let mut table = Table::new(&[("figure", Left), ("count", Right), ("share", Right)]);
    let mut row = |name: &str, count: u64, share: String| {
        table.row([name.to_owned(), count.to_string(), share]);
    };
    row("items asked for", items.asked, String::new());
    row(
        "accepted",
        items.accepted,
        share_cell(items.share, items.ci95),
    );
    row("never passed", items.never_passed, String::new());
    for (name, count) in [
        ("without a reply", items.errors),
        ("never asked for", items.not_asked),
    ] {
        if count > 0 {
            row(name, count, String::new());
        }
    }
    row("replies checked", replies.checked, String::new());
    row(
        "refused",
        replies.refused,
        share_cell(replies.share, replies.ci95),
    );
    row(
        "mended (LaTeX that was not escaped)",
        replies.repaired,
        String::new(),
    );
    text.table(table);
    topics(of, text);
}

fn topics(of: &GenerationStatistics, text: &mut Document) {
    let topics = &of.topics.topics;
    if topics.is_empty() {
        return;
    }
    text.part("Topics");
    let mut table = Table::new(&[
        ("topic", Left),
        ("asked for", Right),
        ("share asked for", Right),
        ("accepted", Right),
        ("share accepted", Right),
    ]);
    for it in topics {
        table.row([
            it.topic.clone(),
            it.asked.to_string(),
            it.asked_share
                .map_or_else(String::new, |share| Share(share).to_string()),
            it.reached.to_string(),
            share_cell(it.share, it.ci95),
        ]);
    }
    text.table(table);
    if let (Some(p), Some(test)) = (of.topics.p, &of.topics.test) {
        let told = if p < ALPHA {
            "The accepted items are spread over the topics otherwise than they were asked for"
        } else {
            "The accepted items show no difference from the topics that were asked for"
        };
        text.paragraph(format!("{told} ({test}, {}).", P(p)));
    }
}

fn never_passed(of: &GenerationStatistics, text: &mut Document) {
    text.section("5 Items that never passed");
    if of.items.never_passed == 0 {
        text.paragraph("None: each item that was replied to was accepted in the end.");
        return;
    }
    let mut table = Table::new(&[
        ("item", Left),
        ("topic asked for", Left),
        ("replies", Right),
        ("the last failed", Left),
    ]);
    for it in of.never_passed.iter().take(LISTED) {
        table.row([
            it.id.clone(),
            it.topic.clone().unwrap_or_default(),
            it.replies.to_string(),
            it.reason.clone(),
        ]);
    }
    text.table(table);
    let more = of.items.never_passed.saturating_sub(LISTED as u64);
    if more > 0 {
        text.paragraph(format!("{more} more are in the run directory."));
    }
}

fn what_next(files: &GeneratedFiles, dir: &RunDir, text: &mut Document) {
    let of = &files.statistics;
    text.section("6 Files and next steps");
    let mut table = Table::new(&[("file", Left), ("is", Left)]);
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        Line::default().code(name.to_string_lossy())
    };
    table.row([
        name(&files.items),
        counted(of.items.accepted, "item").into(),
    ]);
    table.row([name(&files.report), "this report".into()]);
    table.row([
        name(dir.path()),
        "the run: every prompt and reply, also those that were refused".into(),
    ]);
    text.table(table);
    let run = shell_word(&shown(dir.path()));
    let typed = |command: String, what: &str| Line::default().code(command).plain(what);
    let mut steps = Vec::new();
    let open = of.items.not_asked + of.items.errors;
    if open > 0 {
        steps.push(typed(
            format!("cargo evaltest generate --resume {run}"),
            &format!(
                " asks for the {} that is open; what was paid is not paid again",
                counted(open, "item")
            ),
        ));
    }
    if of.replies.refused > 0 {
        steps.push(typed(
            format!("cargo evaltest show {run}"),
            " shows what was refused, and why",
        ));
    }
    if of.items.accepted > 0 {
        steps.push(typed(
            format!("cargo evaltest review {}", shell_word(&shown(&files.items))),
            " has people look at the items one by one: checks find what is malformed, not what is wrong or dull",
        ));
    }
    if of.replies.share.is_some_and(|share| share > 0.5) {
        let worst = of.replies.reasons.first();
        let worst = worst.map_or("", |(name, _)| name);
        steps.push(
            Line::default()
                .plain("More than half of the replies were refused, most often by ")
                .code(worst)
                .plain(": look at the examples above, then at the template of the prompt."),
        );
    }
    text.blocks.push(Block::List(steps));
}
