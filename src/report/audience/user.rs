//! The report for users of the agent: three figures in plain words.

use super::outages;
use crate::figure::{Interval, Of100, Seconds, counted};
use crate::report::document::{Document, Line};
use crate::report::reported::ReportedRun;
use crate::stats::wilson95;
use crate::verdict::summary::Summary;

pub(super) fn document(run: &ReportedRun) -> Document {
    let summary = &run.summary;
    let mut document = Document::new(format!("{}: how good are the answers?", summary.eval));
    document.paragraph(requests(run));
    right(summary, &mut document);
    lacking(run, &mut document);
    wait(run, &mut document);
    document
}

/// What was evaluated, and when.
fn requests(run: &ReportedRun) -> String {
    let summary = &run.summary;
    let date = run.manifest.started_at.get(..10).unwrap_or_default();
    let checked = counted(summary.scored, "answer");
    if run.is_recorded() {
        return format!("{checked} that were given and kept before were checked on {date}.");
    }
    let requests = match (&summary.epochs, summary.skipped) {
        (Some(epochs), 0) => {
            let questions = counted(epochs.samples, "question");
            format!("{questions}, each {} times", epochs.epochs)
        }
        (Some(epochs), _) => {
            let questions = counted(epochs.samples, "question");
            format!("{questions}, each up to {} times", epochs.epochs)
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
            let text = format!("{} of 100 answers were right.", hundred(bounds));
            document.paragraph(
                Line::default()
                    .strong(text)
                    .plain(" A closer figure is not possible: some questions have no answer that could be checked."),
            );
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
                " With other questions of this kind it would very likely be {} of 100; the more are asked, the closer it can \
                 be told.",
                hundred(ci95)
            )));
        }
        _ => document.paragraph("That is not known: no answer could be checked."),
    }
    let scorer = summary.scorer.as_deref();
    if scorer.is_some_and(|name| summary.is_uncalibrated(name)) {
        document.paragraph(
            "The answers were judged by a program, and no people have checked how well it judges.",
        );
    }
    document.paragraph("A wrong answer can look as sure as a right one: check what matters.");
}

fn lacking(run: &ReportedRun, document: &mut Document) {
    document.section("How often was there no answer?");
    let (lacking, requests) = outages(&run.summary);
    if run.is_recorded() {
        document.paragraph("Not known: the answers came from the cache.");
        return;
    }
    let Some(ci95) = wilson95(lacking, requests) else {
        document.paragraph("Not known: no question was asked.");
        return;
    };
    let text = match lacking {
        0 => format!("Never, in {requests} tries."),
        1 => format!("Once in {requests} tries."),
        lacking => format!("{lacking} times in {requests} tries."),
    };
    document.paragraph(Line::default().strong(text).plain(format!(
        " In the long run it would very likely be {} of 100.",
        hundred(ci95)
    )));
}

fn wait(run: &ReportedRun, document: &mut Document) {
    document.section("How long does an answer take?");
    let latency = run.summary.latency_s.as_ref();
    let Some(latency) = latency.filter(|_| !run.is_recorded()) else {
        document.paragraph("That is not known: no answer was timed.");
        return;
    };
    let (half, most) = (waited(latency.p50), waited(latency.p95));
    let text = if half == most {
        format!("19 of 20 came within {most}.")
    } else {
        format!("Half of them came within {half}, 19 of 20 within {most}.")
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
