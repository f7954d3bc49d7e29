//! The memory of commands that read what is stored: of a run that goes on, of `show`, of `accept`, of `gate`.
//!
//! `cargo bench --bench stored`: a million samples, some minutes, and 6 GB of disk in the folder for temporary files.

mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};

fn main() -> io::Result<ExitCode> {
    let mut figures = Vec::new();
    // Samples, and MiB that a run of them may take which goes on.
    let sizes: &[(u32, f64)] = if is_bench() {
        &[(200_000, 200.0), (1_000_000, 400.0)]
    } else {
        &[(200, 200.0)]
    };
    for (samples, resumed) in sizes {
        let folder = tempfile::tempdir()?;
        write(folder.path(), *samples)?;
        let runs = folder.path().join("runs");
        let requested = program::run(&mut evaltest(folder.path(), &["run", "bench.yaml"]), &runs)?;
        let dir = program::last_run(&runs)?;
        let mut measure = |what: &str, arguments: &[&str], most: f64| -> io::Result<()> {
            let mut command = evaltest(folder.path(), arguments);
            let used = program::used(command.arg(&dir), &runs)?;
            figures.extend(usage_figures(*samples, what, &used, most));
            Ok(())
        };
        measure("resumed", &["run", "--resume"], *resumed)?;
        measure("shown", &["show"], 100.0)?;
        measure("shown as JSON", &["show", "--json"], 100.0)?;
        measure("accepted", &["accept"], 400.0)?;
        measure("judged with its baseline", &["gate"], 100.0)?;
        let mut command = evaltest(folder.path(), &["show"]);
        command.arg(&dir).arg(format!("q{}", samples - 1));
        let used = program::used(&mut command, &runs)?;
        figures.extend(usage_figures(*samples, "one shown", &used, 100.0));
        figures.extend(usage_figures(*samples, "asked", &requested, f64::INFINITY));
    }
    report(&figures)
}

/// The memory and the time that a command took.
fn usage_figures(samples: u32, what: &str, used: &program::Usage, most: f64) -> [Figure; 2] {
    let figure = |of: &str, measured: f64, unit: &'static str, most: f64| Figure {
        what: format!("{samples} samples {what}, {of}"),
        measured,
        unit,
        target: if most.is_finite() { 0.0 } else { -most }..=most,
        decides: true,
    };
    [
        figure("peak memory", used.peak_mib, "MiB", most),
        figure("CPU", used.cpu_s, "s", f64::INFINITY),
    ]
}

/// Writes an eval of so many short questions, two of three of which hold their own answer.
fn write(folder: &Path, samples: u32) -> io::Result<()> {
    fs::write(
        folder.join("bench.yaml"),
        "name: bench\nbenchmark: { type: qa, path: questions.jsonl }\nscorer: gaia\nagent: echo\n\
         snapshot: { answers: plain, path: snapshots }\noutput_root: runs\ngates: [accuracy >= 0.5]\n",
    )?;
    let mut out = BufWriter::new(fs::File::create(folder.join("questions.jsonl"))?);
    for number in 0..samples {
        let (more, wrong) = (number % 7, u32::from(number % 3 == 0));
        let sum = number + more;
        writeln!(
            out,
            r#"{{"id":"q{number}","question":"What is {number} plus {more}? FINAL ANSWER: {sum}","answer":"{}"}}"#,
            sum + wrong
        )?;
    }
    out.flush()
}

fn evaltest(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command.current_dir(home).arg("evaltest").args(arguments);
    command.env_remove("CI");
    command
}
