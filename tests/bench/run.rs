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
    let folder = tempfile::tempdir()?;
    let (few, data_mib) = measure(folder.path(), small)?;
    let home = folder.path().join(small.to_string());
    accept(&home)?;
    let again = program::run(
        &mut evaltest(&home, &["run", "bench.yaml"]),
        &home.join("runs"),
    )?;
    let (many, _) = measure(folder.path(), 10 * small)?;
    let figure = |what: String, measured, unit, limit, decides| Figure {
        what,
        measured,
        unit,
        target: 0.0..=limit,
        decides,
    };
    let large = 10 * small;
    report(&[
        figure(format!("{small} samples, CPU"), few.cpu_s, "s", 1.0, true),
        figure(
            format!("{small} samples, peak memory"),
            few.peak_mib,
            "MiB",
            64.0 + data_mib,
            true,
        ),
        figure(
            format!("{large} samples, CPU over that of {small}"),
            many.cpu_s / few.cpu_s,
            "times",
            11.0,
            true,
        ),
        figure(
            format!("{large} samples, peak memory over that of {small}"),
            many.peak_mib / few.peak_mib,
            "times",
            11.0,
            true,
        ),
        figure(
            format!("{small} samples, start to first sample"),
            few.first_sample_ms,
            "ms",
            150.0,
            false,
        ),
        figure(
            format!("{small} samples, start to first sample with a baseline"),
            again.first_sample_ms,
            "ms",
            150.0,
            false,
        ),
        Figure {
            what: format!("{small} samples, wall"),
            measured: few.wall_s,
            unit: "s",
            target: f64::NEG_INFINITY..=f64::INFINITY,
            decides: false,
        },
    ])
}

/// The better of some runs; and the dataset's size in MiB.
fn measure(folder: &Path, samples: u32) -> io::Result<(program::Usage, f64)> {
    let home = folder.join(samples.to_string());
    let (_, data_mib) = dataset::write(&home, samples, "echo")?;
    let mut best = None::<program::Usage>;
    for _ in 0..3 {
        let usage = program::run(
            &mut evaltest(&home, &["run", "bench.yaml"]),
            &home.join("runs"),
        )?;
        best = Some(match best {
            None => usage,
            // Noise only ever adds.
            Some(best) => program::Usage {
                cpu_s: usage.cpu_s.min(best.cpu_s),
                wall_s: usage.wall_s.min(best.wall_s),
                peak_mib: usage.peak_mib.max(best.peak_mib),
                first_sample_ms: usage.first_sample_ms.min(best.first_sample_ms),
            },
        });
    }
    let best = best.ok_or_else(|| io::Error::other("nothing was measured"))?;
    Ok((best, data_mib))
}

fn accept(home: &Path) -> io::Result<()> {
    let run = program::last_run(&home.join("runs"))?;
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
