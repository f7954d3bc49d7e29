//! What a sample of a `command` agent costs beside the process itself, over a whole run.
//!
//! `cargo bench --bench command`

mod dataset;
mod figure;
mod process;

use std::io;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use evaltest::Eval;
use figure::{Figure, is_bench, report};
use process::{children_cpu_s, peak_kib};
use rustix::time::{ClockId, clock_gettime};

fn main() -> io::Result<ExitCode> {
    let samples = if is_bench() { 1000 } else { 20 };
    let folder = tempfile::tempdir()?;
    let agent = "{ type: command, command: [/bin/echo, \"4\"] }";
    let (spec, _) = dataset::write(folder.path(), samples, agent)?;
    let eval = Eval::from_yaml(&spec).map_err(io::Error::other)?;
    let bare = || -> io::Result<()> {
        for _ in 0..samples {
            let mut echo = Command::new("/bin/echo");
            echo.arg("4").stdin(Stdio::null()).stdout(Stdio::null());
            echo.status()?;
        }
        Ok(())
    };
    let whole = || {
        let run = eval.run().map_err(io::Error::other)?;
        match run.summary.errors {
            0 => Ok(()),
            errors => Err(io::Error::other(format!("{errors} samples failed"))),
        }
    };
    let (mut own, mut children) = (f64::INFINITY, f64::INFINITY);
    let (mut bare_own, mut bare_children) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let (a, b) = measure(bare)?;
        (bare_own, bare_children) = (bare_own.min(a), bare_children.min(b));
        let (a, b) = measure(whole)?;
        (own, children) = (own.min(a), children.min(b));
    }
    let per_sample = |what: &str, seconds: f64, limit: f64| Figure {
        what: format!("{samples} samples of `/bin/echo 4`, {what}, a sample"),
        measured: seconds * 1000.0 / f64::from(samples),
        unit: "ms",
        target: if limit.is_finite() { 0.0 } else { -limit }..=limit,
        decides: true,
    };
    report(&[
        per_sample("own CPU over a bare spawn", own - bare_own, 0.5),
        per_sample("own CPU", own, f64::INFINITY),
        per_sample("own CPU of bare spawns", bare_own, f64::INFINITY),
        per_sample("CPU of the children", children, f64::INFINITY),
        per_sample("CPU of bare children", bare_children, f64::INFINITY),
        Figure {
            what: "peak memory".to_owned(),
            measured: f64::from(peak_kib("self")) / 1024.0,
            unit: "MiB",
            target: 0.0..=64.0,
            decides: true,
        },
    ])
}

/// CPU seconds of this process and of its children.
fn measure(work: impl Fn() -> io::Result<()>) -> io::Result<(f64, f64)> {
    let (own, children) = (own_cpu_s(), children_cpu_s()?);
    work()?;
    Ok((own_cpu_s() - own, children_cpu_s()? - children))
}

fn own_cpu_s() -> f64 {
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime));
    time.unwrap_or_default().as_secs_f64()
}
