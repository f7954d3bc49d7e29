//! The overhead of an attempt over the process itself.
//!
//! `cargo test --release --lib -- --ignored --nocapture overhead`

use std::io::Write;
use std::process::Stdio;

use rustix::time::{ClockId, clock_gettime};

use super::*;

const SAMPLES: u32 = 1000;

/// CPU time of this thread, which is all that an attempt uses.
fn cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

/// CPU and wall time of one call, on average.
fn measure(mut call: impl FnMut()) -> (Duration, Duration) {
    let (cpu_before, before) = (cpu(), Instant::now());
    for _ in 0..SAMPLES {
        call();
    }
    let cpu_after = cpu().saturating_sub(cpu_before);
    (cpu_after / SAMPLES, before.elapsed() / SAMPLES)
}

#[test]
#[ignore = "a measurement"]
fn overhead() {
    let project = Project::new();
    let task = Task {
        deadline: Some(Instant::now() + Duration::from_mins(10)),
        ..project.task("2+2?")
    };
    let command = Command::new(["echo", "4"], project.folder.path()).input(Input::Json);
    let agent = || assert!(command.answer(&task).is_ok());
    let bare = || {
        let mut echo = std::process::Command::new("/bin/echo");
        let echo = echo.arg("4").stdout(Stdio::null());
        assert!(echo.status().unwrap().success());
    };
    measure(bare);
    for _ in 0..3 {
        let (bare_cpu, bare_wall) = measure(bare);
        let (agent_cpu, agent_wall) = measure(agent);
        let extra = agent_cpu.saturating_sub(bare_cpu);
        let mut out = std::io::stdout();
        writeln!(
            out,
            "per sample: cpu {bare_cpu:?} bare, {agent_cpu:?} agent, {extra:?} more; \
             wall {bare_wall:?} bare, {agent_wall:?} agent"
        )
        .unwrap();
    }
}
