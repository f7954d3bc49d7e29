//! What it costs to merge: eight shards of 125,000 samples, CPU and memory, beside a copy of the same files. All bytes are
//! hashed as they are read and as they are written: a sample has 2.4 KB of them, and with the instructions of GAIA, which
//! would stand in each of a million records, half as many again and as much more to do.
//!
//! `cargo bench --bench merge`

mod dataset;
mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};

const SHARDS: u32 = 8;

fn main() -> io::Result<ExitCode> {
    let samples: u32 = if is_bench() { 1_000_000 } else { 400 };
    let folder = tempfile::tempdir()?;
    let home = folder.path();
    dataset::write(home, samples, "echo")?;
    for shard in 1..=SHARDS {
        let shard = format!("{shard}/{SHARDS}");
        let run = [
            "run",
            "bench.yaml",
            "--set",
            "prompt=none",
            "--shard",
            &shard,
        ];
        let mut run = evaltest(home, &run);
        program::used(&mut run, &home.join("shard"))?;
    }
    // Nothing but the shards is to be read when it is measured.
    fs::remove_file(home.join("questions.jsonl"))?;
    let (mut merged, mut copied) = (Vec::new(), f64::INFINITY);
    let times = if is_bench() { 3 } else { 1 };
    for _ in 0..times {
        let mut command = evaltest(home, &["merge", "runs", "-o", "merged"]);
        merged.push(program::used(&mut command, &home.join("merge"))?);
        fs::remove_dir_all(home.join("merged"))?;
        let mut command = Command::new("cp");
        command.args(["-r", "runs", "copy"]).current_dir(home);
        let used = program::used(&mut command, &home.join("copy"))?;
        copied = copied.min(used.cpu_s);
        fs::remove_dir_all(home.join("copy"))?;
    }
    let merged = merged.into_iter().reduce(|best, used| best.better(&used));
    let merged = merged.ok_or_else(|| io::Error::other("nothing was measured"))?;
    let figure = |what: &str, measured, unit, limit: f64| Figure {
        what: format!("{SHARDS} shards, {samples} samples, {what}"),
        measured,
        unit,
        target: if limit < f64::INFINITY {
            0.0..=limit
        } else {
            f64::NEG_INFINITY..=limit
        },
        decides: limit < f64::INFINITY,
    };
    report(&[
        figure("CPU", merged.cpu_s, "s", 10.0),
        figure("wall time", merged.wall_s, "s", f64::INFINITY),
        figure("peak memory", merged.peak_mib, "MiB", 100.0),
        figure(
            "CPU by that of a copy",
            merged.cpu_s / copied,
            "",
            f64::INFINITY,
        ),
    ])
}

fn evaltest(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command.current_dir(home).arg("evaltest").args(arguments);
    command.env_remove("CI");
    command
}
