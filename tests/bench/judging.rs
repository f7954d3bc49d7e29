//! What a judge costs a run besides its own time: CPU of a call at concurrency 100, and memory of many judged samples.
//!
//! `cargo bench --bench judging`: the judge is an endpoint for chat completions in a process of its own. Each run is a
//! process, too, and the same run without a judge is taken off.

mod dataset;
mod endpoint;
mod figure;
#[expect(dead_code, reason = "a run tells its CPU time itself")]
mod process;

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use evaltest::Eval;
use figure::{Figure, is_bench, report};
use process::peak_kib;
use rustix::time::{ClockId, clock_gettime};

/// Set in the process that runs: the spec.
const SPEC: &str = "EVALTEST_BENCH_SPEC";
const PAUSE: Duration = Duration::from_millis(100);

/// A completion as endpoints for chat give it, with a verdict of usual length.
const REPLY: &str = r#"{"id":"chatcmpl-7","object":"chat.completion","created":1795000000,"model":"judge-large-2026-10","choices":[{"index":0,"message":{"role":"assistant","content":"{\"reason\": \"The answer names the sum for two adults and three children and takes a tenth away on Mondays, but it says nothing of the guide, which the question asks for.\", \"correctness\": 4, \"clarity\": 5, \"difficulty_match\": 3, \"completeness\": 4, \"comments\": \"Say what the guide costs.\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":912,"completion_tokens":74,"total_tokens":986},"system_fingerprint":"fp_1"}"#;

fn main() -> io::Result<ExitCode> {
    if endpoint::is_asked_for() {
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
    let mut figures = Vec::new();
    for (name, judges) in [
        ("first", format!("[{judge}]")),
        ("second", format!("[gaia, {judge}]")),
    ] {
        let plain = took(few, "[gaia]")?;
        let judged = took(few, &judges)?;
        figures.push(Figure {
            what: format!("{few} samples judged by the {name} scorer, 100 at once, CPU a call"),
            measured: 1000.0 * (judged.cpu_s - plain.cpu_s) / f64::from(few),
            unit: "ms",
            target: 0.0..=0.3,
            decides: true,
        });
    }
    let plain = took(many, "[gaia]")?;
    let judged = took(many, &format!("[gaia, {judge}]"))?;
    figures.push(Figure {
        what: format!("{many} samples judged, 100 at once, CPU a call"),
        measured: 1000.0 * (judged.cpu_s - plain.cpu_s) / f64::from(many),
        unit: "ms",
        target: 0.0..=0.3,
        decides: true,
    });
    figures.push(Figure {
        what: format!("{many} samples judged, peak memory over the same unjudged"),
        measured: (judged.peak_kib - plain.peak_kib) / 1024.0,
        unit: "MiB",
        target: f64::NEG_INFINITY..=f64::INFINITY,
        decides: false,
    });
    figures.push(Figure {
        what: format!("{many} samples unjudged, peak memory"),
        measured: plain.peak_kib / 1024.0,
        unit: "MiB",
        target: f64::NEG_INFINITY..=f64::INFINITY,
        decides: false,
    });
    server.kill()?;
    server.wait()?;
    report(&figures)
}

/// What a run took.
struct Took {
    cpu_s: f64,
    peak_kib: f64,
}

/// Runs so many samples with these scorers.
fn took(samples: u32, scorers: &str) -> io::Result<Took> {
    let folder = tempfile::tempdir()?;
    let (spec, _) = dataset::write(folder.path(), samples, "echo")?;
    let text = fs::read_to_string(&spec)?;
    let gates = text.find("gates:").unwrap_or(text.len());
    let text = &text[..gates];
    fs::write(
        &spec,
        format!("{text}scorers: {scorers}\nlimits: {{ concurrency: 100 }}\n"),
    )?;
    let ran = Command::new(std::env::current_exe()?)
        .env(SPEC, &spec)
        .output()?;
    let told = String::from_utf8_lossy(&ran.stdout);
    let mut numbers = told.split_whitespace().map(str::parse);
    match (ran.status.success(), numbers.next(), numbers.next()) {
        (true, Some(Ok(cpu_s)), Some(Ok(peak_kib))) => Ok(Took { cpu_s, peak_kib }),
        _ => Err(io::Error::other(format!(
            "a run failed: {}",
            String::from_utf8_lossy(&ran.stderr)
        ))),
    }
}

/// Is the run, from reading the spec to the finished run directory; tells what it took.
fn run(spec: &Path) -> io::Result<ExitCode> {
    let eval = Eval::from_yaml(spec).map_err(io::Error::other)?;
    let run = eval.run().map_err(io::Error::other)?;
    let summary = &run.summary;
    let judged = summary.judge.as_ref();
    if summary.errors > 0
        || judged.is_some_and(|judge| judge.unread > 0 || judge.calls != summary.samples)
    {
        return Err(io::Error::other("not all was judged"));
    }
    let cpu_s = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
    let mut out = io::stdout();
    io::Write::write_all(
        &mut out,
        format!("{} {}\n", cpu_s.as_secs_f64(), peak_kib("self")).as_bytes(),
    )?;
    Ok(ExitCode::SUCCESS)
}
