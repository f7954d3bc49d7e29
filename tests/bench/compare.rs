//! What it takes to look back: two runs side by side, and a thousand runs listed.
//!
//! `cargo bench --bench compare [-- SAMPLES]`: CPU and memory of `compare` on runs in one order and in two, and of `runs`.
//! Memory is to be the same however many samples there are, but for what the page of `compare` tells.

mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};

/// MiB that a comparison may take, of any number of samples.
const MEMORY: f64 = 40.0;

fn main() -> io::Result<ExitCode> {
    let sizes: Vec<u32> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let (sizes, runs) = match (is_bench(), &*sizes) {
        (false, _) => (vec![200], 5),
        (true, []) => (vec![10_000, 100_000], 1_000),
        (true, sizes) => (sizes.to_vec(), 1_000),
    };
    let mut figures = Vec::new();
    for samples in sizes {
        compared(samples, &mut figures)?;
    }
    listed(runs, &mut figures)?;
    report(&figures)
}

/// Two runs of one dataset of which one in ten answers differs, in the same order and in another one.
fn compared(samples: u32, figures: &mut Vec<Figure>) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path();
    write(home, samples)?;
    for (id, answers, flags) in [
        ("plain-a", "a", &[][..]),
        ("plain-b", "b", &[]),
        ("turned", "b", &["--set", "benchmark.path=turned.jsonl"]),
    ] {
        let answers = format!("agent.path={answers}.jsonl");
        let run = ["run", "bench.yaml", "--run-id", id, "--set", &answers];
        let arguments = [&run, flags].concat();
        program::used(&mut evaltest(home, &arguments), &home.join("evaltest-runs"))?;
    }
    for (what, with, flags) in [
        ("in one order", "plain-b", &[][..]),
        ("in one order as JSON", "plain-b", &["--json"]),
        (
            "in one order as a page",
            "plain-b",
            &["--html", "page.html"],
        ),
        ("in two orders", "turned", &[]),
    ] {
        let arguments = [&["compare", "plain-a", with], flags].concat();
        let used = program::used(&mut evaltest(home, &arguments), &home.join("evaltest-runs"))?;
        let all = f64::from(samples);
        figures.push(Figure {
            what: format!("two runs of {samples} samples {what}, CPU"),
            measured: used.cpu_s,
            unit: "s",
            target: 0.0..=(2.0 * all / 100_000.0).max(0.2),
            decides: true,
        });
        figures.push(Figure {
            what: format!("two runs of {samples} samples {what}, peak memory"),
            measured: used.peak_mib,
            unit: "MiB",
            target: 0.0..=MEMORY,
            decides: true,
        });
    }
    Ok(())
}

/// `runs` over so many run directories, which are one run under many names.
fn listed(runs: u32, figures: &mut Vec<Figure>) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path();
    write(home, 20)?;
    let root = home.join("evaltest-runs");
    let arguments = ["run", "bench.yaml", "--run-id", "first"];
    program::used(&mut evaltest(home, &arguments), &root)?;
    let first = program::last_run(&root)?;
    let name = first.file_name().unwrap_or_default().to_string_lossy();
    for number in 1..runs {
        let id = format!("copy-{number}");
        let copy = root.join(name.replace("first", &id));
        fs::create_dir(&copy)?;
        for entry in fs::read_dir(&first)? {
            let from = entry?.path();
            if !from.is_file() {
                continue;
            }
            let to = copy.join(from.file_name().unwrap_or_default());
            if from.ends_with("manifest.json") {
                let text = fs::read_to_string(&from)?;
                let text = text.replace("\"first\"", &format!("\"{id}\""));
                // As a version wrote it that knew no checksum.
                let mut manifest: serde_json::Value = serde_json::from_str(&text)?;
                manifest["format_version"] = 1.into();
                manifest
                    .as_object_mut()
                    .map(|members| members.remove("checksum"));
                fs::write(to, manifest.to_string())?;
            } else {
                fs::copy(&from, to)?;
            }
        }
    }
    for (what, flags, copies) in [
        ("the newest", &["runs"][..], 20.min(runs)),
        ("all", &["runs", "--limit", "0"], runs),
    ] {
        let list = || program::used(&mut evaltest(home, flags), &root);
        let used = list()?.better(&list()?);
        let log = fs::read_to_string(root.with_extension("log"))?;
        assert!(log.matches("copy-").count() + 1 >= copies as usize, "{log}");
        figures.push(Figure {
            what: format!("`runs`, {what} of {runs} run directories, CPU"),
            measured: used.cpu_s * 1000.0,
            unit: "ms",
            target: 0.0..=100.0,
            decides: true,
        });
    }
    Ok(())
}

/// An eval of so many short questions, and two recordings of answers, of which one in ten differs.
fn write(folder: &Path, samples: u32) -> io::Result<()> {
    fs::write(
        folder.join("bench.yaml"),
        "name: bench\nbenchmark: { type: qa, path: questions.jsonl }\nscorer: gaia\n\
         agent: { type: replay, path: a.jsonl }\nsnapshot: { answers: plain, path: snapshots }\n\
         gates: [accuracy >= 0.1]\n",
    )?;
    let create = |name: &str| fs::File::create(folder.join(name)).map(BufWriter::new);
    let mut questions = [create("questions.jsonl")?, create("turned.jsonl")?];
    let mut answers = [create("a.jsonl")?, create("b.jsonl")?];
    for number in 0..samples {
        let sum = number + number % 7;
        for (out, number) in questions.iter_mut().zip([number, samples - 1 - number]) {
            let more = number % 7;
            writeln!(
                out,
                r#"{{"id":"q{number}","question":"What is {number} plus {more}?","answer":"{}","level":{}}}"#,
                number + more,
                number % 3
            )?;
        }
        for (run, out) in answers.iter_mut().enumerate() {
            // One in three is wrong in both; of the others few become wrong, and fewer right.
            let is_wrong = match number % 30 {
                0..10 => !(run == 1 && number % 30 == 0),
                10 | 11 => run == 1,
                _ => false,
            };
            let answer = sum + u32::from(is_wrong);
            writeln!(
                out,
                r#"{{"id":"q{number}","answer":"They are {number} and {}, and so it must be. FINAL ANSWER: {answer}"}}"#,
                number % 7
            )?;
        }
    }
    questions.iter_mut().try_for_each(Write::flush)?;
    answers.iter_mut().try_for_each(Write::flush)
}

fn evaltest(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command.current_dir(home).arg("evaltest").args(arguments);
    command.env_remove("CI");
    command
}
