//! `generation_report`: the report of a run that generated data, in Markdown.
//!
//! The first line is the result, and each sentence gives a number. Text written by agents is escaped when the blocks
//! are rendered, as in all reports.

use std::io::{self, Write};
use std::path::Path;

use super::files::GeneratedFiles;
use super::statistics::GenerationStatistics;
use crate::figure::{Count, P, Seconds, Share, Usd, counted, or_dash, part_of, share_cell};
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Document, Line, Table};
use crate::report::render::markdown;
use crate::report::reported::minute;
use crate::store::{RunDir, RunStatus};
use crate::system::project::display;
use crate::text::shell_word;

/// Significance level: a difference is reported below it.
const ALPHA: f64 = 0.05;
/// At most this many never-passed items are listed.
const LISTED: usize = 20;
/// At most this many items are shown with their nearest reference.
const NEAREST: usize = 10;

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
    let mut report = Document::new(format!("Generation report: {}", of.eval));
    first_line(of, &mut report);
    basics(of, &mut report);
    statistics(of, &mut report);
    checks(of, &mut report);
    refused(of, &mut report);
    never_passed(of, &mut report);
    next_steps(files, dir, &mut report);
    markdown::document(&report, 1, out)
}

/// The result, and warnings that must not be overlooked.
fn first_line(of: &GenerationStatistics, report: &mut Document) {
    let items = &of.items;
    let tried = items.accepted + items.never_passed;
    let accepted = part_of(items.accepted, tried, "items");
    let whole = if tried == items.requested {
        String::new()
    } else {
        format!(", of {} requested", items.requested)
    };
    report.paragraph(Line::default().strong(format!("{accepted} were accepted{whole}.")));
    if items.accepted == 0 {
        report.note("No item was accepted: the file of items is empty.");
    }
    let reason = of.stop_reason.as_deref();
    match of.status {
        RunStatus::Finished => {}
        _ => report.note(format!(
            "The run ended early{}: {} never requested.",
            reason.map_or_else(String::new, |reason| format!(" ({reason})")),
            counted(items.not_requested, "item")
        )),
    }
    if items.errors > 0 {
        report.note(format!(
            "{} got no reply that could be checked: the agent or a solver failed.",
            counted(items.errors, "item")
        ));
    }
}

fn basics(of: &GenerationStatistics, report: &mut Document) {
    let requested = [&of.agent, &of.model].into_iter().flatten();
    let requested: Vec<&str> = requested.map(String::as_str).collect();
    let served = of.models.iter();
    let served: Vec<String> = served
        .map(|(model, items)| format!("{model} ({})", counted(*items as u64, "item")))
        .collect();
    let drawn = counted(of.references_shown, "reference");
    let references = match &of.reference {
        Some(path) if path.starts_with("hf://") => format!("{path} ({drawn} shown)"),
        Some(path) => format!("{} ({drawn} shown)", display(Path::new(path))),
        None if of.references_shown > 0 => format!("{drawn} shown"),
        None => "none".to_owned(),
    };
    let took = of.latency_s.as_ref().map(|it| {
        let (median, most) = (Seconds(it.p50), Seconds(it.max));
        format!("median {median}, maximum {most}")
    });
    let usages = [Some(&of.usage), of.judge_usage.as_ref()];
    let [tokens, solver_tokens] = usages.map(|it| Some(Count(it?.tokens()?).to_string()));
    let [cost, solver_cost] = usages.map(|it| Some(Usd(it?.cost_usd?).to_string()));
    report.section("1 Basic information");
    let mut table = Table::new(&[("", Left), ("", Left)]);
    for (name, value) in [
        ("eval", Some(of.eval.clone())),
        (
            "agent",
            (!requested.is_empty()).then(|| requested.join(", ")),
        ),
        (
            "answered by",
            (!served.is_empty()).then(|| served.join(", ")),
        ),
        ("references", Some(references)),
        ("seed", of.seed.map(|seed| seed.to_string())),
        ("began", Some(format!("{} UTC", minute(&of.started_at)))),
        ("took", of.duration_s.map(|it| Seconds(it).to_string())),
        ("a reply took", took),
        ("tokens", tokens),
        ("cost", cost),
        ("tokens of solvers", solver_tokens),
        ("cost of solvers", solver_cost),
        ("run", Some(of.run_id.clone())),
    ] {
        let row = value.map(|value| vec![name.into(), value.into()]);
        table.rows.extend(row);
    }
    report.table(table);
}

fn statistics(of: &GenerationStatistics, report: &mut Document) {
    report.section("2 Statistics");
    let (items, replies) = (&of.items, &of.replies);
    let accepted = share_cell(items.share, items.ci95);
    let refused = share_cell(replies.share, replies.ci95);
    let mut table = Table::of_numbers(["figure", "count", "share"]);
    for (name, count, share) in [
        ("items requested", items.requested, ""),
        ("accepted", items.accepted, &accepted),
        ("never passed", items.never_passed, ""),
        ("without a reply", items.errors, ""),
        ("never requested", items.not_requested, ""),
        ("replies checked", replies.checked, ""),
        ("refused", replies.refused, &refused),
        ("repaired (unescaped LaTeX)", replies.repaired, ""),
    ] {
        if count > 0 || !matches!(name, "without a reply" | "never requested") {
            table.row([name.to_owned(), count.to_string(), share.to_owned()]);
        }
    }
    report.table(table);
    topics(of, report);
}

fn topics(of: &GenerationStatistics, report: &mut Document) {
    let topics = &of.topics.topics;
    if topics.is_empty() {
        return;
    }
    report.part("Topics");
    let mut table = Table::of_numbers([
        "topic",
        "requested",
        "requested share",
        "accepted",
        "accepted share",
    ]);
    for it in topics {
        table.row([
            it.topic.clone(),
            it.requested.to_string(),
            it.requested_share
                .map_or_else(String::new, |share| Share(share).to_string()),
            it.reached.to_string(),
            share_cell(it.share, it.ci95),
        ]);
    }
    report.table(table);
    if let (Some(p), Some(test)) = (of.topics.p, &of.topics.test) {
        let sentence = if p < ALPHA {
            "The topics of the accepted items differ from the requested distribution"
        } else {
            "The topics of the accepted items do not differ significantly from the requested distribution"
        };
        report.paragraph(format!("{sentence} ({test}, {}).", P(p)));
    }
}

/// What a check verifies.
fn meaning(check: &str) -> String {
    const OF_FIELDS: [(&str, &str); 4] = [
        ("_in_range", "is a number in its range"),
        ("_in_list", "is one of its choices"),
        ("_in_form", "is of its type and length"),
        (
            "_differs_from_reference",
            "differs from that of the shown reference",
        ),
    ];
    if let Some((name, end)) = check.split_once("_ends_in_") {
        return format!("{name} ends in {end}");
    }
    let of_field = |(end, is): &(&str, &str)| Some(format!("{} {is}", check.strip_suffix(end)?));
    let of_field = OF_FIELDS.iter().find_map(of_field);
    of_field.unwrap_or_else(|| {
        let known = match check {
            "readable" => "the reply is one JSON object",
            "complete" => "no field is missing or blank",
            "no_copy_of_reference" => "the item is not a near copy of a reference",
            "no_copy_of_item" => "the item is not a near copy of another item",
            "topic_as_asked" => "the topic is the requested one",
            "solver_agrees" => "a second solution has the same answer",
            _ => "",
        };
        known.to_owned()
    })
}

fn checks(of: &GenerationStatistics, report: &mut Document) {
    report.section("3 Checks");
    if of.checks.is_empty() {
        report.paragraph("No reply was checked.");
        return;
    }
    let mut table = Table::new(&[
        ("check", Left),
        ("requires that", Left),
        ("replies", Right),
        ("failed", Right),
        ("share that failed", Right),
        ("failed and accepted", Right),
    ]);
    for check in &of.checks {
        table.row([
            check.name.clone(),
            meaning(&check.name),
            check.checked.to_string(),
            check.failed.to_string(),
            share_cell(check.share, check.ci95),
            check.accepted.to_string(),
        ]);
    }
    report.table(table);
    report.paragraph(
        "Each check covers the replies to which it applies. Replies that failed a check and were still accepted: \
         the spec only records that check.",
    );
    if let Some(solver) = &of.solver {
        report.part("Solved again");
        let agrees = part_of(solver.agrees, solver.solved, "accepted items");
        report.paragraph(format!(
            "A solver that sees only the problem finds the same answer in {agrees}."
        ));
    }
    nearest(of, report);
}

fn nearest(of: &GenerationStatistics, report: &mut Document) {
    let Some(first) = of.nearest.first() else {
        return;
    };
    report.part("Nearest references");
    if first.share <= 0.0 {
        report.paragraph("No accepted item shares a phrase of eight words with a reference.");
        return;
    }
    report.paragraph(format!(
        "The accepted item nearest to a reference shares {} of its eight-word phrases with it.",
        Share(first.share)
    ));
    let mut table = Table::new(&[
        ("item", Left),
        ("nearest reference", Left),
        ("share of its phrases", Right),
    ]);
    let near = of.nearest.iter().filter(|it| it.share > 0.0);
    for it in near.take(NEAREST) {
        table.row([
            it.id.clone(),
            or_dash(it.reference_id.as_ref()),
            Share(it.share).to_string(),
        ]);
    }
    report.table(table);
}

fn refused(of: &GenerationStatistics, report: &mut Document) {
    report.section("4 Refused replies");
    let replies = &of.replies;
    if replies.refused == 0 {
        report.paragraph(match replies.checked {
            0 => "There were no replies.".to_owned(),
            1 => "The only reply was accepted.".to_owned(),
            many => format!("None of the {many} replies was refused."),
        });
        return;
    }
    let share = part_of(replies.refused, replies.checked, "replies");
    report.paragraph(format!("{share} were refused. By the first failed check:"));
    report.list(replies.reasons.iter().map(|(reason, refused)| {
        let line = Line::default()
            .plain("failed ")
            .code(reason.clone())
            .plain(format!(": {}", counted(*refused, "reply")));
        let examples = of.examples.iter();
        let examples = examples.filter(|it| it.check == *reason && it.message != it.check);
        examples.enumerate().fold(line, |line, (place, example)| {
            line.plain(if place == 0 { "; such as " } else { "; " })
                .code(example.id.clone())
                .plain(format!(" ({})", mistake(&example.message)))
        })
    }));
}

/// What was wrong, in a message to the model: `near copy of a known text` of `was a near copy …: write another one`.
fn mistake(message: &str) -> &str {
    let what = message.strip_prefix("had a mistake: ").unwrap_or(message);
    let what = what.strip_prefix("was a ").unwrap_or(what);
    what.split(": write ").next().unwrap_or(what)
}

fn never_passed(of: &GenerationStatistics, report: &mut Document) {
    report.section("5 Items that never passed");
    if of.items.never_passed == 0 {
        report.paragraph("None: every item with a reply was accepted in the end.");
        return;
    }
    let mut table = Table::new(&[
        ("item", Left),
        ("requested topic", Left),
        ("replies", Right),
        ("last failed check", Left),
    ]);
    for it in of.never_passed.iter().take(LISTED) {
        table.row([
            it.id.clone(),
            it.topic.clone().unwrap_or_default(),
            it.replies.to_string(),
            it.reason.clone(),
        ]);
    }
    report.table(table);
    let more = of.items.never_passed.saturating_sub(LISTED as u64);
    if more > 0 {
        report.paragraph(format!("{more} more are in the run directory."));
    }
}

fn next_steps(files: &GeneratedFiles, dir: &RunDir, report: &mut Document) {
    let of = &files.statistics;
    report.section("6 Files and next steps");
    let mut table = Table::new(&[("file", Left), ("content", Left)]);
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
        "the run: every prompt and reply, including refused ones".into(),
    ]);
    report.table(table);
    let run = shell_word(&display(dir.path()));
    let typed = |command: String, what: &str| Line::default().code(command).plain(what);
    let mut steps = Vec::new();
    let open = of.items.not_requested + of.items.errors;
    if open > 0 {
        steps.push(typed(
            format!("cargo evaltest generate --resume {run}"),
            &format!(
                " requests the missing {}; answered requests are not repeated",
                counted(open, "item")
            ),
        ));
    }
    if of.replies.refused > 0 {
        steps.push(typed(
            format!("cargo evaltest show {run}"),
            " shows refused replies and the reasons",
        ));
    }
    if of.items.accepted > 0 {
        steps.push(typed(
            format!("cargo evaltest review {}", shell_word(&display(&files.items))),
            " opens the items for review by people: checks find malformed items, not wrong or dull ones",
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
    report.list(steps);
}
