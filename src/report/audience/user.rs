//! The report for users of the agent: three figures in plain words.

use super::outages;
use crate::figure::{Interval, Of100, Seconds, counted};
use crate::report::document::{Document, Line};
use crate::report::items;
use crate::report::reported::{ReportedRun, agent_name, program};
use crate::report::section::accuracy;
use crate::report::section::overview::titled;
use crate::stats::wilson95;
use crate::verdict::summary::{Subject, Summary};

pub(super) fn document(run: &ReportedRun) -> Document {
    let summary = &run.summary;
    if summary.subject() != Subject::Answers {
        return judged(run);
    }
    let mut document = Document::new(format!("{}: how good are the answers?", summary.eval));
    document.paragraph(requests(run));
    right(summary, &mut document);
    lacking(run, &mut document);
    wait(run, &mut document);
    document
}

/// The report on items or pairs: nobody answered a question, so it is about the items themselves.
fn judged(run: &ReportedRun) -> Document {
    let summary = &run.summary;
    let date = run.manifest.started_at.get(..10).unwrap_or_default();
    let noun = summary.subject().noun();
    let question = match summary.subject() {
        Subject::Pairs => how_often(run),
        _ => format!("how good are the {noun}s?"),
    };
    let mut document = Document::new(format!("{}: {question}", summary.eval));
    let of = counted(summary.scored, noun);
    document.paragraph(format!("Judged on {date}: {of}."));
    if let Some(pairs) = items::deciding_pairs(summary) {
        document.section(titled(&question));
        let counts = Line::default().strong(format!("{}.", items::pair_counts(pairs)));
        document.paragraph(match pairs.win_rate.zip(pairs.ci95) {
            Some((rate, ci95)) => counts.plain(format!(
                " That is a win rate of {} of 100; ties, and pairs whose verdict changes with the order, count \
                 half. With more pairs it would very likely be {} of 100; 50 means equally good.",
                Of100(rate),
                hundred(ci95)
            )),
            None => counts,
        });
    } else {
        document.section("How many are good enough?");
        document.paragraph(passing(summary));
    }
    if let Some(points) = items::deciding_points(summary) {
        document.section("How good are they?");
        let total = std::iter::once(("overall", &points.total));
        let dimensions = points.dimensions.iter();
        let dimensions = dimensions.map(|it| (it.name.as_str(), &it.points));
        let lines = total.chain(dimensions);
        document.list(lines.map(|(name, mean)| {
            let name = name.replace('_', " ");
            Line::default()
                .plain(format!("{name}: "))
                .strong(mean.text())
        }));
    }
    let scorer = summary.scorer.as_deref();
    if scorer.is_some_and(|name| summary.is_uncalibrated(name)) {
        document.paragraph("A program judged them; no person has checked how well it judges.");
    }
    if summary.errors > 0 {
        document.section("How many could not be judged?");
        let all = summary.scored + summary.errors;
        document.paragraph(format!("{} of {}.", summary.errors, counted(all, noun)));
    }
    document
}

/// The question that the pairs of a run answer.
fn how_often(run: &ReportedRun) -> String {
    if run.summary.judges_items {
        return "how often are the items preferred?".to_owned();
    }
    let name = agent_name(run.agent(), run.model(), program(&run.manifest).as_deref());
    let name = name.unwrap_or_else(|| "A".to_owned());
    format!("how often is {name} preferred?")
}

/// How many items pass, and how many are excellent.
fn passing(summary: &Summary) -> Line {
    let line = Line::default();
    let is_open = summary.accuracy_bounds.filter(|[low, high]| low < high);
    let line = match (is_open, summary.accuracy, summary.accuracy_ci95) {
        (Some(bounds), ..) if summary.scored > 0 => {
            let missing = accuracy::missing_verdicts(summary);
            let all = summary.scored + missing;
            line.strong(format!("{} of {all} items pass", summary.correct))
                .plain(format!(
                    "; {missing} could not be judged. That is {} of 100.",
                    hundred(bounds)
                ))
        }
        (None, Some(share), Some(ci95)) => {
            let (correct, scored) = (summary.correct, summary.scored);
            line.strong(format!(
                "{correct} of {scored} items pass: {} of 100.",
                Of100(share)
            ))
            .plain(format!(
                " With other items of this kind it would very likely be {} of 100.",
                hundred(ci95)
            ))
        }
        _ => return line.plain("Unknown: no item could be judged."),
    };
    let excellent = items::deciding_points(summary).map(|points| points.excellent);
    match excellent.filter(|share| share.of > 0) {
        Some(share) => line.plain(format!(" {} of {} are excellent.", share.part, share.of)),
        None => line,
    }
}

/// What was evaluated, and when.
fn requests(run: &ReportedRun) -> String {
    let summary = &run.summary;
    let date = run.manifest.started_at.get(..10).unwrap_or_default();
    let checked = counted(summary.scored, "answer");
    if run.is_recorded() {
        return format!("{checked} from a recording, checked on {date}.");
    }
    let requests = match (&summary.epochs, summary.skipped) {
        (Some(epochs), 0) => {
            let questions = counted(epochs.samples, "question");
            format!("{questions}, {} times each", epochs.epochs)
        }
        (Some(epochs), _) => {
            let questions = counted(epochs.samples, "question");
            format!("{questions}, up to {} times each", epochs.epochs)
        }
        (None, 0) => counted(summary.samples, "question"),
        (None, skipped) => {
            let questions = counted(summary.samples, "question");
            format!("{} of {questions}", summary.samples - skipped)
        }
    };
    format!("Asked on {date}: {requests}. Checked: {checked}.")
}

/// `48 to 75`, out of a hundred.
fn hundred([low, high]: [f64; 2]) -> String {
    let (low, high) = (Of100(low).to_string(), Of100(high).to_string());
    if low == high {
        low
    } else {
        Interval([low, high]).to_string()
    }
}

fn right(summary: &Summary, document: &mut Document) {
    document.section("How often is the answer right?");
    let is_open = summary.accuracy_bounds.filter(|[low, high]| low < high);
    match (is_open, summary.accuracy, summary.accuracy_ci95) {
        (Some(bounds), ..) if summary.scored > 0 => {
            let missing = accuracy::missing_verdicts(summary);
            let all = summary.scored + missing;
            let text = format!("{} of {all} answers were right", summary.correct);
            document.paragraph(Line::default().strong(text).plain(format!(
                "; {missing} could not be checked. That is {} of 100.",
                hundred(bounds)
            )));
        }
        (None, Some(_), Some([_, high])) if summary.correct == 0 => {
            let text = format!("None of {} was right.", counted(summary.scored, "answer"));
            document.paragraph(Line::default().strong(text).plain(format!(
                " With other questions of this kind, very likely at most {} of 100 would be.",
                Of100(high)
            )));
        }
        (None, Some(share), Some(ci95)) => {
            let (correct, scored) = (summary.correct, summary.scored);
            let text = match scored {
                100 => format!("{correct} of 100 answers were right."),
                _ => format!(
                    "{correct} of {scored} answers were right: {} of 100.",
                    hundred([share; 2])
                ),
            };
            document.paragraph(Line::default().strong(text).plain(format!(
                " With other questions of this kind it would very likely be {} of 100; more questions would \
                 narrow this down.",
                hundred(ci95)
            )));
        }
        _ => document.paragraph("Unknown: no answer could be checked."),
    }
    let scorer = summary.scorer.as_deref();
    if scorer.is_some_and(|name| summary.is_uncalibrated(name)) {
        document
            .paragraph("A program judged the answers; no person has checked how well it judges.");
    }
    document
        .paragraph("A wrong answer can sound as confident as a correct one: check what matters.");
}

fn lacking(run: &ReportedRun, document: &mut Document) {
    document.section("How often was there no answer?");
    let (lacking, requests) = outages(&run.summary);
    if run.is_recorded() {
        document.paragraph("Unknown: the answers are recorded, so no request was made.");
        return;
    }
    let Some(ci95) = wilson95(lacking, requests) else {
        document.paragraph("Unknown: no question was asked.");
        return;
    };
    let text = match lacking {
        0 => "Never".to_owned(),
        1 => "Once".to_owned(),
        2 => "Twice".to_owned(),
        lacking => format!("{lacking} times"),
    };
    let text = format!("{text} in {}.", counted(requests, "request"));
    let often = match lacking {
        0 => format!("at most {}", Of100(ci95[1])),
        _ => hundred(ci95),
    };
    document.paragraph(Line::default().strong(text).plain(format!(
        " In the long run it would very likely happen in {often} of 100 requests."
    )));
}

fn wait(run: &ReportedRun, document: &mut Document) {
    document.section("How long does an answer take?");
    let latency = run.summary.latency_s.as_ref();
    let Some(latency) = latency.filter(|_| !run.is_recorded()) else {
        document.paragraph(if run.is_recorded() {
            "Unknown: recorded answers have no timing."
        } else {
            "Unknown: no answer was timed."
        });
        return;
    };
    let (half, most) = (waited(latency.p50), waited(latency.p95));
    let text = if half == most {
        format!("95 of 100 answers came within {most}.")
    } else {
        format!("Half of the answers came within {half}, 95 of 100 within {most}.")
    };
    document.paragraph(Line::default().strong(text));
}

fn waited(seconds: f64) -> String {
    if seconds < 1.0 {
        "a second".to_owned()
    } else {
        Seconds(seconds).to_string()
    }
}
