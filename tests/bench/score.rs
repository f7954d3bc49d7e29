//! How many lines `cargo evaltest score` does per CPU second, and in how much memory.
//!
//! `cargo bench --bench score [-- LINES]`: makes up lines as an agent on GAIA would leave them (seeded, the
//! same each time), pipes them through the command and reads what `/proc` tells of it.

mod figure;
mod process;

use std::io::{self, Read as _, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Instant;

use figure::{Figure, is_bench, report};
use process::{children_cpu_s, peak_kib};

/// Lines of a proper run.
const LINES: u64 = 4_000_000;

fn main() -> io::Result<ExitCode> {
    let default = if is_bench() { LINES } else { 10_000 };
    let lines = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(default);
    let mut figures = Vec::new();
    for threads in ["1", "2"] {
        let run = run(threads, lines)?;
        let mut figure = |what: &str, measured, unit, target, decides| {
            figures.push(Figure {
                what: format!("score, {lines} lines, {threads} threads, {what}"),
                measured,
                unit,
                target,
                decides,
            });
        };
        let told = f64::NEG_INFINITY..=f64::INFINITY;
        let (per_cpu_s, per_s) = (count(lines) / run.cpu_s, count(lines) / run.wall_s);
        figure(
            "per CPU second",
            per_cpu_s,
            "lines",
            500_000.0..=f64::INFINITY,
            true,
        );
        figure("per second", per_s, "lines", told, false);
        let peak_mib = f64::from(run.peak_kib) / 1024.0;
        figure("peak memory", peak_mib, "MiB", 0.0..=32.0, true);
    }
    report(&figures)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn count(lines: u64) -> f64 {
    lines as f64
}

struct Run {
    wall_s: f64,
    cpu_s: f64,
    peak_kib: u32,
}

fn run(threads: &str, lines: u64) -> io::Result<Run> {
    let cpu_before = children_cpu_s()?;
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"))
        .args([
            "evaltest",
            "score",
            "--scorer",
            "gaia",
            "--threads",
            threads,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take();
    let writer = thread::spawn(move || stdin.map_or(Ok(()), |stdin| write_lines(stdin, lines)));
    let (scored, peak_kib) = drain(&mut child)?;
    writer
        .join()
        .map_err(|_| io::Error::other("the writer panicked"))??;
    if !child.wait()?.success() || scored != lines {
        return Err(io::Error::other(format!(
            "{scored} of {lines} lines scored"
        )));
    }
    Ok(Run {
        wall_s: started.elapsed().as_secs_f64(),
        cpu_s: children_cpu_s()? - cpu_before,
        peak_kib,
    })
}

/// Reads all results; counts their lines and watches the peak of the memory.
fn drain(child: &mut Child) -> io::Result<(u64, u32)> {
    let id = child.id().to_string();
    let mut stdout = child
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("no pipe"))?;
    let mut buffer = vec![0; 1 << 16];
    let mut lines = 0;
    let mut peak = 0;
    for round in 0_u64.. {
        let length = stdout.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        lines += buffer[..length]
            .iter()
            .map(|&byte| u64::from(byte == b'\n'))
            .sum::<u64>();
        // A peak stays, so a look now and then is enough.
        if round % 64 == 0 {
            peak = peak.max(peak_kib(&id));
        }
    }
    Ok((lines, peak))
}

/// A line of each kind that there is, a third of the answers wrong.
fn write_lines(out: impl Write, lines: u64) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let mut seed = 7_u64;
    for line in 0..lines {
        // Knuth's generator; its upper bits are good enough to vary an input.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let number = (seed >> 40) % 100_000;
        let other = number + u64::from(line % 3 == 0);
        write!(
            out,
            r#"{{"task_id":"{seed:016x}","level":{},"#,
            1 + number % 3
        )?;
        match (seed >> 60) % 8 {
            0 => write!(out, r#""prediction":null,"ground_truth":"{number}""#),
            1 => write!(
                out,
                r#""prediction":"Red; {number}, blue","ground_truth":"red, {other}, blue""#
            ),
            2 => write!(
                out,
                r#""prediction":"Caf\u00e9 \"Zürich\" {number}","ground_truth":"café zürich {other}""#
            ),
            3 | 4 => write!(
                out,
                r#""prediction":"The sea-gull {number}.","ground_truth":"the seagull {other}""#
            ),
            5 => write!(
                out,
                r#""prediction":"${number}.50","ground_truth":"{other}.5""#
            ),
            _ => write!(out, r#""prediction":"{number}","ground_truth":"{other}""#),
        }?;
        writeln!(out, "}}")?;
    }
    out.flush()
}
