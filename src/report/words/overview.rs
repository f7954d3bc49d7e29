//! What a run was and what came of it, in a table; several runs side by side.

use super::told::{self, accuracy_of, difference, gates, titled};
use crate::exit::Exit;
use crate::figure::{Seconds, Share, Usd, or_dash};
use crate::report::document::{Align, Document, Line, Table};
use crate::report::reported::ReportedRun;
use crate::text::shell_word;
use crate::verdict::alert::AlertResult;
use crate::verdict::result::{GateResult, Verdict};
use crate::verdict::summary::Summary;

fn is_judged(gate: &GateResult) -> bool {
    gate.verdict != Verdict::Ignored
}

/// How it ended, where something was asked of it; that it ended early is a notice.
pub(super) fn verdict(run: &ReportedRun, text: &mut Document) {
    let summary = &run.summary;
    let line = Line::default();
    let line = match summary.exit_code {
        Exit::Passed if !summary.gates.iter().any(is_judged) || !run.is_finished() => return,
        Exit::Passed => line.strong("Passed").plain(": no gate failed"),
        Exit::Interrupted => line.strong("Interrupted").plain(": somebody stopped it"),
        Exit::Failed | Exit::Infrastructure | Exit::Usage => not_passed(summary),
    };
    text.paragraph(line.plain("."));
}

/// `Failed: GATE, GATE; not decided: GATE`: each gate by its own verdict, whatever that of the run is.
pub(in crate::report) fn not_passed(summary: &Summary) -> Line {
    let (failed, open) = match summary.exit_code {
        Exit::Failed if summary.alerts.iter().any(AlertResult::is_raised) => {
            (Some("an alert was raised"), None)
        }
        Exit::Failed => (Some("samples differ from what was accepted"), None),
        Exit::Infrastructure => (None, Some("too little is known of the agent")),
        Exit::Usage => (None, Some("there is a mistake in the eval")),
        Exit::Passed | Exit::Interrupted => (None, None),
    };
    let mut line = Line::default();
    for (word, verdict, why) in [
        ("failed", Verdict::Failed, failed),
        ("not decided", Verdict::Inconclusive, open),
    ] {
        let gates = summary.gates.iter().filter(|it| it.verdict == verdict);
        let gates: Vec<String> = gates.map(|it| it.gate.to_string()).collect();
        if gates.is_empty() && why.is_none() {
            continue;
        }
        line = if line.0.is_empty() {
            line.strong(titled(word))
        } else {
            line.plain("; ").strong(word)
        };
        let mut between = ": ";
        for gate in &gates {
            line = line.plain(between).code(gate);
            between = ", ";
        }
        // Of a run without such a gate it is said all the same.
        if let Some(why) = why.filter(|_| gates.is_empty()) {
            line = line.plain(format!(": {why}"));
        }
    }
    line
}

/// What everybody should know of a run before they believe a figure.
pub(super) fn notices(run: &ReportedRun, text: &mut Document) {
    let summary = &run.summary;
    if let Some(look) = summary.early_stop {
        let (number, of, left) = (look.number, look.of, summary.skipped);
        text.note(format!(
            "Stopped early: every gate was sure at look {number} of {of}; {left} were not asked."
        ));
    } else if !run.is_finished() {
        // What stands behind the colon may be what the agent said.
        let reason = run.manifest.stop_reason.as_deref();
        let reason = reason.and_then(|reason| reason.split([':', ';']).next());
        let reason = reason.map(|reason| format!(": {reason}"));
        let skipped = summary.skipped;
        text.note(format!(
            "The run ended early{}; {skipped} were not asked.",
            reason.unwrap_or_default()
        ));
    }
    if let Some(tier) = &summary.tier {
        text.note(
            Line::from("A run of tier ")
                .code(tier)
                .plain(": figures and gates are those of its samples."),
        );
    }
    if let Some(progressive) = summary.progressive.as_ref().filter(|it| it.is_ended()) {
        text.note(format!("Ended early: {}.", progressive.told()));
    }
    if let Some(part) = &summary.part {
        text.note(format!(
            "This is {} of the eval: its gates are judged when all shards are merged.",
            part.told()
        ));
    } else if summary.partial {
        text.note("A partial run: less was asked than the eval has, and its gates are ignored.");
    }
    if let Some(name) = &summary.scorer
        && summary.is_uncalibrated(name)
    {
        text.note(
            Line::from("The judge that decides, ")
                .code(name)
                .plain(", is uncalibrated: nobody knows yet how often people would agree with it."),
        );
    }
    if run.hides_texts {
        text.note(Line::default().marked(
            "Questions, answers and truths are not shown: `snapshot.answers` of this eval is `masked`.",
        ));
    }
}

/// Key and value.
pub(super) fn table(run: &ReportedRun) -> Table {
    let summary = &run.summary;
    let manifest = &run.manifest;
    let mut table = Table::new(&[("fact", Align::Left), ("value", Align::Left)]);
    let benchmark = if manifest.benchmark == manifest.eval {
        String::new()
    } else {
        format!(" ({})", manifest.benchmark)
    };
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("eval", format!("{}{benchmark}", manifest.eval));
    row("agent", agent(run));
    row("run", manifest.run_id.clone());
    row("when", when(run));
    row("samples", samples(summary));
    row("accuracy", accuracy_of(summary));
    let change = summary.change.as_ref();
    let change = change.map(|it| told::change(it, summary));
    row(
        "change to the baseline",
        change.unwrap_or_else(|| "no baseline that can be compared".to_owned()),
    );
    row("errors", errors(summary));
    if let Some(steps) = steps(summary) {
        row("steps of a right answer", steps);
    }
    row("cost", cost(summary));
    row("time", time(run));
    row("gates", gates(summary).unwrap_or_else(|| "none".to_owned()));
    table
}

fn agent(run: &ReportedRun) -> String {
    let mut told = run.agent().unwrap_or("-").to_owned();
    if let Some(model) = run.model() {
        told = format!("{told}, model {model}");
    }
    let served: Vec<&str> = run.manifest.models.keys().map(String::as_str).collect();
    if !served.is_empty() && Some(&*served.join(", ")) != run.model() {
        told = format!("{told}, answered by {}", served.join(", "));
    }
    told
}

fn when(run: &ReportedRun) -> String {
    let started = run.manifest.started_at.get(..16).unwrap_or_default();
    let started = format!("{} UTC", started.replace('T', " "));
    let commit = run.manifest.git_sha.as_deref();
    let commit = commit.and_then(|sha| sha.get(..12));
    let dirty = match run.manifest.git_dirty {
        Some(true) => " with changes",
        _ => "",
    };
    match commit {
        Some(sha) => format!("{started}, commit {sha}{dirty}"),
        None => started,
    }
}

fn samples(summary: &Summary) -> String {
    let mut told = match &summary.epochs {
        Some(figures) => format!(
            "{}, each asked {} times: {} answers",
            figures.samples, figures.epochs, summary.samples
        ),
        None => summary.samples.to_string(),
    };
    let parts = [
        (summary.unscored, "without a truth"),
        (summary.skipped, "not asked"),
        (summary.cached, "from the cache"),
        (
            summary.failed_as_wrong,
            "without an answer, counted as wrong",
        ),
    ];
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
        told = format!("{told}, {count} {what}");
    }
    told
}

fn errors(summary: &Summary) -> String {
    let rate = summary.error_rate.filter(|_| summary.errors > 0);
    let rate = rate.map(|rate| format!(" ({})", Share(rate)));
    let kinds = summary.failures.iter();
    let kinds: Vec<_> = kinds
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let kinds = if kinds.is_empty() {
        String::new()
    } else {
        format!(": {}", kinds.join(", "))
    };
    format!("{}{}{kinds}", summary.errors, rate.unwrap_or_default())
}

/// How many steps right answers took, on average.
pub(in crate::report) fn steps(summary: &Summary) -> Option<String> {
    let steps = summary.steps.as_ref()?;
    let told = format!(
        "{:.1} on average, of the {} that tell",
        steps.mean?, steps.samples
    );
    Some(match steps.ratio {
        Some(ratio) => format!("{told}; {ratio:.2} times those of people"),
        None => told,
    })
}

fn cost(summary: &Summary) -> String {
    let usage = &summary.usage;
    let mut told = match (
        usage.cost_usd,
        told::cost_per_thousand(summary, " per 1,000 answers"),
    ) {
        (Some(cost), Some(thousand)) => format!("{} ({thousand})", Usd(cost)),
        (Some(cost), None) => Usd(cost).to_string(),
        (None, _) => "the agent does not tell".to_owned(),
    };
    if let Some(tokens) = usage.tokens() {
        told = format!("{told}, {tokens} tokens");
    }
    let judge = summary.judge.as_ref();
    match judge.and_then(|judge| judge.usage.cost_usd) {
        Some(cost) => format!("{told}; judges {} more", Usd(cost)),
        None => told,
    }
}

fn time(run: &ReportedRun) -> String {
    let whole = run.manifest.duration_s.map(Seconds);
    let whole = or_dash(whole);
    match &run.summary.latency_s {
        _ if run.is_recorded() => format!("{whole}; the answers were recorded before"),
        Some(latency) => format!(
            "{whole}; an answer took {} (median), {} (p95), {} (slowest)",
            Seconds(latency.p50),
            Seconds(latency.p95),
            Seconds(latency.max)
        ),
        None => whole,
    }
}

/// Several runs side by side, before each of them.
pub fn overview_of_all(runs: &[ReportedRun]) -> Document {
    let mut text = Document::new(format!("{} runs", runs.len()));
    let mut table = Table::new(&[
        ("eval", Align::Left),
        ("run", Align::Left),
        ("agent", Align::Left),
        ("samples", Align::Right),
        ("accuracy", Align::Left),
        ("change to the baseline", Align::Left),
        ("errors", Align::Right),
        ("cost", Align::Right),
        ("p95", Align::Right),
        ("gates", Align::Left),
    ]);
    let dash = || "-".to_owned();
    for run in runs {
        let summary = &run.summary;
        let latency = summary.latency_s.as_ref();
        let cells = [
            summary.eval.clone(),
            run.manifest.run_id.clone(),
            agent(run),
            summary.samples.to_string(),
            told::share(
                summary.accuracy,
                summary.accuracy_bounds,
                summary.accuracy_ci95,
            ),
            summary.change.as_ref().map_or_else(dash, difference),
            summary.errors.to_string(),
            summary
                .usage
                .cost_usd
                .map_or_else(dash, |usd| Usd(usd).to_string()),
            latency
                .filter(|_| !run.is_recorded())
                .map_or_else(dash, |latency| Seconds(latency.p95).to_string()),
            gates(summary).unwrap_or_else(dash),
        ];
        table.row(cells);
    }
    text.table(table);
    let mut evals: Vec<&str> = runs.iter().map(|run| &*run.manifest.eval).collect();
    evals.sort_unstable();
    if let Some(pair) = evals.windows(2).find(|pair| pair[0] == pair[1]) {
        let of_one = runs.iter().filter(|run| run.manifest.eval == pair[0]);
        let ids: Vec<_> = of_one.map(|run| shell_word(&run.manifest.run_id)).collect();
        let command = format!("cargo evaltest compare {}", ids.join(" "));
        text.paragraph(
            Line::from("Which of them is better is told by the test over the same samples, not by the figures side by side: ")
                .code(command),
        );
    }
    text
}
