//! The first part of a report: result of the run, warnings, and main figures.

use super::accuracy;
use super::changes::{change_value, flip_counts};
use super::costs::at_least;
use super::gates::gate_counts;
use super::source::Source;
use crate::exit::Exit;
use crate::figure::{CI95, Interval, Points, Seconds, Share, Usd, counted, or_dash};
use crate::report::document::{Block, IntervalRow, IntervalScale, Intervals, Line, Tone, list};
use crate::report::figures::{ReportedSample, RunFigures, SampleOutcome};
use crate::report::reported::{ReportedRun, agent_name, minute, program};
use crate::stats::as_f64;
use crate::text::shell_word;
use crate::verdict::alert::AlertResult;
use crate::verdict::result::{GateResult, Verdict};
use crate::verdict::summary::{Subject, Summary};

/// The result of a run in one word, with its colour.
pub(in crate::report) fn ending(run: &ReportedRun) -> (Tone, &'static str) {
    let has = |verdict| has_gate(&run.summary, verdict);
    match run.summary.exit_code {
        _ if run.going_on => (Tone::Unsure, "Running"),
        Exit::Passed if !run.is_finished() => (Tone::Unsure, "Ended early"),
        Exit::Passed => (Tone::Good, "Passed"),
        Exit::Failed => (Tone::Bad, "Failed"),
        Exit::Infrastructure if has(Verdict::Failed) && has(Verdict::Inconclusive) => {
            (Tone::Bad, "Failed, some gates are inconclusive")
        }
        Exit::Infrastructure if has(Verdict::Failed) => (Tone::Bad, "Failed"),
        Exit::Infrastructure if run.summary.judges_items => (
            Tone::Unsure,
            "Inconclusive: not enough verdicts on the items",
        ),
        Exit::Infrastructure => (
            Tone::Unsure,
            "Inconclusive: not enough verdicts on the answers",
        ),
        Exit::Usage => (Tone::Unsure, "Invalid: the eval has a mistake"),
        Exit::Interrupted => (Tone::Unsure, "Interrupted"),
    }
}

/// Whether any gate has this verdict.
pub(super) fn has_gate(summary: &Summary, verdict: Verdict) -> bool {
    let mut gates = summary.gates.iter();
    gates.any(|gate| gate.verdict == verdict)
}

/// The result, if the run has gates; an early end is a note.
pub(in crate::report) fn verdict(run: &ReportedRun) -> Option<Line> {
    let summary = &run.summary;
    let is_judged = |gate: &GateResult| gate.verdict != Verdict::Ignored;
    let line = Line::default();
    Some(match summary.exit_code {
        Exit::Passed if !summary.gates.iter().any(is_judged) || !run.is_finished() => return None,
        Exit::Passed => line.strong("Passed").plain(": no gate failed."),
        Exit::Interrupted => line.strong("Interrupted").plain(": the run was stopped."),
        Exit::Failed | Exit::Infrastructure | Exit::Usage => not_passed(summary).plain("."),
    })
}

/// The summary for readers of a failed CI job: the verdict, the accuracy, and its change.
pub(in crate::report) fn overview(source: &Source<'_>) -> Block {
    let summary = source.summary;
    let run = source.run.map(|(run, _)| run);
    let (tone, verdict) = match run {
        Some(run) if run.going_on => {
            let (tone, word) = ending(run);
            let failed = summary.gates.iter();
            let failed = failed.filter(|gate| gate.verdict == Verdict::Failed);
            let line = Line::default().strong(word);
            let line = failed.enumerate().fold(line, |line, (place, gate)| {
                let between = if place == 0 { "; failed: " } else { ", " };
                line.plain(between).code(gate.gate.to_string())
            });
            (tone, Some(line))
        }
        Some(run) => (ending(run).0, self::verdict(run)),
        None => (Tone::Plain, None),
    };
    let change = summary.change.as_ref().map(|change| {
        let points = format!("{} points", Points(change.difference));
        let ci95 = Interval(change.difference_ci95.map(Points)).ci95();
        let flips = flip_counts(change, summary);
        Line::default().strong(points).plain(format!(
            " since the baseline ({ci95}): {flips}, of {} compared.",
            change.n
        ))
    });
    let lines = verdict.into_iter().chain([accuracy::sentence(summary)]);
    let lines = lines.chain(change).map(Block::Paragraph);
    let chart = run.and_then(against_baseline);
    Block::Framed(tone, lines.chain(chart).collect())
}

/// The accuracy next to that of the baseline.
fn against_baseline(run: &ReportedRun) -> Option<Block> {
    let summary = &run.summary;
    let change = summary.change.as_ref().filter(|change| change.n > 0)?;
    let before = change.accuracy_before;
    let baseline = IntervalRow {
        label: "baseline".to_owned(),
        value: Some(before),
        figures: Share(before).to_string(),
        note: format!("{} compared", change.n),
        ..IntervalRow::default()
    };
    let now = accuracy::row(
        "this run",
        summary.accuracy,
        summary.accuracy_bounds,
        summary.accuracy_ci95,
        format!(
            "{} of {} {}",
            summary.correct,
            summary.scored,
            summary.subject().good()
        ),
    );
    Some(Block::Intervals(Intervals {
        caption: String::new(),
        heads: [
            String::new(),
            format!("{}, {CI95}", summary.subject().share()),
            "samples".to_owned(),
        ],
        scale: IntervalScale::against(before),
        rows: vec![baseline, now],
    }))
}

/// Next commands, depending on the result.
pub(in crate::report) fn next_commands(run: &ReportedRun, figures: &RunFigures) -> Vec<Block> {
    let id = shell_word(&run.manifest.run_id);
    let mut commands = Vec::new();
    let mut command = |command: String, why: &str| {
        let line = Line::from(format!("{why}: "));
        commands.push(line.code(format!("cargo evaltest {command}")));
    };
    let change = run.summary.change.as_ref();
    let flip = change.and_then(|change| change.became_wrong.first());
    // If the run is inconclusive, show an error before wrong answers.
    let is_open = run.summary.exit_code == Exit::Infrastructure;
    let is_error = |sample: &&ReportedSample| is_open && sample.outcome == SampleOutcome::Error;
    let error = figures
        .failing
        .iter()
        .find(is_error)
        .map(|sample| &sample.id);
    let failing = figures.failing.first().map(|sample| &sample.id);
    if let Some(sample) = error.or(flip).or(failing) {
        command(
            format!("show {id} {}", shell_word(sample)),
            "show a sample in full",
        );
    }
    if run.summary.errors > 0 {
        let why = if run.summary.judges_items {
            "judge again the items that do not pass or have no verdict"
        } else {
            "rerun wrong answers and errors"
        };
        command(format!("run --failed {id}"), why);
    }
    if run.manifest.parent.is_none() && !run.is_finished() && !run.going_on {
        command(format!("run --resume {id}"), "continue the run");
    }
    if change.is_some() && run.summary.exit_code == Exit::Failed {
        let is_refused = |it: &GateResult| it.verdict == Verdict::Failed && it.gate.is_of_quality();
        let failed = if run.summary.gates.iter().any(is_refused) {
            " --failed-gates"
        } else {
            ""
        };
        command(
            format!("accept {id}{failed}"),
            "accept the change, if it is intended",
        );
    }
    let commands = list(commands).into_iter();
    commands
        .flat_map(|commands| [Block::section("Next steps"), commands])
        .collect()
}

/// `Failed: GATE, GATE; inconclusive: GATE`: each gate by its own verdict, regardless of that of the run.
pub(in crate::report) fn not_passed(summary: &Summary) -> Line {
    let (failed, open) = match summary.exit_code {
        Exit::Failed if summary.alerts.iter().any(AlertResult::is_raised) => {
            (Some("an alert was raised"), None)
        }
        Exit::Failed => (Some("answers differ from the accepted snapshots"), None),
        Exit::Infrastructure if has_gate(summary, Verdict::Failed) => (None, None),
        Exit::Infrastructure if summary.judges_items => {
            (None, Some("not enough verdicts on the items"))
        }
        Exit::Infrastructure => (None, Some("not enough verdicts on the answers")),
        Exit::Usage => (None, Some("the eval has a mistake")),
        Exit::Passed | Exit::Interrupted => (None, None),
    };
    let mut line = Line::default();
    for (word, verdict, why) in [
        ("failed", Verdict::Failed, failed),
        ("inconclusive", Verdict::Inconclusive, open),
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
        // Shown even if the run has no such gate.
        if let Some(why) = why.filter(|_| gates.is_empty()) {
            line = line.plain(format!(": {why}"));
        }
    }
    line
}

/// Warnings that affect the figures.
pub(in crate::report) fn notes(source: &Source<'_>) -> Vec<Block> {
    let summary = source.summary;
    let run = source.run.map(|(run, _)| run);
    let line = Line::default;
    let mut notes: Vec<Line> = Vec::new();
    if let Some(analysis) = summary.early_stop {
        let (number, of) = (analysis.number, analysis.of);
        let remaining = counted(summary.skipped, "sample");
        notes.push(line().strong("Stopped early").plain(format!(
            ": every gate was sure at look {number} of {of}; {remaining} not asked."
        )));
    } else if let Some(run) = run.filter(|run| run.going_on) {
        let all = run.summary.samples;
        let answered = all.saturating_sub(run.summary.skipped);
        notes.push(
            format!(
                "The run is still going: figures and verdicts cover the {answered} of {all} that are {}.",
                if summary.judges_items { "judged" } else { "answered" }
            )
            .into(),
        );
    } else if let Some(run) = run.filter(|run| !run.is_finished()) {
        // The text after the colon may contain the agent's output.
        let reason = run.manifest.stop_reason.as_deref();
        let reason = reason.and_then(|reason| reason.split([':', ';']).next());
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let (noun, what) = if summary.judges_items {
            ("item", "judged")
        } else {
            ("sample", "asked")
        };
        let skipped = counted(summary.skipped, noun);
        notes.push(format!("The run ended early{reason}; {skipped} not {what}.").into());
    }
    if let Some(tier) = &summary.tier {
        let note = line().plain("A run of tier ").code(tier);
        notes.push(note.plain(": figures and gates cover only its samples."));
    }
    if let Some(progressive) = summary.progressive.as_ref().filter(|it| it.is_ended()) {
        let description = progressive.description();
        notes.push(
            line()
                .strong("Ended early")
                .plain(format!(": {description}.")),
        );
    }
    if let Some(part) = &summary.part {
        notes.push(
            line()
                .plain("This is ")
                .strong(part.description())
                .plain(" of the eval: its gates are checked when all shards are merged."),
        );
    } else if summary.partial {
        notes.push(
            line()
                .strong("A partial run")
                .plain(": only some samples of the eval were asked, so its gates are ignored."),
        );
    }
    if let Some(name) = summary
        .scorer
        .as_ref()
        .filter(|name| summary.is_uncalibrated(name))
    {
        let note = line().plain("The deciding judge, ").code(name);
        notes.push(note.plain(", is uncalibrated: how often people agree with it is unknown."));
    }
    if summary.failed_as_wrong > 0 {
        let failed = counted(summary.failed_as_wrong, "sample");
        notes.push(format!("{failed} without an answer: counted as wrong.").into());
    }
    if run.is_some_and(|run| run.hides_texts) {
        notes.push(line().marked(
            "Questions, answers and expected answers are hidden: this eval masks its snapshots. \
             `cargo evaltest report --show-texts` shows them.",
        ));
    }
    notes.into_iter().map(Block::Note).collect()
}

/// The main figures of a run.
pub(in crate::report) fn facts(source: &Source<'_>) -> Block {
    let summary = source.summary;
    let run = source.run.map(|(run, _)| run);
    let mut facts: Vec<(String, Line)> = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value.into()));
    if let Some(run) = run {
        let manifest = &run.manifest;
        let benchmark = match &manifest.benchmark {
            benchmark if *benchmark == manifest.eval => String::new(),
            benchmark => format!(" ({benchmark})"),
        };
        fact("eval", format!("{}{benchmark}", manifest.eval));
        fact("agent", agent(run));
        fact("run", manifest.run_id.clone());
        fact("when", when(run));
    }
    let subject = summary.subject();
    fact(
        subject.word(["samples", "items", "samples"]),
        samples(summary),
    );
    fact(
        subject.word(["accuracy", "pass rate", "win rate"]),
        accuracy::value(summary),
    );
    let bounds = summary.failure_rate_bounds;
    let display = accuracy::display(summary.failure_rate, bounds);
    let display = display.filter(|_| run.is_none() && subject == Subject::Answers);
    if let Some(display) = display {
        let ci95 = summary
            .failure_rate_ci95
            .filter(|_| !accuracy::is_open(bounds));
        fact("failure rate", display + &accuracy::comma_ci95(ci95));
    }
    if run.is_some() {
        let change = summary.change.as_ref();
        let change = change.map(|change| change_value(change, summary));
        let none = || "no comparable baseline".to_owned();
        fact("change since the baseline", change.unwrap_or_else(none));
    }
    fact("errors", errors(summary));
    if let Some(run) = run {
        if let Some(steps) = steps(summary) {
            fact("steps per correct answer", steps);
        }
        fact("cost", cost(summary));
        fact("time", time(run));
        fact(
            "gates",
            gate_counts(summary).unwrap_or_else(|| "none".to_owned()),
        );
    }
    Block::Facts(facts)
}

/// The agent, its model, and the models that answered.
pub(in crate::report) fn agent(run: &ReportedRun) -> String {
    if run.summary.judges_items {
        return "none: the items themselves are judged".to_owned();
    }
    let program = program(&run.manifest);
    let name = agent_name(run.agent(), run.model(), program.as_deref());
    let mut display = name.unwrap_or_else(|| "-".to_owned());
    let served: Vec<&str> = run.manifest.models.keys().map(String::as_str).collect();
    if !served.is_empty() && Some(&*served.join(", ")) != run.model() {
        display = format!("{display}, answered by {}", served.join(", "));
    }
    display
}

fn when(run: &ReportedRun) -> String {
    let started = format!("{} UTC", minute(&run.manifest.started_at));
    let commit = run.manifest.git_sha.as_deref();
    let dirty = match run.manifest.git_dirty {
        Some(true) => " with changes",
        _ => "",
    };
    match commit.and_then(|sha| sha.get(..12)) {
        Some(sha) => format!("{started}, commit {sha}{dirty}"),
        None => started,
    }
}

fn samples(summary: &Summary) -> String {
    let is_of_items = summary.judges_items;
    let all = match &summary.epochs {
        Some(figures) if is_of_items => format!(
            "{}, judged {} times each: {} verdicts",
            figures.samples, figures.epochs, summary.samples
        ),
        Some(figures) => format!(
            "{}, asked {} times each: {} answers",
            figures.samples, figures.epochs, summary.samples
        ),
        None => summary.samples.to_string(),
    };
    let unscored =
        summary
            .subject()
            .word(["without ground truth", "without a verdict", "not compared"]);
    let skipped = if is_of_items {
        "not judged"
    } else {
        "not asked"
    };
    let parts = [
        (summary.unscored, unscored),
        (summary.skipped, skipped),
        (summary.cached, "from the cache"),
        (summary.recorded, "with recorded calls"),
        (
            summary.failed_as_wrong,
            "without an answer, counted as wrong",
        ),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts.fold(all, |all, (count, what)| format!("{all}, {count} {what}"))
}

fn errors(summary: &Summary) -> String {
    let rate = summary.error_rate.filter(|_| summary.errors > 0);
    let rate = rate.map_or_else(String::new, |rate| format!(" ({})", Share(rate)));
    let kinds = summary.failures.iter();
    let kinds = kinds.map(|(kind, count)| format!("{count} {}", kind.replace('_', " ")));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let colon = if kinds.is_empty() { "" } else { ": " };
    format!("{}{rate}{colon}{kinds}", summary.errors)
}

/// Mean number of steps of right answers.
fn steps(summary: &Summary) -> Option<String> {
    let steps = summary.steps.as_ref()?;
    let mean = format!(
        "{:.1} on average, over {} answers with known steps",
        steps.mean?, steps.samples
    );
    Some(match steps.ratio {
        Some(ratio) => format!("{mean}; {ratio:.2} times the annotated steps"),
        None => mean,
    })
}

fn cost(summary: &Summary) -> String {
    let judge = summary.judge.as_ref();
    let judges = judge.and_then(|judge| judge.usage.cost_usd);
    if summary.judges_items {
        let unknown = || "not reported by the judge".to_owned();
        return judges.map_or_else(unknown, |cost| Usd(cost).to_string());
    }
    let usage = &summary.usage;
    let thousand = cost_per_thousand(summary, " per 1,000 answers");
    let mut cost = match (usage.cost_usd, thousand) {
        (Some(cost), Some(thousand)) => {
            format!(
                "{} ({thousand})",
                at_least(usage.unknown.cost_usd, Usd(cost))
            )
        }
        (Some(cost), None) => at_least(usage.unknown.cost_usd, Usd(cost)),
        (None, _) => "not reported by the agent".to_owned(),
    };
    if let Some(tokens) = usage.tokens() {
        let tokens = at_least(usage.unknown.tokens, format_args!("{tokens} tokens"));
        cost = match usage.cost_usd {
            Some(_) => format!("{cost}, {tokens}"),
            None => format!("{tokens}; cost not reported"),
        };
    }
    match judges {
        Some(judges) => format!("{cost}; plus {} for judges", Usd(judges)),
        None => cost,
    }
}

/// Cost per thousand answers, from those with a known cost: `1.1800 USD per 1,000 answers, by the 68 of 90 that tell`.
pub(in crate::report) fn cost_per_thousand(summary: &Summary, of: &str) -> Option<String> {
    let usage = &summary.usage;
    let cost = usage.cost_usd.filter(|_| usage.samples > 0)?;
    let cost = Usd(cost / as_f64(usage.samples) * 1000.0);
    let requested = summary.scored + summary.errors + summary.unscored;
    let requested = requested.saturating_sub(summary.cached);
    Some(if usage.samples < requested {
        format!(
            "{cost}{of}, from the {} of {requested} with a known cost",
            usage.samples
        )
    } else {
        format!("{cost}{of}")
    })
}

fn time(run: &ReportedRun) -> String {
    let whole = or_dash(run.manifest.duration_s.map(Seconds));
    match &run.summary.latency_s {
        _ if run.summary.judges_items => whole,
        _ if run.is_recorded() => format!("{whole}; the answers are recorded"),
        Some(latency) => format!(
            "{whole}; an answer took {} (median), {} (p95), {} (slowest)",
            Seconds(latency.p50),
            Seconds(latency.p95),
            Seconds(latency.max)
        ),
        None => whole,
    }
}

/// `level` as `Level`.
pub(in crate::report) fn titled(name: &str) -> String {
    let name = name.replace('_', " ");
    let mut chars = name.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}
