//! The one-page report for release decisions.

use super::outages;
use crate::figure::{Of100, Points, Seconds, Usd, ci95, counted, part_of};
use crate::report::document::{Block, Document, Line, Tone};
use crate::report::figures::RunFigures;
use crate::report::items;
use crate::report::reported::ReportedRun;
use crate::report::section::changes::{ChangeVerdict, by_majority, change_verdict, difference};
use crate::report::section::gate_counts;
use crate::report::section::overview::{self, cost_per_thousand};
use crate::report::section::slices::in_order;
use crate::report::section::{Source, accuracy, reviewed_lines};
use crate::report::terminal::gate_figure;
use crate::verdict::result::Verdict;
use crate::verdict::summary::{Group, Subject, Summary};

/// Maximum number of slices listed.
const NAMED: usize = 5;

pub(super) fn document(run: &ReportedRun, figures: &RunFigures) -> Document {
    let summary = &run.summary;
    let source = Source::of_run(run, figures);
    let mut document = Document::new(summary.eval.clone());
    document.blocks.push(overview::overview(&source));
    document.blocks.extend(overview::notes(&source));
    let (known, unknown) = amounts(run);
    document.blocks.push(Block::Facts(known));
    if !unknown.is_empty() {
        let text = format!("Not known: {}.", unknown.join("; "));
        document.paragraph(Line::default().toned(Tone::Faint, text));
    }
    changes(summary, figures, &mut document);
    document.section("Risks");
    document.blocks.push(Block::List(risks(run)));
    document
}

/// Cost, outages and waits: the known ones with their values, and the others with the reason.
fn amounts(run: &ReportedRun) -> (Vec<(String, Line)>, Vec<String>) {
    let summary = &run.summary;
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    let mut row = |name: &str, value: Result<String, &str>| match value {
        Ok(value) => known.push((name.to_owned(), value.into())),
        Err(why) => unknown.push(format!("{name} ({why})")),
    };
    if summary.change.is_none() {
        row("the change", Err("there is no baseline"));
    }
    if let Some(points) = items::deciding_points(summary) {
        if points.excellent.of > 0 {
            row("excellent items", Ok(points.excellent.text("")));
        }
        row("points on average", Ok(points.total.text()));
        for dimension in &points.dimensions {
            let name = dimension.name.replace('_', " ");
            row(&format!("{name}, on average"), Ok(dimension.points.text()));
        }
    }
    let judge = summary.judge.as_ref();
    let judged = judge.and_then(|judge| judge.usage.cost_usd).map(Usd);
    let judged = judged.map(|cost| cost.to_string());
    if summary.judges_items {
        row(
            "cost of judging",
            judged.ok_or("the judge does not report it"),
        );
        let all = summary.scored + summary.errors;
        let noun = format!("{}s", summary.subject().noun());
        row("not judged", Ok(part_of(summary.errors, all, &noun)));
    } else {
        of_agent(run, &mut row);
        if let Some(cost) = judged {
            row("cost of judging", Ok(cost));
        }
    }
    if let Some(reviewed) = &summary.reviewed {
        let lines = reviewed_lines(reviewed);
        row("human review", Ok(lines.join("; ")));
    }
    row(
        "gates",
        Ok(gate_counts(summary).unwrap_or_else(|| "none".to_owned())),
    );
    (known, unknown)
}

/// What the answers of an agent cost, and how long they took.
fn of_agent(run: &ReportedRun, row: &mut impl FnMut(&str, Result<String, &str>)) {
    let summary = &run.summary;
    let cost = cost_per_thousand(summary, "");
    row(
        "cost of 1,000 answers",
        cost.ok_or("the agent does not report it"),
    );
    if run.is_recorded() {
        let why = "the answers are recorded";
        return row("requests without an answer and latency", Err(why));
    }
    let (lacking, attempts) = outages(summary);
    row(
        "requests without an answer",
        Ok(part_of(lacking, attempts, "requests")),
    );
    let wait = summary.latency_s.map(|latency| {
        let [p95, p50] = [latency.p95, latency.p50].map(Seconds);
        format!("95 % within {p95}, half within {p50}")
    });
    row("time to an answer", wait.ok_or("there was no answer"));
}

/// Improvements and regressions.
fn changes(summary: &Summary, figures: &RunFigures, document: &mut Document) {
    let Some(change) = &summary.change else {
        return;
    };
    document.section("What got better and worse");
    let mut parts: Vec<_> = figures.flips.iter().collect();
    let moved = |[worse, better]: [u64; 2]| worse.max(better) - worse.min(better);
    parts.sort_by_key(|(_, flips)| std::cmp::Reverse(moved(**flips)));
    let mut lines: Vec<Line> = Vec::new();
    let subject = summary.subject();
    let by = by_majority(summary);
    let noun = match subject {
        Subject::Answers if !by.is_empty() => "sample",
        subject => subject.noun(),
    };
    if change.worse + change.better == 0 {
        lines.push(format!("No {noun} changed its verdict{by}.").into());
    } else {
        for (count, comparison, became) in [
            (change.worse, "worse", subject.became_bad()),
            (change.better, "better", subject.became_good()),
        ] {
            lines.push(match count {
                0 => format!("None got {comparison}.").into(),
                count => format!("{count} of {} {became}{by}.", counted(change.n, noun)).into(),
            });
        }
    }
    parts.truncate(NAMED);
    parts.sort_by_key(|((dimension, _), _)| dimension);
    for ((dimension, value), [worse, better]) in parts {
        lines.push(format!("{dimension} = {value}: {worse} worse, {better} better.").into());
    }
    document.blocks.push(Block::List(lines));
}

/// Risks, in words.
fn risks(run: &ReportedRun) -> Vec<Line> {
    let summary = &run.summary;
    let mut risks: Vec<Line> = vec![whole(summary)];
    risks.extend(weakest(summary));
    if let Some(change) = &summary.change {
        let text = difference(change);
        risks.push(Line::from(match change_verdict(change, summary) {
            ChangeVerdict::Worse => format!("Worse than the baseline: {text}."),
            ChangeVerdict::Better => format!("Better than the baseline: {text}."),
            ChangeVerdict::Open => format!(
                "Undecided whether it differs from the baseline: {text} where both have a verdict."
            ),
            ChangeVerdict::Indistinguishable => format!(
                "No significant difference from the baseline: {text}. A loss of up to {} points is not \
                 ruled out.",
                Points((-change.difference_ci95[0]).max(0.0)).unsigned()
            ),
        }));
    }
    let (lacking, attempts) = outages(summary);
    if lacking > 0 && !run.is_recorded() && !summary.judges_items {
        risks.push(format!("No answer in {}.", part_of(lacking, attempts, "requests")).into());
    }
    if let Some(figures) = summary.epochs.as_ref().filter(|it| it.flaky > 0) {
        risks.push(
            if summary.judges_items {
                let text = part_of(figures.flaky, figures.samples, "items");
                format!("The verdict changes between epochs on {text}.")
            } else {
                let text = part_of(figures.flaky, figures.samples, "questions");
                format!("Correct in some epochs, wrong in others: {text}.")
            }
            .into(),
        );
    }
    if let Some(name) = &summary.scorer
        && summary.is_uncalibrated(name)
    {
        let text = match summary.subject() {
            Subject::Answers => {
                "No person has checked the judge of the answers, so its figures may be inaccurate."
            }
            _ => "No person has checked the judge, so its figures may be inaccurate.",
        };
        risks.push(text.into());
    }
    for result in &summary.gates {
        let what = match result.verdict {
            Verdict::Failed => "A gate failed",
            Verdict::Inconclusive => "A gate is inconclusive",
            Verdict::Passed | Verdict::Ignored => continue,
        };
        let name = result.gate.to_string();
        // The rest is for people who read gates every day.
        let figure = gate_figure(result, &name, summary);
        let first = figure.split([';', '\n']).next().unwrap_or_default();
        let line = Line::from(format!("{what}, ")).code(name).plain(": ");
        risks.push(line.marked(first.trim_end()).plain("."));
    }
    risks
}

/// The worst plausible accuracy, from the interval's bound.
fn whole(summary: &Summary) -> Line {
    let is_rated = summary.scored > 0;
    if let Some(pairs) = items::deciding_pairs(summary) {
        let rate = items::win_rate(pairs).unwrap_or_else(|| "unknown".to_owned());
        return format!("The win rate is {rate}; 50 % means equally good.").into();
    }
    if summary.subject() == Subject::Items {
        return match (summary.accuracy_bounds, summary.accuracy_ci95) {
            (Some([low, high]), _) if low < high && is_rated => format!(
                "The pass rate is {}: some items have no verdict.",
                accuracy::spelled(summary.accuracy, Some([low, high]), None)
            )
            .into(),
            (_, Some([low, high])) if is_rated => format!(
                "Of 100 items like these, {} to {} would not pass ({}).",
                Of100(1.0 - high),
                Of100(1.0 - low),
                ci95!()
            )
            .into(),
            _ => "No item was judged.".into(),
        };
    }
    match (summary.accuracy_bounds, summary.accuracy_ci95) {
        (Some([low, high]), _) if low < high && summary.scored > 0 => format!(
            "The accuracy is {}: some questions have no verdict.",
            accuracy::spelled(summary.accuracy, Some([low, high]), None)
        )
        .into(),
        (_, Some([low, high])) if summary.scored > 0 => format!(
            "Of 100 answers to questions like these, {} to {} would be wrong ({}).",
            Of100(1.0 - high),
            Of100(1.0 - low),
            ci95!()
        )
        .into(),
        _ => "Nothing was scored.".into(),
    }
}

/// The slice that is significantly weaker than the whole.
fn weakest(summary: &Summary) -> Option<Line> {
    let (title, group) = summary
        .slices
        .iter()
        .flat_map(|(dimension, values)| {
            in_order(values)
                .into_iter()
                .map(move |(value, group)| (format!("{dimension} = {value}"), group))
        })
        .filter(|(_, group)| is_weaker(group, summary))
        .min_by(|(_, one), (_, other)| {
            let share = |group: &Group| group.accuracy.unwrap_or(1.0);
            share(one).total_cmp(&share(other))
        })?;
    let text = accuracy::spelled(group.accuracy, group.accuracy_bounds, group.accuracy_ci95);
    Some(format!("Weakest part: {title}, {text}.").into())
}

/// Whether the interval of a slice is below that of the whole.
fn is_weaker(group: &Group, summary: &Summary) -> bool {
    let is_open = accuracy::is_open(group.accuracy_bounds);
    let whole = accuracy::known(summary).map(|(_, ci95)| ci95);
    let ends = group.accuracy_ci95.zip(whole);
    !is_open && ends.is_some_and(|([_, high], [low, _])| high < low)
}
