//! What a judge costs a run besides its own time: CPU of a call at concurrency 100, and memory of many judged samples.
//!
//! `cargo bench --bench judging`: the judge is an endpoint for chat completions in a process of its own. Each run is a
//! process, too, and the same run without a judge is taken off. The command keeps no record in memory; `Eval::run` gives
//! all of them to whoever called it, and what they take is told by itself.

mod dataset;
mod endpoint;
mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use evaltest::Eval;
use figure::{Figure, is_bench, report};
use serde_json::Value;

/// Set in the process that runs by the library: the spec.
const SPEC: &str = "EVALTEST_BENCH_SPEC";
const PAUSE: Duration = Duration::from_millis(100);
/// What may stay of a judged sample in memory beyond what stays of any: figures whose ranks and percentiles need all.
const ROW_BYTES: f64 = 100.0;
/// For what does not grow with the samples: the judge's connections, their buffers, a margin for the allocator.
const FIXED_MIB: f64 = 24.0;

/// A completion as endpoints for chat give it, with a verdict of usual length.
const REPLY: &str = r#"{"id":"chatcmpl-7","object":"chat.completion","created":1795000000,"model":"judge-large-2026-10","choices":[{"index":0,"message":{"role":"assistant","content":"{\"reason\": \"The answer names the sum for two adults and three children and takes a tenth away on Mondays, but it says nothing of the guide, which the question asks for.\", \"correctness\": 4, \"clarity\": 5, \"difficulty_match\": 3, \"completeness\": 4, \"comments\": \"Say what the guide costs.\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":912,"completion_tokens":74,"total_tokens":986},"system_fingerprint":"fp_1"}"#;

fn main() -> io::Result<ExitCode> {
    if endpoint::is_requested() {
        return endpoint::serve(PAUSE, REPLY);
    }
    if let Some(spec) = std::env::var_os(SPEC) {
        return run(spec.as_ref());
    }
    let (few, many) = if is_bench() {
        (5000, 100_000)
    } else {
        (50, 100)
    };
    let (mut server, url) = endpoint::start()?;
    let base_url = url.trim_end_matches("/answer");
    let judge = format!(
        "{{ type: judge, rubric: aime, sees: [prompt, prediction, ground_truth],\n    agent: {{ type: openai, base_url: '{base_url}/v1', model: m, temperature: 0 }} }}"
    );
    let second = format!("[gaia, {judge}]");
    let cpu = |what: String, judged: &program::Usage, plain: &program::Usage, calls| Figure {
        what: format!("{what}, 100 at once, CPU a call"),
        measured: 1000.0 * (judged.cpu_s - plain.cpu_s) / f64::from(calls),
        unit: "ms",
        target: 0.0..=0.3,
        decides: true,
    };
    let memory = |what: String, measured, limit: f64| Figure {
        what,
        measured,
        unit: "MiB",
        target: f64::NEG_INFINITY..=limit,
        decides: true,
    };
    let unlimited = f64::INFINITY;
    let mut figures = Vec::new();
    for (name, judges) in [("first", &format!("[{judge}]")), ("second", &second)] {
        let plain = took(few, "[gaia]", Caller::Command)?;
        let judged = took(few, judges, Caller::Command)?;
        let what = format!("{few} samples judged by the {name} scorer");
        figures.push(cpu(what, &judged, &plain, few));
    }
    for caller in [Caller::Command, Caller::Library] {
        let plain = took(many, "[gaia]", caller)?;
        let judged = took(many, &second, caller)?;
        let (by, limit) = match caller {
            Caller::Command => {
                let rows = f64::from(many) * ROW_BYTES / f64::from(1 << 20);
                ("the command", FIXED_MIB + rows)
            }
            Caller::Library => ("`Eval::run`", unlimited),
        };
        let what = format!("{many} samples judged by {by}");
        figures.push(cpu(what.clone(), &judged, &plain, many));
        let more = judged.peak_mib - plain.peak_mib;
        let what = format!("{what}, peak memory over the same unjudged");
        figures.push(memory(what, more, limit));
        let what = format!("{many} samples unjudged by {by}, peak memory");
        figures.push(memory(what, plain.peak_mib, unlimited));
    }
    server.kill()?;
    server.wait()?;
    report(&figures)
}

/// Who runs the eval.
#[derive(Clone, Copy)]
enum Caller {
    /// `cargo evaltest run`.
    Command,
    /// `Eval::run`, which gives the records.
    Library,
}

/// What a run of so many samples with these scorers takes.
fn took(samples: u32, scorers: &str, caller: Caller) -> io::Result<program::Usage> {
    let folder = tempfile::tempdir()?;
    let (spec, _) = dataset::write(folder.path(), samples, "echo")?;
    let text = fs::read_to_string(&spec)?;
    let gates = text.find("gates:").unwrap_or(text.len());
    let text = &text[..gates];
    fs::write(
        &spec,
        format!("{text}scorers: {scorers}\nlimits: {{ concurrency: 100 }}\n"),
    )?;
    let mut program = match caller {
        Caller::Command => {
            let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
            program.args(["evaltest", "run", "bench.yaml"]);
            program
        }
        Caller::Library => {
            let mut program = Command::new(std::env::current_exe()?);
            program.env(SPEC, &spec);
            program
        }
    };
    program.current_dir(folder.path()).env_remove("CI");
    let runs = folder.path().join("runs");
    let used = program::used(&mut program, &runs)?;
    let summary = fs::read(program::last_run(&runs)?.join("summary.json"))?;
    let summary: Value = serde_json::from_slice(&summary)?;
    let count = |pointer: &str| summary.pointer(pointer).and_then(Value::as_u64);
    let (judge, all) = (summary.get("judge"), Some(u64::from(samples)));
    let is_judged = count("/judge/calls") == all && count("/judge/unread") == Some(0);
    if count("/scored") == all && (judge.is_none() || is_judged) {
        Ok(used)
    } else {
        Err(io::Error::other("not all was judged"))
    }
}

/// Is the run by the library, from reading the spec to the finished run directory.
fn run(spec: &Path) -> io::Result<ExitCode> {
    let eval = Eval::from_yaml(spec).map_err(io::Error::other)?;
    let run = eval.run().map_err(io::Error::other)?;
    let is_all = run.records.len() as u64 == run.summary.samples;
    Ok(ExitCode::from(u8::from(!is_all)))
}
