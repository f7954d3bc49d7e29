//! How close a run of the `http` agent comes to the ideal wall time, and the CPU that a sample costs, when all the
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
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use evaltest::Eval;
use figure::{Figure, is_bench, report};
use rustix::time::{ClockId, clock_gettime};

const PAUSE: Duration = Duration::from_millis(100);

fn main() -> io::Result<ExitCode> {
    if endpoint::is_requested() {
        return endpoint::serve(PAUSE, r#"{"answer": "4"}"#);
    }
    let (mut server, url) = endpoint::start()?;
    let sizes: &[(u32, u32, f64)] = if is_bench() {
        &[(2000, 100, 95.0), (10_000, 500, 85.0)]
    } else {
        &[(100, 20, 0.0)]
    };
    let mut figures = Vec::new();
    for &(samples, at_once, target) in sizes {
        let bare = bare(&url, samples, at_once)?;
        figures.extend(measure(&url, samples, at_once, target, &bare)?);
    }
    server.kill()?;
    server.wait()?;
    report(&figures)
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
            target: 0.0..=0.3,
            decides: true,
        },
    ])
}

fn own_cpu_s() -> f64 {
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime));
    time.unwrap_or_default().as_secs_f64()
}
