//! What a sample of a `worker` agent costs this process beside the run itself.
//!
//! `cargo bench --bench worker`

mod dataset;
mod figure;
mod process;

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use evaltest::Eval;
use figure::{Figure, is_bench, report};
use process::{children_cpu_s, peak_kib};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// The argument that makes this program the worker.
const WORKER: &str = "--answer-tasks";

fn main() -> io::Result<ExitCode> {
    if std::env::args().any(|arg| arg == WORKER) {
        return answer_tasks();
    }
    let samples = if is_bench() { 10_000 } else { 50 };
    let folder = tempfile::tempdir()?;
    let program = std::env::current_exe()?;
    let worker = |shape: &str| {
        let program = program.display();
        format!("{{ type: worker, command: [{program}, {WORKER}], {shape} }}")
    };
    let one = worker("processes: 1, in_flight: 1");
    let many = worker("processes: 2, in_flight: 8");
    let mut best = [Cost::default(); 3];
    for _ in 0..3 {
        for (agent, best) in ["echo", &one, &many].into_iter().zip(&mut best) {
            let cost = measure(folder.path(), samples, agent)?;
            *best = best.better(cost);
        }
    }
    let [echo, one, many] = best;
    let figure = |what: &str, seconds: f64, limit: f64| Figure {
        what: format!("{samples} samples, {what}, a sample"),
        measured: seconds * 1000.0 / f64::from(samples),
        unit: "ms",
        target: if limit.is_finite() { 0.0 } else { -limit }..=limit,
        decides: limit.is_finite(),
    };
    report(&[
        figure(
            "own CPU of a round trip, one at a time",
            one.cpu - echo.cpu,
            0.1,
        ),
        figure(
            "own CPU of a round trip, 2 x 8 at once",
            many.cpu - echo.cpu,
            0.04,
        ),
        figure("own CPU of the run without it", echo.cpu, f64::INFINITY),
        figure(
            "CPU of the workers, 2 x 8 at once",
            many.workers,
            f64::INFINITY,
        ),
        figure("wall time, one at a time", one.wall, f64::INFINITY),
        figure("wall time, 2 x 8 at once", many.wall, f64::INFINITY),
        Figure {
            what: "peak memory".to_owned(),
            measured: f64::from(peak_kib("self")) / 1024.0,
            unit: "MiB",
            target: 0.0..=80.0,
            decides: true,
        },
    ])
}

#[derive(Clone, Copy)]
/// In seconds.
struct Cost {
    cpu: f64,
    workers: f64,
    wall: f64,
}

impl Default for Cost {
    fn default() -> Self {
        Self {
            cpu: f64::INFINITY,
            workers: f64::INFINITY,
            wall: f64::INFINITY,
        }
    }
}

impl Cost {
    fn better(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.min(other.cpu),
            workers: self.workers.min(other.workers),
            wall: self.wall.min(other.wall),
        }
    }
}

/// Runs an eval, checks what it says, and gives what that cost this process.
fn measure(folder: &Path, samples: u32, agent: &str) -> io::Result<Cost> {
    let (spec, _) = dataset::write(folder, samples, agent)?;
    let eval = Eval::from_yaml(&spec).map_err(io::Error::other)?;
    let (cpu, workers, started) = (own_cpu_s(), children_cpu_s()?, Instant::now());
    let run = eval.run().map_err(io::Error::other)?;
    let cost = Cost {
        cpu: own_cpu_s() - cpu,
        workers: children_cpu_s()? - workers,
        wall: started.elapsed().as_secs_f64(),
    };
    // Every third question ends with another number than its answer.
    let expect = u64::from(samples - samples.div_ceil(3));
    if (run.summary.correct, run.summary.errors) == (expect, 0) {
        return Ok(cost);
    }
    let (correct, errors) = (run.summary.correct, run.summary.errors);
    let message = format!("{agent}: {correct} of {expect} correct, {errors} errors");
    Err(io::Error::other(message))
}

/// Repeats every question.
fn answer_tasks() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let task: Value = serde_json::from_str(&line?)?;
        writeln!(
            out,
            "{}",
            json!({"id": task["id"], "answer": task["prompt"]})
        )?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn own_cpu_s() -> f64 {
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime));
    time.unwrap_or_default().as_secs_f64()
}
