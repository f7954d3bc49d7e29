//! How many lines `cargo evaltest score` does per CPU second, and in how much memory.
//!
//! `cargo bench --bench score [-- LINES]`: makes up lines as an agent on GAIA would leave them (seeded, the
//! same each time), pipes them through the command and reads what `/proc` tells of it (Linux only).

use std::fs;
use std::io::{self, Read as _, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

/// Lines of a proper run.
const LINES: u64 = 4_000_000;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Without `--bench` it is `cargo test` that asks whether this still works.
    let default = if args.iter().any(|arg| arg == "--bench") {
        LINES
    } else {
        10_000
    };
    let lines = args
        .iter()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(default);
    let out = &mut io::stdout().lock();
    writeln!(
        out,
        "threads     lines  lines/s wall  lines/s CPU  peak RSS"
    )?;
    for threads in ["1", "2"] {
        let run = run(threads, lines)?;
        writeln!(
            out,
            "{threads:>7} {lines:>9} {:>13.0} {:>12.0} {:>5} KiB",
            count(lines) / run.wall_s,
            count(lines) / run.cpu_s,
            run.peak_kib,
        )?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn count(lines: u64) -> f64 {
    lines as f64
}

struct Run {
    wall_s: f64,
    cpu_s: f64,
    peak_kib: u64,
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
fn drain(child: &mut Child) -> io::Result<(u64, u64)> {
    let status = format!("/proc/{}/status", child.id());
    let mut stdout = child
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("no pipe"))?;
    let mut buffer = vec![0; 1 << 16];
    let mut lines = 0;
    let mut peak_kib = 0;
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
            peak_kib = peak_kib.max(peak_of(&fs::read_to_string(&status)?));
        }
    }
    Ok((lines, peak_kib))
}

fn peak_of(status: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

/// The CPU time of all children that have ended, in user and kernel mode.
fn children_cpu_s() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field, the name, may hold spaces; `cutime` and `cstime` are the 16th and 17th.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    // Linux shows every program a clock of 100 ticks per second here.
    Ok(ticks / 100.0)
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
