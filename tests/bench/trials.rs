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
use evaltest::artifact::RunDir;
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
    let (spec, data_mib) = dataset::write(folder.path(), samples, "echo")?;
    let runs = folder.path().join("runs");
    let mut test = Command::new(std::env::current_exe()?);
    test.env(SPEC, &spec)
        .env_remove("CI")
        .env_remove("RUST_TEST_THREADS")
        .current_dir(folder.path());
    // Wrong answers fail without a baseline; accepted, they do not.
    let first = Eval::from_yaml(&spec).and_then(|eval| eval.run());
    let first = first.map_err(io::Error::other)?;
    let accepted =
        RunDir::open(&first.dir).and_then(|dir| evaltest::snapshot::accept(&dir, None, false));
    accepted.map_err(io::Error::other)?;
    let mut best = program::run(&mut test, &runs)?;
    for _ in 0..2 {
        let usage = program::run(&mut test, &runs)?;
        best.cpu_s = best.cpu_s.min(usage.cpu_s);
        best.wall_s = best.wall_s.min(usage.wall_s);
        best.peak_mib = best.peak_mib.max(usage.peak_mib);
        best.first_sample_ms = best.first_sample_ms.min(usage.first_sample_ms);
    }
    let figure = |what: &str, measured, unit, limit, decides| Figure {
        what: format!("{samples} trials with snapshots, {what}"),
        measured,
        unit,
        target: 0.0..=limit,
        decides,
    };
    report(&[
        figure("CPU", best.cpu_s, "s", 1.5, true),
        figure("peak memory", best.peak_mib, "MiB", 64.0 + data_mib, true),
        figure(
            "start to first sample",
            best.first_sample_ms,
            "ms",
            150.0,
            false,
        ),
        Figure {
            target: f64::NEG_INFINITY..=f64::INFINITY,
            ..figure("wall", best.wall_s, "s", 0.0, false)
        },
    ])
}
