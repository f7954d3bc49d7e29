//! How many lines `cargo evaltest score` does per CPU second, in how much memory, and how that compares with
//! the programs whose verdicts its scorers reproduce.
//!
//! `cargo bench --bench score [-- LINES]`: writes lines as an agent on GAIA would leave them (seeded, the same
//! each time) into a file, and measures whole processes on it. The programs to compare with are small ones of
//! our own in `originals/`, written from the published rules; where there is no `python3` or `node`, theirs
//! are skipped, and said so.

mod answers;
mod figure;
mod process;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use figure::{Figure, is_bench, report};
use process::{children_cpu_s, peak_kib};

/// Lines of a proper run.
const LINES: u64 = 1_000_000;

/// How often the memory of a running program is looked at. A peak stays, so only the last moment before the end
/// can be missed.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Nothing is expected of a figure.
const UNLIMITED: std::ops::RangeInclusive<f64> = f64::NEG_INFINITY..=f64::INFINITY;

/// A scorer at parity with a program, and a program like that.
struct Parity {
    scorer: &'static str,
    interpreter: &'static str,
    program: &'static [&'static str],
}

const PARITIES: [Parity; 5] = [
    Parity {
        scorer: "gaia",
        interpreter: "python3",
        program: &["gaia.py"],
    },
    Parity {
        scorer: "quasi_exact",
        interpreter: "python3",
        program: &["quasi_exact.py"],
    },
    Parity {
        scorer: "{ type: substring, compat: true }",
        interpreter: "node",
        program: &["substring.js"],
    },
    Parity {
        scorer: "qa_f1",
        interpreter: "python3",
        program: &["qa_f1.py"],
    },
    Parity {
        scorer: "qa_f1_format",
        interpreter: "python3",
        program: &["qa_f1.py", "format"],
    },
];

fn main() -> io::Result<ExitCode> {
    let default = if is_bench() { LINES } else { 2_000 };
    let lines = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(default);
    let folder = tempfile::tempdir()?;
    let (large, small) = (folder.path().join("large"), folder.path().join("small"));
    answers::write(&large, lines)?;
    // Memory must not grow with the lines.
    answers::write(&small, lines / 10)?;
    let mut figures = Vec::new();
    for parity in &PARITIES {
        let used = best(3, || scored(parity.scorer, "1", &large))?;
        let little = best(1, || scored(parity.scorer, "1", &small))?;
        let name = parity.scorer;
        let mut figure = |what: String, measured, unit, target| {
            figures.push(Figure {
                what: format!("score by {name}, {what}"),
                measured,
                unit,
                target,
                decides: true,
            });
        };
        let per_million = used.cpu_s * 1e6 / count(lines);
        figure(
            "CPU for 1,000,000 lines".into(),
            per_million,
            "s",
            0.0..=10.0,
        );
        figure(
            "lines per CPU second".into(),
            count(lines) / used.cpu_s,
            "lines",
            UNLIMITED,
        );
        figure("peak memory".into(), used.peak_mib, "MiB", 0.0..=32.0);
        figure(
            "memory beyond that for a tenth of the lines".into(),
            used.peak_mib - little.peak_mib,
            "MiB",
            -32.0..=2.0,
        );
        // Time grows with the lines, and Python has more than enough of a tenth of them.
        let (file, lines_of_it) = match parity.interpreter {
            "python3" => (&small, lines / 10),
            _ => (&large, lines),
        };
        if let Some(original) = original(parity, file, lines_of_it)? {
            let ratio = original / (used.cpu_s / count(lines));
            let what = format!(
                "times the lines per CPU second of {}",
                parity.program.join(" ")
            );
            figure(what, ratio, "", 10.0..=f64::INFINITY);
        }
    }
    let two = best(1, || scored("gaia", "2", &large))?;
    figures.push(Figure {
        what: "score by gaia, 2 threads, lines per second".into(),
        measured: count(lines) / two.wall_s,
        unit: "lines",
        target: UNLIMITED,
        decides: false,
    });
    report(&figures)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn count(lines: u64) -> f64 {
    lines as f64
}

#[derive(Clone, Copy)]
struct Used {
    wall_s: f64,
    cpu_s: f64,
    peak_mib: f64,
}

/// The lowest time of some runs, since others on the machine only ever add, and the highest memory.
fn best(runs: u32, run: impl Fn() -> io::Result<Used>) -> io::Result<Used> {
    let first = run()?;
    (1..runs).try_fold(first, |best, _| {
        let next = run()?;
        Ok(Used {
            wall_s: best.wall_s.min(next.wall_s),
            cpu_s: best.cpu_s.min(next.cpu_s),
            peak_mib: best.peak_mib.max(next.peak_mib),
        })
    })
}

/// What it takes to score a file.
fn scored(scorer: &str, threads: &str, file: &Path) -> io::Result<Used> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command
        .args([
            "evaltest",
            "score",
            "--scorer",
            scorer,
            "--threads",
            threads,
        ])
        .arg(file);
    run(&mut command)
}

/// Seconds of CPU that the program to compare with takes for a line; none without its interpreter.
fn original(parity: &Parity, file: &Path, lines: u64) -> io::Result<Option<f64>> {
    let Parity {
        interpreter,
        program,
        ..
    } = parity;
    let there = Command::new(interpreter)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !there.is_ok_and(|status| status.success()) {
        let skipped = program.join(" ");
        writeln!(
            io::stderr(),
            "skipped {skipped}: there is no `{interpreter}`"
        )?;
        return Ok(None);
    }
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/bench/originals"
    ));
    let measure = || {
        let mut command = Command::new(interpreter);
        // No compiled files beside the sources.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
            .arg(folder.join(program[0]))
            .arg(file)
            .args(&program[1..]);
        run(&mut command)
    };
    Ok(Some(best(2, measure)?.cpu_s / count(lines)))
}

/// Runs a program to its end. What it writes goes nowhere, since a pipe would take time of its own.
fn run(command: &mut Command) -> io::Result<Used> {
    let cpu_before = children_cpu_s()?;
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let id = child.id().to_string();
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak = peak.max(peak_kib(&id));
        thread::sleep(POLL_INTERVAL);
    };
    if !status.success() {
        return Err(io::Error::other(format!("{command:?} failed")));
    }
    Ok(Used {
        wall_s: started.elapsed().as_secs_f64(),
        cpu_s: children_cpu_s()? - cpu_before,
        peak_mib: f64::from(peak) / 1024.0,
    })
}
