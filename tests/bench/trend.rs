//! What `trend` costs where an eval has run for years: 10,000 lines of history, each with the bits of 165 samples.
//!
//! `cargo bench --bench trend`.

mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};
use serde_json::json;

/// More than enough for a command that people wait for.
const MOST_S: f64 = 0.3;

fn main() -> io::Result<ExitCode> {
    let lines = if is_bench() { 10_000 } else { 200 };
    let folder = tempfile::tempdir()?;
    write(folder.path(), lines)?;
    let mut figures = Vec::new();
    for (what, arguments) in [
        ("the last twenty", &["trend"][..]),
        ("as JSON", &["trend", "--json"]),
        ("as a page", &["trend", "--html", "page.html"]),
    ] {
        let mut measured = f64::INFINITY;
        for _ in 0..3 {
            let mut command = evaltest(folder.path(), arguments);
            let used = program::used(&mut command, &folder.path().join("out"))?;
            measured = measured.min(used.cpu_s);
        }
        figures.push(Figure {
            what: format!("{lines} lines of history, {what}, CPU"),
            measured,
            unit: "s",
            target: 0.0..=MOST_S,
            decides: true,
        });
    }
    report(&figures)
}

/// Writes an eval with so many runs an hour apart, whose agent is worse from time to time.
fn write(folder: &Path, lines: u32) -> io::Result<()> {
    let snapshots = folder.join("evals/snapshots/bench");
    fs::create_dir_all(&snapshots)?;
    fs::write(
        folder.join("evals/bench.yaml"),
        "name: bench\nbenchmark: { type: qa, path: questions.jsonl, slices: [level] }\n\
         agent: { type: echo }\ngates: [accuracy >= 0.5]\n\
         alerts:\n  - drop(accuracy)\n  - drop(accuracy, against=median(5))\n  - trend(accuracy, runs=10)\n  - stale(days=100000)\n",
    )?;
    let mut file = BufWriter::new(fs::File::create(snapshots.join("history.jsonl"))?);
    for number in 0..lines {
        let scatter = number.wrapping_mul(2_654_435_761) >> 16 & 15;
        let correct = 100 - 10 * (number / 2_500 % 2) + scatter;
        let share = f64::from(correct) / 165.0;
        let interval = [share - 0.07, share + 0.07];
        let level = json!({"scored": 55, "correct": correct / 3, "accuracy": share, "accuracy_ci95": interval});
        let (day, hour) = (number / 24, number % 24);
        let (year, month) = (2020 + day / 336, 1 + day / 28 % 12);
        let tier = if number % 24 == 0 { "full" } else { "quick" };
        let line = json!({
            "format_version": 1, "kind": "run", "id": format!("bench-{number}"), "eval": "bench",
            "time": format!("{year}-{month:02}-{:02}T{hour:02}:51:00.123Z", 1 + day % 28),
            "commit": format!("{number:040x}"), "dirty": false, "tier": tier,
            "dataset_hash": format!("{:064x}", 7), "scorer_hash": format!("{:064x}", 8), "agent_hash": format!("{:064x}", number / 700),
            "prompt": "official-1a2b", "served_models": ["small@1"], "samples": 165, "scored": 165, "correct": correct, "errors": 0,
            "epochs": 1, "accuracy": share, "accuracy_ci95": interval, "error_rate": 0.0, "means": {"f1": share},
            "slices": {"level": {"1": level, "2": level, "3": level}},
            "cost_usd": 1.25, "tokens": 12345, "latency_s": {"mean": 2.0, "p50": 1.5, "p95": 6.0}, "duration_s": 60.1,
            "gates": [{"gate": "accuracy >= 0.5", "verdict": "passed", "value": share, "threshold": 0.5}], "exit_code": 0,
            "answers": {"samples": format!("{:064x}", 9), "count": 165, "runs": [{"right": "oAoAoAoAoAoAoAoAoAoAoAoAoAoA"}]},
        });
        writeln!(file, "{line}")?;
    }
    file.flush()
}

fn evaltest(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command.current_dir(home).arg("evaltest").args(arguments);
    command.env_remove("CI");
    command
}
