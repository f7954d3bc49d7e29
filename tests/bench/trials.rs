//! Ten thousand samples as libtest cases, each compared with its snapshot.
//!
//! `cargo bench --bench trials`: the benchmark executes itself as the test binary that it measures.

mod dataset;
mod figure;
mod process;
mod program;

use std::io;
use std::process::{Command, ExitCode, Termination};

use evaltest::Eval;
use evaltest::engine::snapshot::{Acceptance, accept};
use evaltest::engine::store::RunDir;
use figure::{Figure, is_bench, report};

/// Set in the process that is the test binary.
const SPEC: &str = "EVALTEST_BENCH_SPEC";

fn main() -> io::Result<ExitCode> {
    if let Some(spec) = std::env::var_os(SPEC) {
        let eval = Eval::from_yaml(spec).map_err(io::Error::other)?;
        return Ok(evaltest::run([eval]).map_err(io::Error::other)?.report());
    }
    let samples = if is_bench() { 10_000 } else { 200 };
    let folder = tempfile::tempdir()?;
    let (spec, _) = dataset::write(folder.path(), samples, "echo")?;
    let runs = folder.path().join("runs");
    let mut test = Command::new(std::env::current_exe()?);
    test.env(SPEC, &spec)
        .env_remove("CI")
        .env_remove("RUST_TEST_THREADS")
        .current_dir(folder.path());
    // Wrong answers fail without a baseline; accepted, they do not.
    let first = Eval::from_yaml(&spec).and_then(|eval| eval.run());
    let first = first.map_err(io::Error::other)?;
    let snapshots = folder.path().join("snapshots/bench");
    let accepted =
        RunDir::open(&first.dir).and_then(|dir| accept(&[dir], &snapshots, &Acceptance::default()));
    accepted.map_err(io::Error::other)?;
    let mut best = program::run(&mut test, &runs)?;
    for _ in 0..2 {
        best = best.better(&program::run(&mut test, &runs)?);
    }
    let figure = |what: &str, measured, unit, limit: f64, decides| Figure {
        what: format!("{samples} trials with snapshots, {what}"),
        measured,
        unit,
        target: if limit < f64::INFINITY { 0.0 } else { -limit }..=limit,
        decides,
    };
    let unlimited = f64::INFINITY;
    report(&[
        figure("CPU", best.cpu_s, "s", 0.9, true),
        figure(
            "start to first sample",
            best.first_sample_ms,
            "ms",
            150.0,
            false,
        ),
        figure("peak memory", best.peak_mib, "MiB", unlimited, false),
        figure("wall", best.wall_s, "s", unlimited, false),
    ])
}
