//! This machine has too little, stands still, or is shared.

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use evaltest::Eval;

use crate::journal::{counts, lines};
use crate::project::without_surroundings;
use crate::requested;
use crate::server::{Server, fine};
use crate::servers::{agent, good};
use crate::table::{Row, Table};
use crate::watched;
use crate::worker;

/// Set where this program is a test binary; the spec of its tests.
const SPEC: &str = "EVALTEST_BENCH_SPEC";
/// The exit code of `kill -9`.
const KILLED: i32 = 137;

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    for (fault, limit) in [
        (
            "soft limit of 256 descriptors, concurrency 300",
            "ulimit -S -n 256",
        ),
        (
            "hard limit of 256 descriptors, concurrency 300",
            "ulimit -n 256",
        ),
    ] {
        table.row(fault, || few_descriptors(fault, limit))?;
    }
    for kind in ["command", "worker", "http"] {
        let fault = format!("SIGSTOP for longer than the timeout, {kind} agent");
        table.row(&fault, || stopped(&fault, kind))?;
    }
    for kind in ["command", "worker"] {
        let fault = format!("kill -9 of a test binary, {kind} agent");
        table.row(&fault, || test_binary(&fault, kind))?;
    }
    let fault = "six runs at once with one cold cache";
    table.row(fault, || cold_cache(fault))
}

/// Runs the tests of a spec if this program was started as their binary.
pub(crate) fn tests() -> Option<io::Result<std::process::ExitCode>> {
    let spec = std::env::var_os(SPEC)?;
    let tested = Eval::from_yaml(spec).and_then(|eval| evaltest::run([eval]));
    Some(match tested {
        Ok(ended) => Ok(std::process::Termination::report(ended)),
        Err(error) => Err(io::Error::other(error)),
    })
}

fn few_descriptors(fault: &str, limit: &str) -> io::Result<Row> {
    const SAMPLES: usize = 400;
    let limits = "limits: { concurrency: 300, retries: 0, timeout_s: 60 }\n";
    let project = requested::project(400, "sleep 0.05", limits);
    let mut command = Command::new("sh");
    let script = format!("{limit} && exec \"$0\" evaltest run eval.yaml");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_cargo-evaltest")])
        .current_dir(project.path())
        .stdin(Stdio::null());
    without_surroundings(&mut command);
    let ended = watched::follow(&project, command, |_| Ok(()))?;
    let dir = project.last_run();
    let counts = counts(&dir);
    let events = lines(&dir.join("events.jsonl"));
    let count = |kind: &str| events.iter().filter(|event| event["kind"] == kind).count();
    let (started, failed) = (count("started"), count("failed"));
    let mentions = ended.err.matches("questions run in parallel").count();
    let mut row = Row::of(fault, "no sample fails, none is tried again", &ended);
    row.exits(0)
        .counts(&counts, SAMPLES, 0)
        .lost(counts.lost)
        .check(failed == 0, format!("{failed} attempts failed"))
        .check(started == SAMPLES, format!("{started} attempts"))
        .check(mentions <= 1, format!("it is said {mentions} times"))
        .note(format!(
            "failures: {failed} of {SAMPLES} samples, {started} attempts; that fewer are in flight is said {mentions} times"
        ));
    Ok(row)
}

/// The run stands still for longer than an attempt may take; what it asked does not.
fn stopped(fault: &str, kind: &str) -> io::Result<Row> {
    const SAMPLES: usize = 4;
    const STANDS: Duration = Duration::from_secs(5);
    let limits = "limits: { timeout_s: 4, retries: 0, concurrency: 4 }\n";
    let project = requested::project(4, "sleep 6", limits);
    let server = Server::new(|requested, _| {
        std::thread::sleep(Duration::from_secs(6));
        fine(&good(requested.body["id"].as_str().unwrap_or_default()))
    });
    match kind {
        "http" => project.spec(&agent(&server), limits),
        "worker" => {
            let agent = worker::agent("stands", ", processes: 4, in_flight: 1")?;
            project.spec(&agent, limits);
        }
        _ => {}
    }
    let mut since: Option<Instant> = None;
    let (mut is_stopped, mut goes_on) = (false, false);
    let ended = watched::with(&project, "run eval.yaml", |child| {
        let id = child.id().to_string();
        let asks = requested::requested(&project).len() + server.requested().len();
        if since.is_none() && asks == SAMPLES {
            since = Some(Instant::now());
        }
        let Some(since) = since else { return Ok(()) };
        if !is_stopped && since.elapsed() > Duration::from_millis(300) {
            is_stopped = watched::kill("STOP", &id)?;
        }
        if is_stopped && !goes_on && since.elapsed() > STANDS {
            goes_on = watched::kill("CONT", &id)?;
        }
        Ok(())
    })?;
    let dir = project.last_run();
    let counts = counts(&dir);
    let events = lines(&dir.join("events.jsonl"));
    let failed = events.iter().filter(|event| event["kind"] == "failed");
    let failed = failed.count();
    let mut row = Row::of(fault, "nothing times out", &ended);
    row.exits(0)
        .counts(&counts, SAMPLES, 0)
        .lost(counts.lost)
        .check(goes_on, "it ended before it was stopped")
        .check(failed == 0, format!("{failed} attempts failed"))
        .note(format!(
            "timed out: {} of {SAMPLES} samples with a timeout of 4 s, stopped for 4.7 s",
            counts.errors.max(failed)
        ));
    Ok(row)
}

/// This program runs an eval as tests, and is killed while its agents work and have started others.
fn test_binary(fault: &str, kind: &str) -> io::Result<Row> {
    let begins = "(setsid sleep 300 < /dev/null > /dev/null 2>&1 &); sleep 300 & sleep 300";
    let project = requested::project(12, begins, "limits: { concurrency: 4 }\n");
    if kind == "worker" {
        let agent = worker::agent("hangs at once", ", processes: 4, in_flight: 1")?;
        project.spec(&agent, "limits: { concurrency: 4 }\n");
    }
    let mut command = Command::new(std::env::current_exe()?);
    without_surroundings(&mut command);
    command
        .env(SPEC, project.file("eval.yaml"))
        .env("CARGO_MANIFEST_DIR", project.path())
        .current_dir(project.path())
        .stdin(Stdio::null());
    let (mut first, mut most) = (None, 0);
    let ended = watched::follow(&project, command, |child| {
        if requested::requested(&project).len() >= 2 {
            most = most.max(watched::in_folder(project.path()).len());
            let first = *first.get_or_insert_with(Instant::now);
            if first.elapsed() > Duration::from_millis(200) {
                child.kill()?;
            }
        }
        Ok(())
    })?;
    let mut row = Row::of(fault, "no process left", &ended);
    row.exits(KILLED)
        .check(most > 2, format!("only {most} processes at the kill"))
        .note(format!(
            "orphans: {} of {most} processes at the kill",
            ended.orphans.len()
        ));
    Ok(row)
}

fn cold_cache(fault: &str) -> io::Result<Row> {
    const RUNS: usize = 6;
    const SAMPLES: usize = 300;
    let project = requested::project(
        300,
        "sleep 0.05",
        "cache: true\nlimits: { concurrency: 8 }\n",
    );
    let other = || {
        let mut other = project.command("run eval.yaml");
        other.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let others: Vec<_> = (1..RUNS).map(|_| other()).collect::<io::Result<_>>()?;
    let mut codes = Vec::new();
    let mut ended = watched::with(&project, "run eval.yaml", |_| Ok(()))?;
    for mut other in others {
        codes.push(other.wait()?.code());
    }
    // The others' agents may have run on.
    ended.orphans = watched::in_folder(project.path())
        .into_iter()
        .map(|(_, line)| line)
        .collect();
    let asks = requested::requested(&project).len();
    let runs = project.runs();
    let mut row = Row::of(fault, "each question is asked once", &ended);
    row.exits(0)
        .twice(asks.saturating_sub(SAMPLES))
        .check(
            codes.iter().all(|code| *code == Some(0)),
            format!("the others: {codes:?}"),
        )
        .check(
            runs.len() == RUNS,
            format!("{} run directories", runs.len()),
        )
        .check(asks == SAMPLES, format!("asked {asks} times"))
        .note(format!(
            "{asks} requests of {RUNS} runs for {SAMPLES} questions"
        ));
    for run in &runs {
        let counts = counts(run);
        row.counts(&counts, SAMPLES, 0).lost(counts.lost);
    }
    let remaining = fs::read_dir(project.file("evaltest-runs/.cache"))?.flatten();
    let is_claim =
        |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "asking");
    let claims = remaining.filter(is_claim).count();
    row.check(
        claims == 0,
        format!("{claims} claims are left in the cache"),
    );
    Ok(row)
}
