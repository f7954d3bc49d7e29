//! How close conversations come to the ideal wall time, and the CPU that a turn costs, when all the time is the endpoint's.
//!
//! `cargo bench --bench conversations`: conversations of eight turns, with an endpoint of 100 ms of latency that is a process
//! of its own, so that its CPU does not count.

mod endpoint;
mod figure;

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use evaltest::Eval;
use figure::{Figure, is_bench, report};
use rustix::time::{ClockId, clock_gettime};

const PAUSE: Duration = Duration::from_millis(100);
const TURNS: u32 = 8;

fn main() -> io::Result<ExitCode> {
    if endpoint::is_requested() {
        return endpoint::serve(PAUSE, r#"{"answer": "4"}"#);
    }
    let (mut server, url) = endpoint::start()?;
    let (conversations, at_once): (u32, u32) = if is_bench() { (500, 50) } else { (20, 10) };
    let measured = measure(&url, conversations, at_once);
    server.kill()?;
    server.wait()?;
    report(&measured?)
}

fn measure(url: &str, conversations: u32, at_once: u32) -> io::Result<[Figure; 2]> {
    let folder = tempfile::tempdir()?;
    let mut lines = String::new();
    for number in 0..conversations {
        let turns: Vec<String> = (1..=TURNS)
            .map(|turn| format!(r#"{{"user": "Question {turn} of {number}: how much is 2 + 2?"}}"#))
            .collect();
        let turns = turns.join(", ");
        let _ = writeln!(
            lines,
            r#"{{"id": "c{number}", "turns": [{turns}], "ground_truth": "4"}}"#
        );
    }
    std::fs::write(folder.path().join("c.jsonl"), lines)?;
    let spec = folder.path().join("c.yaml");
    let text = format!(
        "benchmark: {{ type: conversations, path: c.jsonl }}\n\
         agent: {{ type: http, url: \"{url}\", body: {{ messages: \"{{messages}}\" }}, answer: /answer }}\n\
         limits: {{ concurrency: {at_once} }}\noutput_root: runs\ngates: []\n"
    );
    std::fs::write(&spec, text)?;
    // From reading the spec to the finished run directory.
    let (started, cpu) = (Instant::now(), own_cpu_s());
    let eval = Eval::from_yaml(&spec).map_err(io::Error::other)?;
    let run = eval.run().map_err(io::Error::other)?;
    let (took, cpu) = (started.elapsed(), own_cpu_s() - cpu);
    if run.summary.correct != u64::from(conversations) {
        return Err(io::Error::other("conversations failed"));
    }
    let turns = conversations * TURNS;
    let ideal = PAUSE * turns / at_once;
    let what =
        format!("{conversations} conversations of {TURNS} turns of {PAUSE:?}, {at_once} at once");
    Ok([
        Figure {
            what: what.clone(),
            measured: 100.0 * ideal.as_secs_f64() / took.as_secs_f64(),
            unit: "% of the ideal",
            target: 90.0..=f64::INFINITY,
            decides: false,
        },
        Figure {
            what: format!("{what}, own CPU a turn"),
            measured: 1000.0 * cpu / f64::from(turns),
            unit: "ms",
            target: 0.0..=0.5,
            decides: true,
        },
    ])
}

fn own_cpu_s() -> f64 {
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime));
    time.unwrap_or_default().as_secs_f64()
}
