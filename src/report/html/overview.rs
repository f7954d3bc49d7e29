//! What somebody whose CI is red sees first: what failed, which samples flipped, and what to type.

use std::io::{self, Write};

use super::intervals;
use super::noted::{MOST_FLIPPED, NotedSample, NotedSamples, SampleStanding};
use crate::exit::Exit;
use crate::figure::{Interval, Points, Share, ci95};
use crate::report::accuracy;
use crate::report::document::{IntervalRow, IntervalScale};
use crate::report::render::html::escape::{cut, lines, text};
use crate::report::render::html::line;
use crate::report::reported::ReportedRun;
use crate::report::words::overview::not_passed;
use crate::text::shell_word;
use crate::verdict::result::{GateResult, Verdict};
use crate::verdict::summary::{BaselineChange, Summary};

/// Writes the head of a run.
pub(super) fn overview(
    run: &ReportedRun,
    noted: &NotedSamples,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (class, word) = verdict(run);
    let summary = &run.summary;
    let is_over = !run.going_on;
    let is_told = matches!(
        summary.exit_code,
        Exit::Failed | Exit::Infrastructure | Exit::Usage
    );
    let ended = if is_over && is_told {
        line(&not_passed(summary))
    } else {
        let gates = of(summary, Verdict::Failed);
        let gates = gates.map(|it| format!(" <code>{}</code>", text(&it.gate.to_string())));
        let gates: Vec<_> = gates.collect();
        let failed = if gates.is_empty() { "" } else { "; failed:" };
        format!("<strong>{word}</strong>{failed}{}", gates.join(","))
    };
    writeln!(
        out,
        "<div class=\"box {class}\"><p>{ended}</p>\n<p>{}</p>",
        headline(summary)
    )?;
    if let Some(change) = &summary.change {
        writeln!(out, "<p>{}</p>", changed(change))?;
    }
    writeln!(out, "</div>")?;
    notices(run, out)?;
    gates(summary, out)?;
    if let Some(change) = &summary.change {
        flips(change, noted, out)?;
    }
    to_type(run, noted, out)
}

/// The class and the word of how it ended.
pub(super) fn verdict(run: &ReportedRun) -> (&'static str, &'static str) {
    if run.going_on {
        return ("inconclusive", "Running");
    }
    match run.summary.exit_code {
        Exit::Passed if !run.is_finished() => ("inconclusive", "Ended early"),
        Exit::Passed => ("passed", "Passed"),
        Exit::Failed => ("failed", "Failed"),
        Exit::Infrastructure if of(&run.summary, Verdict::Failed).next().is_some() => {
            ("failed", "Failed, and not all is decided")
        }
        Exit::Infrastructure => (
            "inconclusive",
            "Not decided: too little is known of the agent",
        ),
        Exit::Usage => ("inconclusive", "Not decided: a mistake in the eval"),
        Exit::Interrupted => ("inconclusive", "Interrupted"),
    }
}

fn of(summary: &Summary, verdict: Verdict) -> impl Iterator<Item = &GateResult> {
    let gates = summary.gates.iter();
    gates.filter(move |gate| gate.verdict == verdict)
}

/// The accuracy in a sentence.
pub(super) fn headline(summary: &Summary) -> String {
    let shown = accuracy::shown(summary.accuracy, summary.accuracy_bounds);
    let (correct, scored) = (summary.correct, summary.scored);
    match (shown, accuracy::missing(summary)) {
        (Some(range), Some(missing)) => {
            format!("<b>{range}</b> correct, {missing}: {correct} of the {scored} scored")
        }
        (Some(share), None) => {
            let ci95 = summary
                .accuracy_ci95
                .map(|ci95| Interval(ci95.map(Share)).ci95());
            let ci95 = ci95.map_or_else(String::new, |ci95| format!(", {ci95}"));
            format!("<b>{share}</b> correct: {correct} of {scored}{ci95}")
        }
        (None, _) => "Nothing was scored".to_owned(),
    }
}

fn changed(change: &BaselineChange) -> String {
    format!(
        "<b>{} points</b> since the baseline ({}): {} became wrong, {} became right, of {} compared",
        Points(change.difference),
        Interval(change.difference_ci95.map(Points)).ci95(),
        change.worse,
        change.better,
        change.n
    )
}

fn notices(run: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
    let summary = &run.summary;
    let mut told = Vec::new();
    if let Some(tier) = &summary.tier {
        told.push(format!(
            "A run of tier {tier}: figures and gates are those of its samples."
        ));
    }
    if let Some(progressive) = summary.progressive.as_ref().filter(|it| it.is_ended()) {
        told.push(format!("Ended early: {}.", progressive.told()));
    }
    if let Some(part) = &summary.part {
        told.push(format!(
            "This is {} of the eval: its gates are judged when all shards are merged.",
            part.told()
        ));
    } else if summary.partial {
        told.push(
            "A partial run: less was asked than the eval has, and gates are ignored.".to_owned(),
        );
    }
    if let Some(look) = summary.early_stop {
        told.push(format!(
            "Stopped early: every gate was sure at look {} of {}; {} samples were not asked.",
            look.number, look.of, summary.skipped
        ));
    }
    if run.going_on {
        let all = summary.samples;
        let answered = all.saturating_sub(summary.skipped);
        told.push(format!(
            "It is going on: figures and verdicts are those of the {answered} of {all} that are answered."
        ));
    } else if !run.is_finished() {
        let reason = run.manifest.stop_reason.as_deref();
        let reason = reason.unwrap_or("it was killed");
        told.push(format!("It ended before all was asked: {}.", text(reason)));
    }
    let scorer = summary.scorer.as_deref();
    if let Some(name) = scorer.filter(|name| summary.is_uncalibrated(name)) {
        told.push(format!(
            "The judge that decides, <code>{}</code>, is uncalibrated: labels of people do not vouch for it.",
            text(name)
        ));
    }
    if summary.failed_as_wrong > 0 {
        told.push(format!(
            "{} gave no answer, which counts as wrong here.",
            summary.failed_as_wrong
        ));
    }
    if run.hides_texts {
        told.push(
            "Questions, answers and truths are not shown: the snapshots of this eval are masked. <code>cargo evaltest report --show-texts</code> shows them."
                .to_owned(),
        );
    }
    told.iter()
        .try_for_each(|notice| writeln!(out, "<p class=\"warn\">{notice}</p>"))
}

/// Those that do not hold in full, the others in a line each.
fn gates(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.gates.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h3>Gates</h3>")?;
    for verdict in [Verdict::Failed, Verdict::Inconclusive] {
        for gate in of(summary, verdict) {
            writeln!(
                out,
                "<div class=\"box {0}\"><p><strong>{1}</strong> <code>{2}</code></p><pre>{3}</pre></div>",
                verdict.as_str(),
                sign(verdict),
                text(&gate.gate.to_string()),
                lines(&gate.message)
            )?;
        }
    }
    let told = [Verdict::Passed, Verdict::Ignored];
    let mut rest = told
        .into_iter()
        .flat_map(|verdict| of(summary, verdict))
        .peekable();
    if rest.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "<ul>")?;
    for gate in rest {
        let first = gate.message.lines().next().unwrap_or_default();
        let class = match gate.verdict {
            Verdict::Passed => "good",
            _ => "soft",
        };
        writeln!(
            out,
            "<li><span class=\"{class}\">{}</span> <code>{}</code> <span class=\"soft\">{}</span></li>",
            sign(gate.verdict),
            text(&gate.gate.to_string()),
            text(first)
        )?;
    }
    writeln!(out, "</ul>")
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "✓ passed",
        Verdict::Failed => "✗ failed",
        Verdict::Inconclusive => "? inconclusive",
        Verdict::Ignored => "– ignored",
    }
}

fn flips(change: &BaselineChange, noted: &NotedSamples, out: &mut dyn Write) -> io::Result<()> {
    let row = IntervalRow {
        label: "accuracy".to_owned(),
        value: Some(change.difference),
        interval: Some(change.difference_ci95),
        figures: format!(
            "{} points ({})",
            Points(change.difference),
            Interval(change.difference_ci95.map(Points))
        ),
        note: format!("{} compared", change.n),
        ..IntervalRow::default()
    };
    writeln!(out, "<h3>Since the baseline</h3>")?;
    let heads = ["", ci95!("change, "), "samples"];
    let scale = IntervalScale::differences([change.difference_ci95]);
    intervals("Change of accuracy", heads, scale, &[row], out)?;
    let sides = [
        ("Became wrong", &change.became_wrong, true),
        ("Became right", &change.became_correct, false),
    ];
    for (title, ids, is_open) in sides {
        if ids.is_empty() {
            continue;
        }
        let open = if is_open { " open" } else { "" };
        writeln!(
            out,
            "<details{open}><summary><strong>{title}: {}</strong></summary>",
            ids.len()
        )?;
        begin_table(title, out)?;
        for id in ids.iter().take(MOST_FLIPPED) {
            match noted.flip(id) {
                Some(sample) => self::row(sample, out)?,
                None => writeln!(
                    out,
                    "<tr><th scope=\"row\"><code>{}</code></th><td></td><td></td><td></td><td></td></tr>",
                    text(id)
                )?,
            }
        }
        writeln!(out, "</tbody></table></div>")?;
        if ids.len() > MOST_FLIPPED {
            writeln!(out, "<p>And {} more.</p>", ids.len() - MOST_FLIPPED)?;
        }
        writeln!(out, "</details>")?;
    }
    Ok(())
}

/// The head of a table of samples.
pub(super) fn begin_table(caption: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table class=\"samples\">\n\
         <thead><tr><th scope=\"col\">sample</th><th scope=\"col\">question</th><th scope=\"col\">answer</th>\
         <th scope=\"col\">expected</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>",
        text(caption)
    )
}

/// A sample of such a table.
pub(super) fn row(sample: &NotedSample, out: &mut dyn Write) -> io::Result<()> {
    let (class, word) = match sample.standing {
        SampleStanding::Correct => ("good", "correct"),
        SampleStanding::Wrong => ("bad", "wrong"),
        SampleStanding::Error => ("warn", "error"),
        SampleStanding::Unscored => ("soft", "unscored"),
        SampleStanding::Skipped => ("soft", "skipped"),
    };
    let epoch = match sample.epoch {
        0 => String::new(),
        epoch => format!(", epoch {epoch}"),
    };
    writeln!(
        out,
        "<tr><th scope=\"row\"><code>{}</code>{epoch}</th><td>{}</td><td>{}</td><td>{}</td><td><span class=\"{class}\">{word}</span> <span class=\"soft\">{}</span></td></tr>",
        text(&sample.id),
        cut(&sample.question, 160),
        cut(&sample.said, 160),
        cut(&sample.truth, 160),
        text(&sample.why)
    )
}

/// What helps next, by how it ended.
fn to_type(run: &ReportedRun, noted: &NotedSamples, out: &mut dyn Write) -> io::Result<()> {
    let id = shell_word(&run.manifest.run_id);
    let mut commands = Vec::new();
    let change = run.summary.change.as_ref();
    let flip = change.and_then(|change| change.became_wrong.first());
    let failing = noted.failing.first().map(|sample| &sample.id);
    if let Some(sample) = flip.or(failing) {
        commands.push((
            format!("cargo evaltest show {id} {}", shell_word(sample)),
            "all of one sample",
        ));
    }
    if run.summary.errors > 0 {
        commands.push((
            format!("cargo evaltest run --failed {id}"),
            "ask those with errors again",
        ));
    }
    if run.manifest.parent.is_none() && !run.is_finished() && !run.going_on {
        commands.push((format!("cargo evaltest run --resume {id}"), "go on with it"));
    }
    if change.is_some() && run.summary.exit_code == Exit::Failed {
        commands.push((
            format!("cargo evaltest accept {id}"),
            "if this is what is wanted from now on",
        ));
    }
    if commands.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h3>What to type</h3>\n<ul>")?;
    for (command, why) in commands {
        writeln!(
            out,
            "<li><code>{}</code> <span class=\"soft\">{why}</span></li>",
            text(&command)
        )?;
    }
    writeln!(out, "</ul>")
}
