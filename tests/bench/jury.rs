//! What the figures of a jury cost: alpha, pairs, outliers, and each judge beside the panel against labels.
//!
//! `cargo bench --bench jury [-- ANSWERS]`: CPU time of the summary of answers that five judges graded and people labelled, less
//! that of the same answers without judges.

mod figure;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use evaltest::{Record, Score, Summary};
use figure::{Figure, is_bench, report};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

/// Answers of a proper run.
const ANSWERS: u32 = 10_000;
const JUDGES: u32 = 5;
/// Each measurement is the fastest of so many.
const TIMES: u32 = 5;

fn main() -> io::Result<ExitCode> {
    let default = if is_bench() { ANSWERS } else { 40 };
    let answers = std::env::args().find_map(|arg| arg.parse().ok());
    let answers = answers.unwrap_or(default);
    let mut figures = Vec::new();
    for (what, is_choice) in [("points", false), ("choices", true)] {
        let judged: Vec<Record> = (0..answers).map(|n| record(n, is_choice)).collect();
        let mut plain = judged.clone();
        for record in &mut plain {
            record.result.judged = Vec::new();
        }
        let summary = Summary::of("e", &judged);
        let jury = summary.judge.as_ref().map(|judge| &judge.juries["jury"]);
        assert!(jury.is_some_and(|jury| jury.judges.len() == JUDGES as usize && jury.labelled > 0));
        let took = cpu_s(&judged) - cpu_s(&plain);
        figures.push(Figure {
            what: format!("figures of {JUDGES} judges on {answers} answers, {what}, CPU"),
            measured: took,
            unit: "s",
            target: 0.0..=1.0,
            decides: true,
        });
    }
    report(&figures)
}

/// An answer on which the judges say this and that.
fn record(number: u32, is_choice: bool) -> Record {
    const NAMES: [&str; 3] = ["good", "fair", "poor"];
    let says = |voice: u32| {
        let draw = (number * 7 + voice * voice * 13 + number / (voice + 3)) % 24;
        (1.0 + f64::from(draw) / 6.0, NAMES[draw as usize / 8])
    };
    let (total, verdict) = says(JUDGES);
    let score = Score::binary(total >= 3.5);
    let score = if is_choice {
        score.detail("verdict", verdict)
    } else {
        score.detail("total", total)
    };
    let mut record = Record::scored(format!("q{number:05}"), score);
    let calls = (0..JUDGES).map(|judge| {
        let (total, choice) = says(judge);
        let (label, name) = says(JUDGES + 1);
        let mut vote =
            json!({ "judge": format!("j{judge}"), "total": total, "correct": total >= 3.5 });
        vote["label"] = if is_choice { json!(name) } else { json!(label) };
        if is_choice {
            vote["choice"] = json!(choice);
        }
        let scorer = format!("jury/j{judge}");
        json!({ "scorer": scorer, "key": "", "attempts": 1, "latency_s": 0.5, "vote": vote })
    });
    let calls = serde_json::from_value(calls.collect());
    record.result.judged = calls.unwrap_or_else(|error| panic!("{error}"));
    record
}

/// What the summary of these takes, at best.
fn cpu_s(records: &[Record]) -> f64 {
    let took = (0..TIMES).map(|_| {
        let time =
            || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
        let before = time();
        std::hint::black_box(Summary::of("e", records));
        time().saturating_sub(before).as_secs_f64()
    });
    took.fold(f64::INFINITY, f64::min)
}
