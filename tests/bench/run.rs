//! A whole run of the `echo` agent through the command line: CPU, memory, time to the first sample.
//!
//! `cargo bench --bench run`

mod dataset;
mod figure;
mod process;
mod program;

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};

fn main() -> io::Result<ExitCode> {
    let small = if is_bench() { 10_000 } else { 200 };
    let large = 10 * small;
    let folder = tempfile::tempdir()?;
    let (few, data_mib) = measure(folder.path(), small)?;
    let home = folder.path().join(small.to_string());
    accept(&home)?;
    let compared = best_of_three(&home)?;
    let (many, many_mib) = measure(folder.path(), large)?;
    // What stays of a sample in memory.
    let rows_mib = f64::from(large) * 512.0 / f64::from(1 << 20);
    let figure = |samples: u32, what: &str, measured, unit, limit: f64, decides| Figure {
        what: format!("{samples} samples, {what}"),
        measured,
        unit,
        target: if limit < f64::INFINITY { 0.0 } else { -limit }..=limit,
        decides,
    };
    let (first, unlimited) = ("start to first sample", f64::INFINITY);
    let ratio = format!("CPU over that of {small}");
    let mut figures = vec![
        figure(small, "CPU", few.cpu_s, "s", 0.6, true),
        figure(
            small,
            "peak memory",
            few.peak_mib,
            "MiB",
            64.0 + data_mib,
            true,
        ),
        figure(small, first, few.first_sample_ms, "ms", 80.0, false),
        figure(small, "wall", few.wall_s, "s", unlimited, false),
        figure(
            small,
            "baseline, CPU",
            compared.cpu_s,
            "s",
            unlimited,
            false,
        ),
        figure(
            small,
            "baseline, peak memory",
            compared.peak_mib,
            "MiB",
            64.0 + data_mib,
            true,
        ),
        figure(
            small,
            "baseline, start to first sample",
            compared.first_sample_ms,
            "ms",
            150.0,
            false,
        ),
        figure(large, "CPU", many.cpu_s, "s", unlimited, false),
        figure(large, &ratio, many.cpu_s / few.cpu_s, "times", 11.0, true),
        figure(
            large,
            "peak memory",
            many.peak_mib,
            "MiB",
            64.0 + many_mib + rows_mib,
            true,
        ),
        figure(large, first, many.first_sample_ms, "ms", unlimited, false),
    ];
    figures.extend(parts(
        &folder.path().join(large.to_string()),
        large,
        many.cpu_s,
    )?);
    report(&figures)
}

/// What parts of an eval take, of which a whole run took `whole_s` and is in `home`.
fn parts(home: &Path, samples: u32, whole_s: f64) -> io::Result<Vec<Figure>> {
    let of = |part: &'static [&'static str]| best_of_three_with(home, part);
    let accepted = home.join("accepted");
    std::fs::rename(program::last_run(&home.join("runs"))?, &accepted)?;
    let first = of(&["--shard", "1/100"])?;
    // The others read what it has found.
    let runs = home.join("runs");
    let other = |shard: &str| {
        let mut run = evaltest(home, &["run", "bench.yaml", "--shard", shard]);
        program::run(&mut run, &runs)
    };
    let other = other("2/100")?.better(&other("3/100")?);
    let limited = of(&["--limit", "10"])?;
    accept_run(home, &accepted)?;
    let compared = of(&["--limit", "10"])?;
    let figure = |what: &str, measured, unit, target, decides| Figure {
        what: format!("{samples} samples, {what}"),
        measured,
        unit,
        target: 0.0..=target,
        decides,
    };
    let baseline = "`--limit 10`, with a baseline over without";
    Ok(vec![
        figure(
            "100 shards over one run, CPU",
            (first.cpu_s + 99.0 * other.cpu_s) / whole_s,
            "times",
            1.5,
            false,
        ),
        figure(
            "100 shards without a common disk over one run, CPU",
            100.0 * first.cpu_s / whole_s,
            "times",
            f64::INFINITY,
            false,
        ),
        figure(
            &format!("{baseline}, CPU"),
            compared.cpu_s / limited.cpu_s,
            "times",
            1.5,
            true,
        ),
        figure(
            &format!("{baseline}, start to first sample"),
            compared.first_sample_ms / limited.first_sample_ms,
            "times",
            1.5,
            false,
        ),
    ])
}

/// What a run over that many samples takes; and the dataset's size in MiB.
fn measure(folder: &Path, samples: u32) -> io::Result<(program::Usage, f64)> {
    let home = folder.join(samples.to_string());
    let (_, data_mib) = dataset::write(&home, samples, "echo")?;
    Ok((best_of_three(&home)?, data_mib))
}

/// The better of some runs: noise only ever adds.
fn best_of_three(home: &Path) -> io::Result<program::Usage> {
    best_of_three_with(home, &[])
}

/// The same of a part.
fn best_of_three_with(home: &Path, part: &[&str]) -> io::Result<program::Usage> {
    let runs = home.join("runs");
    if runs.exists() {
        std::fs::remove_dir_all(&runs)?;
    }
    let run = || {
        let mut command = evaltest(home, &["run", "bench.yaml"]);
        program::run(command.args(part), &runs)
    };
    let mut best = run()?;
    for _ in 0..2 {
        // Hundreds of megabytes that the kernel has yet to write out would slow the next run.
        std::fs::remove_dir_all(&runs)?;
        best = best.better(&run()?);
    }
    Ok(best)
}

fn accept(home: &Path) -> io::Result<()> {
    accept_run(home, &program::last_run(&home.join("runs"))?)
}

fn accept_run(home: &Path, run: &Path) -> io::Result<()> {
    let accepted = evaltest(home, &["accept"]).arg(run).output()?;
    if accepted.status.success() {
        return Ok(());
    }
    Err(io::Error::other(
        String::from_utf8_lossy(&accepted.stderr).into_owned(),
    ))
}

fn evaltest(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command.current_dir(home).arg("evaltest").args(arguments);
    command.env_remove("CI");
    command
}
