//! What `generate` takes of an item besides whoever writes it: prompt, journal, checks beside references and other items, files.
//!
//! `cargo bench --bench generate`

mod figure;
mod process;
mod program;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};

/// Words of which problems are made.
const WORDS: [&str; 16] = [
    "triangle",
    "integer",
    "circle",
    "sum",
    "remainder",
    "square",
    "digit",
    "chord",
    "prime",
    "vertex",
    "ratio",
    "path",
    "colour",
    "seat",
    "term",
    "side",
];
/// Every so many replies are refused at first.
const REFUSED: u32 = 5;

fn main() -> io::Result<ExitCode> {
    let (few, many) = if is_bench() { (10, 2_010) } else { (2, 12) };
    let folder = tempfile::tempdir()?;
    let home = folder.path();
    write(home, many)?;
    let one = best_of_three(home, few)?;
    let all = best_of_three(home, many)?;
    let items = f64::from(many - few);
    report(&[
        Figure {
            what: format!("{} items with 300 references, CPU of one", many - few),
            measured: 1e3 * (all.cpu_s - one.cpu_s) / items,
            unit: "ms",
            target: 0.0..=if is_bench() { 0.3 } else { 100.0 },
            decides: true,
        },
        Figure {
            what: format!("{many} items, peak memory"),
            measured: all.peak_mib,
            unit: "MiB",
            target: 0.0..=128.0,
            decides: true,
        },
    ])
}

/// Replies, references and the spec.
fn write(home: &Path, items: u32) -> io::Result<()> {
    let mut random = 88_172_645_463_325_252_u64;
    let mut problem = || {
        let mut text = String::new();
        for _ in 0..40 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let word = WORDS[usize::try_from(random % 16).unwrap_or_default()];
            let _ = write!(text, "{word} $\\\\frac{{{}}}{{7}}$ ", random % 97);
        }
        text
    };
    let mut item = |answer: u32| {
        format!(
            "{{\"problem\": \"{}\", \"answer\": {answer}, \"solution\": \"{}so $\\\\boxed{{{answer}}}$.\", \"topic\": \"Algebra\"}}",
            problem(),
            problem()
        )
    };
    let mut replies = String::new();
    for number in 1..=items {
        let mut line = |text: &str, again: u32| {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(
                replies,
                "{{\"id\": \"gen_aime_{number}\", \"answer\": \"{text}\", \"again\": {again}}}"
            );
        };
        let good = item(number % 1000);
        if number.is_multiple_of(REFUSED) {
            line("no object", 0);
            line(&good, 1);
        } else {
            line(&good, 0);
        }
    }
    let references: String = (0..300).map(|answer| item(answer) + "\n").collect();
    fs::write(home.join("replies.jsonl"), replies)?;
    fs::write(home.join("references.jsonl"), references)?;
    fs::write(
        home.join("bench.yaml"),
        "benchmark: { type: generate, ready: aime, reference: references.jsonl }\n\
         agent: { type: replay, path: replies.jsonl }\n",
    )
}

/// The best of some runs: noise only ever adds.
fn best_of_three(home: &Path, items: u32) -> io::Result<program::Usage> {
    let runs = home.join(format!("runs-{items}"));
    let count = items.to_string();
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
        command.current_dir(home).args([
            "evaltest",
            "generate",
            "bench.yaml",
            "--count",
            &count,
            "--output",
        ]);
        command.arg(&runs).env_remove("CI");
        program::run(&mut command, &runs)
    };
    let mut best = run()?;
    for _ in 0..2 {
        fs::remove_dir_all(&runs)?;
        best = best.better(&run()?);
    }
    Ok(best)
}
