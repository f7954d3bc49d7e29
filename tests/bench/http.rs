//! What a recorded call takes that is replayed, and how close a run of the `http` agent comes to the ideal wall time, and the CPU that a sample costs, when all the
//! time is the endpoint's.
//!
//! `cargo bench --bench http`: the endpoint, with 100 ms of latency, is a process of its own, so that its CPU does
//! not count. The same questions asked by `ureq` alone, in threads that do nothing else, tell what the machine gives at
//! the time.

mod dataset;
mod endpoint;
mod figure;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use evaltest::agent::{Provider, RecordMode, RecordedCalls};
use evaltest::scorer::Exact;
use evaltest::{AgentError, Benchmark, Eval, Output, Sample, Task};
use figure::{Figure, is_bench, report};
use rustix::time::{ClockId, clock_gettime};

const PAUSE: Duration = Duration::from_millis(100);

fn main() -> io::Result<ExitCode> {
    if endpoint::is_requested() {
        return endpoint::serve(PAUSE, r#"{"answer": "4"}"#);
    }
    let (mut server, url) = endpoint::start()?;
    let sizes: &[(u32, u32, f64)] = if is_bench() {
        &[(2000, 100, 95.0), (10_000, 500, 87.0)]
    } else {
        &[(100, 20, 0.0)]
    };
    let mut figures = Vec::new();
    let mut measured = || {
        for &(samples, at_once, target) in sizes {
            let bare = bare(&url, samples, at_once)?;
            figures.extend(measure(&url, samples, at_once, target, &bare)?);
        }
        figures.push(replayed(&url, if is_bench() { 500 } else { 10 })?);
        Ok::<_, io::Error>(())
    };
    let measured = measured();
    server.kill()?;
    server.wait()?;
    measured?;
    report(&figures)
}

/// One question.
struct One;

impl Benchmark for One {
    fn name(&self) -> &'static str {
        "one"
    }

    fn samples(&self) -> evaltest::Result<Vec<Sample>> {
        Ok(vec![Sample::new("a", "Call.").target("4")])
    }
}

/// What a call takes that is replayed: recorded from the endpoint, one after the other over a connection.
fn replayed(url: &str, calls: u32) -> io::Result<Figure> {
    let folder = tempfile::tempdir()?;
    let recorded = RecordedCalls::new()
        .path(folder.path())
        .upstream(Provider::OpenAi, url);
    let took = Arc::new(AtomicU64::new(0));
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let took = Arc::clone(&took);
        let agent = move |task: &Task| {
            let url = format!(
                "{}/chat/completions",
                task.base_url("openai").unwrap_or_default()
            );
            let client = ureq::Agent::new_with_defaults();
            let started = Instant::now();
            for number in 0..calls {
                let body = format!("{{\"model\":\"m\",\"number\":{number}}}");
                let reply = client
                    .post(&url)
                    .content_type("application/json")
                    .send(body);
                let mut reply = reply.map_err(|error| AgentError::new(error.to_string()))?;
                let read = reply.body_mut().read_to_vec();
                read.map_err(|error| AgentError::new(error.to_string()))?;
            }
            let us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
            took.store(us, Ordering::Relaxed);
            Ok(Output::text("4"))
        };
        let eval = Eval::new(One, agent)
            .scorer(Exact::default())
            .output_root(folder.path().join("runs"));
        let run = eval.record(recorded.clone().mode(mode)).run();
        let run = run.map_err(io::Error::other)?;
        if run.summary.errors > 0 {
            let errors = std::fs::read_to_string(run.dir.join("errors.jsonl"))?;
            return Err(io::Error::other(format!("a call failed: {errors}")));
        }
    }
    let us = Duration::from_micros(took.load(Ordering::Relaxed)).as_secs_f64();
    Ok(Figure {
        what: format!("{calls} recorded calls, replayed one after the other, a call"),
        measured: us * 1000.0 / f64::from(calls),
        unit: "ms",
        target: 0.0..=1.0,
        decides: false,
    })
}

/// What asking took, in seconds.
struct Took {
    wall: f64,
    cpu: f64,
}

/// Asks as many questions by `ureq` alone.
fn bare(url: &str, samples: u32, at_once: u32) -> io::Result<Took> {
    let (started, cpu) = (Instant::now(), own_cpu_s());
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .max_idle_connections(1024)
        .max_idle_connections_per_host(1024)
        .build()
        .into();
    let next = AtomicU32::new(0);
    let ask = || {
        while next.fetch_add(1, Ordering::Relaxed) < samples {
            let reply = agent.post(url).content_type("application/json");
            let mut reply = reply.send(r#"{"question":"How much?"}"#)?;
            reply.body_mut().read_to_vec()?;
        }
        Ok::<_, ureq::Error>(())
    };
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for _ in 0..at_once {
            threads.push(scope.spawn(ask));
            // As our own places open: the endpoint's queue is short.
            std::thread::sleep(Duration::from_micros(200));
        }
        let ended = threads.into_iter().map(ScopedJoinHandle::join);
        ended
            .flatten()
            .collect::<Result<(), _>>()
            .map_err(io::Error::other)
    })?;
    Ok(Took {
        wall: started.elapsed().as_secs_f64(),
        cpu: own_cpu_s() - cpu,
    })
}

fn measure(
    url: &str,
    samples: u32,
    at_once: u32,
    target: f64,
    bare: &Took,
) -> io::Result<[Figure; 5]> {
    let folder = tempfile::tempdir()?;
    let agent = format!(
        "{{ type: http, url: \"{url}\", body: {{ question: \"{{prompt}}\" }}, answer: /answer }}"
    );
    let (spec, _) = dataset::write(folder.path(), samples, &agent)?;
    let text = std::fs::read_to_string(&spec)?;
    std::fs::write(
        &spec,
        format!("{text}\nlimits: {{ concurrency: {at_once} }}\n"),
    )?;
    // From reading the spec to the finished run directory.
    let (started, cpu) = (Instant::now(), own_cpu_s());
    let eval = Eval::from_yaml(&spec).map_err(io::Error::other)?;
    let run = eval.run().map_err(io::Error::other)?;
    let (took, cpu) = (started.elapsed(), own_cpu_s() - cpu);
    if run.summary.errors > 0 || run.records.len() != samples as usize {
        return Err(io::Error::other(format!(
            "{} samples failed",
            run.summary.errors
        )));
    }
    let ideal = PAUSE * samples.div_ceil(at_once);
    let what = format!("{samples} samples of {PAUSE:?}, {at_once} at once");
    let unlimited = |what: String, measured, unit| Figure {
        what,
        measured,
        unit,
        target: f64::NEG_INFINITY..=f64::INFINITY,
        decides: false,
    };
    let each = 1000.0 / f64::from(samples);
    Ok([
        unlimited(
            format!("{what}, ureq alone"),
            100.0 * ideal.as_secs_f64() / bare.wall,
            "% of the ideal",
        ),
        unlimited(
            format!("{what}, ureq alone, CPU a sample"),
            bare.cpu * each,
            "ms",
        ),
        unlimited(
            format!("{what}, over ureq alone"),
            100.0 * bare.wall / took.as_secs_f64(),
            "%",
        ),
        Figure {
            what: what.clone(),
            measured: 100.0 * ideal.as_secs_f64() / took.as_secs_f64(),
            unit: "% of the ideal",
            target: target..=f64::INFINITY,
            decides: false,
        },
        Figure {
            what: format!("{what}, own CPU a sample"),
            measured: cpu * each,
            unit: "ms",
            target: 0.0..=0.25,
            decides: true,
        },
    ])
}

fn own_cpu_s() -> f64 {
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime));
    time.unwrap_or_default().as_secs_f64()
}
