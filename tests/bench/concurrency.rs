//! How close a run comes to the ideal wall time when all the time is the agent's.
//!
//! `cargo bench --bench concurrency`: through `Eval::run()`, and as trials in a process of its own.

mod dataset;
mod figure;

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio, Termination};
use std::time::{Duration, Instant};

use evaltest::Gaia;
use evaltest::{Assert, Eval, Output, Task};
use figure::{Figure, is_bench, report};

/// Set in the process that is the test binary.
const FOLDER: &str = "EVALTEST_BENCH_FOLDER";
const PAUSE: Duration = Duration::from_millis(100);
const AT_ONCE: u32 = 100;

fn main() -> io::Result<ExitCode> {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let conclusion = evaltest::run([eval(folder.as_ref())?]);
        return Ok(conclusion.map_err(io::Error::other)?.report());
    }
    let samples = if is_bench() { 2000 } else { 200 };
    let folder = tempfile::tempdir()?;
    dataset::write(folder.path(), samples, "echo")?;
    let ideal = PAUSE * samples / AT_ONCE;
    let eval = eval(folder.path())?;
    let started = Instant::now();
    let run = eval.run().map_err(io::Error::other)?;
    let library = started.elapsed();
    if run.records.len() != samples as usize {
        return Err(io::Error::other("samples are missing"));
    }
    let started = Instant::now();
    let status = Command::new(std::env::current_exe()?)
        .env(FOLDER, folder.path())
        .env_remove("RUST_TEST_THREADS")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let trials = started.elapsed();
    if !status.success() {
        return Err(io::Error::other("the trials failed"));
    }
    let figure = |what: &str, took: Duration| Figure {
        what: format!("{samples} samples of {PAUSE:?}, {AT_ONCE} at once, {what}"),
        measured: 100.0 * ideal.as_secs_f64() / took.as_secs_f64(),
        unit: "% of the ideal",
        target: 95.0..=f64::INFINITY,
        decides: false,
    };
    report(&[figure("Eval::run()", library), figure("as trials", trials)])
}

fn eval(folder: &Path) -> io::Result<Eval> {
    let agent = |task: &Task| {
        std::thread::sleep(PAUSE);
        Ok(Output::text(task.question()))
    };
    let gaia = Gaia::open(folder.join("questions.jsonl")).map_err(io::Error::other)?;
    Ok(Eval::new(gaia, agent)
        .assert(Assert::Off)
        .concurrency(AT_ONCE as usize)
        .output_root(folder.join("runs"))
        .snapshots(folder.join("snapshots")))
}
